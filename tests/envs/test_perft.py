"""Perft: the counts of tests/perft are right, and oracle, masks and lists of legal actions agree on them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from iszoo.envs.aec import GameEnv
from iszoo.envs.game import Game
from iszoo.envs.native import JIT
from iszoo.envs.perft import perft
from tests.helpers import Setting, scaled, settings_of
from tests.perft_files import MOST_PLAYED_BY_DEFAULT, Count, read
from tests.traces import record

# Sequences that are played out, and not only counted, for a count: it takes their number times
# some 0.1 us compiled, 50 us interpreted, 300 us with an oracle.
AFFORDABLE = MOST_PLAYED_BY_DEFAULT if JIT else 60
AFFORDABLE_FOR_ORACLES = 1500


def affordable(counts: list[Count], most: int) -> list[Count]:
    """The counts for which at most so many sequences are played: those of the depth before."""
    played = [1, *(count.sequences for count in counts)]
    return [count for count, before in zip(counts, played, strict=False) if count.depth == 1 or before <= most]


def count_by_lists(position: Any, depth: int, copied: Callable[[Any], Any]) -> int:
    """Sequences of a length, by the legal_actions() of an oracle or an environment."""
    legal = position.legal_actions()
    if depth == 1:
        return len(legal)
    total = 0
    for action in legal:
        after = copied(position)
        after.step(action)
        total += count_by_lists(after, depth - 1, copied)
    return total


def count_by_masks(setting: Setting, rows: npt.NDArray[np.int64], depth: int) -> int:
    """Sequences of a length from all the rows together, by the masks of batches, one batch for each ply."""
    games, actions = setting.batch_at(rows).action_mask.nonzero()
    if depth == 1 or len(games) == 0:
        return len(games)
    after = setting.batch_at(rows[games])
    after.step(actions)
    return count_by_masks(setting, after.rows, depth - 1)


def test_counts_of_the_file(game: Game) -> None:
    counts = affordable(read(game), AFFORDABLE)
    assert {repr(count.setting) for count in counts} == {repr(setting) for setting in settings_of(game)}
    for count in counts:
        assert perft(game, count.depth, deal=count.deal or None, **count.setting.options) == count.sequences, count.line


def test_the_oracle_confirms_the_file(game: Game) -> None:
    for _, counts in itertools.groupby(read(game), key=lambda count: str(count.setting)):
        deepest = affordable(list(counts), AFFORDABLE_FOR_ORACLES)[-1]
        assert deepest.depth > 1
        oracle = deepest.setting.oracle(deepest.deal)
        assert count_by_lists(oracle, deepest.depth, type(oracle).copy) == deepest.sequences, deepest.line


def test_counts_in_mid_game(setting: Setting) -> None:
    """Rules that the first plies don't come to: oracle, lists and masks agree on what follows there."""
    rng = random.Random(6)
    trace = record(setting, setting.random_deal(rng), rng)
    for ply in (trace.length // 3, 2 * trace.length // 3, trace.length - 2):
        oracle, env = setting.oracle(trace.deal), setting.env()
        env.reset(options={"deal": trace.deal or None})
        for action in trace.actions[:ply]:
            oracle.step(action)
            env.step(action)
        for depth in (1, 2, 3, 4):
            count = count_by_masks(setting, env._rows, depth)
            assert count_by_lists(oracle, depth, type(oracle).copy) == count
            assert count_by_lists(env, depth, GameEnv.clone) == count
            if count > scaled(400):
                break


def test_depths_and_seeds(plain: Setting) -> None:
    """No action is one sequence; without a deal the seed deals, as reset() does."""
    game = plain.game
    assert perft(game, 0) == 1
    assert perft(game, 1, seed=3) == len(plain.started(3).legal_actions())
    for depth in (-1, True, 1.0, "1", None):
        with pytest.raises(ValueError, match=r"^depth="):
            perft(game, depth)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seed"):
        perft(game, 1, seed=-1)
    with pytest.raises(ValueError, match="deal"):
        perft(game, 1, deal=[99])
    with pytest.raises(ValueError, match="no option 'colour'"):
        perft(game, 1, colour="red")
