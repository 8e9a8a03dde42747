"""Scripted agents: for each game, functions that say how much a player wants each legal action.

One file a game. A preference is a kernel `(rows, i, mask, values, params)` that writes values[i, a] (float64)
for every legal action of row i, for the player to move there. The rows that it gets were resampled: it can't
see what the player can't know.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba.core.types import Array, float64, int64, void

from iszoo.baselines.scripted import isaac, isis_osiris, iso
from iszoo.envs import native
from iszoo.envs.native import caller, kernel
from iszoo.envs.primitives import draw, mix
from iszoo.envs.signatures import BYTES, PARAMS, ROWS

SCRIPTED: Mapping[str, Mapping[str, Any]] = {
    "isaac": {"greedy": isaac.greedy, "expert": isaac.expert},
    "isis_osiris": {"greedy": isis_osiris.greedy, "expert": isis_osiris.expert},
    "iso": {"greedy": iso.greedy, "expert": iso.expert},
}
"""Game -> agent -> preference."""

PREFER = void(ROWS, int64, BYTES, Array(float64, 2, "C"), PARAMS)

call_prefer = caller(PREFER)


def bind(prefer: Any) -> Any:
    """The table that `choose` takes, of one preference."""
    return native.bind((prefer,), (PREFER,))


@kernel
def most_valued(mask: Any, values: Any, i: int, states: Any) -> int:
    """A legal action of row i of the greatest value, each of them with the same probability; -1 if none is legal.

    states[i, 0]: the generator.
    """
    best = -np.inf
    ties = 0
    chosen = -1
    for a in range(mask.shape[1]):
        if mask[i, a] == 0 or values[i, a] < best:
            continue
        ties = ties + 1 if values[i, a] == best else 1
        best = values[i, a]
        if draw(states, i, 0, ties) == 0:
            chosen = a
    return chosen


@kernel
def choose_one(prefer: Any, rows: Any, i: int, mask: Any, seed: int, states: Any, values: Any, params: Any) -> int:
    """What a preference makes of row i: `most_valued`."""
    call_prefer(prefer, rows, i, mask, values, params)
    states[i, 0] = mix(seed)
    return most_valued(mask, values, i, states)


@kernel
def choose(table: Any, rows: Any, mask: Any, seeds: Any, states: Any, values: Any, actions: Any, params: Any) -> None:
    """`choose_one` for each row."""
    for i in range(rows.shape[0]):
        actions[i] = choose_one(table[0], rows, i, mask, seeds[i], states, values, params)
