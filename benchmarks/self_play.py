"""Self-play by search with a network: games an hour, beside the same in plain Python.

    python -m iszoo.benchmarks.self_play            # writes benchmarks/results/self_play.json

Both sides play whole games, one process and one thread each, with the same network, simulations and options: `az:` as
training does it (many games side by side, compiled trees, leaves as one batch), and `plain_search.py` (one game after
the other, an AEC environment, Python objects). They take turns, and the ratio is of the medians of one run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import iszoo
from iszoo.baselines import networks
from iszoo.baselines.networks import Network
from iszoo.baselines.search.network_search import NetworkSearchOptions
from iszoo.baselines.training.self_play import Task, play
from iszoo.benchmarks.files import write_json
from iszoo.benchmarks.plain_search import play_game
from iszoo.benchmarks.timing import interleaved, machine
from iszoo.envs.game import Game

OUT = Path(__file__).parent / "results" / "self_play.json"

ARCHITECTURES: dict[str, dict[str, Any]] = {
    "isaac": {"kind": "lines", "hidden": [48, 48], "slot": 16, "value_hidden": [64]},
    "iso": {"kind": "walls", "reach": 3, "hidden": [96, 64], "wall": 12, "value_hidden": [64]},
    "isis_osiris": {"kind": "cells", "hidden": [48, 48, 48], "value_hidden": [64]},
}
"""The networks that ship, with weights from a seed: what they have learnt would only change which games are played."""


def weights_of(game: Game) -> dict[str, Any]:
    """Weights of the size that training begins with, from a seed."""
    rng = np.random.default_rng(0)
    return {
        name: (rng.normal(size=shape) / np.sqrt(shape[-1]) if len(shape) > 1 else np.zeros(shape)).astype(np.float32)
        for name, shape in networks.shapes(ARCHITECTURES[game.name], game).items()
    }


def measure(
    game: Game, simulations: int, games: int, rounds: int, progress: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """Games an hour of both, and the ratio of their medians.

    Args:
        game: the game, with its default options.
        simulations: a decision.
        games: side by side, in ours.
        rounds: that each plays; a round of the plain one is a game.
        progress: called with a line now and then.
    """
    options, search, weights = game.resolve({}), NetworkSearchOptions(), weights_of(game)
    network = Network(game, options, ARCHITECTURES[game.name], weights)
    rng = np.random.default_rng(1)
    seed = 0

    def ours() -> int:
        nonlocal seed
        seed += games
        play(
            Task(
                game=game.name, options=options, architecture=ARCHITECTURES[game.name], weights=weights, games=games,
                seed=seed, simulations=simulations, search=search, noise=0.0, alpha=10.0,
                explore=game.max_game_length, bootstrap=0.0,
            )
        )  # fmt: skip
        return games

    def plain() -> int:
        env = iszoo.make(game.name, observation="flat")
        env.reset(seed=int(rng.integers(1 << 31)))
        play_game(env, network, simulations, rng, search)
        return 1

    def compile_all() -> None:
        play(
            Task(
                game=game.name, options=options, architecture=ARCHITECTURES[game.name], weights=weights, games=2,
                seed=0, simulations=2, search=search, noise=0.0, alpha=10.0, explore=0, bootstrap=0.0,
            )
        )  # fmt: skip

    rates = interleaved({"ours": (compile_all, ours), "plain": (lambda: None, plain)}, rounds, progress)
    return {
        "game": game.id, "simulations": simulations, "side_by_side": games, "network": ARCHITECTURES[game.name],
        "games_an_hour": {
            name: {
                "median": 3600 * rate.median, "low": 3600 * rate.low, "high": 3600 * rate.high, "rounds": rate.rounds
            }
            for name, rate in rates.items()
        },
        "ratio": rates["ours"].median / rates["plain"].median,
    }  # fmt: skip


def tables(report: Mapping[str, Any]) -> dict[str, str]:
    """The results as Markdown: `games` and `run`, what made them."""
    lines = ["| game | network | games an hour | plain Python | times as many |", "|---|---|---:|---:|---:|"]
    for row in report["rows"]:
        kind, hourly = row["network"]["kind"], row["games_an_hour"]
        layers = " x ".join(str(size) for size in row["network"]["hidden"])
        cells = [f"{hourly[name]['median']:,.0f}" for name in ("ours", "plain")]
        lines.append(f"| {row['game']} | {kind}, {layers} | {' | '.join(cells)} | {row['ratio']:.1f} |")
    about, row = report["machine"], report["rows"][0]
    run = (
        f"{row['simulations']} simulations a decision, {row['side_by_side']} games side by side; medians of"
        f" {row['games_an_hour']['ours']['rounds']} rounds in turns, one thread. {about['cpu']}, Python"
        f" {about['python']}, NumPy {about['numpy']}; iszoo {about['iszoo']}, {about['date']}."
    )
    return {"games": "\n".join(lines), "run": run}


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m iszoo.benchmarks.self_play", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--simulations", type=int, default=32)
    parser.add_argument("--games", type=int, default=128, help="side by side")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="rough figures, which are not written")
    given = parser.parse_args(arguments)
    rounds = 1 if given.quick else given.rounds
    rows = []
    for game in iszoo.REGISTRY.values():
        if game.name not in ARCHITECTURES:
            continue
        row = measure(game, given.simulations, given.games, rounds, lambda line: print(line, file=sys.stderr))
        hourly = row["games_an_hour"]
        print(f"{game.name:12} {hourly['ours']['median']:>12,.0f} games an hour, plain"
              f" {hourly['plain']['median']:>8,.0f}: {row['ratio']:.1f} times")  # fmt: skip
        rows.append(row)
    if not given.quick:
        write_json(OUT, {"machine": machine(), "rows": rows})


if __name__ == "__main__":
    main()
