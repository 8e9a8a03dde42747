"""What the solver has to know of a game beside its rules: what tells positions apart, and what chance does.

Four kernels a game, over its state rows:

| kernel | signature | contract |
|---|---|---|
| key | (rows, i, keys, j, params) | writes all of keys[j]: equal keys mean equal values, within one solve |
| chances | (rows, i, action, params) | how many outcomes an action has; 1: no chance in it |
| fix | (rows, i, action, outcome, params) | makes it so that `step` brings this outcome; returns its weight |
| orders | (rows, i, params) | the sum of the weights of all that chance may still do from here on, multiplied out |

A weight is the number of equally likely cases; `orders` of a position is the sum, over the outcomes of an action, of
weight times `orders` afterwards, whatever is played. So expectations are whole numbers over `orders`, and exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.core.types import int64, void

from iszoo.envs import isaac, isis_osiris, iso, native
from iszoo.envs.game import Game, Params, Rows
from iszoo.envs.native import caller, kernel, popcount, trailing_zeros
from iszoo.envs.primitives import GENERATOR
from iszoo.envs.signatures import PARAMS, ROWS

KEY = void(ROWS, int64, ROWS, int64, PARAMS)
CHANCES = int64(ROWS, int64, int64, PARAMS)
FIX = int64(ROWS, int64, int64, int64, PARAMS)
ORDERS = int64(ROWS, int64, PARAMS)
_SIGNATURES = (KEY, CHANCES, FIX, ORDERS)

call_key = caller(KEY)
call_chances = caller(CHANCES)
call_fix = caller(FIX)
call_orders = caller(ORDERS)


@dataclass(frozen=True)
class Ending:
    """How a game is solved."""

    key: Any  #: the kernel
    key_words: int  #: int64 words of a key; 0: a state row's
    check: Callable[[Rows, Params], str]  #: why a position (a row) can't be solved, or ""
    left: Callable[[Rows, Params], int]  #: how much is left to play, counted in `unit`
    unit: str  #: "pieces that can still be removed"
    knowledge: str  #: what both players are taken to know
    chances: Any = None  #: the kernels of chance; None: there is none
    fix: Any = None
    orders: Any = None

    def table(self) -> Any:
        """The addresses of the kernels."""
        chance = (self.chances or _no_chances, self.fix or _fix_nothing, self.orders or _one_order)
        return native.bind((self.key, *chance), _SIGNATURES)


# --- A game without chance ---------------------------------------------------------------------------------


@kernel
def _no_chances(rows: Any, i: int, action: int, params: Any) -> int:
    return np.int64(1)  # type: ignore[return-value]


@kernel
def _fix_nothing(rows: Any, i: int, action: int, outcome: int, params: Any) -> int:
    return np.int64(1)  # type: ignore[return-value]


@kernel
def _one_order(rows: Any, i: int, params: Any) -> int:
    return np.int64(1)  # type: ignore[return-value]


@kernel
def _whole_row(rows: Any, i: int, keys: Any, j: int, params: Any) -> None:
    """All of a row but its generator."""
    for k in range(rows.shape[1]):
        keys[j, k] = rows[i, k]
    keys[j, GENERATOR] = 0


# --- Isaac -------------------------------------------------------------------------------------------------


@kernel
def _isaac_key(rows: Any, i: int, keys: Any, j: int, params: Any) -> None:
    """Which of the pieces are left: of those that lie there at the root, the lowest cells tell."""
    lowest = isaac.SETS_AT + 2 * isaac.LOWEST
    keys[j, 0] = rows[i, lowest]
    keys[j, 1] = rows[i, lowest + 1]
    keys[j, 2] = rows[i, isaac.PLAYER] | rows[i, isaac.OUT] << 2 | rows[i, isaac.GAIN] << 4
    keys[j, 2] |= rows[i, isaac.SCORE] << 32 | rows[i, isaac.SCORE + 1] << 40
    keys[j, 2] |= rows[i, isaac.LONGEST_AT] << 48 | rows[i, isaac.LONGEST_AT + 1] << 52


def _isaac_check(row: Rows, params: Params) -> str:
    return "" if row[isaac.PHASE] != isaac.PLACE else "pieces are still placed: it is solved in the scoring phase"


def _isaac_left(row: Rows, params: Params) -> int:
    """Pieces long enough to be removed still, of players who are not out; those not placed yet, while some are."""
    count = 0
    if row[isaac.PHASE] == isaac.PLACE:
        count = sum(sum(int(counts).to_bytes(8, "little")) for counts in row[isaac.UNPLAYED : isaac.UNPLAYED + 2])
    for player in range(isaac.PLAYERS):
        if not (row[isaac.OUT] >> player) & 1:
            sets = row[isaac.SETS_AT + isaac.FRAME * player :]
            for k in range(isaac.TYPES):
                if params[isaac.CELLS_OF + k] >= row[isaac.LONGEST_AT + player]:
                    for word in range(2):
                        count += int(sets[2 * (isaac.OWN + k) + word] & sets[2 * isaac.LOWEST + word]).bit_count()
    return count


# --- ISO ---------------------------------------------------------------------------------------------------

_ISO_KEY_WORDS = 7
_NO_TILE = 63


@kernel
def _iso_key(rows: Any, i: int, keys: Any, j: int, params: Any) -> None:
    """The tiles on the table in the order of their cells, not of play; of slots alike, which is which tells nothing."""
    for k in range(4):
        keys[j, k] = 0
    placed = rows[i, iso.PLACED]
    for t in range(placed):
        tile = rows[i, iso.TILES + t] & 0x3FFF  # cell and face; groups follow from these
        before = 0
        for s in range(placed):
            before += int((rows[i, iso.TILES + s] & 255) < (tile & 255))
        keys[j, before >> 2] |= tile << (14 * (before & 3))
    keys[j, 4] = rows[i, iso.DISPLAY] | rows[i, iso.WON] << 18 | rows[i, iso.WON + 1] << 36
    keys[j, 5] = rows[i, iso.PILE]
    # What a tile looks like in its three rotations is all that bears on its play; its number, on what the top
    # of the pile may show. Without a pile the top is a slot like the others.
    looks = (_slot_look(rows, i, 0), _slot_look(rows, i, 1), _slot_look(rows, i, 2))
    low, high, top = min(looks[0], looks[1]), max(looks[0], looks[1]), looks[2]
    if rows[i, iso.PILE] == 0:
        low, high, top = min(low, top), max(low, min(high, top)), max(high, top)
    else:
        top |= rows[i, iso.SLOT_NUMBER + iso.TOP] << 6
    keys[j, 6] = low | high << 6 | top << 12 | rows[i, iso.PLAYER] << 24


@kernel
def _slot_look(rows: Any, i: int, slot: int) -> int:
    if rows[i, iso.SLOT_NUMBER + slot] == 0:
        return _NO_TILE
    return iso.LOOKS[rows[i, iso.SLOT_FACE + slot]]  # type: ignore[no-any-return]


def _iso_left(row: Rows, params: Params) -> int:
    """Tiles to come: in the slots and under the top of the pile; some may become objectives."""
    slots = row[iso.SLOT_NUMBER : iso.SLOT_NUMBER + iso.SLOTS]
    return int((slots != 0).sum()) + -(-int(row[iso.PILE]).bit_length() // 5)


def _always(row: Rows, params: Params) -> str:
    return ""


# --- Isis & Osiris -----------------------------------------------------------------------------------------

MOST_UNSEEN = 11
"""Tiles: 11! orders times the greatest lead still lie below the weight of an outcome, see tree.py."""

_MOST_FREE = 12  # cells that a key has room for
_NIBBLES = 0x11111111111  # the lowest bit of each of the eleven places in a word of `stock`
_BESIDE = np.array(
    [
        sum(1 << d for d in range(isis_osiris.CELLS) if abs(c // 6 - d // 6) + abs(c % 6 - d % 6) == 1)
        for c in range(isis_osiris.CELLS)
    ],
    np.int64,
)


@kernel
def _isis_osiris_key(rows: Any, i: int, keys: Any, j: int, params: Any) -> None:
    """The lead, and of each free cell what a tile and a stone there would be worth: where these come from is past."""
    dark, light = rows[i, isis_osiris.STONES_AT], rows[i, isis_osiris.STONES_AT + 1]
    tiles = rows[i, isis_osiris.TILES_AT]
    free = isis_osiris.ALL_CELLS & ~(tiles | dark | light)
    lead = isis_osiris.player_points(rows, i, 0) - isis_osiris.player_points(rows, i, 1)
    keys[j, 0] = free | rows[i, isis_osiris.PLAYER] << 36 | (rows[i, isis_osiris.HAND] + 4) << 38 | (lead + 512) << 42
    keys[j, 1] = rows[i, isis_osiris.UNSEEN]
    keys[j, 2] = rows[i, isis_osiris.TILES_LEFT] | rows[i, isis_osiris.TILES_LEFT + 1] << 5
    keys[j, 2] |= rows[i, isis_osiris.STONES_LEFT] << 10 | rows[i, isis_osiris.STONES_LEFT + 1] << 14
    keys[j, 3] = 0
    keys[j, 4] = 0
    at = 0
    while free:
        beside = _BESIDE[trailing_zeros(free)]
        free &= free - 1
        stones = popcount(beside & dark) - popcount(beside & light)
        values = 0
        of_tiles = beside & tiles
        while of_tiles:
            c = trailing_zeros(of_tiles)
            of_tiles &= of_tiles - 1
            value = (rows[i, isis_osiris.VALUES + (c >> 3)] >> (8 * (c & 7))) & 255
            values += value - 256 if value > 127 else value
        keys[j, 3 + at // 6] |= ((stones + 4) | (values + 16) << 4) << (10 * (at % 6))
        at += 1


@kernel
def _isis_osiris_chances(rows: Any, i: int, action: int, params: Any) -> int:
    return 8 if action == isis_osiris.REVEAL else 1


@kernel
def _isis_osiris_fix(rows: Any, i: int, action: int, outcome: int, params: Any) -> int:
    """Of the tiles not seen yet each is as likely to be the next: all that are to come get this outcome's value."""
    if action != isis_osiris.REVEAL:
        return 1
    value = outcome - 4 if outcome < 4 else outcome - 3
    for word in range(2):
        stock = rows[i, isis_osiris.STOCK_AT + word]
        there = (stock | stock >> 1 | stock >> 2 | stock >> 3) & _NIBBLES
        rows[i, isis_osiris.STOCK_AT + word] = there * (value + 5)
    return (rows[i, isis_osiris.UNSEEN] >> (8 * outcome)) & 255  # type: ignore[no-any-return]


@kernel
def _isis_osiris_orders(rows: Any, i: int, params: Any) -> int:
    """The orders of the tiles not seen yet."""
    unseen = 0
    for k in range(8):
        unseen += (rows[i, isis_osiris.UNSEEN] >> (8 * k)) & 255
    orders = 1
    for k in range(2, unseen + 1):
        orders *= k
    return orders


def _isis_osiris_check(row: Rows, params: Params) -> str:
    unseen = sum(int(row[isis_osiris.UNSEEN]).to_bytes(8, "little"))
    if unseen > MOST_UNSEEN:
        return f"{unseen} tiles are unseen: it is solved with at most {MOST_UNSEEN}"
    free = _isis_osiris_left(row, params)
    return f"{free} cells are free: it is solved with at most {_MOST_FREE}" if free > _MOST_FREE else ""


def _isis_osiris_left(row: Rows, params: Params) -> int:
    stones = np.bitwise_or.reduce(row[isis_osiris.STONES_AT : isis_osiris.STONES_AT + 4])
    return isis_osiris.CELLS - int(row[isis_osiris.TILES_AT] | stones).bit_count()


ENDINGS: Mapping[str, Ending] = {
    "isaac": Ending(
        key=_isaac_key,
        key_words=3,
        check=_isaac_check,
        left=_isaac_left,
        unit="pieces that can still be removed",
        knowledge="everything: nothing is hidden, nothing is drawn",
    ),
    "iso": Ending(
        key=_iso_key,
        key_words=_ISO_KEY_WORDS,
        check=_always,
        left=_iso_left,
        unit="tiles in the slots and the pile",
        knowledge="everything, the order of the pile and the numbers of all tiles included",
    ),
    "isis_osiris": Ending(
        key=_isis_osiris_key,
        key_words=5,
        check=_isis_osiris_check,
        left=_isis_osiris_left,
        unit="free cells",
        knowledge="all that was revealed, as with memory='open'; each of the tiles not seen yet is as likely to be the"
        " next, when it is revealed and not before",
        chances=_isis_osiris_chances,
        fix=_isis_osiris_fix,
        orders=_isis_osiris_orders,
    ),
}
"""Game -> how it is solved."""


def ending_of(game: Game) -> Ending:
    """How a game is solved: any game without chance is, by its rows.

    Raises ValueError for a game of which only its author can say what chance does.
    """
    known = ENDINGS.get(game.name)
    if known is not None:
        return known
    if game.deal is not None:
        raise ValueError(f"{game.name} has chance or hidden order, and no entry in ENDINGS says how it comes in")
    return Ending(_whole_row, 0, _always, lambda row, params: 0, "", "everything")
