"""ISO (David Heras, LittleHouse Boardgames 2022): the rules, as kernels. One to three players, hidden order.

Source: the published rulebook; where it is silent the rulings are ours, and the docs page lists them. The
tiles come from a file (see iso_tiles.py); every table made of it is in the parameters.

Cells (x, y) are 16 * (x % 16) + y % 16, on a torus that no game can tell from a plane: at most 15 connected
tiles lie on it, so two of them are less than 15 apart in x and in y, and are neighbours on the torus only if
they are on the plane; and a figure hangs together from neighbour to neighbour. Seen along an axis, u and v are
the steps along the next two axes: x: (e_y, e_z), y: (e_z, e_x), z: (e_x, e_y), with e_x = (1, 0),
e_y = (0, 1), e_z = (-1, -1).

A block face as it lies is a code: 8 * (which permutation its colours are on the axes x, y, z) + the same of
its indicators. A set of tiles on the table is a word, bit t for the tile placed as number t, from 0; a set of
objectives is a word, bit n - 1 for objective n. A group is the tiles of one colour that are orthogonally
united as seen along an axis; each tile holds its own three, which a placement merges.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from iszoo.envs import iso_text
from iszoo.envs.game import Bounds, Game, Kernels, Option, Options, Rows, words
from iszoo.envs.iso_tiles import COLOURS, INDICATORS, MOST_TILES, MOST_WALLS, NUM_TILES, WHITE, TileSet, load
from iszoo.envs.native import kernel, popcount, trailing_zeros
from iszoo.envs.primitives import (
    GENERATOR,
    MARGIN,
    NUM_PLAYERS,
    OFFENDER,
    PARAMS_HEAD,
    REWARD,
    ROW_HEAD,
    draw,
    margin,
    mix,
    outcome,
    spread,
    start_generator,
)

SIDE = 16
CELLS = SIDE * SIDE
FIRST_CELL = 136
SLOTS = 3
TOP = 2  # the slot of the pile's top
DISPLAY_PLACES = 3
ON_DISPLAY_ALL_GAME = (10, 11, 12, 13)  # mode="area_control"
PLAYERS = {"competitive": (2, 3), "solo": (1,), "coop": (2, 3), "area_control": (2, 3)}
COMPETITIVE, GROUP, AREA_CONTROL = range(3)
RULES = {"competitive": COMPETITIVE, "solo": GROUP, "coop": GROUP, "area_control": AREA_CONTROL}
MARGIN_SCALE = 44
ALL_OBJECTIVES = (1 << NUM_TILES) - 1
FEATURES_AT = 20 * CELLS
OBS_SIZE = FEATURES_AT + 103
NUM_ACTIONS = SLOTS * 3 * CELLS
HIDDEN_PILE = NUM_TILES - DISPLAY_PLACES - SLOTS  # the most tiles under the top of the pile
GROUP_SCALE = 26  # what the total of stars is divided by for the reward in solo and coop

ROW = np.dtype(
    [
        *ROW_HEAD,
        ("player", "<i8"),  # seat to move
        ("display", "<i8"),  # the objectives on display
        ("shown", "<i8"),  # the objectives that have been shown, those that were won included
        ("won", "<i8", (3,)),  # the objectives of each player; in solo and coop the group's in [0]
        ("stars", "<i8", (3,)),  # what they are worth
        ("slot_number", "<i8", (3,)),  # the number of the tile in each slot, 0 for none
        ("slot_face", "<i8", (3,)),  # its block face as it lies
        ("pile", "<i8"),  # the numbers of the tiles under the top, 5 bits each, the next one lowest
        ("placed", "<i8"),  # how many tiles lie on the table
        ("tiles", "<i8", (MOST_TILES,)),  # cell, block face (bit 8), groups along x, y, z (bits 16, 31, 46)
        ("colours", "<i8", (3,)),  # the tiles that show each colour, 16 bits a colour, along each axis
        ("indicators", "<i8", (3,)),  # the same for the indicators
        ("free", "<i8", (8,)),  # the cells where a tile may be placed, 32 a word; none when over
    ]
)

PLAYER, DISPLAY, SHOWN, WON, STARS_AT = words(ROW, "player", "display", "shown", "won", "stars")
SLOT_NUMBER, SLOT_FACE, PILE, PLACED = words(ROW, "slot_number", "slot_face", "pile", "placed")
TILES, COLOURS_AT, INDICATORS_AT, FREE = words(ROW, "tiles", "colours", "indicators", "free")
ROW_SIZE = ROW.itemsize // 8

# Parameters, after the head that every game has.
MODE = PARAMS_HEAD
VIEWS = MODE + 1  # per seat: which of _VIEWS it has
FACES = VIEWS + 3  # per number of a tile, from 0 for none: its block face at rotation 0
STARS = FACES + 1 + NUM_TILES  # per objective
AREAS = STARS + NUM_TILES  # per colour and size of a group, 16 sizes a colour: the areas that it is
FIGURES = AREAS + 3 * SIDE  # per size of a group, up to MOST_WALLS: the figures that may use a wall of it
MARKED = FIGURES + MOST_WALLS + 1  # per set of colours that the player's walls show: the figures they allow
PATTERNS = MARKED + 8  # per figure: where its patterns begin and end
PARAMS_SIZE = PATTERNS + 2 * NUM_TILES  # then the patterns, see _patterns

ALL_TILES = (1 << MOST_TILES) - 1
GROUPS = 16  # where the groups begin in a word of `tiles`, 15 bits each
_FIRST_TILES = 1 | 1 << MOST_TILES | 1 << 2 * MOST_TILES  # tile 0 along each axis

# --- Tables that are rules, not tiles ----------------------------------------------------------------------

_PERMUTATIONS = list(itertools.permutations(range(3)))
_FACES = [8 * colours + indicators for colours in range(6) for indicators in range(6)]
_CODES = 48  # the least number above all codes
# Where the indicators black, white, void stand as a seat sees them: seats 0 to 2 of three, seat 1 of two.
_VIEWS = ((0, 1, 2), (2, 0, 1), (1, 2, 0), (1, 0, 2))


def _walls(face: int) -> list[tuple[int, int]]:
    """Colour and indicator of a block face on the axes x, y, z."""
    return list(zip(_PERMUTATIONS[face >> 3], _PERMUTATIONS[face & 7], strict=True))


def _face(walls: Sequence[tuple[int, int]]) -> int:
    colours, indicators = zip(*walls, strict=True)
    return 8 * _PERMUTATIONS.index(colours) + _PERMUTATIONS.index(indicators)


def _turned(face: int, thirds: int) -> int:
    """A block face after thirds of a turn: axis a shows wall a - thirds."""
    walls = _walls(face)
    return _face([walls[(axis - thirds) % 3] for axis in range(3)])


def _seen_at(axis: int, way: int) -> tuple[int, int]:
    """(u, v) of the wall that a way, less than half round the torus, leads to, seen along an axis."""
    x, y = ((at + SIDE // 2) % SIDE - SIDE // 2 for at in divmod(way, SIDE))
    return ((y - x, -x), (-y, x - y), (x, y))[axis]


def _face_tables() -> tuple[Any, Any, Any]:
    """By the code of a block face, what it becomes and shows.

    The codes after 0, 1, 2 thirds of a turn; its colours (bytes 0 to 2) and indicators (bytes 3 to 5) on
    x, y, z; for each view the six planes that show the tile, a byte each.
    """
    turned, walls = np.zeros((3, _CODES), np.int64), np.zeros(_CODES, np.int64)
    planes = np.zeros((len(_VIEWS), _CODES), np.int64)
    for face in _FACES:
        turned[:, face] = [_turned(face, thirds) for thirds in range(3)]
        for axis, (colour, indicator) in enumerate(_walls(face)):
            walls[face] |= colour << (8 * axis) | indicator << (8 * axis + 24)
            for k, view in enumerate(_VIEWS):
                planes[k, face] |= (6 * axis + colour) << (8 * axis)
                planes[k, face] |= (6 * axis + 3 + view[indicator]) << (8 * axis + 24)
    return turned, walls, planes


def _group_tables() -> tuple[Any, Any, Any]:
    """What two tiles have in common, as masks of the groups in a word of `tiles`.

    By the way from one to the other: which of _WAYS it is, as a bit; the axes along which they are
    orthogonally united, which are two for neighbours. By 8 * one permutation + another: the axes on which
    they show the same colour.
    """
    sides, united, same = np.zeros(CELLS, np.int64), np.zeros(CELLS, np.int64), np.zeros(64, np.int64)
    for axis in range(3):
        mask = ALL_TILES << (MOST_TILES * axis)
        for side, way in enumerate(_WAYS):
            sides[way] = 1 << side
            united[way] |= mask if axis != side // 2 else 0
        for one, other in itertools.product(range(6), repeat=2):
            same[8 * one + other] |= mask if _PERMUTATIONS[one][axis] == _PERMUTATIONS[other][axis] else 0
    return sides, united, same


def _diamond() -> Any:
    """By axis and way: the bit of the wall there in _PLACES, or 0 for one that is not among them."""
    bits = np.zeros((3, CELLS), np.int64)
    for axis, way in itertools.product(range(3), range(CELLS)):
        if _seen_at(axis, way) in _PLACES:
            bits[axis, way] = 1 << _PLACES.index(_seen_at(axis, way))
    return bits


TURNED, FACE_WALLS, _SHOWN_PLANES = _face_tables()
LOOKS = TURNED.min(axis=0)  # the least code of a block face in any rotation: what it is, however it lies
_WAYS = (16, 240, 1, 15, 255, 17)  # from a cell to its six neighbours: plus and minus e_x, e_y, e_z
_SIDES, UNITED, _SAME = _group_tables()
# The walls (u, v) that a figure can reach from one of its own.
_PLACES = [(u, v) for u in range(-4, 5) for v in range(-4, 5) if abs(u) + abs(v) < MOST_WALLS]
DIAMOND = _diamond()

# --- Dealing -----------------------------------------------------------------------------------------------


@kernel
def _draw_top(rows: Any, i: int, params: Any) -> None:
    """Turns the next tile of the pile into its top; without one the slot becomes empty."""
    number = rows[i, PILE] & 31
    rows[i, PILE] >>= 5
    rows[i, SLOT_NUMBER + TOP] = number
    rows[i, SLOT_FACE + TOP] = params[FACES + number]


@kernel
def _pile_up(rows: Any, i: int, numbers: Any, first: int) -> None:
    """Makes numbers[first:] the tiles under the top."""
    pile = 0
    for k in range(len(numbers) - 1, first - 1, -1):
        pile = (pile << 5) | numbers[k]
    rows[i, PILE] = pile


@kernel
def _shuffle(rows: Any, i: int, numbers: Any, first: int, end: int) -> None:
    """Shuffles numbers[first:end] with the row's generator (Fisher-Yates)."""
    for k in range(end - first - 1, 0, -1):
        j = first + draw(rows, i, GENERATOR, k + 1)
        numbers[first + k], numbers[j] = numbers[j], numbers[first + k]


@kernel(allocates=True)
def init(rows: Any, i: int, seed: int, deal: Any, params: Any) -> None:
    """Deals the display, the slots and the pile, in this order."""
    start_generator(rows, i, seed)
    for k in range(PLAYER, ROW_SIZE):
        rows[i, k] = 0
    if params[MODE] == AREA_CONTROL:
        for number in ON_DISPLAY_ALL_GAME:
            rows[i, DISPLAY] |= 1 << (number - 1)
    numbers = np.empty(NUM_TILES - popcount(rows[i, DISPLAY]), np.int64)
    if len(deal) > 0:
        for k in range(len(numbers)):
            numbers[k] = deal[k]
    else:
        k = 0
        for n in range(NUM_TILES):
            if (rows[i, DISPLAY] >> n) & 1 == 0:
                numbers[k] = n + 1
                k += 1
        _shuffle(rows, i, numbers, 0, len(numbers))
    k = 0
    if params[MODE] != AREA_CONTROL:
        while k < DISPLAY_PLACES:
            rows[i, DISPLAY] |= 1 << (numbers[k] - 1)
            k += 1
    rows[i, SHOWN] = rows[i, DISPLAY]
    for slot in range(SLOTS):
        rows[i, SLOT_NUMBER + slot] = numbers[k + slot]
        rows[i, SLOT_FACE + slot] = params[FACES + numbers[k + slot]]
    _pile_up(rows, i, numbers, k + SLOTS)
    rows[i, FREE + (FIRST_CELL >> 5)] = 1 << (FIRST_CELL & 31)


# --- The table ---------------------------------------------------------------------------------------------


@kernel
def way_to(origin: int, cell: int) -> int:
    """The way from one cell to another, as a cell."""
    return ((cell - origin) & 15) | (((cell & 240) - (origin & 240)) & 240)


@kernel
def _beyond(cell: int, way: int) -> int:
    """The cell that a way leads to."""
    return ((cell + way) & 15) | (((cell & 240) + (way & 240)) & 240)


@kernel
def place_tile(rows: Any, i: int, cell: int, face: int) -> None:
    """Puts a tile on the table."""
    t = rows[i, PLACED]
    groups = _FIRST_TILES << t
    taken = 0  # which of the six cells around it, in the order of _WAYS
    # Without branches: which tiles are neighbours is what no branch predictor guesses.
    for s in range(t):
        other = rows[i, TILES + s]
        way = way_to(cell, other & 255)
        taken |= _SIDES[way]
        groups |= (other >> GROUPS) & UNITED[way] & _SAME[(face & 56) | ((other >> 11) & 7)]
    for s in range(t):
        within = ((groups >> s) & _FIRST_TILES) * ALL_TILES
        rows[i, TILES + s] |= (groups & within) << GROUPS
    rows[i, TILES + t] = cell | (face << 8) | (groups << GROUPS)
    rows[i, PLACED] = t + 1
    rows[i, FREE + (cell >> 5)] &= ~(1 << (cell & 31))
    for side in range(6):
        near = _beyond(cell, _WAYS[side])
        rows[i, FREE + (near >> 5)] |= (~taken >> side & 1) << (near & 31)
    walls = FACE_WALLS[face]
    for axis in range(3):
        rows[i, COLOURS_AT + axis] |= 1 << (16 * ((walls >> (8 * axis)) & 255) + t)
        rows[i, INDICATORS_AT + axis] |= 1 << (16 * ((walls >> (8 * axis + 24)) & 255) + t)


@kernel
def group_of(rows: Any, i: int, axis: int, tile: int) -> int:
    """The group of a tile, itself included, seen along an axis."""
    return (rows[i, TILES + tile] >> (GROUPS + MOST_TILES * axis)) & ALL_TILES  # type: ignore[no-any-return]


@kernel
def group_controller(rows: Any, i: int, axis: int, group: int) -> int:
    """Whose indicator a group has more of than of each other one, or -1."""
    black = popcount(group & rows[i, INDICATORS_AT + axis])
    white = popcount(group & (rows[i, INDICATORS_AT + axis] >> 16))
    void = popcount(group & (rows[i, INDICATORS_AT + axis] >> 32))
    if black > white and black > void:
        return 0
    if white > black and white > void:
        return 1
    if void > black and void > white:
        return 2
    return -1


@kernel
def _figures(rows: Any, i: int, axis: int, player: int, wanted: int, params: Any) -> int:
    """Which of the wanted figures the tile placed last completes for a player, seen along an axis."""
    last = rows[i, PLACED] - 1
    centre = rows[i, TILES + last] & 255
    colours, indicators = rows[i, COLOURS_AT + axis], rows[i, INDICATORS_AT + axis] >> (16 * player)
    # The walls around that one, bits as in DIAMOND: of each colour, and with the player's indicator.
    pink = yellow = blue = own = 0
    for t in range(last + 1):
        wall = DIAMOND[axis, way_to(centre, rows[i, TILES + t] & 255)]
        pink |= wall & -((colours >> t) & 1)
        yellow |= wall & -((colours >> (16 + t)) & 1)
        blue |= wall & -((colours >> (32 + t)) & 1)
        own |= wall & -((indicators >> t) & 1)
    done = 0
    while wanted:
        n = trailing_zeros(wanted)
        wanted &= wanted - 1
        for p in range(params[PATTERNS + 2 * n], params[PATTERNS + 2 * n + 1], 5):
            if params[p] & ~own == 0:  # first, because it rules out most patterns
                lacking = (params[p + 1] & ~pink) | (params[p + 2] & ~yellow) | (params[p + 3] & ~blue)
                white = params[p + 4]
                if lacking == 0 and (white & ~pink == 0 or white & ~yellow == 0 or white & ~blue == 0):
                    done |= 1 << n
                    break
    return done


@kernel
def _completed(rows: Any, i: int, player: int, params: Any) -> int:
    """The objectives on display that the tile placed last completes for a player."""
    last = rows[i, PLACED] - 1
    walls = FACE_WALLS[(rows[i, TILES + last] >> 8) & 63]
    display = rows[i, DISPLAY]
    done = 0
    for axis in range(3):
        colour = (walls >> (8 * axis)) & 255
        group = group_of(rows, i, axis, last)
        size = popcount(group)
        areas = display & params[AREAS + SIDE * colour + size]
        if areas and group_controller(rows, i, axis, group) == player:
            done |= areas
        own = rows[i, INDICATORS_AT + axis] >> (16 * player)
        marked = 0
        for c in range(3):
            if (rows[i, COLOURS_AT + axis] >> (16 * c)) & own & ALL_TILES:
                marked |= 1 << c
        figures = display & ~done & params[FIGURES + min(size, MOST_WALLS)] & params[MARKED + marked]
        if figures:
            done |= _figures(rows, i, axis, player, figures, params)
    return done


@kernel
def _allocated(rows: Any, i: int, n: int, params: Any) -> int:
    """Who controls the largest group that is area n + 1, in any perspective; -1: nobody, or several."""
    best = 0
    owner = -1
    for t in range(rows[i, PLACED]):
        walls = FACE_WALLS[(rows[i, TILES + t] >> 8) & 63]
        for axis in range(3):
            group = group_of(rows, i, axis, t)
            size = popcount(group)
            colour = (walls >> (8 * axis)) & 255
            if size >= best and (params[AREAS + SIDE * colour + size] >> n) & 1:
                controller = group_controller(rows, i, axis, group)
                if 0 <= controller < params[NUM_PLAYERS]:
                    owner = controller if size > best or controller == owner else -1
                    best = size
    return owner


# --- The kernels -------------------------------------------------------------------------------------------


@kernel
def _win(rows: Any, i: int, player: int, objectives: int, params: Any) -> None:
    """Moves objectives from the display to who won them."""
    holder = 0 if params[MODE] == GROUP else player
    rows[i, DISPLAY] &= ~objectives
    rows[i, WON + holder] |= objectives
    while objectives:
        rows[i, STARS_AT + holder] += params[STARS + trailing_zeros(objectives)]
        objectives &= objectives - 1


@kernel
def status(rows: Any, i: int, params: Any) -> int:
    """The game is over when no slot holds a tile."""
    tiles = rows[i, SLOT_NUMBER] | rows[i, SLOT_NUMBER + 1] | rows[i, SLOT_NUMBER + TOP]
    return rows[i, PLAYER] if tiles else -1


@kernel
def legal(rows: Any, i: int, mask: Any, params: Any) -> int:
    """Every tile of a slot, in every rotation, in every free cell.

    The cells are written once, then copied in wide moves: half the time of writing each block from the bits.
    """
    last = CELLS * (3 * SLOTS - 1)
    cells = 0
    for k in range(8):
        spread(rows[i, FREE + k], 32, mask, i, last + 32 * k)
        cells += popcount(rows[i, FREE + k])
    slots = 0
    for slot in range(SLOTS):
        first = 3 * CELLS * slot
        if rows[i, SLOT_NUMBER + slot]:
            slots += 1
            for rotation in range(3):
                block = first + CELLS * rotation
                if block < last:
                    for at in range(CELLS):
                        mask[i, block + at] = mask[i, last + at]
        else:
            for at in range(3 * CELLS):
                mask[i, first + at] = 0
    return 3 * slots * cells


@kernel
def step(rows: Any, i: int, action: int, params: Any) -> None:
    """Places a tile; refills its slot, then claims, then refills the display."""
    player = rows[i, PLAYER]
    slot = action // (3 * CELLS)
    if rows[i, SLOT_NUMBER + slot] == 0:  # raw_env() plays illegal actions too: not beyond the last tile
        return
    face = TURNED[(action >> 8) % 3, rows[i, SLOT_FACE + slot]]
    rows[i, SLOT_NUMBER + slot] = rows[i, SLOT_NUMBER + TOP]
    rows[i, SLOT_FACE + slot] = rows[i, SLOT_FACE + TOP]
    _draw_top(rows, i, params)
    place_tile(rows, i, action & 255, face)
    if params[MODE] != AREA_CONTROL:
        done = _completed(rows, i, player, params)
        if done:
            _win(rows, i, player, done, params)
            places = DISPLAY_PLACES - popcount(rows[i, DISPLAY])
            while places and rows[i, PILE]:
                objective = 1 << (rows[i, SLOT_NUMBER + TOP] - 1)
                rows[i, DISPLAY] |= objective
                rows[i, SHOWN] |= objective
                _draw_top(rows, i, params)
                places -= 1
    rows[i, PLAYER] = player + 1 if player + 1 < params[NUM_PLAYERS] else 0
    if status(rows, i, params) < 0:
        for k in range(8):
            rows[i, FREE + k] = 0
        if params[MODE] == AREA_CONTROL:
            for number in ON_DISPLAY_ALL_GAME:
                owner = _allocated(rows, i, number - 1, params)
                if owner >= 0:
                    _win(rows, i, owner, 1 << (number - 1), params)


@kernel
def _length(word: int) -> int:
    """The number of bits up to the highest one bit, of a word that is not negative."""
    for shift in (1, 2, 4, 8, 16, 32):
        word |= word >> shift
    return popcount(word)


@kernel
def observe(rows: Any, i: int, player: int, obs: Any, params: Any) -> None:
    """Clears all and sets the bytes that are not zero, which are few."""
    for k in range(OBS_SIZE):
        obs[i, k] = 0
    view = params[VIEWS + player]
    placed = rows[i, PLACED]
    for t in range(placed):
        tile = rows[i, TILES + t]
        cell = tile & 255
        planes = _SHOWN_PLANES[view, (tile >> 8) & 63]
        for k in range(6):
            obs[i, CELLS * ((planes >> (8 * k)) & 255) + cell] = 1
    if rows[i, OFFENDER] == 0:
        for k in range(8):
            spread(rows[i, FREE + k], 32, obs, i, 18 * CELLS + 32 * k)
    if placed:
        obs[i, 19 * CELLS + (rows[i, TILES + placed - 1] & 255)] = 1

    for slot in range(SLOTS):
        if rows[i, SLOT_NUMBER + slot]:
            planes = _SHOWN_PLANES[view, rows[i, SLOT_FACE + slot]]
            for k in range(6):
                obs[i, FEATURES_AT + 18 * slot + ((planes >> (8 * k)) & 255)] = 1
    unseen = ALL_OBJECTIVES & ~rows[i, SHOWN]
    spread(rows[i, DISPLAY] | (unseen << NUM_TILES), 2 * NUM_TILES, obs, i, FEATURES_AT + 54)
    players = params[NUM_PLAYERS]
    group = params[MODE] == GROUP
    for seat in range(1 if group else players):
        p = 0 if group else player + seat
        p = p - players if p >= players else p
        obs[i, FEATURES_AT + 90 + seat] = rows[i, STARS_AT + p]
        obs[i, FEATURES_AT + 93 + seat] = popcount(rows[i, WON + p])
        obs[i, FEATURES_AT + 96 + seat] = _length(rows[i, WON + p])
    top = np.int64(rows[i, SLOT_NUMBER + TOP] != 0)
    obs[i, FEATURES_AT + 99] = top + (_length(rows[i, PILE]) + 4) // 5
    obs[i, FEATURES_AT + 100 + params[MODE]] = 1


@kernel
def scores(rows: Any, i: int, out: Any, params: Any) -> None:
    """Stars; in solo and coop the total for everybody."""
    for p in range(params[NUM_PLAYERS]):
        out[i, p] = rows[i, STARS_AT + (0 if params[MODE] == GROUP else p)]


@kernel(allocates=True)
def returns(rows: Any, i: int, out: Any, params: Any) -> None:
    """Most stars win, then most objectives, then the highest number; in solo and coop the total counts."""
    players = params[NUM_PLAYERS]
    if status(rows, i, params) >= 0:
        for p in range(players):
            out[i, p] = 0.0
        return
    if params[MODE] == GROUP:
        for p in range(players):
            out[i, p] = rows[i, STARS_AT] / GROUP_SCALE
        return
    if params[REWARD] == MARGIN:
        margin(out, i, rows[i, STARS_AT : STARS_AT + 3], players, MARGIN_SCALE)
        return
    winners = 0
    best = -1
    for p in range(players):
        won = rows[i, WON + p]
        rank = (rows[i, STARS_AT + p] << 16) | (popcount(won) << 8) | _length(won)
        if rank > best:
            winners = 0
            best = rank
        if rank == best:
            winners |= 1 << p
    outcome(out, i, winners, players)


@kernel(allocates=True)
def resample(rows: Any, i: int, player: int, seed: int, params: Any) -> None:
    """Redraws the number behind each block face that was seen, and the order of the pile under its top.

    All players know the same: the objectives shown, by their numbers, and the block faces on the table and in
    the slots. A tile whose block face was seen can be any of those not shown whose face looks the same, that
    is, up to rotation. The faces stay as they lie, so that every action goes on meaning what it meant. Which
    of such tiles lies on the table is told by which of them are in the slots and in the pile.
    """
    rows[i, GENERATOR] = mix(seed)
    placed = np.zeros(_CODES, np.int64)  # how many tiles on the table have each look
    for t in range(rows[i, PLACED]):
        placed[LOOKS[(rows[i, TILES + t] >> 8) & 63]] += 1
    pile = np.empty(NUM_TILES, np.int64)
    size = 0
    for look in range(_CODES):
        first = size
        for n in range(NUM_TILES):
            if LOOKS[params[FACES + 1 + n]] == look and (rows[i, SHOWN] >> n) & 1 == 0:
                pile[size] = n + 1
                size += 1
        _shuffle(rows, i, pile, first, size)
        size -= placed[look]
        for slot in range(SLOTS):
            if rows[i, SLOT_NUMBER + slot] and LOOKS[rows[i, SLOT_FACE + slot]] == look:
                size -= 1
                rows[i, SLOT_NUMBER + slot] = pile[size]
    _shuffle(rows, i, pile, 0, size)
    _pile_up(rows, i, pile[:size], 0)


# --- Parameters, bounds, deals -----------------------------------------------------------------------------


def _patterns(cells: Sequence[tuple[int, int, int, bool]], mirror: bool) -> list[int]:
    """Every way in which a figure can hold the wall placed last, each once; walls are bits as in DIAMOND.

    Five words each: the walls that are marked, that are pink, yellow, blue, and white.
    """
    found = set()
    for flip, turns, anchor in itertools.product((1, -1) if mirror else (1,), range(4), cells):
        words = [0] * 5
        for u, v, colour, marked in cells:
            u, v = flip * (u - anchor[0]), v - anchor[1]
            for _ in range(turns):
                u, v = -v, u
            bit = 1 << _PLACES.index((u, v))
            words[0] |= bit if marked else 0
            words[1 + colour] |= bit
        found.add(tuple(words))
    return list(itertools.chain.from_iterable(sorted(found)))


def _pack(options: Options) -> Sequence[int]:
    players = options["num_players"]
    tiles = load(options["tiles"])
    params = [0] * PARAMS_SIZE
    params[NUM_PLAYERS] = players
    params[MODE] = RULES[options["mode"]]
    for seat in range(3):
        params[VIEWS + seat] = _view(seat, players)
    for n, (block, objective) in enumerate(zip(tiles.blocks, tiles.objectives, strict=True)):
        params[FACES + 1 + n] = _face(block)
        params[STARS + n] = objective.stars
        if objective.kind == "area":
            for colour in range(3):
                if objective.colour in (colour, WHITE):
                    for size in range(objective.size, MOST_TILES + 1):
                        params[AREAS + SIDE * colour + size] |= 1 << n
            continue
        # A figure that is white all over lies within a group; in others each wall may be a group of its own.
        white = all(colour == WHITE for _, _, colour, _ in objective.cells)
        for size in range(len(objective.cells) if white else 1, MOST_WALLS + 1):
            params[FIGURES + size] |= 1 << n
        needed = {colour for _, _, colour, marked in objective.cells if marked and colour != WHITE}
        for marked in range(8):
            if all((marked >> colour) & 1 for colour in needed):
                params[MARKED + marked] |= 1 << n
        params[PATTERNS + 2 * n] = len(params)
        params += _patterns(objective.cells, options["mirror"])
        params[PATTERNS + 2 * n + 1] = len(params)
    return params


def _view(seat: int, players: int) -> int:
    """Which of _VIEWS a seat has."""
    return 3 if players == 2 and seat == 1 else seat


def _check(options: Options) -> Mapping[str, Any]:
    mode, players = options["mode"], options["num_players"]
    allowed = PLAYERS[mode]
    if players is None:
        players = allowed[0]
    if players not in allowed:
        raise ValueError(
            f"num_players={players!r} is not allowed with mode={mode!r}; choose one of {', '.join(map(str, allowed))}"
        )
    path = options["tiles"]
    if path is not None:
        if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
            raise ValueError(f"tiles={path!r} is not allowed; it is the path of a file, or None")
        path = os.path.abspath(path)
    tiles = load(path)
    if mode == "area_control":
        for number in ON_DISPLAY_ALL_GAME:
            if tiles.objectives[number - 1].kind != "area":
                raise ValueError(
                    f"tiles: {path}: tile {number}, objective: mode='area_control' needs an area there,"
                    f" not a {tiles.objectives[number - 1].kind!r} objective"
                )
    return {"num_players": players, "tiles": path}


def _dealt(options: Options) -> list[int]:
    """The numbers of the tiles in the deal."""
    apart = ON_DISPLAY_ALL_GAME if options["mode"] == "area_control" else ()
    return [number for number in range(1, NUM_TILES + 1) if number not in apart]


def _check_deal(options: Options, deal: Sequence[int]) -> None:
    numbers = _dealt(options)
    if len(deal) != len(numbers):
        raise ValueError(f"a deal lists {len(numbers)} tile numbers, not {len(deal)}")
    for number in numbers:
        if number not in deal:
            raise ValueError(f"a deal has each tile once, and tile {number} is missing")


def _most_won(tiles: TileSet, options: Options) -> int:
    """A bound for how many objectives one player (in solo and coop the group) wins.

    With k tiles on the table at the end, 18 - k objectives were shown. A turn claims at most the display, and
    nothing that takes more walls than there are tiles.
    """
    if options["mode"] == "area_control":
        return len(ON_DISPLAY_ALL_GAME)
    needs = [objective.size or len(objective.cells) for objective in tiles.objectives]
    claims = [min(DISPLAY_PLACES, sum(need <= k for need in needs)) for k in range(1, MOST_TILES + 1)]
    every = 1 if RULES[options["mode"]] == GROUP else options["num_players"]
    ends = itertools.product(range(1, MOST_TILES + 1), range(every))
    return max(min(NUM_TILES - k, sum(claims[first:k:every])) for k, first in ends)


def _bounds(options: Options) -> Bounds:
    players = options["num_players"]
    tiles = load(options["tiles"])
    numbers = _dealt(options)
    apart = options["mode"] == "area_control"
    low, high = np.zeros(103, np.int8), np.zeros(103, np.int8)
    for number, seat in itertools.product(numbers, range(players)):
        view = _VIEWS[_view(seat, players)]
        for wall, (colour, indicator) in enumerate(tiles.blocks[number - 1]):
            for slot in range(SLOTS):
                high[18 * slot + 6 * wall + colour] = high[18 * slot + 6 * wall + 3 + view[indicator]] = 1
    displayed = ON_DISPLAY_ALL_GAME if apart else range(1, NUM_TILES + 1)
    for number in range(1, NUM_TILES + 1):
        high[53 + number] = number in displayed
        high[71 + number] = number in numbers
        low[71 + number] = number not in displayed
    seats = 1 if RULES[options["mode"]] == GROUP else players
    most = _most_won(tiles, options)
    high[90 : 90 + seats] = sum(sorted(tiles.objectives[number - 1].stars for number in displayed)[-most:])
    high[93 : 93 + seats] = most
    high[96 : 96 + seats] = max(displayed)
    high[99] = len(numbers) - (0 if apart else DISPLAY_PLACES) - (SLOTS - 1)
    low[100 + RULES[options["mode"]]] = high[100 + RULES[options["mode"]]] = 1
    return Bounds(np.zeros(20, np.int8), np.ones(20, np.int8), low, high)


def _pile(fields: Any) -> list[int]:
    """The numbers of the tiles under the top of the pile."""
    numbers = []
    pile = int(fields["pile"])
    while pile:
        numbers.append(pile & 31)
        pile >>= 5
    return numbers


def _hidden(row: Rows, options: Options) -> Sequence[int]:
    """The numbers of the tiles in the slots, then under the top of the pile; 0 where none is left."""
    fields = row.view(ROW)[0]
    pile = _pile(fields)
    return [*fields["slot_number"].tolist(), *pile, *[0] * (HIDDEN_PILE - len(pile))]


# --- Text --------------------------------------------------------------------------------------------------


def _text(row: Rows, options: Options) -> str:
    """The table, see iso_text.table, then slots, display, stars and who is to move."""
    fields = row.view(ROW)[0]
    objectives = load(options["tiles"]).objectives
    tiles = {}
    last = None
    for tile in fields["tiles"][: fields["placed"]].tolist():
        last = divmod(tile & 255, SIDE)
        tiles[last] = _walls((tile >> 8) & 63)
    free = {divmod(c, SIDE) for c in range(CELLS) if (int(fields["free"][c >> 5]) >> (c & 31)) & 1}
    lines = [*iso_text.table(tiles, last, free, SIDE), "", iso_text.LEGEND]
    for slot in range(SLOTS):
        face = iso_text.signs(_walls(int(fields["slot_face"][slot])))
        shown = face if fields["slot_number"][slot] else "empty"
        lines.append(f"slot {slot}: {shown}" + (f" on {len(_pile(fields))} more" if slot == TOP else ""))
    display = iso_text.numbers(int(fields["display"]))
    described = ", ".join(iso_text.describe(number, objectives[number - 1]) for number in display)
    lines.append(f"display: {described or 'empty'}")
    group = RULES[options["mode"]] == GROUP
    for p in range(1 if group else options["num_players"]):
        stars = int(fields["stars"][p])
        who = f"together (band {iso_text.band(stars)})" if group else f"player_{p} ({INDICATORS[p]})"
        won = ", ".join(map(str, iso_text.numbers(int(fields["won"][p]))))
        lines.append(f"{who}: {stars}*" + (f" with {won}" if won else ""))
    player = int(fields["player"])
    over = not fields["slot_number"].any()
    lines.append("the game is over" if over else f"player_{player} ({INDICATORS[player]}) to move")
    return "\n".join(lines)


def _action_to_string(action: int) -> str:
    slot, rest = divmod(action, 3 * CELLS)
    rotation, cell = divmod(rest, CELLS)
    return f"{slot}.{rotation}@{cell // SIDE},{cell % SIDE}"


def _string_to_action(text: str) -> int:
    for action in range(NUM_ACTIONS):
        if _action_to_string(action) == text:
            return action
    raise ValueError(f"{text!r} is no action of iso: slot.rotation@x,y is, as 0.0@0,0 to 2.2@15,15")


_SEATS = ("own", "next", "third")
_SHOWS = (*COLOURS, *(f"indicator {who}" for who in _SEATS))
_WALLS_SHOWN = [f"{axis}: {shows}" for axis in "xyz" for shows in _SHOWS]

GAME = Game(
    name="iso",
    title="ISO",
    gym_name="ISO",
    version=0,
    credits="David Heras, LittleHouse Boardgames 2022",
    players=(1, 2, 3),
    row=ROW,
    num_actions=NUM_ACTIONS,
    board_shape=(20, SIDE, SIDE),
    planes=(
        *(f"wall on axis {wall}" for wall in _WALLS_SHOWN),
        "cells where a tile may be placed",
        "the tile placed last",
    ),
    features=(
        *(f"slot {slot}, wall {wall}" for slot in range(SLOTS) for wall in _WALLS_SHOWN),
        *(f"objective {n} is on display" for n in range(1, NUM_TILES + 1)),
        *(f"objective face {n} has not been shown yet" for n in range(1, NUM_TILES + 1)),
        *(f"stars: {who}" for who in _SEATS),
        *(f"objectives: {who}" for who in _SEATS),
        *(f"highest reference number: {who}" for who in _SEATS),
        "tiles in the pile, the top included",
        "mode: competitive",
        "mode: solo or coop",
        "mode: area_control",
    ),
    action_groups=(
        ("0..767", "256 * rotation + 16 * x + y: the tile of slot 0, turned by rotation thirds, to (x, y)"),
        ("768..1535", "the same with slot 1"),
        ("1536..2303", "the same with slot 2, the top of the pile; 2.1@8,9 turns it by a third, to (8, 9)"),
    ),
    max_game_length=MOST_TILES,
    margin_scale=MARGIN_SCALE,
    options={
        "mode": Option("competitive", tuple(PLAYERS), "the way to play"),
        "num_players": Option(None, (None, 1, 2, 3), "number of players; None: 2, in solo 1"),
        "mirror": Option(False, (False, True), "whether figures may be mirrored"),
        "tiles": Option(None, (), "the path of a file of tiles; None: the packaged one"),
    },
    kernels=Kernels(init, legal, step, observe, scores, returns, status, resample),
    pack=_pack,
    bounds=_bounds,
    deal=_check_deal,
    deal_about="the tile numbers in pile order: objectives on display, slots 0 and 1, then the pile from its"
    " top; area_control: neither the display nor tiles 10 to 13",
    hidden=_hidden,
    hidden_bounds=lambda options: (SLOTS + HIDDEN_PILE, 0, NUM_TILES),
    text=_text,
    action_to_string=_action_to_string,
    string_to_action=_string_to_action,
    check=_check,
)
