"""What lies on the board of Isaac, from a state row: pieces, counters, and what the last action moved.

Cells are those of Dark's frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from iszoo.envs.drawing.position import Position
from iszoo.envs.isaac import ALONG_COLUMNS, COUNTER, LENGTHS, LOWEST, PLACE, REMOVE, TARGETS, TYPES, WIN

DARK, LIGHT = 0, 1


class Piece(NamedTuple):
    """A piece on the board, in Dark's frame."""

    owner: int
    kind: int
    upright: bool  # along a column
    cells: tuple[int, ...]  # ascending


def absolute(cell: int, seat: int) -> int:
    """A cell of a player's frame in Dark's."""
    return cell if seat == DARK else 99 - cell


def cells_of(slot: int, seat: int, lengths: tuple[int, ...]) -> tuple[int, ...]:
    """The cells of a player's slot in Dark's frame, the one that is lowest for the player first."""
    step = 10 if slot // 100 % 2 else 1
    return tuple(absolute(slot % 100 + step * n, seat) for n in range(lengths[slot // 200]))


def pieces_on(position: Position) -> Iterator[Piece]:
    """The pieces on the board, by their lowest cell."""
    sets = position.fields["sets"][DARK]
    lengths = LENGTHS[position.options["pieces"]]

    def has(which: int, cell: int) -> bool:
        return bool((int(sets[which][cell // 50]) >> (cell % 50)) & 1)

    for cell in range(100):
        for number in range(2 * TYPES if has(LOWEST, cell) else 0):
            if has(number, cell):
                owner, kind = divmod(number, TYPES)
                upright = has(ALONG_COLUMNS, cell)
                cells = tuple(cell + (10 if upright else 1) * n for n in range(lengths[kind]))
                yield Piece(owner, kind, upright, cells)


def counters_on(position: Position) -> dict[int, int]:
    """Cell of each counter on the board: its owner."""
    if position.fields["phase"] == PLACE:
        return {}
    scores = position.fields["score"].tolist()
    return {absolute(scores[seat], seat): seat for seat in (DARK, LIGHT) if scores[seat] < WIN}


def last_piece(position: Position, pieces: list[Piece]) -> Piece | None:
    """The piece that the last action placed or removed.

    A row doesn't say who acted: of those whose piece it can have been, who more likely did.
    """
    if position.last is None or position.last >= TARGETS:
        return None
    lengths = LENGTHS[position.options["pieces"]]
    kind, upright = divmod(position.last // 100, 2)
    longest = position.fields["longest"].tolist()
    covered = {cell for piece in pieces for cell in piece.cells}
    for seat in _actors(position):
        piece = Piece(seat, kind, bool(upright), tuple(sorted(cells_of(position.last, seat, lengths))))
        if piece in pieces if not any(longest) else longest[seat] == lengths[kind] and covered.isdisjoint(piece.cells):
            return piece
    return None


def last_counter(position: Position) -> int | None:
    """Whose counter the last action moved."""
    assert position.last is not None
    score = position.last - TARGETS
    return next((seat for seat in _actors(position) if position.scores[seat] == score), None)


def _actors(position: Position) -> list[int]:
    """The seats, first the one who more likely acted last."""
    player, phase = position.player, position.fields["phase"]
    if player < 0:
        return sorted((DARK, LIGHT), key=lambda seat: -position.scores[seat])
    goes_on = phase == COUNTER or (phase == REMOVE and (int(position.fields["out"]) >> (1 - player)) & 1)
    return [player, 1 - player] if goes_on else [1 - player, player]
