"""The command line: `iszoo`, or `python -m iszoo`. Needs the extra iszoo[cli]."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from iszoo import __version__
from iszoo.baselines.options import parse_options
from iszoo.envs import REGISTRY, find

try:
    import rich.console
    import rich.progress
    import rich.table
    import tyro
    from tyro.conf import OmitArgPrefixes, Positional, UseAppendAction, arg
except ImportError as error:  # pragma: no cover - the message is tested in a process without tyro
    sys.exit(f"iszoo: error: the command line needs the extra cli: pip install 'iszoo[cli]' ({error})")

JsonFile = Annotated[Path | None, arg(name="json", help="also write the result there as JSON; - for stdout")]
GameOptions = Annotated[
    UseAppendAction[tuple[str, ...]],
    arg(name="option", help="an option of the game as NAME=VALUE; may be given several times"),
]


@dataclass(frozen=True)
class List:
    """The games, and the agents that play them."""

    json: JsonFile = None

    def run(self) -> None:
        """Prints one line a game."""
        from iszoo.baselines.agents import agent_names

        games: list[dict[str, Any]] = [
            {"name": game.name, "title": game.title, "players": list(game.players),
             "actions": game.num_actions, "agents": agent_names(game)}
            for game in REGISTRY.values()
        ]  # fmt: skip
        rows = [
            (
                g["name"],
                g["title"],
                "/".join(map(str, g["players"])),
                str(g["actions"]),
                ", ".join(g["agents"]),
            )
            for g in games
        ]
        _report(games, self.json, lambda: _print_table(("name", "game", "players", "actions", "agents"), rows))


@dataclass(frozen=True)
class Info:
    """The fact sheet of a game: players, options, actions, planes, features."""

    game: Positional[str]
    json: JsonFile = None

    def run(self) -> None:
        """Prints the sheet."""
        from iszoo.envs.facts import fact_sheet, facts

        game = find(self.game)
        _report(facts(game), self.json, lambda: print(fact_sheet(game)))


@dataclass(frozen=True)
class Match:
    """A match between agents, one a seat: seats rotated, each deal played from every seat."""

    game: Positional[str]
    agents: Positional[tuple[str, ...]]
    games: int = 400
    """How many games; rounded up to give each agent every seat."""
    seed: int = 0
    """The first deal's seed. The same seed gives the same games."""
    option: GameOptions = ()
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
        agents = [make_agent(name, game) for name in self.agents]
        games = -(-self.games // len(agents)) * len(agents)
        options = parse_options(game, self.option)
        with _progress(f"{game.name}: {' against '.join(self.agents)}", games) as advance:
            result = match(game, agents, games, seed=self.seed, progress=advance, **options)
        _report(result.to_json(), self.json, lambda: _print_match(result))


@dataclass(frozen=True)
class Perft:
    """The number of action sequences of a length from the start of a deal."""

    game: Positional[str]
    depth: Positional[int]
    seed: int = 0
    """Fixes the deal."""
    deal: tuple[int, ...] = ()
    """The deal itself, as `reset(options={"deal": ...})` takes it."""
    option: GameOptions = ()
    json: JsonFile = None

    def run(self) -> None:
        """Prints a line for each length up to the one asked for."""
        import time

        from iszoo.envs.perft import perft

        game = find(self.game)
        options = parse_options(game, self.option)
        if self.depth < 1:
            raise ValueError(f"depth {self.depth} is not allowed; it is a whole number from 1")
        counts = []
        perft(game, 1, seed=self.seed, deal=self.deal or None, **options)  # compiles
        for depth in range(1, self.depth + 1):
            began = time.perf_counter()
            count = perft(game, depth, seed=self.seed, deal=self.deal or None, **options)
            counts.append({"depth": depth, "count": count, "seconds": time.perf_counter() - began})
            if self.json != Path("-"):
                print(f"{depth:3}  {count:>20,}  {counts[-1]['seconds']:.2f} s", flush=True)
        report = {"game": game.id, "options": game.resolve(options), "seed": self.seed, "counts": counts}
        report["deal"] = list(self.deal) or None
        _report(report, self.json, lambda: None)


@dataclass(frozen=True)
class Bench:
    """Env steps a second: AEC and batch, beside PettingZoo's connect four and the memory-write limit."""

    games: Positional[tuple[str, ...]] = ()
    """The games; all by default."""
    quick: bool = False
    """Fewer rounds and sizes: a look, not figures to publish."""
    json: JsonFile = None

    def run(self) -> None:
        """Measures and prints tables."""
        from iszoo.benchmarks import throughput

        games = [find(name) for name in self.games] or list(REGISTRY.values())
        sizes = (1, 1024) if self.quick else throughput.SIZES
        with _status("warming up") as tell:
            report = throughput.measure(
                games,
                sizes=sizes,
                rounds=3 if self.quick else 5,
                with_first_use=not self.quick,
                progress=tell,
            )
        _report(report, self.json, lambda: print(throughput.table(report)))


@dataclass(frozen=True)
class Demo:
    """A match in every game, and the steps a second beside PettingZoo's connect four; writes a report."""

    out: Path = Path("reports")
    """The folder for the report."""
    games: int = 200
    """Games a match."""
    json: JsonFile = None

    def run(self) -> None:
        """Plays, measures, prints, writes."""
        from iszoo.baselines.demo import demo

        with _status("starting") as tell:
            report, text = demo(self.games, tell)
        from iszoo.benchmarks.files import write_json, write_text

        write_json(self.out / "demo.json", report)
        write_text(self.out / "demo.md", text)
        _report(report, self.json, lambda: print(text))
        print(f"Report: {self.out / 'demo.md'} and {self.out / 'demo.json'}", file=sys.stderr)


Command = List | Info | Match | Perft | Bench | Demo


# --- What commands share -----------------------------------------------------------------------------------


def _report(value: Any, file: Path | None, show: Any) -> None:
    """Shows a result to a person, or writes it for a machine, or both."""
    if file == Path("-"):
        print(json.dumps(value, indent=1))
        return
    show()
    if file is not None:
        from iszoo.benchmarks.files import write_json

        write_json(file, value)
        print(f"Written: {file}", file=sys.stderr)


def _print_match(result: Any) -> None:
    rows = [
        (s.agent, f"{s.win_rate:.1%}", f"{s.low:.1%} to {s.high:.1%}", str(s.wins), str(s.shared),
         f"{s.mean_score:.2f}", f"{s.mean_return:+.3f}", " ".join(f"{r:.0%}" for r in s.win_rate_by_seat))
        for s in result.standings
    ]  # fmt: skip
    _print_table(("agent", "win rate", "95 % interval", "won", "shared", "score", "reward", "by seat"), rows)
    settled = ", ".join(f"{name}={value}" for name, value in result.options.items())
    print(
        f"{result.game} ({settled}), {result.games} games, {result.distinct_games} distinct,"
        f" {result.mean_length:.1f} actions a game, seed {result.seed}, {result.seconds:.1f} s"
    )


def _print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = rich.table.Table(box=None, pad_edge=False, header_style="bold")
    for name in head:
        table.add_column(name)
    for row in rows:
        table.add_row(*row)
    console = rich.console.Console()
    if not console.is_terminal:
        console = rich.console.Console(width=200)
    console.print(table)


@contextmanager
def _progress(title: str, total: int) -> Iterator[Any]:
    """A bar on stderr, where that is a terminal."""
    console = rich.console.Console(stderr=True)
    with rich.progress.Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=total)
        yield lambda count: bar.advance(task, count)


@contextmanager
def _status(first: str) -> Iterator[Any]:
    """What is being done, on stderr: a live line in a terminal, else a line each."""
    console = rich.console.Console(stderr=True)
    if not console.is_terminal:
        yield lambda what: print(what, file=sys.stderr, flush=True)
        return
    with console.status(first) as status:
        yield status.update


def main(args: Sequence[str] | None = None) -> int:
    """Runs a command. Returns 0, or 1 with a message on stderr; usage errors exit with 2."""
    arguments = list(sys.argv[1:] if args is None else args)
    if arguments == ["--version"]:
        print(f"iszoo {__version__}")
        return 0
    command = tyro.cli(
        Command,  # a union of classes, which tyro takes
        config=(OmitArgPrefixes,),
        prog="iszoo",
        description="Games, agents, matches and measurements of iszoo.",
        args=arguments,
    )
    try:
        command.run()
    except ValueError as error:
        print(f"iszoo: error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output has had enough
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print("iszoo: interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
