"""What a drawing is made from: a position, and what the kernels say of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from iszoo.envs import engine
from iszoo.envs.game import Game, Rows
from iszoo.envs.primitives import NUM_PLAYERS, OFFENDER


class Position:
    """A position of a game, to be drawn.

    Attributes:
        game: the game.
        options: all its options.
        row: int64 (S,), a copy.
        fields: the same as a record of `game.row`.
        seat: who looks at it, or None for somebody who sees all.
        last: the action that was played last, or None.
        num_players: how many play.
        player: the seat to move; -1 when the game is over.
        legal: the ids of the legal actions, ascending.
        scores: the points of each player.
        shares: by action, what part of an overlay's weight it has; empty without an overlay.

    Raises ValueError for what doesn't fit the game.
    """

    def __init__(
        self,
        game: Game,
        row: Any,
        options: Mapping[str, Any],
        seat: int | None = None,
        last: int | None = None,
        overlay: Mapping[int, float] | None = None,
    ) -> None:
        self.game = game
        self.options = game.resolve(options)
        self.params = game.params(self.options)
        self.num_players = int(self.params[NUM_PLAYERS])
        self.row: Rows = np.array(row, np.int64)
        if self.row.shape != (game.row_size,):
            raise ValueError(f"a position of {game.name} is a row of shape ({game.row_size},), not {self.row.shape}")
        self.fields = self.row.view(game.row)[0]
        self.seat = None if seat is None else _whole("seat", seat, self.num_players)
        self.last = None if last is None else _whole("last", last, game.num_actions)
        self._rows = self.row[None]
        self.player = int(engine.to_move(game.table, self._rows, 0, self.params))
        mask = np.zeros((1, game.num_actions), np.int8)
        engine.write_mask(game.table, self._rows, 0, mask, self.params)
        self.legal: list[int] = mask[0].nonzero()[0].tolist()
        self.shares = self._shares(overlay or {})

    def _shares(self, overlay: Mapping[int, float]) -> dict[int, float]:
        legal = set(self.legal)
        weights = {}
        for action, weight in overlay.items():
            if action not in legal:
                raise ValueError(f"overlay: action {action} is not legal here")
            if not math.isfinite(weight) or weight < 0:
                raise ValueError(f"overlay: a weight is 0 or more, not {weight!r} (action {action})")
            weights[int(action)] = float(weight)
        total = sum(weights.values())
        return {action: weights[action] / total for action in sorted(weights) if weights[action] > 0}

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return self.player < 0

    @property
    def offender(self) -> int | None:
        """The seat whose illegal action ended the game, if one did."""
        return int(self.row[OFFENDER]) - 1 if self.row[OFFENDER] else None

    @cached_property
    def scores(self) -> list[int]:
        """The points of each player as they stand."""
        out = np.zeros((1, self.num_players), np.int64)
        nothing = np.zeros(1, np.bool_)
        engine.scores_batch(self.game.table, self._rows, self._rows, nothing, out, self.params)
        return out[0].tolist()  # type: ignore[no-any-return]

    @cached_property
    def winners(self) -> list[int]:
        """The seats with the best reward; empty while the game runs."""
        if not self.over:
            return []
        out = np.zeros((1, self.num_players))
        engine.write_returns(self.game.table, self._rows, 0, out, self.params)
        return np.flatnonzero(out[0] == out[0].max()).tolist()

    @property
    def top_shares(self) -> list[tuple[int, float]]:
        """The overlay, greatest share first."""
        return sorted(self.shares.items(), key=lambda pair: (-pair[1], pair[0]))


def _whole(name: str, value: Any, bound: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < bound:
        raise ValueError(f"{name}={value!r} is not allowed; it is None or 0 to {bound - 1}")
    return int(value)
