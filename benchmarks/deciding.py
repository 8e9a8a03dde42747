"""How long agents that search take for a decision: `python -m iszoo.benchmarks.deciding`.

All of them answer at the same positions, in turns: games between `expert` and itself, each stopped at another ply. Side
by side a batch of positions is one question, as in matches; alone each position is one, as in a game against a person.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from iszoo.baselines.agents import Agent, make_agent, view_of
from iszoo.baselines.search.leaf_values import NETWORKS
from iszoo.benchmarks.timing import Task, interleaved, nothing
from iszoo.envs.game import Game
from iszoo.envs.vec import VecEnv
from iszoo.reports import machine_text, report_games

RESULTS = Path(__file__).parent / "results" / "deciding.json"
_SIMULATIONS = {"isaac": (64, 512, 1024), "iso": (64, 512), "isis_osiris": (64,)}  # of the networks
AGENTS: Mapping[str, tuple[str, ...]] = {
    name: ("mcts:200", "mcts:2000", *(f"az:{NETWORKS[name]}:{count}" for count in counts))
    for name, counts in _SIMULATIONS.items()
}
"""Game -> whom it asks; the times are compared with those of `AGAINST`."""
AGAINST = "mcts:2000"
GAMES = 32  # side by side
ALONE = 8  # of these, asked one by one
SEED = 5

Report = dict[str, Any]


def stopped(game: Game, games: int) -> VecEnv:
    """Games of `expert` against itself, the first at its beginning, the last after three quarters of the longest."""
    vec = VecEnv(game, games, seed=SEED, autoreset="disabled")
    expert = make_agent("expert", game)
    rng = np.random.default_rng(SEED)
    ahead = np.arange(games) * game.max_game_length * 3 // (4 * games)
    for ply in range(game.max_game_length):
        playing = (ahead > ply) & (vec.player >= 0)
        if not playing.any():
            break
        some = np.flatnonzero(playing)
        actions = np.zeros(games, np.int64)
        actions[some] = expert.act(view_of(vec, some, rng.integers(1 << 62, size=len(some))))
        vec.step(actions, where=playing)
    return vec


def measure(game: Game, names: Iterable[str], rounds: int, tell: Callable[[str], None] | None = None) -> Report:
    """Decisions a second of some agents; plain values for a JSON file."""
    vec = stopped(game, GAMES)
    choosing = np.flatnonzero((vec.player >= 0) & (vec.action_mask.sum(axis=1, dtype=np.int64) > 1))
    few = choosing[np.linspace(0, len(choosing) - 1, min(ALONE, len(choosing))).astype(np.int64)]  # of all stages

    def ask(agent: Agent, batches: list[Any]) -> Task:
        def work() -> int:
            for batch in batches:
                agent.act(view_of(vec, batch, batch + 1))
            return sum(map(len, batches))

        return work

    ways = {"side by side": [choosing], "alone": [few[k : k + 1] for k in range(len(few))]}
    found: Report = {}
    for way, batches in ways.items():
        tasks = {name: (nothing, ask(make_agent(name, game), batches)) for name in names}
        rates = interleaved(tasks, rounds, None if tell is None else (lambda name: tell(f"{game.name}: {name}")))
        found[way] = {name: rate.to_json() for name, rate in rates.items()}
    return {"positions": {"side by side": len(choosing), "alone": len(few)}, "ways": found}


def tables(report: Report) -> dict[str, str]:
    """The results as Markdown: `times` and `run`."""
    lines = [
        f"| game | agent | ms a decision, side by side | of the time of `{AGAINST}` | ms, alone | of the time |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for name, entry in report["deciding"].items():
        for agent in entry["ways"]["alone"]:
            cells = []
            for rates in entry["ways"].values():
                rate = rates[agent]["per_second"]
                cells += [f"{1000 / rate:.1f}", f"{rates[AGAINST]['per_second'] / rate:.2f}"]
            lines.append(f"| {name} | `{agent}` | " + " | ".join(cells) + " |")
    entries = report["deciding"]
    counts = ", ".join(f"{entry['positions']['side by side']} of {name}" for name, entry in entries.items())
    alone = min(entry["positions"]["alone"] for entry in entries.values())
    rounds = min(
        rate["rounds"] for entry in entries.values() for way in entry["ways"].values() for rate in way.values()
    )
    run = (
        f"Positions: {counts}, and {alone} of these alone; medians of {rounds} rounds in turns, one thread."
        f" {machine_text(report['machine'])}"
    )
    return {"times": "\n".join(lines), "run": run}


def main(arguments: list[str] | None = None) -> None:
    """Measures and writes the results."""
    parser = argparse.ArgumentParser(
        prog="python -m iszoo.benchmarks.deciding", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("games", nargs="*", default=list(AGENTS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS, help="the file of the results")
    args = parser.parse_args(arguments)
    if args.rounds < 1:
        sys.exit(f"error: rounds={args.rounds!r} is not allowed; it is a whole number from 1")
    report_games(
        args.out, "deciding", args.games, AGENTS,
        lambda game, tell: measure(game, AGENTS[game.name], args.rounds, tell), tables,
    )  # fmt: skip


if __name__ == "__main__":
    main()
