"""PettingZoo's own tests, on env() and raw_env(), in every layout and as a parallel environment."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pettingzoo
import pytest
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test, state_test
from pettingzoo.test.save_obs_test import test_save_obs as save_obs_test
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from iszoo.envs.aec import GameEnv
from iszoo.envs.spaces import LAYOUTS
from tests.helpers import Setting, clear, play

Maker = Callable[..., GameEnv]


@pytest.fixture(params=["env", "raw_env"])
def maker(request: pytest.FixtureRequest, setting: Setting) -> Maker:
    """`env` or `raw_env` of the game's module, with the setting's options."""
    module = importlib.import_module(f"iszoo.envs.{setting.game.id}")
    function = getattr(module, request.param)
    return lambda **options: function(**setting.options, **options)


@pytest.fixture(params=LAYOUTS)
def layout(request: pytest.FixtureRequest) -> Any:
    """A layout of the observation."""
    return request.param


def test_api(maker: Maker, layout: str) -> None:
    env = maker(observation=layout)
    api_test(env, num_cycles=100)
    env.reset(seed=0)
    assert play(env).terminations == dict.fromkeys(env.possible_agents, True)


def test_seeds(maker: Maker, layout: str) -> None:
    made = []

    def make() -> GameEnv:
        made.append(maker(observation=layout))
        return made[-1]

    seed_test(make, num_cycles=100)
    assert len(made) == 2
    assert all(env.terminations == dict.fromkeys(env.possible_agents, True) for env in made)
