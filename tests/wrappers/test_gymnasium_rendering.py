"""The Gymnasium environment's pictures: the modes of the PettingZoo environment, checked by Gymnasium's own checker."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import iszoo
from iszoo.envs import drawing
from iszoo.envs.game import Game
from iszoo.envs.rendering import RENDER_MODES
from iszoo.wrappers.gymnasium import SingleAgentEnv


def test_gymnasiums_checker_of_all_modes(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setitem(SingleAgentEnv.metadata, "render_fps", 10_000)
    assert SingleAgentEnv.metadata["render_modes"] == list(RENDER_MODES)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(maximum and minimum values are equal|image|infinity).*")
        name = f"iszoo/{game.gym_name}-v{game.version}"
        check_env(gymnasium.make(name, opponent="random", illegal="terminate", render_mode="rgb_array").unwrapped)


def step(env: SingleAgentEnv) -> Any:
    return env.step(np.int64(env.action_masks().argmax()))


def test_pictures(game: Game) -> None:
    env = SingleAgentEnv(game.name, seat=1, render_mode="svg")
    env.reset(seed=3)
    step(env)
    picture = drawing.svg(game, env.games.vec.rows[0], env.games.vec.options)
    assert env.render() == env._repr_svg_() == picture
    assert copy.deepcopy(env).render() == picture
    env.close()


def test_video_frames(game: Game) -> None:
    env = SingleAgentEnv(game.name, seat=0, render_mode="rgb_array")
    env.reset(seed=3)
    shapes = {env.render().shape}
    for _ in range(3):
        step(env)
        shapes.add(env.render().shape)
    assert len(shapes) == 1


def test_bad_modes(game: Game) -> None:
    with pytest.raises(ValueError, match="render_mode='hologram'") as caught:
        SingleAgentEnv(game.name, render_mode="hologram")
    assert all(repr(mode) in str(caught.value) for mode in RENDER_MODES)
    assert iszoo.make(game.name).metadata["render_modes"] == SingleAgentEnv.metadata["render_modes"]
