"""Models of other frameworks: their spaces, layouts of observations, and how an action is chosen from logits.

With the frameworks themselves: tests/frameworks/test_sb3.py and test_rllib.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

import iszoo
from iszoo.baselines.agents import View, view_of
from iszoo.baselines.models import check_spaces, choose, in_layout
from iszoo.envs.game import Game
from iszoo.envs.spaces import LAYOUTS, bare_space, observation_space
from tests.helpers import frozen


def view_in_play(game: Game) -> View:
    vec = iszoo.make_vec(game.name, 5, seed=1)
    vec.random_steps(6)
    return view_of(vec, np.arange(5), np.arange(5))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_that_of_the_environments(layout: str, game: Game) -> None:
    view = view_in_play(game)
    env = iszoo.make(game.name, observation=layout)
    env.reset(seed=0)
    options = game.resolve({})
    full, bare = observation_space(game, options, layout), bare_space(game, options, layout)
    for space in (full, bare):
        check_spaces("model", game, space, spaces.Discrete(game.num_actions))
    shown, alone = in_layout(view, full), in_layout(view, bare)
    np.testing.assert_array_equal(shown["action_mask"], view.action_mask)
    for i in range(len(view.seeds)):
        env._rows[0] = view.positions()[i]
        expected = frozen(env.observe(env.possible_agents[view.player[i]])["observation"])
        assert frozen(_one(shown["observation"], i)) == frozen(_one(alone, i)) == expected


def _one(value: Any, i: int) -> Any:
    return {key: part[i] for key, part in value.items()} if isinstance(value, dict) else value[i]


def test_models_of_other_games_are_refused(game: Game) -> None:
    actions = spaces.Discrete(game.num_actions)
    with pytest.raises(ValueError, match=r"m acts in Discrete\(7\), and .* in Discrete"):
        check_spaces("m", game, bare_space(game, game.resolve({}), "flat"), spaces.Discrete(7))
    with pytest.raises(ValueError, match=r"m acts in Box"):
        check_spaces("m", game, bare_space(game, game.resolve({}), "flat"), spaces.Box(0, 1, (game.num_actions,)))
    box = spaces.Box(0, 1, (7,), np.int8)
    for space in (box, spaces.Dict(observation=box, action_mask=box), spaces.Dict(board=box, features=box)):
        with pytest.raises(ValueError, match=rf"m observes .*\(7,\).* shows \({game.obs_size},\) flat"):
            check_spaces("m", game, space, actions)


def test_the_greatest_legal_value_is_chosen() -> None:
    logits = np.array([[3.0, 2, 1], [3, 2, 1], [-np.inf, -5, -9]])
    mask = np.array([[1, 1, 1], [0, 1, 1], [1, 0, 1]], np.int8)
    assert choose(logits, mask, np.arange(3), deterministic=True).tolist() == [0, 1, 2]


def test_draws_follow_the_softmax_of_legal_actions_and_the_seeds() -> None:
    n = 20_000
    logits = np.tile(np.log([0.5, 0.2, 0.25, 0.05]), (n, 1)) + 700  # far from where exp() ends
    mask = np.tile(np.array([1, 1, 0, 1], np.int8), (n, 1))
    actions = choose(logits, mask, np.arange(n), deterministic=False)
    counts = np.bincount(actions, minlength=4)
    expected = n * np.array([0.5, 0.2, 0, 0.05]) / 0.75
    assert counts[2] == 0
    assert (abs(counts - expected) <= 4 * np.sqrt(expected)).all()
    again = choose(logits[::-1], mask, np.arange(n)[::-1], deterministic=False)
    np.testing.assert_array_equal(again[::-1], actions)


def test_a_draw_never_meets_an_action_that_cannot_be() -> None:
    """Not even where the last actions are illegal and rounding might run over the end."""
    rng = np.random.default_rng(0)
    mask = np.zeros((3000, 37), np.int8)
    mask[:, rng.integers(0, 36)] = 1
    mask[np.arange(3000), rng.integers(0, 37, 3000)] = 1
    actions = choose(rng.normal(0, 30, mask.shape), mask, rng.integers(0, 2**62, 3000), deterministic=False)
    assert (mask[np.arange(3000), actions] == 1).all()
