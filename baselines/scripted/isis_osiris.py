"""What scripted players of Isis & Osiris want."""

from __future__ import annotations

from typing import Any

import numpy as np

from iszoo.envs.isis_osiris import (
    CELLS,
    HAND,
    PLAYER,
    REVEAL,
    STONES_AT,
    STONES_LEFT,
    TILES_AT,
    UNSEEN,
    VALUES,
    player_points,
    stock_of,
)
from iszoo.envs.native import kernel, popcount
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


# What the expert adds to the lead, per unit; those marked * are for a full board's worth of free cells and fade with
# it. Found by evolution (CMA-ES) against itself and `greedy` on seeds from 1,000,000.
LEAD = 0.93  # * the lead is worth more while there is time to defend it
OPENNESS, OPENNESS_EARLY = 0.25, 1.28  # free cells beside own stones, times the mean value not yet seen (* the second)
STONES, STONES_EARLY = -0.41, 0.42  # stones held back, more than the rival's
REPLY = 1.24  # what the rival's best reply would gain
NEXT_TILE = 0.53  # what the next tile is worth on its best cell
REVEAL_COST = 0.93  # a revealed tile may be one that nobody wants


# The cells beside each cell, as a set.
_BESIDE = np.array(
    [
        sum(1 << n for n in (c - 6, c + 6, c - (1 if c % 6 else 99), c + (1 if c % 6 < 5 else 99)) if 0 <= n < CELLS)
        for c in range(CELLS)
    ],
    np.int64,
)


@kernel
def _rival(rows: Any, i: int, params: Any) -> int:
    """The best other player as the points stand."""
    rival, best = -1, -1000
    for p in range(params[NUM_PLAYERS]):
        points = player_points(rows, i, p)
        if p != rows[i, PLAYER] and points > best:
            rival, best = p, points
    return rival


@kernel
def _prospect(rows: Any, i: int, c: int, hand: int, rival: int, lead: int, sums: Any, params: Any) -> float:
    """How good the position is for the mover after `hand` (a tile's value, or 0 for a stone) is put on cell c.

    lead: own points minus the rival's before; sums: for each cell the values beside it.
    """
    me = rows[i, PLAYER]
    mine, theirs, taken = rows[i, STONES_AT + me], rows[i, STONES_AT + rival], rows[i, TILES_AT] | 1 << c
    for p in range(params[NUM_PLAYERS]):
        taken |= rows[i, STONES_AT + p]
    around = _BESIDE[c]
    stones = rows[i, STONES_LEFT + me] - rows[i, STONES_LEFT + rival]
    if hand == 0:
        mine |= 1 << c
        stones -= 1
        lead += sums[c]
    else:
        lead += hand * (popcount(around & mine) - popcount(around & theirs))
    # Over the free cells: how open both sides' stones lie, the best place for a stone, for a good and a bad tile.
    open_cells, free = 0, 0
    spot, good, bad = -1000, -4, -4
    for q in range(CELLS):
        if (taken >> q) & 1:
            continue
        free += 1
        near = _BESIDE[q]
        balance = popcount(near & mine) - popcount(near & theirs)
        open_cells += balance
        good, bad = max(good, balance), max(bad, -balance)
        spot = max(spot, sums[q] + hand * ((near >> c) & 1))
    if free == 0:
        return float(lead)
    unseen, positive, negative = 0, 0, 0
    for k in range(8):
        count = (rows[i, UNSEEN] >> (8 * k)) & 255
        value = k - 4 if k < 4 else k - 3
        unseen += count
        positive += max(value, 0) * count
        negative += max(-value, 0) * count
    unseen = max(unseen, 1)
    early = free / CELLS
    reply = 0.0
    if rows[i, STONES_LEFT + rival] > 0:
        reply = max(reply, float(spot))
    if rows[i, stock_of(rows, i, rival, params)] > 0:
        reply = max(reply, (positive * bad + negative * good) / unseen)
    return float(
        lead * (1 + LEAD * early)
        + (positive - negative) / unseen * open_cells * (OPENNESS + OPENNESS_EARLY * early)
        + stones * (STONES + STONES_EARLY * early)
        - REPLY * reply
        + NEXT_TILE * (positive * good + negative * bad) / unseen
    )


@kernel(allocates=True)
def expert(rows: Any, i: int, mask: Any, values: Any, params: Any) -> None:
    """The prospect after the action, and of a revealed tile the mean over what it may be, each on its best cell.

    What experienced players say is in its terms: negatives beside rivals and own stones as shields (openness, the
    reply), stones held back, and the count of tiles not yet seen.
    """
    rival = _rival(rows, i, params)
    lead = player_points(rows, i, rows[i, PLAYER]) - player_points(rows, i, rival)
    sums = np.zeros(CELLS, np.int64)
    for c in range(CELLS):
        if (rows[i, TILES_AT] >> c) & 1:
            value = _value_at(rows, i, c)
            for k in range(4):
                n = _neighbour(c, k)
                if n >= 0:
                    sums[n] += value
    taken = rows[i, TILES_AT]
    for p in range(params[NUM_PLAYERS]):
        taken |= rows[i, STONES_AT + p]
    for c in range(CELLS):
        if mask[i, c]:
            values[i, c] = _prospect(rows, i, c, rows[i, HAND], rival, lead, sums, params)
    if mask[i, REVEAL]:
        total, unseen = 0.0, 0
        for k in range(8):
            count = (rows[i, UNSEEN] >> (8 * k)) & 255
            if count == 0:
                continue
            best = -np.inf
            for c in range(CELLS):
                if not (taken >> c) & 1:
                    best = max(best, _prospect(rows, i, c, k - 4 if k < 4 else k - 3, rival, lead, sums, params))
            total += count * best
            unseen += count
        values[i, REVEAL] = total / unseen - REVEAL_COST
