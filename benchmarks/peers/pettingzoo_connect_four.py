"""PettingZoo: `connect_four_v3`, pure Python."""

from __future__ import annotations

import copy
import random
from typing import Any

from pettingzoo.classic import connect_four_v3

from iszoo.benchmarks.peers.worker import Setting, Task

PACKAGES = ("pettingzoo", "numpy")
FIRST_STEP = """
from pettingzoo.classic import connect_four_v3
env = connect_four_v3.env()
env.reset(seed=0)
env.step(3)
env.last()
"""


def tasks(setting: Setting) -> dict[str, Task]:
    """See `worker.py`."""
    env, raw = connect_four_v3.env(), connect_four_v3.raw_env()
    kept = connect_four_v3.raw_env()
    kept.reset(seed=0)
    for k in range(10):
        kept.step(k % 3)
    return {
        "aec: env()": Task(lambda: loop(env, 1_000)),
        "aec: raw_env()": Task(lambda: loop(raw, 1_000)),
        "one: raw_env()": Task(lambda: loop(raw, 1_000)),
        "clone: deepcopy of raw_env()": Task(lambda: sum(copy.deepcopy(kept) is not kept for _ in range(100))),
        "restore: deepcopy of raw_env()": Task(lambda: sum(copy.deepcopy(kept) is not kept for _ in range(100))),
    }


def loop(env: Any, steps: int) -> int:
    """Plays at least `steps` steps, as `aec_loop` of iszoo.benchmarks.throughput does; returns how many."""
    choose = random.Random(0).random
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
