"""Stable-Baselines3: a native `VecEnv` on the batched engine, and a policy as an opponent. Extra: iszoo[sb3]."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from iszoo.baselines.agents import View
from iszoo.baselines.models import choose, in_layout
from iszoo.envs import find
from iszoo.envs.spaces import bare_space
from iszoo.wrappers.learner import LearnerGames

try:
    import torch
    from stable_baselines3.common.save_util import load_from_zip_file
    from stable_baselines3.common.vec_env.base_vec_env import VecEnv as SB3VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvObs, VecEnvStepReturn
except ImportError as error:
    raise ImportError("this adapter needs Stable-Baselines3: pip install 'iszoo[sb3]'") from error

_Q_NETWORKS = ("q_net", "quantile_net")
"""What the policies of DQN and QR-DQN have, which are values and not probabilities."""


class LearnerVecEnv(SB3VecEnv):  # type: ignore[misc, unused-ignore]
    """One learner against agents in many games at once, as Stable-Baselines3 wants it.

    Observations are flat, int8 (N, D); `env_method("action_masks")` gives the masks that MaskablePPO asks for.
    A game that ends is dealt anew in the same call; its last observation is infos[i]["terminal_observation"].
    With seat="random" every seat is trained.

    Args:
        game: the name of the game.
        num_envs: the number of games.
        **options: see `LearnerGames`: opponent, seat, seed, reward, illegal, threads, and the game's own.
    """

    def __init__(self, game: str, num_envs: int = 1, **options: Any) -> None:
        self.games = LearnerGames(find(game), num_envs, **options)
        self.render_mode = None
        space = bare_space(self.games.game, self.games.vec.options, "flat")
        super().__init__(num_envs, space, spaces.Discrete(self.games.game.num_actions))
        self._actions = np.zeros(num_envs, np.int64)

    def reset(self) -> VecEnvObs:
        """Deals every game anew; with the seed of `seed()`, if there is one that was not used yet."""
        seed = self._seeds[0]
        self.games.reset(None if seed is None else int(seed))
        self._reset_seeds()
        self._reset_options()
        self.reset_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        return self.games.obs.copy()

    def step_async(self, actions: npt.NDArray[np.int64]) -> None:
        """Keeps the actions for `step_wait`."""
        self._actions = np.asarray(actions)

    def step_wait(self) -> VecEnvStepReturn:
        """Plays the actions, and the other seats on until the learner's next turn or the end."""
        games = self.games
        rewards = games.step(self._actions)
        done = games.done.copy()
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if done.any():
            for i, last in zip(np.flatnonzero(done).tolist(), games.obs[done], strict=True):
                infos[i] = {"terminal_observation": last, "TimeLimit.truncated": False}
            games.reset(where=done)
        return games.obs.copy(), rewards, done, infos

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions of every game, bool (N, A)."""
        return self.games.action_mask.astype(np.bool_)

    def set_opponents(self, opponent: Any) -> None:
        """Changes the agents against which games are dealt from now on, for self-play with a pool of past selves."""
        self.games.set_opponents(opponent)

    def env_method(
        self, method_name: str, *args: Any, indices: int | Iterable[int] | None = None, **kwargs: Any
    ) -> list[Any]:
        """`action_masks` of each game; there are no other methods."""
        if method_name != "action_masks":
            raise AttributeError(f"the games have no method {method_name!r}; they have 'action_masks'")
        masks = self.action_masks()
        return list(masks) if indices is None else [masks[i] for i in self._get_indices(indices)]

    def has_attr(self, attr_name: str) -> bool:
        """Whether `get_attr` or `env_method` know a name."""
        return attr_name in ("action_masks", "render_mode")

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """`render_mode`, or an attribute of this object, once for each game."""
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Nothing can be set on one game alone."""
        raise AttributeError(f"{attr_name!r} can't be set: the games share one engine")

    def env_is_wrapped(self, wrapper_class: type, indices: int | Iterable[int] | None = None) -> list[bool]:
        """No game is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[np.ndarray | None]:
        """None: many games are not drawn."""
        return [None] * self.num_envs

    def close(self) -> None:
        """Nothing to release."""


def load_policy(path: Path) -> Any:
    """The policy of a model that was saved as a zip, on the CPU. Loading runs code that is in the file.

    Raises whatever is wrong with the file, ValueError for a kind of model that `PolicyAgent` can't play.
    """
    data, parameters, _ = load_from_zip_file(path, device="cpu")
    if data is None or "policy_class" not in data or "policy" not in parameters:
        raise ValueError("it holds no policy")
    policy = data["policy_class"](
        data["observation_space"], data["action_space"], lambda _: 0.0, **data.get("policy_kwargs", {})
    )
    _check_kind(policy)
    policy.load_state_dict(parameters["policy"])
    return policy


def _check_kind(policy: Any) -> None:
    if hasattr(policy, "lstm_actor") or not any(hasattr(policy, part) for part in (*_Q_NETWORKS, "get_distribution")):
        raise ValueError(
            f"{type(policy).__name__} can't play here; the policies of PPO, A2C, TRPO, MaskablePPO, DQN and QR-DQN can"
        )


def _logits(policy: Any, seen: Any) -> Any:
    """A policy's log probabilities (n, A) of observations as tensors; of a Q network, its values."""
    if hasattr(policy, "q_net"):
        return policy.q_net(seen)
    if hasattr(policy, "quantile_net"):
        return policy.quantile_net(seen).mean(dim=1)
    return policy.get_distribution(seen).distribution.logits


class PolicyAgent:
    """A Stable-Baselines3 or sb3-contrib policy as an agent, asked for a whole batch at once.

    Illegal actions are masked, whether the policy knows of masks (MaskablePPO's) or not. What is drawn depends on
    the seeds of the view alone, not on torch's generator.

    Args:
        policy: `model.policy` of PPO, A2C, TRPO, MaskablePPO, DQN or QR-DQN, of any layout of observations.
        name: how tables call it.
        deterministic: the most likely action, or one drawn from the policy. A Q network always plays the action of
            the greatest value.
    """

    def __init__(self, policy: Any, name: str = "policy", *, deterministic: bool = False) -> None:
        _check_kind(policy)
        self._policy = policy
        self.name = name
        self._deterministic = deterministic or any(hasattr(policy, network) for network in _Q_NETWORKS)

    def act(self, view: View) -> npt.NDArray[np.int64]:
        """See `Agent.act`."""
        self._policy.set_training_mode(False)
        with torch.no_grad():
            seen, _ = self._policy.obs_to_tensor(in_layout(view, self._policy.observation_space))
            logits = _logits(self._policy, seen).cpu().numpy()
        return choose(logits, view.action_mask, view.seeds, self._deterministic)
