"""A survey of a position of ISO: what a wall in a free cell does for the objectives on display.

It tells of every free cell k, and of every wall that could be placed there, what it does for a player. A wall is
9 * axis + 3 * colour + indicator. All tables have room for MOST_CELLS cells:

cells (MOST_CELLS,) int64: the free cells.
wins (MOST_CELLS, WALLS) int64: the objectives that the wall would complete, as a word.
shares (MOST_CELLS, WALLS, PLACES) float64: for each place of the display how complete its objective would be: of
    the best figure or area through the wall that can still be completed, the share of its walls on the table.

A tile shows a wall on each axis, so what it does follows from three of these entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from iszoo.envs.iso import (
    ALL_TILES,
    AREAS,
    DIAMOND,
    DISPLAY,
    FACE_WALLS,
    FREE,
    GROUPS,
    INDICATORS_AT,
    ON_DISPLAY_ALL_GAME,
    PATTERNS,
    PLACED,
    SIDE,
    TILES,
    UNITED,
    way_to,
)
from iszoo.envs.iso_tiles import MOST_TILES
from iszoo.envs.native import kernel, popcount, trailing_zeros

MOST_CELLS = 2 * MOST_TILES + 4  # around a straight line of tiles; any other shape has fewer
WALLS = 27
PLACES = len(ON_DISPLAY_ALL_GAME)

# The wall that a block face shows on each axis.
SHOWS = np.array(
    [[9 * axis + 3 * ((w >> 8 * axis) & 255) + ((w >> (8 * axis + 24)) & 255) for axis in range(3)] for w in FACE_WALLS]
)


@kernel
def survey(
    rows: Any, i: int, player: int, least: int, cells: Any, wins: Any, shares: Any, around: Any, params: Any
) -> int:
    """Writes cells, wins and shares for a player to place; returns the number of cells. around (7,) is scratch.

    Only figures that lack at most `least` walls are looked at; with 1, shares are not written.
    """
    count = list_free(rows, i, cells)
    for k in range(count):
        for wall in range(WALLS):
            wins[k, wall] = 0
            if least > 1:
                for place in range(PLACES):
                    shares[k, wall, place] = 0.0
        for axis in range(3):
            _look_around(rows, i, player, axis, cells[k], around)
            _survey_areas(rows, i, player, axis, k, least, wins, shares, around, params)
            _survey_figures(rows, i, player, axis, k, least, wins, shares, around, params)
    return count


@kernel
def _look_around(rows: Any, i: int, player: int, axis: int, cell: int, around: Any) -> None:
    """Writes what a wall in a cell would have around it along an axis.

    around (7,): the walls of each colour that figures can reach, and those with the player's indicator, as bits
    of DIAMOND; the tiles of the groups of each colour that the wall would unite.
    """
    for k in range(7):
        around[k] = 0
    for t in range(rows[i, PLACED]):
        tile = rows[i, TILES + t]
        way = way_to(cell, tile & 255)
        shows = FACE_WALLS[(tile >> 8) & 63] >> (8 * axis)
        colour, indicator = shows & 255, (shows >> 24) & 255
        bit = DIAMOND[axis, way]
        around[colour] |= bit
        around[3] |= bit & -int(indicator == player)
        around[4 + colour] |= ((tile >> GROUPS) & UNITED[way]) >> (MOST_TILES * axis) & ALL_TILES


@kernel
def list_free(rows: Any, i: int, cells: Any) -> int:
    """Writes the free cells; returns how many."""
    count = 0
    for word in range(8):
        free = rows[i, FREE + word]
        while free:
            cells[count] = 32 * word + trailing_zeros(free)
            free &= free - 1
            count += 1
    return count


@kernel
def _survey_areas(
    rows: Any, i: int, player: int, axis: int, k: int, least: int, wins: Any, shares: Any, around: Any, params: Any
) -> None:
    """Adds the areas to one axis of cell k. One that the player wouldn't control is half as complete."""
    display = rows[i, DISPLAY]
    for colour in range(3):
        areas = display & params[AREAS + SIDE * colour + MOST_TILES]
        if areas == 0:
            continue
        group = around[4 + colour]
        size = popcount(group) + 1
        done = areas & params[AREAS + SIDE * colour + size]
        if done == 0 and least == 1:
            continue
        counts = rows[i, INDICATORS_AT + axis]
        for indicator in range(3):
            own = popcount(group & (counts >> (16 * player))) + (indicator == player)
            controls = True
            for other in range(3):
                if other != player and popcount(group & (counts >> (16 * other))) + (indicator == other) >= own:
                    controls = False
            wall = 9 * axis + 3 * colour + indicator
            if controls:
                wins[k, wall] |= done
            if least > 1:
                for place in range(PLACES):
                    n = objective_at(display, place)
                    if n >= 0 and (areas >> n) & 1:
                        needed = size
                        while (params[AREAS + SIDE * colour + needed] >> n) & 1 == 0:
                            needed += 1
                        shares[k, wall, place] = size / needed * (1.0 if controls else 0.5)


@kernel
def objective_at(display: int, place: int) -> int:
    """The objective, less 1, on a place of the display; -1 without one."""
    for _ in range(place):
        display &= display - 1
    return trailing_zeros(display) if display else -1


@kernel
def _survey_figures(
    rows: Any, i: int, player: int, axis: int, k: int, least: int, wins: Any, shares: Any, around: Any, params: Any
) -> None:
    """Adds the figures to one axis of cell k."""
    centre = DIAMOND[axis, 0]
    pink, yellow, blue, own = around[0], around[1], around[2], around[3]
    taken = pink | yellow | blue
    display = rows[i, DISPLAY]
    for place in range(popcount(display)):
        n = objective_at(display, place)
        for p in range(params[PATTERNS + 2 * n], params[PATTERNS + 2 * n + 1], 5):
            white = params[p + 4]
            walls = params[p + 1] | params[p + 2] | params[p + 3] | white
            lacks = walls & ~taken
            if least == 1 and lacks != centre:
                continue
            lacking = popcount(lacks)
            if lacking > least or params[p] & taken & ~own:
                continue
            if taken & ((params[p + 1] & ~pink) | (params[p + 2] & ~yellow) | (params[p + 3] & ~blue)):
                continue
            share = 1.0 - (lacking - 1.0) / popcount(walls)
            for united in range(3):  # the colour of the white walls
                if white & taken & ~around[united]:
                    continue
                colour = united
                for c in range(3):
                    if params[p + 1 + c] & centre:
                        colour = c
                for indicator in range(3):
                    if indicator == player or params[p] & centre == 0:
                        wall = 9 * axis + 3 * colour + indicator
                        if lacking == 1:
                            wins[k, wall] |= 1 << n
                        if least > 1:
                            shares[k, wall, place] = max(shares[k, wall, place], share)
