"""What scripted players of Isis & Osiris want."""

from __future__ import annotations

from typing import Any

from iszoo.envs.isis_osiris import (
    CELLS,
    HAND,
    PLAYER,
    REVEAL,
    STONES_AT,
    VALUES,
    player_points,
)
from iszoo.envs.native import kernel
from iszoo.envs.primitives import NUM_PLAYERS


@kernel
def _value_at(rows: Any, i: int, c: int) -> int:
    """The value of the tile on a cell; 0 without one."""
    value = (rows[i, VALUES + (c >> 3)] >> (8 * (c & 7))) & 255
    return value - 256 if value > 127 else value  # type: ignore[no-any-return]


@kernel
def _neighbour(c: int, k: int) -> int:
    """The k-th of a cell's four neighbours, or -1 over the edge."""
    if k == 0:
        return c - 6 if c >= 6 else -1
    if k == 1:
        return c + 6 if c < 30 else -1
    if k == 2:
        return c - 1 if c % 6 > 0 else -1
    return c + 1 if c % 6 < 5 else -1


@kernel
def _lead_after(rows: Any, i: int, c: int, params: Any) -> int:
    """Own points minus the best other's, were the tile in hand, or else an own stone, put on a cell."""
    me = rows[i, PLAYER]
    hand = rows[i, HAND]
    mine, best = 0, -1000
    for p in range(params[NUM_PLAYERS]):
        total = player_points(rows, i, p)
        for k in range(4):
            n = _neighbour(c, k)
            if n >= 0:
                if hand != 0:
                    total += hand * ((rows[i, STONES_AT + p] >> n) & 1)
                elif p == me:
                    total += _value_at(rows, i, n)
        if p == me:
            mine = total
        else:
            best = max(best, total)
    return mine - best


@kernel
def greedy(rows: Any, i: int, mask: Any, values: Any, params: Any) -> None:
    """The best lead right after the action: own points minus the best other's. To reveal changes nothing."""
    me = rows[i, PLAYER]
    best = -1000
    for p in range(params[NUM_PLAYERS]):
        if p != me:
            best = max(best, player_points(rows, i, p))
    values[i, REVEAL] = player_points(rows, i, me) - best
    for c in range(CELLS):
        if mask[i, c]:
            values[i, c] = _lead_after(rows, i, c, params)


expert = greedy
