"""How much of MaskablePPO's training is env, masks and opponents. Needs iszoo[sb3]."""

from __future__ import annotations

import statistics
import time
from typing import Any

from iszoo.envs.game import Game

ROLLOUT = 4096
"""Decisions of one training iteration."""


def training_share(game: Game, num_envs: int, iterations: int) -> dict[str, Any]:
    """Trains MaskablePPO on `LearnerVecEnv` and looks at the clock around all calls of it.

    The network is sb3's default, two layers of 64, the least that anybody trains; a larger one makes the share
    smaller. The opponents are "random" and "greedy".

    Returns the share of an iteration (median, lowest, highest) that is not the network's, and decisions a second.
    """
    import torch
    from sb3_contrib import MaskablePPO

    from iszoo.wrappers.sb3 import LearnerVecEnv

    torch.set_num_threads(1)
    spent = 0.0

    class Timed(LearnerVecEnv):
        def step_wait(self) -> Any:
            return timed(super().step_wait)

        def env_method(self, *args: Any, **kwargs: Any) -> Any:
            return timed(super().env_method, *args, **kwargs)

    def timed(call: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal spent
        began = time.perf_counter()
        result = call(*args, **kwargs)
        spent += time.perf_counter() - began
        return result

    envs = Timed(game.name, num_envs, seed=0, opponent=["random", "greedy"])
    model = MaskablePPO("MlpPolicy", envs, n_steps=ROLLOUT // num_envs, batch_size=1024, n_epochs=4, seed=0)
    shares, seconds = [], []
    for iteration in range(iterations + 1):
        spent, began = 0.0, time.perf_counter()
        model.learn(ROLLOUT, reset_num_timesteps=False)
        took = time.perf_counter() - began
        if iteration:  # the first compiles
            shares.append(spent / took)
            seconds.append(took)
    return {
        "num_envs": num_envs,
        "share": statistics.median(shares),
        "low": min(shares),
        "high": max(shares),
        "iterations": iterations,
        "decisions_per_second": ROLLOUT / statistics.median(seconds),
    }
