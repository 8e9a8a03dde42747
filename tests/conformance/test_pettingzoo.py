"""PettingZoo's own tests: env() and raw_env() in every layout, and as parallel environments.

Warnings are errors, but for what PettingZoo says of every dict observation that is not of its own games.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from iszoo.envs.aec import GameEnv
from iszoo.envs.spaces import LAYOUTS
from tests.helpers import Setting, picture, play

with warnings.catch_warnings():  # it imports one of its games in the way that it warns of
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, render_test, seed_test, state_test
    from pettingzoo.test.save_obs_test import test_save_obs as save_obs_test

pytestmark = [
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:reset.. has no option 'options'"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
]


@pytest.fixture(params=["env", "raw_env"])
def make(request: pytest.FixtureRequest, setting: Setting) -> Callable[..., GameEnv]:
    """`env` or `raw_env` of the game's module, with the setting's options."""
    maker = getattr(importlib.import_module(f"iszoo.envs.{setting.game.id}"), request.param)

    def make_one(**options: Any) -> GameEnv:
        env: GameEnv = maker(**setting.options, **options)
        return env

    return make_one


def remembered(make: Callable[..., Any], made: list[Any], **options: Any) -> Callable[[], Any]:
    """A maker without arguments that keeps what it makes in a list."""

    def make_one() -> Any:
        made.append(make(**options))
        return made[-1]

    return make_one


@pytest.mark.parametrize("layout", LAYOUTS)
def test_api(make: Callable[..., GameEnv], layout: str) -> None:
    env = make(observation=layout)
    api_test(env, num_cycles=100)
    env.reset(seed=0)
    assert all(play(env).terminations.values())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_seed(make: Callable[..., GameEnv], layout: str) -> None:
    made: list[GameEnv] = []
    seed_test(remembered(make, made, observation=layout), num_cycles=100)
    first, second = made
    assert all(first.terminations.values())
    assert picture(first) == picture(second)


def test_save_obs(make: Callable[..., GameEnv], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It finds no picture to save in a dict observation, and must leave the game playable."""
    monkeypatch.chdir(tmp_path)
    env = make()
    save_obs_test(env)
    assert not list(tmp_path.iterdir())
    assert all(play(env).terminations.values())


def test_render(plain: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")

    def make_one(render_mode: str) -> GameEnv:
        env = plain.env(render_mode=render_mode)
        env.metadata["render_fps"] = 10_000
        return env

    render_test(make_one, custom_tests={"svg": lambda shown: shown.startswith("<svg")})


def test_parallel_api(make: Callable[..., GameEnv]) -> None:
    env = turn_based_aec_to_parallel(make())
    parallel_api_test(env, num_cycles=100)
    assert env.agents == []


def unmasked(setting: Setting, **options: Any) -> GameEnv:
    """What can be played with actions that were chosen without looking at the mask."""
    return setting.env(illegal="terminate", **options)


def test_parallel_seed(setting: Setting) -> None:
    made: list[Any] = []
    parallel_seed_test(remembered(lambda: turn_based_aec_to_parallel(unmasked(setting)), made))
    first, second = (env.unwrapped for env in made)
    assert picture(first) == picture(second)


@pytest.mark.filterwarnings("ignore:Environment's maximum and minimum state space values are equal")
def test_state(setting: Setting) -> None:
    """Planes and features of absent players are always zero, and their bounds say so."""
    env = unmasked(setting)
    state_test(env, turn_based_aec_to_parallel(unmasked(setting)))
    assert env.agents == []
