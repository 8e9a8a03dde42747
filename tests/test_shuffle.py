"""Statistics of the deals of 10,000 seeds, beside those of Python's own shuffle. All seeds are fixed.

Both are read back from the environment, so that nothing is asked of what it doesn't keep, such as the order of
tiles that lie open.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from iszoo.envs.vec import VecEnv
from tests.helpers import GAMES, Setting, covering, scaled, settings_of, too_great

SEEDS = scaled(10_000, least=500)
Deals = npt.NDArray[np.int64]

SHUFFLED = [setting for game in GAMES if game.deal for setting in covering(settings_of(game))]


def deals_in(setting: Setting, vec: VecEnv) -> Deals:
    """The deal of each game of a batch that has just begun, (N, L)."""
    return np.array([setting.deal_in(row) for row in vec.rows])


@pytest.fixture(scope="module", params=SHUFFLED, ids=str)
def dealt(request: pytest.FixtureRequest) -> Any:
    """Deals of consecutive seeds, those of the next games, and those that Python shuffled."""
    setting: Setting = request.param
    vec = setting.vec(SEEDS, seed=0)
    first = deals_in(setting, vec)
    vec.reset()
    following = deals_in(setting, vec)
    rng = random.Random(0)
    vec.reset(deal=[setting.random_deal(rng) for _ in range(SEEDS)])
    return {"first": first, "following": following, "python": deals_in(setting, vec)}


def counts(deals: Deals) -> npt.NDArray[np.int64]:
    """How often each value lies at each place, (values, places)."""
    return np.stack([(deals == value).sum(axis=0) for value in np.unique(deals)])


@pytest.mark.parametrize("which", ["first", "following"])
def test_every_value_at_every_place(dealt: dict[str, Deals], which: str) -> None:
    """A chi-square of two samples."""
    ours, pythons = counts(dealt[which]), counts(dealt["python"])
    values, places = ours.shape
    seen = ours + pythons
    statistic = ((ours - pythons) ** 2 / np.maximum(seen, 1)).sum()
    assert not too_great(statistic, (values - 1) * (places - 1))


@pytest.mark.parametrize("which", ["first", "following"])
def test_every_value_after_every_value(dealt: dict[str, Deals], which: str) -> None:
    """The same for pairs of neighbouring places, all places together."""
    pairs = [100 * deals[:, :-1] + deals[:, 1:] for deals in (dealt[which], dealt["python"])]
    values = np.unique(pairs)
    ours, pythons = (np.array([(sample == value).sum() for value in values]) for sample in pairs)
    assert not too_great(((ours - pythons) ** 2 / (ours + pythons)).sum(), len(values) - 1)


def alike(deals: Deals, others: Deals) -> float:
    """In how many places two deals have the same value, on average."""
    return float((deals == others).sum(axis=1).mean())


@pytest.mark.parametrize("lag", [1, 2, 64])
def test_neighbouring_seeds_have_nothing_in_common(dealt: dict[str, Deals], lag: int) -> None:
    first, python = dealt["first"], dealt["python"]
    expected = alike(python[lag:], python[:-lag])
    spread = (python[lag:] == python[:-lag]).sum(axis=1).std() * (2 / len(first)) ** 0.5
    assert abs(alike(first[lag:], first[:-lag]) - expected) < 6 * spread


def test_games_that_follow_have_nothing_in_common(dealt: dict[str, Deals]) -> None:
    """Neither with the game before nor with that of the next seed."""
    first, following, python = dealt["first"], dealt["following"], dealt["python"]
    expected = alike(first, python)
    spread = (first == python).sum(axis=1).std() * (2 / len(first)) ** 0.5
    assert abs(alike(first, following) - expected) < 6 * spread
    assert abs(alike(first[1:], following[:-1]) - expected) < 6 * spread


def test_no_deal_comes_twice(dealt: dict[str, Deals]) -> None:
    both = np.concatenate([dealt["first"], dealt["following"]])
    assert len(np.unique(both, axis=0)) == 2 * SEEDS
    assert (np.sort(both, axis=1) == np.sort(dealt["python"][0])).all()
