"""Models that other frameworks trained, as agents: `sb3:ZIP` and `rllib:CHECKPOINT`.

Both kinds of file hold pickled objects, and to load them is to run the code in them: nothing is loaded without
`trust=True` (`--trust-pickle` on the command line). `sb3:ZIP` and `rllib:CHECKPOINT` play the most likely legal
action, or that of the greatest value; with `:sample` after the path they draw from the policy.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from iszoo.baselines.agents import Agent, View
from iszoo.envs.game import Game
from iszoo.envs.primitives import mix

_SAMPLE = ":sample"


def load_sb3(text: str, game: Game, trust: bool) -> Agent:
    """A model that Stable-Baselines3 or sb3-contrib saved: PPO, A2C, TRPO, MaskablePPO, DQN or QR-DQN.

    Only its policy is made, on the CPU; illegal actions are masked whether it was trained with masks or not.

    Raises ValueError (no such file, not trusted, another game's or another kind of model), ImportError.
    """
    name = f"sb3:{text}"
    path, sample = _path(name, text, trust)
    from iszoo.wrappers.sb3 import PolicyAgent, load_policy

    try:
        policy = load_policy(path)
    except Exception as error:
        raise ValueError(f"{name} can't be loaded as a model of Stable-Baselines3: {error}") from error
    check_spaces(name, game, policy.observation_space, policy.action_space)
    return PolicyAgent(policy, name, deterministic=not sample)


def load_rllib(text: str, game: Game, trust: bool) -> Agent:
    """The RLModule of a checkpoint of RLlib (new API stack): of an algorithm, or the folder of the module itself.

    Of several modules the one called "shared" is taken, which `iszoo.wrappers.rllib.ppo_config` trains.

    Raises ValueError (no such folder, not trusted, another game's model), ImportError.
    """
    name = f"rllib:{text}"
    path, sample = _path(name, text, trust)
    from iszoo.wrappers.rllib import ModuleAgent, load_module

    try:
        module = load_module(path)
    except Exception as error:
        raise ValueError(f"{name} can't be loaded as a checkpoint of RLlib: {error}") from error
    check_spaces(name, game, module.observation_space, module.action_space)
    return ModuleAgent(module, name, deterministic=not sample)


def _path(name: str, text: str, trust: bool) -> tuple[Path, bool]:
    sample = text.endswith(_SAMPLE)
    path = Path(text.removesuffix(_SAMPLE))
    if not path.exists():
        raise ValueError(f"{name}: there is no {path.absolute()}")
    if not trust:
        raise ValueError(
            f"{name} holds pickled objects: to load it is to run whatever code is in it. If you trust whom you have it"
            " from, say --trust-pickle on the command line, or make_agent(..., trust=True) in Python"
        )
    return path, sample


def check_spaces(name: str, game: Game, observations: spaces.Space[Any], actions: spaces.Space[Any]) -> None:
    """Raises ValueError unless a model's spaces are those of the game in one of its layouts."""
    if not isinstance(actions, spaces.Discrete) or int(actions.n) != game.num_actions:
        raise ValueError(f"{name} acts in {actions}, and {game.name} in Discrete({game.num_actions})")
    if _layout(game, observations) is None:
        c, h, w = game.board_shape
        raise ValueError(
            f"{name} observes {_shapes(observations)}, and {game.name} shows ({game.obs_size},) flat,"
            f" ({c + len(game.features)}, {h}, {w}) as planes, or board {game.board_shape} and features"
            f" ({len(game.features)},); each also in a Dict 'observation' beside an 'action_mask'"
        )


def in_layout(view: View, space: spaces.Space[Any]) -> Any:
    """The observations of a view in the layout of a model's space, which `check_spaces` has found to fit."""
    layout = _layout(view.game, space)
    if layout == "masked":
        assert isinstance(space, spaces.Dict)
        return {"observation": in_layout(view, space["observation"]), "action_mask": view.action_mask}
    if layout == "split":
        return {"board": view.board, "features": view.features}
    if layout == "planes":
        _, h, w = view.game.board_shape
        features = view.features[:, :, None, None]
        return np.concatenate([view.board, np.broadcast_to(features, (*features.shape[:2], h, w))], axis=1)
    return view.obs


def _layout(game: Game, space: spaces.Space[Any]) -> str | None:
    c, h, w = game.board_shape
    if isinstance(space, spaces.Dict):
        if set(space.spaces) == {"observation", "action_mask"} and _layout(game, space["observation"]) is not None:
            return "masked"
        shapes = {key: part.shape for key, part in space.spaces.items()}
        return "split" if shapes == {"board": (c, h, w), "features": (len(game.features),)} else None
    if space.shape == (game.obs_size,):
        return "flat"
    return "planes" if space.shape == (c + len(game.features), h, w) else None


def _shapes(space: spaces.Space[Any]) -> str:
    if isinstance(space, spaces.Dict):
        return ", ".join(f"{key} {_shapes(part)}" for key, part in space.spaces.items())
    return str(space.shape)


def choose(
    logits: npt.NDArray[Any], mask: npt.NDArray[np.int8], seeds: npt.NDArray[np.int64], deterministic: bool
) -> npt.NDArray[np.int64]:
    """A legal action for each row of logits (n, A): the greatest, or one drawn from their softmax by seeds (n,)."""
    values = np.where(mask != 0, logits.astype(np.float64), -np.inf)
    if deterministic:
        greatest: npt.NDArray[np.int64] = values.argmax(axis=1)
        return greatest
    weights = np.exp(values - values.max(axis=1, keepdims=True)).cumsum(axis=1)
    draws = np.array([(mix(int(seed)) >> 11) & (2**53 - 1) for seed in seeds]) / 2**53
    drawn: npt.NDArray[np.int64] = (weights > (draws * weights[:, -1])[:, None]).argmax(axis=1)
    return drawn
