"""The command line: `iszoo`, or `python -m iszoo`. Needs the extra iszoo[cli]."""

from __future__ import annotations

import json
import math
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


TrustPickle = Annotated[
    bool, arg(name="trust-pickle", help="let agents sb3:ZIP and rllib:CHECKPOINT load files, which runs code in them")
]


@dataclass(frozen=True)
class List:
    """The games, and the agents that play them."""

    json: JsonFile = None

    def run(self) -> None:
        """Prints one line a game."""
        from iszoo.baselines.agents import AGENT_FORMS, agent_names

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

        def show() -> None:
            _print_table(("name", "game", "players", "actions", "agents"), rows)
            print(f"Agents of every game: {', '.join(AGENT_FORMS)}")

        _report(games, self.json, show)


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
        with _progress(f"{game.name}: {' against '.join(self.agents)}", games) as advance:
            result = match(game, agents, games, seed=self.seed, progress=advance, record=self.record, **options)
        _report(result.to_json(), self.json, lambda: _print_match(result))


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
        with _progress_to(f"{game.name}: ladder of {', '.join(self.agents)}") as advance:
            report = ladder(
                game, self.agents, self.games, seed=self.seed, workers=workers, ray=self.ray,
                trust=self.trust_pickle, keep=out.with_name(f"{out.name}.games.jsonl"), tell=_tell,
                progress=advance, **parse_options(game, self.option),
            )  # fmt: skip
        _write_out(out, report, ladder_page(report), "ladder_svg", self.json)


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
        with _progress_to(f"{game.name}: statistics") as advance:
            report = statistics(
                game, self.games, agents=self.agents, seed=self.seed, workers=workers,
                trust=self.trust_pickle, progress=advance, **parse_options(game, self.option),
            )  # fmt: skip
        _write_out(out, report, statistics_page(report), "statistics_svg", self.json)


@dataclass(frozen=True)
class Reproduce:
    """Plays the published ladders of a game again and says, entry by entry, whether they agree within the interval."""

    game: Positional[str]
    games: int = 100
    """Games at each table."""
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
            with _progress_to(f"{game.name}: the published ladders") as advance:
                report = reproduce.reproduce(
                    game, self.games, name=self.ladder, without=self.without,
                    workers=cores() if self.workers is None else self.workers, progress=advance,
                )  # fmt: skip
        _report(report, self.json, lambda: _print_reproduced(report))
        if not report["all_agree"]:
            raise ValueError("not all of the published results came out again")


@dataclass(frozen=True)
class Play:
    """A game in the terminal against agents: type moves, or help."""

    game: Positional[str]
    against: tuple[str, ...] = ("greedy",)
    """Agents of the other seats, in order; one for all of them; human for another person at the keyboard."""
    seat: int = 0
    """Your seat."""
    seed: int | None = None
    """Fixes the deal and the agents' chance."""
    option: GameOptions = ()
    record: Path | None = None
    """Add the game to this file, also when it is left early."""

    def run(self) -> None:
        """Plays."""
        from iszoo.envs.seeds import fresh_seed
        from iszoo.play import run

        game = find(self.game)
        options = parse_options(game, self.option)
        seed = fresh_seed() if self.seed is None else self.seed
        run(game, self.against, seat=self.seat, seed=seed, options=options, record=self.record)


@dataclass(frozen=True)
class Replay:
    """A recorded game as a page (--html), an animation (--gif) or a picture (--png)."""

    file: Positional[Path]
    game: int = 1
    """Which game of the file, from 1."""
    html: Path | None = None
    """Write one page with everything in it: step, play, jump, scores."""
    overlay: str | None = None
    """An agent whose policy the page shows."""
    gif: Path | None = None
    """Write an animated GIF."""
    png: int | None = None
    """Write the position after so many actions, as FILE-GAME-PLY.png in this folder."""

    def run(self) -> None:
        """Writes what was asked for; without any of it, says what is in the file."""
        from iszoo.replay import run

        run(self.file, self.game, html=self.html, overlay=self.overlay, gif=self.gif, png=self.png)


@dataclass(frozen=True)
class Solve:
    """The exact value of a position near the end of a recorded game, and of each legal action there."""

    file: Positional[Path]
    ply: int
    """The position after so many actions."""
    game: int = 1
    """Which game of the file, from 1."""
    nodes: int = 20_000_000
    """The budget, in positions visited."""
    json: JsonFile = None

    def run(self) -> None:
        """Prints values, best actions, nodes and time."""
        from iszoo.baselines.solver import report

        found = report.of_file(self.file, self.game, self.ply, self.nodes)
        _report(found, self.json, lambda: _print_solved(found))


@dataclass(frozen=True)
class Serve:
    """A page to play on, in any seat, against agents and people; to watch, and to look at records."""

    host: str = "127.0.0.1"
    """Where to listen; 0.0.0.0 lets other machines in."""
    port: int = 8000
    """0: any that is free."""
    file: Path | None = None
    """Where tables are kept; by default in your folder for data."""
    record: Path | None = None
    """Add every finished game to this file."""
    most_tables: int = 200
    """How many tables there may be."""
    agent: Annotated[UseAppendAction[tuple[str, ...]], arg(name="agent")] = ()
    """An agent that pages may choose besides each game's own; may be given several times."""
    allow_host: tuple[str, ...] = ()
    """Names, besides localhost and addresses, by which browsers may call this server."""

    def run(self) -> None:
        """Serves until Ctrl-C."""
        from iszoo.serve.command import serve

        serve(self.host, self.port, file=self.file, recorded=self.record, most_tables=self.most_tables,
              agents=self.agent, hosts=self.allow_host)  # fmt: skip


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
        _report(report, self.json, lambda: print(throughput.markdown(report)))


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


Command = List | Info | Match | Ladder | Statistics | Reproduce | Play | Replay | Solve | Serve | Perft | Bench | Demo


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


def _write_out(out: Path, report: dict[str, Any], page: str, plot: str, file: Path | None) -> None:
    """Shows a report's page and writes all its forms; without matplotlib, all but the plot."""
    from iszoo.benchmarks.files import write_json, write_text

    written = [out.with_name(f"{out.name}{ending}") for ending in (".json", ".md", ".svg")]
    write_json(written[0], report)
    write_text(written[1], page)
    try:
        from iszoo.baselines.arena import plots

        write_text(written[2], getattr(plots, plot)(report))
    except ImportError as error:
        _tell(f"no plot: {written.pop().name} {error}")
    _report(report, file, lambda: print(page))
    _tell(f"Written: {', '.join(map(str, written))}")


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _print_reproduced(report: dict[str, Any]) -> None:
    rows = [
        (entry["ladder"], entry["agent"], " ".join(name for name in entry["table"]), entry["what"].replace("_", " "),
         "{:.3f} ({:.3f} to {:.3f})".format(*entry["published"]), "{:.3f} ({:.3f} to {:.3f})".format(*entry["here"]),
         "the same" if entry["same_games"] else "others", "yes" if entry["agrees"] else "NO")
        for entry in report["entries"]
    ]  # fmt: skip
    _print_table(("ladder", "agent", "table", "figure", "published", "here", "first games", "agrees"), rows)
    agreeing = sum(entry["agrees"] for entry in report["entries"])
    print(f"{agreeing} of {len(rows)} entries agree with what was published")


def _print_solved(report: dict[str, Any]) -> None:
    best = [entry["move"] for entry in report["actions"] if entry["best"]]
    values = ", ".join(
        f"seat {seat}: {outcome:+.4g} ({margin:+.4g} points)"
        for seat, (outcome, margin) in enumerate(zip(report["outcome"], report["margin"], strict=True))
    )
    print(f"{report['game']}, ply {report['ply']}, seat {report['player']} to move; {report['left']} {report['unit']}")
    print(f"Value, by outcome reward and margin: {values}")
    print(f"Best: {' '.join(best)}\n")
    rows = [
        (entry["move"], f"{entry['outcome']:+.4g}", f"{entry['margin']:+.4g}", "best" if entry["best"] else "")
        for entry in report["actions"]
    ]
    _print_table(("action", "outcome", "margin", ""), rows)
    print(f"Known to both players: {report['knowledge']}")
    print(f"{report['nodes']:,} nodes, {report['seconds']:.2f} s")


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
def _progress_to(title: str) -> Iterator[Any]:
    """The same, told how much is done and how much there is in all."""
    console = rich.console.Console(stderr=True)
    with rich.progress.Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


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
    except (ValueError, ImportError, ChildProcessError) as error:
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
