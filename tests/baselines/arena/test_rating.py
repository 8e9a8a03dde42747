"""Ratings: known strengths are found again, and so they are by another library; intervals hold what they promise."""

from __future__ import annotations

import itertools
from typing import Any

import choix
import numpy as np
import pytest

from iszoo.baselines.arena.rating import ELO, PRIOR_GAMES, Results, fit, rate


def simulated(strengths: Any, players: int, deals: int, seed: int) -> Results:
    """Games of independent results among agents of known log strengths, a deal played once from each seat."""
    rng = np.random.default_rng(seed)
    tables = np.array(list(itertools.combinations(range(len(strengths)), players)))
    wins = np.zeros((deals, len(tables), len(strengths)))
    for t, table in enumerate(tables):
        weights = np.exp(np.array(strengths)[table])
        wins[:, t, table] = rng.multinomial(players, weights / weights.sum(), deals)
    return Results(tables, wins, np.full((deals, len(tables)), float(players)))


def elo_of(results: Results, anchor: int = 0) -> Any:
    return rate(results, anchor, resamples=0).elo


@pytest.mark.parametrize("players", [2, 3, 4])
def test_known_ratings_are_recovered(players: int) -> None:
    strengths = np.array([0.0, 0.5, 1.0, 2.0, 3.5])
    ratings = rate(simulated(strengths, players, 4000, 1), 0, resamples=100)
    assert ratings.elo[0] == ratings.low[0] == ratings.high[0] == 0
    np.testing.assert_allclose(ratings.elo, ELO * strengths, atol=30)
    assert (ratings.high - ratings.low)[1:].max() < 60
    assert ratings.groups == ((0, 1, 2, 3, 4),)


def test_two_agents_have_the_closed_form() -> None:
    """The odds of wins, the added game included; so a draw of all games is a rating of 0."""
    games = np.full((1, 1), 100.0)
    for wins in (0.0, 10.0, 50.0, 97.5, 100.0):
        results = Results(np.array([[0, 1]]), np.array([[[100 - wins, wins]]]), games)
        odds = (wins + PRIOR_GAMES / 2) / (100 - wins + PRIOR_GAMES / 2)
        assert elo_of(results)[1] == pytest.approx(400 * np.log10(odds), abs=1e-4)


def test_bradley_and_terry_as_choix_fits_it() -> None:
    results = simulated([0, 1, 1.5, 4, 8], 2, 300, 2)
    won = np.zeros((5, 5))
    for t, (a, b) in enumerate(results.tables):
        won[a, b] += results.wins[:, t, a].sum() + PRIOR_GAMES / 2
        won[b, a] += results.wins[:, t, b].sum() + PRIOR_GAMES / 2
    expected = choix.ilsr_pairwise_dense(won, max_iter=10_000)
    np.testing.assert_allclose(elo_of(results) / ELO, expected - expected[0], atol=1e-5)


@pytest.mark.parametrize("players", [3, 4])
def test_luces_choice_as_choix_fits_it(players: int) -> None:
    results = simulated([0, 0.5, 1, 1.5, 2], players, 100, 3)
    chosen = [
        (int(winner), [int(other) for other in table if other != winner])
        for t, table in enumerate(results.tables)
        for winner in table
        for _ in range(int(results.wins[:, t, winner].sum()))
    ]
    expected = choix.ilsr_top1(5, chosen, max_iter=10_000)
    found = fit(results.tables, results.wins.sum(axis=(0, 1))[None], results.games.sum(axis=0)[None], anchor=0)
    np.testing.assert_allclose(found[0], expected - expected[0], atol=1e-5)


def test_an_agent_with_two_seats_wins_twice_as_often() -> None:
    """Equal agents: at a table of two a and one b, a wins two games of three."""
    wins = np.array([[[200.0, 100.0]]])
    results = Results(np.array([[0, 0, 1]]), wins, np.full((1, 1), 300.0))
    assert elo_of(results)[1] == pytest.approx(0, abs=1e-4)


def test_shared_wins_count_in_parts() -> None:
    drawn = Results(np.array([[0, 1]]), np.full((50, 1, 2), 1.0), np.full((50, 1), 2.0))
    won_alternately = Results(np.array([[0, 1]]), np.array([[[2.0, 0.0]], [[0.0, 2.0]]] * 25), np.full((50, 1), 2.0))
    assert elo_of(drawn)[1] == pytest.approx(0, abs=1e-4)
    assert elo_of(won_alternately)[1] == pytest.approx(0, abs=1e-4)
    narrow, wide = (rate(results, 0) for results in (drawn, won_alternately))
    assert narrow.high[1] - narrow.low[1] < 0.5 * (wide.high[1] - wide.low[1])


def test_the_anchor_only_moves_the_scale() -> None:
    results = simulated([0, 1, 3], 2, 200, 4)
    np.testing.assert_allclose(elo_of(results, 0) - elo_of(results, 0)[2], elo_of(results, 2), atol=1e-4)


@pytest.mark.parametrize(("strengths", "players", "trials"), [
    ([0, 1, 2], 2, 50),
    ([0, 1, 2], 3, 50),
    ([0, 5.5], 2, 25),  # some 99.6 %: now and then every game is won
])  # fmt: skip
def test_intervals_hold_the_truth_as_often_as_they_say(strengths: list[float], players: int, trials: int) -> None:
    """95 %, give or take what chance does once in some thousand times; and not always, which any wide interval does."""
    truth = ELO * np.array(strengths)
    held = []
    for trial in range(trials):
        ratings = rate(simulated(strengths, players, 100, 1000 + trial), 0, resamples=100, seed=trial)
        held.append(((ratings.low <= truth) & (truth <= ratings.high))[1:])
    assert (np.mean(held, axis=0) > 0.95 - 3.3 * np.sqrt(0.95 * 0.05 / trials)).all()
    assert not np.all(held)


def test_games_of_a_deal_are_not_taken_for_independent() -> None:
    """Ten games of each of 40 deals, all alike: as uncertain as 40 games."""
    one = np.random.default_rng(0).random(40) < 0.6
    wins = np.stack([~one, one], axis=1).astype(float)[:, None]
    tables = np.array([[0, 1]])
    alike = rate(Results(tables, 10 * wins, np.full((40, 1), 10.0)), 0)
    single = rate(Results(tables, wins, np.full((40, 1), 1.0)), 0)
    spread = np.repeat(wins, 10, axis=0)
    independent = rate(Results(tables, spread, np.full((400, 1), 1.0)), 0)
    assert alike.high[1] - alike.low[1] == pytest.approx(single.high[1] - single.low[1], rel=0.1)
    assert alike.high[1] - alike.low[1] > 2.5 * (independent.high[1] - independent.low[1])


def test_who_wins_every_game_has_a_finite_rating_and_an_open_interval() -> None:
    """Close to Jeffreys' interval of 200 wins in 200 games, Beta(200.5, 0.5)."""
    from scipy.stats import beta

    results = Results(np.array([[0, 1]]), np.tile([[[0.0, 2.0]]], (100, 1, 1)), np.full((100, 1), 2.0))
    ratings = rate(results, 0, resamples=400)
    share = beta.ppf([0.025, 0.975], 200.5, 0.5)
    low, high = 400 * np.log10(share / (1 - share))
    assert ratings.elo[1] == pytest.approx(400 * np.log10(200.5 / 0.5), abs=1e-3)
    assert ratings.low[1] == pytest.approx(low, abs=40)
    assert ratings.high[1] == pytest.approx(high, abs=400)
    assert ratings.groups == ((1,), (0,))


def test_agents_that_never_met_cant_be_compared() -> None:
    tables = np.array([[0, 1], [2, 3]])
    wins = np.array([[[1.0, 1, 0, 0], [0, 0, 1, 1]]])
    with pytest.raises(ValueError, match=r"never met, not even through others, can't be compared: \[0, 1\], \[2, 3\]"):
        rate(Results(tables, wins, np.full((1, 2), 2.0)), 0)
    chain = np.array([[0, 1], [1, 2], [2, 3]])
    wins = np.array([[[1.0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]])
    np.testing.assert_allclose(elo_of(Results(chain, wins, np.full((1, 3), 2.0))), 0, atol=1e-4)
    with pytest.raises(ValueError, match="can't be compared"):  # a table without games links nobody
        rate(Results(chain, wins, np.array([[2.0, 0.0, 2.0]])), 0)


def test_one_agent_alone_has_no_rating() -> None:
    with pytest.raises(ValueError, match="at least two"):
        rate(Results(np.array([[0, 0]]), np.ones((1, 1, 1)), np.ones((1, 1))), 0)


def test_the_same_seed_gives_the_same_intervals() -> None:
    results = simulated([0, 1], 2, 50, 5)
    one, two, other = (rate(results, 0, seed=seed) for seed in (1, 1, 2))
    assert (one.low == two.low).all()
    assert (one.high == two.high).all()
    assert (one.low[1:] != other.low[1:]).all()
