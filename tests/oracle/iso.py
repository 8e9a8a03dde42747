"""ISO, slowly and plainly: the reference that the fast kernels are compared with.

Written from the specification alone, with the standard library only. The table is a dict on the unbounded
lattice; cells are reduced mod 16 only for cell ids and observation planes. Every derived fact (groups,
figures, majorities, what was shown) is worked out anew from the position whenever it is asked for.

Seats are 0, 1, 2; axes x, y, z are 0, 1, 2; a `Cell` is (x, y) on the lattice and a `Square` is (u, v) in the
square grid that one perspective shows.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Cell = tuple[int, int]
Square = tuple[int, int]

COLOURS = ("pink", "yellow", "blue")
INDICATORS = ("black", "white", "void")  # of player_0, player_1, player_2
KINDS = ("figure", "area", "conditioned")
NUMBERS = range(1, 19)
AREA_CONTROL_NUMBERS = (10, 11, 12, 13)  # the objectives of area_control, which stay out of its pile
# how many can play, the default first
PLAYERS = {"competitive": (2, 3), "solo": (1,), "coop": (2, 3), "area_control": (2, 3)}
GROUP_MODES = ("solo", "coop")
BANDS = ((5, "0-5"), (12, "6-12"), (19, "13-19"), (26, "20-26"))
FULL_GROUP_RESULT = 26  # stars that give a reward of 1 in solo and coop
MARGIN_UNIT = 44

E_X, E_Y, E_Z = (1, 0), (0, 1), (-1, -1)
NEIGHBOURS = (E_X, E_Y, E_Z, (-1, 0), (0, -1), (1, 1))
FIRST_CELL = (8, 8)

DEFAULT_TILES = Path(__file__).parents[2] / "envs" / "iso_tiles.toml"


class Wall(NamedTuple):
    """One wall of a block."""

    colour: str
    indicator: str


class FigureCell(NamedTuple):
    """One wall of a drawn figure."""

    u: int
    v: int
    colour: str  # or "white"
    mark: bool


@dataclass(frozen=True)
class Objective:
    """The objective face of a tile."""

    number: int
    stars: int
    kind: str
    cells: tuple[FigureCell, ...] = ()  # figure and conditioned
    colour: str = "white"  # area
    size: int = 0  # area


@dataclass(frozen=True)
class TileSet:
    """Both faces of the tiles, by number."""

    blocks: Mapping[int, tuple[Wall, ...]]  # walls on x, y, z at rotation 0
    objectives: Mapping[int, Objective]


Picture = dict[Square, Wall]  # what one perspective shows


# --- geometry ---------------------------------------------------------------------------------------------


def cell_id(cell: Cell) -> int:
    """The number of a cell on the 16 x 16 torus."""
    x, y = cell
    return (x % 16) * 16 + y % 16


def neighbours(cell: Cell) -> list[Cell]:
    """The six cells beside this one."""
    x, y = cell
    return [(x + dx, y + dy) for dx, dy in NEIGHBOURS]


def square_of(cell: Cell, axis: int) -> Square:
    """Where the perspective along `axis` shows `cell`: the (u, v) with cell = u * U + v * V.

    x: U, V = e_y, e_z, so (x, y) = (-v, u - v).
    y: U, V = e_z, e_x, so (x, y) = (v - u, -u).
    z: U, V = e_x, e_y, so (x, y) = (u, v).
    """
    x, y = cell
    if axis == 0:
        return (y - x, -x)
    if axis == 1:
        return (-y, x - y)
    return (x, y)


def adjoining(square: Square) -> list[Square]:
    """The squares orthogonally united with this one."""
    u, v = square
    return [(u + 1, v), (u, v + 1), (u - 1, v), (u, v - 1)]


def orientations(cells: Sequence[FigureCell], mirror: bool) -> list[list[FigureCell]]:
    """The figure in its four rotations, and with `mirror` also mirrored in its four rotations."""
    drawings = [list(cells)]
    if mirror:
        drawings.append([cell._replace(u=-cell.u) for cell in cells])
    result = []
    for drawing in drawings:
        for _ in range(4):
            result.append(drawing)
            drawing = [cell._replace(u=-cell.v, v=cell.u) for cell in drawing]
    return result


def groups(picture: Picture) -> list[set[Square]]:
    """The maximal orthogonally united groups of one colour."""
    result: list[set[Square]] = []
    for start in picture:
        if any(start in group for group in result):
            continue
        group = {start}
        waiting = [start]
        while waiting:
            for square in adjoining(waiting.pop()):
                same = square in picture and picture[square].colour == picture[start].colour
                if same and square not in group:
                    group.add(square)
                    waiting.append(square)
        result.append(group)
    return result


def controlling_indicator(picture: Picture, group: set[Square]) -> str | None:
    """The indicator of which the group has strictly more than of each of the other two, if there is one."""
    count = Counter(picture[square].indicator for square in group)
    for own in INDICATORS:
        if all(count[own] > count[other] for other in INDICATORS if other != own):
            return own
    return None


def group_satisfies(objective: Objective, picture: Picture, group: set[Square]) -> bool:
    """Whether a group has the colour and the size that an area asks for, whoever controls it."""
    colours = {picture[square].colour for square in group}
    return len(group) >= objective.size and (objective.colour == "white" or colours == {objective.colour})


def area_completed(objective: Objective, picture: Picture, placed: Square, own: str) -> bool:
    """Does the group that holds the placed wall satisfy the area, with a majority of `own`?"""
    for group in groups(picture):
        if placed in group:
            return group_satisfies(objective, picture, group) and controlling_indicator(picture, group) == own
    return False


def figure_completed(objective: Objective, picture: Picture, placed: Square, own: str, mirror: bool) -> bool:
    """Lay the figure everywhere on the table, in every orientation; does it fit and hold the placed wall?"""
    for drawing in orientations(objective.cells, mirror):
        for anchor_u, anchor_v in picture:  # the first wall of the figure is laid on this wall
            du, dv = anchor_u - drawing[0].u, anchor_v - drawing[0].v
            squares = [(cell.u + du, cell.v + dv) for cell in drawing]
            if placed not in squares or not all(square in picture for square in squares):
                continue
            if walls_fit(drawing, [picture[square] for square in squares], own):
                return True
    return False


def walls_fit(drawing: Sequence[FigureCell], walls: Sequence[Wall], own: str) -> bool:
    """Do the walls have the colours and marks of the drawing, one by one, and the white ones one colour?"""
    white = set()
    for cell, wall in zip(drawing, walls, strict=True):
        if cell.colour == "white":
            white.add(wall.colour)
        elif wall.colour != cell.colour:
            return False
        if cell.mark and wall.indicator != own:
            return False
    return len(white) <= 1


# --- the tile file ----------------------------------------------------------------------------------------


def load_tiles(path: str | PathLike[str]) -> TileSet:
    """Read a tile file; a ValueError names the tile that is wrong."""
    return _parse_tiles(Path(path).read_text(encoding="utf-8"))


@lru_cache(maxsize=16)
def _parse_tiles(text: str) -> TileSet:
    data = tomllib.loads(text)
    blocks = {}
    for entry in _by_number(data, "blocks"):
        number = entry["number"]
        walls = tuple(Wall(*wall) for wall in entry["walls"] if len(wall) == 2)
        if len(entry["walls"]) != 3 or sorted(wall.colour for wall in walls) != sorted(COLOURS):
            raise ValueError(f"tile {number}: a block has three walls, one of each colour {COLOURS}")
        if sorted(wall.indicator for wall in walls) != sorted(INDICATORS):
            raise ValueError(f"tile {number}: a block has each of the indicators {INDICATORS} once")
        blocks[number] = walls
    objectives = {}
    for entry in _by_number(data, "objectives"):
        objectives[entry["number"]] = _parse_objective(entry)
    return TileSet(blocks, objectives)


def _by_number(data: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = data.get(key, [])
    count = Counter(entry.get("number") for entry in entries)
    for number in NUMBERS:
        if count[number] != 1:
            raise ValueError(f"tile {number}: listed {count[number]} times among the {key}, not once")
    if len(entries) != len(NUMBERS):
        raise ValueError(f"{key}: {len(entries)} entries, not the tiles 1 to 18: {sorted(count, key=str)}")
    return entries


def _parse_objective(entry: Mapping[str, Any]) -> Objective:
    number, stars, kind = entry["number"], entry.get("stars"), entry.get("kind")
    if type(stars) is not int or stars < 1:
        raise ValueError(f"tile {number}: stars must be a positive whole number, not {stars!r}")
    if kind not in KINDS:
        raise ValueError(f"tile {number}: kind must be one of {KINDS}, not {kind!r}")
    allowed = (*COLOURS, "white")
    if kind == "area":
        colour, size = entry.get("colour"), entry.get("size")
        if colour not in allowed:
            raise ValueError(f"tile {number}: colour must be one of {allowed}, not {colour!r}")
        if type(size) is not int or size < 1:
            raise ValueError(f"tile {number}: size must be a positive whole number, not {size!r}")
        return Objective(number, stars, kind, colour=colour, size=size)
    cells = tuple(FigureCell(*cell) for cell in entry.get("cells", []) if len(cell) == 4)
    if not cells or len(cells) != len(entry["cells"]):
        raise ValueError(f"tile {number}: cells must be a list of [u, v, colour, mark]")
    if len({(cell.u, cell.v) for cell in cells}) != len(cells):
        raise ValueError(f"tile {number}: two cells of the figure are the same")
    for cell in cells:
        if type(cell.u) is not int or type(cell.v) is not int:
            raise ValueError(f"tile {number}: u and v must be whole numbers, not {cell.u!r}, {cell.v!r}")
        if cell.colour not in allowed:
            raise ValueError(f"tile {number}: colour must be one of {allowed}, not {cell.colour!r}")
        if type(cell.mark) is not bool:
            raise ValueError(f"tile {number}: mark must be true or false, not {cell.mark!r}")
    return Objective(number, stars, kind, cells=cells)


def numbers_in_deal(mode: str) -> list[int]:
    """The tiles that are shuffled: all, but in area_control not those whose objectives lie on display."""
    return [n for n in NUMBERS if mode != "area_control" or n not in AREA_CONTROL_NUMBERS]


def random_deal(rng: random.Random, **options: Any) -> list[int]:
    """The tiles of the pile in random order."""
    return rng.sample(numbers := numbers_in_deal(options.get("mode", "competitive")), len(numbers))


def deal_in(state: Sequence[int], **options: Any) -> list[int]:
    """A deal of a game that has just begun, from its state(), which ends with the slots and the pile.

    The display is a set, so its objectives come in ascending order: every order plays the same.
    """
    display = state[20 * 256 + 54 :][: len(NUMBERS)]
    numbers = numbers_in_deal(options.get("mode", "competitive"))
    shown = [number for number in numbers if display[number - 1]]
    return shown + [int(number) for number in state[-15:] if number != 0]


# --- the game ---------------------------------------------------------------------------------------------


class Oracle:
    """One game of ISO.

    `deal`: the tile numbers in pile order (18; in area_control 14, without 10 to 13).
    Options: `num_players`, `mode`, `mirror`, `tiles` (the path of a tile file).
    """

    num_players: int
    mode: str
    mirror: bool
    tiles: TileSet

    table: dict[Cell, tuple[int, int]]  # cell -> (tile number, rotation)
    last: Cell | None  # where the last tile was placed
    display: list[int | None]  # the objectives on display, place by place
    slots: list[int | None]  # slots 0 and 1, beside the pile
    pile: list[int]  # the top, which is slot 2, first
    claimed: list[tuple[int, int]]  # (objective, seat that claimed it)
    player: int  # whose turn it is, or would be if the game were not over

    def __init__(self, deal: Sequence[int] | None = None, **options: Any) -> None:
        """Set up a new game."""
        self._set_options(**options)
        in_pile = numbers_in_deal(self.mode)
        if deal is None or sorted(deal) != in_pile:
            raise ValueError(f"deal must list each of the tiles {in_pile} once, in pile order, not {deal!r}")
        pile = list(deal)
        if self.mode == "area_control":
            self.display = list(AREA_CONTROL_NUMBERS)
        else:
            self.display = [pile.pop(0), pile.pop(0), pile.pop(0)]
        self.slots = [pile.pop(0), pile.pop(0)]
        self.pile = pile
        self.table = {}
        self.last = None
        self.claimed = []
        self.player = 0

    def _set_options(self, **options: Any) -> None:
        unknown = sorted(set(options) - {"num_players", "mode", "mirror", "tiles"})
        if unknown:
            raise ValueError(f"unknown options {unknown}; allowed: num_players, mode, mirror, tiles")
        mode = options.get("mode", "competitive")
        if mode not in PLAYERS:
            raise ValueError(f"mode must be one of {list(PLAYERS)}, not {mode!r}")
        num_players = options.get("num_players")
        if num_players is None:
            num_players = PLAYERS[mode][0]
        if num_players not in PLAYERS[mode]:
            raise ValueError(f"num_players must be one of {PLAYERS[mode]} in {mode}, not {num_players!r}")
        mirror = options.get("mirror", False)
        if type(mirror) is not bool:
            raise ValueError(f"mirror must be True or False, not {mirror!r}")
        path = options.get("tiles")
        self.mode = mode
        self.num_players = num_players
        self.mirror = mirror
        self.tiles = load_tiles(DEFAULT_TILES if path is None else path)
        if mode == "area_control":
            for number in AREA_CONTROL_NUMBERS:
                if self.tiles.objectives[number].kind != "area":
                    raise ValueError(f"tile {number}: must be an area in area_control")

    @classmethod
    def from_position(
        cls,
        *,
        table: Mapping[Cell, tuple[int, int]],
        display: Sequence[int | None] | None = None,
        slots: Sequence[int | None] = (None, None),
        pile: Sequence[int] = (),
        player: int = 0,
        claimed: Mapping[int, int] | None = None,
        last: Cell | None = None,
        **options: Any,
    ) -> Oracle:
        """A hand-made position.

        `table`: cell -> (tile number, rotation), on the unbounded lattice.
        `display`: objectives place by place (None: an empty place; missing places are empty). If it is left
            out, the display is empty, and in area_control it holds those of 10 to 13 that are not claimed.
        `slots`: the tiles of slots 0 and 1; `pile`: from the top (slot 2) downwards.
        `player`: the seat to move; `claimed`: objective -> the seat that claimed it.
        `last`: the cell of the tile placed last; if left out, the last cell of `table`.

        The position need not be reachable, and tiles may be missing from the game, but no tile may be in two
        places. Without a tile in a slot or the pile the game is over; the claims are then as given (the
        allocation of area_control takes place in `step`).
        """
        self = cls.__new__(cls)
        self._set_options(**options)
        self.table = dict(table)
        self.claimed = list((claimed or {}).items())
        gone = [number for number, _ in self.claimed]
        if display is None and self.mode == "area_control":
            display = [None if number in gone else number for number in AREA_CONTROL_NUMBERS]
        places = 4 if self.mode == "area_control" else 3
        shown = list(display or ())
        self.display = shown + [None] * (places - len(shown))
        self.slots = list(slots) + [None] * (2 - len(slots))
        self.pile = list(pile)
        self.player = player
        self.last = last
        if last is None and self.table:
            self.last = list(self.table)[-1]

        if len(self.display) != places or len(self.slots) != 2:
            raise ValueError(f"there are {places} places on display and 2 slots beside the pile")
        if self.last is not None and self.last not in self.table:
            raise ValueError(f"no tile lies at {self.last}")
        blocks = [number for number, _ in self.table.values()]
        blocks += [number for number in (*self.slots, *self.pile) if number is not None]
        faces = gone + [number for number in self.display if number is not None]
        for number, times in Counter(blocks + faces).items():
            if number not in NUMBERS or times > 1:
                raise ValueError(f"tile {number} is no tile or in several places")
            if self.mode == "area_control" and (number in AREA_CONTROL_NUMBERS) != (number in faces):
                raise ValueError(f"tile {number} is on the wrong side for area_control")
        if any(rotation not in (0, 1, 2) for _, rotation in self.table.values()):
            raise ValueError("a rotation is 0, 1 or 2")
        if any(seat not in range(self.num_players) for seat in (player, *dict(self.claimed).values())):
            raise ValueError("no such seat")
        cells = list(self.table) + self.free_cells()
        if len({cell_id(cell) for cell in cells}) != len(cells):
            raise ValueError("the table is too wide for cell ids mod 16")
        return self

    def copy(self) -> Oracle:
        """The same position, independent of this one."""
        other = copy(self)
        other.table = dict(self.table)
        other.display = list(self.display)
        other.slots = list(self.slots)
        other.pile = list(self.pile)
        other.claimed = list(self.claimed)
        return other

    # --- play ---

    def choices(self) -> list[int | None]:
        """The tiles of slots 0, 1 and 2."""
        return [*self.slots, self.pile[0] if self.pile else None]

    def is_over(self) -> bool:
        """The game is over when no slot holds a tile."""
        return self.choices() == [None, None, None]

    def player_to_move(self) -> int:
        """The seat to move, or -1 when the game is over."""
        return -1 if self.is_over() else self.player

    def free_cells(self) -> list[Cell]:
        """The cells where a tile may be placed."""
        if self.is_over():
            return []
        if not self.table:
            return [FIRST_CELL]
        beside = {cell for tile in self.table for cell in neighbours(tile)}
        return [cell for cell in beside if cell not in self.table]

    def legal_actions(self) -> list[int]:
        """The legal actions, ascending; none when the game is over."""
        cells = sorted(cell_id(cell) for cell in self.free_cells())
        return [
            slot * 768 + rotation * 256 + cell
            for slot, number in enumerate(self.choices())
            if number is not None
            for rotation in range(3)
            for cell in cells
        ]

    def step(self, action: int) -> None:
        """Play an action; an illegal one is a ValueError and changes nothing."""
        if action not in self.legal_actions():
            raise ValueError(f"illegal action {action}")
        slot, rest = divmod(action, 768)
        rotation, wanted = divmod(rest, 256)
        [cell] = [cell for cell in self.free_cells() if cell_id(cell) == wanted]

        # play the tile; a slot beside the pile is refilled with the top of the pile
        if slot == 2:
            number = self.pile.pop(0)
        else:
            in_slot = self.slots[slot]
            assert in_slot is not None
            number = in_slot
            self.slots[slot] = self.pile.pop(0) if self.pile else None
        self.table[cell] = (number, rotation)
        self.last = cell

        if self.mode == "area_control":
            if self.is_over():
                for objective, seat in self.area_allocation().items():
                    if seat is not None:
                        self._claim(objective, seat)
        else:
            for objective in self.completed_objectives(cell, self.player):
                self._claim(objective, self.player)
            for place, shown in enumerate(self.display):
                if shown is None and len(self.pile) > 1:
                    self.display[place] = self.pile.pop(0)

        self.player = (self.player + 1) % self.num_players

    def _claim(self, objective: int, seat: int) -> None:
        self.display[self.display.index(objective)] = None
        self.claimed.append((objective, seat))

    # --- objectives ---

    def picture(self, axis: int) -> Picture:
        """What the perspective along `axis` shows: one wall of every tile, on a square grid."""
        return {
            square_of(cell, axis): self.tiles.blocks[number][(axis - rotation) % 3]
            for cell, (number, rotation) in self.table.items()
        }

    def completing_perspectives(self, number: int, cell: Cell, seat: int) -> list[int]:
        """The axes along which the tile at `cell`, as the tile just placed, completes objective `number`
        for `seat`. Any objective may be asked for, on display or not.
        """
        objective = self.tiles.objectives[number]
        own = INDICATORS[seat]
        axes = []
        for axis in range(3):
            picture, placed = self.picture(axis), square_of(cell, axis)
            if objective.kind == "area":
                completed = area_completed(objective, picture, placed, own)
            else:
                completed = figure_completed(objective, picture, placed, own, self.mirror)
            if completed:
                axes.append(axis)
        return axes

    def completed_objectives(self, cell: Cell, seat: int, numbers: Sequence[int] | None = None) -> list[int]:
        """Which of the objectives `numbers` (default: those on display) the tile at `cell` completes for
        `seat`, as the tile just placed, in any perspective.
        """
        if numbers is None:
            numbers = [number for number in self.display if number is not None]
        return [number for number in numbers if self.completing_perspectives(number, cell, seat)]

    def area_allocation(self) -> dict[int, int | None]:
        """Who gets each objective on display if area_control ends as the table lies now (None: nobody)."""
        result: dict[int, int | None] = {}
        for number in self.display:
            if number is None:
                continue
            objective = self.tiles.objectives[number]
            controlled = []  # (size of the group, the seat that controls it)
            for axis in range(3):
                picture = self.picture(axis)
                for group in groups(picture):
                    indicator = controlling_indicator(picture, group)
                    if indicator is None or not group_satisfies(objective, picture, group):
                        continue
                    if INDICATORS.index(indicator) < self.num_players:
                        controlled.append((len(group), INDICATORS.index(indicator)))
            largest = max((size for size, _ in controlled), default=0)
            seats = {seat for size, seat in controlled if size == largest}
            result[number] = seats.pop() if len(seats) == 1 else None
        return result

    # --- results ---

    def held(self, seat: int) -> list[int]:
        """The objectives that `seat` holds, in the order of the claims; in solo and coop the group's."""
        return [number for number, who in self.claimed if who == seat or self.mode in GROUP_MODES]

    def stars(self, seat: int) -> int:
        """The stars on the objectives that `seat` holds."""
        return sum(self.tiles.objectives[number].stars for number in self.held(seat))

    def scores(self) -> list[int]:
        """The stars of every seat as they stand; in solo and coop the total of the group."""
        return [self.stars(seat) for seat in range(self.num_players)]

    def band(self) -> str:
        """The band of the group's result in solo and coop, as it stands."""
        if self.mode not in GROUP_MODES:
            raise ValueError(f"there are no bands in {self.mode}")
        for most, name in BANDS:
            if self.stars(0) <= most:
                return name
        return "26+"

    def winners(self) -> list[int]:
        """The seats that would win as things stand: most stars, then most objectives, then the highest
        reference number.
        """
        standing = [
            (self.stars(seat), len(self.held(seat)), max(self.held(seat), default=0))
            for seat in range(self.num_players)
        ]
        return [seat for seat in range(self.num_players) if standing[seat] == max(standing)]

    def returns(self, reward: str = "outcome") -> list[float]:
        """The reward of every seat, "outcome" or "margin"; zero while the game is running."""
        if reward not in ("outcome", "margin"):
            raise ValueError(f"reward must be outcome or margin, not {reward!r}")
        if not self.is_over():
            return [0.0] * self.num_players
        scores = self.scores()
        if self.mode in GROUP_MODES:
            return [score / FULL_GROUP_RESULT for score in scores]
        n = self.num_players
        if reward == "margin":
            margins = []
            for seat in range(n):
                best_other = max(scores[other] for other in range(n) if other != seat)
                margins.append(max(-1.0, min(1.0, (scores[seat] - best_other) / MARGIN_UNIT)))
            return margins
        winners = self.winners()
        return [((n / len(winners) if seat in winners else 0.0) - 1.0) / (n - 1) for seat in range(n)]

    # --- observation ---

    def observe(self, player: int) -> tuple[list[int], list[int]]:
        """(board, features) as `player` sees them; board is flattened in the order plane, x, y."""
        if player not in range(self.num_players):
            raise ValueError(f"no such seat: {player!r}")
        if self.num_players == 2:
            order = [player, 1 - player, 2]
        else:
            order = [player, (player + 1) % 3, (player + 2) % 3]

        board = [0] * (20 * 256)
        for cell, (number, rotation) in self.table.items():
            for axis in range(3):
                wall = self.tiles.blocks[number][(axis - rotation) % 3]
                for kind, value in enumerate(self._one_hot(wall, order)):
                    board[(6 * axis + kind) * 256 + cell_id(cell)] = value
        for cell in self.free_cells():
            board[18 * 256 + cell_id(cell)] = 1
        if self.last is not None:
            board[19 * 256 + cell_id(self.last)] = 1

        features: list[int] = []
        for tile in self.choices():  # 0-53
            if tile is None:
                features += [0] * 18
            else:
                for wall in self.tiles.blocks[tile]:
                    features += self._one_hot(wall, order)
        shown = [number for number in self.display if number is not None]
        shown += [number for number, _ in self.claimed]
        features += [int(number in self.display) for number in NUMBERS]  # 54-71
        features += [int(number not in shown) for number in NUMBERS]  # 72-89
        if self.mode in GROUP_MODES:
            holdings = [self.held(player), [], []]
        else:
            holdings = [self.held(seat) for seat in order]
        stars = {number: objective.stars for number, objective in self.tiles.objectives.items()}
        features += [sum(stars[number] for number in held) for held in holdings]  # 90-92
        features += [len(held) for held in holdings]  # 93-95
        features += [max(held, default=0) for held in holdings]  # 96-98
        features.append(len(self.pile))  # 99
        features += [  # 100-102
            int(self.mode == "competitive"),
            int(self.mode in GROUP_MODES),
            int(self.mode == "area_control"),
        ]
        return board, features

    @staticmethod
    def _one_hot(wall: Wall, order: Sequence[int]) -> list[int]:
        """Pink, yellow, blue, the observer's own indicator, the next one, the third one."""
        return [int(wall.colour == colour) for colour in COLOURS] + [
            int(wall.indicator == INDICATORS[seat]) for seat in order
        ]
