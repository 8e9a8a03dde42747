"""Wrong calls of a batch: each raises an error that helps, and no game has moved."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from iszoo import IllegalActionError
from iszoo.envs.threads import max_threads
from iszoo.envs.vec import VecEnv
from tests.helpers import Setting, random_actions, refused
from tests.strategies import NOT_WHOLE_NUMBERS, WHOLE_NUMBERS

N = 5


def started(setting: Setting, **options: Any) -> VecEnv:
    """A batch under way."""
    vec = setting.vec(N, seed=1, **options)
    vec.random_steps(3)
    return vec


def legal_actions(vec: VecEnv) -> Any:
    """An action for each game."""
    return random_actions(vec, np.random.default_rng(0))


# --- Actions ---


@pytest.mark.parametrize("threads", [1, min(2, max_threads())])
@pytest.mark.parametrize("place", range(N))
def test_one_bad_action_in_a_batch(setting: Setting, place: int, threads: int) -> None:
    """No game has moved, wherever it stands and however the games are shared out; the error names its game."""
    vec = started(setting, threads=threads)
    size = setting.game.num_actions
    not_legal = next((action for action in range(size) if not vec.action_mask[place, action]), size)
    for action in (not_legal, -1, -(2**63), size, 2**63 - 1):
        actions = legal_actions(vec)
        actions[place] = action
        with refused(vec, IllegalActionError, f"game {place}: action {action} is "):
            vec.step(actions)
        with refused(vec, IllegalActionError, f"game {place}: action {action} is "):
            vec.step(actions, where=np.arange(N) >= place)
    actions[place] = legal_actions(vec)[place]
    vec.step(actions)


def test_the_first_bad_action_is_named(plain: Setting) -> None:
    vec = started(plain)
    actions = legal_actions(vec)
    actions[[2, 4]] = -1
    with refused(vec, IllegalActionError, "game 2: "):
        vec.step(actions)
    with refused(vec, IllegalActionError, "game 4: "):
        vec.step(actions, where=np.array([True, True, False, True, True]))


@pytest.mark.parametrize("illegal", ["raise", "terminate"])
def test_games_that_are_over_have_no_action(plain: Setting, illegal: str) -> None:
    vec = started(plain, autoreset="disabled", illegal=illegal)
    vec.random_steps(plain.game.max_game_length)
    vec.reset(where=np.array([True, False, True, True, True]))
    with refused(vec, IllegalActionError, "game 1: .*over"):
        vec.step(legal_actions(vec))
    vec.step(legal_actions(vec), where=vec.player >= 0)


WRONG_FORMS = (
    lambda actions: actions[:-1],
    lambda actions: np.append(actions, 0),
    lambda actions: actions[:, None],
    lambda actions: actions[0],
    lambda actions: int(actions[0]),
    lambda actions: actions.astype(float),
    lambda actions: actions.astype(bool),
    lambda actions: actions.astype(complex),
    lambda actions: actions.astype(str),
    lambda actions: actions.astype(object),
    lambda actions: [*actions[:-1], None],
    lambda actions: [*actions[:-1], [1, 2]],
    lambda actions: dict(enumerate(actions)),
    lambda actions: None,
)


@pytest.mark.parametrize("wrong", WRONG_FORMS)
def test_forms_of_actions(plain: Setting, wrong: Any) -> None:
    vec = started(plain)
    with refused(vec, ValueError, rf"actions are whole numbers of shape \({N},\)"):
        vec.step(wrong(legal_actions(vec)))


def test_whole_numbers_of_any_type(plain: Setting) -> None:
    """Lists, small and unsigned types, and arrays that are not contiguous play the same."""
    expected = started(plain)
    actions = legal_actions(expected)
    expected.step(actions)
    for form in (list, np.int16, np.uint64, lambda a: np.repeat(a, 2)[::2], lambda a: a.astype(">i8")):
        vec = started(plain)
        vec.step(form(actions))
        assert np.array_equal(vec.rows, expected.rows)


# --- Everything else ---

BAD_WHERE = (True, [1] * N, [True] * (N - 1), np.ones((N, 1), bool), np.ones(N), "True", [None] * N)


@pytest.mark.parametrize("where", BAD_WHERE, ids=repr)
def test_where(plain: Setting, where: Any) -> None:
    vec = started(plain)
    calls = (lambda: vec.step(legal_actions(vec), where=where), lambda: vec.reset(where=where),
             lambda: vec.refresh(where=where))  # fmt: skip
    for call in calls:
        with refused(vec, ValueError, "where is a boolean array"):
            call()


BAD_SEEDS = (-1, True, 1.0, "1", 2**63, 2**63 - N + 1, [1] * (N - 1), [1.0] * N, [True] * N, [-1] * N, [[1] * N])


@pytest.mark.parametrize("seed", BAD_SEEDS, ids=repr)
def test_seeds(plain: Setting, seed: Any) -> None:
    vec = started(plain)
    with refused(vec, ValueError, "seed"):
        vec.reset(seed=seed)
    with pytest.raises(ValueError, match="seed"):
        plain.vec(N, seed=seed)
    vec.reset(seed=2**63 - N)


def test_deals(setting: Setting) -> None:
    vec = started(setting)
    good = setting.random_deal(random.Random(0))
    for deal in (good[:-1] or [1], [good] * (N - 1), [[*good, 1]] * N, [[1.5] * len(good)] * N, "deal", 5):
        with refused(vec, ValueError, "deal"):
            vec.reset(deal=deal)


@given(st.one_of(NOT_WHOLE_NUMBERS, st.integers(max_value=-1)))
def test_numbers_of_random_steps(plain: Setting, k: object) -> None:
    vec = started(plain)
    with refused(vec, ValueError, "^k="):
        vec.random_steps(k)


BAD_SEATS = (-1, 9, [0] * (N - 1), [0.5] * N, 1.5, "0", None, [[0]] * N)


@pytest.mark.parametrize("seats", BAD_SEATS, ids=repr)
def test_seats(plain: Setting, seats: Any) -> None:
    vec = started(plain)
    with refused(vec, ValueError, "seats are"):
        vec.observe(seats)


def test_arrays_to_write_into(plain: Setting) -> None:
    """Anything but an array like `obs` is refused, before compiled code writes past its end."""
    vec = started(plain)
    size = plain.game.obs_size
    for out in (
        np.zeros((N, size - 1), np.int8), np.zeros((N - 1, size), np.int8), np.zeros(N * size, np.int8),
        np.zeros((N, size), np.int16), np.zeros((size, N), np.int8).T, [[0] * size] * N,
    ):  # fmt: skip
        with refused(vec, ValueError, "out"):
            vec.observe(0, out=out)


@given(st.one_of(NOT_WHOLE_NUMBERS, st.integers(max_value=0)), st.integers(min_value=max_threads() + 1))
def test_sizes(plain: Setting, size: object, too_many: int) -> None:
    with pytest.raises(ValueError, match=r"^num_envs="):
        plain.vec(size)
    for threads in (size, too_many):
        with pytest.raises(ValueError, match=rf"^threads=.* 1 to {max_threads()}$"):
            plain.vec(2, threads=threads)


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("autoreset", ["same_step", "disabled"]),
        ("illegal", ["raise", "terminate"]),
        ("reward", ["outcome", "margin"]),
    ],
)
@given(value=st.one_of(NOT_WHOLE_NUMBERS, WHOLE_NUMBERS))
@example(value=np.array([0, 0]))
def test_values_of_common_options(plain: Setting, name: str, choices: list[str], value: object) -> None:
    with pytest.raises(ValueError, match=f"^{name}=") as caught:
        plain.vec(2, **{name: value})
    assert all(repr(choice) in str(caught.value) for choice in choices)
