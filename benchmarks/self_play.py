"""Self-play by search with a network: games an hour, beside the same in plain Python.

    python -m iszoo.benchmarks.self_play            # writes benchmarks/results/self_play.json

All play whole games, one process and one thread each, with the same network, simulations and options: `az:` as
training does it (many games side by side, compiled trees, leaves as one batch), and `plain_search.py` (one game after
the other, an AEC environment, Python objects), which asks the network a position at a time: as torch runs it, as one
would write it at first, and as the compiled loops of `az:` run it. They take turns, and the ratios are of the medians
of one run. Needs iszoo[train].
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import iszoo
from iszoo.baselines import POLICIES, networks
from iszoo.baselines.networks import Architecture, Network
from iszoo.baselines.policy import load_card
from iszoo.baselines.search.network_search import Evaluator, NetworkSearchOptions
from iszoo.baselines.training.self_play import Task, play
from iszoo.benchmarks.plain_search import play_game
from iszoo.benchmarks.timing import interleaved, nothing
from iszoo.envs.game import Game, Options
from iszoo.reports import machine, machine_text, write_json

OUT = Path(__file__).parent / "results" / "self_play.json"


def weights_of(game: Game, architecture: Architecture) -> dict[str, Any]:
    """Weights of the size that training begins with, from a seed: learnt ones only change which games are played."""
    rng = np.random.default_rng(0)
    return {
        name: (rng.normal(size=shape) / np.sqrt(shape[-1]) if len(shape) > 1 else np.zeros(shape)).astype(np.float32)
        for name, shape in networks.shapes(architecture, game).items()
    }


def _shipped(game: Game) -> Path:
    return POLICIES / f"{game.name}.safetensors"


def measure(
    game: Game,
    simulations: int,
    games: int,
    rounds: int,
    progress: Callable[[str], None] | None = None,
    *,
    by_torch: bool = True,
) -> dict[str, Any]:
    """Games an hour of each, and the ratios of their medians.

    Args:
        game: the game, with its default options, and the network of its policy that ships.
        simulations: a decision.
        games: side by side, in ours.
        rounds: that each plays; a round of the plain one is a game.
        progress: called with a line now and then.
        by_torch: measure the plain one with the network as torch runs it, too.
    """
    options, search = game.resolve({}), NetworkSearchOptions()
    architecture = dict(load_card(_shipped(game)).architecture)
    weights = weights_of(game, architecture)
    network = Network(game, options, architecture, weights)
    rng = np.random.default_rng(1)
    seed = 0

    def ours() -> int:
        nonlocal seed
        seed += games
        play(
            Task(
                game=game.name, options=options, architecture=architecture, weights=weights, games=games,
                seed=seed, simulations=simulations, search=search, noise=0.0, alpha=10.0,
                explore=game.max_game_length, bootstrap=0.0,
            )
        )  # fmt: skip
        return games

    def plain(evaluator: Evaluator) -> int:
        env = iszoo.make(game.name, observation="flat")
        env.reset(seed=int(rng.integers(1 << 31)))
        play_game(env, evaluator, simulations, rng, search)
        return 1

    def compile_all() -> None:
        play(
            Task(
                game=game.name, options=options, architecture=architecture, weights=weights, games=2,
                seed=0, simulations=2, search=search, noise=0.0, alpha=10.0, explore=0, bootstrap=0.0,
            )
        )  # fmt: skip

    contenders: dict[str, tuple[Callable[[], Any], Callable[[], int]]]
    contenders = {"ours": (compile_all, ours), "plain": (nothing, partial(plain, network))}
    if by_torch:
        contenders["torch"] = (nothing, partial(plain, _by_torch(game, options, architecture, weights)))
    rates = interleaved(contenders, rounds, progress)
    return {
        "game": game.id, "simulations": simulations, "side_by_side": games, "network": architecture,
        "games_an_hour": {
            name: {
                "median": 3600 * rate.median, "low": 3600 * rate.low, "high": 3600 * rate.high, "rounds": rate.rounds
            }
            for name, rate in rates.items()
        },
        "ratios": {name: rates["ours"].median / rates[name].median for name in rates if name != "ours"},
    }  # fmt: skip


def _by_torch(game: Game, options: Options, architecture: Architecture, weights: dict[str, Any]) -> Evaluator:
    import torch

    from iszoo.baselines.training.torch_networks import TorchNetwork

    torch.set_num_threads(1)
    network = TorchNetwork(game, options, architecture)
    network.load(weights)
    return network


def tables(report: Mapping[str, Any]) -> dict[str, str]:
    """The results as Markdown: `games` and `run`, what made them."""
    lines = [
        "| game | network | games an hour | plain Python, torch | times as many | plain Python, compiled network |"
        " times as many |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in report["rows"]:
        kind, hourly = row["network"]["kind"], row["games_an_hour"]
        layers = " x ".join(str(size) for size in row["network"]["hidden"])
        cells = [f"{hourly['ours']['median']:,.0f}"]
        for name in ("torch", "plain"):
            cells += [f"{hourly[name]['median']:,.0f}", f"{row['ratios'][name]:.1f}"]
        lines.append(f"| {row['game']} | {kind}, {layers} | {' | '.join(cells)} |")
    row = report["rows"][0]
    run = (
        f"{row['simulations']} simulations a decision, {row['side_by_side']} games side by side; medians of"
        f" {row['games_an_hour']['ours']['rounds']} rounds in turns, one thread."
        f" {machine_text(report['machine'], 'NumPy')}"
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
        if not _shipped(game).exists():
            continue
        row = measure(game, given.simulations, given.games, rounds, lambda line: print(line, file=sys.stderr))
        hourly = row["games_an_hour"]
        print(f"{game.name:12} {hourly['ours']['median']:>12,.0f} games an hour")
        for name, ratio in row["ratios"].items():
            print(f"{name:>12} {hourly[name]['median']:>12,.0f}: {ratio:.1f} times")
        rows.append(row)
    if not given.quick:
        write_json(OUT, {"machine": machine(), "rows": rows})


if __name__ == "__main__":
    main()
