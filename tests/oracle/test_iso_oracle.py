"""The oracle of ISO by itself, on positions drawn by hand.

A drawing shows one perspective, u to the right and v up: "3y" is the yellow wall of tile 3, "." a free cell,
and "*9y" the tile just placed. The tiles are turned so that the perspective shows the walls named.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.oracle import iso
from tests.oracle.iso import Oracle

Cell = tuple[int, int]
Drawn = dict[tuple[int, int], tuple[int, str]]  # (u, v) -> tile, colour

# The walls of every tile in the order x, y, z at rotation 0: p, y, b and then b(lack), w(hite), v(oid).
FACES = {
    1: "pb yw bv",
    2: "pb yv bw",
    3: "pw yb bv",
    4: "pw yv bb",
    5: "pv yb bw",
    6: "pv yw bb",
    7: "pb bv yw",
    8: "pb bw yv",
    9: "pw bv yb",
    10: "pw bb yv",
    11: "pv bw yb",
    12: "pv bb yw",
    13: "pb yw bv",
    14: "pb bw yv",
    15: "pw yb bv",
    16: "pw bb yv",
    17: "pv yb bw",
    18: "pv bb yw",
}
WORDS = {"pb": "pink black", "pw": "pink white", "pv": "pink void"}
WORDS |= {"yb": "yellow black", "yw": "yellow white", "yv": "yellow void"}
WORDS |= {"bb": "blue black", "bw": "blue white", "bv": "blue void"}
STARS = dict(zip(range(1, 19), [1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5], strict=True))

E_X, E_Y, E_Z = (1, 0), (0, 1), (-1, -1)
UNIT_STEPS = [(E_Y, E_Z), (E_Z, E_X), (E_X, E_Y)]  # (u, v) of the perspectives x, y, z
SIX = [(1, 0), (0, 1), (-1, -1), (-1, 0), (0, -1), (1, 1)]
AXES = [pytest.param(0, id="x"), pytest.param(1, id="y"), pytest.param(2, id="z")]

DEAL = list(range(1, 19))
AREA_DEAL = [n for n in DEAL if n not in (10, 11, 12, 13)]
START: Cell = (8, 8)


# --- drawing ----------------------------------------------------------------------------------------------


def read(drawing: str) -> tuple[Drawn, tuple[int, int]]:
    """The walls of a drawing, and the square of the tile just placed."""
    rows = [row.split() for row in drawing.strip().splitlines()]
    texts = {(u, v): text for v, row in enumerate(reversed(rows)) for u, text in enumerate(row) if text != "."}
    [placed] = [square for square, text in texts.items() if text.startswith("*")]
    return {square: (int(text.strip("*pyb")), text[-1]) for square, text in texts.items()}, placed


def cell_at(square: tuple[int, int], axis: int) -> Cell:
    (ux, uy), (vx, vy) = UNIT_STEPS[axis]
    u, v = square
    return START[0] + u * ux + v * vx, START[1] + u * uy + v * vy


def turned(tile: int, colour: str, axis: int) -> tuple[int, int]:
    """The tile, and the rotation in which it shows that colour on the axis."""
    index = [wall[0] for wall in FACES[tile].split()].index(colour)
    return tile, (axis - index) % 3


def lay(drawn: Drawn, axis: int) -> dict[Cell, tuple[int, int]]:
    return {cell_at(square, axis): turned(*wall, axis) for square, wall in drawn.items()}


def axes_completed(
    number: int, seat: int, drawn: Drawn, placed: tuple[int, int], axis: int, **options: Any
) -> list[int]:
    """Along which axes the placed tile completes the objective, in a drawing of the perspective `axis`."""
    game = Oracle.from_position(table=lay(drawn, axis), num_players=3, **options)
    return game.completing_perspectives(number, cell_at(placed, axis), seat)


def play_placed(
    drawing: str,
    axis: int = 2,
    *,
    display: Sequence[int | None] | None = None,
    player: int = 0,
    slots: tuple[int | None, ...] = (),
    pile: Sequence[int] = (),
    **options: Any,
) -> Oracle:
    """Set up the drawing without its placed tile, and play that tile from slot 0."""
    drawn, placed = read(drawing)
    tile, rotation = turned(*drawn.pop(placed), axis)
    game = Oracle.from_position(
        table=lay(drawn, axis),
        display=display,
        slots=(tile, *slots),
        pile=pile,
        player=player,
        **options,
    )
    game.step(action(0, rotation, cell_at(placed, axis)))
    return game


def action(slot: int, rotation: int, cell: Cell) -> int:
    return slot * 768 + rotation * 256 + (cell[0] % 16) * 16 + cell[1] % 16


def rotated(drawn: Drawn, turns: int) -> Drawn:
    for _ in range(turns):
        drawn = {(-v, u): wall for (u, v), wall in drawn.items()}
    return drawn


def rotated_square(square: tuple[int, int], turns: int) -> tuple[int, int]:
    for _ in range(turns):
        square = (-square[1], square[0])
    return square


def custom_tiles(tmp_path: Path, changes: Mapping[str, str]) -> Path:
    text = Path(iso.DEFAULT_TILES).read_text(encoding="utf-8")
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = tmp_path / "tiles.toml"
    path.write_text(text, encoding="utf-8")
    return path


def snapshot(game: Oracle) -> tuple[Any, ...]:
    return (
        list(game.table.items()),
        game.last,
        list(game.display),
        list(game.slots),
        list(game.pile),
        list(game.claimed),
        game.player_to_move(),
        game.legal_actions(),
        [game.observe(seat) for seat in range(game.num_players)],
    )


# --- objectives: hand-drawn, in all three perspectives ------------------------------------------------------

# objective, seat, drawing: exactly the figure, or a group; completed in the perspective drawn and in no other
COMPLETE: dict[str, tuple[int, int, str]] = {
    "line of three": (1, 0, "2p 7p *3p"),
    "line of three, placed in the middle": (1, 0, "2y *7y 3y"),
    "line of three, upright": (
        1,
        0,
        """ 2b
            7b
           *3b""",
    ),
    "corner": (
        2,
        0,
        """ 3p  .
            7p *4p""",
    ),
    "corner, placed in its middle": (
        2,
        0,
        """ 3b *7b
             .  4b""",
    ),
    "line of four": (3, 0, "2b 7b *4b 8b"),
    "square": (
        4,
        0,
        """ 7y  2y
           *3y  8y""",
    ),
    "T": (
        5,
        0,
        """ .  4p  .
           2p  7p *6p""",
    ),
    "S": (
        6,
        0,
        """ .  3b  8b
           2b *9b  .""",
    ),
    "Z": (
        7,
        0,
        """2y  8y  .
            .  3y *9y""",
    ),
    "L": (
        8,
        0,
        """3p  .  .
           7p  2p *9p""",
    ),
    "J": (
        9,
        0,
        """  .  .  8y
           *2y 7y  4y""",
    ),
    "pink area": (10, 0, "1p 7p *3p"),
    "pink area of the opponent": (10, 1, "1p 9p *3p"),
    "pink area of void": (10, 2, "5p 12p *3p"),
    "pink area, more over opponent and void": (10, 0, "1p 7p *3p 8p 5p"),
    "pink area around a corner": (
        10,
        0,
        """ .  *7p
           8p   1p""",
    ),
    "yellow area": (11, 0, "3y 9y *1y"),
    "blue area": (
        12,
        0,
        """10b  .
            4b *2b""",
    ),
    "pink area of five": (
        13,
        0,
        """ .  7p  .
           2p  1p *8p
            .  3p  .""",
    ),
    "yellow area of five": (13, 1, "1y 7y *6y 8y 3y"),
    "blue area of five": (13, 2, "1b 7b 2b *9b 4b"),
    "conditioned 14": (
        14,
        0,
        """ 3y  .
            1p *9y""",
    ),
    "conditioned 14, marked wall placed": (
        14,
        0,
        """ 3y  .
           *1p  9y""",
    ),
    "conditioned 14, white walls of the coloured wall's colour": (
        14,
        0,
        """ 3p  .
            7p *4p""",
    ),
    "conditioned 14, opponent": (
        14,
        1,
        """ 3y  .
            4p *9y""",
    ),
    "conditioned 14, void": (
        14,
        2,
        """ 3y  .
            5p *9y""",
    ),
    "conditioned 15": (15, 0, "1b 3y *2b"),
    "conditioned 15, all yellow": (15, 0, "1y *9y 2y"),
    "conditioned 15, opponent": (15, 1, "2p *1y 3p"),
    "conditioned 16": (
        16,
        0,
        """ .  3p  .
           1p  4b *2p""",
    ),
    "conditioned 17": (
        17,
        0,
        """ 2b 3y
            1p *4b""",
    ),
    "conditioned 17, white walls pink": (
        17,
        0,
        """*4p  3y
            1p  9p""",
    ),
    "conditioned 18": (18, 0, "4b 3y 1y *2p"),
    "conditioned 18, void": (18, 2, "*9b 3b 1b 5p"),
}

# objective, seat, drawing: completed in no perspective
INCOMPLETE: dict[str, tuple[int, int, str]] = {
    # one wall short
    "two in a line": (1, 0, "2p *7p"),
    "three of a line of four": (3, 0, "2b 7b *4b"),
    "line of four with a hole": (3, 0, "2b 7b . *8b 4b"),
    "three of a square": (
        4,
        0,
        """ 7y  .
           *3y  8y""",
    ),
    "three of a T": (5, 0, "2p 7p *6p"),
    "three of an S": (
        6,
        0,
        """ .  3b  .
           2b *9b  .""",
    ),
    "two of a pink area": (10, 0, "1p *7p"),
    "four of an area of five": (
        13,
        0,
        """ .  7p  .
           2p  1p *8p""",
    ),
    "conditioned 14 without an end": (14, 0, "1p *9y"),
    "conditioned 17 without a white wall": (
        17,
        0,
        """ 2b 3y
           *1p .""",
    ),
    "conditioned 18 without its pink wall": (18, 0, "4b 3y *1y"),
    # another shape
    "a corner is no line": (
        1,
        0,
        """ 3p  .
            7p *4p""",
    ),
    "a line is no corner": (2, 0, "3p 7p *4p"),
    "neighbours along e of the perspective's own axis are not united": (
        1,
        0,
        """ .  .  3p
            .  7p .
           *2p .  .""",
    ),
    "an area is not united there either": (
        10,
        0,
        """ .  .  *2p
            1p 7p  .""",
    ),
    "a Z is no S": (
        6,
        0,
        """2y  8y  .
            .  3y *9y""",
    ),
    "an S is no Z": (
        7,
        0,
        """ .  3b  8b
           2b *9b  .""",
    ),
    "a J is no L": (
        8,
        0,
        """  .  .  6y
           *2y 7y  4y""",
    ),
    "an L is no J": (
        9,
        0,
        """3p  .  .
           7p  2p *8p""",
    ),
    # right shape, wrong colour
    "line with another colour at the end": (1, 0, "2p 7p *3y"),
    "line with another colour in the middle": (1, 0, "2p *4y 3p"),
    "square with another colour": (
        4,
        0,
        """ 7y  2y
           *3y  8b""",
    ),
    "pink area drawn in yellow": (10, 0, "3y 9y *1y"),
    "yellow area drawn in pink": (11, 0, "1p 7p *3p"),
    "blue area drawn in pink": (12, 0, "1p 7p *3p"),
    "area of five in two colours": (13, 0, "2p 7p 1p *3y 9y"),
    "conditioned 14 with a yellow corner": (
        14,
        0,
        """ 4y  .
            3y *1y""",
    ),
    "conditioned 14 with its pink wall at an end": (
        14,
        0,
        """ 3y  .
            9y *1p""",
    ),
    "conditioned 14 with two colours of white walls": (
        14,
        0,
        """ 3y  .
            1p *9b""",
    ),
    "conditioned 15 with a pink wall": (15, 0, "1b 7p *2b"),
    "conditioned 15 with its yellow wall at an end": (15, 0, "3y 1b *2b"),
    "conditioned 16 with a pink centre": (
        16,
        0,
        """ .  3y  .
           1y  7p *2y""",
    ),
    "conditioned 17 with pink beside yellow": (
        17,
        0,
        """ 3y 2b
            1p *4b""",
    ),
    "conditioned 18 with its pink wall second": (18, 0, "4b 2p *3y 1y"),
    # wrong mark
    "conditioned 14 of the opponent": (
        14,
        0,
        """ 3y  .
            4p *9y""",
    ),
    "conditioned 14 of nobody": (
        14,
        0,
        """ 3y  .
            5p *9y""",
    ),
    "conditioned 15 of the opponent": (15, 0, "3b 1y *2b"),
    "conditioned 16 of the opponent": (
        16,
        0,
        """ .  3p  .
           1p  5b *2p""",
    ),
    "conditioned 17 with a pink wall of the opponent": (
        17,
        0,
        """ 2b 5y
            3p *4b""",
    ),
    "conditioned 17 with a yellow wall of the opponent": (
        17,
        0,
        """ 2b 6y
            1p *4b""",
    ),
    "conditioned 18 with its marked white wall third": (18, 0, "4b 1y 3y *2p"),
    "conditioned 18 with a blue wall of the opponent": (18, 0, "5b 3y 1y *2p"),
    "conditioned 18 with a pink wall of the opponent": (18, 0, "6b 3y 1y *4p"),
    # completed by an older tile
    "older line": (1, 0, "2p 7p 3p *4y"),
    "older line beside the placed wall of its colour": (
        1,
        0,
        """ .  .  *9p
            2p 7p  3p""",
    ),
    "older square": (
        4,
        0,
        """ 7y  2y  .
            3y  8y *6p""",
    ),
    "older pink area": (10, 0, "1p 7p 2p *4y"),
    "older area of five": (13, 0, "2p 7p 1p 8p 15p *4y"),
    "older conditioned 14": (
        14,
        0,
        """ 3y  .  .
            1p  9y *2b""",
    ),
    "older conditioned 18": (18, 0, "*5y 4b 3y 1y 2p"),
    # majorities
    "pink area shared with the opponent": (10, 0, "1p 9p *3p 7p"),
    "pink area shared with void": (10, 0, "1p 12p *5p 7p"),
    "pink area with one of each": (10, 0, "1p 9p *5p"),
    "pink area with more of the opponent": (10, 0, "1p 9p *3p"),
    "pink area with more of void": (10, 0, "1p 12p *5p"),
    "pink area: more than the opponent, fewer than void": (10, 0, "1p 12p *5p 7p 6p 9p 17p"),
    "pink area: more than void, fewer than the opponent": (10, 0, "1p 9p *3p 7p 4p 12p 15p"),
    "yellow area shared with void": (11, 0, "3y 8y *2y 9y"),
    "blue area shared with void": (12, 0, "4b 9b *3b 10b"),
    "area of five: two, two and one": (13, 0, "2p 9p 1p *3p 5p"),
}


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", COMPLETE)
def test_completed(name: str, axis: int) -> None:
    number, seat, drawing = COMPLETE[name]
    drawn, placed = read(drawing)
    assert axes_completed(number, seat, drawn, placed, axis) == [axis]
    game = play_placed(drawing, axis, display=[None, number], player=seat, num_players=3)
    assert game.claimed == [(number, seat)]
    assert game.display == [None, None, None]
    assert game.scores() == [STARS[number] if other == seat else 0 for other in range(3)]


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", INCOMPLETE)
def test_not_completed(name: str, axis: int) -> None:
    number, seat, drawing = INCOMPLETE[name]
    drawn, placed = read(drawing)
    assert axes_completed(number, seat, drawn, placed, axis) == []
    game = play_placed(drawing, axis, display=[number], player=seat, num_players=3)
    assert game.claimed == []
    assert game.display == [number, None, None]
    assert game.scores() == [0, 0, 0]


def test_every_objective_is_drawn() -> None:
    assert {number for number, _, _ in COMPLETE.values()} == set(range(1, 19))
    assert {number for number, _, _ in INCOMPLETE.values()} == set(range(1, 19))


FIGURES = [name for name, (number, _, _) in COMPLETE.items() if number not in (10, 11, 12, 13)]


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", FIGURES)
def test_every_wall_of_a_figure_is_needed_in_its_colour(name: str, axis: int) -> None:
    number, seat, drawing = COMPLETE[name]
    drawn, placed = read(drawing)
    for square, (tile, colour) in drawn.items():
        if square != placed:
            fewer = {other: wall for other, wall in drawn.items() if other != square}
            assert axes_completed(number, seat, fewer, placed, axis) == []
        for other_colour in "pyb".replace(colour, ""):
            recoloured = {**drawn, square: (tile, other_colour)}
            assert axis not in axes_completed(number, seat, recoloured, placed, axis)


@pytest.mark.parametrize("name", FIGURES)
def test_marks_and_only_marks_ask_for_an_indicator(name: str) -> None:
    number, seat, drawing = COMPLETE[name]
    drawn, placed = read(drawing)
    needed = 0
    for square, (tile, colour) in drawn.items():
        unused = set(FACES) - {used for used, _ in drawn.values()}
        outcomes = {
            2 in axes_completed(number, seat, {**drawn, square: (other, colour)}, placed, 2)
            for other in unused
            if seen_indicator(other, colour) != seen_indicator(tile, colour)
        }
        assert len(outcomes) == 1  # whichever tile it is, it fits or it doesn't
        needed += outcomes == {False}
    marks = {14: 1, 15: 1, 16: 1, 17: 2, 18: 3}
    assert needed == marks.get(number, 0)


def seen_indicator(tile: int, colour: str) -> str:
    return next(wall[1] for wall in FACES[tile].split() if wall[0] == colour)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("turns", [1, 2, 3])
@pytest.mark.parametrize("name", COMPLETE)
def test_rotations_count(name: str, turns: int, axis: int) -> None:
    number, seat, drawing = COMPLETE[name]
    drawn, placed = read(drawing)
    turned_drawing, turned_placed = rotated(drawn, turns), rotated_square(placed, turns)
    assert axis in axes_completed(number, seat, turned_drawing, turned_placed, axis)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", COMPLETE)
def test_mirrored_drawings(name: str, axis: int) -> None:
    """S, Z, L and J differ from their mirror image; every other objective of the set does not."""
    number, seat, drawing = COMPLETE[name]
    drawn, placed = read(drawing)
    mirrored = {(-u, v): wall for (u, v), wall in drawn.items()}
    mirrored_placed = (-placed[0], placed[1])
    strict = axes_completed(number, seat, mirrored, mirrored_placed, axis)
    assert (axis in strict) == (number not in (6, 7, 8, 9))
    assert axis in axes_completed(number, seat, mirrored, mirrored_placed, axis, mirror=True)
    assert axis in axes_completed(number, seat, drawn, placed, axis, mirror=True)


@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize(("name", "number"), [("Z", 6), ("S", 7), ("J", 8), ("L", 9)])
def test_mirror_option(name: str, number: int, turns: int) -> None:
    _, _, drawing = COMPLETE[name]
    drawn, placed = read(drawing)
    drawn, placed = rotated(drawn, turns), rotated_square(placed, turns)
    assert axes_completed(number, 0, drawn, placed, 2) == []
    assert axes_completed(number, 0, drawn, placed, 2, mirror=False) == []
    assert axes_completed(number, 0, drawn, placed, 2, mirror=True) == [2]


def test_mirror_option_for_conditioned(tmp_path: Path) -> None:
    """A conditioned figure is a figure: an L with its pink wall in the corner."""
    line = 'cells = [[0, 0, "pink", true], [1, 0, "white", false], [0, 1, "white", false]]'
    cells = '[0, 0, "pink", true], [1, 0, "white", false], [2, 0, "white", false], [0, 1, "white", false]'
    tiles = custom_tiles(tmp_path, {line: f"cells = [{cells}]"})
    ell, placed = read("""3y  .  .
                          1p  9y *2y""")
    jay, jay_placed = read("""  .  .  3y
                              *2y 9y  1p""")
    assert axes_completed(14, 0, ell, placed, 2, tiles=tiles) == [2]
    assert axes_completed(14, 0, jay, jay_placed, 2, tiles=tiles) == []
    assert axes_completed(14, 0, jay, jay_placed, 2, tiles=tiles, mirror=True) == [2]


# the S in each perspective, spelled out in (x, y), so that nothing rests on this file's own drawing
S_CELLS = {
    0: [(8, 8), (8, 9), (7, 8), (7, 9)],
    1: [(8, 8), (7, 7), (8, 7), (7, 6)],
    2: [(8, 8), (9, 8), (9, 9), (10, 9)],
}
S_ROTATIONS = {0: [1, 2, 1, 2], 1: [2, 0, 2, 0], 2: [0, 1, 0, 1]}  # that show blue on the axis


@pytest.mark.parametrize("axis", AXES)
def test_handedness_spelled_out(axis: int) -> None:
    table = dict(zip(S_CELLS[axis], zip([2, 9, 3, 8], S_ROTATIONS[axis], strict=True), strict=True))
    game = Oracle.from_position(table=table)
    for cell in table:
        assert game.completing_perspectives(6, cell, 0) == [axis]
        assert game.completing_perspectives(7, cell, 0) == []


def test_more_walls_of_the_colour_may_adjoin_a_figure() -> None:
    drawn, placed = read("""4p  8p  6p  .
                            2p *7p  3p 14p""")
    game = Oracle.from_position(table=lay(drawn, 2))
    for number in range(1, 10):
        assert 2 in game.completing_perspectives(number, cell_at(placed, 2), 0), number


def test_placed_tile_joins_an_older_area() -> None:
    """The maximal group that holds the placed wall counts, both its size and its majority."""
    game = play_placed("1p 7p *3p", display=[10])
    assert game.claimed == [(10, 0)]
    game = play_placed("1p 7p 9p *3p", display=[10])  # two of each
    assert game.claimed == []
    game = play_placed("1p 7p *3p 9p 4p", display=[10])  # joins two groups
    assert game.claimed == []
    game = play_placed("1p 7p *3p 9p 4p", display=[10], player=1)
    assert game.claimed == [(10, 1)]


def test_area_is_seen_in_one_perspective() -> None:
    """Pink walls on different axes do not unite, though their tiles are neighbours."""
    table = {(8, 8): turned(1, "p", 0), (9, 8): turned(7, "p", 1), (10, 8): turned(2, "p", 2)}
    assert Oracle.from_position(table=table).completed_objectives((10, 8), 0, [10]) == []
    table = {(8, 8): turned(1, "p", 2), (9, 8): turned(7, "p", 2), (10, 8): turned(2, "p", 2)}
    assert Oracle.from_position(table=table).completed_objectives((10, 8), 0, [10]) == [10]


def test_same_tiles_are_read_along_every_axis() -> None:
    """Three tiles of one face in a row along e_x: lines of two colours, seen along y and along z."""
    row = {(8, 8): (1, 0), (9, 8): (13, 0), (10, 8): (3, 0)}
    assert Oracle.from_position(table=row).completing_perspectives(1, (10, 8), 0) == [1, 2]


@pytest.mark.parametrize(("seat", "number", "expected"), [(0, 10, []), (1, 10, [2]), (0, 14, []), (1, 14, [2])])
def test_the_players_own_indicator_decides(seat: int, number: int, expected: list[int]) -> None:
    drawn, placed = read("""*3p  .
                             9p  2p""")
    assert axes_completed(number, seat, drawn, placed, 2) == expected


@pytest.mark.parametrize("num_players", [2, 3])
def test_majority_over_an_indicator_of_nobody(num_players: int) -> None:
    """Void belongs to nobody with two players, and yet it must be outnumbered."""
    game = play_placed("1p 12p *5p 7p", display=[10], num_players=num_players)
    assert game.claimed == []
    game = play_placed("1p 12p *2p", display=[10], num_players=num_players)
    assert game.claimed == [(10, 0)]


def test_majority_in_solo_over_white_and_void() -> None:
    assert play_placed("1p 9p *3p 7p", display=[10], mode="solo").claimed == []
    assert play_placed("1p 12p *5p 7p", display=[10], mode="solo").claimed == []
    assert play_placed("1p 9p *2p", display=[10], mode="solo").claimed == [(10, 0)]


def test_two_objectives_at_once() -> None:
    game = play_placed("2p 7p *4p 8p", display=[1, 18, 3], slots=(5,), pile=[6, 9, 10, 11, 12])
    assert game.claimed == [(1, 0), (3, 0)]
    assert game.scores() == [3, 0]
    assert game.display == [9, 18, 10]
    assert game.slots == [6, 5]
    assert game.pile == [11, 12]


def test_two_objectives_at_once_in_two_perspectives() -> None:
    """A row along e_x of tiles of one face: yellow is seen along y, blue along z."""
    row = {(8, 8): (3, 0), (9, 8): (5, 0), (10, 8): (4, 0)}
    game = Oracle.from_position(table=row, display=[11, 10, 12], slots=(6, None))
    game.step(action(0, 0, (11, 8)))
    assert game.completing_perspectives(11, (11, 8), 0) == [1]
    assert game.completing_perspectives(12, (11, 8), 0) == [2]
    assert game.claimed == [(11, 0), (12, 0)]
    assert game.display == [None, 10, None]
    assert game.scores() == [4, 0]


def test_three_objectives_at_once() -> None:
    game = play_placed("5p 7p *2p 8p", display=[10, 3, 1], slots=(4,), pile=[6, 9, 11, 12, 13])
    assert game.claimed == [(10, 0), (3, 0), (1, 0)]
    assert game.scores() == [5, 0]
    assert game.display == [9, 11, 12]
    assert game.slots == [6, 4]
    assert game.pile == [13]


def test_helper_asks_for_the_display_unless_told() -> None:
    drawn, placed = read("1p 7p 2p *8p")
    game = Oracle.from_position(table=lay(drawn, 2), display=[3, None, 4])
    cell = cell_at(placed, 2)
    assert game.completed_objectives(cell, 0) == [3]
    assert game.completed_objectives(cell, 1) == [3]
    assert game.completed_objectives(cell, 0, [1, 3, 4, 10]) == [1, 3, 10]
    assert game.completed_objectives(cell, 1, [1, 3, 4, 10]) == [1, 3]


# --- geometry ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rotation", "seen"),
    [
        (0, ["pink black", "yellow white", "blue void"]),
        (1, ["blue void", "pink black", "yellow white"]),
        (2, ["yellow white", "blue void", "pink black"]),
    ],
)
def test_rotation_of_a_tile(rotation: int, seen: list[str]) -> None:
    game = Oracle.from_position(table={(3, 5): (1, rotation)})
    for axis in range(3):
        [wall] = game.picture(axis).values()
        assert f"{wall.colour} {wall.indicator}" == seen[axis]


@pytest.mark.parametrize(
    ("step", "expected"),
    [(E_X, [1, 2]), (E_Y, [0, 2]), (E_Z, [0, 1]), ((-1, 0), [1, 2]), ((0, -1), [0, 2]), ((1, 1), [0, 1])],
)
def test_neighbours_are_orthogonal_in_exactly_two_perspectives(step: Cell, expected: list[int], tmp_path: Path) -> None:
    line = '[[0, 0, "white", false], [1, 0, "white", false], [2, 0, "white", false]]'
    tiles = custom_tiles(tmp_path, {line + " }": '[[0, 0, "white", false], [1, 0, "white", false]] }'})
    other = (8 + step[0], 8 + step[1])
    for rotation in range(3):  # tiles 1 and 13 show the same colours on every axis
        game = Oracle.from_position(table={START: (1, rotation), other: (13, rotation)}, tiles=tiles)
        assert game.completing_perspectives(1, other, 0) == expected
        assert game.completing_perspectives(1, START, 0) == expected


def test_tiles_that_are_no_neighbours_are_never_orthogonal(tmp_path: Path) -> None:
    line = '[[0, 0, "white", false], [1, 0, "white", false], [2, 0, "white", false]]'
    tiles = custom_tiles(tmp_path, {line + " }": '[[0, 0, "white", false], [1, 0, "white", false]] }'})
    united = []
    for dx in range(-3, 4):
        for dy in range(-3, 4):
            if (dx, dy) != (0, 0):
                other = (8 + dx, 8 + dy)
                game = Oracle.from_position(table={START: (1, 0), other: (13, 0)}, tiles=tiles)
                if game.completing_perspectives(1, other, 0):
                    united.append((dx, dy))
    assert sorted(united) == sorted(SIX)


def test_unit_steps_of_the_perspectives() -> None:
    for axis, (u_step, v_step) in enumerate(UNIT_STEPS):
        here = iso.square_of(START, axis)
        right = iso.square_of((8 + u_step[0], 8 + u_step[1]), axis)
        up = iso.square_of((8 + v_step[0], 8 + v_step[1]), axis)
        assert (right[0] - here[0], right[1] - here[1]) == (1, 0)
        assert (up[0] - here[0], up[1] - here[1]) == (0, 1)


def test_the_torus_cannot_be_told_from_the_plane() -> None:
    """Neighbours differ by at most 1 in x and in y, so of n connected tiles two differ by at most n - 1."""
    assert max(max(abs(dx), abs(dy)) for dx, dy in iso.NEIGHBOURS) == 1
    assert sorted(iso.NEIGHBOURS) == sorted(SIX)
    beside = {iso.cell_id(cell) for cell in iso.neighbours(START)}
    # fifteen tiles lie: two of them are neighbours on the torus only if they are neighbours
    for dx in range(-14, 15):
        for dy in range(-14, 15):
            assert (iso.cell_id((8 + dx, 8 + dy)) in beside) == ((dx, dy) in SIX)
    # fourteen tiles and the free cells beside them: no two of these share an id
    for dx in range(-15, 16):
        for dy in range(-15, 16):
            assert (iso.cell_id((8 + dx, 8 + dy)) == iso.cell_id(START)) == (dx == dy == 0)
    # figures are orthogonally united, so they can't reach round the torus either
    for objective in iso.load_tiles(iso.DEFAULT_TILES).objectives.values():
        if objective.kind != "area":
            squares = {(cell.u, cell.v) for cell in objective.cells}
            reached = {next(iter(sorted(squares)))}
            for _ in squares:
                reached |= {near for square in reached for near in iso.adjoining(square) if near in squares}
            assert reached == squares


@pytest.mark.parametrize("step", SIX)
def test_a_straight_game_goes_round_the_torus(step: Cell) -> None:
    game = Oracle(DEAL[::-1])  # 18, 17, 16 on display; the same rotation along a line completes none of them
    cells = [(8 + k * step[0], 8 + k * step[1]) for k in range(15)]
    for cell in cells:
        free = game.free_cells()
        known = [*free, *game.table]
        assert len({(x % 16, y % 16) for x, y in known}) == len(known)
        game.step(action(2 if game.pile else (0 if game.slots[0] else 1), 0, cell))
        assert game.last == cell
    assert list(game.table) == cells
    assert game.claimed == []
    assert game.player_to_move() == -1
    assert any(not (0 <= x < 16 and 0 <= y < 16) for x, y in game.table)
    board, _ = game.observe(0)
    last = (cells[-1][0] % 16) * 16 + cells[-1][1] % 16
    assert [i for i, value in enumerate(board[19 * 256 :]) if value] == [last]
    for axis in range(3):
        shown = [
            (x % 16) * 16 + y % 16
            for x, y in cells
            if any(board[(6 * axis + colour) * 256 + (x % 16) * 16 + y % 16] for colour in range(3))
        ]
        assert len(set(shown)) == 15


# --- play -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["competitive", "solo", "coop", "area_control"])
def test_first_and_second_turn(mode: str) -> None:
    game = Oracle(AREA_DEAL if mode == "area_control" else DEAL, mode=mode)
    assert game.legal_actions() == [136, 392, 648, 904, 1160, 1416, 1672, 1928, 2184]
    game.step(1160)
    assert game.table == {START: (2 if mode == "area_control" else 5, 1)}
    expected = [
        slot * 768 + rotation * 256 + cell
        for slot in range(3)
        for rotation in range(3)
        for cell in (119, 120, 135, 137, 152, 153)
    ]
    assert game.legal_actions() == expected
    assert len(game.legal_actions()) == 54


def test_start() -> None:
    game = Oracle(DEAL)
    assert game.num_players == 2
    assert game.mode == "competitive"
    assert game.mirror is False
    assert game.display == [1, 2, 3]
    assert game.slots == [4, 5]
    assert game.pile == DEAL[5:]
    assert game.table == {}
    assert game.last is None
    assert game.player_to_move() == 0
    assert game.scores() == [0, 0]
    assert game.returns() == [0.0, 0.0]


@pytest.mark.parametrize(("slot", "played", "slots", "top"), [(0, 4, [6, 5], 7), (1, 5, [4, 6], 7), (2, 6, [4, 5], 7)])
def test_a_slot_beside_the_pile_is_refilled_with_its_top(slot: int, played: int, slots: list[int], top: int) -> None:
    game = Oracle(DEAL)
    game.step(action(slot, 2, START))
    assert game.table == {START: (played, 2)}
    assert game.slots == slots
    assert game.pile == list(range(top, 19))
    assert game.display == [1, 2, 3]


@pytest.mark.parametrize(
    ("mode", "num_players", "order"),
    [
        ("competitive", 2, [0, 1, 0, 1]),
        ("competitive", 3, [0, 1, 2, 0]),
        ("solo", 1, [0, 0, 0, 0]),
        ("coop", 2, [0, 1, 0, 1]),
        ("coop", 3, [0, 1, 2, 0]),
        ("area_control", 2, [0, 1, 0, 1]),
        ("area_control", 3, [0, 1, 2, 0]),
    ],
)
def test_turn_order(mode: str, num_players: int, order: list[int]) -> None:
    game = Oracle(AREA_DEAL if mode == "area_control" else DEAL, mode=mode, num_players=num_players)
    seen = []
    for _ in order:
        seen.append(game.player_to_move())
        game.step(game.legal_actions()[0])
    assert seen == order


def test_legal_actions_ascend_and_name_free_cells_beside_tiles() -> None:
    table = {(8, 8): (1, 0), (9, 8): (2, 0)}
    game = Oracle.from_position(table=table, slots=(3, None), pile=[4])
    cells = sorted(x * 16 + y for x, y in [(7, 8), (8, 9), (8, 7), (7, 7), (9, 9), (10, 8), (9, 7), (10, 9)])
    expected = [slot * 768 + rotation * 256 + cell for slot in (0, 2) for rotation in range(3) for cell in cells]
    assert game.legal_actions() == expected
    for legal in expected:
        other = game.copy()
        other.step(legal)
        assert len(other.table) == 3


@pytest.mark.parametrize(
    "illegal",
    [
        -1,
        2304,
        action(0, 0, (8, 8)),  # occupied
        action(0, 0, (11, 8)),  # beside no tile
        action(1, 0, (10, 8)),  # an empty slot
        action(0, 0, (9, 9)) - 768,
    ],
)
def test_illegal_actions_change_nothing(illegal: int) -> None:
    table = {(8, 8): (1, 0), (9, 8): (2, 0)}
    game = Oracle.from_position(table=table, slots=(3, None), pile=[4], display=[5, 6, 7])
    before = snapshot(game)
    with pytest.raises(ValueError, match="illegal"):
        game.step(illegal)
    assert snapshot(game) == before


def test_copy_is_independent() -> None:
    game = play_placed("2p 7p *3p", display=[1, 4, 18], slots=(5,), pile=[6, 9, 10, 11])
    twin = game.copy()
    before = snapshot(game)
    assert snapshot(twin) == before
    twin.step(twin.legal_actions()[0])
    twin.display[0] = None
    twin.claimed.clear()
    assert snapshot(game) == before
    assert snapshot(twin) != before


def test_refill_then_claims_then_new_objectives() -> None:
    """The top refills the slot, the one below it becomes the objective, which nobody claims this turn."""
    drawing = """ .   .  8p
                  4p 7p *3p"""
    game = play_placed(drawing, display=[1, 16, 18], slots=(5,), pile=[6, 9, 10, 11])
    assert game.claimed == [(1, 0)]
    assert game.slots == [6, 5]
    assert game.display == [9, 16, 18]
    assert game.pile == [10, 11]
    # objective 2, which the placed tile completes too, comes on display only after the claims
    game = play_placed(drawing, display=[1, 16, 18], slots=(5,), pile=[6, 2, 10, 11])
    assert game.completed_objectives((10, 8), 0, [2]) == [2]
    assert game.claimed == [(1, 0)]
    assert game.display == [2, 16, 18]
    # and as the tile that refills the slot it is no objective at all
    game = play_placed(drawing, display=[1, 16, 18], slots=(5,), pile=[2, 6, 10, 11])
    assert game.slots == [2, 5]
    assert game.display == [6, 16, 18]


def test_a_new_objective_that_lies_complete_must_be_completed_anew() -> None:
    drawing = """ .   .  8p
                  4p 7p *3p"""
    game = play_placed(drawing, display=[1, 16, 18], slots=(5,), pile=[6, 2, 10, 11])
    game.step(action(0, 0, (8, 7)))
    assert game.claimed == [(1, 0)]
    assert game.display == [2, 16, 18]


def test_playing_the_top_then_refilling_the_display() -> None:
    drawn, placed = read("2p 7p *3p")
    tile, rotation = turned(*drawn.pop(placed), 2)
    game = Oracle.from_position(table=lay(drawn, 2), display=[4, 1, 18], slots=(5, 6), pile=[tile, 9, 10], player=1)
    game.step(action(2, rotation, cell_at(placed, 2)))
    assert game.claimed == [(1, 1)]
    assert game.slots == [5, 6]
    assert game.display == [4, 9, 18]
    assert game.pile == [10]


@pytest.mark.parametrize(
    ("pile", "display", "left"),
    [
        ([6, 9, 10, 11], [9, 10, 18], [11]),
        ([6, 9, 10], [9, None, 18], [10]),
        ([6, 9], [None, None, 18], [9]),
        ([6], [None, None, 18], []),
    ],
)
def test_display_is_refilled_while_the_pile_has_more_than_one_tile(
    pile: list[int], display: list[int | None], left: list[int]
) -> None:
    game = play_placed("2p 7p *4p 8p", display=[1, 3, 18], slots=(5,), pile=pile)
    assert game.claimed == [(1, 0), (3, 0)]
    assert game.slots == [6, 5]
    assert game.display == display
    assert game.pile == left


def test_every_empty_place_is_refilled_from_the_first_on() -> None:
    game = play_placed("2p 7p *3p", display=[None, 18, 1], slots=(5,), pile=[6, 9, 10, 11])
    assert game.claimed == [(1, 0)]
    assert game.display == [9, 18, 10]
    game = play_placed("2p *7y", display=[None, 18, None], slots=(5,), pile=[6, 9, 10, 11])
    assert game.claimed == []
    assert game.display == [9, 18, 10]
    assert game.pile == [11]


def test_a_slot_stays_empty_without_a_pile_and_the_game_ends_without_slots() -> None:
    table = {START: (1, 0)}
    game = Oracle.from_position(table=table, slots=(2, 3), pile=[4], display=[16, 17, 18])
    game.step(action(0, 0, (9, 8)))
    assert game.slots == [4, 3]
    assert game.pile == []
    assert {legal // 768 for legal in game.legal_actions()} == {0, 1}
    game.step(action(1, 1, (8, 9)))
    assert game.slots == [4, None]
    assert {legal // 768 for legal in game.legal_actions()} == {0}
    assert game.player_to_move() == 0
    game.step(action(0, 0, (9, 9)))
    assert game.slots == [None, None]
    assert game.player_to_move() == -1
    assert game.legal_actions() == []
    before = snapshot(game)
    with pytest.raises(ValueError, match="illegal"):
        game.step(action(0, 0, (10, 9)))
    assert snapshot(game) == before


def test_the_top_of_the_pile_may_be_the_last_tile() -> None:
    game = Oracle.from_position(table={START: (1, 0)}, slots=(2, 3), pile=[4])
    game.step(action(2, 0, (9, 8)))
    assert game.slots == [2, 3]
    assert {legal // 768 for legal in game.legal_actions()} == {0, 1}


def test_the_last_tile_claims_too() -> None:
    game = play_placed("2p 7p *3p", display=[1])
    assert game.player_to_move() == -1
    assert game.scores() == [1, 0]
    assert game.returns() == [1.0, -1.0]


@pytest.mark.parametrize(("mode", "num_players"), [("competitive", 2), ("competitive", 3), ("solo", 1), ("coop", 3)])
def test_random_games_add_up_to_18(mode: str, num_players: int) -> None:
    lengths = set()
    for seed in range(25):
        rng = random.Random(f"{mode} {num_players} {seed}")
        deal = rng.sample(DEAL, 18)
        if seed == 0:
            deal = [16, 17, 18, *rng.sample(DEAL[:15], 15)]  # hard to complete by chance
        game = Oracle(deal, mode=mode, num_players=num_players)
        placed, shown = 0, list[int]()
        while game.player_to_move() != -1:
            assert game.player_to_move() == placed % num_players
            game.step(rng.choice(game.legal_actions()))
            placed += 1
            shown = [n for n in game.display if n is not None] + [n for n, _ in game.claimed]
            tiles = [n for n in [*game.slots, *game.pile] if n is not None]
            tiles += [n for n, _ in game.table.values()]
            assert sorted(shown + tiles) == DEAL
        assert len(game.table) == placed
        assert len(shown) + placed == 18
        assert placed <= 15
        lengths.add(placed)
    assert 15 in lengths
    assert min(lengths) < 15


@pytest.mark.parametrize("num_players", [2, 3])
def test_random_games_of_area_control_have_14_tiles(num_players: int) -> None:
    won = set()
    for seed in range(12):
        rng = random.Random(seed)
        game = Oracle(rng.sample(AREA_DEAL, 14), mode="area_control", num_players=num_players)
        for _ in range(14):
            assert game.player_to_move() != -1
            assert game.display == [10, 11, 12, 13]
            assert game.claimed == []
            game.step(rng.choice(game.legal_actions()))
        assert game.player_to_move() == -1
        assert len(game.table) == 14
        stay = [n for n in game.display if n is not None]
        assert sorted(stay + [n for n, _ in game.claimed]) == [10, 11, 12, 13]
        won.add(len(game.claimed))
    assert len(won) > 1


# --- results ----------------------------------------------------------------------------------------------

ONE_TILE: dict[Cell, tuple[int, int]] = {START: (9, 0)}


def ended(claimed: dict[int, int], **options: Any) -> Oracle:
    return Oracle.from_position(table=ONE_TILE, claimed=claimed, **options)


@pytest.mark.parametrize(
    ("claimed", "scores", "winner"),
    [
        ({18: 0, 1: 1, 2: 1}, [5, 2], 0),  # stars before the number of objectives
        ({1: 0, 2: 0, 3: 0, 18: 1}, [4, 5], 1),  # stars before both
        ({3: 0, 1: 1, 2: 1}, [2, 2], 1),  # then most objectives, before the highest number
        ({12: 1, 1: 0, 2: 0}, [2, 2], 0),
        ({3: 0, 12: 1}, [2, 2], 1),  # then the highest reference number
        ({12: 0, 3: 1}, [2, 2], 0),
        ({12: 0, 13: 0, 5: 1, 15: 1}, [5, 5], 1),  # the highest, not the sum
        ({13: 0, 12: 0, 15: 1, 5: 1}, [5, 5], 1),  # in whichever order they were claimed
        ({1: 0}, [1, 0], 0),
        ({1: 1}, [0, 1], 1),
    ],
)
def test_who_wins(claimed: dict[int, int], scores: list[int], winner: int) -> None:
    game = ended(claimed)
    assert game.player_to_move() == -1
    assert game.scores() == scores
    assert game.winners() == [winner]
    assert game.returns() == game.returns("outcome") == [1.0 if seat == winner else -1.0 for seat in (0, 1)]
    difference = scores[0] - scores[1]
    assert game.returns("margin") == [difference / 44, -difference / 44]


def test_nobody_holds_any() -> None:
    assert ended({}).winners() == [0, 1]
    assert ended({}).returns() == [0.0, 0.0]
    assert ended({}).returns("margin") == [0.0, 0.0]
    assert ended({}, num_players=3).winners() == [0, 1, 2]
    assert ended({}, num_players=3).returns() == [0.0, 0.0, 0.0]
    assert ended({}, num_players=3).returns("margin") == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("claimed", "scores", "outcome", "margin"),
    [
        ({18: 2, 1: 0}, [1, 0, 5], [-0.5, -0.5, 1.0], [-4 / 44, -5 / 44, 4 / 44]),
        ({1: 1}, [0, 1, 0], [-0.5, 1.0, -0.5], [-1 / 44, 1 / 44, -1 / 44]),
        ({3: 0, 4: 1, 1: 2, 2: 2}, [2, 2, 2], [-0.5, -0.5, 1.0], [0.0, 0.0, 0.0]),
        ({12: 0, 4: 1, 1: 2}, [2, 2, 1], [1.0, -0.5, -0.5], [0.0, 0.0, -1 / 44]),
    ],
)
def test_results_with_three_players(
    claimed: dict[int, int], scores: list[int], outcome: list[float], margin: list[float]
) -> None:
    game = ended(claimed, num_players=3)
    assert game.scores() == scores
    assert game.returns("outcome") == outcome
    assert game.returns("margin") == margin


def test_margin_is_clipped(tmp_path: Path) -> None:
    tiles = custom_tiles(tmp_path, {"number = 18, stars = 5": "number = 18, stars = 45"})
    game = ended({18: 0}, tiles=tiles)
    assert game.scores() == [45, 0]
    assert game.returns("margin") == [1.0, -1.0]
    tiles = custom_tiles(tmp_path, {"number = 18, stars = 5": "number = 18, stars = 43"})
    assert ended({18: 0}, tiles=tiles).returns("margin") == [43 / 44, -43 / 44]


@pytest.mark.parametrize("mode", ["competitive", "solo", "coop", "area_control"])
@pytest.mark.parametrize("reward", ["outcome", "margin"])
def test_rewards_are_zero_while_running(mode: str, reward: str) -> None:
    claimed = {10: 0}
    game = Oracle.from_position(table=ONE_TILE, claimed=claimed, slots=(1, None), mode=mode)
    assert game.scores() == {"solo": [2], "coop": [2, 2]}.get(mode, [2, 0])
    assert game.returns(reward) == [0.0] * game.num_players


def test_unknown_reward() -> None:
    for game in (Oracle(DEAL), ended({}), ended({}, mode="solo")):
        with pytest.raises(ValueError, match="reward"):
            game.returns("stars")


ALL_CLAIMED = {number: 0 for number in range(1, 19) if number != 9}  # 42 stars


@pytest.mark.parametrize(
    ("claimed", "total", "band"),
    [
        ([], 0, "0-5"),
        ([18], 5, "0-5"),
        ([18, 1], 6, "6-12"),
        ([18, 17, 13], 12, "6-12"),
        ([18, 17, 16], 13, "13-19"),
        ([18, 17, 16, 15, 14], 19, "13-19"),
        ([18, 17, 16, 15, 14, 1], 20, "20-26"),
        ([18, 17, 16, 15, 14, 13, 12, 3], 26, "20-26"),
        ([18, 17, 16, 15, 14, 13, 12, 3, 1], 27, "26+"),
        (list(ALL_CLAIMED), 42, "26+"),
    ],
)
@pytest.mark.parametrize(("mode", "num_players"), [("solo", 1), ("coop", 2), ("coop", 3)])
def test_result_of_a_group(claimed: list[int], total: int, band: str, mode: str, num_players: int) -> None:
    seats = {number: index % num_players for index, number in enumerate(claimed)}
    game = ended(seats, mode=mode, num_players=num_players)
    assert game.scores() == [total] * num_players
    assert game.band() == band
    assert game.returns("outcome") == [total / 26] * num_players
    assert game.returns("margin") == [total / 26] * num_players


def test_no_bands_in_other_modes() -> None:
    for mode in ("competitive", "area_control"):
        with pytest.raises(ValueError, match="band"):
            ended({}, mode=mode).band()


def test_coop_claims_for_the_group_with_the_indicator_of_the_player_who_placed() -> None:
    drawing = """ 3y  .
                  4p *9y"""
    for player, claimed in [(0, []), (1, [(14, 1)]), (2, [])]:
        game = play_placed(drawing, display=[14], player=player, mode="coop", num_players=3)
        assert game.claimed == claimed
        assert game.scores() == [3 * len(claimed)] * 3
    for player, claimed in [(0, [(10, 0)]), (1, [])]:
        game = play_placed("1p 7p *3p", display=[10], player=player, mode="coop")
        assert game.claimed == claimed
        assert game.scores() == [2 * len(claimed)] * 2
        assert game.returns() == [2 * len(claimed) / 26] * 2


def test_solo_plays_with_black() -> None:
    assert play_placed("*2b 3y 1b", display=[15], mode="solo").claimed == [(15, 0)]
    assert play_placed("*2b 1y 3b", display=[15], mode="solo").claimed == []


# --- area control -----------------------------------------------------------------------------------------


def allocation(drawing: str, num_players: int = 2, axis: int = 2) -> dict[int, int | None]:
    """The allocation as the drawing lies, and the same when its placed tile is played as the last of all."""
    drawn, placed = read(drawing)
    options: dict[str, Any] = {"mode": "area_control", "num_players": num_players}
    result = Oracle.from_position(table=lay(drawn, axis), **options).area_allocation()
    tile, rotation = turned(*drawn.pop(placed), axis)
    for slots, pile, slot in [((tile, None), [], 0), ((None, tile), [], 1), ((None, None), [tile], 2)]:
        for player in range(num_players):  # whoever plays it
            game = Oracle.from_position(table=lay(drawn, axis), slots=slots, pile=pile, player=player, **options)
            game.step(action(slot, rotation, cell_at(placed, axis)))
            assert game.player_to_move() == -1
            assert dict(game.claimed) == {n: seat for n, seat in result.items() if seat is not None}
            assert game.display == [None if result[n] is not None else n for n in (10, 11, 12, 13)]
    return result


# num_players, who gets what, drawing; what is not named goes to nobody
ALLOCATIONS: dict[str, tuple[int, dict[int, int], str]] = {
    "one group": (2, {10: 0}, "1p 7p *3p"),
    "one group of the opponent": (2, {10: 1}, "3p 9p *1p"),
    "a yellow and a blue group": (2, {11: 0, 12: 1}, "3y 9y *5y 2b 8b 17b"),
    "too small": (2, {}, "1p *7p"),
    "the last tile needs no part in it": (2, {10: 0}, "1p 7p 3p *4y"),
    "the larger group": (2, {10: 1}, "1p 7p 2p 6y 3p 9p *4p 16p"),
    "the larger group, of the other player": (2, {10: 0}, "1p 7p 2p 8p 6y 3p 9p *4p"),
    "the largest shared by two players": (2, {}, "1p 7p 2p 6y 3p 9p *4p"),
    "two of the same size, of one player": (2, {10: 0}, "1p 7p 3p 6y 2p 8p *4p"),
    "a larger group without majority is ignored": (2, {10: 0}, "1p 7p 3p 6y 2p 8p 4p *9p"),
    "a group tied with void is ignored": (2, {}, "1p 7p 5p *18p"),
    "a larger group of void is nobody's with two players": (2, {10: 0}, "1p 7p 3p 4y 5p 18p *6p 9p"),
    "the same group is the third player's": (3, {10: 2}, "1p 7p 3p 4y 5p 18p *6p 9p"),
    "shared by two of three": (3, {}, "1p 7p 2p 8p 6y 3p 9p 4p 16p 15y 5p 18p *17p"),
    "shared by two, but the third has more": (3, {10: 2}, "1p 7p 2p 15y 3p 9p 4p 8b 5p 18p *6p 16p"),
    "larger in another perspective": (2, {10: 1}, "1p 7p *2p 3y 9b 4y 16b"),
    "shared by two perspectives": (2, {}, "1p 7p *2p 3y 9b 4y"),
    "any one colour of five": (2, {10: 0, 13: 0}, "1p 7p 2p *8p 3p"),
    "four are not five": (2, {10: 0}, "1p 7p 2p *8p"),
    "the larger of two colours": (2, {10: 0, 12: 1, 13: 1}, "1p 7p 2p 8p 3p 5b 14b 17b 9b 15b *18b"),
    "shared by two colours": (2, {10: 0, 12: 1}, "1p 7p 2p 8p 3p 5b 14b 17b 9b *15b"),
}


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", ALLOCATIONS)
def test_allocation(name: str, axis: int) -> None:
    num_players, expected, drawing = ALLOCATIONS[name]
    assert allocation(drawing, num_players, axis) == {n: expected.get(n) for n in (10, 11, 12, 13)}


def test_start_of_area_control() -> None:
    game = Oracle(AREA_DEAL[::-1], mode="area_control")
    assert game.display == [10, 11, 12, 13]
    assert game.slots == [18, 17]
    assert game.pile == [16, 15, 14, 9, 8, 7, 6, 5, 4, 3, 2, 1]


def test_nothing_is_claimed_before_the_end_of_area_control() -> None:
    game = play_placed("1p 7p *3p", slots=(4,), pile=[5, 6], mode="area_control")
    assert game.completed_objectives((10, 8), 0) == [10]
    assert game.claimed == []
    assert game.display == [10, 11, 12, 13]
    assert game.pile == [6]
    assert game.scores() == [0, 0]
    for rotation, cell, left in [(0, (8, 9), 2), (0, (7, 7), 1)]:
        game.step(action(1 if game.slots[1] else 0, rotation, cell))
        assert len([tile for tile in game.choices() if tile is not None]) == left
        assert game.claimed == []
    game.step(action(0, 0, (7, 8)))
    assert game.player_to_move() == -1
    assert (10, 0) in game.claimed


def test_allocation_of_what_is_left_on_display() -> None:
    drawn, _ = read("1p 7p 2p *8p 3p")
    game = Oracle.from_position(table=lay(drawn, 2), claimed={10: 1}, mode="area_control")
    assert game.area_allocation() == {11: None, 12: None, 13: 0}


def test_result_of_area_control() -> None:
    game = play_placed("1p 7p 2p 8p 3p 5b 14b 17b 9b 15b *18b", mode="area_control")
    assert dict(game.claimed) == {10: 0, 12: 1, 13: 1}
    assert game.scores() == [2, 5]
    assert game.returns("outcome") == [-1.0, 1.0]
    assert game.returns("margin") == [-3 / 44, 3 / 44]
    game = play_placed("3y 9y *5y 2b 8b 17b", mode="area_control", num_players=3)
    assert game.scores() == [2, 2, 0]
    assert game.returns("outcome") == [-0.5, 1.0, -0.5]  # objective 12 beats 11
    game = play_placed("1p *7p", mode="area_control", num_players=3)
    assert game.scores() == [0, 0, 0]
    assert game.returns("outcome") == [0.0, 0.0, 0.0]


# --- observation ------------------------------------------------------------------------------------------

PAIR = {(8, 8): (1, 0), (9, 8): (8, 1)}
FREE = [(7, 7), (7, 8), (8, 7), (8, 9), (9, 7), (9, 9), (10, 8), (10, 9)]
# planes of tile 1 (x pink black, y yellow white, z blue void) and of tile 8 turned by one third
# (x yellow void, y pink black, z blue white), as seats see them
PLANES = {
    ("competitive", 2, 0): ([0, 3, 7, 10, 14, 17], [1, 5, 6, 9, 14, 16]),
    ("competitive", 2, 1): ([0, 4, 7, 9, 14, 17], [1, 5, 6, 10, 14, 15]),
    ("competitive", 3, 0): ([0, 3, 7, 10, 14, 17], [1, 5, 6, 9, 14, 16]),
    ("competitive", 3, 1): ([0, 5, 7, 9, 14, 16], [1, 4, 6, 11, 14, 15]),
    ("competitive", 3, 2): ([0, 4, 7, 11, 14, 15], [1, 3, 6, 10, 14, 17]),
    ("solo", 1, 0): ([0, 3, 7, 10, 14, 17], [1, 5, 6, 9, 14, 16]),
    ("coop", 2, 0): ([0, 3, 7, 10, 14, 17], [1, 5, 6, 9, 14, 16]),
    ("coop", 2, 1): ([0, 4, 7, 9, 14, 17], [1, 5, 6, 10, 14, 15]),
    ("coop", 3, 1): ([0, 5, 7, 9, 14, 16], [1, 4, 6, 11, 14, 15]),
    ("coop", 3, 2): ([0, 4, 7, 11, 14, 15], [1, 3, 6, 10, 14, 17]),
    ("area_control", 2, 1): ([0, 4, 7, 9, 14, 17], [1, 5, 6, 10, 14, 15]),
    ("area_control", 3, 2): ([0, 4, 7, 11, 14, 15], [1, 3, 6, 10, 14, 17]),
}


def ones(board: list[int]) -> list[tuple[int, int, int]]:
    assert len(board) == 20 * 16 * 16
    assert set(board) <= {0, 1}
    return [(i // 256, i // 16 % 16, i % 16) for i, value in enumerate(board) if value]


@pytest.mark.parametrize(("mode", "num_players", "seat"), PLANES)
def test_board_for_any_seat_waiting_or_not_and_after_the_end(mode: str, num_players: int, seat: int) -> None:
    first, second = PLANES[mode, num_players, seat]
    tiles = [(plane, 8, 8) for plane in first] + [(plane, 9, 8) for plane in second]
    for player in range(num_players):
        game = Oracle.from_position(table=PAIR, slots=(2, None), player=player, mode=mode, num_players=num_players)
        board, _ = game.observe(seat)
        assert ones(board) == sorted(tiles + [(18, x, y) for x, y in FREE] + [(19, 9, 8)])
    game = Oracle.from_position(table=PAIR, mode=mode, num_players=num_players)
    board, _ = game.observe(seat)
    assert ones(board) == sorted([*tiles, (19, 9, 8)])


def test_board_at_the_start() -> None:
    for seat in range(3):
        assert ones(Oracle(DEAL, num_players=3).observe(seat)[0]) == [(18, 8, 8)]


def test_board_after_a_step_marks_the_tile_just_placed() -> None:
    game = Oracle.from_position(table=PAIR, slots=(2, 3), last=(8, 8))
    assert ones(game.observe(0)[0])[-1] == (19, 8, 8)
    game.step(action(1, 2, (9, 9)))
    board = ones(game.observe(1)[0])
    assert [one for one in board if one[0] == 19] == [(19, 9, 9)]
    # tile 3 (pw, yb, bv) turned by two thirds: x yellow black, y blue void, z pink white, seen by white
    assert [plane for plane, x, y in board if (x, y) == (9, 9)] == [1, 4, 8, 11, 12, 15, 19]
    assert (18, 9, 9) not in board
    assert (18, 10, 10) in board


def test_board_wraps_round() -> None:
    game = Oracle.from_position(table={(0, 15): (1, 0), (-1, 15): (2, 0)}, slots=(3, None))
    board = ones(game.observe(0)[0])
    assert [one for one in board if one[0] in (0, 1, 2)] == [(0, 0, 15), (0, 15, 15)]
    free = [(0, 0), (0, 14), (1, 0), (1, 15), (14, 14), (14, 15), (15, 0), (15, 14)]
    assert [one for one in board if one[0] == 18] == [(18, x, y) for x, y in free]
    assert [one for one in board if one[0] == 19] == [(19, 15, 15)]
    game.step(action(0, 0, (0, 16)))
    assert game.last == (0, 16)
    assert (19, 0, 0) in ones(game.observe(0)[0])


SLOTS = {  # tiles 3 (pw yb bv), 4 (pw yv bb) and 12 (pv bb yw), wall by wall, as seats see them
    (2, 0): [
        [1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1],
        [1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0],
        [1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0],
    ],
    (2, 1): [
        [1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1],
        [1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0],
        [1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0],
    ],
    (3, 1): [
        [1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0],
        [1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1],
        [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0],
    ],
    (3, 2): [
        [1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0],
        [1, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0],
        [1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 1],
    ],
}
SLOTS[1, 0] = SLOTS[3, 0] = SLOTS[2, 0]
EMPTY = [0] * 18


def flags(*numbers: int) -> list[int]:
    return [int(number in numbers) for number in range(1, 19)]


def unseen(*shown: int) -> list[int]:
    return [int(number not in shown) for number in range(1, 19)]


@pytest.mark.parametrize(
    ("seat", "standing"),
    [(0, [7, 2, 0, 2, 1, 0, 18, 10, 0]), (1, [2, 7, 0, 1, 2, 0, 10, 18, 0])],
)
@pytest.mark.parametrize("player", [0, 1])
def test_features_with_two_players(seat: int, player: int, standing: list[int]) -> None:
    game = Oracle.from_position(
        table=PAIR,
        display=[17, None, 2],
        slots=(3, 4),
        pile=[12, 6, 5],
        player=player,
        claimed={18: 0, 10: 1, 11: 0},
    )
    _, features = game.observe(seat)
    assert features == [
        *SLOTS[2, seat][0],
        *SLOTS[2, seat][1],
        *SLOTS[2, seat][2],
        *flags(2, 17),
        *unseen(2, 10, 11, 17, 18),
        *standing,
        3,
        *[1, 0, 0],
    ]
    assert len(features) == 103


@pytest.mark.parametrize(
    ("seat", "standing"),
    [
        (0, [7, 2, 1, 2, 1, 1, 18, 10, 1]),
        (1, [2, 1, 7, 1, 1, 2, 10, 1, 18]),
        (2, [1, 7, 2, 1, 2, 1, 1, 18, 10]),
    ],
)
@pytest.mark.parametrize("player", [0, 1, 2])
def test_features_with_three_players(seat: int, player: int, standing: list[int]) -> None:
    game = Oracle.from_position(
        table={START: (5, 0)},
        display=[9],
        slots=(12, None),
        pile=[3],
        player=player,
        claimed={18: 0, 10: 1, 11: 0, 1: 2},
        num_players=3,
    )
    _, features = game.observe(seat)
    assert features == [
        *SLOTS[3, seat][2],
        *EMPTY,
        *SLOTS[3, seat][0],
        *flags(9),
        *unseen(1, 9, 10, 11, 18),
        *standing,
        1,
        *[1, 0, 0],
    ]


@pytest.mark.parametrize(("mode", "num_players"), [("solo", 1), ("coop", 2), ("coop", 3)])
def test_features_of_a_group(mode: str, num_players: int) -> None:
    """The group's claims stand at the observer's places, whoever placed the tile and whoever looks."""
    claimed = {18: 0, 10: 1 % num_players, 11: 2 % num_players}
    for seat in range(num_players):
        for player in range(num_players):
            game = Oracle.from_position(
                table=PAIR,
                display=[None, 2, 17],
                slots=(3, 4),
                player=player,
                claimed=claimed,
                mode=mode,
                num_players=num_players,
            )
            _, features = game.observe(seat)
            assert features == [
                *SLOTS[num_players, seat][0],
                *SLOTS[num_players, seat][1],
                *EMPTY,
                *flags(2, 17),
                *unseen(2, 10, 11, 17, 18),
                *[9, 0, 0, 3, 0, 0, 18, 0, 0],
                0,
                *[0, 1, 0],
            ]


@pytest.mark.parametrize("num_players", [2, 3])
def test_features_of_area_control(num_players: int) -> None:
    for seat in range(num_players):
        game = Oracle.from_position(
            table=PAIR, slots=(3, 4), pile=[5], player=1, mode="area_control", num_players=num_players
        )
        _, features = game.observe(seat)
        assert features[:36] == SLOTS[num_players, seat][0] + SLOTS[num_players, seat][1]
        assert features[54:] == [
            *flags(10, 11, 12, 13),
            *unseen(10, 11, 12, 13),
            *[0] * 9,
            1,
            *[0, 0, 1],
        ]


@pytest.mark.parametrize(("seat", "standing"), [(0, [2, 5, 0, 1, 2, 0, 10, 13, 0]), (1, [5, 2, 0, 2, 1, 0, 13, 10, 0])])
def test_features_after_the_end_of_area_control(seat: int, standing: list[int]) -> None:
    """An objective that was won has left the display, one that was not is still there."""
    game = play_placed("1p 7p 2p 8p 3p 5b 14b 17b 9b 15b *18b", mode="area_control")
    _, features = game.observe(seat)
    assert features == [*EMPTY * 3, *flags(11), *unseen(10, 11, 12, 13), *standing, 0, *[0, 0, 1]]


@pytest.mark.parametrize(("seat", "standing"), [(0, [1, 0, 0, 1, 0, 0, 1, 0, 0]), (1, [0, 1, 0, 0, 1, 0, 0, 1, 0])])
def test_features_after_the_end(seat: int, standing: list[int]) -> None:
    game = play_placed("2p 7p *3p", display=[18, 1, 17])
    _, features = game.observe(seat)
    assert features == [*EMPTY * 3, *flags(17, 18), *unseen(1, 17, 18), *standing, 0, *[1, 0, 0]]


def test_features_at_the_start() -> None:
    _, features = Oracle(DEAL).observe(0)
    assert features[54:] == [*flags(1, 2, 3), *unseen(1, 2, 3), *[0] * 9, 13, *[1, 0, 0]]
    _, features = Oracle(AREA_DEAL, mode="area_control").observe(0)
    assert features[54:] == [*flags(10, 11, 12, 13), *unseen(10, 11, 12, 13), *[0] * 9, 12, *[0, 0, 1]]


def test_a_placed_tile_has_not_shown_its_objective() -> None:
    game = Oracle(DEAL)
    game.step(action(2, 0, START))
    _, features = game.observe(0)
    assert features[72:90] == unseen(1, 2, 3)
    assert features[99] == 12


def test_an_objective_once_shown_stays_shown() -> None:
    game = play_placed("2p 7p *3p", display=[1, 4, 18], slots=(5,), pile=[6, 9, 10, 11])
    _, features = game.observe(1)
    assert features[54:72] == flags(4, 9, 18)
    assert features[72:90] == unseen(1, 4, 9, 18)


def test_what_a_player_does_not_know() -> None:
    """Neither the order below the top nor the numbers behind equal faces show in an observation."""
    games = [
        Oracle.from_position(table=table, display=[16, 10], slots=slots, pile=pile, claimed={11: 1})
        for table, slots, pile in [
            ({START: (1, 1)}, (2, 3), [4, 5, 6, 7]),
            ({START: (1, 1)}, (2, 3), [4, 7, 5, 6]),
            ({START: (13, 1)}, (2, 15), [4, 5, 6, 1]),
        ]
    ]
    for seat in (0, 1):
        assert games[0].observe(seat) == games[1].observe(seat) == games[2].observe(seat)
    top = Oracle.from_position(
        table={START: (1, 1)}, display=[16, 10], slots=(2, 3), pile=[5, 4, 6, 7], claimed={11: 1}
    )
    assert top.observe(0) != games[0].observe(0)


def test_observations_are_fresh() -> None:
    game = Oracle(DEAL)
    board, features = game.observe(0)
    board[0] = 5
    features[0] = 5
    assert game.observe(0)[0][0] == 0
    assert game.observe(0)[1][0] == 1


@pytest.mark.parametrize(("num_players", "seat"), [(2, 2), (2, -1), (3, 3)])
def test_no_such_observer(num_players: int, seat: int) -> None:
    with pytest.raises(ValueError, match="seat"):
        Oracle(DEAL, num_players=num_players).observe(seat)


# --- tiles, deals, options, positions -----------------------------------------------------------------------


def test_tile_faces() -> None:
    blocks = iso.load_tiles(iso.DEFAULT_TILES).blocks
    for number, text in FACES.items():
        words = [f"{wall.colour} {wall.indicator}" for wall in blocks[number]]
        assert words == [WORDS[wall] for wall in text.split()]
    assert sorted(blocks) == sorted(FACES)


def test_six_pairs_of_tiles_have_the_same_block_face_up_to_rotation() -> None:
    blocks = iso.load_tiles(iso.DEFAULT_TILES).blocks
    pairs = []
    for one in range(1, 19):
        for other in range(one + 1, 19):
            turns = [tuple(blocks[other][(axis - r) % 3] for axis in range(3)) for r in range(3)]
            if tuple(blocks[one]) in turns:
                pairs.append((one, other))
    assert pairs == [(1, 13), (3, 15), (5, 17), (8, 14), (10, 16), (12, 18)]


def test_objectives_of_the_tile_file() -> None:
    objectives = iso.load_tiles(iso.DEFAULT_TILES).objectives
    assert {number: objective.stars for number, objective in objectives.items()} == STARS
    assert sum(objective.stars for objective in objectives.values()) == 44  # the unit of the margin reward
    kinds = [objectives[number].kind for number in range(1, 19)]
    assert kinds == ["figure"] * 9 + ["area"] * 4 + ["conditioned"] * 5


def test_another_tile_file(tmp_path: Path) -> None:
    tiles = custom_tiles(
        tmp_path,
        {
            "number = 1,  stars = 1": "number = 1,  stars = 7",
            '{ number = 2,  walls = [["pink", "black"], ["yellow", "void"], ["blue", "white"]] }': (
                '{ number = 2,  walls = [["yellow", "void"], ["blue", "white"], ["pink", "black"]] }'
            ),
        },
    )
    for path in (tiles, str(tiles)):
        game = Oracle.from_position(table={(8, 8): (3, 2), (9, 8): (15, 2)}, display=[1], slots=(2, None), tiles=path)
        game.step(action(0, 0, (10, 8)))
        assert game.scores() == [7, 0]
        assert game.observe(0)[0][1 * 256 + 10 * 16 + 8] == 1  # yellow on x


@pytest.mark.parametrize(
    ("old", "new", "tile"),
    [
        ('{ number = 7,  walls = [["pink", "black"]', '{ number = 7,  walls = [["blue", "black"]', 7),
        ('{ number = 7,  walls = [["pink", "black"]', '{ number = 7,  walls = [["pink", "white"]', 7),
        ('{ number = 7,  walls = [["pink", "black"], ', "{ number = 7,  walls = [", 7),
        ("{ number = 7,  walls", "{ number = 6,  walls", 6),
        ("{ number = 7,  walls", "{ number = 19,  walls", 7),
        ("number = 18, stars = 5", "number = 17, stars = 5", 17),
        ("number = 18, stars = 5", "number = 18, stars = 0", 18),
        ('number = 10, stars = 2, kind = "area"', 'number = 10, stars = 2, kind = "aera"', 10),
        ('number = 10, stars = 2, kind = "area"', 'number = 10, stars = 2, kind = "figure"', 10),
        ('colour = "pink", size = 3', 'colour = "red", size = 3', 10),
        ('colour = "pink", size = 3', 'colour = "pink", size = 0', 10),
        ('[[0, 0, "pink", true], [1, 0, "white", false], [0, 1, "white", false]]', "[]", 14),
        ('[1, 0, "yellow", true]', '[1, 0, "yellow"]', 15),
        ('[1, 0, "yellow", true]', '[0, 0, "yellow", true]', 15),
        ('[1, 0, "yellow", true]', '[1, 0, "green", true]', 15),
        ('[1, 0, "yellow", true]', '[1, 0, "yellow", 1]', 15),
        ('[1, 0, "yellow", true]', '[1, 0.0, "yellow", true]', 15),
    ],
)
def test_bad_tile_files_name_the_tile(old: str, new: str, tile: int, tmp_path: Path) -> None:
    tiles = custom_tiles(tmp_path, {old: new})
    with pytest.raises(ValueError, match=f"^tile {tile}:"):
        Oracle(DEAL, tiles=tiles)


def test_an_unknown_kind_is_named(tmp_path: Path) -> None:
    tiles = custom_tiles(tmp_path, {'number = 10, stars = 2, kind = "area"': 'number = 10, stars = 2, kind = "aera"'})
    with pytest.raises(ValueError, match=r"kind must be one of .*area.*, not 'aera'"):
        Oracle(DEAL, tiles=tiles)


def test_an_area_of_one(tmp_path: Path) -> None:
    tiles = custom_tiles(tmp_path, {'colour = "pink", size = 3': 'colour = "pink", size = 1'})
    game = Oracle.from_position(table={START: (1, 1)}, tiles=tiles)
    assert game.completing_perspectives(10, START, 0) == [1]
    assert game.completing_perspectives(10, START, 1) == []


def test_a_nineteenth_tile(tmp_path: Path) -> None:
    extra = '{ number = 19, walls = [["pink", "void"], ["blue", "black"], ["yellow", "white"]] },'
    tiles = custom_tiles(tmp_path, {"]\n\nobjectives": extra + "\n]\n\nobjectives"})
    with pytest.raises(ValueError, match="blocks: 19 entries"):
        Oracle(DEAL, tiles=tiles)


def test_area_control_needs_areas(tmp_path: Path) -> None:
    corner = 'kind = "figure", cells = [[0, 0, "blue", false], [1, 0, "blue", false], [0, 1, "blue", false]]'
    tiles = custom_tiles(tmp_path, {'kind = "area", colour = "blue", size = 3': corner})
    assert Oracle(DEAL, tiles=tiles).display == [1, 2, 3]
    with pytest.raises(ValueError, match=r"^tile 12:"):
        Oracle(AREA_DEAL, mode="area_control", tiles=tiles)


@pytest.mark.parametrize(
    ("deal", "mode"),
    [
        (None, "competitive"),
        (None, "area_control"),
        ([], "competitive"),
        (DEAL[:-1], "competitive"),
        ([*DEAL, 18], "competitive"),
        ([*DEAL[:-1], 17], "solo"),
        ([*DEAL[:-1], 19], "coop"),
        (AREA_DEAL, "competitive"),
        (DEAL, "area_control"),
        ([*AREA_DEAL[:-1], 10], "area_control"),
    ],
)
def test_bad_deals(deal: list[int] | None, mode: str) -> None:
    with pytest.raises(ValueError, match="deal"):
        Oracle(deal, mode=mode)


@pytest.mark.parametrize(
    ("mode", "default", "good", "bad"),
    [
        ("competitive", 2, [2, 3], [0, 1, 4]),
        ("solo", 1, [1], [0, 2, 3]),
        ("coop", 2, [2, 3], [0, 1, 4]),
        ("area_control", 2, [2, 3], [0, 1, 4]),
    ],
)
def test_number_of_players(mode: str, default: int, good: list[int], bad: list[int]) -> None:
    deal = AREA_DEAL if mode == "area_control" else DEAL
    assert Oracle(deal, mode=mode).num_players == default
    for num_players in good:
        game = Oracle(deal, mode=mode, num_players=num_players)
        assert game.num_players == num_players
        assert game.scores() == [0] * num_players
    for num_players in bad:
        with pytest.raises(ValueError, match="num_players"):
            Oracle(deal, mode=mode, num_players=num_players)


@pytest.mark.parametrize("options", [{"mode": "team"}, {"mirror": 1}, {"colour": "pink"}])
def test_bad_options(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        Oracle(DEAL, **options)


@pytest.mark.parametrize(
    ("position", "message"),
    [
        ({"table": {START: (1, 0), (9, 8): (1, 1)}}, "tile 1 "),
        ({"table": {START: (1, 0)}, "slots": (1, None)}, "tile 1 "),
        ({"table": {START: (1, 0)}, "display": [1]}, "tile 1 "),
        ({"table": {START: (1, 0)}, "pile": [2], "claimed": {2: 0}}, "tile 2 "),
        ({"table": {START: (19, 0)}}, "tile 19 "),
        ({"table": {START: (1, 3)}}, "rotation"),
        ({"table": {START: (1, 0)}, "player": 2}, "seat"),
        ({"table": {START: (1, 0)}, "claimed": {2: 2}}, "seat"),
        ({"table": {START: (1, 0)}, "display": [2, 3, 4, 5]}, "places"),
        ({"table": {START: (1, 0)}, "slots": (2, 3, 4)}, "slots"),
        ({"table": {START: (1, 0)}, "last": (9, 8)}, "no tile"),
        ({"table": {START: (1, 0), (24, 8): (2, 0)}}, "wide"),
        ({"table": {START: (1, 0), (21, 8): (2, 0)}, "slots": (3, None)}, None),
        ({"table": {START: (1, 0), (22, 8): (2, 0)}, "slots": (3, None)}, "wide"),
        ({"table": {START: (1, 0), (23, 8): (2, 0)}}, None),
        ({"table": {START: (10, 0)}, "mode": "area_control", "display": []}, "tile 10 "),
        ({"table": {START: (1, 0)}, "mode": "area_control", "claimed": {18: 0}}, "tile 18 "),
    ],
)
def test_bad_positions(position: dict[str, Any], message: str | None) -> None:
    if message is None:
        assert Oracle.from_position(**position).table == position["table"]
    else:
        with pytest.raises(ValueError, match=message):
            Oracle.from_position(**position)


def test_hand_made_positions_are_copies() -> None:
    table, pile, display = {START: (1, 0)}, [2, 3], [4, 5, 6]
    game = Oracle.from_position(table=table, slots=(7, 8), pile=pile, display=display)
    game.step(action(0, 0, (9, 8)))
    assert (table, pile, display) == ({START: (1, 0)}, [2, 3], [4, 5, 6])
    assert game.slots == [2, 8]


def test_an_empty_hand_made_table_starts_at_8_8() -> None:
    game = Oracle.from_position(table={}, slots=(1, None))
    assert game.last is None
    assert game.legal_actions() == [136, 392, 648]
