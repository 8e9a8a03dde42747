"""Commands in which agents play each other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tyro.conf import Positional

from iszoo.baselines.options import parse_options
from iszoo.commands.shared import (
    GameOptions,
    JsonFile,
    TrustPickle,
    give_out,
    print_table,
    progress,
    progress_to,
    tell,
    write_out,
)
from iszoo.envs import find


@dataclass(frozen=True)
class Match:
    """A match between agents, one a seat: seats rotated, each deal played from every seat."""

    game: Positional[str]
    agents: Positional[tuple[str, ...]]
    games: int = 400
    """How many games; rounded up so that every seating comes up equally often."""
    seed: int = 0
    """The first deal's seed. The same seed gives the same games."""
    option: GameOptions = ()
    trust_pickle: TrustPickle = False

    record: Path | None = None
    """Add every game to this file, see iszoo.record."""
    json: JsonFile = None

    def run(self) -> None:
        """Plays and prints the table."""
        from iszoo.baselines.agents import make_agent
        from iszoo.baselines.match import match

        game = find(self.game)
        if len(self.agents) < 1:
            raise ValueError("name the agents, one a seat")
        if self.games < 1:
            raise ValueError(f"--games {self.games}: play at least one")
        agents = [make_agent(name, game, trust=self.trust_pickle) for name in self.agents]
        seatings = math.factorial(len(agents))
        games = -(-self.games // seatings) * seatings
        options = parse_options(game, self.option)
        with progress(f"{game.name}: {' against '.join(self.agents)}", games) as advance:
            result = match(game, agents, games, seed=self.seed, progress=advance, record=self.record, **options)
        give_out(result.to_json(), self.json, lambda: _print_match(result))


@dataclass(frozen=True)
class Ladder:
    """A ladder: everybody against everybody, rated; writes OUT.json, OUT.md and OUT.svg.

    The games are kept in OUT.games.jsonl as they are played: the same command goes on where it was interrupted, and
    with more agents or games plays only what is missing.
    """

    game: Positional[str]
    agents: tuple[str, ...]
    """Names of agents; random, the zero of the ratings, is added."""
    games: int = 400
    """Games at each table, rounded up so that every seating comes up equally often."""
    seed: int = 0
    """The first deal's seed. The same seed gives the same games."""
    workers: int | None = None
    """Processes that play; by default as many as there are cores."""
    ray: str | None = None
    """Play on Ray: "local" starts it here, anything else is the address of a cluster."""
    out: Path | None = None
    """Where the files go, without their endings; reports/GAME.ladder by default."""
    option: GameOptions = ()
    trust_pickle: TrustPickle = False
    json: JsonFile = None

    def run(self) -> None:
        """Plays, prints the page, writes the files."""
        from iszoo.baselines.arena.pages import ladder_page
        from iszoo.baselines.arena.workers import cores
        from iszoo.baselines.ladder import ladder

        game = find(self.game)
        workers = cores() if self.workers is None else self.workers
        out = self.out or Path("reports") / f"{game.name}.ladder"
        with progress_to(f"{game.name}: ladder of {', '.join(self.agents)}") as advance:
            report = ladder(
                game, self.agents, self.games, seed=self.seed, workers=workers, ray=self.ray,
                trust=self.trust_pickle, keep=out.with_name(f"{out.name}.games.jsonl"), tell=tell,
                progress=advance, **parse_options(game, self.option),
            )  # fmt: skip
        write_out(out, report, ladder_page(report), "ladder_svg", self.json)


@dataclass(frozen=True)
class Statistics:
    """A game in numbers: length, branching, points, seats; writes OUT.json, OUT.md and OUT.svg."""

    game: Positional[str]
    games: int = 4000
    """Games of each agent in each setting."""
    agents: tuple[str, ...] = ()
    """Names of agents; by default those that the game has."""
    seed: int = 0
    """The first deal's seed. The same seed gives the same figures."""
    workers: int | None = None
    """Processes that play; by default as many as there are cores."""
    out: Path | None = None
    """Where the files go, without their endings; reports/GAME.statistics by default."""
    option: GameOptions = ()
    """The one setting to measure; without it, the default and each other value of each option."""
    trust_pickle: TrustPickle = False
    json: JsonFile = None

    def run(self) -> None:
        """Plays, prints the page, writes the files."""
        from iszoo.baselines.arena.pages import statistics_page
        from iszoo.baselines.arena.statistics import statistics
        from iszoo.baselines.arena.workers import cores

        game = find(self.game)
        workers = cores() if self.workers is None else self.workers
        out = self.out or Path("reports") / f"{game.name}.statistics"
        with progress_to(f"{game.name}: statistics") as advance:
            report = statistics(
                game, self.games, agents=self.agents, seed=self.seed, workers=workers,
                trust=self.trust_pickle, progress=advance, **parse_options(game, self.option),
            )  # fmt: skip
        write_out(out, report, statistics_page(report), "statistics_svg", self.json)


@dataclass(frozen=True)
class Reproduce:
    """Plays the published ladders of a game again and says, entry by entry, whether they agree within the interval."""

    game: Positional[str]
    games: int = 100
    """Games at each table; with --train in each match, at least 400 there."""
    ladder: str | None = None
    """One ladder, for instance iso-solo; all of the game by default."""
    without: tuple[str, ...] = ()
    """Agents to leave out: a search may take long."""
    workers: int | None = None
    """Processes that play; by default as many as there are cores."""
    train: str | None = None
    """Instead, train this published policy from scratch by its card, and play its matches again."""
    out: Path = Path("runs/reproduced")
    """The folder of that training."""
    json: JsonFile = None

    def run(self) -> None:
        """Plays, prints a line for each entry; fails if one disagrees."""
        from iszoo.baselines import reproduce
        from iszoo.baselines.arena.workers import cores

        game = find(self.game)
        if self.train is not None:
            report = reproduce.train(game, self.train, self.out, max(self.games, 400))
        else:
            with progress_to(f"{game.name}: the published ladders") as advance:
                report = reproduce.reproduce(
                    game, self.games, name=self.ladder, without=self.without,
                    workers=cores() if self.workers is None else self.workers, progress=advance,
                )  # fmt: skip
        give_out(report, self.json, lambda: _print_reproduced(report))
        if not report["all_agree"]:
            raise ValueError("not all of the published results came out again")


def _print_match(result: Any) -> None:
    rows = [
        (s.agent, f"{s.win_rate:.1%}", f"{s.low:.1%} to {s.high:.1%}", str(s.wins), str(s.shared),
         f"{s.mean_score:.2f}", f"{s.mean_return:+.3f}", " ".join(f"{r:.0%}" for r in s.win_rate_by_seat))
        for s in result.standings
    ]  # fmt: skip
    print_table(("agent", "win rate", "95 % interval", "won", "shared", "score", "reward", "by seat"), rows)
    settled = ", ".join(f"{name}={value}" for name, value in result.options.items())
    print(
        f"{result.game} ({settled}), {result.games} games, {result.distinct_games} distinct,"
        f" {result.mean_length:.1f} actions a game, seed {result.seed}, {result.seconds:.1f} s"
    )


def _print_reproduced(report: dict[str, Any]) -> None:
    rows = [
        (entry["ladder"], entry["agent"], " ".join(name for name in entry["table"]), entry["what"].replace("_", " "),
         "{:.3f} ({:.3f} to {:.3f})".format(*entry["published"]), "{:.3f} ({:.3f} to {:.3f})".format(*entry["here"]),
         "the same" if entry["same_games"] else "others", "yes" if entry["agrees"] else "NO")
        for entry in report["entries"]
    ]  # fmt: skip
    print_table(("ladder", "agent", "table", "figure", "published", "here", "first games", "agrees"), rows)
    agreeing = sum(entry["agrees"] for entry in report["entries"])
    print(f"{agreeing} of {len(rows)} entries agree with what was published")
