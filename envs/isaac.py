"""Isaac (Emiliano "Wentu" Venturini): the rules, as kernels. Two players, no chance, nothing hidden.

Source: the published rulebook; where it is silent the rulings are ours, and the docs page lists them.

A player's frame counts cells as 10 * tens + units from the left end of the line in front of that player;
cell c of one frame is cell 99 - c of the other. A set of cells is two int64 words of fifty cells each, bit
c % 50 of word c // 50, so that no row of the board lies in both words. Every set is kept in both frames:
then whoever acts or observes is read without a turn of the board, and a move costs two sets of writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from iszoo.envs.game import Bounds, Game, Kernels, Option, Options, Rows, words
from iszoo.envs.native import kernel, popcount, spread64, store8, trailing_zeros
from iszoo.envs.primitives import (
    GENERATOR,
    MARGIN,
    PARAMS_HEAD,
    REWARD,
    ROW_HEAD,
    margin,
    mix,
    outcome,
    start_generator,
)

PLAYERS = 2
DARK = 0
TYPES = 5
COUNTS = (5, 4, 3, 2, 1)  # pieces of each type
VALUES = (1, 2, 3, 4, 6)
LENGTHS = {"standard": (3, 4, 5, 6, 7), "table": (1, 2, 3, 4, 6)}  # cells of each type, ascending
LONGEST = 7
TARGETS = 1000  # the id of counter target 0
WIN = 100  # the score that wins; TARGETS + WIN is "100 or more"
MARGIN_SCALE = 100

# Phases, as the features list them.
PLACE, REMOVE, COUNTER = range(3)

# The thirteen sets of a frame, in the order of the observed planes.
OWN, OTHER, ALONG_ROWS, ALONG_COLUMNS, LOWEST = 0, TYPES, 2 * TYPES, 2 * TYPES + 1, 2 * TYPES + 2
SETS = LOWEST + 1

ROW = np.dtype(
    [
        *ROW_HEAD,
        ("player", "<i8"),  # seat to move, -1 when the game is over
        ("phase", "<i8"),
        ("gain", "<i8"),  # waiting to be moved; 0 outside phase COUNTER
        ("unplayed", "<i8", (PLAYERS,)),  # counts of the unplayed pieces, a byte a type
        ("longest", "<i8", (PLAYERS,)),  # cells of the longest piece removed, 0 for none
        ("score", "<i8", (PLAYERS,)),
        ("out", "<i8"),  # bit p: player p is out
        ("sets", "<i8", (PLAYERS, SETS, 2)),  # frame, set (own pieces are those of the frame's player), word
    ]
)

PLAYER, PHASE, GAIN, UNPLAYED, LONGEST_AT, SCORE, OUT, SETS_AT = words(
    ROW, "player", "phase", "gain", "unplayed", "longest", "score", "out", "sets"
)
ROW_SIZE = ROW.itemsize // 8
FRAME = 2 * SETS  # words of a frame

# Parameters, after the head that every game has.
SHARED = PARAMS_HEAD
CELLS_OF = SHARED + 1  # cells of a piece of each type
SHAPES = CELLS_OF + TYPES  # per 2 * type + orientation: the cells of a piece whose lowest cell is 0

BOARD_SIZE = (SETS + 2) * 100
COUNTERS_AT = SETS * 100
# All cells of a word. `spread64` writes fourteen zeros after them, so that words are spread in ascending
# order, and what follows the last of them is written later.
FULL = (1 << 50) - 1
ROW_OF_CELLS = (1 << 10) - 1
COLUMN_OF_CELLS = FULL // ROW_OF_CELLS  # bits 0, 10, .. 40
NOT_LAST_OF_ROW = FULL & ~(COLUMN_OF_CELLS << 9)


@kernel
def _low(cells: int, at: int) -> int:
    """The word of cells 0 to 49 of a set that was moved up by `at` cells."""
    return (cells << at) & FULL if at < 50 else 0


@kernel
def _high(cells: int, at: int) -> int:
    """The word of cells 50 to 99 of a set that was moved up by `at` cells."""
    return cells >> (50 - at) if at < 50 else cells << (at - 50)


@kernel
def init(rows: Any, i: int, seed: int, deal: Any, params: Any) -> None:
    start_generator(rows, i, seed)
    for k in range(PLAYER, ROW_SIZE):
        rows[i, k] = 0
    for p in range(PLAYERS):
        for k in range(TYPES):
            rows[i, UNPLAYED + p] |= COUNTS[k] << (8 * k)


@kernel
def status(rows: Any, i: int, params: Any) -> int:
    return rows[i, PLAYER]  # type: ignore[no-any-return]


@kernel
def _free(rows: Any, i: int, player: int) -> tuple[int, int]:
    """The free cells, in a player's frame."""
    at = SETS_AT + FRAME * player + 2 * ALONG_ROWS  # those along columns follow
    low = FULL & ~(rows[i, at] | rows[i, at + 2])
    high = FULL & ~(rows[i, at + 1] | rows[i, at + 3])
    return low, high


@kernel
def _longer(
    free_low: int, free_high: int, row_low: int, row_high: int, column_low: int, column_high: int
) -> tuple[int, int, int, int]:
    """From which cells n + 1 are free in a line, along rows and along columns, given from which n are.

    Those that are free, and from whose next cell n are free: a few shifts find all places of a piece.
    """
    return (
        free_low & NOT_LAST_OF_ROW & (row_low >> 1),
        free_high & NOT_LAST_OF_ROW & (row_high >> 1),
        free_low & ((column_low >> 10) | (column_high << 40)),
        free_high & (column_high >> 10),
    )


@kernel(inline=True)
def _legal_placements(rows: Any, i: int, player: int, mask: Any, params: Any) -> int:
    """Writes the mask of phase PLACE."""
    unplayed = rows[i, UNPLAYED + player]
    low, high = _free(rows, i, player)
    row_low, row_high, column_low, column_high = low, high, low, high
    count = 0
    n = 1
    for k in range(TYPES):
        while n < params[CELLS_OF + k]:
            row_low, row_high, column_low, column_high = _longer(low, high, row_low, row_high, column_low, column_high)
            n += 1
        have = -int((unplayed >> (8 * k)) & 255 != 0)
        spread64(mask, i, 200 * k, row_low & have)
        spread64(mask, i, 200 * k + 50, row_high & have)
        spread64(mask, i, 200 * k + 100, column_low & have)
        spread64(mask, i, 200 * k + 150, column_high & have)
        count += popcount(row_low & have) + popcount(row_high & have)
        count += popcount(column_low & have) + popcount(column_high & have)
    for a in range(TARGETS, TARGETS + WIN + 1):
        mask[i, a] = 0
    return count


@kernel(inline=True)
def _can_place(rows: Any, i: int, player: int, params: Any) -> bool:
    """Whether the shortest piece that a player has left finds room; all others need more."""
    unplayed = rows[i, UNPLAYED + player]
    if unplayed == 0:
        return False
    low, high = _free(rows, i, DARK)
    row_low, row_high, column_low, column_high = low, high, low, high
    for _ in range(1, params[CELLS_OF + (trailing_zeros(unplayed) >> 3)]):
        row_low, row_high, column_low, column_high = _longer(low, high, row_low, row_high, column_low, column_high)
    return (row_low | row_high | column_low | column_high) != 0


@kernel
def _counters(rows: Any, i: int, player: int) -> tuple[int, int]:
    """The cells of both counters, in a player's frame."""
    own, other = rows[i, SCORE + player], 99 - rows[i, SCORE + 1 - player]
    return _low(1, own) | _low(1, other), _high(1, own) | _high(1, other)


@kernel
def _under_counters(rows: Any, i: int, player: int) -> tuple[int, int]:
    """The lowest cells of the pieces that lie under a counter, in a player's frame.

    From the counters' cells down along each piece, all at once: a cell that isn't the lowest of its piece
    leads to the one below it.
    """
    at = SETS_AT + FRAME * player
    counters_low, counters_high = _counters(rows, i, player)
    low, high = rows[i, at + 2 * LOWEST], rows[i, at + 2 * LOWEST + 1]
    row_low = counters_low & rows[i, at + 2 * ALONG_ROWS]
    row_high = counters_high & rows[i, at + 2 * ALONG_ROWS + 1]
    column_low = counters_low & rows[i, at + 2 * ALONG_COLUMNS]
    column_high = counters_high & rows[i, at + 2 * ALONG_COLUMNS + 1]
    for _ in range(LONGEST - 1):
        row_low |= (row_low & ~low) >> 1
        row_high |= (row_high & ~high) >> 1
        falling = column_high & ~high
        column_low |= ((column_low & ~low) >> 10) | ((falling << 40) & FULL)
        column_high |= falling >> 10
    return (row_low | column_low) & low, (row_high | column_high) & high


@kernel(inline=True)
def _legal_removals(rows: Any, i: int, player: int, mask: Any, params: Any) -> int:
    """Writes the mask of phase REMOVE."""
    at = SETS_AT + FRAME * player
    under_low, under_high = _under_counters(rows, i, player)
    low = rows[i, at + 2 * LOWEST] & ~under_low
    high = rows[i, at + 2 * LOWEST + 1] & ~under_high
    count = 0
    for k in range(TYPES):
        enough = -int(params[CELLS_OF + k] >= rows[i, LONGEST_AT + player])
        type_low = low & rows[i, at + 2 * (OWN + k)] & enough
        type_high = high & rows[i, at + 2 * (OWN + k) + 1] & enough
        for o in range(2):
            slots_low = type_low & rows[i, at + 2 * (ALONG_ROWS + o)]
            slots_high = type_high & rows[i, at + 2 * (ALONG_ROWS + o) + 1]
            spread64(mask, i, 100 * (2 * k + o), slots_low)
            spread64(mask, i, 100 * (2 * k + o) + 50, slots_high)
        count += popcount(type_low) + popcount(type_high)
    for a in range(TARGETS, TARGETS + WIN + 1):
        mask[i, a] = 0
    return count


@kernel(inline=True)
def _can_remove(rows: Any, i: int, player: int, params: Any) -> bool:
    """Whether a player has a piece that is long enough and not under a counter."""
    at = SETS_AT + FRAME * player
    low = 0
    high = 0
    for k in range(TYPES):
        if params[CELLS_OF + k] >= rows[i, LONGEST_AT + player]:
            low |= rows[i, at + 2 * (OWN + k)]
            high |= rows[i, at + 2 * (OWN + k) + 1]
    low &= rows[i, at + 2 * LOWEST]
    high &= rows[i, at + 2 * LOWEST + 1]
    if popcount(low) + popcount(high) > 2:  # two counters block two pieces at most
        return True
    under_low, under_high = _under_counters(rows, i, player)
    return ((low & ~under_low) | (high & ~under_high)) != 0  # type: ignore[no-any-return]


@kernel(inline=True)
def _legal_targets(rows: Any, i: int, player: int, mask: Any) -> int:
    """Writes the mask of phase COUNTER."""
    for a in range(TARGETS + WIN + 1):
        mask[i, a] = 0
    score = rows[i, SCORE + player]
    last = score + rows[i, GAIN]
    wins = last >= WIN
    if wins:
        last = WIN - 1
        mask[i, TARGETS + WIN] = 1
    for t in range(score, last + 1):
        mask[i, TARGETS + t] = 1
    count = last + 1 - score + int(wins)
    taken = 99 - rows[i, SCORE + 1 - player]
    if score < taken <= last:
        mask[i, TARGETS + taken] = 0
        count -= 1
    return count  # type: ignore[no-any-return]


@kernel
def legal(rows: Any, i: int, mask: Any, params: Any) -> int:
    if rows[i, PLAYER] < 0:
        for a in range(TARGETS + WIN + 1):
            mask[i, a] = 0
        return 0
    player = rows[i, PLAYER] & 1  # here and below: `&` shows the compiler that no index is negative
    if rows[i, PHASE] == PLACE:
        return _legal_placements(rows, i, player, mask, params)
    if rows[i, PHASE] == REMOVE:
        return _legal_removals(rows, i, player, mask, params)
    return _legal_targets(rows, i, player, mask)


@kernel(inline=True)
def _flip(rows: Any, i: int, player: int, slot: int, params: Any) -> None:
    """Puts a player's piece on a slot of their own frame, or takes it off: in both frames."""
    group = slot // 100
    k, o = group >> 1, group & 1
    shape = params[SHAPES + group]
    lowest = slot - 100 * group
    beyond = (params[CELLS_OF + k] - 1) * (10 if o else 1)
    for f in range(PLAYERS):
        at = SETS_AT + FRAME * f
        c = lowest if f == player else 99 - lowest - beyond
        low, high = _low(shape, c), _high(shape, c)
        of_type = at + 2 * (k + (OWN if f == player else OTHER))
        rows[i, of_type] ^= low
        rows[i, of_type + 1] ^= high
        along = at + 2 * (ALONG_ROWS + o)
        rows[i, along] ^= low
        rows[i, along + 1] ^= high
        rows[i, at + 2 * LOWEST] ^= _low(1, c)
        rows[i, at + 2 * LOWEST + 1] ^= _high(1, c)


@kernel(inline=True)
def _gain_of(rows: Any, i: int, player: int, slot: int) -> int:
    """What a player gains for the piece that was just taken off a slot."""
    k, o = slot // 200, slot // 100 & 1
    cell = slot % 100
    if o:
        low = high = COLUMN_OF_CELLS << (cell % 10)
    else:
        low, high = _low(ROW_OF_CELLS, cell - cell % 10), _high(ROW_OF_CELLS, cell - cell % 10)
    counters_low, counters_high = _counters(rows, i, player)
    doublings = popcount(low & counters_low) + popcount(high & counters_high)
    # A piece along the line counts by its lowest cell; of a piece across it one cell lies on the line.
    at = SETS_AT + FRAME * player
    along, across = at + 2 * (ALONG_ROWS + o), at + 2 * (ALONG_COLUMNS - o)
    low &= rows[i, across] | (rows[i, along] & rows[i, at + 2 * LOWEST])
    high &= rows[i, across + 1] | (rows[i, along + 1] & rows[i, at + 2 * LOWEST + 1])
    return ((popcount(low) + popcount(high)) * VALUES[k]) << doublings


@kernel
def step(rows: Any, i: int, action: int, params: Any) -> None:
    # An action that is not legal in this phase (raw_env() plays it) must still stay inside the arrays.
    player = rows[i, PLAYER] & 1
    if rows[i, PHASE] == COUNTER:
        rows[i, SCORE + player] = max(0, action - TARGETS)
        rows[i, GAIN] = 0
        rows[i, PHASE] = REMOVE
        if action == TARGETS + WIN:
            rows[i, PLAYER] = -1
            return
    else:
        slot = min(action & 1023, TARGETS - 1)
        _flip(rows, i, player, slot, params)
        if rows[i, PHASE] == REMOVE:
            rows[i, LONGEST_AT + player] = params[CELLS_OF + slot // 200]
            gain = _gain_of(rows, i, player, slot)
            if gain:
                rows[i, GAIN] = gain
                rows[i, PHASE] = COUNTER
                return
        else:
            rows[i, UNPLAYED + player] -= 1 << (8 * (slot // 200))
            for p in (1 - player, player):
                if _can_place(rows, i, p, params):
                    rows[i, PLAYER] = p
                    return
            # Who can't place never can again: of the two it is not who placed last that passed first.
            rows[i, PHASE] = REMOVE
    # The other's turn in the scoring phase. Who can remove nothing is out.
    for p in (1 - player, player):
        if not (rows[i, OUT] >> p) & 1:
            if _can_remove(rows, i, p, params):
                rows[i, PLAYER] = p
                return
            rows[i, OUT] |= 1 << p
    rows[i, PLAYER] = -1


@kernel
def observe(rows: Any, i: int, player: int, obs: Any, params: Any) -> None:
    player &= 1
    other = 1 - player
    at = SETS_AT + FRAME * player
    for k in range(FRAME):
        spread64(obs, i, 50 * k, rows[i, at + k])
    for k in range(COUNTERS_AT, BOARD_SIZE):
        obs[i, k] = 0
    phase = rows[i, PHASE]
    own_score, other_score = rows[i, SCORE + player], rows[i, SCORE + other]
    if phase != PLACE:
        if own_score < WIN:
            obs[i, COUNTERS_AT + own_score] = 1
        if other_score < WIN:
            obs[i, COUNTERS_AT + 199 - other_score] = 1

    # The twenty features as three words, a byte each; the last word begins with the end of the one before.
    unplayed = rows[i, UNPLAYED + other]
    first = rows[i, UNPLAYED + player] | (unplayed << 40)
    second = (unplayed >> 24) | (1 << (16 + 8 * phase)) | (rows[i, GAIN] << 40)
    second |= (rows[i, LONGEST_AT + player] << 48) | (rows[i, LONGEST_AT + other] << 56)
    out = rows[i, OUT]
    third = ((out >> player) & 1) | (((out >> other) & 1) << 8) | (own_score << 16) | (other_score << 24)
    store8(obs, i, BOARD_SIZE, first)
    store8(obs, i, BOARD_SIZE + 8, second)
    store8(obs, i, BOARD_SIZE + 12, (second >> 32) | (third << 32))


@kernel
def scores(rows: Any, i: int, out: Any, params: Any) -> None:
    for p in range(PLAYERS):
        out[i, p] = rows[i, SCORE + p]


@kernel
def _line(rows: Any, i: int, player: int, params: Any) -> int:
    """How long a player's line of unplayed pieces is: a piece is a little shorter than its cells."""
    length = 0
    for k in range(TYPES):
        length += ((rows[i, UNPLAYED + player] >> (8 * k)) & 255) * (100 * params[CELLS_OF + k] - 1)
    return length


@kernel
def returns(rows: Any, i: int, out: Any, params: Any) -> None:
    if rows[i, PLAYER] >= 0:
        for p in range(PLAYERS):
            out[i, p] = 0.0
        return
    points = (rows[i, SCORE], rows[i, SCORE + 1])
    if params[REWARD] == MARGIN:
        margin(out, i, points, PLAYERS, MARGIN_SCALE)
        return
    lead = points[0] - points[1]
    if lead == 0:
        lead = _line(rows, i, 0, params) - _line(rows, i, 1, params)
    if lead == 0 and params[SHARED]:
        outcome(out, i, 0b11, PLAYERS)
    else:
        outcome(out, i, 0b01 if lead >= 0 else 0b10, PLAYERS)


@kernel
def resample(rows: Any, i: int, player: int, seed: int, params: Any) -> None:
    """Nothing is hidden; the generator alone is drawn anew, as in every game."""
    rows[i, GENERATOR] = mix(seed)


def _pack(options: Options) -> Sequence[int]:
    lengths = LENGTHS[options["pieces"]]
    shapes = [sum(1 << (step * n) for n in range(length)) for length in lengths for step in (1, 10)]
    return [PLAYERS, 0, int(options["tiebreak"] == "shared"), *lengths, *shapes]


def _bounds(options: Options) -> Bounds:
    lengths = LENGTHS[options["pieces"]]
    # The greatest gain: every other cell of the line has a piece of its own, and both counters stand on it.
    gain = max(4 * value * (10 - length) for value, length in zip(VALUES, lengths, strict=True))
    high = [*COUNTS, *COUNTS, 1, 1, 1, gain, lengths[-1], lengths[-1], 1, 1, WIN, WIN]
    return Bounds(
        np.zeros(SETS + 2, np.int8),
        np.ones(SETS + 2, np.int8),
        np.zeros(len(high), np.int8),
        np.array(high, np.int8),
    )


def _hidden(row: Rows, options: Options) -> Sequence[int]:
    """Observations show everything."""
    return ()


def _hidden_bounds(options: Options) -> tuple[int, int, int]:
    return 0, 0, 0


def _has(words: Any, c: int) -> bool:
    """Whether a set holds a cell."""
    return bool((int(words[c // 50]) >> (c % 50)) & 1)


def _text(row: Rows, options: Options) -> str:
    """The board in Dark's frame, Dark in front: owner, value and direction of each piece, then the counters.

    D or L stands on the lowest cell of a piece, d or l on its others; * is Dark's counter, o Light's.
    """
    fields = row.view(ROW)[0]
    sets = fields["sets"][0]
    scoring = fields["phase"] != PLACE
    dark, light = int(fields["score"][0]), int(fields["score"][1])
    lines = []
    for tens in range(9, -1, -1):
        cells = []
        for c in range(10 * tens, 10 * tens + 10):
            piece = " . "
            for k in range(2 * TYPES):
                if _has(sets[k], c):
                    owner = "dl"[k // TYPES]
                    owner = owner.upper() if _has(sets[LOWEST], c) else owner
                    piece = f"{owner}{VALUES[k % TYPES]}{'-' if _has(sets[ALONG_ROWS], c) else '|'}"
            counter = "*" if scoring and c == dark else "o" if scoring and c == 99 - light else " "
            cells.append(piece + counter)
        lines.append(f"{tens}  " + " ".join(cells).rstrip())
    lines.append("   " + " ".join(f" {units}  " for units in range(10)).rstrip())
    for p, name in enumerate(("Dark", "Light")):
        counts = [(int(fields["unplayed"][p]) >> (8 * k)) & 255 for k in range(TYPES)]
        left = ", ".join(f"{n} of value {v}" for n, v in zip(counts, VALUES, strict=True) if n) or "none"
        out = "; out" if (int(fields["out"]) >> p) & 1 else ""
        lines.append(f"{name}: score {int(fields['score'][p])}; unplayed: {left}{out}")
    player = int(fields["player"])
    if player < 0:
        lines.append("game over")
    else:
        what = ("place a piece", "remove a piece", f"move the counter by up to {int(fields['gain'])}")
        lines.append(f"{('Dark', 'Light')[player]} to {what[int(fields['phase'])]}")
    return "\n".join(lines)


def _action_to_string(action: int) -> str:
    if action >= TARGETS:
        return f"{action - TARGETS:02d}"
    return f"{VALUES[action // 200]}{'rc'[action // 100 % 2]}{action % 100:02d}"


def _string_to_action(text: str) -> int:
    if text == str(WIN):
        return TARGETS + WIN
    digits = text[-2:]
    if len(digits) == 2 and digits.isascii() and digits.isdigit():
        if len(text) == 2:
            return TARGETS + int(digits)
        if len(text) == 4 and text[0] in "12346" and text[1] in "rc":
            return 200 * "12346".index(text[0]) + 100 * "rc".index(text[1]) + int(digits)
    raise ValueError(
        f"{text!r} is no action of isaac: a piece is its value (1, 2, 3, 4 or 6), r along a row or c along a"
        " column, and its lowest cell (00 to 99), as 3c04; a counter target is 00 to 99, or 100"
    )


GAME = Game(
    name="isaac",
    title="Isaac",
    gym_name="Isaac",
    version=0,
    credits='Emiliano "Wentu" Venturini, nestorgames 2011',
    players=(PLAYERS,),
    row=ROW,
    num_actions=TARGETS + WIN + 1,
    board_shape=(SETS + 2, 10, 10),
    planes=(
        *(f"own pieces of value {value}" for value in VALUES),
        *(f"opponent's pieces of value {value}" for value in VALUES),
        "cells of pieces along rows",
        "cells of pieces along columns",
        "lowest cell of each piece, in the observer's frame",
        "own counter (scoring phase)",
        "opponent's counter (scoring phase)",
    ),
    features=(
        *(f"own unplayed pieces of value {value}" for value in VALUES),
        *(f"opponent's unplayed pieces of value {value}" for value in VALUES),
        *(f"phase: {what}" for what in ("place", "remove", "counter")),
        "gain waiting to be moved",
        "cells of the longest piece removed: own",
        "cells of the longest piece removed: opponent's",
        "observer is out",
        "opponent is out",
        "own score",
        "opponent's score",
    ),
    action_groups=(
        (
            "0..999",
            "slot (2 * type + orientation) * 100 + lowest cell, in the acting player's frame: place the piece"
            " there, or remove it; written as value, r (along a row) or c (along a column), cell: 3c04",
        ),
        ("1000..1099", "move the own counter to score 0..99; written 00..99"),
        ("1100", "move it to 100 or more, which wins; written 100"),
    ),
    max_game_length=90,
    margin_scale=MARGIN_SCALE,
    options={
        "pieces": Option("standard", ("standard", "table"), "cells of the pieces: 3 to 7, or 1 to 6"),
        "tiebreak": Option("dark", ("dark", "shared"), "who wins when all is equal"),
    },
    kernels=Kernels(init, legal, step, observe, scores, returns, status, resample),
    pack=_pack,
    bounds=_bounds,
    deal=None,
    deal_about="",
    hidden=_hidden,
    hidden_bounds=_hidden_bounds,
    text=_text,
    action_to_string=_action_to_string,
    string_to_action=_string_to_action,
)
