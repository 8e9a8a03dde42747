"""iszoo: connect four of the yardstick, in every way that it can be played."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from iszoo.baselines.search import Search, SearchOptions
from iszoo.benchmarks.peers.worker import Setting, Task, recorded
from iszoo.benchmarks.throughput import aec_loop
from iszoo.benchmarks.yardstick.connect_four import GAME, random_steps
from iszoo.envs import GameEnv, VecEnv

PACKAGES = ("iszoo", "numba", "numpy")
STEPS = 64  # in one call


def tasks(setting: Setting) -> dict[str, Task]:
    """See `worker.py`."""
    env, raw = GameEnv(GAME), GameEnv(GAME, check=False)
    found = {
        "aec: env()": Task(lambda: aec_loop(env, 5_000)),
        "aec: raw_env()": Task(lambda: aec_loop(raw, 5_000)),
        "one: AEC": Task(lambda: aec_loop(env, 5_000)),
        "one: vec.step": Task(_one_game(5_000)),
    }
    threads = setting.cores
    for n in setting.sizes:
        if n > 1:
            found[f"given {n}: vec.step"] = _given(n, threads)
        found |= _inside(n, threads)
    return {**found, **_copies(), **_search(setting.simulations)}


def _one_game(steps: int) -> Callable[[], int]:
    vec = VecEnv(GAME, 1, seed=0)
    mask, action = vec.action_mask[0], np.zeros(1, np.int64)
    choose = random.Random(0).random

    def work() -> int:
        for _ in range(steps):
            legal = mask.nonzero()[0]
            action[0] = legal[int(choose() * len(legal))]
            vec.step(action)
        return steps

    return work


def _given(n: int, threads: int) -> Task:
    vec, games = VecEnv(GAME, n, seed=0, threads=threads), recorded(n)
    ends = 0
    for actions in games.actions:
        vec.step(actions)
        ends += int(vec.done.sum())
    games.check(ends)

    def work() -> int:
        for actions in games.actions:
            vec.step(actions)
        return games.moves

    return Task(work, lambda: vec.reset(seed=0))


def _inside(n: int, threads: int) -> dict[str, Task]:
    vec = VecEnv(GAME, n, seed=0, threads=threads)
    times = max(1, 2_000 // n)

    def repeat(play: Callable[[VecEnv, int], int]) -> Task:
        return Task(lambda: sum(play(vec, STEPS) for _ in range(times)))

    return {
        f"inside {n}: random_steps": repeat(VecEnv.random_steps),
        f"inside {n}: random_steps of its own file": repeat(random_steps),
    }


def _copies() -> dict[str, Task]:
    env = GameEnv(GAME)
    env.reset(seed=0)
    for k in range(10):
        env.step(k % 3)
    kept = env.get_state()
    vec = VecEnv(GAME, 1024, seed=0, autoreset="disabled")
    vec.random_steps(10)
    rows = vec.rows.copy()

    def copy_rows() -> int:
        for _ in range(1_000):
            np.copyto(rows, vec.rows)
        return 1_000 * len(rows)

    def restore_rows() -> int:
        for _ in range(20):
            np.copyto(vec.rows, rows)
            vec.refresh()
        return 20 * len(rows)

    def restore_env() -> int:
        for _ in range(1_000):
            env.set_state(kept)
        return 1_000

    return {
        "clone: a row of 1,024": Task(copy_rows),
        "clone: env.clone()": Task(lambda: sum(env.clone() is not env for _ in range(1_000))),
        "restore: a row of 1,024": Task(restore_rows),
        "restore: env.set_state()": Task(restore_env),
    }


def _search(simulations: int) -> dict[str, Task]:
    search = Search(GAME, GAME.params({}), SearchOptions(exploration=2.0), capacity=simulations + 1)
    row = VecEnv(GAME, 1, seed=0).rows[0]
    seeds = iter(range(1 << 40))

    def work() -> int:
        search.start(row, next(seeds))
        search.run(simulations)
        return search.simulations

    return {"search: Search": Task(work)}


FIRST_STEP = """
from iszoo.benchmarks.yardstick.connect_four import GAME
from iszoo.envs import GameEnv
env = GameEnv(GAME)
env.reset(seed=0)
env.step(3)
env.last()
"""
