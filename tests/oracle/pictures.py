"""Games of Isis & Osiris that end in a given picture."""

from __future__ import annotations

from tests.oracle.isis_osiris import REVEAL, TILE_COUNTS, TILES_EACH


def deal_starting(*first: int) -> list[int]:
    """The 22 tiles with `first` in front."""
    rest = [value for value, count in TILE_COUNTS.items() for _ in range(count)]
    for value in first:
        rest.remove(value)
    return [*first, *rest]


def planned(picture: str, num_players: int) -> tuple[list[int], list[int]]:
    """The deal and the actions of the standard game that ends in `picture`.

    A..D are stones of the seats 0..3, numbers are tiles, "." is any tile that is left over. Every player
    first places all its stones of the picture, then tiles, each in reading order.
    """
    cells = picture.split()
    shown = [int(cell) for cell in cells if cell not in "ABCD."]
    spare = deal_starting(*shown)[len(shown) :]
    tiles = [(k, spare.pop() if cell == "." else int(cell)) for k, cell in enumerate(cells) if cell not in "ABCD"]
    plans: list[list[tuple[int, bool]]] = []  # by seat: cells, and whether a tile goes there
    deal: list[int] = []
    for seat in range(num_players):
        stones = [k for k, cell in enumerate(cells) if cell == "ABCD"[seat]]
        own = [tiles.pop(0) for _ in range(36 // num_players - len(stones))]
        plans.append([(k, False) for k in stones] + [(k, True) for k, _ in own])
        deal += [value for _, value in own]
        deal += [spare.pop() for _ in range(TILES_EACH[num_players] - len(own))]  # never revealed
    actions: list[int] = []
    for turn in range(36):
        cell, is_tile = plans[turn % num_players][turn // num_players]
        actions += [REVEAL, cell] if is_tile else [cell]
    return deal + spare, actions
