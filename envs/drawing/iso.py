"""ISO drawn: the table as isometric walls, the three tiles to choose from, each perspective, the objectives."""

from __future__ import annotations

from collections.abc import Mapping

from iszoo.envs.drawing.canvas import GREY, INK, LAST, WEIGHT, WHITE, Canvas, Point, listed
from iszoo.envs.drawing.iso_blocks import OWN, Spot, axis_sign, block, facing, hexagon, indicator, on_table, wall
from iszoo.envs.drawing.position import Position
from iszoo.envs.iso import CELLS, FACE_WALLS, FACES, GROUP, ON_DISPLAY_ALL_GAME, RULES, SIDE, SLOTS, TOP, TURNED
from iszoo.envs.iso_text import band, numbers
from iszoo.envs.iso_tiles import INDICATORS, Objective, load

WIDTH = 600
TABLE_TOP, TABLE_HEIGHT = 52, 350


def draw(position: Position) -> Canvas:
    """The picture. The numbers of the tiles and the order of the pile are for those who see all (no seat)."""
    canvas = Canvas(WIDTH, f"ISO: {status(position)}")
    canvas.text(16, 28, status(position), 23, fit=570)
    _table(canvas, position)
    y = TABLE_TOP + TABLE_HEIGHT + 8.0
    y = _slots(canvas, position, y)
    y = _display(canvas, position, y)
    y = _perspectives(canvas, position, y)
    y = _players(canvas, position, y)
    if position.seat is None:
        y = _pile(canvas, position, y)
    canvas.end_at(y)
    return canvas


def targets(position: Position) -> dict[int, tuple[str, ...]]:
    """The tile of a slot in one of its three rotations, then the cell."""
    return {
        action: (f"slot-{action // (3 * CELLS)}-{action // CELLS % 3}", f"cell-{action % CELLS}")
        for action in position.legal
    }


def status(position: Position) -> str:
    """Who is to move, or who won."""
    if position.offender is not None:
        return f"{_name(position.offender)} played an illegal action"
    if not position.over:
        return f"{_name(position.player)} to place a tile"
    if _is_group(position):
        total = position.scores[0]
        return f"The end: {total} {_stars(total)}, band {band(total).replace('-', chr(0x2013))}"
    names = listed([_name(seat) for seat in position.winners])
    stars = position.scores[position.winners[0]]
    tied = position.scores.count(stars) > len(position.winners)
    won = f"{names} win{'s' if len(position.winners) == 1 else ''} with {stars} {_stars(stars)}"
    return won + (" (on the tie-break)" if tied else "")


def _stars(count: int) -> str:
    return "star" if count == 1 else "stars"


def _name(seat: int) -> str:
    return INDICATORS[seat].capitalize()


def _is_group(position: Position) -> bool:
    return RULES[position.options["mode"]] == GROUP


# --- The table ---------------------------------------------------------------------------------------------


def _placed(position: Position) -> dict[Spot, int]:
    """Where the tiles lie, and the block face of each; in the order in which they were placed."""
    tiles = position.fields["tiles"][: position.fields["placed"]].tolist()
    found: dict[Spot, int] = {}
    for tile in tiles:
        found[_unrolled(tile & 255, found)] = (tile >> 8) & 63
    return found


def _unrolled(cell: int, tiles: Mapping[Spot, int]) -> Spot:
    """A cell as the one among its copies on the plane that is next to a tile; as it is while there is none."""
    x, y = divmod(cell, SIDE)
    for near_x, near_y in tiles:
        dx, dy = (x - near_x + 8) % SIDE - 8, (y - near_y + 8) % SIDE - 8
        if (dx, dy) in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1)):
            return near_x + dx, near_y + dy
    return x, y


def _free(position: Position, tiles: Mapping[Spot, int]) -> dict[int, Spot]:
    """The cells where a tile may be placed."""
    words = position.fields["free"].tolist()
    cells = [cell for cell in range(CELLS) if (words[cell >> 5] >> (cell & 31)) & 1] if not position.over else []
    return {cell: _unrolled(cell, tiles) for cell in cells}


def _fit(points: list[Point], margin: Point, box: tuple[float, float, float, float], most: float) -> tuple[float, ...]:
    """Scale and shift with which points, each with a margin around it, fit into a box and lie in its middle."""
    left, top, width, height = box
    low_x, high_x = min(x for x, _ in points) - margin[0], max(x for x, _ in points) + margin[0]
    low_y, high_y = min(y for _, y in points) - margin[1], max(y for _, y in points) + margin[1]
    scale = min(most, width / (high_x - low_x), height / (high_y - low_y))
    return (
        scale,
        left + width / 2 - scale * (low_x + high_x) / 2,
        top + height / 2 - scale * (low_y + high_y) / 2,
    )


def _table(canvas: Canvas, position: Position) -> None:
    canvas.rect(4, TABLE_TOP, WIDTH - 8, TABLE_HEIGHT, radius=12, fill="#DCE3E4")
    tiles = _placed(position)
    free = _free(position, tiles)
    points = [on_table(spot) for spot in (*tiles, *free.values())]
    if not points:  # the first action was an illegal one that ended the game
        return
    edge, x0, y0 = _fit(points, (0.9, 1.05), (10, TABLE_TOP + 5, WIDTH - 20, TABLE_HEIGHT - 10), 58)

    def middle(spot: Spot) -> Point:
        x, y = on_table(spot)
        return x0 + edge * x, y0 + edge * y

    for cell, spot in free.items():
        with canvas.group(f"cell-{cell}"):
            canvas.polygon(
                hexagon(middle(spot), 0.9 * edge), fill="#EDF1F1", stroke="#8A979A", stroke_width=1.5,
                stroke_dasharray="5 4",
            )  # fmt: skip
    for spot, face in tiles.items():
        block(canvas, middle(spot), edge, face)
    if tiles and position.last is not None:
        last = list(tiles)[-1]
        for colour, stroke in ((WHITE, 9), (LAST, 5)):
            canvas.polygon(
                hexagon(middle(last), edge), fill="none", stroke=colour, stroke_width=stroke, stroke_linejoin="round"
            )
    with canvas.group(pointer_events="none"):
        _overlay(canvas, position, {cell: middle(spot) for cell, spot in free.items()}, edge)


def _overlay(canvas: Canvas, position: Position, middles: Mapping[int, Point], edge: float) -> None:
    """What part of the weight each cell has; the best action as a tile."""
    if not position.shares:
        return
    by_cell: dict[int, float] = {}
    for action, share in position.shares.items():
        by_cell[action % CELLS] = by_cell.get(action % CELLS, 0) + share
    greatest = max(by_cell.values())
    for cell, share in by_cell.items():
        canvas.circle(*middles[cell], 0.8 * edge * (share / greatest) ** 0.5, fill=WEIGHT, fill_opacity=0.8)
    best = position.top_shares[0][0]
    face = int(TURNED[best // CELLS % 3, int(position.fields["slot_face"][best // (3 * CELLS)])])
    with canvas.group(opacity=0.75):
        block(canvas, middles[best % CELLS], 0.8 * edge, face)
    canvas.polygon(
        hexagon(middles[best % CELLS], 0.85 * edge), fill="none", stroke=WEIGHT, stroke_width=6,
        stroke_linejoin="round",
    )  # fmt: skip
    for cell, share in by_cell.items():
        if share >= 0.02:
            canvas.badge(middles[cell][0], middles[cell][1] + 0.55 * edge, share)


# --- Under the table ---------------------------------------------------------------------------------------


def _slots(canvas: Canvas, position: Position, y: float) -> float:
    """The tiles to choose from, each in its three rotations."""
    for slot in range(SLOTS):
        x = 4 + 199 * slot
        canvas.panel(x, y, 194, 90)
        held = int(position.fields["slot_number"][slot])
        left = len(_under_top(position))
        name = f"slot {slot}" if slot != TOP else f"pile of {left + 1}"
        canvas.text(x + 10, y + 14, name if held else f"slot {slot}: empty", 15)
        if held and position.seat is None:
            canvas.text(x + 184, y + 14, f"tile {held}", 14, anchor="end", fill=GREY)
        for rotation in range(3 if held else 0):
            first = CELLS * (3 * slot + rotation)
            share = sum(share for action, share in position.shares.items() if first <= action < first + CELLS)
            with canvas.group(f"slot-{slot}-{rotation}"):
                at = (x + 35 + 62 * rotation, y + 56)
                canvas.hit(f"slot-{slot}-{rotation}", at[0] - 31, at[1] - 32, 62, 64)
                block(canvas, at, 29, int(TURNED[rotation, int(position.fields["slot_face"][slot])]))
                if share >= 0.01:
                    canvas.badge(at[0], at[1] + 18, share)
    return y + 98


def _display(canvas: Canvas, position: Position, y: float) -> float:
    """The objectives that can be won."""
    objectives = load(position.options["tiles"]).objectives
    shown = numbers(int(position.fields["display"]))
    places = max(len(ON_DISPLAY_ALL_GAME) if position.options["mode"] == "area_control" else 3, len(shown))
    step = (WIDTH - 3) / places
    for k in range(places):
        x = 4 + step * k
        canvas.panel(x, y, step - 5, 96, stroke_dasharray=None if k < len(shown) else "5 4")
        if k < len(shown):
            _objective(canvas, x, y, step - 5, shown[k], objectives[shown[k] - 1])
    return y + 104


def _objective(canvas: Canvas, x: float, y: float, width: float, name: int, objective: Objective) -> None:
    canvas.text(x + 10, y + 17, str(name), 19, fill=GREY)
    for k in range(objective.stars):
        _star(canvas, x + width - 16 - 19 * k, y + 17, 10)
    if objective.kind == "area":
        size = objective.size
        cells = [(k % ((size + 1) // 2), k // ((size + 1) // 2), objective.colour, False) for k in range(size)]
        drawn_width = width - 62
        canvas.text(x + width - 36, y + 50, f"{size}+", 24, anchor="middle")
        canvas.text(x + width - 47, y + 76, "most", 12, anchor="middle")
        indicator(canvas, x + width - 18, y + 76, 8, OWN)
    else:
        cells = list(objective.cells)
        drawn_width = width
    points = [(u + 0.5, -v - 0.5) for u, v, _, _ in cells]
    side, x0, y0 = _fit(points, (0.5, 0.5), (x + 8, y + 32, drawn_width - 16, 58), 29)
    for u, v, colour, marked in cells:
        with canvas.group(
            transform=f"translate({x0 + side * u:.2f} {y0 - side * (v + 1):.2f}) scale({side / 100:.4f})"
        ):
            wall(canvas, colour, OWN if marked else None)


def _star(canvas: Canvas, x: float, y: float, radius: float) -> None:
    canvas.star(x, y, radius, fill="#F2B705", stroke=INK, stroke_width=1.4, stroke_linejoin="round")


def _perspectives(canvas: Canvas, position: Position, y: float) -> float:
    """The walls along each axis face on, as who stands before the cubes sees them."""
    tiles = _placed(position)
    last = list(tiles)[-1] if tiles else None
    for axis in range(3):
        x = 4 + 199 * axis
        canvas.rect(x, y, 194, 154, radius=9, fill="#DCE3E4")
        axis_sign(canvas, x + 20, y + 21, axis)
        if not tiles:
            continue
        points = {spot: facing(axis, spot) for spot in tiles}
        flipped = [(u, -v) for u, v in points.values()]
        side, x0, y0 = _fit(flipped, (0.5, 0.5), (x + 40, y + 8, 146, 138), 36)
        marked = (0.0, 0.0, 0.0, 0.0)
        for spot, face in tiles.items():
            u, v = points[spot]
            walls = int(FACE_WALLS[face])
            left, top = x0 + side * (u - 0.5), y0 - side * (v + 0.5)
            with canvas.group(transform=f"translate({left:.2f} {top:.2f}) scale({side / 100:.4f})"):
                wall(canvas, (walls >> (8 * axis)) & 255, (walls >> (8 * axis + 24)) & 255)
            if spot == last:
                marked = (left, top, side, side)
        if position.last is not None:
            canvas.mark(*marked, 3)
    return y + 162


def _players(canvas: Canvas, position: Position, y: float) -> float:
    """Stars and the objectives won, of each player or of the group."""
    group = _is_group(position)
    count = 1 if group else position.num_players
    step = (WIDTH - 3) / count
    for seat in range(count):
        x = 4 + step * seat
        to_move = not group and seat == position.player
        canvas.panel(x, y, step - 5, 66, active=to_move)
        if group:
            for k in range(position.num_players):
                indicator(canvas, x + 26 + 42 * k, y + 22, 12, k)
                if k == position.player:
                    canvas.circle(x + 26 + 42 * k, y + 22, 18, fill="none", stroke=INK, stroke_width=3)
            canvas.text(x + 20 + 42 * position.num_players, y + 22, "together", 18)
        else:
            indicator(canvas, x + 24, y + 22, 12, seat)
            canvas.text(x + 44, y + 22, f"player_{seat}", 16, fit=step - 122)
        _star(canvas, x + step - 26, y + 22, 13)
        canvas.text(x + step - 44, y + 23, str(int(position.fields["stars"][seat])), 24, anchor="end")
        won = numbers(int(position.fields["won"][seat]))
        you = seat == position.seat and not group
        if you:
            canvas.text(x + step - 17, y + 51, "you", 16, anchor="end")
        nothing = "nothing" if position.over else "nothing yet"
        said = "won " + (", ".join(map(str, won)) or nothing)
        canvas.text(x + 12, y + 51, said, 16, fit=step - (72 if you else 30), fill=GREY)
    return y + 74


def _under_top(position: Position) -> list[int]:
    """The numbers of the tiles under the top of the pile, the next one first."""
    pile = int(position.fields["pile"])
    found = []
    while pile:
        found.append(pile & 31)
        pile >>= 5
    return found


def _pile(canvas: Canvas, position: Position, y: float) -> float:
    """The tiles under the top of the pile, in order."""
    under = _under_top(position)
    canvas.text(12, y + 18, "pile" if under else "nothing more in the pile", 16, fill=GREY)
    for k, name in enumerate(under):
        x = 70 + 44 * k
        block(canvas, (x, y + 18), 16, int(position.params[FACES + name]))
        canvas.text(x, y + 43, str(name), 14, anchor="middle", fill=GREY)
    return y + 56
