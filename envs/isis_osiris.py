"""Isis & Osiris (Michael Schacht): the rules, as kernels. Two to four players, chance, memory.

Source: the published rulebook; where it is silent the rulings are ours, and the docs page lists them.
Cells are 6 * row + column; a set of cells is one int64, bit c for cell c.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from iszoo.envs.game import Bounds, Game, Kernels, Option, Options, Rows, words
from iszoo.envs.native import kernel, popcount, store8
from iszoo.envs.primitives import (
    GENERATOR,
    MARGIN,
    NUM_PLAYERS,
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

CELLS = 36
ALL_CELLS = (1 << CELLS) - 1
REVEAL = 36
NUM_TILES = 22
TILES = ((1, 2), (2, 6), (3, 2), (4, 1), (-1, 2), (-2, 6), (-3, 2), (-4, 1))  # value, how many
STONES = {2: 8, 3: 6, 4: 5}  # players: stones of each
STOCK = {2: 11, 3: 7, 4: 5}  # players: tiles of each, variant="standard"
MARGIN_SCALE = 40

ROW = np.dtype(
    [
        *ROW_HEAD,
        ("player", "<i8"),  # seat to move
        ("hand", "<i8"),  # value of the tile in hand, 0 for none
        ("stones", "<i8", (4,)),  # cells of each player's stones
        ("tiles", "<i8"),  # cells of the tiles on the board
        ("values", "<i8", (5,)),  # their values, a signed byte a cell, cell c in byte c % 8 of word c // 8
        ("stones_left", "<i8", (4,)),
        ("tiles_left", "<i8", (4,)),  # in each player's stock; shared_stock: in [0] for everybody
        ("stock", "<i8", (2,)),  # the deal less what was drawn: tile k as value + 5 in 4 bits, 11 a word
        ("unseen", "<i8"),  # tiles not yet seen, a byte each for values -4 -3 -2 -1 1 2 3 4
    ]
)

PLAYER, HAND, STONES_AT, TILES_AT, VALUES = words(ROW, "player", "hand", "stones", "tiles", "values")
STONES_LEFT, TILES_LEFT, STOCK_AT, UNSEEN = words(ROW, "stones_left", "tiles_left", "stock", "unseen")
ROW_SIZE = ROW.itemsize // 8

# Parameters, after the head that every game has.
SHARED, HIDDEN_MEMORY, STONES_EACH, STOCK_EACH = range(PARAMS_HEAD, PARAMS_HEAD + 4)

FEATURES_AT = 6 * CELLS
_LOW_32 = (1 << 32) - 1


@kernel
def _tile(rows: Any, i: int, k: int) -> int:
    """The value at place k of the deal; 0 once it was drawn."""
    code = (rows[i, STOCK_AT + k // 11] >> (4 * (k % 11))) & 15
    return code - 5 if code else 0


@kernel
def _set_tile(rows: Any, i: int, k: int, value: int) -> None:
    shift = 4 * (k % 11)
    word = rows[i, STOCK_AT + k // 11] & ~(15 << shift)
    rows[i, STOCK_AT + k // 11] = word | ((value + 5) << shift)


@kernel
def _unseen_byte(value: int) -> int:
    """Where the count of a value stands in the word `unseen`."""
    return 8 * (value + 4 if value < 0 else value + 3)


@kernel
def _shuffle(rows: Any, i: int, places: Any, count: int) -> None:
    """Shuffles the values at places[:count] of the deal (Fisher-Yates)."""
    for k in range(count - 1, 0, -1):
        j = draw(rows, i, GENERATOR, k + 1)
        a, b = _tile(rows, i, places[k]), _tile(rows, i, places[j])
        _set_tile(rows, i, places[k], b)
        _set_tile(rows, i, places[j], a)


@kernel(allocates=True)
def init(rows: Any, i: int, seed: int, deal: Any, params: Any) -> None:
    players = params[NUM_PLAYERS]
    start_generator(rows, i, seed)
    for k in range(PLAYER, ROW_SIZE):
        rows[i, k] = 0
    for p in range(players):
        rows[i, STONES_LEFT + p] = params[STONES_EACH]
        rows[i, TILES_LEFT + p] = 0 if params[SHARED] else params[STOCK_EACH]
    if params[SHARED]:
        rows[i, TILES_LEFT] = NUM_TILES
    k = 0
    for value, count in TILES:
        rows[i, UNSEEN] |= count << _unseen_byte(value)
        for _ in range(count):
            _set_tile(rows, i, k, value)
            k += 1
    if len(deal) > 0:
        for k in range(NUM_TILES):
            _set_tile(rows, i, k, deal[k])
    else:
        _shuffle(rows, i, np.arange(NUM_TILES), NUM_TILES)


@kernel
def status(rows: Any, i: int, params: Any) -> int:
    taken = rows[i, TILES_AT]
    for p in range(4):
        taken |= rows[i, STONES_AT + p]
    return rows[i, PLAYER] if taken != ALL_CELLS else -1


@kernel
def stock_of(rows: Any, i: int, player: int, params: Any) -> int:
    """Where the tiles left in a player's stock are counted."""
    return TILES_LEFT if params[SHARED] else TILES_LEFT + player


@kernel
def legal(rows: Any, i: int, mask: Any, params: Any) -> int:
    player = rows[i, PLAYER]
    taken = rows[i, TILES_AT]
    for p in range(4):
        taken |= rows[i, STONES_AT + p]
    free = ALL_CELLS & ~taken
    reveal = 0
    cells = 0
    if free:
        hand = rows[i, HAND] != 0
        reveal = int(not hand and rows[i, stock_of(rows, i, player, params)] > 0)
        cells = free if hand or rows[i, STONES_LEFT + player] > 0 else 0
    actions = cells | (reveal << REVEAL)
    spread(actions, REVEAL + 1, mask, i, 0)
    return popcount(actions)


@kernel
def step(rows: Any, i: int, action: int, params: Any) -> None:
    player = rows[i, PLAYER]
    if action == REVEAL:
        stock = stock_of(rows, i, player, params)
        dealt = NUM_TILES if params[SHARED] else (player + 1) * params[STOCK_EACH]
        k = dealt - rows[i, stock]
        value = _tile(rows, i, k)
        rows[i, STOCK_AT + k // 11] &= ~(15 << (4 * (k % 11)))
        rows[i, stock] -= 1
        rows[i, HAND] = value
        rows[i, UNSEEN] -= 1 << _unseen_byte(value)
        return
    value = rows[i, HAND]
    if value != 0:
        rows[i, TILES_AT] |= 1 << action
        rows[i, VALUES + (action >> 3)] |= (value & 255) << (8 * (action & 7))
        rows[i, HAND] = 0
    else:
        rows[i, STONES_AT + player] |= 1 << action
        rows[i, STONES_LEFT + player] -= 1
    # A player with neither stone nor tile is skipped; somebody can move as long as a cell is free, for
    # stones and tiles are more than the cells.
    for _ in range(params[NUM_PLAYERS]):
        player = player + 1 if player + 1 < params[NUM_PLAYERS] else 0
        if rows[i, STONES_LEFT + player] + rows[i, stock_of(rows, i, player, params)] > 0:
            break
    rows[i, PLAYER] = player


@kernel
def observe(rows: Any, i: int, player: int, obs: Any, params: Any) -> None:
    players = params[NUM_PLAYERS]
    shared = params[SHARED]
    counts = 0  # stones left and tiles left of the four seats, a byte each
    for seat in range(4):
        cells = 0
        if seat < players:
            p = player + seat
            p = p - players if p >= players else p
            cells = rows[i, STONES_AT + p]
            counts |= rows[i, STONES_LEFT + p] << (8 * seat)
            if shared == 0:
                counts |= rows[i, TILES_LEFT + p] << (32 + 8 * seat)
        spread(cells, CELLS, obs, i, seat * CELLS)
    if shared:
        counts |= rows[i, TILES_LEFT] << 32
    spread(rows[i, TILES_AT], CELLS, obs, i, 4 * CELLS)

    shown = -1 + params[HIDDEN_MEMORY]  # all bits, or none
    for k in range(4):
        store8(obs, i, 5 * CELLS + 8 * k, rows[i, VALUES + k] & shown)
    end = ((rows[i, VALUES + 3] >> 32) & _LOW_32) | (rows[i, VALUES + 4] << 32)
    store8(obs, i, 5 * CELLS + CELLS - 8, end & shown)

    f = FEATURES_AT
    unseen = rows[i, UNSEEN] & shown
    hand = rows[i, HAND]
    # The last five features end a word of their own, which begins with the last three counts of `unseen`.
    last = (int(hand != 0) << 24) | ((hand & 255) << 32) | (1 << (24 + 8 * players))
    store8(obs, i, f, counts)
    store8(obs, i, f + 8, unseen)
    store8(obs, i, f + 13, last | (unseen >> 40))


@kernel
def player_points(rows: Any, i: int, player: int) -> int:
    """The sum over a player's stones of the tiles orthogonally next to each."""
    stones = rows[i, STONES_AT + player]
    tiles = rows[i, TILES_AT]
    points = 0
    for c in range(CELLS):
        if (tiles >> c) & 1:
            column = c % 6
            touching = 0
            if column > 0:
                touching += (stones >> (c - 1)) & 1
            if column < 5:
                touching += (stones >> (c + 1)) & 1
            if c >= 6:
                touching += (stones >> (c - 6)) & 1
            if c < 30:
                touching += (stones >> (c + 6)) & 1
            value = (rows[i, VALUES + (c >> 3)] >> (8 * (c & 7))) & 255
            points += touching * (value - 256 if value > 127 else value)
    return points


@kernel
def scores(rows: Any, i: int, out: Any, params: Any) -> None:
    for p in range(params[NUM_PLAYERS]):
        out[i, p] = player_points(rows, i, p)


@kernel(allocates=True)
def returns(rows: Any, i: int, out: Any, params: Any) -> None:
    players = params[NUM_PLAYERS]
    if status(rows, i, params) >= 0:
        for p in range(players):
            out[i, p] = 0.0
        return
    points = np.zeros(4, np.int64)
    best = -1000
    for p in range(players):
        points[p] = player_points(rows, i, p)
        best = max(best, points[p])
    if params[REWARD] == MARGIN:
        margin(out, i, points, players, MARGIN_SCALE)
        return
    winners = 0
    for p in range(players):
        if points[p] == best:
            winners |= 1 << p
    outcome(out, i, winners, players)


@kernel(allocates=True)
def resample(rows: Any, i: int, player: int, seed: int, params: Any) -> None:
    """Redraws the order of what was not drawn yet: all of it is hidden from every player alike."""
    rows[i, GENERATOR] = mix(seed)
    places = np.empty(NUM_TILES, np.int64)
    count = 0
    for k in range(NUM_TILES):
        if _tile(rows, i, k) != 0:
            places[count] = k
            count += 1
    # Sorted first, from the counts that everybody knows, so that the draw depends on nothing else.
    at = 0
    for value in range(-4, 5):
        if value != 0:
            for _ in range((rows[i, UNSEEN] >> _unseen_byte(value)) & 255):
                _set_tile(rows, i, places[at], value)
                at += 1
    _shuffle(rows, i, places, count)


def _pack(options: Options) -> Sequence[int]:
    players = options["num_players"]
    shared = options["variant"] == "shared_stock"
    return [players, 0, int(shared), int(options["memory"] == "hidden"), STONES[players], STOCK[players]]


def _bounds(options: Options) -> Bounds:
    players = options["num_players"]
    open_memory = options["memory"] == "open"
    board_low, board_high = np.zeros(6, np.int8), np.zeros(6, np.int8)
    board_high[:players] = 1
    board_high[4] = 1
    low, high = np.zeros(21, np.int8), np.zeros(21, np.int8)
    high[:players] = STONES[players]
    if options["variant"] == "shared_stock":
        high[4] = NUM_TILES
    else:
        high[4 : 4 + players] = STOCK[players]
    if open_memory:
        board_low[5], board_high[5] = -4, 4
        counts = dict(TILES)
        high[8:16] = [counts[value] for value in (-4, -3, -2, -1, 1, 2, 3, 4)]
    high[16] = 1
    low[17], high[17] = -4, 4
    low[16 + players] = high[16 + players] = 1
    return Bounds(board_low, board_high, low, high)


def _check_deal(options: Options, deal: Sequence[int]) -> None:
    if len(deal) != NUM_TILES:
        raise ValueError(f"a deal lists all {NUM_TILES} tile values, not {len(deal)}")
    for value, count in TILES:
        if deal.count(value) != count:
            raise ValueError(f"a deal has {count} tiles of value {value:+d}, not {deal.count(value)}")


def _hidden(row: Rows, options: Options) -> Sequence[int]:
    """Per cell the value of its tile, then the deal, 0 where a tile was drawn."""
    fields = row.view(ROW)[0]
    values = fields["values"].astype("<i8").view(np.int8)[:CELLS]
    stock = [(int(fields["stock"][k // 11]) >> (4 * (k % 11))) & 15 for k in range(NUM_TILES)]
    return [*values.tolist(), *(code - 5 if code else 0 for code in stock)]


def _text(row: Rows, options: Options) -> str:
    """Stones as A, B, C, D by seat, tiles by their value (## with memory="hidden")."""
    fields = row.view(ROW)[0]
    values = _hidden(row, options)[:CELLS]
    players = options["num_players"]
    cells = []
    for c in range(CELLS):
        cell = " ."
        for p in range(players):
            if (int(fields["stones"][p]) >> c) & 1:
                cell = " " + "ABCD"[p]
        if (int(fields["tiles"]) >> c) & 1:
            cell = f"{values[c]:+d}" if options["memory"] == "open" else "##"
        cells.append(cell)
    lines = ["    a  b  c  d  e  f"]
    lines += [f"{r + 1}  " + " ".join(cells[6 * r : 6 * r + 6]) for r in range(6)]
    for p in range(players):
        stock = fields["tiles_left"][0 if options["variant"] == "shared_stock" else p]
        lines.append(f"{'ABCD'[p]}: {fields['stones_left'][p]} stones, {stock} tiles")
    hand = f", with {int(fields['hand']):+d} in hand" if fields["hand"] else ""
    lines.append(f"{'ABCD'[int(fields['player'])]} to move{hand}")
    return "\n".join(lines)


def _action_to_string(action: int) -> str:
    if action == REVEAL:
        return "reveal"
    return f"{'abcdef'[action % 6]}{action // 6 + 1}"


def _string_to_action(text: str) -> int:
    if text == "reveal":
        return REVEAL
    if len(text) == 2 and text[0] in "abcdef" and text[1] in "123456":
        return 6 * (int(text[1]) - 1) + "abcdef".index(text[0])
    raise ValueError(f"{text!r} is no action of isis_osiris: a cell is a1 (top left) to f6; or 'reveal'")


GAME = Game(
    name="isis_osiris",
    title="Isis & Osiris",
    gym_name="IsisOsiris",
    version=0,
    credits="Michael Schacht",
    players=(2, 3, 4),
    row=ROW,
    num_actions=37,
    board_shape=(6, 6, 6),
    planes=(
        "own stones",
        "stones of the next player, clockwise",
        "stones of the second next player",
        "stones of the third next player",
        "tiles, lying face down",
        "values of the tiles (memory='open')",
    ),
    features=(
        *(f"stones left: {who}" for who in ("own", "next", "second next", "third next")),
        *(f"tiles left in stock: {who}" for who in ("own (or common)", "next", "second next", "third next")),
        *(f"tiles not yet seen of value {v:+d} (memory='open')" for v in (-4, -3, -2, -1, 1, 2, 3, 4)),
        "a tile is in hand",
        "its value",
        *(f"{n} players" for n in (2, 3, 4)),
    ),
    action_groups=(
        ("0..35", "cell 6 * row + column: put a stone there, or the tile in hand"),
        ("36", "reveal the next tile of the stock"),
    ),
    max_game_length=58,
    margin_scale=MARGIN_SCALE,
    options={
        "num_players": Option(2, (2, 3, 4), "number of players"),
        "variant": Option("standard", ("standard", "shared_stock"), "a stock each, or one for everybody"),
        "memory": Option("open", ("open", "hidden"), "whether values once shown stay in the observation"),
    },
    kernels=Kernels(init, legal, step, observe, scores, returns, status, resample),
    pack=_pack,
    bounds=_bounds,
    deal=_check_deal,
    deal_about="the 22 tile values in stock order; standard: the players' stocks in seat order, then the tiles"
    " out of the game",
    hidden=_hidden,
    hidden_bounds=lambda options: (CELLS + NUM_TILES, -4, 4),
    text=_text,
    action_to_string=_action_to_string,
    string_to_action=_string_to_action,
)
