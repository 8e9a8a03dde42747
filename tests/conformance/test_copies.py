"""Copies: deepcopy, pickle, clone() and bytes, at every ply, before the first reset, and through wrappers."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pettingzoo.utils import wrappers

from iszoo.envs.aec import GameEnv
from tests.helpers import Setting, batch_picture, picture, play, plies, random_actions


def pickled(env: Any) -> Any:
    """A copy by way of pickle."""
    return pickle.loads(pickle.dumps(env))


def put_into_another(env: GameEnv) -> GameEnv:
    """A copy by way of bytes: the position in an environment that is in the middle of another game."""
    other = GameEnv(env.game, **env.options)
    other.reset(seed=123)
    play(other, most=3)
    other.set_state(env.get_state())
    return other


COPIES = {"deepcopy": copy.deepcopy, "pickle": pickled, "clone": lambda env: env.clone()}
WAYS = {**COPIES, "bytes": put_into_another}


@pytest.fixture(params=list(WAYS.values()), ids=list(WAYS))
def way(request: pytest.FixtureRequest) -> Any:
    """A way to copy a running game."""
    return request.param


def test_copies_at_every_ply(setting: Setting, way: Callable[[GameEnv], GameEnv]) -> None:
    """At every ply the game goes on in a copy of the last copy, next to a game that is never copied.

    The environment that was copied goes another way; neither may notice. The second game begins with a reset
    without a seed, so that the generator must have been copied too.
    """
    rng = random.Random(4)
    env, reference = setting.started(1), setting.started(1)
    for _ in range(2):
        while legal := reference.legal_actions():
            left, env = env, way(env)
            before = picture(reference)
            assert picture(env) == before
            action = rng.choice(legal)
            reference.step(action)
            env.step(action)
            assert picture(left) == before
            left.step(rng.choice(legal))
        assert picture(env) == picture(reference)
        env.reset()
        reference.reset()
    assert picture(env) == picture(reference)


def test_copies_while_agents_leave(setting: Setting, way: Callable[[GameEnv], GameEnv]) -> None:
    """A game that is over can be copied too; bytes are of the position, in which nobody has left."""
    env = play(setting.started(1))
    at_the_end = picture(env)
    while env.agents:
        assert picture(way(env)) == (at_the_end if way is put_into_another else picture(env))
        env.step(None)


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES.keys())
def test_copies_before_the_first_reset(setting: Setting, copied: Callable[[GameEnv], GameEnv]) -> None:
    env = setting.env()
    twin = copied(env)
    twin.reset(seed=3)
    assert not hasattr(env, "agents")
    env.reset(seed=3)
    for _ in plies(env, twin):
        assert picture(env) == picture(twin)


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled], ids=["deepcopy", "pickle"])
def test_copies_through_wrappers(setting: Setting, copied: Callable[[Any], Any]) -> None:
    wrapped = wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(setting.env()))
    wrapped.reset(seed=1)
    for _ in range(4):
        wrapped.step(wrapped.unwrapped.legal_actions()[0])
    twin = copied(wrapped)
    for _ in plies(wrapped.unwrapped, twin.unwrapped):
        assert picture(twin.unwrapped) == picture(wrapped.unwrapped)
    assert twin.unwrapped is not wrapped.unwrapped


def test_copies_keep_the_modes(setting: Setting, way: Callable[[GameEnv], GameEnv]) -> None:
    """Layout, kind of reward and modes of an environment come with it, but not with bytes."""
    env = setting.started(1, observation="flat", reward="margin", illegal="terminate", render_mode="ansi")
    twin = way(env)
    if way is put_into_another:
        env = setting.started(1)
    assert twin.observation_space("player_0") == env.observation_space("player_0")
    assert twin.render() == env.render()
    assert picture(play(twin)) == picture(play(env))


@pytest.mark.parametrize("copied", [copy.deepcopy, pickled], ids=["deepcopy", "pickle"])
def test_copies_of_a_batch(setting: Setting, copied: Callable[[Any], Any]) -> None:
    vec = setting.vec(5, seed=2)
    vec.random_steps(7)
    twin = copied(vec)
    before = batch_picture(vec)
    assert batch_picture(twin) == before
    vec.random_steps(setting.game.max_game_length)
    assert batch_picture(twin) == before
    twin.random_steps(setting.game.max_game_length)
    assert batch_picture(twin) == batch_picture(vec)
    actions = random_actions(vec, np.random.default_rng(0))
    twin.step(actions)
    assert batch_picture(twin) != batch_picture(vec)
    vec.step(actions)
    assert batch_picture(twin) == batch_picture(vec)
