"""Positions as bytes: what get_state() gives, and nothing else, is what set_state() takes."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iszoo.envs.aec import GameEnv
from iszoo.envs.game import Game
from tests.helpers import SETTINGS, Setting, picture, play, refused, settings_to_test


@pytest.fixture(scope="module")
def target(setting: Setting) -> Any:
    """A game under way, into which bytes are put that it must refuse."""
    return play(setting.started(1), most=3)


@pytest.fixture(scope="module")
def data(setting: Setting) -> Any:
    """Another position of the same game."""
    return play(setting.started(2), most=5).get_state()


def test_positions_of_other_environments(setting: Setting, target: GameEnv, data: bytes) -> None:
    expected = picture(play(setting.started(2), most=5))
    env = target.clone()
    for kind in (bytes, bytearray, memoryview):
        play(env, most=2)
        env.set_state(kind(data))
        assert picture(env) == expected
    new = setting.env()
    new.set_state(data)
    assert picture(new) == expected
    assert setting.started(1, observation="flat", reward="margin").get_state() == setting.started(1).get_state()


def test_every_flipped_bit_is_noticed(target: GameEnv, data: bytes) -> None:
    before = picture(target)
    for place in range(len(data)):
        for bit in range(8):
            broken = bytearray(data)
            broken[place] ^= 1 << bit
            with pytest.raises(ValueError, match="state"):
                target.set_state(broken)
    assert picture(target) == before


def test_every_cut_is_noticed(target: GameEnv, data: bytes) -> None:
    before = picture(target)
    shorter = [data[:length] for length in range(len(data))]
    for broken in (*shorter, data[8:], data + b"\0", data + b"\0" * 8, data + data):
        with pytest.raises(ValueError, match="state"):
            target.set_state(broken)
    assert picture(target) == before


@given(st.one_of(st.binary(max_size=600), st.binary(max_size=600).map(lambda rest: b"iszoo\x01" + rest)))
def test_any_bytes(target: GameEnv, noise: bytes) -> None:
    with refused(target, ValueError, "state"):
        target.set_state(noise)


@pytest.mark.parametrize("value", [None, 5, "state", [1, 2], {}, 1.5])
def test_other_types(target: GameEnv, value: object) -> None:
    with refused(target, ValueError, f"bytes from get_state.*{type(value).__name__}"):
        target.set_state(value)


def test_states_of_other_games_and_options(setting: Setting, target: GameEnv) -> None:
    """The error says which game it was of, or which options this one has."""
    for other in SETTINGS:
        if other is setting:
            continue
        state = other.started(1).get_state()
        same_game = other.game is setting.game
        match = "other options" if same_game else f"{other.game.id}.*{setting.game.id}"
        with refused(target, ValueError, match):
            target.set_state(state)


def test_bytes_are_short_and_the_same_everywhere(game: Game) -> None:
    """A head of 42 bytes, then eight for each word of the row."""
    rng = random.Random(0)
    for setting in settings_to_test(game):
        env = play(setting.started(rng.randrange(100)), most=rng.randrange(10))
        state = env.get_state()
        assert len(state) == 42 + 8 * game.row_size
        assert state[42:] == env._rows[0].astype("<i8").tobytes()
        assert state == env.get_state()
