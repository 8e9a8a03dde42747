"""What the games of a ladder come to: standings, tables, who beats whom; as plain values, see pages.py for a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.baselines.match import CHECKED_GAMES, first_games, mean_interval, seating, wilson, win_shares

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TableGames:
    """The games of one table, in the order of their numbers."""

    table: tuple[int, ...]  #: the agents, one a seat; an agent may have several seats
    a_deal: int  #: games of a deal, which follow each other
    agents: npt.NDArray[np.int64]  #: (games, P): the agent on each seat
    returns: Floats  #: (games, P)
    scores: Floats  #: (games, P)
    lengths: npt.NDArray[np.int64]  #: (games,)
    digests: tuple[str, ...]

    @classmethod
    def joined(cls, table: tuple[int, ...], parts: Sequence[Mapping[str, Any]]) -> TableGames:
        """From what `ladder.play_chunk` gives, in order."""
        joined = {name: [entry for part in parts for entry in part[name]] for name in parts[0]}
        rotate = len(set(table)) > 1
        seats = seating(np.arange(len(joined["lengths"])), len(table), rotate)
        return cls(
            table=table,
            a_deal=len(table) if rotate else 1,
            agents=np.array(table)[seats],
            returns=np.array(joined["returns"], np.float64),
            scores=np.array(joined["scores"], np.float64),
            lengths=np.array(joined["lengths"], np.int64),
            digests=tuple(joined["digests"]),
        )

    @property
    def repeated_deals(self) -> int:
        """How many deals brought the same games as another: without chance in game and agents, all do."""
        deals = [self.digests[g : g + self.a_deal] for g in range(0, len(self.digests), self.a_deal)]
        return len(deals) - len(set(deals))

    def measured(self, measure: str) -> Floats:
        """By game and seat, (games, P): "win_rate" (a shared win in parts), "mean_score" or "mean_return"."""
        if measure == "win_rate":
            return win_shares(self.returns)
        return self.scores if measure == "mean_score" else self.returns

    def wins(self, agents: int) -> Floats:
        """Wins of each agent in the games of each deal, shared ones in parts: (deals, K)."""
        by_agent = np.zeros((len(self.lengths), agents))
        for seat, shares in enumerate(win_shares(self.returns).T):
            by_agent[np.arange(len(shares)), self.agents[:, seat]] += shares
        by_deal: Floats = by_agent.reshape(-1, self.a_deal, agents).sum(axis=1)
        return by_deal

    def by_deal(self, agent: int) -> Floats:
        """The mean return of an agent in the games of each deal: (deals,)."""
        mine = self.agents == agent
        means: Floats = (self.returns * mine).sum(axis=1) / mine.sum(axis=1)
        by_deal: Floats = means.reshape(-1, self.a_deal).mean(axis=1)
        return by_deal


def standings(
    names: Sequence[str], played: Sequence[TableGames], anchor: str, common: bool, resamples: int, seed: int
) -> dict[str, Any]:
    """The standings and tables of a ladder as plain values; the best agent first.

    Args:
        names: of the agents.
        played: the games of every table.
        anchor: the agent whose rating is 0.
        common: whether the players have one common result, which is reported in place of ratings.
        resamples: of the deals, for the intervals of the ratings.
        seed: of the resamples.
    """
    agents = [_agent(name, k, played, common) for k, name in enumerate(names)]
    notes: list[str] = []
    if common:
        order = np.argsort([-entry["mean_return"] for entry in agents], kind="stable")
    else:
        elo, notes = _rated(names, played, names.index(anchor), resamples, seed)
        for entry, rated in zip(agents, elo, strict=True):
            entry.update(rated)
        order = np.argsort([-entry["elo"] for entry in agents], kind="stable")
    games = sum(len(table.lengths) for table in played)
    digests = {digest for table in played for digest in table.digests}
    repeated = sum(table.repeated_deals for table in played)
    if repeated:
        notes.append(
            f"{repeated:,} deals brought the same games, move by move, as an earlier deal at their table: they say"
            " nothing new, and the intervals are narrower than they should be."
        )
    return {
        "players": len(played[0].table),
        "common_result": common,
        "games": games,
        "distinct_games": len(digests),
        "mean_length": float(np.concatenate([table.lengths for table in played]).mean()),
        "anchor": None if common else anchor,
        "resamples": 0 if common else resamples,
        "agents": [agents[k] for k in order],
        "versus": None if common else _versus([str(names[k]) for k in order], [int(k) for k in order], played),
        "tables": [table_report(names, table, common) for table in played],
        "notes": notes,
    }


def _agent(name: str, k: int, played: Sequence[TableGames], common: bool) -> dict[str, Any]:
    """How an agent did at all its tables, and on each seat."""
    mine = [table for table in played if k in table.table]
    measures = ("mean_score", "mean_return") if common else ("win_rate", "mean_score", "mean_return")
    values = {  # by measure and seat: one value for each game in which the agent sat there
        measure: [
            np.concatenate([table.measured(measure)[table.agents[:, seat] == k, seat] for table in mine])
            for seat in range(len(mine[0].table))
        ]
        for measure in measures
    }
    found: dict[str, Any] = {"agent": name, "games": sum(len(table.lengths) for table in mine)}
    if common:
        alone = [table for table in mine if len(set(table.table)) == 1]
        mixed = [table.by_deal(k) for table in mine if len(set(table.table)) > 1]
        mean, low, high = mean_interval(alone[0].by_deal(k))
        found.update(mean_return=mean, mean_return_low=low, mean_return_high=high)
        found["mean_score"] = float(alone[0].scores.mean())
        found["mean_return_mixed"] = float(np.concatenate(mixed).mean()) if mixed else None
    else:
        found.update({measure: float(np.concatenate(by_seat).mean()) for measure, by_seat in values.items()})
    found["by_seat"] = [
        {"games": len(values["mean_score"][seat]), **{m: float(by_seat[seat].mean()) for m, by_seat in values.items()}}
        for seat in range(len(mine[0].table))
    ]
    return found


def _rated(
    names: Sequence[str], played: Sequence[TableGames], anchor: int, resamples: int, seed: int
) -> tuple[list[dict[str, float]], list[str]]:
    from iszoo.baselines.arena.rating import Results, rate

    wins = np.stack([table.wins(len(names)) for table in played], axis=1)
    games = np.full(wins.shape[:2], float(played[0].a_deal))
    ratings = rate(
        Results(np.array([table.table for table in played]), wins, games), anchor, resamples=resamples, seed=seed
    )
    notes = []
    if len(ratings.groups) > 1:
        groups = ["{" + ", ".join(names[k] for k in group) + "}" for group in ratings.groups]
        notes.append(
            f"No agent of a later group won a game against one of an earlier group: {' > '.join(groups)}. How far"
            " apart the groups are is known from below only, as the intervals say; more games move them further apart."
        )
    rated = [
        {"elo": float(elo), "elo_low": float(low), "elo_high": float(high)}
        for elo, low, high in zip(ratings.elo, ratings.low, ratings.high, strict=True)
    ]
    return rated, notes


def _versus(names: Sequence[str], order: Sequence[int], played: Sequence[TableGames]) -> dict[str, Any]:
    """Of the wins that two agents had at tables where both sat, the share of the first: rows against columns."""
    agents = len(names)
    won = np.zeros((agents, agents))
    place = {k: i for i, k in enumerate(order)}
    for table in played:
        total = table.wins(agents).sum(axis=0)
        for a in set(table.table):
            for b in set(table.table) - {a}:
                won[place[a], place[b]] += total[a]
    both = won + won.T
    shares = [[float(won[i, j] / both[i, j]) if both[i, j] else None for j in range(agents)] for i in range(agents)]
    return {"agents": list(names), "share": shares}


def table_report(names: Sequence[str], table: TableGames, common: bool) -> dict[str, Any]:
    """What the games of a table come to, as plain values."""
    games = len(table.lengths)
    found: dict[str, Any] = {
        "agents": [names[k] for k in table.table],
        "games": games,
        "distinct_games": len(set(table.digests)),
        "first_games": first_games([bytes.fromhex(digest) for digest in table.digests[:CHECKED_GAMES]]),
        "mean_length": float(table.lengths.mean()),
        "results": [],
    }
    wins = table.wins(len(names)).sum(axis=0)
    for k in sorted(set(table.table)):
        mine = table.agents == k
        mean, low, high = mean_interval(table.by_deal(k))
        result: dict[str, Any] = {"agent": names[k], "mean_score": float(table.scores[mine].mean())}
        result.update(mean_return=mean, mean_return_low=low, mean_return_high=high)
        if not common:
            low, high = wilson(float(wins[k]), int(mine.sum()))
            result.update(win_rate=float(wins[k] / mine.sum()), win_rate_low=low, win_rate_high=high)
        found["results"].append(result)
    return found
