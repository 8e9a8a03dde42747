"""Search with growing budgets comes to the exact value, and to the actions that have it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from iszoo.baselines.search import Search, SearchOptions
from iszoo.baselines.solver import Solution
from iszoo.baselines.solver.positions import load
from iszoo.envs.game import Game, Rows

BUDGETS = (10, 100, 1000, 10_000)


def run(
    game: Game, positions: Sequence[tuple[Rows, Solution]], simulations: int, margin: bool, chance: bool = False
) -> tuple[float, float]:
    """The share of positions in which a search plays best, and how far its value is from the exact one on average.

    margin: whether the search plays for points; else for the outcome alone, and so does who is best.
    """
    options = SearchOptions(exploration=0.06 if margin else 0.3, margin=float(margin), chance=chance)
    search = Search(game, game.params({}), options, capacity=2 * simulations + 1)
    played_best, errors = [], []
    for k, (row, solution) in enumerate(positions):
        search.start(row, seed=k)
        search.run(simulations)
        action = search.best()
        played_best.append(action in solution.best if margin else solution.keeps(action))
        exact = solution.value[1] / game.margin_scale if margin else solution.value[0]
        errors.append(abs(search.values()[action, solution.player] - exact[solution.player]))
    return float(np.mean(played_best)), float(np.mean(errors))


def outcome_at_stake(solution: Solution) -> bool:
    return len({outcome for outcome, _ in solution.exact}) > 1


@pytest.mark.parametrize(("name", "most_left"), [("isaac", 5), ("iso", 2)])
@pytest.mark.parametrize("margin", [False, True])
def test_growing_budgets_come_to_the_exact_value(name: str, most_left: int, margin: bool) -> None:
    endgames = load(name)
    positions = [
        (position.row, position.solution)
        for position in endgames.positions
        if position.left <= most_left and outcome_at_stake(position.solution) != margin
    ][:20]
    assert len(positions) >= 15
    shares, errors = zip(*(run(endgames.game, positions, budget, margin) for budget in BUDGETS), strict=True)
    assert shares[0] < 0.8 < 0.9 < shares[-1]
    assert shares[-1] >= max(shares)
    assert margin or shares[-1] == 1
    assert errors[-1] < 0.02 < errors[0]
    assert errors[-1] <= min(errors)


@pytest.fixture
def reveals() -> tuple[Game, list[tuple[Rows, Solution]]]:
    """Positions with tiles to reveal. The margin reward is clipped, which the exact margin is not: leads are small."""
    endgames = load("isis_osiris")
    positions = [
        (position.row, position.solution)
        for position in endgames.positions
        if position.left <= 4
        and not outcome_at_stake(position.solution)
        and abs(position.solution.margin).max() < endgames.game.margin_scale / 2
    ][:20]
    assert len(positions) == 20
    return endgames.game, positions


def test_in_isis_osiris_too_where_what_is_revealed_has_nodes_of_its_own(reveals: Any) -> None:
    shares, errors = zip(*(run(*reveals, budget, True, chance=True) for budget in BUDGETS), strict=True)
    assert shares[0] < 0.8
    assert shares[-1] == 1
    assert errors[-1] < 0.001 < 0.02 < errors[0]
    assert errors[-1] == min(errors)


def test_without_such_nodes_a_search_plans_as_if_no_tile_were_seen(reveals: Any) -> None:
    assert run(*reveals, 10_000, True, chance=False)[1] > 0.01
