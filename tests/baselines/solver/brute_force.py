"""Exact values by plain recursion, without a table, a window or a kernel of the solver: what the solver is held to."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from iszoo.envs.aec import GameEnv
from tests.oracle import isis_osiris

Value = tuple[Fraction, Fraction]
"""The outcome reward of seat 0, and its points less those of seat 1 (alone: its points)."""


class Played:
    """An AEC environment with the methods of an oracle."""

    def __init__(self, env: GameEnv) -> None:
        self.env = env

    def player_to_move(self) -> int:
        return self.env.possible_agents.index(self.env.agent_selection) if self.legal_actions() else -1

    def legal_actions(self) -> list[int]:
        return self.env.legal_actions()

    def copy(self) -> Played:
        return Played(self.env.clone())

    def step(self, action: int) -> None:
        self.env.step(action)

    def scores(self) -> list[int]:
        return self.env.scores()

    def returns(self) -> list[float]:
        return [self.env.rewards[agent] for agent in self.env.possible_agents]


def after(game: Any, action: int) -> Iterator[tuple[Fraction, Any]]:
    """What an action can lead to, each with its probability."""
    if isinstance(game, isis_osiris.Oracle) and action == 36:
        seats = 1 if game._variant == "shared_stock" else game.num_players
        seen = [tile.value for tile in game._revealed()]
        hidden = [value for seat in range(seats) for value in game._stock(seat)]
        assert sorted(seen + hidden) == sorted(game._deal)
        place = len(game._deal) - len(game._stock(0)) if seats == 1 else 0
        if seats > 1:
            seat = game.player_to_move()
            place = 11 * (seat + 1) - len(game._stock(seat))
        drawn = set()
        for s in range(seats):
            first = 11 * s if seats > 1 else 0
            length = 11 if seats > 1 else 22
            drawn |= set(range(first, first + length - len(game._stock(s))))
        others = [k for k in range(22) if k not in drawn]
        for k in others:
            twin = game.copy()
            deal = list(twin._deal)
            deal[place], deal[k] = deal[k], deal[place]
            twin._deal = tuple(deal)
            twin.step(action)
            yield Fraction(1, len(others)), twin
        return
    twin = game.copy()
    twin.step(action)
    yield Fraction(1), twin


def value(game: Any, common: bool = False) -> Value:
    """The value of a position with best play."""
    player = game.player_to_move()
    if player < 0:
        points, outcome = game.scores(), game.returns()[0]
        if common:
            return Fraction(0), Fraction(points[0])
        return Fraction(outcome), Fraction(points[0] - points[1])
    found = values(game, common).values()
    return max(found) if player == 0 or common else min(found)


def values(game: Any, common: bool = False) -> dict[int, Value]:
    """The value of each legal action."""
    found = {}
    for action in game.legal_actions():
        outcome = margin = Fraction(0)
        for chance, twin in after(game, action):
            below = value(twin, common)
            outcome += chance * below[0]
            margin += chance * below[1]
        found[action] = (outcome, margin)
    return found
