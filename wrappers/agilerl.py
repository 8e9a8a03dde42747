"""AgileRL: a game in parallel form with masks in the infos, and an IPPO that heeds them; one learner against agents.

Extra: iszoo[agilerl].
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from pettingzoo import ParallelEnv

from iszoo.envs import make
from iszoo.envs.errors import ResetNeeded
from iszoo.envs.spaces import bare_space
from iszoo.wrappers.gymnasium import LearnerVectorEnv

try:
    import torch
    from agilerl.algorithms import IPPO
    from agilerl.vector import PettingZooVecEnv
except ImportError as error:  # AgileRL 2.58 can't be imported without peft
    raise ImportError("this adapter needs AgileRL and peft: pip install 'iszoo[agilerl]'") from error

WAIT = 0
"""The one action that the mask of an agent allows that isn't to move. It is not played."""


class AgileRLEnv(ParallelEnv):  # type: ignore[misc, unused-ignore]
    """A game in PettingZoo's parallel form, as AgileRL's multi-agent algorithms want it.

    Every agent observes and acts at every step; only the action of the agent to move is played. The mask is in
    infos[agent]["action_mask"], and again at the end of the observation, where `MaskedIPPO` reads it: int8 (D + A,).
    The mask of an agent that waits allows WAIT only, so that there is nothing to be learned from its action.

    Args:
        game: its name.
        **options: as for `GameEnv`, but for `observation`, which is "flat".

    Raises:
        ValueError: no such game, option or value.
    """

    def __init__(self, game: str, **options: Any) -> None:
        self.env = env = make(game, **{**options, "observation": "flat"})
        self.metadata = {**env.metadata, "is_parallelizable": True}
        self.render_mode = env.render_mode
        self.possible_agents = list(env.possible_agents)
        self.agents: list[str] = []
        self._spaces: dict[str, tuple[spaces.Box, spaces.Discrete[np.int64]]] = {}
        for agent in self.possible_agents:
            parts = env.observation_space(agent)
            seen, mask = parts["observation"], parts["action_mask"]
            assert isinstance(seen, spaces.Box)
            assert isinstance(mask, spaces.Box)
            low, high = np.concatenate([seen.low, mask.low]), np.concatenate([seen.high, mask.high])
            self._spaces[agent] = spaces.Box(low, high, dtype=np.int8), env.action_space(agent)

    def observation_space(self, agent: str) -> spaces.Box:
        """The flat observation, then the mask."""
        return self._spaces[agent][0]

    def action_space(self, agent: str) -> spaces.Discrete[np.int64]:
        """Discrete(A)."""
        return self._spaces[agent][1]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, npt.NDArray[np.int8]], dict[str, dict[str, Any]]]:
        """Deals a game."""
        self.env.reset(seed=seed, options=options)
        self.agents = list(self.possible_agents)
        return self._shown()

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Plays the action of the agent to move; the others' are not looked at.

        Raises IllegalActionError (with illegal="raise"), ResetNeeded.
        """
        if not self.agents:
            raise ResetNeeded("reset() needs to be called before step()")
        mover = self.env.agent_selection
        action = np.asarray(actions[mover])
        self.env.step(action.item() if action.size == 1 else action)
        rewards, terminations = dict(self.env.rewards), dict(self.env.terminations)
        observations, infos = self._shown()
        if all(terminations.values()):
            self.agents = []
        return observations, rewards, terminations, dict(self.env.truncations), infos

    def render(self) -> Any:
        """The position in the form of the render mode, see `GameEnv`."""
        return self.env.render()

    def close(self) -> None:
        """Closes the window, if there is one."""
        self.env.close()

    def _shown(self) -> tuple[dict[str, npt.NDArray[np.int8]], dict[str, dict[str, Any]]]:
        observations, infos = {}, {}
        for agent in self.possible_agents:
            parts = self.env.observe(agent)
            mask = parts["action_mask"]
            if not mask.any():
                mask[WAIT] = 1
            observations[agent] = np.concatenate([parts["observation"], mask])
            infos[agent] = {"action_mask": mask}
        return observations, infos


class MaskedIPPO(IPPO):  # type: ignore[misc, unused-ignore]
    """AgileRL's IPPO on `AgileRLEnv`, with masks that hold in play and in learning.

    IPPO itself stops at the first mask ("The truth value of an array with more than one element is ambiguous"), and in
    learning compares the probabilities of masked play with those of an unmasked policy. Masks are read from the
    observations: `PzDummyVecEnv` hands out the infos of the game before when a new one begins.
    """

    def get_action(self, obs: Any, infos: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Actions, log-probabilities, entropies and values of every agent."""
        masks = {
            agent: {"action_mask": np.asarray(seen)[..., -int(self.possible_action_spaces[agent].n) :]}
            for agent, seen in obs.items()
        }
        return super().get_action(obs, masks, *args, **kwargs)

    def extract_action_masks(self, infos: Any) -> dict[str, torch.Tensor | None]:
        """The masks of each group of agents."""
        found: dict[str, list[Any]] = {group: [] for group in self.observation_space}
        for agent, info in infos.items():
            found[self.get_group_id(agent) if self.has_grouped_agents() else agent].append(info["action_mask"])
        return {group: torch.as_tensor(np.array(masks)) for group, masks in found.items()}

    def _learn_individual(self, *, actor: Any, action_space: Any, **arguments: Any) -> Any:
        masked = _MaskedActor(actor, int(action_space.n))
        return super()._learn_individual(actor=masked, action_space=action_space, **arguments)


def collect(agent: IPPO, env: PettingZooVecEnv, steps: int, observations: Any = None) -> tuple[Any, Any]:
    """Plays steps in every game of a vector env; what `agent.learn` takes, and the observations to go on from.

    AgileRL's own loop, `train_multi_agent_on_policy`, forgets that a game was over when the next one begins, so that
    outcomes are credited to the game before as well.

    Args:
        agent: plays every seat.
        env: of `AgileRLEnv`.
        steps: how many.
        observations: those that an earlier call returned; None deals the games anew.
    """
    if observations is None:
        observations, _ = env.reset()
    agents = list(observations)
    fields: list[dict[str, list[Any]]] = [{name: [] for name in agents} for _ in range(6)]
    done = {name: np.zeros(env.num_envs) for name in agents}
    for _ in range(steps):
        seen = {name: np.array(observations[name]) for name in agents}
        actions, log_probs, _, values = agent.get_action(seen)
        observations, rewards, terminations, truncations, _ = env.step(actions)
        for field, values_of in zip(fields, (seen, actions, log_probs, rewards, done, values), strict=True):
            for name in agents:
                field[name].append(values_of[name])
        done = {name: np.logical_or(terminations[name], truncations[name]).astype(float) for name in agents}
    return (*fields, {name: np.array(observations[name]) for name in agents}, done), observations


class AgileRLVectorEnv(LearnerVectorEnv):
    """One learner against agents, for AgileRL's single-agent algorithms: `LearnerVectorEnv` as they read it.

    Observations are flat, int8 (N, D), without the mask, which is in infos["action_mask"], int8: AgileRL's DQN can't
    take a bool one. A game that ends is dealt anew in the same call.

    Args:
        game: its name.
        num_envs: the number of games.
        **options: as for `LearnerVectorEnv`, but for `observation` and `autoreset_mode`.
    """

    def __init__(self, game: str, num_envs: int = 1, **options: Any) -> None:
        super().__init__(game, num_envs, observation="flat", autoreset_mode=AutoresetMode.SAME_STEP, **options)
        self.single_observation_space = bare_space(self.games.game, self.games.vec.options, "flat")
        self.observation_space = batch_space(self.single_observation_space, num_envs)

    def _observation(self) -> Any:
        return self.games.obs.copy()

    def _info(self) -> dict[str, Any]:
        return {**super()._info(), "action_mask": self.games.action_mask.copy()}

    def _final(self, ended: npt.NDArray[np.bool_]) -> dict[str, Any]:
        return {}


class _MaskedActor:
    """An actor that reads the mask at the end of each observation."""

    def __init__(self, actor: Any, num_actions: int) -> None:
        self._actor = actor
        self._num_actions = num_actions

    def __call__(self, observations: torch.Tensor) -> Any:
        return self._actor(observations, action_mask=observations[..., -self._num_actions :])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._actor, name)
