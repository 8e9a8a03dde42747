"""How fast endgames are solved, and how far from the end: `python -m iszoo.benchmarks.solving`.

Depth: games between scripted agents are solved from their ends backwards, at the first position that has each amount
left to play, until one takes longer than `LONGEST` seconds. What a game was solved at within 1 and 10 s is the
greatest amount up to which all of its positions were; over games, the median and the quartiles are shown. Speed: of the
same solves, positions visited a second; and how many of the published positions are solved a second.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from iszoo.baselines.solver import Solver, Unsolved
from iszoo.baselines.solver.positions import WINDOWS, load, played
from iszoo.envs.game import Game
from iszoo.reports import machine_text, report_games

RESULTS = Path(__file__).parent / "results" / "solving.json"
QUICK_RESULTS = Path("reports") / "solving-quick.json"
LONGEST = 10.0
LIMITS = (1.0, LONGEST)
SEED = 7  # of the games: others than those of the published positions

Report = dict[str, Any]


def measure(game: Game, games: int, positions: int, tell: Callable[[str], None] | None = None) -> Report:
    """What is solved of a game; plain values for a JSON file.

    Args:
        game: the game.
        games: how many are solved from their ends.
        positions: how many of the published positions are solved, evenly chosen.
        tell: is told what is done next.
    """
    solver = Solver(game)
    _warm_up(solver)
    rate = 0.5e6  # positions visited a second, until it is known better
    nodes, seconds = 0, 0.0
    reached: list[dict[str, Any]] = []
    for number in range(games):
        if tell is not None:
            tell(f"{game.name}: game {number + 1} of {games}")
        rows = [row for _, _, row in played(game, SEED, number)]
        firsts: dict[int, int] = {}  # what is left -> the first ply
        for ply in range(len(rows)):
            firsts.setdefault(solver.left(rows[ply]), ply)
        solved = [{"left": 0, "plies": 0} for _ in LIMITS]
        within = [True for _ in LIMITS]
        for left in sorted(firsts):
            ply = firsts[left]
            began = time.perf_counter()
            try:
                solution = solver.solve(rows[ply], nodes=int(LONGEST * rate * 1.5))
            except Unsolved:
                break
            taken = time.perf_counter() - began
            nodes, seconds = nodes + solution.nodes, seconds + taken
            rate = nodes / seconds if seconds > 1 else rate
            for k, limit in enumerate(LIMITS):
                within[k] &= taken <= limit
                if within[k]:
                    solved[k] = {"left": left, "plies": len(rows) - ply}
            if taken > LONGEST:
                break
        reached.append({str(limit): depth for limit, depth in zip(LIMITS, solved, strict=True)})
    if tell is not None:
        tell(f"{game.name}: published positions")
    published = load(game.name).positions
    chosen = published[:: max(1, len(published) // positions)][:positions]
    began = time.perf_counter()
    for position in chosen:
        solver.solve(position.row)
    took = time.perf_counter() - began
    return {
        "unit": solver.ending.unit,
        "games": games,
        "nodes_per_second": nodes / seconds,
        "nodes": nodes,
        "published": {"positions": len(chosen), "per_second": len(chosen) / took},
        "depth": {
            str(limit): {what: _quartiles([depth[str(limit)][what] for depth in reached]) for what in ("left", "plies")}
            for limit in LIMITS
        },
    }


def _warm_up(solver: Solver) -> None:
    """Compiles."""
    rows = [row for _, _, row in played(solver.game, SEED, 0)]
    solver.solve(rows[-1])


def _quartiles(values: list[int]) -> dict[str, float]:
    low, median, high = np.percentile(values, [25, 50, 75])
    return {"median": float(median), "low": float(low), "high": float(high)}


def tables(report: Report) -> dict[str, str]:
    """The results as Markdown: `speed`, `depth` and `run`."""
    speed = ["| game | positions visited a second | published positions solved a second |", "|---|---:|---:|"]
    depth = [
        "| game | counted in | solved within 1 s | within 10 s | plies to the end, 1 s | 10 s |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for name, entry in report["games"].items():
        rate = f"{entry['nodes_per_second'] / 1e6:.2f} million"
        speed.append(f"| {name} | {rate} | {entry['published']['per_second']:.1f} |")
        cells = [_cell(entry["depth"][str(limit)][what]) for what in ("left", "plies") for limit in LIMITS]
        depth.append(f"| {name} | {entry['unit']} | " + " | ".join(cells) + " |")
    games = max(entry["games"] for entry in report["games"].values())
    run = f"Medians over {games} games of each, quartiles in brackets; one thread. {machine_text(report['machine'])}"
    return {"speed": "\n".join(speed), "depth": "\n".join(depth), "run": run}


def _cell(part: dict[str, float]) -> str:
    return f"{part['median']:g} ({part['low']:g} to {part['high']:g})"


def main(arguments: list[str] | None = None) -> None:
    """Measures and writes the results."""
    parser = argparse.ArgumentParser(prog="python -m iszoo.benchmarks.solving", description=__doc__)
    parser.add_argument("games", nargs="*", default=list(WINDOWS))
    parser.add_argument("--quick", action="store_true", help=f"few games, into {QUICK_RESULTS}")
    parser.add_argument("--out", type=Path, help=f"the file of the results (by default {RESULTS})")
    args = parser.parse_args(arguments)
    counts = (3, 30) if args.quick else (16, 100)
    report_games(
        args.out or (QUICK_RESULTS if args.quick else RESULTS), "games", args.games, WINDOWS,
        lambda game, tell: measure(game, *counts, tell), tables,
    )  # fmt: skip


if __name__ == "__main__":
    main()
