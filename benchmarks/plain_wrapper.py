"""The yardstick for `LearnerVecEnv`: a single-agent environment as users write it around PettingZoo."""

from __future__ import annotations

import random
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces.utils import flatten_space


class PlainWrapper(gymnasium.Env[Any, Any]):
    """One learner, on a random seat, against others that play at random; observations as one vector.

    Args:
        env: an AEC environment whose observations are {"observation": an array, "action_mask": int8 (A,)}.
    """

    def __init__(self, env: Any) -> None:
        self.env = env
        self.learner = first = env.possible_agents[0]
        self.observation_space = flatten_space(env.observation_space(first)["observation"])
        self.action_space = actions = env.action_space(first)
        self._random = random.Random(0)
        self._mask = np.ones(actions.n, np.int8)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Deals, and lets the others play."""
        self.env.reset(seed=seed)
        self.learner = self._random.choice(self.env.possible_agents)
        return self._go_on()[0], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Plays, and lets the others play."""
        self.env.step(int(action))
        return *self._go_on(), False, {}

    def action_masks(self) -> Any:
        """The legal actions, bool (A,)."""
        return self._mask == 1

    def _go_on(self) -> tuple[Any, float, bool]:
        while True:
            over = any(self.env.terminations.values())
            agent = self.learner if over else self.env.agent_selection
            seen = self.env.observe(agent)
            if agent == self.learner:
                self._mask = seen["action_mask"]
                return seen["observation"].ravel(), float(self.env.rewards[agent]) if over else 0.0, over
            legal = seen["action_mask"].nonzero()[0]
            self.env.step(int(legal[int(self._random.random() * len(legal))]))
