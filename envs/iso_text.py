"""Positions of ISO as text: the table, the slots, the objectives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from iszoo.envs.iso_tiles import COLOURS, NUM_TILES, Objective

Cell = tuple[int, int]
Walls = Sequence[tuple[int, int]]  # colour and indicator on x, y, z

BANDS = (5, 12, 19, 26)  # the greatest total of stars of each band but the last, in solo and coop
LEGEND = "walls on x, y, z: P pink, Y yellow, B blue; # black, o white, . void"


def band(total: int) -> str:
    """The band of a total of stars in solo and coop, as printed."""
    least = 0
    for greatest in BANDS:
        if total <= greatest:
            return f"{least}-{greatest}"
        least = greatest + 1
    return f"{BANDS[-1]}+"


def signs(walls: Walls) -> str:
    """A block face in six letters, see LEGEND."""
    return "".join("PYB"[colour] + "#o."[indicator] for colour, indicator in walls)


def numbers(objectives: int) -> list[int]:
    """The numbers in a set of objectives, ascending."""
    return [number for number in range(1, NUM_TILES + 1) if (objectives >> (number - 1)) & 1]


def describe(number: int, objective: Objective) -> str:
    """An objective in brief: what for, how large, and how many stars."""
    if objective.kind == "area":
        kind = f"{(*COLOURS, 'one colour')[objective.colour]} area from {objective.size}"
    else:
        kind = f"{objective.kind} of {len(objective.cells)}"
    return f"{number} ({kind}, {objective.stars}*)"


def table(tiles: Mapping[Cell, Walls], last: Cell | None, free: set[Cell], side: int) -> Iterator[str]:
    """The occupied part of the table, line by line: x runs to the right, y up and half a tile to the left.

    The tile placed last stands in brackets, the cells where a tile may be placed as x,y.
    """
    # One line below the lowest that is occupied, where cells are still told apart; the same to the left.
    left, bottom = (_first({cell[k] for cell in tiles or free}, side) - 1 for k in range(2))
    shown = {}  # (row above the bottom, column in characters) -> text
    for x, y in free | tiles.keys():
        row = (y - bottom) % side
        text = f"{f'{x},{y}':^8}"
        if (x, y) in tiles:
            text = signs(tiles[x, y])
            text = f"[{text}]" if (x, y) == last else f" {text} "
        shown[row, 10 * ((x - left) % side) - 5 * row] = text
    margin = min(column for _, column in shown)
    for row in sorted({row for row, _ in shown}, reverse=True):
        line = ""
        for column in sorted(column for r, column in shown if r == row):
            line = line.ljust(column - margin) + shown[row, column]
        yield line.rstrip()


def _first(lines: set[int], side: int) -> int:
    """The least of some lines that hang together on the torus: the one after an empty line."""
    return next(line for line in sorted(lines) if (line - 1) % side not in lines)
