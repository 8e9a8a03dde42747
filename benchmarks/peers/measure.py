"""A run: the contenders warmed up and waiting, asked in turn, round after round."""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

from iszoo.benchmarks.peers import worker
from iszoo.benchmarks.peers.contenders import Contender, Worker
from iszoo.benchmarks.peers.rows import Row, rows
from iszoo.benchmarks.timing import Rate
from iszoo.envs import VecEnv
from iszoo.envs.game import Game

Progress = Callable[[str], None]
Rates = dict[str, dict[str, Rate]]
"""Row -> "contender: how" -> rate."""


@dataclass(frozen=True)
class Plan:
    """How thorough a run is."""

    sizes: tuple[int, ...] = (1, 64, 1024, 4096)
    rounds: int = 5
    seconds: float = 0.4  #: of a slice
    simulations: int = 20_000
    games_in_training: int = 64
    rest: float = 0.02  #: between two slices, for pools of threads to fall asleep


QUICK = Plan(sizes=(1, 64, 1024), rounds=1, seconds=0.05, simulations=2_000, games_in_training=8)


def core_sets() -> list[list[int]]:
    """One core, and two where there are two."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))
    return [cores[-1:], cores[-2:]] if len(cores) > 1 else [cores]


def race(
    contenders: Sequence[Contender], cores: Sequence[int], plan: Plan, progress: Progress
) -> tuple[Rates, dict[str, dict[str, str]], dict[str, str]]:
    """Measures every task of every contender on some cores.

    Returns the rates, the versions by contender, and why a contender is missing.
    """
    setting = {
        "cores": list(cores),
        "sizes": list(plan.sizes),
        "simulations": plan.simulations,
        "games_in_training": plan.games_in_training,
    }
    missing: dict[str, str] = {}
    slices: dict[tuple[str, str], list[float]] = {}
    with ExitStack() as stack:
        workers: list[Worker] = []
        for contender in contenders:
            progress(f"{len(cores)} cores: {contender.name} warms up")
            try:
                workers.append(stack.enter_context(Worker(contender, setting)))
            except (RuntimeError, OSError) as error:
                missing[contender.name] = str(error)
        for round_ in range(plan.rounds):
            for row, who, task in _turns(workers, rows(plan.sizes)):
                progress(f"{len(cores)} cores, round {round_ + 1}: {who.contender.name}, {task}")
                if who.contender.name in missing:
                    continue
                time.sleep(plan.rest)
                try:
                    units, seconds = who.ask(task, plan.seconds)
                except RuntimeError as error:  # the others go on
                    missing[who.contender.name] = str(error)
                    continue
                label = f"{who.contender.name}, {task.partition(': ')[2]}"
                slices.setdefault((row.name, label), []).append(units / seconds)
        versions = {who.contender.name: who.versions for who in workers}
    rates: Rates = {}
    for (name, label), found in slices.items():
        rates.setdefault(name, {})[label] = Rate(statistics.median(found), min(found), max(found), len(found))
    return rates, versions, missing


def _turns(workers: Sequence[Worker], order: Sequence[Row]) -> Iterator[tuple[Row, Worker, str]]:
    """Row after row, so that what is compared is measured within a second or two."""
    for row in order:
        for who in workers:
            for task in who.tasks:
                if task.startswith(f"{row.name}: "):
                    yield row, who, task


# --- What isn't a rate ---

_CACHES = {  # where a library keeps compiled code between processes
    "iszoo": lambda folder: {"NUMBA_CACHE_DIR": folder},
    "Pgx": lambda folder: {
        "JAX_COMPILATION_CACHE_DIR": folder,
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    },
}


def first_use(contenders: Sequence[Contender], rounds: int, progress: Progress) -> dict[str, dict[str, float]]:
    """Seconds of a new process that imports a library and plays one step: by contender, "cold" and "warm".

    Cold: with an empty cache of compiled code, the least of two; warm: the median of rounds. What has no such cache
    has no cold. The interpreter's own start is in it.
    """
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        times: dict[str, list[float]] = {}
        for contender in contenders:
            code = _first_step(contender)
            cache = _CACHES.get(contender.name)
            if not code or not contender.python.exists():
                continue
            progress(f"first use: {contender.name}")
            found[contender.name] = {}
            if cache is None:
                _seconds_of(contender, code, {})  # files from the disk
                continue
            cold = [_seconds_of(contender, code, cache(f"{folder}/{contender.name}{k}")) for k in range(2)]
            found[contender.name]["cold"] = min(cold)
        for _ in range(rounds):
            for contender in contenders:
                if contender.name in found:
                    cache = _CACHES.get(contender.name, lambda _: {})
                    used = cache(f"{folder}/{contender.name}0")
                    times.setdefault(contender.name, []).append(_seconds_of(contender, _first_step(contender), used))
        for name, all_ in times.items():
            found[name]["warm"] = statistics.median(all_)
    return found


def _first_step(contender: Contender) -> str:
    """The program in the contender's file, read without running the file, which wants the contender's environment."""
    source = contender.file.read_text(encoding="utf-8")
    return source.partition('FIRST_STEP = """')[2].partition('"""')[0]


def _seconds_of(contender: Contender, code: str, environment: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(
        [contender.python, "-c", code], env={**os.environ, **environment}, check=True, capture_output=True, text=True
    )
    return time.perf_counter() - began


def memory(games: Sequence[Game], num_envs: int = 4096) -> dict[str, dict[str, float]]:
    """Bytes of a batch as allocated, and of the buffers that it shows, by game."""
    found = {}
    for game in games:
        VecEnv(game, 1)  # compiles
        tracemalloc.start()
        try:
            vec = VecEnv(game, num_envs, seed=0)
            allocated = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        shown = (vec.obs, vec.action_mask, vec.player, vec.rewards, vec.done, vec.final_obs, vec.final_rows, vec.rows)
        buffers = sum(buffer.nbytes for buffer in shown)
        found[game.name] = {"allocated": allocated, "buffers": buffers, "ratio": allocated / buffers}
    return found


def to_json(plan: Plan) -> dict[str, Any]:
    """A plan for the report."""
    return {**asdict(plan), "steps_recorded": len(worker.recorded(1).actions)}
