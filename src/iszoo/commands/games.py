"""Commands about a game: what there is, its fact sheet, perft, exact values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tyro.conf import Positional

from iszoo.baselines.options import parse_options
from iszoo.commands.shared import GameOptions, JsonFile, give_out, print_table
from iszoo.envs import REGISTRY, find


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
            print_table(("name", "game", "players", "actions", "agents"), rows)
            print(f"Agents of every game: {', '.join(AGENT_FORMS)}")

        give_out(games, self.json, show)


@dataclass(frozen=True)
class Info:
    """The fact sheet of a game: players, options, actions, planes, features."""

    game: Positional[str]
    json: JsonFile = None

    def run(self) -> None:
        """Prints the sheet."""
        from iszoo.envs.facts import fact_sheet, facts

        game = find(self.game)
        give_out(facts(game), self.json, lambda: print(fact_sheet(game)))


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
        give_out(report, self.json, lambda: None)


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
        give_out(found, self.json, lambda: _print_solved(found))


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
    print_table(("action", "outcome", "margin", ""), rows)
    print(f"Known to both players: {report['knowledge']}")
    print(f"{report['nodes']:,} nodes, {report['seconds']:.2f} s")
