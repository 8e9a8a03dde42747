"""Where the time of a step goes: each kernel of a game alone, beside the whole step and the memory-write limit.

    python -m iszoo.benchmarks.profile

Every kernel is called through its address, as the engine calls it, for all games of a batch of 1,024 in turn, at plies
all over random games. The rest of a step is the loop, the ends of games, and what a kernel has to wait for what the
one before it wrote; a processor works on both at once where it can, so that the rest can be less than nothing. Writes
benchmarks/results/profile.json and .md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from iszoo.baselines.agents import RandomAgent, view_of
from iszoo.benchmarks.timing import Task, interleaved, nothing
from iszoo.envs import REGISTRY, VecEnv, engine
from iszoo.envs.engine import call_observe, call_step
from iszoo.envs.game import OBSERVE, STEP, Game
from iszoo.envs.native import kernel
from iszoo.reports import machine

GAMES = 1024
_MOMENTS = 16  # positions of the batch that are gone through, plies apart
KERNELS = ("step", "status", "observe", "legal")


@kernel
def _play(table: Any, rows: Any, actions: Any, params: Any) -> None:
    for i in range(rows.shape[0]):
        call_step(table[STEP], rows, i, actions[i], params)


@kernel
def _status(table: Any, rows: Any, params: Any) -> int:
    total = 0
    for i in range(rows.shape[0]):
        total += engine.to_move(table, rows, i, params)
    return total


@kernel
def _observe(table: Any, rows: Any, player: Any, obs: Any, params: Any) -> None:
    for i in range(rows.shape[0]):
        call_observe(table[OBSERVE], rows, i, player[i], obs, params)


@kernel
def _legal(table: Any, rows: Any, mask: Any, params: Any) -> None:
    for i in range(rows.shape[0]):
        engine.write_mask(table, rows, i, mask, params)


def tasks(game: Game) -> dict[str, tuple[Callable[[], Any], Task]]:
    """The parts of a step, and the whole."""
    vec = VecEnv(game, GAMES, seed=0)
    vec.random_steps(game.max_game_length)  # out of step with one another
    agent, everyone = RandomAgent(), np.arange(GAMES)
    moments = []
    for k in range(_MOMENTS):
        actions = agent.act(view_of(vec, everyone, everyone + k * GAMES))
        moments.append((vec.rows.copy(), vec.player.astype(np.int64), actions))
        vec.step(actions)
    table, params, rows = game.table, vec.params, np.empty_like(vec.rows)
    obs, mask = np.empty_like(vec.obs), np.empty_like(vec.action_mask)

    def each(work: Callable[[Any, Any, Any], Any]) -> Task:
        def go() -> int:
            for moment in moments:
                work(*moment)
            return _MOMENTS * GAMES

        return go

    def copy(before: Any, player: Any, actions: Any) -> None:
        np.copyto(rows, before)

    def copy_and_step(before: Any, player: Any, actions: Any) -> None:
        np.copyto(rows, before)
        _play(table, rows, actions, params)

    def limit(*_: Any) -> None:
        np.copyto(obs, vec.obs)
        np.copyto(mask, vec.action_mask)

    def back() -> None:
        np.copyto(vec.rows, moments[0][0])
        vec.refresh()

    return {
        "copy": (nothing, each(copy)),
        "copy and step": (nothing, each(copy_and_step)),
        "status": (nothing, each(lambda before, player, actions: _status(table, before, params))),
        "observe": (nothing, each(lambda before, player, actions: _observe(table, before, player, obs, params))),
        "legal": (nothing, each(lambda before, player, actions: _legal(table, before, mask, params))),
        "vec.step": (back, each(lambda before, player, actions: vec.step(actions))),
        "limit": (nothing, each(limit)),
    }


def measure(games: Sequence[Game], rounds: int = 50) -> dict[str, Any]:
    """Nanoseconds a game and step; the least of the rounds, for what else the machine does only ever adds."""
    report: dict[str, Any] = {"machine": machine(), "games": {}}
    for game in games:
        rates = interleaved(tasks(game), rounds)
        took = {name: 1e9 / rate.high for name, rate in rates.items()}
        parts = {"step": max(0.0, took["copy and step"] - took["copy"]), **{k: took[k] for k in KERNELS[1:]}}
        report["games"][game.name] = {
            "bytes": game.obs_size + game.num_actions,
            "limit": took["limit"],
            "vec.step": took["vec.step"],
            "parts": parts,
            "rest": took["vec.step"] - sum(parts.values()),
            "share of limit": took["limit"] / took["vec.step"],
        }
    return report


def tables(report: dict[str, Any]) -> dict[str, str]:
    """The tables of the docs: "profile", and "facts": what made it."""
    about = report["machine"]
    facts = (
        f"{about['cpu']}; numba {about['numba']}; {about['date']}. Nanoseconds a step in a batch of {GAMES:,}, one"
        " thread, by `make bench-profile`."
    )
    columns = ("bytes written", "memory-write limit", "vec.step", "limit / step", *KERNELS, "rest")
    lines = ["| game | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
    for name, entry in report["games"].items():
        times = [entry["limit"], entry["vec.step"], *(entry["parts"][k] for k in KERNELS), entry["rest"]]
        limit, step, *parts = (f"{time:.0f}" for time in times)
        figures = (f"{entry['bytes']:,}", limit, step, f"{entry['share of limit']:.2f}", *parts)
        lines.append(f"| {name} | " + " | ".join(figures) + " |")
    return {"facts": facts, "profile": "\n".join(lines)}


def markdown(report: dict[str, Any]) -> str:
    """The report as a page."""
    return "# Where the time of a step goes\n\n" + "\n\n".join(tables(report).values()) + "\n"


def main() -> None:
    """Measures connect four and every game of the registry, and writes the results."""
    parser = argparse.ArgumentParser(prog="python -m iszoo.benchmarks.profile", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few rounds, to standard output alone")
    quick = parser.parse_args().quick
    from iszoo.benchmarks.yardstick.connect_four import GAME
    from iszoo.reports import write_json, write_text

    report = measure([GAME, *REGISTRY.values()], 5 if quick else 50)
    if not quick:
        folder = Path(__file__).resolve().parent / "results"
        write_json(folder / "profile.json", report)
        write_text(folder / "profile.md", markdown(report))
    print(markdown(report))


if __name__ == "__main__":
    main()
