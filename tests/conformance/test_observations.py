"""What agents see: documented shapes, true bounds, fresh arrays, and that looking changes nothing."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from gymnasium import spaces

from iszoo.envs.aec import GameEnv
from iszoo.envs.game import Game
from iszoo.envs.native import JIT
from iszoo.envs.primitives import GENERATOR
from iszoo.envs.spaces import LAYOUTS
from tests.helpers import Setting, arrays_in, frozen, leaning_actions, picture, plies, scaled

# The documented form of each layout, for a board (C, H, W) and F features.
SHAPES: dict[str, Any] = {
    "planes": lambda c, h, w, f: (c + f, h, w),
    "split": lambda c, h, w, f: {"board": (c, h, w), "features": (f,)},
    "flat": lambda c, h, w, f: (c * h * w + f,),
}


def shape_of(value: Any) -> Any:
    """The shape of an array or a box, or those in a dict."""
    if isinstance(value, (dict, spaces.Dict)):
        return {key: shape_of(part) for key, part in value.items()}
    assert value.dtype == np.int8
    return value.shape


@pytest.mark.parametrize("layout", LAYOUTS)
def test_spaces_hold_every_observation(setting: Setting, layout: str) -> None:
    game = setting.game
    env = setting.started(observation=layout)
    documented = {
        "observation": SHAPES[layout](*game.board_shape, len(game.features)),
        "action_mask": (game.num_actions,),
    }
    for agent in env.possible_agents:
        assert shape_of(env.observation_space(agent)) == documented
        assert env.action_space(agent) == spaces.Discrete(game.num_actions)
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)
    for _ in plies(env):
        for agent in env.possible_agents:
            seen = env.observe(agent)
            assert shape_of(seen) == documented
            assert env.observation_space(agent).contains(seen)


def test_masks_can_be_sampled_with(setting: Setting) -> None:
    env = setting.started()
    space = env.action_space(env.possible_agents[0])
    space.seed(0)
    while env.legal_actions():
        observation, *_ = env.last()
        action = space.sample(observation["action_mask"])
        assert action in env.legal_actions()
        env.step(action)


def test_the_state_is_in_its_space(setting: Setting) -> None:
    env = setting.started()
    assert env.state_space is env.state_space
    for _ in plies(env):
        state = env.state()
        assert state.dtype == np.int16
        assert env.state_space.contains(state)


def test_no_agent_sees_what_is_hidden(setting: Setting) -> None:
    """Two positions that differ in the generator alone look the same: it would tell the next deals."""
    env, other = setting.started(1), setting.started(1)
    other._rows[0, GENERATOR] ^= 0x5555
    for _ in plies(env, other):
        assert all(frozen(env.observe(a)) == frozen(other.observe(a)) for a in env.possible_agents)
        assert frozen(env.state()) == frozen(other.state())


# --- Looking changes nothing ---


def look_around(env: GameEnv) -> tuple[Any, ...]:
    """Everything that can be asked of an environment, of waiting agents and several times too."""
    agents = [*env.possible_agents, *reversed(env.possible_agents)]
    seen = tuple(env.observe(agent) for agent in agents)
    told = env.scores(), env.legal_actions(), env.render(), env.get_state()
    return *seen, env.last(), env.last(observe=False), env.state(), env.state(), *told


@pytest.mark.parametrize("layout", LAYOUTS)
def test_looking_changes_nothing(setting: Setting, layout: str) -> None:
    watched, alone = (setting.started(1, observation=layout, render_mode="ansi") for _ in range(2))
    kept = []
    for _ in plies(watched, alone):
        seen = look_around(watched)
        kept.append((seen, frozen(seen)))
        assert frozen(look_around(watched)) == frozen(seen)
        assert picture(watched) == picture(alone.clone())
    assert picture(watched) == picture(alone)
    assert all(frozen(seen) == as_it_was for seen, as_it_was in kept)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_was_handed_out_is_nobody_elses(setting: Setting, layout: str) -> None:
    """No two arrays share memory, and writing into them changes nothing in the environment."""
    env, untouched = (setting.started(1, observation=layout) for _ in range(2))
    for _ in plies(env, untouched):
        handed_out = arrays_in(look_around(env))
        for one, other in combinations([*handed_out, *arrays_in(vars(env))], 2):
            assert not np.shares_memory(one, other)
        for array in handed_out:
            array.fill(77)
        for numbers in (env.legal_actions(), env.scores()):
            numbers.append(77)
        assert picture(env) == picture(untouched)


# --- Bounds ---

RARE = 8  # numbers with a wider range than this, such as scores, hardly ever reach its ends in random games


def per_name(seen: npt.NDArray[np.int8], game: Game) -> npt.NDArray[np.int8]:
    """Flat observations (N, D) with the cells of a plane as observations of their own: (N * H * W, C + F)."""
    c, h, w = game.board_shape
    board = seen[:, : game.board_size].reshape(len(seen), c, h * w).transpose(0, 2, 1).reshape(-1, c)
    return np.concatenate([board, seen[:, game.board_size :].repeat(h * w, axis=0)], axis=1)


def test_bounds_are_attained(setting: Setting) -> None:
    """Planes and features take their least and greatest values: the bounds are not just safe ones."""
    game = setting.game
    bounds = game.bounds(game.resolve(setting.options))
    low = np.concatenate([bounds.board_low, bounds.features_low])
    high = np.concatenate([bounds.board_high, bounds.features_high])
    vec = setting.vec(scaled(500), seed=0)
    rng = np.random.default_rng(0)
    least, greatest = np.full_like(low, 127), np.full_like(high, -128)
    for _ in range(game.max_game_length):
        for seat in range(vec.num_players):
            ends = vec.observe(seat, final=True)[vec.done]
            seen = per_name(np.concatenate([vec.observe(seat), ends]), game)
            least, greatest = np.minimum(least, seen.min(axis=0)), np.maximum(greatest, seen.max(axis=0))
        vec.step(leaning_actions(vec, rng))
    names = np.array([*game.planes, *game.features])
    assert names[(least < low) | (greatest > high)].tolist() == [], "outside their bounds"
    if JIT:  # otherwise there are too few games to come to everything
        common = high.astype(int) - low <= RARE
        assert names[common & ((least > low) | (greatest < high))].tolist() == [], "bounds not reached"
