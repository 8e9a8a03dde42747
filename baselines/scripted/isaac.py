"""What scripted players of Isaac want.

A survey turns the position into short arrays in the frame of the player to move, from which gains are read and
whole scoring phases are played in about a microsecond. All of it is int64:

pieces (MOST, 4): of each piece its type, its line, and the first and one past the last place that it takes on
    that line. Lines 0 to 9 are rows and 10 to 19 columns. The mover's pieces come first.
where (100,): which piece lies on a cell, or NOBODY.
state (STATE,): what changes in the scoring phase. Side 0 is the mover, side 1 the opponent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from iszoo.envs.isaac import (
    ALONG_ROWS,
    CELLS_OF,
    COUNTS,
    FRAME,
    LONGEST_AT,
    LOWEST,
    OUT,
    OWN,
    PHASE,
    PLACE,
    PLAYER,
    PLAYERS,
    REMOVE,
    SCORE,
    SETS_AT,
    SHARED,
    TARGETS,
    TYPES,
    UNPLAYED,
    VALUES,
    WIN,
)
from iszoo.envs.native import kernel, trailing_zeros

LINES = 20
MOST = PLAYERS * sum(COUNTS)
NOBODY = 62  # a bit that no piece has
KIND, LINE, FIRST, END = range(4)

# state: the pieces with a cell on each line, then per side: a bit set of the pieces left, the cells of the
# longest piece removed, the score, whether it is out.
CROSSED = 0
LEFT = CROSSED + LINES
LONGEST_REMOVED = LEFT + PLAYERS
SCORES = LONGEST_REMOVED + PLAYERS
OUTS = SCORES + PLAYERS
STATE = OUTS + PLAYERS

# greedy: of equal gains it takes that of the shortest piece, and it places every shorter piece before a longer.
TIE = 0.1
SHORT_FIRST = 1000.0

# expert, placing: what a piece adds to the gains of the pieces whose lines it crosses, against its own gain.
# Less than 1, for many of them will have gone before. Of 0, 0.3, 0.5, 0.8 and 1 the middle ones are the best.
ADDED = 0.5
# expert, scoring: how much more a piece of the next type must gain to be removed first in what it imagines, for
# shorter pieces can't be removed any more. Of 0, 2, 3, 5, 10 and 20 the best are 5 and 10.
WAIT = 5
# How many counter targets, from the farthest down, it tries before it removes a piece; afterwards it tries all.
# With 4 it wins 62 % of its games against itself with 1; to try 8, or all, is no better.
TRIED = 4
DECIDES = 100.0  # to win counts more than any lead
WON = 1000.0  # at once, more than by any play


@kernel
def _survey(rows: Any, i: int, params: Any, pieces: Any, where: Any, state: Any) -> int:
    """Writes pieces, where and state, of which see the file's docstring; returns the number of pieces."""
    me = rows[i, PLAYER] & 1
    frame = SETS_AT + FRAME * me
    for c in range(100):
        where[c] = NOBODY
    for k in range(STATE):
        state[k] = 0
    n = 0
    for side in range(PLAYERS):
        seat = me ^ side
        state[LONGEST_REMOVED + side] = rows[i, LONGEST_AT + seat]
        state[SCORES + side] = rows[i, SCORE + seat]
        state[OUTS + side] = (rows[i, OUT] >> seat) & 1
        for group in range(2 * TYPES):
            k, o = group >> 1, group & 1
            for word in range(2):
                cells = rows[i, frame + 2 * (OWN + TYPES * side + k) + word]
                cells &= rows[i, frame + 2 * (ALONG_ROWS + o) + word]
                cells &= rows[i, frame + 2 * LOWEST + word]
                while cells and n < MOST:
                    c = trailing_zeros(cells) + 50 * word
                    cells &= cells - 1
                    pieces[n, KIND] = k
                    _lay(pieces, n, o, c, params[CELLS_OF + k])
                    for cell in range(c, c + params[CELLS_OF + k] * (10 if o else 1), 10 if o else 1):
                        where[cell] = n
                    _count(pieces, n, state, 1)
                    state[LEFT + side] |= 1 << n
                    n += 1
    return n


@kernel
def _lay(pieces: Any, j: int, orientation: int, cell: int, length: int) -> None:
    """Writes the line and the places of a piece with this lowest cell."""
    across, along = (cell // 10, cell % 10)
    if orientation:
        across, along = 10 + along, across
    pieces[j, LINE] = across
    pieces[j, FIRST] = along
    pieces[j, END] = along + length


@kernel
def _slot(pieces: Any, j: int) -> int:
    """The action of the slot that a piece of the mover lies on."""
    line, first = pieces[j, LINE], pieces[j, FIRST]
    if line < 10:
        return 200 * pieces[j, KIND] + 10 * line + first  # type: ignore[no-any-return]
    return 200 * pieces[j, KIND] + 100 + 10 * first + line - 10  # type: ignore[no-any-return]


@kernel
def _count(pieces: Any, j: int, state: Any, by: int) -> None:
    """Adds a piece to the counts of the lines on which it has cells, or with by = -1 takes it off them."""
    line = pieces[j, LINE]
    state[CROSSED + line] += by
    others = CROSSED + (10 if line < 10 else 0)
    for x in range(pieces[j, FIRST], pieces[j, END]):
        state[others + x] += by


@kernel
def _gain(pieces: Any, j: int, state: Any) -> int:
    """What the removal of a piece gains."""
    line = pieces[j, LINE]
    own, other = state[SCORES], 99 - state[SCORES + 1]
    if line < 10:
        doublings = int(own // 10 == line) + int(other // 10 == line)
    else:
        doublings = int(own % 10 == line - 10) + int(other % 10 == line - 10)
    return (VALUES[pieces[j, KIND]] * (state[CROSSED + line] - 1)) << doublings  # type: ignore[no-any-return]


@kernel
def _remove(pieces: Any, j: int, state: Any, side: int) -> None:
    """Takes a piece off."""
    _count(pieces, j, state, -1)
    state[LEFT + side] &= ~(1 << j)
    state[LONGEST_REMOVED + side] = pieces[j, END] - pieces[j, FIRST]


@kernel
def _planned(pieces: Any, where: Any, state: Any, side: int) -> int:
    """The piece that a side is imagined to remove; -1 when it can remove none.

    Short pieces go first, as longer ones can follow them and not the other way; but a great gain is taken.
    """
    if state[OUTS + side]:
        return -1
    under = (1 << where[state[SCORES]]) | (1 << where[99 - state[SCORES + 1]])
    left = state[LEFT + side] & ~under
    best, most = -1, 0
    while left:
        j = trailing_zeros(left)
        left &= left - 1
        if pieces[j, END] - pieces[j, FIRST] < state[LONGEST_REMOVED + side]:
            continue
        worth = _gain(pieces, j, state) - WAIT * pieces[j, KIND]
        if best < 0 or worth > most:
            best, most = j, worth
    return best


@kernel
def _play_out(pieces: Any, where: Any, state: Any, edge: float) -> float:
    """Plays the game to its end by `_planned`, the opponent to move, counters moving as far as they may.

    Uses up the state. Returns the mover's lead, and DECIDES more or less for the winner; edge is the sign of the
    tie-break.
    """
    side = 1
    while not (state[OUTS] and state[OUTS + 1]):
        j = _planned(pieces, where, state, side)
        if j < 0:
            state[OUTS + side] = 1
        else:
            gain = _gain(pieces, j, state)
            _remove(pieces, j, state, side)
            target = state[SCORES + side] + gain
            if target == 99 - state[SCORES + 1 - side]:
                target -= 1
            state[SCORES + side] = target
            if target >= WIN:
                break
        side = 1 - side
    lead = min(state[SCORES], WIN) - min(state[SCORES + 1], WIN)
    if lead == 0:
        return edge * DECIDES
    return lead + (DECIDES if lead > 0 else -DECIDES)  # type: ignore[no-any-return]


@kernel
def _edge(rows: Any, i: int, params: Any) -> float:
    """The tie-break at equal scores, which is settled when all is placed: 1 for the mover, -1 against, 0 shared."""
    me = rows[i, PLAYER] & 1
    longer = 0
    for k in range(TYPES):
        own = (rows[i, UNPLAYED + me] >> (8 * k)) & 255
        other = (rows[i, UNPLAYED + 1 - me] >> (8 * k)) & 255
        longer += (own - other) * (100 * params[CELLS_OF + k] - 1)
    if longer == 0:
        longer = 0 if params[SHARED] else 1 - 2 * me
    return 1.0 if longer > 0 else -1.0 if longer < 0 else 0.0


@kernel(allocates=True)
def _value_placements(
    pieces: Any, n: int, state: Any, i: int, mask: Any, values: Any, params: Any, own: float, other: float
) -> None:
    """Values each placement by the gain of the piece, were it removed as things stand, and by what it adds to
    the gains of pieces along the lines that it crosses: `own` times to the mover's, less `other` times to the
    opponent's."""
    adds = np.zeros(LINES)
    for j in range(n):
        factor = own if (state[LEFT] >> j) & 1 else -other
        adds[pieces[j, LINE]] += factor * VALUES[pieces[j, KIND]]
    # Sums over the first x rows, and from 11 on over the first x columns: then a placement takes one subtraction.
    sums = np.zeros(LINES + 2)
    for x in range(10):
        sums[x + 1] = sums[x] + adds[x]
        sums[x + 12] = sums[x + 11] + adds[x + 10]
    for a in range(TARGETS):
        if mask[i, a]:
            k, o = a // 200, a // 100 % 2
            tens, units = a % 100 // 10, a % 10
            line, first, others = (10 + units, tens, 0) if o else (tens, units, 11)
            worth = VALUES[k] * state[CROSSED + line] + adds[line]
            values[i, a] = worth + sums[others + first + params[CELLS_OF + k]] - sums[others + first]


@kernel(allocates=True)
def greedy(rows: Any, i: int, mask: Any, values: Any, params: Any) -> None:
    """Places its shortest piece, so that the gain less what it adds to the opponent's gains is best right now.

    Then removes the piece with the largest gain and moves the counter as far as it may.
    """
    pieces, where = np.empty((MOST, 4), np.int64), np.empty(100, np.int64)
    state = np.empty(STATE, np.int64)
    n = _survey(rows, i, params, pieces, where, state)
    if rows[i, PHASE] == PLACE:
        _value_placements(pieces, n, state, i, mask, values, params, 0.0, 1.0)
        for a in range(TARGETS):
            values[i, a] -= SHORT_FIRST * (a // 200)
    elif rows[i, PHASE] == REMOVE:
        for j in range(n):
            a = _slot(pieces, j)
            if (state[LEFT] >> j) & 1:
                values[i, a] = _gain(pieces, j, state) - TIE * pieces[j, KIND]
    else:
        for a in range(TARGETS, TARGETS + WIN + 1):
            values[i, a] = a


@kernel
def _value_removal(pieces: Any, where: Any, state: Any, trial: Any, j: int, edge: float) -> float:
    """The best end of the game after the removal of a piece and a move of the counter nearly as far as it may."""
    gain = _gain(pieces, j, state)
    farthest = state[SCORES] + gain
    if farthest >= WIN:
        return WON
    best = -WON
    for target in range(max(state[SCORES], farthest - TRIED + 1), farthest + 1):
        if target != 99 - state[SCORES + 1]:
            for k in range(STATE):
                trial[k] = state[k]
            _remove(pieces, j, trial, 0)
            trial[SCORES] = target
            best = max(best, _play_out(pieces, where, trial, edge))
    return best


@kernel(allocates=True)
def expert(rows: Any, i: int, mask: Any, values: Any, params: Any) -> None:
    """Places where the gains of its own pieces grow most and those of the opponent's least.

    Scoring, it imagines the rest of the game after each removal, or counter target, both sides removing short
    pieces first, and takes the one with the best end. So it sees what blocks and what doubles.
    """
    pieces, where = np.empty((MOST, 4), np.int64), np.empty(100, np.int64)
    state, trial = np.empty(STATE, np.int64), np.empty(STATE, np.int64)
    n = _survey(rows, i, params, pieces, where, state)
    if rows[i, PHASE] == PLACE:
        # Long pieces come first by themselves: their value counts once for every piece on their line.
        _value_placements(pieces, n, state, i, mask, values, params, ADDED, ADDED)
        return
    edge = _edge(rows, i, params)
    if rows[i, PHASE] == REMOVE:
        for j in range(n):
            a = _slot(pieces, j)
            if (state[LEFT] >> j) & 1 and mask[i, a]:
                values[i, a] = _value_removal(pieces, where, state, trial, j, edge)
        return
    for target in range(WIN):
        if mask[i, TARGETS + target]:
            for k in range(STATE):
                trial[k] = state[k]
            trial[SCORES] = target
            values[i, TARGETS + target] = _play_out(pieces, where, trial, edge)
    values[i, TARGETS + WIN] = WON
