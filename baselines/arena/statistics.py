"""A game in numbers: how long it is, how many actions there are, what seats win, what scores come up.

Every seat is played by the same agent, each game on a deal of its own. All figures are of such games: those of
`random` tell about the rules alone, those of better players about how the game goes when it is played well.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.baselines.agents import agent_names, make_agent
from iszoo.baselines.arena.workers import run
from iszoo.baselines.ladder import has_common_result
from iszoo.baselines.match import first_games, mean_interval, play, win_shares
from iszoo.envs import find
from iszoo.envs.game import Game
from iszoo.envs.primitives import NUM_PLAYERS
from iszoo.envs.vec import VecEnv
from iszoo.reports import machine


def settings(game: Game) -> list[dict[str, Any]]:
    """The default options, and each other value of each option alone; all with every number of players."""
    found: dict[bytes, dict[str, Any]] = {}
    players = game.options["num_players"].choices if "num_players" in game.options else ()
    single = [{}, *({name: value} for name, option in game.options.items() for value in option.choices)]
    for options in single:
        for number in ({}, *({"num_players": number} for number in players)):
            try:
                settled = game.resolve({**options, **number})
            except ValueError:  # they can't go together
                continue
            found.setdefault(game.fingerprint(game.params(settled)), settled)
    return list(found.values())


def label(game: Game, options: Mapping[str, Any]) -> str:
    """What a setting is called: the number of players, and what differs from the default."""
    default = game.resolve({})
    players = int(game.params(options)[NUM_PLAYERS])
    differing = [
        f"{name}={value}" for name, value in options.items() if name != "num_players" and value != default[name]
    ]
    return ", ".join([f"{players} player{'s' if players > 1 else ''}", *differing])


@dataclass(frozen=True)
class Task:
    """The games of one agent in one setting."""

    game: str
    options: dict[str, Any]
    agent: str
    games: int
    seed: int
    trust: bool


class Branching:
    """Watches games, see `play`: how many legal actions there were at each ply."""

    def __init__(self) -> None:
        self._vec: VecEnv | None = None
        self._ply = 0
        self._logs: list[npt.NDArray[np.float64]] = []
        self.total: list[int] = []
        self.games: list[int] = []
        self.least: list[int] = []
        self.greatest: list[int] = []

    def __call__(self, vec: VecEnv, running: npt.NDArray[np.bool_]) -> None:
        """Counts the legal actions of the running games, which are all at the same ply."""
        if vec is not self._vec:
            self._vec, self._ply = vec, 0
            self._logs.append(np.zeros(vec.num_envs))
        counts = vec.action_mask.sum(axis=1, dtype=np.int64)[running]
        self._logs[-1][running] += np.log10(counts)
        if self._ply == len(self.total):
            for column, start in ((self.total, 0), (self.games, 0), (self.least, 1 << 62), (self.greatest, 0)):
                column.append(start)
        self.total[self._ply] += int(counts.sum())
        self.games[self._ply] += len(counts)
        self.least[self._ply] = min(self.least[self._ply], int(counts.min()))
        self.greatest[self._ply] = max(self.greatest[self._ply], int(counts.max()))
        self._ply += 1

    @property
    def logs(self) -> npt.NDArray[np.float64]:
        """Of each game the log10 of the product of its numbers of legal actions: how many lines run beside it."""
        return np.concatenate(self._logs)


def measure(task: Task) -> dict[str, Any]:
    """Plays the games of a task; what they come to, as plain values."""
    game = find(task.game)
    players = int(game.params(task.options)[NUM_PLAYERS])
    agents = [make_agent(task.agent, game, trust=task.trust) for _ in range(players)]
    branching = Branching()
    played = play(game, agents, task.games, seed=task.seed, rotate=False, watch=branching, **task.options)
    plies = np.array(branching.games)
    entry: dict[str, Any] = {
        "agent": task.agent,
        "distinct_games": len(set(played.digests)),
        "first_games": first_games(played.digests),
        "length": {**_summary(played.lengths), "histogram": _histogram(played.lengths)},
        "branching": {
            "mean": sum(branching.total) / int(plies.sum()),
            "greatest": max(branching.greatest),
            "by_ply": {
                "mean": [total / count for total, count in zip(branching.total, branching.games, strict=True)],
                "least": branching.least,
                "greatest": branching.greatest,
                "games": branching.games,
            },
        },
        "log10_lines": float(branching.logs.mean()),
        "score": {**_summary(played.scores.ravel()), "histogram": _histogram(played.scores.ravel())},
        "seats": [
            {"mean_score": float(played.scores[:, seat].mean()), "mean_return": float(played.returns[:, seat].mean())}
            for seat in range(players)
        ],
    }
    if not has_common_result(game, task.options):
        shares = win_shares(played.returns)
        ranked = np.sort(played.scores, axis=1)
        margins = ranked[:, -1] - ranked[:, -2]
        entry["shared_wins"] = float((shares.max(axis=1) < 1).mean())
        entry["lead"] = {**_summary(margins), "histogram": _histogram(margins)}
        for seat, found in enumerate(entry["seats"]):
            won, low, high = mean_interval(shares[:, seat])
            found.update(win_rate=won, win_rate_low=low, win_rate_high=high)
    return entry


def _summary(values: npt.NDArray[np.int64]) -> dict[str, float]:
    low, median, high = np.percentile(values, [5, 50, 95])
    return {
        "mean": float(values.mean()),
        "deviation": float(values.std()),
        "least": int(values.min()),
        "percentile_5": float(low),
        "median": float(median),
        "percentile_95": float(high),
        "greatest": int(values.max()),
    }


def _histogram(values: npt.NDArray[np.int64]) -> dict[str, list[int]]:
    found, counts = np.unique(values, return_counts=True)
    return {"values": found.tolist(), "counts": counts.tolist()}


def statistics(
    game: Game,
    games: int,
    *,
    agents: Sequence[str] | None = None,
    seed: int = 0,
    workers: int = 1,
    trust: bool = False,
    progress: Any = None,
    **options: Any,
) -> dict[str, Any]:
    """The statistics of a game as plain values for a JSON file.

    Args:
        game: the game.
        games: games of each agent in each setting.
        agents: names; by default those of `agent_names`.
        seed: of the first deal. The same arguments give the same figures.
        workers: processes that play, see `workers.run`.
        trust: see `make_agent`.
        progress: called with the number of parts that are done and that of all.
        **options: the options of the one setting; without any, all of `settings`.

    Raises ValueError for a bad argument, ChildProcessError if a worker died.
    """
    began = time.perf_counter()
    if games < 2:
        raise ValueError(f"{games} games: play at least two")
    names = list(agents) if agents else agent_names(game)
    for name in names:
        make_agent(name, game, trust=trust)
    chosen = [game.resolve(options)] if options else settings(game)
    tasks = [Task(game.name, setting, name, games, seed, trust) for setting in chosen for name in names]
    entries: dict[int, dict[str, Any]] = {}
    for k, entry in run(measure, tasks, workers=workers):
        entries[k] = entry
        if progress is not None:
            progress(len(entries), len(tasks))
    measured: list[dict[str, Any]] = []
    for s, setting in enumerate(chosen):
        of_setting = [entries[s * len(names) + k] for k in range(len(names))]
        # Some options change what is seen, not what is played: then the games are the same in every figure.
        same = next((known for known in measured if known["agents"] == of_setting), None)
        if same is not None:
            same["same_games"].append(label(game, setting))
            continue
        measured.append(
            {
                "label": label(game, setting),
                "same_games": [],
                "options": setting,
                "players": int(game.params(setting)[NUM_PLAYERS]),
                "common_result": has_common_result(game, setting),
                "agents": of_setting,
            }
        )
    return {
        "game": game.id,
        "seed": seed,
        "games": games,
        "settings": measured,
        "seconds": time.perf_counter() - began,
        "machine": machine(),
    }
