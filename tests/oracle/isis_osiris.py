"""Isis & Osiris: a slow, obviously right reference, written from the rules specification alone.

A position is the deal, the pieces on the board, the tile in hand and the seat whose turn it is. Everything
else (stones and tiles left, values not yet seen, scores, the end) is counted from those at every call.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

SIZE = 6
CELLS = SIZE * SIZE
REVEAL = CELLS  # the action after the 36 cells
MAX_PLAYERS = 4

# Value: how many, in the order in which the features list them.
TILE_COUNTS = {-4: 1, -3: 2, -2: 6, -1: 2, 1: 2, 2: 6, 3: 2, 4: 1}
ALL_TILES = sum(TILE_COUNTS.values())
STONES_EACH = {2: 8, 3: 6, 4: 5}  # by number of players
TILES_EACH = {2: 11, 3: 7, 4: 5}  # by number of players, variant "standard"
MARGIN_UNIT = 40

OPTIONS: dict[str, tuple[Any, ...]] = {  # the first value is the default
    "num_players": (2, 3, 4),
    "variant": ("standard", "shared_stock"),
    "memory": ("open", "hidden"),
}


@dataclass(frozen=True)
class Stone:
    """A stone on the board."""

    seat: int


@dataclass(frozen=True)
class Tile:
    """A tile that has been revealed, on the board or in hand."""

    seat: int  # who revealed and placed it
    value: int


def neighbours(cell: int) -> list[int]:
    """The cells orthogonally next to `cell`."""
    row, column = divmod(cell, SIZE)
    around = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return [SIZE * r + c for r, c in around if 0 <= r < SIZE and 0 <= c < SIZE]


def checked_deal(deal: Sequence[int] | None) -> tuple[int, ...]:
    """The deal as a tuple of plain integers; ValueError unless it is exactly the 22 tiles in some order."""
    if deal is None:
        raise ValueError("a deal is required: the 22 tile values in stock order")
    try:
        values = tuple(operator.index(value) for value in deal)
    except TypeError as error:
        raise ValueError(f"the deal must be 22 integers, got {deal!r}") from error
    if sorted(values) != [value for value, count in TILE_COUNTS.items() for _ in range(count)]:
        raise ValueError(f"the deal must hold exactly the 22 tiles of the game, got {deal!r}")
    return values


def random_deal(rng: random.Random, **options: Any) -> list[int]:
    """All tiles in random order."""
    tiles = [value for value, count in TILE_COUNTS.items() for _ in range(count)]
    return rng.sample(tiles, ALL_TILES)


def deal_in(state: Sequence[int], **options: Any) -> list[int]:
    """The deal of a game that has just begun, from its state(), which ends with the stock."""
    return [int(value) for value in state[-ALL_TILES:]]


class Oracle:
    """One game of Isis & Osiris."""

    def __init__(self, deal: Sequence[int] | None = None, **options: Any) -> None:
        """Start the game that `deal` (the 22 values in stock order) and the options fix."""
        self._deal = checked_deal(deal)
        for name, value in options.items():
            if name not in OPTIONS:
                raise ValueError(f"unknown option {name!r}; allowed: {', '.join(OPTIONS)}")
            if value not in OPTIONS[name]:
                raise ValueError(f"{name} must be one of {OPTIONS[name]}, got {value!r}")
        chosen = {name: options.get(name, values[0]) for name, values in OPTIONS.items()}
        self.num_players: int = int(chosen["num_players"])
        self._variant: str = chosen["variant"]
        self._memory: str = chosen["memory"]
        self._board: dict[int, Stone | Tile] = {}  # by cell; a free cell has no entry
        self._hand: Tile | None = None  # revealed by the player whose turn it is, not yet placed
        self._turn = 0

    # Facts counted from the position.

    def _over(self) -> bool:
        return len(self._board) == CELLS

    def _tiles_on_board(self) -> list[Tile]:
        return [piece for piece in self._board.values() if isinstance(piece, Tile)]

    def _revealed(self) -> list[Tile]:
        """Every tile that has been seen: those on the board and the one in hand."""
        in_hand = [] if self._hand is None else [self._hand]
        return self._tiles_on_board() + in_hand

    def _stones_left(self, seat: int) -> int:
        placed = sum(isinstance(piece, Stone) and piece.seat == seat for piece in self._board.values())
        return STONES_EACH[self.num_players] - placed

    def _stock(self, seat: int) -> tuple[int, ...]:
        """The values still lying in the stock `seat` draws from, the next one first."""
        if self._variant == "shared_stock":
            return self._deal[len(self._revealed()) :]
        each = TILES_EACH[self.num_players]
        dealt = self._deal[each * seat : each * (seat + 1)]
        drawn = sum(tile.seat == seat for tile in self._revealed())
        return dealt[drawn:]

    # Play.

    def player_to_move(self) -> int:
        """The seat whose turn it is, or -1 when the game is over."""
        return -1 if self._over() else self._turn

    def legal_actions(self) -> list[int]:
        """Cells in ascending order, then 36 where a tile can be revealed; empty when the game is over."""
        if self._over():
            return []
        free = [cell for cell in range(CELLS) if cell not in self._board]
        if self._hand is not None:
            return free
        stones = free if self._stones_left(self._turn) > 0 else []
        reveal = [REVEAL] if self._stock(self._turn) else []
        return stones + reveal

    def step(self, action: int) -> None:
        """Play `action`; ValueError if it is illegal, and then nothing has changed."""
        if action not in self.legal_actions():
            raise ValueError(f"illegal action {action!r}; legal: {self.legal_actions()}")
        if action == REVEAL:
            self._hand = Tile(self._turn, self._stock(self._turn)[0])
            return  # the same player goes on and places it
        self._board[int(action)] = Stone(self._turn) if self._hand is None else self._hand
        self._hand = None
        self._pass_turn()

    def _pass_turn(self) -> None:
        """The turn goes clockwise to the next player who has a stone or a tile to play."""
        if self._over():
            return
        for distance in range(1, self.num_players + 1):
            seat = (self._turn + distance) % self.num_players
            if self._stones_left(seat) > 0 or self._stock(seat):
                self._turn = seat
                return
        raise AssertionError("stones and tiles together always fill the board")

    # What is seen.

    def observe(self, player: int) -> tuple[list[int], list[int]]:
        """The board (plane, row, column) in C order and the features, as `player` sees them."""
        if player not in range(self.num_players):
            raise ValueError(f"player must be one of 0..{self.num_players - 1}, got {player!r}")
        return self._observed_board(player), self._observed_features(player)

    def _observed_board(self, player: int) -> list[int]:
        planes = [[0] * CELLS for _ in range(MAX_PLAYERS + 2)]
        for cell, piece in self._board.items():
            if isinstance(piece, Stone):
                planes[(piece.seat - player) % self.num_players][cell] = 1
            else:
                planes[4][cell] = 1
                planes[5][cell] = piece.value if self._memory == "open" else 0
        return [entry for plane in planes for entry in plane]

    def _observed_features(self, player: int) -> list[int]:
        clockwise = [(player + distance) % self.num_players for distance in range(self.num_players)]
        absent = [0] * (MAX_PLAYERS - self.num_players)

        stones = [self._stones_left(seat) for seat in clockwise] + absent
        if self._variant == "shared_stock":
            tiles = [len(self._stock(player)), 0, 0, 0]
        else:
            tiles = [len(self._stock(seat)) for seat in clockwise] + absent

        if self._memory == "open":
            seen = [tile.value for tile in self._revealed()]
            unseen = [count - seen.count(value) for value, count in TILE_COUNTS.items()]
        else:
            unseen = [0] * len(TILE_COUNTS)

        hand = [0, 0] if self._hand is None else [1, self._hand.value]
        players = [int(self.num_players == number) for number in (2, 3, 4)]
        return stones + tiles + unseen + hand + players

    # Points and rewards.

    def scores(self) -> list[int]:
        """The points of each seat as they stand: for every stone, the tiles orthogonally next to it."""
        points = [0] * self.num_players
        for cell, piece in self._board.items():
            if isinstance(piece, Stone):
                for near in neighbours(cell):
                    other = self._board.get(near)
                    if isinstance(other, Tile):
                        points[piece.seat] += other.value
        return points

    def returns(self, reward: str = "outcome") -> list[float]:
        """The reward of each seat for the whole game, "outcome" or "margin"; zero while it is running."""
        if reward not in ("outcome", "margin"):
            raise ValueError(f"reward must be 'outcome' or 'margin', got {reward!r}")
        if not self._over():
            return [0.0] * self.num_players
        scores = self.scores()
        n = self.num_players
        if reward == "margin":
            best_other = [max(scores[:seat] + scores[seat + 1 :]) for seat in range(n)]
            margins = [(scores[seat] - best_other[seat]) / MARGIN_UNIT for seat in range(n)]
            return [max(-1.0, min(1.0, margin)) for margin in margins]
        winners = [seat for seat in range(n) if scores[seat] == max(scores)]
        share = n / len(winners)
        return [((share if seat in winners else 0.0) - 1.0) / (n - 1) for seat in range(n)]

    def copy(self) -> Oracle:
        """The same position again; neither game changes with the other."""
        twin = Oracle(self._deal, num_players=self.num_players, variant=self._variant, memory=self._memory)
        twin._board = dict(self._board)
        twin._hand = self._hand
        twin._turn = self._turn
        return twin
