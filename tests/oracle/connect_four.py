"""Connect four: a slow, obviously right reference, written from the rules alone.

A position is the list of columns played so far. Everything else is worked out from it at every call.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

ROWS, COLUMNS = 6, 7
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))  # right, up, and the two diagonals
REWARDS = ("outcome", "margin")


def random_deal(rng: random.Random, **options: Any) -> list[int]:
    """Nothing is dealt."""
    return []


def deal_in(state: Sequence[int], **options: Any) -> list[int]:
    """Nothing is dealt."""
    return []


class Oracle:
    """One game of connect four."""

    num_players = 2

    def __init__(self, deal: Sequence[int] | None = None) -> None:
        """Start with an empty board."""
        if deal:
            raise ValueError(f"connect four has no deal, got {deal!r}")
        self._columns: list[int] = []

    # Facts counted from the position.

    def _stones(self) -> dict[tuple[int, int], int]:
        """Who has a stone where, by (row from the bottom, column)."""
        stones: dict[tuple[int, int], int] = {}
        for ply, column in enumerate(self._columns):
            height = sum(1 for _, other in stones if other == column)
            stones[height, column] = ply % 2
        return stones

    def _winner(self) -> int | None:
        stones = self._stones()
        for (row, column), seat in stones.items():
            for up, right in DIRECTIONS:
                line = [(row + k * up, column + k * right) for k in range(4)]
                if all(stones.get(cell) == seat for cell in line):
                    return seat
        return None

    def _over(self) -> bool:
        return len(self._columns) == ROWS * COLUMNS or self._winner() is not None

    # Play.

    def player_to_move(self) -> int:
        """The seat whose turn it is, or -1 when the game is over."""
        return -1 if self._over() else len(self._columns) % 2

    def legal_actions(self) -> list[int]:
        """The columns with a free cell, ascending; empty when the game is over."""
        if self._over():
            return []
        return [column for column in range(COLUMNS) if self._columns.count(column) < ROWS]

    def step(self, action: int) -> None:
        """Drop a stone; ValueError if the action is illegal, and then nothing has changed."""
        if action not in self.legal_actions():
            raise ValueError(f"illegal action {action!r}; legal: {self.legal_actions()}")
        self._columns.append(int(action))

    # What is seen.

    def observe(self, player: int) -> tuple[list[int], list[int]]:
        """The board (plane, row from the top, column) in C order, own stones first; there are no features."""
        if player not in (0, 1):
            raise ValueError(f"player must be 0 or 1, got {player!r}")
        stones = self._stones()
        board = [
            int(stones.get((row, column)) == seat)
            for seat in (player, 1 - player)
            for row in reversed(range(ROWS))
            for column in range(COLUMNS)
        ]
        return board, []

    # Points and rewards.

    def scores(self) -> list[int]:
        """One point for the winner."""
        return [int(self._winner() == seat) for seat in range(2)]

    def returns(self, reward: str = "outcome") -> list[float]:
        """1 and -1, or zeros for a draw and while the game is running; the same for both kinds of reward."""
        if reward not in REWARDS:
            raise ValueError(f"reward must be one of {REWARDS}, got {reward!r}")
        winner = self._winner()
        return [0.0 if winner is None else 1.0 if winner == seat else -1.0 for seat in range(2)]

    def copy(self) -> Oracle:
        """The same position again; neither game changes with the other."""
        twin = Oracle()
        twin._columns = self._columns.copy()
        return twin
