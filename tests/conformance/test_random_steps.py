"""`random_steps`: uniformly random legal actions in every game, which change no deal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from iszoo.envs.native import JIT
from iszoo.envs.primitives import GENERATOR
from iszoo.envs.vec import VecEnv
from tests.helpers import Setting, batch_picture, frozen, scaled, too_great

SEED = 100


def positions(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Rows without the generator."""
    return np.delete(rows, GENERATOR, axis=1)


def successors(setting: Setting, vec: VecEnv, i: int) -> dict[bytes, int]:
    """The positions that the legal actions of game i lead to: bytes -> action."""
    actions = np.flatnonzero(vec.action_mask[i])
    batch = setting.batch_at(np.repeat(vec.rows[i : i + 1], len(actions), axis=0))
    batch.step(actions)
    found = {row.tobytes(): int(a) for row, a in zip(positions(batch.rows), actions, strict=True)}
    assert len(found) == len(actions)
    return found


def test_every_step_is_a_legal_action(setting: Setting) -> None:
    vec = setting.vec(2, seed=SEED, autoreset="disabled")
    while (running := vec.player >= 0).any():
        expected = [successors(setting, vec, i) if running[i] else {} for i in range(2)]
        assert vec.random_steps(1) == running.sum()
        for i in np.flatnonzero(running):
            assert positions(vec.rows)[i].tobytes() in expected[i]
        if not JIT:
            vec.random_steps(9)


def test_actions_are_uniform(setting: Setting) -> None:
    """From one position, in many games, each legal action is chosen about equally often."""
    count = scaled(20000, least=600)
    vec = setting.vec(count, seed=SEED)
    start = setting.vec(1, seed=SEED)
    while not 1 < start.action_mask.sum() < 40:
        start.random_steps(1)
    vec.rows[:] = start.rows
    vec.refresh()
    actions = successors(setting, start, 0)
    vec.random_steps(1)
    chosen = [actions[row.tobytes()] for row in positions(vec.rows)]
    counts = np.unique(chosen, return_counts=True)[1]
    assert len(counts) == len(actions)
    expected = count / len(actions)
    assert not too_great(((counts - expected) ** 2 / expected).sum(), len(actions) - 1)
    neighbours = np.mean(np.array(chosen[1:]) == np.array(chosen[:-1]))
    assert abs(neighbours - 1 / len(actions)) < 6 * (1 / len(actions) / count) ** 0.5


def test_counts(setting: Setting) -> None:
    most = setting.game.max_game_length
    endless, ending = setting.vec(3, seed=SEED), setting.vec(3, seed=SEED, autoreset="disabled")
    assert [endless.random_steps(k) for k in (0, 1, 5, 2 * most)] == [0, 3, 15, 6 * most]
    lengths = np.zeros(3, np.int64)
    steps = 0
    while (running := ending.player >= 0).any():
        lengths += running
        steps += ending.random_steps(1)
    ending.reset(seed=SEED)
    assert ending.random_steps(10 * most) == steps == lengths.sum()
    assert lengths.max() <= most


def test_many_steps_are_single_steps(setting: Setting) -> None:
    one, many = setting.vec(4, seed=SEED), setting.vec(4, seed=SEED)
    for k in (3, setting.game.max_game_length, 1):
        many.random_steps(k)
        for _ in range(k):
            one.random_steps(1)
        assert batch_picture(one) == batch_picture(many)


def test_observing_changes_nothing(setting: Setting) -> None:
    for autoreset in ("same_step", "disabled"):
        seeing, blind = (setting.vec(4, seed=SEED, autoreset=autoreset) for _ in range(2))
        for k in (1, 4, setting.game.max_game_length, 2):
            assert seeing.random_steps(k) == blind.random_steps(k, observe=False)
            assert batch_picture(seeing) == batch_picture(blind)


def deals(setting: Setting, vec: VecEnv, play: Callable[[], object]) -> list[tuple[bytes, ...]]:
    """The positions that the first three games of each slot begin with."""
    begun = [[frozen(row)] for row in vec.rows]
    while min(map(len, begun)) < 3:
        play()
        for i in np.flatnonzero(vec.done):
            begun[i].append(frozen(vec.rows[i]))
    return [tuple(rows[:3]) for rows in begun]


def test_choices_change_no_deal(setting: Setting) -> None:
    """The next games are the same, generator included, whatever was played before."""
    random, orderly = setting.vec(3, seed=SEED), setting.vec(3, seed=SEED)
    first_action = deals(setting, orderly, lambda: orderly.step(orderly.action_mask.argmax(axis=1)))
    assert deals(setting, random, lambda: random.random_steps(1)) == first_action
