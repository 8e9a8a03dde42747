"""The games, and the environments made from them."""

from __future__ import annotations

import gymnasium

from iszoo.envs.aec import GameEnv
from iszoo.envs.registry import REGISTRY, find, make, make_vec, register
from iszoo.envs.vec import VecEnv

__all__ = ["REGISTRY", "GameEnv", "VecEnv", "find", "make", "make_vec", "register"]


def _register_with_pettingzoo() -> None:
    """Puts the games into PettingZoo's own registry, where it has one (from 1.27)."""
    try:
        from pettingzoo import register as register_with_pettingzoo  # type: ignore[attr-defined, unused-ignore]
    except ImportError:
        return
    for game in REGISTRY.values():
        name = f"iszoo/{game.name}-v{game.version}"
        register_with_pettingzoo("aec", name, entry_point=f"iszoo.envs.{game.id}:env")


def _register_with_gymnasium() -> None:
    """Puts the games into Gymnasium's registry: one learner against agents ("iszoo/IsisOsiris-v0" and so on)."""
    for game in REGISTRY.values():
        gymnasium.register(
            id=f"iszoo/{game.gym_name}-v{game.version}",
            entry_point="iszoo.wrappers.gymnasium:SingleAgentEnv",
            vector_entry_point="iszoo.wrappers.gymnasium:LearnerVectorEnv",
            kwargs={"game": game.name},
            # its warnings are of bounds that are equal, which true bounds of a constant feature are
            disable_env_checker=True,
        )


_register_with_pettingzoo()
_register_with_gymnasium()
