"""Oracle of Isaac: a slow, plain-Python reference implementation, written from the rules text alone.

The position is kept as a record of what happened (which pieces lie where, how long the removed pieces were,
where the counters stand, ...). Everything else - free cells, legal actions, gains, observations, the result -
is worked out from that record each time it is asked for.

Cells are numbered 10 * tens + units. Inside the oracle every cell is in **Dark's** frame; actions and
observations are in the frame of the acting (observing) player. Dark's cell c is Light's cell 99 - c.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

DARK, LIGHT = 0, 1

PLACE, REMOVE, COUNTER = "place", "remove", "counter"
PHASES = (PLACE, REMOVE, COUNTER)

COUNTS = (5, 4, 3, 2, 1)  # pieces of each type that a player has
VALUES = (1, 2, 3, 4, 6)  # value of a piece of each type
LENGTHS = {  # cells of a piece of each type
    "standard": (3, 4, 5, 6, 7),
    "table": (1, 2, 3, 4, 6),
}
TIEBREAKS = ("dark", "shared")

ALONG_ROW, ALONG_COLUMN = 0, 1

FIRST_COUNTER_ACTION = 1000
HUNDRED_OR_MORE = 1100
WINNING_SCORE = 100


def turned(player: int, cell: int) -> int:
    """Dark's name of a cell to the player's name of it, or back (a half turn is its own inverse)."""
    return cell if player == DARK else 99 - cell


def slot_id(kind: int, orientation: int, lowest: int) -> int:
    """The action id of a slot; the lowest cell is in the acting player's frame."""
    return (2 * kind + orientation) * 100 + lowest


def straight(lowest: int, orientation: int, length: int) -> tuple[int, ...] | None:
    """The cells of a straight piece from its lowest cell on; None if it would leave the board."""
    tens, units = divmod(lowest, 10)
    if orientation == ALONG_ROW:
        if units + length > 10:
            return None
        return tuple(10 * tens + units + i for i in range(length))
    if tens + length > 10:
        return None
    return tuple(10 * (tens + i) + units for i in range(length))


class Piece(NamedTuple):
    """A piece that lies (or lay) on the board."""

    owner: int
    kind: int
    orientation: int
    cells: tuple[int, ...]  # in Dark's frame

    def slot(self) -> int:
        """The action id that names this piece: its lowest cell is that in its owner's frame."""
        return slot_id(self.kind, self.orientation, min(turned(self.owner, cell) for cell in self.cells))

    def line(self) -> set[int]:
        """The whole row or column that the piece lies along."""
        tens, units = divmod(self.cells[0], 10)
        if self.orientation == ALONG_ROW:
            return {10 * tens + i for i in range(10)}
        return {10 * i + units for i in range(10)}


def all_slots(lengths: Sequence[int], player: int) -> dict[int, Piece]:
    """Every slot of the empty board, in ascending order of the action id: id -> the piece lying there."""
    slots = {}
    for kind in range(5):
        for orientation in (ALONG_ROW, ALONG_COLUMN):
            for lowest in range(100):
                own_cells = straight(lowest, orientation, lengths[kind])
                if own_cells is not None:
                    cells = tuple(turned(player, cell) for cell in own_cells)
                    slots[slot_id(kind, orientation, lowest)] = Piece(player, kind, orientation, cells)
    return slots


# Geometry only, the same in every game: SLOTS[pieces option][player].
SLOTS = {name: (all_slots(lengths, DARK), all_slots(lengths, LIGHT)) for name, lengths in LENGTHS.items()}


def random_deal(rng: random.Random, **options: Any) -> list[int]:
    """Isaac has no chance: its deal is empty."""
    return []


def deal_in(state: Sequence[int], **options: Any) -> list[int]:
    """The deal of a game that has just begun, from its state(): it is empty."""
    return []


class Oracle:
    """One game of Isaac. Options: pieces="standard" | "table", tiebreak="dark" | "shared"."""

    num_players: int = 2

    def __init__(self, deal: Sequence[int] | None = None, **options: Any) -> None:
        """Start a game: an empty board and the full sets, Dark to place."""
        if deal is not None and len(deal) > 0:
            raise ValueError("Isaac has no chance: the deal must be empty")
        unknown = sorted(set(options) - {"pieces", "tiebreak"})
        if unknown:
            raise ValueError(f"unknown options {unknown}; allowed are pieces and tiebreak")
        self._set: str = options.get("pieces", "standard")
        self._tiebreak: str = options.get("tiebreak", "dark")
        if self._set not in tuple(LENGTHS):
            raise ValueError(f"pieces must be one of {tuple(LENGTHS)}, not {self._set!r}")
        if self._tiebreak not in TIEBREAKS:
            raise ValueError(f"tiebreak must be one of {TIEBREAKS}, not {self._tiebreak!r}")

        self._phase = PLACE
        self._player = DARK  # whose turn it is (without meaning when the game is over)
        self._pieces: list[Piece] = []  # that lie on the board
        self._unplayed: list[list[int]] = [list(COUNTS), list(COUNTS)]  # per player: how many of each type
        self._first_passed: int | None = None  # who passed first in the placement phase
        self._removed_lengths: list[list[int]] = [[], []]  # per player: cells of each piece removed so far
        self._just_removed: Piece | None = None  # in phase counter: the piece whose gain is waiting
        self._scores: list[int] = [0, 0]
        self._out: list[bool] = [False, False]

    @classmethod
    def from_position(
        cls,
        placed: Iterable[tuple[int, int, int, int]] = (),
        /,
        *,
        phase: str = REMOVE,
        player: int = DARK,
        scores: Sequence[int] = (0, 0),
        out: Sequence[bool] = (False, False),
        longest: Sequence[int] = (0, 0),
        unplayed: Sequence[Sequence[int]] | None = None,
        just_removed: tuple[int, int, int] | None = None,
        **options: Any,
    ) -> Oracle:
        """A hand-made position. All pairs are (Dark's, Light's).

        placed: the pieces on the board, each (owner, type, orientation, lowest cell in its owner's frame);
            by position only, because `pieces` is an option of the game.
        phase: "place", "remove" or "counter". player: the seat whose turn it is.
        scores: where the counters stand, 0..100; 100 only when the game is over.
        out: who is out already.
        longest: cells of the longest piece that each has removed, 0 for none (`just_removed` not counted).
        unplayed: how many pieces of each type each player has not placed. Left away: in the placement phase
            all that are not on the board, later none. Fewer than the full set in all is allowed.
        just_removed: in phase counter only, and needed there: the piece (type, orientation, lowest cell in
            the frame of `player`) that `player` has just removed. It must not be in `placed`.
        options: the game's options.

        What happens without an action happens at once, just as after a step: a player to move who can place
        nothing passes, one who can remove nothing is out. Impossible positions are a ValueError.
        """
        game = cls(**options)
        if phase not in PHASES:
            raise ValueError(f"phase must be one of {PHASES}")
        if player not in (DARK, LIGHT):
            raise ValueError("player must be 0 or 1")
        lengths = LENGTHS[game._set]

        def piece_at(owner: int, kind: int, orientation: int, lowest: int) -> Piece:
            piece = None
            if owner in (0, 1) and kind in range(5) and orientation in (0, 1) and lowest in range(100):
                piece = SLOTS[game._set][owner].get(slot_id(kind, orientation, lowest))
            if piece is None:
                raise ValueError(f"no such piece: {(owner, kind, orientation, lowest)}")
            return piece

        game._phase = phase
        game._player = player
        game._pieces = [piece_at(*entry) for entry in placed]
        game._scores = list(scores)
        game._out = [bool(flag) for flag in out]
        game._removed_lengths = [[cells] if cells else [] for cells in longest]
        if just_removed is not None:
            game._just_removed = piece_at(player, *just_removed)

        cells = [cell for piece in game._pieces for cell in piece.cells]
        if len(cells) != len(set(cells)):
            raise ValueError("pieces overlap")
        known = list(game._pieces) if game._just_removed is None else [*game._pieces, game._just_removed]
        used = [[sum(p.owner == s and p.kind == k for p in known) for k in range(5)] for s in (DARK, LIGHT)]
        if unplayed is not None:
            game._unplayed = [list(counts) for counts in unplayed]
        elif phase == PLACE:
            game._unplayed = [[COUNTS[k] - used[s][k] for k in range(5)] for s in (DARK, LIGHT)]
        else:
            game._unplayed = [[0] * 5, [0] * 5]
        for seat in (DARK, LIGHT):
            for kind in range(5):
                if not 0 <= game._unplayed[seat][kind] <= COUNTS[kind] - used[seat][kind]:
                    raise ValueError(f"wrong number of pieces of type {kind} for seat {seat}")

        if not all(0 <= score <= WINNING_SCORE for score in game._scores):
            raise ValueError("scores must be 0..100")
        if sum(game._scores) == 99 or sum(game._scores) == 2 * WINNING_SCORE:
            raise ValueError("both counters on one cell, or two winners")
        if not all(cells_removed in (0, *lengths) for cells_removed in longest):
            raise ValueError("longest must be 0 or the length of a piece")
        if phase == PLACE and (any(game._scores) or any(game._out) or any(longest)):
            raise ValueError("scores, out and longest belong to the scoring phase")

        if (phase == COUNTER) != (game._just_removed is not None):
            raise ValueError("just_removed belongs to phase counter")
        if game._just_removed is not None:
            if game.is_over() or game._out[player]:
                raise ValueError("nobody is asked for a counter action here")
            removed = set(game._just_removed.cells)
            if not removed.isdisjoint(cells) or not removed.isdisjoint(game._counter_cells()):
                raise ValueError("just_removed lies under a piece or a counter")
            if len(removed) < longest[player]:
                raise ValueError("just_removed is shorter than a piece removed before")
            if game.gain() == 0:
                raise ValueError("gain 0: no counter action is asked")
            game._removed_lengths[player].append(len(removed))
        else:
            game._pass_or_go_out()
        return game

    # ---- what is asked of the players

    def player_to_move(self) -> int:
        """The seat that acts next, -1 when the game is over."""
        return -1 if self.is_over() else self._player

    def legal_actions(self) -> list[int]:
        """Ascending; empty when the game is over."""
        if self.is_over():
            return []
        if self._phase == PLACE:
            return self._placements(self._player)
        if self._phase == REMOVE:
            return sorted(piece.slot() for piece in self._removable(self._player))
        return self._targets()

    def step(self, action: int) -> None:
        """Carry out a legal action, and all that follows without a choice. Illegal: ValueError."""
        if action not in self.legal_actions():
            raise ValueError(f"illegal action {action!r}")
        player = self._player

        if self._phase == PLACE:
            piece = SLOTS[self._set][player][action]
            self._pieces.append(piece)
            self._unplayed[player][piece.kind] -= 1

        elif self._phase == REMOVE:
            piece = SLOTS[self._set][player][action]
            self._pieces.remove(piece)
            self._removed_lengths[player].append(len(piece.cells))
            self._just_removed = piece
            if self.gain() > 0:
                self._phase = COUNTER
                return  # the same player moves the counter
            self._just_removed = None

        else:
            won = action == HUNDRED_OR_MORE
            self._scores[player] = WINNING_SCORE if won else action - FIRST_COUNTER_ACTION
            self._just_removed = None
            self._phase = REMOVE

        self._player = 1 - player
        self._pass_or_go_out()

    def is_over(self) -> bool:
        """At 100, or when both are out."""
        return max(self._scores) >= WINNING_SCORE or all(self._out)

    def _pass_or_go_out(self) -> None:
        """The turn comes to self._player: if they cannot act, pass (or go out) without an action."""
        if self._phase == PLACE:
            if self._can_place(self._player):
                return
            if self._first_passed is None:
                self._first_passed = self._player
            if self._can_place(1 - self._player):
                self._player = 1 - self._player
                return
            self._phase = REMOVE  # neither can place
            self._player = self._first_passed

        if self.is_over():
            return  # won at once: nobody's turn comes, the out flags stay as they are
        for _ in range(2):
            if not self._out[self._player] and self._removable(self._player):
                return
            self._out[self._player] = True
            self._player = 1 - self._player

    # ---- placement phase

    def _occupied(self) -> set[int]:
        return {cell for piece in self._pieces for cell in piece.cells}

    def _placements(self, player: int) -> list[int]:
        occupied = self._occupied()
        unplayed = self._unplayed[player]
        return [
            action
            for action, piece in SLOTS[self._set][player].items()
            if unplayed[piece.kind] > 0 and occupied.isdisjoint(piece.cells)
        ]

    def _can_place(self, player: int) -> bool:
        return len(self._placements(player)) > 0

    # ---- scoring phase

    def _counter_cell(self, player: int) -> int | None:
        """Where the player's counter stands, in Dark's frame; None while it is not on the board."""
        if self._phase == PLACE or self._scores[player] >= WINNING_SCORE:
            return None
        return turned(player, self._scores[player])

    def _counter_cells(self) -> list[int]:
        """The cells (Dark's frame) with a counter on them."""
        cells = [self._counter_cell(DARK), self._counter_cell(LIGHT)]
        return [cell for cell in cells if cell is not None]

    def _longest_removed(self, player: int) -> int:
        return max(self._removed_lengths[player], default=0)

    def _removable(self, player: int) -> list[Piece]:
        counters = self._counter_cells()
        longest = self._longest_removed(player)
        return [
            piece
            for piece in self._pieces
            if piece.owner == player
            and len(piece.cells) >= longest
            and not any(counter in piece.cells for counter in counters)
        ]

    def gain(self) -> int:
        """The gain that waits to be moved (not capped); 0 outside phase counter."""
        if self._just_removed is None:
            return 0
        line = self._just_removed.line()
        pieces_left = sum(1 for piece in self._pieces if not line.isdisjoint(piece.cells))
        gain = pieces_left * VALUES[self._just_removed.kind]
        for counter in self._counter_cells():
            if counter in line:
                gain *= 2
        return gain

    def _targets(self) -> list[int]:
        score, opponents_score = self._scores[self._player], self._scores[1 - self._player]
        furthest = score + self.gain()
        actions = [
            FIRST_COUNTER_ACTION + target
            for target in range(score, min(furthest, 99) + 1)
            if target + opponents_score != 99
        ]
        if furthest >= WINNING_SCORE:
            actions.append(HUNDRED_OR_MORE)
        return actions

    # ---- what the players see

    def observe(self, player: int) -> tuple[list[int], list[int]]:
        """(board: 15 planes x 10 tens x 10 units, flattened in C order; features), as `player` sees it."""
        if player not in (DARK, LIGHT):
            raise ValueError("player must be 0 or 1")
        opponent = 1 - player

        board = [0] * 1500

        def mark(plane: int, cell: int) -> None:
            board[100 * plane + cell] = 1

        for piece in self._pieces:
            cells = [turned(player, cell) for cell in piece.cells]
            for cell in cells:
                mark(piece.kind if piece.owner == player else 5 + piece.kind, cell)
                mark(10 if piece.orientation == ALONG_ROW else 11, cell)
            mark(12, min(cells))
        for plane, seat in ((13, player), (14, opponent)):
            counter = self._counter_cell(seat)
            if counter is not None:
                mark(plane, turned(player, counter))

        features = [
            *self._unplayed[player],
            *self._unplayed[opponent],
            *(int(self._phase == phase) for phase in PHASES),
            min(self.gain(), 100),  # with the pieces of the game a gain is always less
            self._longest_removed(player),
            self._longest_removed(opponent),
            int(self._out[player]),
            int(self._out[opponent]),
            self._scores[player],
            self._scores[opponent],
        ]
        return board, features

    # ---- result

    def scores(self) -> list[int]:
        """The counters' scores as they stand, Dark's first; 100 stands for 100 or more."""
        return list(self._scores)

    def returns(self, reward: str = "outcome") -> list[float]:
        """The final rewards, Dark's first; zeros while the game is running."""
        if reward not in ("outcome", "margin"):
            raise ValueError(f"reward must be 'outcome' or 'margin', not {reward!r}")
        if not self.is_over():
            return [0.0, 0.0]
        if reward == "margin":
            margins = [(self._scores[seat] - self._scores[1 - seat]) / 100 for seat in (DARK, LIGHT)]
            return [max(-1.0, min(1.0, margin)) for margin in margins]
        winners = self._winners()
        # (n / |W| if winner else 0, minus 1) / (n - 1), with n = 2
        return [2 / len(winners) - 1 if seat in winners else -1.0 for seat in (DARK, LIGHT)]

    def _winners(self) -> list[int]:
        lengths = LENGTHS[self._set]

        def standing(seat: int) -> tuple[int, int, int]:
            unplayed = self._unplayed[seat]
            cells = sum(count * length for count, length in zip(unplayed, lengths, strict=True))
            return self._scores[seat], cells, -sum(unplayed)

        dark, light = standing(DARK), standing(LIGHT)
        if dark != light:
            return [DARK] if dark > light else [LIGHT]
        return [DARK] if self._tiebreak == "dark" else [DARK, LIGHT]

    def copy(self) -> Oracle:
        """An independent copy of the game."""
        other = Oracle(pieces=self._set, tiebreak=self._tiebreak)
        other._phase = self._phase
        other._player = self._player
        other._pieces = list(self._pieces)
        other._unplayed = [list(counts) for counts in self._unplayed]
        other._first_passed = self._first_passed
        other._removed_lengths = [list(lengths) for lengths in self._removed_lengths]
        other._just_removed = self._just_removed
        other._scores = list(self._scores)
        other._out = list(self._out)
        return other
