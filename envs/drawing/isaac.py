"""Isaac drawn: the board with both players' coordinates, their counters, their unplayed pieces.

Names of cells in `data-target` are in Dark's frame, whoever moves or looks.
"""

from __future__ import annotations

from typing import Any

from iszoo.envs.drawing.canvas import INK, LAST, TIMES, WEIGHT, WHITE, Canvas, Point, percent
from iszoo.envs.drawing.isaac_board import (
    DARK,
    LIGHT,
    Piece,
    absolute,
    cells_of,
    counters_on,
    last_counter,
    last_piece,
    pieces_on,
)
from iszoo.envs.drawing.position import Position
from iszoo.envs.isaac import COUNTER, LENGTHS, PLACE, REMOVE, TARGETS, TYPES, VALUES, WIN

NAMES = ("Dark", "Light")
FILL = ("#22426B", "#F4C64F")
EDGE = ("#0E1B2E", "#6B4A00")
ON = (WHITE, INK)  # what is written on a piece

CELL, LEFT, TOP = 54, 30, 136
RIGHT, BOTTOM = LEFT + 10 * CELL, TOP + 10 * CELL
WIDTH = 600
SHOWN = 3  # the placements of an overlay that are drawn as pieces, the best ones


def draw(position: Position) -> Canvas:
    """The picture, as Light sees it for seat 1, else as Dark does."""
    canvas = Canvas(WIDTH, f"Isaac: {status(position)}")
    view = _View(LIGHT if position.seat == LIGHT else DARK)
    pieces = list(pieces_on(position))
    _status(canvas, position)
    _board(canvas, view)
    last = last_piece(position, pieces)
    for piece in pieces:
        _piece(canvas, view, piece, counters_on(position), last)
    if last and last not in pieces:
        _outline(canvas, view, last.cells, LAST, stroke_width=4, stroke_dasharray="9 6", stroke_linejoin="round")
    _tokens(canvas, view, position)
    _overlay(canvas, view, position)
    if position.player >= 0 and position.fields["phase"] != REMOVE:
        for cell in range(100):
            canvas.hit(f"cell-{cell}", *view.corner(cell), CELL, CELL)
    for owner, y in ((1 - view.seat, 48), (view.seat, BOTTOM + 30)):
        _reserve(canvas, position, owner, y)
    canvas.end_at(BOTTOM + 96)
    return canvas


def targets(position: Position) -> dict[int, tuple[str, ...]]:
    """Placing: the piece in the reserve, its lowest cell, its other end; of one cell: the number of its line.

    Removing: the piece. The counter: the cell that it goes to, or "win" for 100 or more.
    """
    lengths = LENGTHS[position.options["pieces"]]
    found: dict[int, tuple[str, ...]] = {}
    for action in position.legal:
        if action == TARGETS + WIN:
            found[action] = ("win",)
            continue
        if action >= TARGETS:
            found[action] = (f"cell-{absolute(action - TARGETS, position.player)}",)
            continue
        kind, upright = divmod(action // 100, 2)
        cells = cells_of(action, position.player, lengths)
        if position.fields["phase"] == REMOVE:
            found[action] = (f"piece-{min(cells)}",)
            continue
        first, last = cells[0], cells[-1]
        line = (f"column-{first % 10}" if upright else f"row-{first // 10}") if first == last else f"cell-{last}"
        found[action] = (f"reserve-{kind}", f"cell-{first}", line)
    return found


class _View:
    """Where cells are on the picture."""

    def __init__(self, seat: int) -> None:
        self.seat = seat

    def corner(self, cell: int) -> Point:
        """Upper left corner of a cell of Dark's frame."""
        tens, units = divmod(absolute(cell, self.seat), 10)
        return LEFT + CELL * units, TOP + CELL * (9 - tens)

    def centre(self, cell: int) -> Point:
        x, y = self.corner(cell)
        return x + CELL / 2, y + CELL / 2

    def box(self, cells: tuple[int, ...]) -> tuple[float, float, float, float]:
        """Left, top, width, height of the cells of a piece."""
        corners = [self.corner(cell) for cell in cells]
        x, y = min(corner[0] for corner in corners), min(corner[1] for corner in corners)
        far_x, far_y = max(corner[0] for corner in corners), max(corner[1] for corner in corners)
        return x, y, far_x - x + CELL, far_y - y + CELL


def _board(canvas: Canvas, view: _View) -> None:
    canvas.rect(LEFT - 26, TOP - 26, 10 * CELL + 52, 10 * CELL + 52, radius=8, fill="#8C6D46")
    canvas.rect(LEFT, TOP, 10 * CELL, 10 * CELL, fill="#E9DEC7")
    for n in range(1, 10):
        canvas.line(LEFT + CELL * n, TOP, LEFT + CELL * n, BOTTOM, stroke="#C9B893", stroke_width=1.5)
        canvas.line(LEFT, TOP + CELL * n, RIGHT, TOP + CELL * n, stroke="#C9B893", stroke_width=1.5)
    # Each player's numbers stand in front of them and on their left: those of who looks grow to the right and up.
    for near in (True, False):
        colour = (WHITE, "#FFDC83")[view.seat if near else 1 - view.seat]
        for n in range(10):
            label = str(n if near else 9 - n)
            line = n if view.seat == DARK else 9 - n  # in Dark's frame
            along = CELL * n + CELL / 2
            with canvas.group(f"column-{line}" if near else None, fill=colour, text_anchor="middle"):
                canvas.text(LEFT + along, BOTTOM + 13 if near else TOP - 13, label, 19)
            with canvas.group(f"row-{line}" if near else None, fill=colour, text_anchor="middle"):
                canvas.text(LEFT - 13 if near else RIGHT + 13, BOTTOM - along, label, 19)


def _piece(canvas: Canvas, view: _View, piece: Piece, counters: dict[int, int], last: Piece | None) -> None:
    with canvas.group(f"piece-{min(piece.cells)}"):
        x, y, width, height = view.box(piece.cells)
        canvas.rect(
            x + 6, y + 6, width - 12, height - 12, radius=9,
            fill=FILL[piece.owner], stroke=EDGE[piece.owner], stroke_width=2.5,
        )  # fmt: skip
        for n in range(1, len(piece.cells)):  # where its cells meet
            ends = (x + 8, y + CELL * n, x + width - 8, y + CELL * n)
            if not piece.upright:
                ends = (x + CELL * n, y + 8, x + CELL * n, y + height - 8)
            canvas.line(*ends, stroke=ON[piece.owner], stroke_width=1.5, stroke_opacity=0.22)
        if piece == last:
            canvas.mark(x + 4, y + 4, width - 8, height - 8, 11)
        # The value stands where no counter does, as near to the middle as can be.
        middle = (len(piece.cells) - 1) / 2
        open_cells = [n for n, cell in enumerate(piece.cells) if cell not in counters]
        if middle in open_cells or not any(cell in counters for cell in piece.cells):
            at = (x + width / 2, y + height / 2)
        elif open_cells:
            at = view.centre(piece.cells[min(open_cells, key=lambda n: abs(n - middle))])
        else:
            return
        canvas.text(*at, str(VALUES[piece.kind]), 30, anchor="middle", fill=ON[piece.owner])


def _outline(canvas: Canvas, view: _View, cells: tuple[int, ...], colour: str, **attributes: Any) -> None:
    x, y, width, height = view.box(cells)
    canvas.rect(x + 3, y + 3, width - 6, height - 6, radius=11, fill="none", stroke=colour, **attributes)


def _tokens(canvas: Canvas, view: _View, position: Position) -> None:
    """The counters with their scores, and dots where the one to be moved can go."""
    counters = counters_on(position)
    with canvas.group(pointer_events="none"):
        for action in position.legal:
            if TARGETS <= action < TARGETS + WIN and not position.shares:
                cell = absolute(action - TARGETS, position.player)
                if cell not in counters:
                    canvas.circle(
                        *view.centre(cell), 8, fill=FILL[position.player], stroke=WHITE, stroke_width=2.5
                    )  # fmt: skip
        for cell, owner in counters.items():
            _token(canvas, view.centre(cell), owner, position.scores[owner])
            if position.last is not None and position.last >= TARGETS and owner == last_counter(position):
                x, y, width, height = view.box((cell,))
                canvas.mark(x + 4, y + 4, width - 8, height - 8, 23)


def _token(canvas: Canvas, at: Point, owner: int, score: int, radius: float = 21) -> None:
    canvas.circle(*at, radius, fill=(WHITE, INK)[owner], stroke=INK, stroke_width=2)
    canvas.circle(*at, radius - 4.5, fill=FILL[owner])
    canvas.text(*at, str(score), radius, anchor="middle", fill=ON[owner])


def _overlay(canvas: Canvas, view: _View, position: Position) -> None:
    lengths = LENGTHS[position.options["pieces"]]
    if not position.shares:
        return
    with canvas.group(pointer_events="none"):
        greatest = position.top_shares[0][1]
        if position.fields["phase"] == COUNTER:
            for action, share in position.shares.items():
                if action < TARGETS + WIN:
                    at = view.centre(absolute(action - TARGETS, position.player))
                    canvas.circle(*at, 26 * (share / greatest) ** 0.5, fill=WEIGHT, fill_opacity=0.75)
            for action, share in position.top_shares:
                if action < TARGETS + WIN and share >= 0.03:
                    canvas.badge(*view.centre(absolute(action - TARGETS, position.player)), share)
            return
        pieces = [(cells_of(action, position.player, lengths), share) for action, share in position.top_shares]
        if position.fields["phase"] == PLACE:
            heat = [0.0] * 100
            for cells, share in pieces:
                for cell in cells:
                    heat[cell] += share
            for cell, share in enumerate(heat):
                if share:
                    x, y = view.corner(cell)
                    canvas.rect(x, y, CELL, CELL, fill=WEIGHT, fill_opacity=0.55 * share / max(heat))
            pieces = pieces[:SHOWN]
        for cells, share in reversed(pieces):
            _outline(canvas, view, cells, WEIGHT, stroke_width=3 + 5 * share / greatest)
        for cells, share in reversed(pieces):
            if share >= 0.01:
                x, y, width, _ = view.box(cells)
                canvas.badge(x + width / 2, y + 4, share)


def _status(canvas: Canvas, position: Position) -> None:
    canvas.text(16, 25, status(position), 23, fit=440 if TARGETS + WIN in position.legal else 570)
    if TARGETS + WIN in position.legal:
        share = position.shares.get(TARGETS + WIN)
        with canvas.group("win"):
            canvas.rect(470, 7, 116, 36, radius=10, fill=WEIGHT, stroke=INK, stroke_width=2)
            text = "to 100" + (f" {percent(share)}" if share else "")
            canvas.text(528, 25, text, 20, anchor="middle", fit=106, fill=WHITE)


def status(position: Position) -> str:
    """Who is to do what, or who won."""
    if position.offender is not None:
        return f"{NAMES[position.offender]} played an illegal action"
    dark, light = position.scores
    if position.over:
        if len(position.winners) == 2:
            return f"A shared win, {dark} : {light}"
        tie = " (on the tie-break)" if dark == light else ""
        return f"{NAMES[position.winners[0]]} wins, {max(dark, light)} : {min(dark, light)}{tie}"
    name = NAMES[position.player]
    if position.fields["phase"] == PLACE:
        return f"{name} to place a piece"
    if position.fields["phase"] == COUNTER:
        return f"{name} to move the counter by 0 to {int(position.fields['gain'])}"
    least = int(position.fields["longest"][position.player])
    return f"{name} to remove a piece" + (f" of {least} cells or more" if least else "")


def _reserve(canvas: Canvas, position: Position, owner: int, y: float) -> None:
    """A player's name, score and unplayed pieces; what is to be placed can be clicked."""
    to_move = owner == position.player
    canvas.panel(4, y, WIDTH - 8, 58, active=to_move)
    out = (int(position.fields["out"]) >> owner) & 1
    _token(canvas, (34, y + 29), owner, position.scores[owner], 24)
    if position.last == TARGETS + WIN and position.scores[owner] >= WIN:
        canvas.mark(8, y + 3, 52, 52, 26)
    canvas.text(64, y + 19, NAMES[owner], 20)
    more = ", out" if out else ", you" if owner == position.seat else ""
    canvas.text(64, y + 41, f"player_{owner}{more}", 14, fit=90)
    lengths = LENGTHS[position.options["pieces"]]
    x = 158.0
    for kind in range(TYPES):
        left = (int(position.fields["unplayed"][owner]) >> (8 * kind)) & 255
        width = max(18, 9.5 * lengths[kind])
        clicked = to_move and left and position.fields["phase"] == PLACE
        with canvas.group(f"reserve-{kind}" if clicked else None, opacity=None if left else 0.3):
            canvas.rect(
                x, y + 17, width, 24, radius=6, fill=FILL[owner], stroke=EDGE[owner], stroke_width=2
            )  # fmt: skip
            canvas.text(x + width / 2, y + 29, str(VALUES[kind]), 18, anchor="middle", fill=ON[owner])
            canvas.text(x + width + 4, y + 29, f"{TIMES}{left}", 18)
            if clicked:
                canvas.hit(f"reserve-{kind}", x - 4, y + 4, width + 34, 50)
        x += width + 39
