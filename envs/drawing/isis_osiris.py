"""Isis & Osiris drawn: the board, the tiles with their values or eye up, the stones, what each player has left."""

from __future__ import annotations

from iszoo.envs.drawing.canvas import (
    BLUE,
    DARK_WEIGHT,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    TIMES,
    WEIGHT,
    WHITE,
    Canvas,
    around,
    listed,
    percent,
    signed,
)
from iszoo.envs.drawing.position import Position
from iszoo.envs.isis_osiris import CELLS, NUM_TILES, REVEAL, STOCK, TILES

LETTERS = "ABCD"
FILL = (BLUE, ORANGE, GREEN, PURPLE)  # of the stones; each player's have a shape of their own too
ON = (WHITE, INK, WHITE, INK)
SUN, MOON, EYE = "#FFE9A8", "#3B3A4A", "#17677A"  # tiles that add, that take away, that lie eye up
VALUES = (-4, -3, -2, -1, 1, 2, 3, 4)

CELL, LEFT, TOP = 84, 60, 88
BOTTOM = TOP + 6 * CELL
WIDTH = 600


def draw(position: Position) -> Canvas:
    """The picture. What lies face down and is remembered by nobody in memory="hidden" is shown to no seat."""
    canvas = Canvas(WIDTH, f"Isis & Osiris: {status(position)}")
    _status(canvas, position)
    _board(canvas, position)
    y = BOTTOM + 16.0
    y = _counts(canvas, position, y)
    if position.options["variant"] == "shared_stock":
        y = _common_stock(canvas, position, y)
    standard = position.options["variant"] == "standard"
    columns = 3 if position.num_players == 3 else 2
    step, height = (WIDTH - 4) / columns, 100 if standard else 68
    for seat in range(position.num_players):
        box = (4 + step * (seat % columns), y + (height + 8) * (seat // columns), step - 4, height)
        _panel(canvas, position, seat, *box)
    y += (height + 8) * ((position.num_players + columns - 1) // columns)
    if standard and position.seat is None:
        y = _out_of_game(canvas, position, y)
    canvas.end_at(y)
    return canvas


def targets(position: Position) -> dict[int, tuple[str, ...]]:
    """The cell, for a stone or the tile in hand; "reveal" for the next tile."""
    return {action: ("reveal" if action == REVEAL else f"cell-{action}",) for action in position.legal}


def _is_open(position: Position) -> bool:
    """Whether who looks may know the values of the tiles on the board; all do when they are turned at the end."""
    return position.options["memory"] == "open" or position.seat is None or position.over


def _values(position: Position) -> list[int]:
    """By cell, the value of its tile, 0 for none."""
    values: list[int] = position.fields["values"].astype("<i8").view("i1")[:CELLS].tolist()
    return values


def _stock(position: Position) -> list[int]:
    """The values in stock order, 0 for those that were drawn."""
    words = position.fields["stock"].tolist()
    codes = [(words[k // 11] >> (4 * (k % 11))) & 15 for k in range(NUM_TILES)]
    return [code - 5 if code else 0 for code in codes]


def _status(canvas: Canvas, position: Position) -> None:
    canvas.text(16, 30, status(position), 24, fit=400)
    hand = int(position.fields["hand"])
    share = position.shares.get(REVEAL)
    if hand:
        canvas.text(512, 30, "in hand", 20, anchor="end", fill=GREY)
        _tile(canvas, 530, 5, 50, hand)
        if position.last == REVEAL:
            canvas.mark(526, 4, 58, 52, 9)
    elif REVEAL in position.legal:
        with canvas.group("reveal"):
            canvas.panel(430, 6, 158, 48, active=True)
            _tile(canvas, 436, 10, 40, None)
            canvas.text(482, 30, percent(share) if share else "reveal", 24, fit=102, fill=DARK_WEIGHT if share else INK)


def status(position: Position) -> str:
    """Who is to do what, or who won."""
    if position.offender is not None:
        return f"{LETTERS[position.offender]} played an illegal action"
    if position.over:
        points = [signed(position.scores[seat]) if position.scores[seat] else "0" for seat in position.winners]
        winners = listed([LETTERS[seat] for seat in position.winners])
        return f"{winners} {'wins' if len(position.winners) == 1 else 'win'} with {points[0]}"
    letter = LETTERS[position.player]
    if position.fields["hand"]:
        return f"{letter} to place the tile"
    if REVEAL not in position.legal:
        return f"{letter} to place a stone"
    return f"{letter} to move" if len(position.legal) > 1 else f"{letter} to reveal a tile"


def _board(canvas: Canvas, position: Position) -> None:
    canvas.rect(LEFT - 34, TOP - 26, 6 * CELL + 60, 6 * CELL + 34, radius=12, fill="#23375E")
    for n in range(6):
        canvas.text(LEFT + CELL * (n + 0.5), TOP - 13, "abcdef"[n], 20, anchor="middle", fill="#F3DFA6")
        canvas.text(LEFT - 18, TOP + CELL * (n + 0.5), str(n + 1), 20, anchor="middle", fill="#F3DFA6")
    taken = int(position.fields["tiles"])
    values = _values(position)
    shown = _is_open(position)
    for cell in range(CELLS):
        x, y = _corner(cell)
        with canvas.group(f"cell-{cell}"):
            canvas.rect(x + 1.5, y + 1.5, CELL - 3, CELL - 3, radius=5, fill="#E8CF94")
            if (taken >> cell) & 1:
                _tile(canvas, x + 5, y + 5, CELL - 10, values[cell] if shown else None, 0 if position.over else -7)
                if shown and not position.over:
                    _eye(canvas, x + CELL / 2, y + CELL - 19, 11, "#8A7B52" if values[cell] > 0 else "#A9A7BD")
            for seat in range(position.num_players):
                if (int(position.fields["stones"][seat]) >> cell) & 1:
                    _stone(canvas, x + CELL / 2, y + CELL / 2, 33, seat)
    with canvas.group(pointer_events="none"):
        if position.last is not None and position.last != REVEAL:
            x, y = _corner(position.last)
            canvas.mark(x + 2, y + 2, CELL - 4, CELL - 4, 7)
        _overlay(canvas, position)


def _corner(cell: int) -> tuple[float, float]:
    """The upper left corner of a cell."""
    return LEFT + CELL * (cell % 6), TOP + CELL * (cell // 6)


def _overlay(canvas: Canvas, position: Position) -> None:
    greatest = max(position.shares.values(), default=0)
    for action, share in position.shares.items():
        if action == REVEAL:
            continue
        x, y = (at + CELL / 2 for at in _corner(action))
        canvas.circle(x, y, 38 * (share / greatest) ** 0.5, fill=WEIGHT, fill_opacity=0.85)
        if share >= 0.03 and share > 0.3 * greatest:
            canvas.text(x, y, percent(share), 21, anchor="middle", fill=WHITE)
        elif share >= 0.03:
            canvas.text(x, y + 31, percent(share), 19, anchor="middle", fill=DARK_WEIGHT)


def _tile(canvas: Canvas, x: float, y: float, side: float, value: int | None, lower: float = 0) -> None:
    """A tile with its value, `lower` under its middle; None: eye up."""
    fill = EYE if value is None else SUN if value > 0 else MOON
    canvas.rect(x, y, side, side, radius=0.12 * side, fill=fill, stroke=INK, stroke_width=0.025 * side + 0.5)
    middle_x, middle_y = x + side / 2, y + side / 2
    if value is None:
        _eye(canvas, middle_x, middle_y, 0.36 * side, "#F7E3AE")
        return
    on = INK if value > 0 else WHITE
    canvas.text(middle_x - 0.02 * side, middle_y + lower, signed(value), 0.56 * side, anchor="middle", fill=on)


def _eye(canvas: Canvas, x: float, y: float, radius: float, colour: str) -> None:
    """An eye of Horus: brow, lid, pupil, tear and spiral, in a box of twice the radius."""
    scale = radius / 50
    with canvas.group(
        transform=f"translate({x:.2f} {y:.2f}) scale({scale:.3f})", fill="none", stroke=colour, stroke_width=9,
        stroke_linecap="round", stroke_linejoin="round",
    ):  # fmt: skip
        canvas.path("M-46 -24C-28 -46 14 -46 46 -30")
        canvas.path("M-46 -2C-26 -26 14 -26 46 -2C16 14 -26 16 -46 -2Z")
        canvas.circle(-2, -5, 10, fill=colour, stroke="none")
        canvas.path("M-14 12C-12 24 -14 34 -20 44")
        canvas.path("M6 10C16 32 34 42 44 34C50 28 42 20 36 26")


def _stone(canvas: Canvas, x: float, y: float, radius: float, seat: int, letter: bool = True) -> None:
    """A stone: round, a diamond, a pyramid or a hexagon by seat."""
    style = {"fill": FILL[seat], "stroke": INK, "stroke_width": 0.06 * radius + 0.6, "stroke_linejoin": "round"}
    at = y
    if seat == 0:
        canvas.circle(x, y, 0.92 * radius, **style)
    elif seat == 1:
        canvas.polygon([around(x, y, 1.06 * radius, 90 * k) for k in range(4)], **style)
    elif seat == 2:
        canvas.polygon([around(x, y + 0.2 * radius, 1.12 * radius, 90 + 120 * k) for k in range(3)], **style)
        at = y + 0.22 * radius
    else:
        canvas.polygon([around(x, y, radius, 60 * k) for k in range(6)], **style)
    if letter:
        canvas.text(x, at, LETTERS[seat], 0.95 * radius, anchor="middle", fill=ON[seat])


def _counts(canvas: Canvas, position: Position, y: float) -> float:
    """A strip: how many tiles of each value nobody has seen yet; for who must remember, how many there are."""
    unseen = int(position.fields["unseen"])
    shown = _is_open(position)
    canvas.text(8, y + 16, "unseen" if shown else "in all", 17, fit=72)
    for k, value in enumerate(VALUES):
        count = (unseen >> (8 * k)) & 255 if shown else dict(TILES)[value]
        x = 84 + 64.5 * k
        with canvas.group(opacity=None if count else 0.3):
            _tile(canvas, x, y, 32, value)
            canvas.text(x + 35, y + 16, f"{TIMES}{count}", 17)
    return y + 44


def _minis(canvas: Canvas, position: Position, x: float, y: float, first: int, count: int, step: float) -> None:
    """Tiles of the stock, the next one first: their values for who sees all, else eye up."""
    stock = _stock(position)
    for k in range(count):
        _tile(canvas, x + step * k, y, step - 2, stock[first + k] if position.seat is None else None)


def _common_stock(canvas: Canvas, position: Position, y: float) -> float:
    left = int(position.fields["tiles_left"][0])
    with canvas.group("reveal" if REVEAL in position.legal else None):
        canvas.panel(4, y, WIDTH - 8, 36)
        canvas.text(14, y + 18, f"stock {left}", 17, fit=80)
        _minis(canvas, position, 96, y + 7, NUM_TILES - left, left, 22.4)
    return y + 44


def _out_of_game(canvas: Canvas, position: Position, y: float) -> float:
    """The tiles that were put aside, for who sees all."""
    dealt = STOCK[position.num_players] * position.num_players
    if dealt == NUM_TILES:
        return y
    canvas.text(14, y + 12, "out of the game", 17, fill=GREY)
    _minis(canvas, position, 200, y, dealt, NUM_TILES - dealt, 25)
    return y + 32


def _panel(canvas: Canvas, position: Position, seat: int, x: float, y: float, width: float, height: float) -> None:
    """A player's points, stones and tiles."""
    to_move = seat == position.player
    canvas.panel(x, y, width, height, active=to_move)
    _stone(canvas, x + 25, y + 30, 19, seat)
    canvas.text(x + 50, y + 18, f"player_{seat}", 17, fit=width - 115)
    if seat == position.seat:
        canvas.text(x + width - 10, y + 48, "you", 16, anchor="end")
    points = position.scores[seat]
    shown = (signed(points) if points else "0") if _is_open(position) else "?"
    canvas.text(x + width - 10, y + 20, shown, 25, anchor="end")
    for k in range(int(position.fields["stones_left"][seat])):
        _stone(canvas, x + 59 + 18 * k, y + 47, 8, seat, letter=False)
    if position.options["variant"] == "standard":
        left = int(position.fields["tiles_left"][seat])
        with canvas.group("reveal" if to_move and REVEAL in position.legal else None):
            _minis(canvas, position, x + 9, y + 68, STOCK[position.num_players] * (seat + 1) - left, left, 25.5)
