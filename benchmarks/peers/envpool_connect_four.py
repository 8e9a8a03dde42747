"""EnvPool: its C++ port of Pgx's connect four, with its own thread pool."""

from __future__ import annotations

import random

import envpool
import numpy as np

from iszoo.benchmarks.peers.worker import Setting, Task, recorded

PACKAGES = ("envpool", "numpy")
FIRST_STEP = """
import envpool, numpy
env = envpool.make_gymnasium("ConnectFour-v1", num_envs=1, seed=0)
env.reset()
env.step(numpy.array([3], numpy.int32))
"""


def tasks(setting: Setting) -> dict[str, Task]:
    """See `worker.py`."""
    found = {"one: step": one_game(2_000)}
    for n in setting.sizes:
        if n > 1:
            found[f"given {n}: step"] = given(n, setting.cores)
    return found


def one_game(steps: int) -> Task:
    """One game, actions chosen from the mask."""
    env = envpool.make_gymnasium("ConnectFour-v1", num_envs=1, num_threads=1, seed=0)
    choose = random.Random(0).random
    action = np.zeros(1, np.int32)
    mask = env.reset()[1]["legal_action_mask"]

    def work() -> int:
        nonlocal mask
        done = 0
        for _ in range(steps):
            legal = mask[0].nonzero()[0]
            action[0] = legal[int(choose() * len(legal))]
            _, _, over, _, info = env.step(action)
            done += 1
            if over[0]:
                info = env.step(action)[4]  # begins the next game
            mask = info["legal_action_mask"]
        return done

    return Task(work)


def given(n: int, threads: int) -> Task:
    """A batch, a call a step."""
    env = envpool.make_gymnasium("ConnectFour-v1", num_envs=n, num_threads=threads, seed=0)
    games = recorded(n, reset_steps=True)
    all_actions = [actions.astype(np.int32) for actions in games.actions]
    env.reset()
    games.check(sum(int(env.step(actions)[2].sum()) for actions in all_actions))

    def work() -> int:
        for actions in all_actions:
            env.step(actions)
        return games.moves

    return Task(work, env.reset)
