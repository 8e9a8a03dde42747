"""Wrong calls of an environment: each raises an error that helps, and the game is as it was."""

from __future__ import annotations

import gymnasium.error
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import iszoo
from iszoo import IllegalActionError, ResetNeeded
from iszoo.envs.aec import GameEnv
from iszoo.envs.game import Game
from iszoo.envs.vec import ILLEGAL_MODES
from tests.helpers import Setting, picture, play, refused
from tests.strategies import NOT_WHOLE_NUMBERS, WHOLE_NUMBERS

PLIES = st.integers(0, 8)

# --- Actions ---


@given(NOT_WHOLE_NUMBERS, PLIES, st.sampled_from(ILLEGAL_MODES))
def test_actions_that_are_no_numbers(plain: Setting, action: object, most: int, illegal: str) -> None:
    """They are mistakes of the program, not moves: they don't end the game either."""
    env = play(plain.started(1, illegal=illegal), most=most)
    with refused(env, IllegalActionError):
        env.step(action)


@given(WHOLE_NUMBERS, PLIES)
@example(2**100, 0)
def test_illegal_actions(setting: Setting, action: int, most: int) -> None:
    """The error says who did what, and what is legal."""
    env = play(setting.started(1), most=most)
    legal = env.legal_actions()
    if action in legal:
        return
    with refused(env, IllegalActionError, rf"{env.agent_selection}: action {action} is .*\b{legal[0]}\b"):
        env.step(action)


def test_whole_numbers_of_any_library(plain: Setting) -> None:
    env = play(plain.started(1), most=2)
    action = next(action for action in env.legal_actions() if action < 128)
    expected = env.clone()
    expected.step(action)
    for kind in (np.int8, np.uint8, np.int32, np.int64, np.uint64, np.array):
        twin = env.clone()
        twin.step(kind(action))
        assert picture(twin) == picture(expected)


def test_errors_are_those_of_pettingzoos_wrappers() -> None:
    """Code that catches the errors of PettingZoo's own wrappers catches these too."""
    assert issubclass(IllegalActionError, (ValueError, AssertionError))
    assert issubclass(IllegalActionError, AssertionError)
    assert issubclass(ResetNeeded, AssertionError)
    assert issubclass(ResetNeeded, gymnasium.error.ResetNeeded)


# --- Order ---

CALLS = ("last", "state", "scores", "legal_actions", "get_state", "render", "agent_iter")
ATTRIBUTES = ("agents", "num_agents", "rewards", "terminations", "truncations", "infos", "agent_selection")


def test_before_the_first_reset(plain: Setting) -> None:
    env = plain.env(render_mode="ansi")
    for name in CALLS:
        with pytest.raises(ResetNeeded, match=rf"reset\(\) needs to be called before {name}\(\)"):
            getattr(env, name)()
    for action in (0, None, -1):
        with pytest.raises(ResetNeeded, match=r"reset\(\) needs to be called before step\(\)"):
            env.step(action)
    with pytest.raises(ResetNeeded, match=r"reset\(\) needs to be called before observe\(\)"):
        env.observe(env.possible_agents[0])
    for name in ATTRIBUTES:
        assert not hasattr(env, name)
        with pytest.raises(AttributeError, match=name):
            getattr(env, name)
    env.reset(seed=1)
    assert picture(env) == picture(plain.started(1))


def test_after_the_end(setting: Setting) -> None:
    env = play(setting.started(1))
    for agent in env.possible_agents:
        assert env.agent_selection == agent
        for action in (0, -1, 2**70):
            with refused(env, ValueError, "None"):
                env.step(action)
        env.step(None)
    for none in (0, None):
        with pytest.raises(ResetNeeded, match="over"):
            env.step(none)
    with pytest.raises(ResetNeeded, match="over"):
        env.last()
    env.reset(seed=1)
    assert picture(env) == picture(setting.started(1))


def play_first(env: GameEnv, count: int) -> GameEnv:
    """Plays the first legal action so many times."""
    for _ in range(count):
        env.step(env.legal_actions()[0])
    return env


def test_agent_iter_wants_a_step_in_between(plain: Setting) -> None:
    env = plain.started(1)
    agents = iter(env.agent_iter())
    assert next(agents) == env.agent_selection
    with refused(env, ResetNeeded, "step"):
        next(agents)
    play_first(env, 1)
    expected = env.agent_selection
    for agent in env.agent_iter(max_iter=1):
        assert agent == expected
        play_first(env, 1)
    assert picture(env) == picture(play_first(plain.started(1), 2))


@given(st.one_of(st.text(max_size=9), st.integers(), st.none(), st.just("player_9")))
def test_unknown_agents(plain: Setting, agent: object) -> None:
    env = plain.started(1)
    for call in (env.observe, env.observation_space, env.action_space):
        with refused(env, ValueError, "player_0"):
            call(agent)


# --- Options ---

ANYTHING = st.one_of(NOT_WHOLE_NUMBERS, WHOLE_NUMBERS)


@given(ANYTHING)
def test_values_of_options(plain: Setting, value: object) -> None:
    """The error lists what is allowed: 1 is not True, and 2.0 is not 2."""
    for name, option in plain.game.options.items():
        if not option.choices or repr(value) in map(repr, option.choices):
            continue
        for make in (plain.env, lambda **options: plain.vec(2, **options)):
            with pytest.raises(ValueError, match=f"^{name}=") as caught:
                make(**{name: value})
            assert all(repr(choice) in str(caught.value) for choice in option.choices)


COMMON = {
    "observation": ("planes", "split", "flat"),
    "reward": ("outcome", "margin"),
    "illegal": ("raise", "terminate"),
    "render_mode": ("human", "rgb_array", "svg", "ansi"),
}


@pytest.mark.parametrize("name", COMMON)
@given(value=ANYTHING)
@example(value=np.array([0, 0]))
def test_values_of_common_options(plain: Setting, name: str, value: object) -> None:
    if name == "render_mode" and value is None:
        return
    with pytest.raises(ValueError, match=f"^{name}=") as caught:
        plain.env(**{name: value})
    assert all(repr(choice) in str(caught.value) for choice in COMMON[name])


def test_unknown_options_and_games(game: Game) -> None:
    for make in (iszoo.make, iszoo.make_vec):
        with pytest.raises(ValueError, match="no option 'colour'") as caught:
            make(game.name, colour="red")
        assert all(repr(name) in str(caught.value) for name in game.options)
        for name in (game.title, game.id, "", None, 3, [game.name]):
            with pytest.raises(ValueError, match=f"there is no game .*{game.name!r}"):
                make(name)


# --- Seeds, deals ---


@given(st.one_of(NOT_WHOLE_NUMBERS.filter(lambda seed: seed is not None), WHOLE_NUMBERS))
def test_seeds(plain: Setting, seed: object) -> None:
    env = play(plain.started(1), most=3)
    if type(seed) is int and 0 <= seed < 2**63:
        env.reset(seed=np.uint64(seed))
        assert picture(env) == picture(plain.started(seed))
        return
    with refused(env, ValueError, "a seed is a whole number from 0"):
        env.reset(seed=seed)


@given(st.data())
def test_deals(setting: Setting, data: st.DataObject) -> None:
    """No deal but an order of what is really dealt; none at all in a game without chance."""
    good = setting.random_deal(data.draw(st.randoms(use_true_random=False)))
    place = data.draw(st.integers(0, len(good)))
    entry = data.draw(ANYTHING)
    deal = data.draw(
        st.sampled_from(
            [good[:place], [*good, *good[:place]], [*good[:place], entry, *good[place:]],
             [*good[:place], entry, *good[place + 1 :]], [float(value) for value in good], entry, [good]]
        )
    )  # fmt: skip
    if deal is None or (good and repr(deal) == repr(good)):
        return
    env = play(setting.started(1), most=3)
    with refused(env, ValueError, "deal" if setting.game.deal else "no chance"):
        env.reset(seed=2, options={"deal": deal})
