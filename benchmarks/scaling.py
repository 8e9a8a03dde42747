"""Throughput from one game to 65,536, on one thread and two, and in one to four processes, beside the limit.

    python -m iszoo.benchmarks.scaling

"step" is `vec.step` with actions drawn beforehand, "random" `vec.random_steps`, "limit" `np.copyto` into buffers of the
same size, as in throughput.py. Processes each have a batch of their own on one thread, and play for the same second.
Writes benchmarks/results/scaling.json, .md and .svg.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from iszoo.benchmarks.timing import Task, interleaved, nothing
from iszoo.benchmarks.yardstick.connect_four import GAME as CONNECT_FOUR
from iszoo.envs import REGISTRY, VecEnv
from iszoo.envs.engine import count_legal, nth_legal
from iszoo.envs.game import Game
from iszoo.envs.native import kernel
from iszoo.envs.primitives import draw
from iszoo.envs.threads import max_threads
from iszoo.reports import machine

SIZES = (1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536)
PROCESSES = (1, 2, 3, 4)
GAMES_A_PROCESS = 1024
_BYTES_A_ROUND = 300_000_000
_STEPS = (2, 50_000)  # the least and the most in a round

Progress = Callable[[str], None]


@kernel
def draw_actions(mask: Any, states: Any, actions: Any) -> None:
    """A random legal action of every game. mask: int8 (N, A); states: int64 (N, 1); actions: int64 (N,)."""
    for i in range(mask.shape[0]):
        actions[i] = nth_legal(mask, i, draw(states, i, 0, count_legal(mask, i)))


def tasks(game: Game, size: int, threads: Sequence[int]) -> dict[str, tuple[Callable[[], Any], Task]]:
    """What is measured of so many games side by side."""
    least, most = _STEPS
    steps = min(most, max(least, _BYTES_A_ROUND // (size * (game.obs_size + game.num_actions))))
    found: dict[str, tuple[Callable[[], Any], Task]] = {}
    for count in threads:
        vec = VecEnv(game, size, seed=0, threads=count)
        vec.random_steps(game.max_game_length // 2)
        found[f"step x{count}"] = _stepping(vec, min(steps, 64))
        found[f"random x{count}"] = (nothing, lambda vec=vec: vec.random_steps(steps))  # type: ignore[misc]
    vec = VecEnv(game, size, seed=0)
    obs, mask = np.empty_like(vec.obs), np.empty_like(vec.action_mask)

    def copy() -> int:
        for _ in range(steps):
            np.copyto(obs, vec.obs)
            np.copyto(mask, vec.action_mask)
        return steps * size

    found["limit"] = (nothing, copy)
    return found


def _stepping(vec: VecEnv, steps: int) -> tuple[Callable[[], None], Task]:
    """The same actions from the same position, over and over."""
    start = vec.rows.copy()
    states = np.arange(vec.num_envs, dtype=np.int64)[:, None]
    recorded = np.empty((steps, vec.num_envs), np.int64)
    for actions in recorded:
        draw_actions(vec.action_mask, states, actions)
        vec.step(actions)

    def begin() -> None:
        np.copyto(vec.rows, start)
        vec.refresh()

    def work() -> int:
        for actions in recorded:
            vec.step(actions)
        return recorded.size

    return begin, work


# --- Processes ---


def in_processes(game: Game, count: int, seconds: float, rounds: int) -> list[float]:
    """Steps a second of so many processes together, by round."""
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(count), context.Queue()
    arguments = (game.name, seconds, rounds, barrier, results)
    processes = [context.Process(target=_play, args=arguments) for _ in range(count)]
    for process in processes:
        process.start()
    try:
        rates = [results.get(timeout=120 + rounds * seconds) for _ in processes]
    finally:
        for process in processes:
            process.join(10)
            if process.is_alive():
                process.kill()
    return np.array(rates).sum(axis=0).tolist()  # type: ignore[no-any-return]


def _play(name: str, seconds: float, rounds: int, barrier: Any, results: Any) -> None:
    """One of the processes: steps a second in each round."""
    vec = VecEnv(_game(name), GAMES_A_PROCESS, seed=0)
    begin, work = _stepping(vec, 64)
    found = []
    for _ in range(rounds):
        begin()
        barrier.wait(120)
        played, spent = 0, 0.0
        while spent < seconds:
            begin()
            began = time.perf_counter()
            played += work()
            spent += time.perf_counter() - began
        found.append(played / spent)
    results.put(found)


def _game(name: str) -> Game:
    return CONNECT_FOUR if name == CONNECT_FOUR.name else REGISTRY[name]


# --- The report ---


def measure(
    games: Sequence[Game],
    *,
    sizes: Sequence[int] = SIZES,
    processes: Sequence[int] = PROCESSES,
    rounds: int = 5,
    seconds: float = 1.0,
    progress: Progress = lambda _: None,
) -> dict[str, Any]:
    """Plain values for a JSON file."""
    threads = (1, 2) if max_threads() >= 2 else (1,)
    report: dict[str, Any] = {"machine": machine(), "sizes": list(sizes), "games": {}}
    for game in games:
        entry: dict[str, Any] = {"bytes": game.obs_size + game.num_actions, "rates": {}, "processes": {}}
        for size in sizes:
            progress(f"{game.name}: {size} games")
            for name, rate in interleaved(tasks(game, size, threads), rounds).items():
                entry["rates"].setdefault(name, {})[str(size)] = rate.to_json()
        for count in processes:
            progress(f"{game.name}: {count} processes")
            found = sorted(in_processes(game, count, seconds, rounds))
            entry["processes"][str(count)] = {
                "per_second": found[len(found) // 2], "low": found[0], "high": found[-1], "rounds": rounds,
            }  # fmt: skip
        report["games"][game.name] = entry
    return report


def tables(report: dict[str, Any]) -> dict[str, str]:
    """The tables of the docs: one a game, "processes", and "facts": what made them."""
    about = report["machine"]
    facts = (
        f"{about['cpu']}, {about['cores']} cores; Python {about['python']}, numba {about['numba']}; {about['date']}."
        " Millions of env steps a second, medians; by `make bench-scaling`."
    )
    found = {"facts": facts}
    for name, entry in report["games"].items():
        kinds = list(entry["rates"])
        lines = ["| games | " + " | ".join(kinds) + " | step / limit |", "|---:|" + "---:|" * (len(kinds) + 1)]
        for size in map(str, report["sizes"]):
            rates = [entry["rates"][kind][size]["per_second"] for kind in kinds]
            share = entry["rates"]["step x1"][size]["per_second"] / entry["rates"]["limit"][size]["per_second"]
            figures = " | ".join(f"{rate / 1e6:.3g}" for rate in rates)
            lines.append(f"| {int(size):,} | {figures} | {share:.2f} |")
        found[name] = "\n".join(lines)
    counts = list(next(iter(report["games"].values()))["processes"])
    lines = ["| processes | " + " | ".join(report["games"]) + " |", "|---:|" + "---:|" * len(report["games"])]
    for count in counts:
        rates = [entry["processes"][count]["per_second"] for entry in report["games"].values()]
        lines.append(f"| {count} | " + " | ".join(f"{rate / 1e6:.3g}" for rate in rates) + " |")
    return {**found, "processes": "\n".join(lines)}


def markdown(report: dict[str, Any]) -> str:
    """The report as a page."""
    made = tables(report)
    parts = ["# Scaling", made.pop("facts"), *(f"## {name}\n\n{table}" for name, table in made.items())]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Measures connect four and every game of the registry, and writes the results."""
    parser = argparse.ArgumentParser(prog="python -m iszoo.benchmarks.scaling", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few sizes, one round, to standard output alone")
    quick = parser.parse_args().quick
    from iszoo.benchmarks.plots import scaling_svg
    from iszoo.reports import write_json, write_text

    began = time.perf_counter()

    def progress(what: str) -> None:
        print(f"{time.perf_counter() - began:5.0f} s  {what}", file=sys.stderr)

    games = [CONNECT_FOUR, *REGISTRY.values()]
    if quick:
        report = measure(games, sizes=(1, 64, 1024), processes=(1, 2), rounds=1, seconds=0.2, progress=progress)
    else:
        report = measure(games, progress=progress)
        folder = Path(__file__).resolve().parent / "results"
        write_json(folder / "scaling.json", report)
        write_text(folder / "scaling.md", markdown(report))
        write_text(folder / "scaling.svg", scaling_svg(report))
    print(markdown(report))


if __name__ == "__main__":
    main()
