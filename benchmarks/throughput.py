"""Env steps a second: the AEC loop beside PettingZoo's connect four, and the batch beside the memory-write limit.

What is compared:
- "aec": `last()`, a random legal action, `step`, the same loop over our env() and theirs.
- "step": `vec.step` with actions given, recorded from random play; "random": `vec.random_steps`. Both write
  observation and mask of every step. `random_steps` plays each game on before it turns to the next, so its
  writes stay in the first-level cache; `step` goes through the whole batch.
- "limit": `np.copyto` into the same two buffers, the least that writing them can cost.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from iszoo.baselines.agents import RandomAgent, view_of
from iszoo.benchmarks.timing import Rate, Task, interleaved, nothing
from iszoo.envs import GameEnv, VecEnv
from iszoo.envs.game import Game
from iszoo.envs.spaces import LAYOUTS
from iszoo.envs.threads import max_threads
from iszoo.reports import machine

SIZES = (1, 64, 1024, 4096)
_BYTES_A_ROUND = 150_000_000  # how much a batch task writes: a fraction of a second of work
_RECORDED = 64  # steps of recorded actions, replayed from the same start

Progress = Callable[[str], None]


def aec_loop(env: Any, steps: int, seed: int = 0) -> int:
    """Plays at least `steps` steps of random games through `last` and `step`; returns how many."""
    choose = random.Random(seed).random
    env.reset(seed=seed)
    done = 0
    while done < steps:
        env.reset()
        while True:
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                break
            legal = observation["action_mask"].nonzero()[0]
            env.step(legal[int(choose() * len(legal))])
            done += 1
    return done


def connect_four() -> Any:
    """PettingZoo's connect_four_v3.env(), or None where what it needs (pygame) is not installed."""
    try:
        from pettingzoo.classic.connect_four.connect_four import env
    except ImportError:
        return None
    return env()


def _aec_tasks(game: Game, steps: int) -> dict[str, tuple[Callable[[], Any], Task]]:
    tasks: dict[str, tuple[Callable[[], Any], Task]] = {}
    for layout in LAYOUTS:
        env = GameEnv(game, observation=layout)
        tasks[f"aec {layout}"] = (nothing, lambda env=env: aec_loop(env, steps))  # type: ignore[misc]
    peer = connect_four()
    if peer is not None:
        tasks["aec connect_four"] = (nothing, lambda: aec_loop(peer, steps // 10))
    return tasks


def _batch_tasks(game: Game, sizes: Sequence[int], threads: Sequence[int]) -> dict[str, tuple[Callable[[], Any], Task]]:
    tasks: dict[str, tuple[Callable[[], Any], Task]] = {}
    for n in sizes:
        steps = max(1, _BYTES_A_ROUND // (n * (game.obs_size + game.num_actions)))
        steps = min(steps, 200_000)
        for t in threads:
            vec = VecEnv(game, n, seed=0, threads=t)
            set_up, work = _recorded(vec, min(_RECORDED, steps))
            tasks[f"step {n} x{t}"] = (set_up, work)
            tasks[f"random {n} x{t}"] = (nothing, lambda vec=vec, k=steps: vec.random_steps(k))  # type: ignore[misc]
        vec = VecEnv(game, n, seed=0)
        obs, mask = np.empty_like(vec.obs), np.empty_like(vec.action_mask)
        tasks[f"limit {n}"] = (nothing, _copying(vec, obs, mask, steps))
    return tasks


def _recorded(vec: VecEnv, steps: int) -> tuple[Callable[[], None], Task]:
    """Replays the same actions from the same start; short batches several times over."""
    agent, everyone = RandomAgent(), np.arange(vec.num_envs)
    vec.random_steps(20)
    start = vec.rows.copy()
    recorded = []
    for k in range(steps):
        actions = agent.act(view_of(vec, everyone, everyone + k * vec.num_envs))
        recorded.append(actions)
        vec.step(actions)

    def set_up() -> None:
        vec.rows[:] = start
        vec.refresh()

    def work() -> int:
        for actions in recorded:
            vec.step(actions)
        return steps * vec.num_envs

    return set_up, work


def _copying(vec: VecEnv, obs: Any, mask: Any, steps: int) -> Task:
    def work() -> int:
        for _ in range(steps):
            np.copyto(obs, vec.obs)
            np.copyto(mask, vec.action_mask)
        return steps * vec.num_envs

    return work


def _clone_tasks(game: Game) -> dict[str, tuple[Callable[[], Any], Task]]:
    env = GameEnv(game)
    env.reset(seed=0)
    vec = VecEnv(game, 1024, seed=0)
    rows = np.empty_like(vec.rows)

    def clone() -> int:
        for _ in range(5_000):
            env.clone()
        return 5_000

    def copy_rows() -> int:
        for _ in range(2_000):
            np.copyto(rows, vec.rows)
        return 2_000 * 1024

    def save_and_load() -> int:
        for _ in range(2_000):
            env.set_state(env.get_state())
        return 2_000

    return {
        "clone env": (nothing, clone),
        "clone row of 1024": (nothing, copy_rows),
        "get_state + set_state": (nothing, save_and_load),
    }


_FIRST_USE = """
import time
began = time.perf_counter()
import {imports}
imported = time.perf_counter()
if {game!r}:
    import iszoo
    env = iszoo.make({game!r})
    env.reset(seed=0)
    env.step(env.legal_actions()[0])
    env.last()
print(imported - began, time.perf_counter() - began)
"""


def first_use(game: Game, repeats: int = 5) -> dict[str, float]:
    """Seconds in new processes: imports, and the first step with a cold and with a warm cache of compiled code."""

    def run(imports: str, name: str, cache: str) -> tuple[float, float]:
        source = _FIRST_USE.format(imports=imports, game=name)
        result = subprocess.run(
            [sys.executable, "-c", source],
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
            capture_output=True,
            text=True,
            check=True,
        )
        imported, stepped = map(float, result.stdout.split())
        return imported, stepped

    with tempfile.TemporaryDirectory() as cache:
        cold = run("iszoo", game.name, cache)[1]
        warm = [run("iszoo", game.name, cache)[1] for _ in range(repeats)]
        ours = [run("iszoo", "", cache)[0] for _ in range(repeats)]
        theirs = [run("numpy, numba, gymnasium, pettingzoo", "", cache)[0] for _ in range(repeats)]
    return {
        "import iszoo": statistics.median(ours),
        "import what it depends on": statistics.median(theirs),
        "first step, cold cache": cold,
        "first step, warm cache": statistics.median(warm),
    }


def measure(
    games: Sequence[Game],
    *,
    sizes: Sequence[int] = SIZES,
    rounds: int = 5,
    aec_steps: int = 30_000,
    with_first_use: bool = True,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Measures games one after the other; plain values for a JSON file, one entry a game."""
    threads = (1, 2) if max_threads() >= 2 else (1,)
    report: dict[str, Any] = {"machine": machine(), "games": {}}
    for game in games:
        tasks = {
            **_aec_tasks(game, aec_steps),
            **_batch_tasks(game, sizes, threads),
            **_clone_tasks(game),
        }
        told = None if progress is None else lambda name, game=game: progress(f"{game.name}: {name}")
        rates = interleaved(tasks, rounds, told)
        report["games"][game.name] = {
            "bytes_per_step": game.obs_size + game.num_actions,
            "rates": {name: rate.to_json() for name, rate in rates.items()},
            "ratios": ratios(rates, sizes, threads),
        }
        if with_first_use:
            if progress is not None:
                progress(f"{game.name}: first use")
            report["games"][game.name]["seconds"] = first_use(game)
    return report


def ratios(rates: dict[str, Rate], sizes: Sequence[int], threads: Sequence[int]) -> dict[str, float]:
    """What the targets speak of: ratios of medians of one run."""
    found: dict[str, float] = {}
    if "aec connect_four" in rates:
        for layout in LAYOUTS:
            found[f"aec {layout} / PettingZoo connect_four"] = (
                rates[f"aec {layout}"].median / rates["aec connect_four"].median
            )
    for n in sizes:
        limit = rates[f"limit {n}"].median
        for kind in ("step", "random"):
            found[f"{kind} {n} / limit"] = rates[f"{kind} {n} x1"].median / limit
            if 2 in threads:
                found[f"{kind} {n}: 2 threads / 1"] = rates[f"{kind} {n} x2"].median / rates[f"{kind} {n} x1"].median
    if 1 in sizes:
        found["vec.step of one game, microseconds above its kernels"] = 1e6 * (
            1 / rates["step 1 x1"].median - 1 / rates["random 1 x1"].median
        )
    return found


def tables(report: dict[str, Any]) -> dict[str, str]:
    """The tables of the docs: one a game, "seconds" of a first use, and "facts": what made them."""
    about = report["machine"]
    found = {
        "facts": f"{about['cpu']}, {about['cores']} cores; Python {about['python']}, numba {about['numba']}, numpy"
        f" {about['numpy']}, pettingzoo {about['pettingzoo']}; {about['date']}. Medians, by `make bench`."
    }
    for name, entry in report["games"].items():
        lines = [f"{entry['bytes_per_step']:,} bytes written a step.", ""]
        lines += ["| what | a second | lowest | highest |", "|---|---:|---:|---:|"]
        for what, rate in entry["rates"].items():
            figures = (short(rate[key]) for key in ("per_second", "low", "high"))
            lines.append(f"| {what} | " + " | ".join(figures) + " |")
        lines += ["", "| ratio | |", "|---|---:|"]
        lines += [f"| {what} | {value:.2f} |" for what, value in entry["ratios"].items()]
        found[name] = "\n".join(lines)
    first = {name: entry["seconds"] for name, entry in report["games"].items() if "seconds" in entry}
    if first:
        lines = ["| seconds in a new process | " + " | ".join(first) + " |", "|---|" + "---:|" * len(first)]
        for what in next(iter(first.values())):
            lines.append(f"| {what} | " + " | ".join(f"{seconds[what]:.2f}" for seconds in first.values()) + " |")
        found["seconds"] = "\n".join(lines)
    return found


def markdown(report: dict[str, Any]) -> str:
    """The report as a page."""
    heads = {"facts": "# Steps a second", "seconds": "## First use"}
    return "\n\n".join(f"{heads.get(name, f'## {name}')}\n\n{table}" for name, table in tables(report).items()) + "\n"


def short(rate: float) -> str:
    """A rate in three digits, as "12.3 k" or "4.56 M"."""
    for limit, unit in ((1e6, " M"), (1e3, " k")):
        if rate >= limit:
            return f"{rate / limit:.3g}{unit}"
    return f"{rate:.3g}"


def main() -> None:
    """Measures every game and writes benchmarks/results/throughput.json and .md."""
    from pathlib import Path

    from iszoo.envs import REGISTRY
    from iszoo.reports import write_json, write_text

    began = time.perf_counter()
    report = measure(list(REGISTRY.values()), progress=lambda what: print(what, file=sys.stderr))
    folder = Path(__file__).parent / "results"
    write_json(folder / "throughput.json", report)
    write_text(folder / "throughput.md", markdown(report))
    print(f"{markdown(report)}\n{time.perf_counter() - began:.0f} s; written to {folder}")


if __name__ == "__main__":
    main()
