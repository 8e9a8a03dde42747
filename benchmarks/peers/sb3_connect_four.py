"""Stable-Baselines3: MaskablePPO on our vector environment, and on PettingZoo's connect four as users wrap it."""

from __future__ import annotations

from typing import Any

import torch
from pettingzoo.classic import connect_four_v3
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

import iszoo
from iszoo.benchmarks.peers.worker import Setting, Task
from iszoo.benchmarks.plain_wrapper import PlainWrapper
from iszoo.benchmarks.yardstick.connect_four import GAME
from iszoo.wrappers.sb3 import LearnerVecEnv

PACKAGES = ("stable-baselines3", "sb3-contrib", "torch", "numpy", "pettingzoo", "iszoo")
STEPS = 64  # of each game in an iteration


def tasks(setting: Setting) -> dict[str, Task]:
    """See `worker.py`."""
    torch.set_num_threads(setting.cores)
    iszoo.register(GAME)
    n = setting.games_in_training
    ours = LearnerVecEnv(GAME.name, n, seat="random", opponent="random", seed=0, threads=setting.cores)
    theirs = DummyVecEnv([lambda: PlainWrapper(connect_four_v3.raw_env())] * n)
    return {
        "training: iszoo, LearnerVecEnv": Task(iteration(ours, n)),
        "training: PettingZoo, DummyVecEnv": Task(iteration(theirs, n)),
    }


def iteration(envs: Any, n: int) -> Any:
    """Collects steps and trains on them; returns how many."""
    batch = min(1024, n * STEPS)
    model = MaskablePPO("MlpPolicy", envs, n_steps=STEPS, batch_size=batch, n_epochs=4, seed=0, device="cpu")

    def work() -> int:
        before = model.num_timesteps
        model.learn(n * STEPS, reset_num_timesteps=False)
        return int(model.num_timesteps) - int(before)

    return work
