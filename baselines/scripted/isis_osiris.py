"""What scripted players of Isis & Osiris want."""

from __future__ import annotations

from typing import Any

import numpy as np

from iszoo.envs.isis_osiris import (
    ALL_CELLS,
    CELLS,
    HAND,
    PLAYER,
    REVEAL,
    STONES_AT,
    STONES_LEFT,
    TILES_AT,
    TILES_LEFT,
    UNSEEN,
    VALUES,
    player_points,
    stock_of,
)
from iszoo.envs.native import kernel, popcount, trailing_zeros
from iszoo.envs.primitives import NUM_PLAYERS

# The cells beside each cell, as a set.
_BESIDE = np.array(
    [
        (c >= 6) << max(c - 6, 0) | (c < 30) << c + 6 | (c % 6 > 0) << max(c - 1, 0) | (c % 6 < 5) << c + 1
        for c in range(CELLS)
    ],
    np.int64,
)


@kernel
def _value_at(rows: Any, i: int, c: int) -> int:
    """The value of the tile on a cell; 0 without one."""
    value = (rows[i, VALUES + (c >> 3)] >> (8 * (c & 7))) & 255
    return value - 256 if value > 127 else value  # type: ignore[no-any-return]


@kernel
def _place(rows: Any, i: int, c: int) -> int:
    """What a stone on a cell scores: the sum of the tiles beside it."""
    tiles = _BESIDE[c] & rows[i, TILES_AT]
    total = 0
    while tiles:
        total += _value_at(rows, i, trailing_zeros(tiles))
        tiles &= tiles - 1
    return total


@kernel
def greedy(rows: Any, i: int, mask: Any, values: Any, params: Any) -> None:
    """The best lead right after the action: own points minus the best other's. To reveal changes nothing."""
    me = rows[i, PLAYER]
    hand = rows[i, HAND]
    for a in range(REVEAL + 1):
        values[i, a] = -np.inf
    for p in range(params[NUM_PLAYERS]):  # first the best other's points after each action
        if p == me:
            continue
        points = player_points(rows, i, p)
        values[i, REVEAL] = max(values[i, REVEAL], points)
        for c in range(CELLS):
            if mask[i, c]:
                after = points + hand * popcount(_BESIDE[c] & rows[i, STONES_AT + p])
                values[i, c] = max(values[i, c], after)
    points = player_points(rows, i, me)
    values[i, REVEAL] = points - values[i, REVEAL]
    for c in range(CELLS):
        if mask[i, c]:
            gain = hand * popcount(_BESIDE[c] & rows[i, STONES_AT + me]) if hand else _place(rows, i, c)
            values[i, c] = points + gain - values[i, c]


# The expert's constants, in points. Tuned in play against itself, earlier experts and `greedy`, on seeds from
# 1,000,000, and rounded.
FILL = 0.5  # the share that it expects of what filling the board at random would bring: players choose
EXPOSURE = 1 / 15  # a way in to an own stone: a free cell beside it, once for each free cell beside that
REVEAL_COST = 0.5  # a tile kept in the stock can wait for a better place; one in hand can't
BEST_RIVAL = 0.5  # what counts of the others' worth is so much their best's, the rest their mean

# What the expert notes before it weighs actions, in two arrays.
# Of each free cell: what a stone there scores; the own stones beside it less the mean of the others' there,
# times the number of others, and that turned round; then, a row for each of these three, the free cells with
# the greatest first; then the free cells beside it; and from _TOUCHING on each player's stones beside it.
_PLACE, _OURS, _THEIRS, _ORDER, _ROOM, _TOUCHING = 0, 1, 2, 3, 6, 7
# Of each player: points, free cells beside a stone, ways in to a stone (see EXPOSURE). Last row: the sums of
# the free cells' _PLACE and _ROOM.
_POINTS, _LIBERTIES, _WAYS_IN, _SUMS = range(4)


@kernel
def _sort(cells: Any, key: int, free: int) -> None:
    """Lists the free cells, the greatest key first."""
    count = 0
    while free:
        c = trailing_zeros(free)
        free &= free - 1
        k = count
        while k > 0 and cells[key, cells[_ORDER + key, k - 1]] < cells[key, c]:
            cells[_ORDER + key, k] = cells[_ORDER + key, k - 1]
            k -= 1
        cells[_ORDER + key, k] = c
        count += 1


@kernel
def _survey(rows: Any, i: int, free: int, cells: Any, players: Any, params: Any) -> None:
    """Fills in the notes, which begin as zeros."""
    others = params[NUM_PLAYERS] - 1
    for p in range(others + 1):
        players[_POINTS, p] = player_points(rows, i, p)
    rest = free
    while rest:
        c = trailing_zeros(rest)
        rest &= rest - 1
        cells[_PLACE, c] = _place(rows, i, c)
        cells[_ROOM, c] = popcount(_BESIDE[c] & free)
        players[_SUMS, 0] += cells[_PLACE, c]
        players[_SUMS, 1] += cells[_ROOM, c]
        for p in range(others + 1):
            touching = popcount(_BESIDE[c] & rows[i, STONES_AT + p])
            cells[_TOUCHING + p, c] = touching
            cells[_OURS, c] += touching * (others if p == rows[i, PLAYER] else -1)
            players[_LIBERTIES, p] += touching
            players[_WAYS_IN, p] += touching * cells[_ROOM, c]
        cells[_THEIRS, c] = -cells[_OURS, c]
    for key in range(_ORDER):
        _sort(cells, key, free)


@kernel
def _hopes(unseen: int) -> tuple[float, float]:
    """The means of max(value, 0) and of max(-value, 0) of the next tile, from the counts not yet seen."""
    count, good, bad = 0, 0, 0
    for k in range(4):
        below, above = (unseen >> (8 * k)) & 255, (unseen >> (8 * k + 32)) & 255
        count += below + above
        bad += (4 - k) * below
        good += (k + 1) * above
    return good / max(count, 1), bad / max(count, 1)


@kernel
def _best(cells: Any, key: int, count: int, changed: int) -> int:
    """The greatest key of the free cells (so many) that are not among the changed; -100 without one."""
    for k in range(count):
        c = cells[_ORDER + key, k]
        if not (changed >> c) & 1:
            return cells[key, c]  # type: ignore[no-any-return]
    return -100


@kernel
def _reply(rows: Any, i: int, c: int, free: int, good: float, bad: float, cells: Any, params: Any) -> float:
    """What the next player's best reply is worth, after the tile in hand or a stone was put on cell c.

    The reply is a stone on the best place, or the next tile: a good one where the others have the most stones
    more beside it than the mover, a bad one where the mover has.
    """
    hand = rows[i, HAND]
    others = params[NUM_PLAYERS] - 1
    near = _BESIDE[c] & free
    count = popcount(free)
    place = _best(cells, _PLACE, count, near | 1 << c)
    ours = _best(cells, _OURS, count, near | 1 << c)
    theirs = _best(cells, _THEIRS, count, near | 1 << c)
    while near:
        q = trailing_zeros(near)
        near &= near - 1
        balance = cells[_OURS, q] + (0 if hand else others)
        place = max(place, cells[_PLACE, q] + hand)
        ours, theirs = max(ours, balance), max(theirs, -balance)
    player = rows[i, PLAYER] + 1 if rows[i, PLAYER] < others else 0
    stone, tile = float(place), (good * theirs + bad * ours) / others - REVEAL_COST
    if rows[i, stock_of(rows, i, player, params)] == 0:
        return stone if rows[i, STONES_LEFT + player] > 0 else 0.0
    return max(stone, tile) if rows[i, STONES_LEFT + player] > 0 else tile  # type: ignore[no-any-return]


@kernel
def _prospect(
    rows: Any, i: int, c: int, free: int, good: float, bad: float, cells: Any, players: Any, params: Any
) -> float:
    """How good the position is for the mover after the tile in hand, or else a stone, was put on free cell c.

    That is the mover's worth less the others', less the best reply. A player's worth is its points, and a
    share of what it would gain if all that is left were put at random on the cells that are left, less a
    little for each way in to its stones.
    """
    me, hand = rows[i, PLAYER], rows[i, HAND]
    near, room = _BESIDE[c] & free, cells[_ROOM, c]
    left = popcount(free) - 1
    stones, tiles = 0 if hand else -1, 0
    for p in range(params[NUM_PLAYERS]):
        stones += rows[i, STONES_LEFT + p]
        tiles += rows[i, TILES_LEFT + p]
    # What to expect of a free cell: of a tile that may come there; of a stone, by the tiles now and to come.
    tile = (good - bad) * tiles / max(stones + tiles, 1)
    place = (players[_SUMS, 0] - cells[_PLACE, c] + hand * room) / max(left, 1)
    place += (players[_SUMS, 1] - 2 * room) / max(left, 1) * tile

    mine, best, total = 0.0, -np.inf, 0.0
    for p in range(params[NUM_PLAYERS]):
        touching = cells[_TOUCHING + p, c]
        points = players[_POINTS, p] + hand * touching
        liberties = players[_LIBERTIES, p] - touching
        ways_in = players[_WAYS_IN, p] - touching * room
        to_come = rows[i, STONES_LEFT + p]
        placed = p == me and hand == 0
        if placed:
            points += cells[_PLACE, c]
            liberties += room
            to_come -= 1
        rest = near
        while rest:
            q = trailing_zeros(rest)
            rest &= rest - 1
            ways_in += (cells[_ROOM, q] - 1 if placed else 0) - cells[_TOUCHING + p, q]
        worth = points + FILL * (tile * liberties + place * to_come) - EXPOSURE * ways_in
        if p == me:
            mine = worth
        else:
            best = max(best, worth)
            total += worth
    lead = mine - BEST_RIVAL * best - (1 - BEST_RIVAL) * total / (params[NUM_PLAYERS] - 1)
    return lead - _reply(rows, i, c, free, good, bad, cells, params) if left else lead  # type: ignore[no-any-return]


@kernel(allocates=True)
def expert(rows: Any, i: int, mask: Any, values: Any, params: Any) -> None:
    """What the position is worth after the action; to reveal, the mean over the tiles that nobody has seen.

    A revealed tile counts as on its best cell. See `_prospect`: points, so negatives beside rivals;
    stones held back for good places; cells filled up beside own stones, as shields; and the best reply.
    """
    free = ALL_CELLS & ~rows[i, TILES_AT]
    for p in range(params[NUM_PLAYERS]):
        free &= ~rows[i, STONES_AT + p]
    cells = np.zeros((_TOUCHING + 4, CELLS), np.int64)
    players = np.zeros((_SUMS + 1, 4), np.int64)
    _survey(rows, i, free, cells, players, params)
    good, bad = _hopes(rows[i, UNSEEN])
    for c in range(CELLS):
        if mask[i, c]:
            values[i, c] = _prospect(rows, i, c, free, good, bad, cells, players, params)
    if mask[i, REVEAL] == 0:
        return
    stock = stock_of(rows, i, rows[i, PLAYER], params)
    unseen = rows[i, UNSEEN]
    rows[i, stock] -= 1
    total, tiles = 0.0, 0
    for k in range(8):
        count = (unseen >> (8 * k)) & 255
        if count == 0:
            continue
        rows[i, HAND] = k - 4 if k < 4 else k - 3
        rows[i, UNSEEN] = unseen - (1 << (8 * k))
        good, bad = _hopes(rows[i, UNSEEN])
        best = -np.inf
        rest = free
        while rest:
            c = trailing_zeros(rest)
            best = max(best, _prospect(rows, i, c, free, good, bad, cells, players, params))
            rest &= rest - 1
        total += count * best
        tiles += count
    values[i, REVEAL] = total / tiles - REVEAL_COST
    rows[i, HAND], rows[i, UNSEEN] = 0, unseen
    rows[i, stock] += 1
