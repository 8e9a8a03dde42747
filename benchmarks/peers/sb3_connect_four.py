"""Stable-Baselines3: MaskablePPO on our vector environment, and on PettingZoo's connect four as users wrap it."""

from __future__ import annotations

import random
from typing import Any

import gymnasium
import numpy as np
import torch
from pettingzoo.classic import connect_four_v3
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

import iszoo
from iszoo.benchmarks.peers.worker import Setting, Task
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
    theirs = DummyVecEnv([PettingZooLearner] * n)
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


class PettingZooLearner(gymnasium.Env[Any, Any]):
    """One learner on a random seat of PettingZoo's connect four, the other plays at random."""

    def __init__(self) -> None:
        self.env = connect_four_v3.raw_env()
        self.env.reset(seed=0)
        space = self.env.observation_space("player_0")["observation"]
        self.observation_space = gymnasium.spaces.Box(0, 1, (int(np.prod(space.shape)),), np.int8)
        self.action_space = self.env.action_space("player_0")
        self._random = random.Random(0)
        self._learner = "player_0"
        self._mask = np.ones(7, np.int8)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins a game, and lets the other play."""
        self.env.reset(seed=seed)
        self._learner = self._random.choice(self.env.possible_agents)
        return self._go_on()[0], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Plays, and lets the other play."""
        self.env.step(int(action))
        return *self._go_on(), False, {}

    def action_masks(self) -> Any:
        """The legal actions, bool (7,)."""
        return self._mask == 1

    def _go_on(self) -> tuple[Any, float, bool]:
        while True:
            over = any(self.env.terminations.values())
            agent = self._learner if over else self.env.agent_selection
            seen = self.env.observe(agent)
            if agent == self._learner:
                self._mask = seen["action_mask"]
                return seen["observation"].ravel(), float(self.env.rewards[agent]) if over else 0.0, over
            legal = seen["action_mask"].nonzero()[0]
            self.env.step(int(legal[int(self._random.random() * len(legal))]))
