"""The adapters of each framework as things to be timed: a call moves every game of one on by a decision.

A decision is a move of the learner where opponents play the other seats, of whoever moves elsewhere. Everybody plays
at random, by the masks that the adapter hands out; what is timed is the adapter without that choice (`clock`).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.benchmarks.plain_wrapper import PlainWrapper
from iszoo.envs import GameEnv, VecEnv
from iszoo.envs.engine import count_legal, nth_legal
from iszoo.envs.game import Game
from iszoo.envs.native import kernel
from iszoo.envs.primitives import draw
from iszoo.envs.spaces import LAYOUTS

BATCH = 64
"""How many games the adapters have that have several."""


@dataclass(frozen=True)
class Adapter:
    """An adapter whose games have begun."""

    name: str
    games: int  #: how many games a call moves
    once: Callable[[], int]  #: one call; returns the number of decisions, 0 for one that only deals


@kernel
def _choose(masks: Any, choices: Any, actions: Any) -> None:
    for i in range(masks.shape[0]):
        count = count_legal(masks, i)
        actions[i] = nth_legal(masks, i, draw(choices, 0, 0, count)) if count > 0 else 0


class Chooser:
    """Draws legal actions, while `clock` stands still."""

    _seconds = 0.0

    def __init__(self) -> None:
        self._choices = np.zeros((1, 1), np.int64)
        self._random = random.Random(0).random

    def each(self, masks: Any) -> npt.NDArray[np.int64]:
        """One action for each mask, bool or int8: (n, A) or n times (A,); 0 where there is no legal one."""
        began = time.perf_counter()
        masks = np.asarray(masks).view(np.int8)
        actions = np.empty(len(masks), np.int64)
        _choose(masks, self._choices, actions)
        Chooser._seconds += time.perf_counter() - began
        return actions

    def one(self, mask: Any) -> int:
        """One action of a mask (A,), bool or int8."""
        began = time.perf_counter()
        legal = np.asarray(mask).nonzero()[0]
        action = int(legal[int(self._random() * len(legal))])
        Chooser._seconds += time.perf_counter() - began
        return action


def clock() -> float:
    """Seconds in which no action was chosen: what is timed is the environment's time, not the policy's."""
    return time.perf_counter() - Chooser._seconds


def engine(game: Game) -> list[Adapter]:
    """What all adapters rest on: the batched engine, in one game and in many."""
    return [_engine(game, 1), _engine(game, BATCH)]


def _engine(game: Game, games: int) -> Adapter:
    vec, choose = VecEnv(game, games, seed=0), Chooser()

    def once() -> int:
        vec.step(choose.each(vec.action_mask))
        return games

    return Adapter(f"engine, {games} game{'s' * (games > 1)}", games, once)


def _gymnasium(game: Game) -> list[Adapter]:
    from gymnasium.vector import AutoresetMode

    from iszoo.wrappers.gymnasium import LearnerVectorEnv, SingleAgentEnv

    choose = Chooser()
    single = SingleAgentEnv(game.name)
    seen = single.reset(seed=0)[0]
    envs = LearnerVectorEnv(game.name, BATCH, autoreset_mode=AutoresetMode.SAME_STEP)
    shown = envs.reset(seed=0)[0]

    def one() -> int:
        nonlocal seen
        seen, _, over, _, _ = single.step(choose.one(seen["action_mask"]))
        if over:
            seen, _ = single.reset()
        return 1

    def many() -> int:
        nonlocal shown
        shown = envs.step(choose.each(shown["action_mask"]))[0]
        return BATCH

    return [
        *(_aec(game, layout) for layout in LAYOUTS),
        Adapter("Gymnasium SingleAgentEnv", 1, one),
        Adapter("Gymnasium LearnerVectorEnv", BATCH, many),
    ]


def _aec(game: Game, layout: str) -> Adapter:
    env, choose = GameEnv(game, observation=layout), Chooser()
    env.reset(seed=0)

    def once() -> int:
        seen, _, over, _, _ = env.last()
        if over:
            env.reset()
            return 0
        env.step(choose.one(seen["action_mask"]))
        return 1

    return Adapter(f"PettingZoo AEC, {layout}", 1, once)


NATIVE, DUMMY = "SB3 LearnerVecEnv", "SB3 DummyVecEnv of plain wrappers"


def _sb3(game: Game) -> list[Adapter]:
    from stable_baselines3.common.vec_env import DummyVecEnv

    from iszoo.wrappers.sb3 import LearnerVecEnv

    def player(envs: Any) -> Callable[[], int]:
        choose = Chooser()
        envs.seed(0)
        envs.reset()

        def once() -> int:
            envs.step(choose.each(envs.env_method("action_masks")))
            return BATCH

        return once

    return [
        Adapter(NATIVE, BATCH, player(LearnerVecEnv(game.name, BATCH, seed=0))),
        Adapter(DUMMY, BATCH, player(DummyVecEnv([lambda: PlainWrapper(GameEnv(game, observation="flat"))] * BATCH))),
    ]


def _rllib(game: Game) -> list[Adapter]:
    from iszoo.wrappers.rllib import RLlibEnv

    env, choose = RLlibEnv({"game": game.name}), Chooser()
    shown, _ = env.reset(seed=0)

    def once() -> int:
        nonlocal shown
        ((agent, seen),) = shown.items()
        shown, _, over, _, _ = env.step({agent: choose.one(seen["action_mask"])})
        if over["__all__"]:
            shown, _ = env.reset()
        return 1

    return [Adapter("RLlib RLlibEnv", 1, once)]


def _torchrl(game: Game) -> list[Adapter]:
    from iszoo.wrappers.torchrl import GROUP, make_env

    import torch  # isort: skip - the adapter names the extra where it is missing

    env, choose = make_env(game.name, seed=0), Chooser()
    shown = env.reset()

    def once() -> int:
        nonlocal shown
        actions = choose.each(shown[GROUP, "action_mask"].numpy())  # of who waits too, as TorchRL wants it
        shown[GROUP, "action"] = torch.from_numpy(actions)
        _, shown = env.step_and_maybe_reset(shown)
        return 1

    return [Adapter("TorchRL PettingZooWrapper", 1, once)]


def _tianshou(game: Game) -> list[Adapter]:
    from tianshou.env import DummyVectorEnv

    from iszoo.wrappers.tianshou import TianshouEnv

    choose = Chooser()
    env = TianshouEnv(game.name)
    seen, _ = env.reset(seed=0)
    envs = DummyVectorEnv([lambda: TianshouEnv(game.name)] * BATCH)
    envs.seed(0)
    shown, _ = envs.reset()

    def one() -> int:
        nonlocal seen
        seen, _, over, _, _ = env.step(choose.one(seen["mask"]))
        if over:
            seen, _ = env.reset()
        return 1

    def many() -> int:
        nonlocal shown
        shown, _, over, _, _ = envs.step(choose.each([one["mask"] for one in shown]))
        if over.any():
            ended = over.nonzero()[0]
            shown[ended] = envs.reset(ended)[0]
        return BATCH

    return [Adapter("Tianshou TianshouEnv", 1, one), Adapter("Tianshou DummyVectorEnv", BATCH, many)]


def _agilerl(game: Game) -> list[Adapter]:
    from iszoo.wrappers.agilerl import AgileRLEnv, AgileRLVectorEnv

    choose = Chooser()
    env = AgileRLEnv(game.name)
    infos: dict[str, Any] = env.reset(seed=0)[1]
    envs = AgileRLVectorEnv(game.name, BATCH)
    shown: dict[str, Any] = envs.reset(seed=0)[1]

    def one() -> int:
        nonlocal infos
        infos = env.step({agent: choose.one(info["action_mask"]) for agent, info in infos.items()})[4]
        if not env.agents:
            infos = env.reset()[1]
        return 1

    def many() -> int:
        nonlocal shown
        shown = envs.step(choose.each(shown["action_mask"]))[4]
        return BATCH

    return [Adapter("AgileRL AgileRLEnv", 1, one), Adapter("AgileRL AgileRLVectorEnv", BATCH, many)]


def _openspiel(game: Game) -> list[Adapter]:
    from iszoo.wrappers.openspiel import PREFIX

    import pyspiel  # isort: skip - the adapter names the extra where it is missing

    played = pyspiel.load_game(PREFIX + game.name)
    observer, state = played.make_py_observer(), played.new_initial_state()
    choices, choose = random.Random(0), Chooser()

    def once() -> int:
        nonlocal state
        while state.is_chance_node():
            numbers, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(choices.choices(numbers, chances)[0])
        if state.is_terminal():
            state = played.new_initial_state()
            return 0
        observer.set_from(state, state.current_player())
        state.apply_action(choose.one(state.legal_actions_mask()))
        return 1

    return [Adapter("OpenSpiel State", 1, once)]


FRAMEWORKS: dict[str, Callable[[Game], list[Adapter]]] = {
    "gymnasium": _gymnasium,
    "sb3": _sb3,
    "rllib": _rllib,
    "torchrl": _torchrl,
    "tianshou": _tianshou,
    "agilerl": _agilerl,
    "openspiel": _openspiel,
}
"""What makes the adapters of each framework. Raises ImportError that names the extra where it is not installed."""

PACKAGES = {
    "gymnasium": (),
    "sb3": ("stable-baselines3", "sb3-contrib", "torch"),
    "rllib": ("ray", "torch"),
    "torchrl": ("torchrl", "tensordict", "torch"),
    "tianshou": ("tianshou", "torch"),
    "agilerl": ("agilerl", "torch"),
    "openspiel": ("open_spiel",),
}
"""Whose versions are kept with the figures, besides those of `reports.machine`."""
