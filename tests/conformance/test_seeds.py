"""Seeds and resets: what a seed fixes, what goes on without one, and that options stay."""

from __future__ import annotations

import random

import numpy as np

from iszoo.envs.aec import GameEnv
from tests.helpers import Setting, picture, play, plies

STREAM = 4  # games that follow each other


def deal_of(env: GameEnv) -> tuple[object, ...]:
    """The position of a game that has just begun, hidden order included."""
    return tuple(env.state().tolist())


def deals_that_follow(env: GameEnv) -> list[tuple[object, ...]]:
    """This deal and those of the resets without a seed that follow, with and without a game in between."""
    deals = [deal_of(env)]
    for game in range(1, STREAM):
        if game % 2:
            play(env, seed=game)
        env.reset()
        deals.append(deal_of(env))
    return deals


def test_the_same_seed_gives_the_same_games(setting: Setting) -> None:
    one, other = setting.started(11), setting.started(11)
    for game in range(STREAM):
        for _ in plies(one, other, seed=game):
            assert picture(one) == picture(other)
        one.reset()
        other.reset()


def test_other_seeds_give_other_games(setting: Setting) -> None:
    """Neighbouring seeds too, in their first games and in those that follow; without chance all are alike."""
    by_seed = [deals_that_follow(setting.started(seed)) for seed in range(20)]
    deals = {deal for deals in by_seed for deal in deals}
    assert len(deals) == (1 if setting.game.deal is None else 20 * STREAM)


def test_without_any_seed_games_differ(setting: Setting) -> None:
    deals = set()
    for _ in range(5):
        env = setting.env()
        env.reset()
        deals.add(deal_of(env))
        deals.add(tuple(setting.deal_in(setting.vec(1).rows[0])))
    assert len(deals) == (2 if setting.game.deal is None else 10)


def test_a_seed_goes_before_what_was_played(setting: Setting) -> None:
    """A seeded reset gives the game of a new environment, with the constructor's options still in force."""
    options = {"observation": "split", "reward": "margin", "illegal": "terminate", "render_mode": "ansi"}
    env, new = setting.started(5, **options), setting.started(9, **options)
    play(env, most=5)
    env.reset(seed=9)
    for _ in plies(env, new):
        assert picture(env) == picture(new)
        assert env.render() == new.render()
    env.reset(seed=9)
    assert picture(env) == picture(setting.started(9, **options))


def test_second_episodes_are_complete(setting: Setting) -> None:
    """After a reset in mid-game and after one at the end nothing is left of the game before."""
    env = setting.started(1)
    for most in (None, 3, None):
        play(env, most=most)
        env.reset(seed=2)
        assert picture(env) == picture(setting.started(2))
        assert env.agents == env.possible_agents
        assert env.agents is not env.possible_agents


def test_a_deal_fixes_the_game_but_not_the_next(setting: Setting) -> None:
    deal = setting.random_deal(random.Random(0)) or None
    env = setting.env()
    env.reset(seed=1, options={"deal": deal})
    other = setting.started(2)
    other.reset(options={"deal": deal})
    assert deal_of(env) == deal_of(other)
    again = setting.env()
    again.reset(seed=1, options={"deal": deal})
    assert deals_that_follow(again) == deals_that_follow(env)


def test_global_generators_are_left_alone(setting: Setting) -> None:
    random.seed(1)
    np.random.seed(1)  # noqa: NPY002  it is the legacy global state that must not move
    before = random.getstate(), str(np.random.get_state())  # noqa: NPY002
    env = setting.env()
    for _ in range(2):
        env.reset()
        env.step(env.legal_actions()[0])
    vec = setting.vec(3)
    vec.random_steps(setting.game.max_game_length)
    vec.reset()
    vec.step(vec.action_mask.argmax(axis=1))
    assert (random.getstate(), str(np.random.get_state())) == before  # noqa: NPY002
