"""How well networks and rollouts foretell results, where `az:` asks them.

    python -m iszoo.baselines.search.leaf_values

The network that ships plays itself, each action drawn by the squares of its probabilities. For every position with a
choice, what it says there, and what rollouts by the search's agent say (each from a position in which all that the
player to move can't know is redrawn, as a simulation does), is compared with what the game gave in the end:
correlations over all positions. `share` is the weight of rollouts in the mixture that foretells best (least squares).
The search adds one rollout to a leaf and takes the mean over many leaves, so that its best share lies between that
of one rollout and that of many. Intervals: 95 %, over batches of games, resampled.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.baselines import RESULTS
from iszoo.baselines.policy import load_card, load_policy
from iszoo.baselines.search import network_tree, tree
from iszoo.baselines.search.network_search import DEFAULTS, NetworkSearchOptions
from iszoo.baselines.search.search import scripted_preference, with_reward
from iszoo.baselines.training.self_play import Task, play
from iszoo.envs import engine
from iszoo.envs.game import Game
from iszoo.envs.primitives import MARGIN, NUM_PLAYERS, OUTCOME, mix
from iszoo.reports import report_games

REPORT = RESULTS / "leaf_values.json"
NETWORKS = {"isaac": "isaac-az-2", "iso": "iso-az", "isis_osiris": "isis_osiris-az-3"}
ROLLOUTS = 16  # from each position
GAMES = 64  # of a batch
SEED = 11

Report = dict[str, Any]
Floats = npt.NDArray[np.float64]


def measure(game: Game, batches: int, tell: Callable[[str], None] | None = None) -> Report:
    """What foretells the results of a game's network against itself; plain values for a JSON file.

    Args:
        game: one of NETWORKS, with its default options.
        batches: of games, GAMES each.
        tell: is told what is done next.
    """
    parts = []
    for batch in range(batches):
        if tell is not None:
            tell(f"{game.name}: batch {batch + 1} of {batches}")
        parts.append(foretold(game, NETWORKS[game.name], SEED * 1_000_003 + batch * GAMES))
    rng = np.random.default_rng(SEED)
    drawn = [[parts[k] for k in rng.integers(batches, size=batches)] for _ in range(200)]
    samples = [_figures(some) for some in drawn]
    return {
        "network": NETWORKS[game.name], "rollout": DEFAULTS[game.name].rollout,
        "share_in_use": DEFAULTS[game.name].rollout_share, "rollouts": ROLLOUTS, "games": batches * GAMES,
        "positions": sum(len(part["result"]) for part in parts),
        "figures": {
            name: {"value": value, **_interval([sample[name] for sample in samples])}
            for name, value in _figures(parts).items()
        },
    }  # fmt: skip


def foretold(game: Game, policy: str, seed: int, games: int = GAMES) -> dict[str, Floats]:
    """What the network and rollouts say of the positions of some games, and their results, for the player to move.

    Returns `result` (n,), `network` (n,) and `rollouts` (ROLLOUTS, n).
    """
    network, card, options = load_policy(policy, game).network, load_card(policy), game.resolve({})
    params = game.params(options)
    by_outcome, by_margin = (with_reward(params, reward) for reward in (OUTCOME, MARGIN))
    kept = play(
        Task(
            game=game.name, options=options, architecture=card.architecture, weights=network.weights,
            games=games, seed=seed, simulations=0, search=NetworkSearchOptions(margin=card.margin), noise=0.0,
            alpha=1.0, explore=0, bootstrap=0.0,
        )
    )  # fmt: skip
    n, rows = len(kept), np.ascontiguousarray(kept.rows)
    obs, mask = np.empty((n, game.obs_size), np.int8), np.empty((n, game.num_actions), np.int8)
    engine.refresh_batch(game.table, rows, np.ones(n, np.bool_), obs, mask, np.empty(n, np.int8), params)
    movers = np.array([tree.mover(game.table, rows[k : k + 1], params) for k in range(n)])
    agent, guided = scripted_preference(game, DEFAULTS[game.name].rollout, "rollout")
    scratch = np.zeros((1, game.row_size), np.int64), np.zeros((1, game.num_actions), np.int8)
    gave = np.empty((ROLLOUTS, n))
    for k in range(ROLLOUTS):
        seeds = np.array([mix(seed + k * n + place) for place in range(n)], np.int64)
        leaves = rows.copy()
        engine.resample_batch(game.table, leaves, movers, seeds, params)
        rolled, margins = np.zeros((2, n, int(params[NUM_PLAYERS])))
        network_tree.roll_out(
            game.table, np.arange(n), agent, guided, float(card.margin), leaves, *scratch,
            np.zeros((1, game.num_actions)), rolled, margins, seeds[:, None].copy(), by_outcome, by_margin,
        )  # fmt: skip
        gave[k] = np.take_along_axis(rolled, movers[:, None], axis=1)[:, 0]
    return {
        "result": kept.values[:, 0].astype(np.float64), "network": network.values(obs).astype(np.float64),
        "rollouts": gave,
    }  # fmt: skip


def _figures(parts: Iterable[Mapping[str, Floats]]) -> dict[str, float]:
    """The correlations and shares over all positions of some batches."""
    several = list(parts)
    result, network = (np.concatenate([part[name] for part in several]) for name in ("result", "network"))
    rollouts = np.concatenate([part["rollouts"] for part in several], axis=1)
    found = {"network": _correlation(network, result)}
    for name, mean in (("one", rollouts[0]), ("many", rollouts.mean(axis=0))):
        ways = np.stack([network, mean, np.ones_like(mean)], axis=1)
        weights = np.linalg.lstsq(ways, result, rcond=None)[0]
        found |= {
            f"{name}_rollouts": _correlation(mean, result),
            f"{name}_mixed": _correlation(ways @ weights, result),
            f"{name}_share": float(weights[1] / (weights[0] + weights[1])),
        }
    return found


def _correlation(told: Floats, result: Floats) -> float:
    return float(np.corrcoef(told, result)[0, 1])


def _interval(values: list[float]) -> dict[str, float]:
    low, high = np.percentile(values, [2.5, 97.5])
    return {"low": float(low), "high": float(high)}


def tables(report: Report) -> dict[str, str]:
    """The results as Markdown: `values` and `run`."""
    entries = report["leaf_values"]
    many = next(iter(entries.values()))["rollouts"]
    named = {
        "by the network": "network", "by one rollout": "one_rollouts", f"by {many} rollouts": "many_rollouts",
        "by the network and one": "one_mixed", f"by the network and {many}": "many_mixed",
        "best share of one": "one_share", f"best share of {many}": "many_share",
    }  # fmt: skip
    rows = {
        what: [f"{entry['figures'][name]['value']:.2f}" for entry in entries.values()] for what, name in named.items()
    }
    rows["share in use"] = [f"{entry['share_in_use']:.2f}" for entry in entries.values()]
    lines = [
        "| | " + " | ".join(f"`{entry['network']}`" for entry in entries.values()) + " |",
        "|---|" + "---:|" * len(entries),
        *(f"| {what} | " + " | ".join(cells) + " |" for what, cells in rows.items()),
    ]
    about = report["machine"]
    widest = max(one["high"] - one["low"] for entry in entries.values() for one in entry["figures"].values())
    counts = ", ".join(f"{entry['positions']:,} of {name}" for name, entry in entries.items())
    run = (
        f"Positions: {counts}. Every interval is at most {widest:.2f} wide (they are in the JSON)."
        f" iszoo {about['iszoo']}, {about['date']}."
    )
    return {"values": "\n".join(lines), "run": run}


def main(arguments: list[str] | None = None) -> None:
    """Measures and writes the results."""
    parser = argparse.ArgumentParser(
        prog="python -m iszoo.baselines.search.leaf_values", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("games", nargs="*", default=list(NETWORKS))
    parser.add_argument("--batches", type=int, default=16, help=f"of {GAMES} games each")
    parser.add_argument("--out", type=Path, default=REPORT, help="the file of the results")
    args = parser.parse_args(arguments)
    if args.batches < 2:
        sys.exit(f"error: batches={args.batches!r} is not allowed; it is 2 or more, or there is no interval")
    report_games(
        args.out, "leaf_values", args.games, NETWORKS, lambda game, tell: measure(game, args.batches, tell), tables
    )  # fmt: skip


if __name__ == "__main__":
    main()
