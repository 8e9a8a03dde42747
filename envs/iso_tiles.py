"""Files of ISO's tiles: reading one, and checking that it describes 18 tiles that can be played with.

`iso_tiles.toml` beside this file is a reconstruction, marked as such. Who owns the game can transcribe the
printed tiles into a copy of it and pass that as `tiles=PATH`; nothing else depends on the values in it.
"""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NUM_TILES = 18
COLOURS = ("pink", "yellow", "blue")
WHITE = len(COLOURS)  # in an objective: all white walls show one and the same colour, whichever
INDICATORS = ("black", "white", "void")
KINDS = ("figure", "area", "conditioned")
MOST_WALLS = 5  # of a figure
MOST_TILES = 15  # on the table
PACKAGED = Path(__file__).with_name("iso_tiles.toml")


class Objective(NamedTuple):
    """One objective face. Colours are indices into COLOURS, or WHITE."""

    stars: int
    kind: str
    colour: int  #: of an area
    size: int  #: the least size of an area; 0 for a figure
    cells: tuple[tuple[int, int, int, bool], ...]  #: of a figure: u (right), v (up), colour, marked


class TileSet(NamedTuple):
    """The tiles in the order of their numbers, from 1."""

    blocks: tuple[tuple[tuple[int, int], ...], ...]  #: the walls on axes x, y, z: colour, indicator
    objectives: tuple[Objective, ...]


def load(path: str | os.PathLike[str] | None) -> TileSet:
    """The tiles of a file; None: of the packaged one.

    Raises ValueError for a file that can't be read, and for one that breaks a rule: it names tile and rule.
    """
    found = PACKAGED if path is None else Path(path)
    try:
        data = found.read_bytes()
    except OSError as error:
        raise ValueError(f"tiles: {found} can't be read: {error.strerror}") from None
    return _parsed(str(found), data)


@functools.lru_cache(maxsize=16)
def _parsed(name: str, data: bytes) -> TileSet:
    """The tiles in the bytes of a file; parsed once, for an environment asks several times."""
    try:
        content = tomllib.loads(data.decode())
    except ValueError as error:  # not UTF-8, or not TOML
        raise ValueError(f"tiles: {name} is not a TOML file: {error}") from None
    file = _Face(f"tiles: {name}", content)
    file.keys("blocks", "objectives", optional=("status",))
    if not isinstance(content.get("status", ""), str):
        file.wrong(f"status is a text, not {content['status']!r}")
    blocks = [_block(face) for face in file.faces("blocks", "block")]
    objectives = [_objective(face) for face in file.faces("objectives", "objective")]
    return TileSet(tuple(blocks), tuple(objectives))


class _Face:
    """A table of the file and what errors call it."""

    def __init__(self, name: str, content: dict[str, Any]) -> None:
        self.name = name
        self.content = content

    def wrong(self, problem: str) -> NoReturn:
        raise ValueError(f"{self.name}: {problem}")

    def keys(self, *needed: str, optional: tuple[str, ...] = ()) -> None:
        for key in needed:
            if key not in self.content:
                self.wrong(f"{key!r} is missing")
        for key in self.content:
            if key not in needed and key not in optional:
                self.wrong(f"{key!r} is not a key here; the keys are {', '.join((*needed, *optional))}")

    def whole(self, key: str, least: int, greatest: int) -> int:
        value: Any = self.content.get(key)
        if not _is_whole(value) or not least <= value <= greatest:
            self.wrong(f"{key} is a whole number from {least} to {greatest}, not {value!r}")
        return int(value)

    def index(self, what: str, value: Any, allowed: tuple[str, ...]) -> int:
        """Which of the allowed words a value is."""
        if value not in allowed:
            self.wrong(f"{what} is one of {', '.join(allowed)}, not {value!r}")
        return allowed.index(value)

    def faces(self, key: str, side: str) -> list[_Face]:
        """The tables of a list, one for each tile, in the order of their numbers."""
        listed = self.content[key]
        if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
            self.wrong(f"{key!r} is a list of tables")
        found: dict[int, _Face] = {}
        for place, entry in enumerate(listed):
            number = _Face(f"{self.name}: entry {place + 1} of {key}", entry).whole("number", 1, NUM_TILES)
            if number in found:
                self.wrong(f"tile {number} is twice among the {key}")
            found[number] = _Face(f"{self.name}: tile {number}, {side}", entry)
        for number in range(1, NUM_TILES + 1):
            if number not in found:
                self.wrong(f"tile {number} is missing among the {key}")
        return [found[number] for number in sorted(found)]


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _block(face: _Face) -> tuple[tuple[int, int], ...]:
    face.keys("number", "walls")
    walls = face.content["walls"]
    if not isinstance(walls, list) or len(walls) != 3:
        face.wrong("it has three walls, in the order x, y, z")
    found = []
    for wall in walls:
        if not isinstance(wall, list) or len(wall) != 2:
            face.wrong(f"a wall is [colour, indicator], not {wall!r}")
        colour = face.index("the colour of a wall", wall[0], COLOURS)
        found.append((colour, face.index("the indicator of a wall", wall[1], INDICATORS)))
    if len({colour for colour, _ in found}) < 3:
        face.wrong("its three colours differ")
    if len({indicator for _, indicator in found}) < 3:
        face.wrong("its three indicators differ")
    return tuple(found)


def _objective(face: _Face) -> Objective:
    kind = KINDS[face.index("kind", face.content.get("kind"), KINDS)]
    if kind == "area":
        face.keys("number", "stars", "kind", "colour", "size")
        colour = face.index("colour", face.content["colour"], (*COLOURS, "white"))
        return Objective(face.whole("stars", 1, 5), kind, colour, face.whole("size", 1, MOST_TILES), ())
    face.keys("number", "stars", "kind", "cells")
    return Objective(face.whole("stars", 1, 5), kind, WHITE, 0, _figure(face))


def _figure(face: _Face) -> tuple[tuple[int, int, int, bool], ...]:
    cells = face.content["cells"]
    if not isinstance(cells, list) or not 1 <= len(cells) <= MOST_WALLS:
        face.wrong(f"a figure has 1 to {MOST_WALLS} walls")
    found = []
    for cell in cells:
        if not isinstance(cell, list) or len(cell) != 4 or not all(_is_whole(at) for at in cell[:2]):
            face.wrong(f"a wall of a figure is [u, v, colour, mark] with whole u and v, not {cell!r}")
        u, v, colour, mark = cell
        if not isinstance(mark, bool):
            face.wrong(f"a mark is true or false, not {mark!r}")
        found.append((u, v, face.index("the colour of a wall", colour, (*COLOURS, "white")), mark))
    places = [(u, v) for u, v, _, _ in found]
    if len(set(places)) < len(places):
        face.wrong("two walls of its figure are in one place")
    if not _connected(set(places)):
        face.wrong("the walls of its figure are not orthogonally united")
    return tuple(found)


def _connected(places: set[tuple[int, int]]) -> bool:
    """Whether the places hang together by steps along u and v."""
    left = set(places)
    reached = [left.pop()]
    while reached:
        u, v = reached.pop()
        for near in ((u + 1, v), (u - 1, v), (u, v + 1), (u, v - 1)):
            if near in left:
                left.remove(near)
                reached.append(near)
    return not left
