"""Ratings from results: Luce's choice model, which for two players is that of Bradley and Terry.

At a table of agents a, b, ... with strengths s, agent a wins with probability s_a / (s_a + s_b + ...) (Luce 1959; for
two Bradley and Terry 1952). A win shared by several agents counts as a part of a win for each. Who comes second and
third is not looked at: the reward isn't, either. Seats have no term in the model: they are rotated.

The fit is by maximum likelihood, with one game more at each table, whose win all seats share: it keeps the rating of
who always wins finite. Intervals are a Bayesian bootstrap (Rubin 1981): each resample weighs the deals at random,
a deal with all its games at all tables, and the shares of the added games too. For two agents on independent games
that is Jeffreys' interval of a share, which stays honest for who won all games: it is wide, and open upwards.
Ratings are on Elo's scale: 400 points are odds of 10 to 1. Needs the extra iszoo[ladder].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

try:
    from scipy.optimize import minimize
    from scipy.sparse.csgraph import connected_components
    from scipy.special import logsumexp, softmax
except ImportError as error:
    raise ImportError("ratings need scipy: pip install 'iszoo[ladder]'") from error

ELO = 400 / math.log(10)
"""Elo points of one unit of log strength."""

PRIOR_GAMES = 1.0
"""Games added to each table, with a win that all its seats share."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Results:
    """What a ladder's games came to, by deal: games of the same deal are never taken apart.

    Every table plays the deals in the same order, so that deal d is the same one at all tables.
    """

    tables: Ints  #: (T, P): the agents of each table; an agent may sit there more than once
    wins: Floats  #: (D, T, K): wins of each agent in the games of a deal at a table, shared ones in parts
    games: Floats  #: (D, T): games of a deal at a table

    @property
    def num_agents(self) -> int:
        """K."""
        return int(self.wins.shape[2])


@dataclass(frozen=True)
class Ratings:
    """Elo ratings with their 95 % intervals, the anchor's exactly 0."""

    elo: Floats  #: (K,)
    low: Floats  #: (K,)
    high: Floats  #: (K,)
    groups: tuple[tuple[int, ...], ...]  #: strongest first; nobody of a group took a win from the groups before it


def fit(tables: Ints, wins: Floats, games: Floats, anchor: int) -> Floats:
    """Log strengths (B, K) of B sets of results at once, by maximum likelihood, the anchor's 0.

    Args:
        tables: (T, P), the agents of each table.
        wins: (B, K), wins of each agent over all tables: everybody has some.
        games: (B, T), games at each table.
        anchor: the agent whose strength is 1.

    Raises:
        ValueError: the results don't link all agents.
    """
    (sets, agents), (count, seats) = wins.shape, tables.shape
    _check_linked(_seated(tables, agents)[games.sum(axis=0) > 0])
    free = np.arange(agents) != anchor

    def strengths(x: Floats) -> Floats:
        theta = np.zeros((sets, agents))
        theta[:, free] = x.reshape(sets, -1)
        return theta

    def loss(x: Floats) -> tuple[float, Floats]:
        theta = strengths(x)
        likelihood = (wins * theta).sum() - (games * logsumexp(theta[:, tables], axis=2)).sum()
        return -likelihood, (spread(expected(theta)) - wins)[:, free].ravel()

    def expected(theta: Floats) -> Floats:
        won: Floats = games[:, :, None] * softmax(theta[:, tables], axis=2)
        return won

    def spread(values: Floats) -> Floats:
        """From values by table and seat (B, T, P) to sums by agent (B, K)."""
        by_agent = np.zeros((sets, agents))
        for seat in range(seats):
            for t in range(count):
                by_agent[:, tables[t, seat]] += values[:, t, seat]
        return by_agent

    def hessian_times(x: Floats, step: Floats) -> Floats:
        theta, direction = strengths(x), strengths(step)
        won = expected(theta)
        moved = won * direction[:, tables]
        mean = moved.sum(axis=2, keepdims=True) / np.maximum(games, 1e-300)[:, :, None]
        return spread(moved - won * mean)[:, free].ravel()

    # Over all sets at once: the likelihood is a sum, and its Hessian has a block for each of them.
    found = minimize(
        loss, np.zeros(sets * (agents - 1)), jac=True, hessp=hessian_times, method="Newton-CG", options={"xtol": 1e-8}
    )
    if np.abs(found.jac).max() > 1e-6 * games.sum(axis=1).max():  # wins that the fit expects too many or too few
        raise RuntimeError(f"the fit of the ratings did not converge: {found.message}")
    return strengths(found.x)


def _seated(tables: Ints, agents: int) -> Floats:
    """How many seats each agent has at each table: (T, K)."""
    seated = np.zeros((len(tables), agents))
    np.add.at(seated, (np.arange(len(tables))[:, None], tables), 1)
    return seated


def _check_linked(seated: Floats) -> None:
    parts, part = connected_components(seated.T @ seated, directed=False)
    if parts > 1:
        listed = ", ".join(str(np.flatnonzero(part == k).tolist()) for k in range(parts))
        raise ValueError(f"no ratings: agents that never met, not even through others, can't be compared: {listed}")


def rate(results: Results, anchor: int, *, resamples: int = 1000, seed: int = 0) -> Ratings:
    """Elo ratings and their intervals: percentiles over resamples, see the module.

    Raises ValueError if the results don't link all agents, or there are fewer than two.
    """
    agents, (deals, count), seats = results.num_agents, results.games.shape, results.tables.shape[1]
    if agents < 2:
        raise ValueError("ratings compare agents: there must be at least two")
    rng = np.random.default_rng(seed)
    weights = rng.standard_exponential((resamples, deals))
    weights *= deals / weights.sum(axis=1, keepdims=True)
    # The first set of results is the whole as it is.
    weights = np.vstack([np.ones(deals), weights])
    met = results.games.sum(axis=0) > 0
    share = np.full((1, count, seats), PRIOR_GAMES / seats)
    added = np.vstack([share, rng.standard_gamma(share[0], (resamples, count, seats))]) * met[:, None]
    games = weights @ results.games + added.sum(axis=2)
    wins = weights @ results.wins.sum(axis=1)
    for seat in range(seats):
        for t in range(count):
            wins[:, results.tables[t, seat]] += added[:, t, seat]
    elo = ELO * fit(results.tables, wins, games, anchor)
    low, high = np.percentile(elo[1:], [2.5, 97.5], axis=0) if resamples else (elo[0], elo[0])
    return Ratings(elo[0], low, high, win_groups(results, elo[0]))


def win_groups(results: Results, elo: Floats) -> tuple[tuple[int, ...], ...]:
    """Groups of agents that took wins from each other, directly or through others, the strongest first.

    With more than one group the ratings between them rest on the games added to each table, not on results.
    """
    beaten = np.zeros((results.num_agents,) * 2)  # [i, j]: wins of j at tables with i
    for t, table in enumerate(results.tables):
        beaten[np.unique(table)] += results.wins[:, t].sum(axis=0)
    parts, part = connected_components(beaten, directed=True, connection="strong")
    groups = [tuple(np.flatnonzero(part == k).tolist()) for k in range(parts)]
    return tuple(sorted(groups, key=lambda group: -max(elo[list(group)])))
