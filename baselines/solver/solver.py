"""Exact values of a position and of each of its legal actions, see the package."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.baselines import scripted
from iszoo.baselines.ladder import has_common_result
from iszoo.baselines.solver import tree
from iszoo.baselines.solver.endings import ending_of
from iszoo.envs import engine, native
from iszoo.envs.game import Game
from iszoo.envs.primitives import GENERATOR, NUM_PLAYERS
from iszoo.record import Position, Record, game_of, replay

DEFAULT_NODES = 20_000_000
"""The budget of a solve: positions visited."""

MOST_ENTRIES = 1 << 20
"""Of the table of transpositions, 60 to 100 bytes each."""

_TRIED_IN_ORDER: Mapping[str, str] = {"isaac": "greedy", "iso": "greedy"}
"""Game -> the scripted agent in whose order actions are tried by default: where that was measured to be faster."""


class Unsolved(ValueError):
    """A position that was not solved within its budget of nodes, or can't be."""


@dataclass(frozen=True)
class Solution:
    """The exact values of a position, with best play of both sides.

    What is compared is the outcome first, then the margin: among actions of the same expected outcome reward, the one
    of the greater expected margin. Both are expectations where there is chance.
    """

    player: int  #: the seat to move
    actions: npt.NDArray[np.int64]  #: (n,): the legal actions, ascending
    outcome: npt.NDArray[np.float64]  #: (n, P): the outcome reward of each seat after each action
    margin: npt.NDArray[np.float64]  #: (n, P): own points less the other's; with a common result, the points
    exact: tuple[tuple[int, int], ...]  #: of each action (outcome, margin) of seat 0, whole numbers, times `orders`
    orders: int  #: of what chance may still do; 1 without chance
    best: tuple[int, ...]  #: the actions that are as good as any
    nodes: int  #: positions visited
    seconds: float

    @classmethod
    def of(
        cls, player: int, actions: npt.NDArray[np.int64], exact: tuple[tuple[int, int], ...], orders: int, nodes: int,
        seconds: float = 0.0, num_players: int = 2, common: bool = False,
    ) -> Solution:  # fmt: skip
        """All the rest from the exact values of the actions."""
        seats = np.array([1.0] + [1.0 if common else -1.0] * (num_players - 1))
        outcome, margin = (np.array([value[k] / orders for value in exact])[:, None] * seats for k in range(2))
        greatest = max(exact) if player == 0 or common else min(exact)
        best = tuple(int(action) for action, value in zip(actions, exact, strict=True) if value == greatest)
        return cls(player, actions, outcome, margin, exact, orders, best, nodes, seconds)

    @property
    def value(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Outcome and margin of each seat (P,) with best play."""
        k = self._place(self.best[0])
        return self.outcome[k], self.margin[k]

    def loss(self, action: int) -> tuple[float, float]:
        """What the mover gives away by an action: expected outcome reward and expected margin.

        The margin may be negative where the outcome is not: more points for a worse result.
        """
        k = self._place(action)
        outcome, margin = self.value
        return (
            float(outcome[self.player] - self.outcome[k, self.player]),
            float(margin[self.player] - self.margin[k, self.player]),
        )

    def keeps(self, action: int) -> bool:
        """Whether no action has a better expected outcome reward, whatever the margin."""
        return self.exact[self._place(action)][0] == self.exact[self._place(self.best[0])][0]

    def _place(self, action: int) -> int:
        found = np.flatnonzero(self.actions == action)
        if len(found) != 1:
            raise ValueError(f"{action} is not legal there")
        return int(found[0])

    @property
    def decided(self) -> bool:
        """Whether all legal actions are equally good."""
        return len(self.best) == len(self.actions)


class Solver:
    """Solves positions of a game with given options.

    Args:
        game: the game, with one player or two.
        options: its options.
        entries: of the table of transpositions, a power of two; 0: without.
        order: the scripted agent in whose order actions are tried; "": by their ids.

    Raises ValueError for a game, options or arguments that are not allowed.
    """

    def __init__(
        self,
        game: Game,
        options: Mapping[str, Any] | None = None,
        *,
        entries: int = MOST_ENTRIES,
        order: str | None = None,
    ) -> None:
        self.game, self.options = game, game.resolve(options or {})
        self.params = game.params(self.options)
        players = int(self.params[NUM_PLAYERS])
        if players > 2:
            raise ValueError(f"{game.name} with {players} players can't be solved: an exact value is of one or two")
        if entries < 0 or entries == 1 or entries & (entries - 1):
            raise ValueError(f"entries={entries} is not allowed; it is 0 or a power of two from 2")
        self.ending = ending_of(game)
        self.num_players, self.common = players, has_common_result(game, self.options)
        name = _TRIED_IN_ORDER.get(game.name, "") if order is None else order
        known = scripted.SCRIPTED.get(game.name, {})
        if name and name not in known:
            raise ValueError(f"order={name!r} is not allowed; {game.name} has {', '.join(map(repr, known)) or 'none'}")
        words = self.ending.key_words or game.row_size
        plies = game.max_game_length + 2
        self._ending_table = self.ending.table()
        self._rows = np.zeros((plies, game.row_size), np.int64)
        self._entries = np.zeros((max(entries, 2), tree.KEY_AT + words), np.int64)
        self._settings = np.zeros(tree.NUM_SETTINGS, np.int64)
        self._settings[tree.COMMON] = self.common
        self._settings[tree.TABLE_MASK] = max(entries - 1, 0)
        self._settings[tree.ORDERED] = bool(name)
        self._masks = np.zeros((plies, game.num_actions), np.int8)
        self._arrays = (
            game.table, self._ending_table, scripted.bind(known[name]) if name else game.table,
            self._rows, self._masks, np.zeros((plies, game.num_actions), np.int64),
            np.zeros((plies if name else 1, game.num_actions)), np.zeros((plies, words + 1), np.int64), self._entries,
            np.zeros((plies, players)), np.zeros((plies, 2), np.int64), self._settings, self.params,
        )  # fmt: skip
        self._work = native.bundle(*self._arrays)

    def solve(self, row: npt.NDArray[np.int64], nodes: int = DEFAULT_NODES) -> Solution:
        """The exact value of each legal action.

        Args:
            row: int64 (S,), the position; not changed.
            nodes: the budget, in positions visited.

        Raises:
            ValueError: the game is over there, or its budget is not allowed.
            Unsolved: not within this budget, or a position that is too large whatever the budget.
        """
        if nodes < 1:
            raise ValueError(f"nodes={nodes} is not allowed; it is a whole number from 1")
        began = time.perf_counter()
        game, rows, params, settings = self.game, self._rows, self.params, self._settings
        rows[0] = row
        rows[0, GENERATOR] = 0
        player = int(engine.to_move(game.table, rows, 0, params))
        if player < 0:
            raise ValueError("the game is over: there is nothing to solve")
        why = self.ending.check(rows[0], params)
        if why:
            raise Unsolved(f"{game.name} can't be solved here: {why}")
        settings[tree.NODES], settings[tree.LIMIT] = 1, nodes
        settings[tree.SOLVE] += 1
        engine.write_mask(game.table, rows, 0, self._masks, params)
        actions = np.flatnonzero(self._masks[0])
        orders = int(tree.orders_of(self._ending_table, rows, 0, params))
        exact: list[int] = []
        for action in actions:
            exact.append(self._after(int(action), exact[-1] if exact else None))
        seconds = time.perf_counter() - began
        parts = tuple(_parts(value) for value in exact)
        return Solution.of(
            player, actions, parts, orders, int(settings[tree.NODES]), seconds, self.num_players, self.common
        )

    def _after(self, action: int, guess: int | None) -> int:
        """The value of an action at the root. A good guess of it, such as that of another action, saves time."""
        game, settings = self.game, self._settings
        outcomes = int(tree.chances_of(self._ending_table, self._rows, 0, action, self.params))
        total = 0
        for outcome in range(outcomes):
            weight = int(tree.advance(game.table, self._ending_table, self._rows, 0, action, outcome, self.params))
            if weight:
                total += weight * self._child(guess if outcomes == 1 else None)
            if settings[tree.NODES] > settings[tree.LIMIT]:
                limit = int(settings[tree.LIMIT])
                raise Unsolved(f"{game.name}: not solved within {limit:,} nodes (positions visited)")
        return total

    def _child(self, guess: int | None) -> int:
        """The value of the position after the root's action: within a narrow window first, if there is a guess."""
        low, high = -tree.INFINITE, tree.INFINITE
        if guess is not None:
            found = int(tree.value_of(self._work, 1, guess - 1, guess + 1))
            if found == guess or self._settings[tree.NODES] > self._settings[tree.LIMIT]:
                return found
            low, high = (guess, high) if found > guess else (low, guess)
        return int(tree.value_of(self._work, 1, low, high))

    def left(self, row: npt.NDArray[np.int64]) -> int:
        """How much is left to play at a position, in `ending.unit`."""
        return self.ending.left(row, self.params)


def position_of(found: Record, ply: int) -> Position:
    """The position after so many actions of a recorded game, which is played again and checked.

    Raises ValueError for a ply that the record doesn't have or at which nothing is to be decided, RecordError for a
    record that is not what the rules say.
    """
    positions = replay(found)
    if not 0 <= ply < len(positions):
        raise ValueError(f"ply {ply} is out of range: the game has plies 0 to {len(positions) - 1}")
    if positions[ply].player < 0:
        raise ValueError(f"ply {ply}: the game is over there; its last decision is at ply {ply - 1}")
    return positions[ply]


def solve_record(found: Record, ply: int, nodes: int = DEFAULT_NODES) -> Solution:
    """Solves the position after so many actions of a recorded game. Raises as `position_of` and `Solver.solve` do."""
    return Solver(game_of(found), found.options).solve(position_of(found, ply).row, nodes)


def _parts(value: int) -> tuple[int, int]:
    """The outcome and the margin in a value."""
    outcome = (value + tree.OUTCOME_WEIGHT // 2) // tree.OUTCOME_WEIGHT
    return outcome, value - outcome * tree.OUTCOME_WEIGHT
