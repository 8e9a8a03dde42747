"""The loops of the networks of kind "walls" (see `networks.py`): what is not a product of matrices.

Few walls lie near a cell, and a tile shows three of 27 walls: as products of matrices nearly all would be zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from iszoo.envs.native import kernel


@kernel
def write_codes(obs: Any, codes: Any) -> None:
    """The wall that each axis shows in each cell: int8 (n, 3, 256), 0 for none, else 1 + 3 * colour + indicator.

    An axis has six planes: three of colours, then three of indicators.
    """
    for i in range(obs.shape[0]):
        for axis in range(3):
            first = axis * 6 * 256
            for cell in range(256):
                at = first + cell
                codes[i, axis, cell] = (
                    obs[i, at] + 4 * obs[i, at + 256] + 7 * obs[i, at + 512] + obs[i, at + 1024] + 2 * obs[i, at + 1280]
                )


@kernel
def add_near(
    position: Any, cell: Any, codes: Any, near: Any, turns: Any, table: Any, context: Any, places: Any, sums: Any,
    hidden: Any,
) -> None:  # fmt: skip
    """The first layer of each cell, axis and colour, added up over the four turns: hidden, float32 (m, 3, 3 * wide).

    position, cell: int64 (m,). codes: of `write_codes`. near: int64 (3, 256, K), the cells in reach.
    turns: int64 (4, K). table: float32 (9 * K, 3 * wide), what a wall of each code at each place adds.
    context: float32 (n, 3 * wide). places: int64 (K,) and sums: float32 (3 * wide,), scratch.
    """
    size = sums.shape[0]
    zero = np.float32(0.0)
    for m in range(position.shape[0]):
        i = position[m]
        for axis in range(3):
            count = 0
            for k in range(near.shape[2]):
                if codes[i, axis, near[axis, cell[m], k]] != 0:
                    places[count] = k
                    count += 1
            for h in range(size):
                hidden[m, axis, h] = zero
            for turn in range(4):
                for h in range(size):
                    sums[h] = context[i, h]
                for c in range(count):
                    k = places[c]
                    row = 9 * turns[turn, k] + codes[i, axis, near[axis, cell[m], k]] - 1
                    for h in range(size):
                        sums[h] += table[row, h]
                for h in range(size):
                    hidden[m, axis, h] += max(zero, sums[h])


@kernel
def add_tiles(
    position: Any, cell: Any, kinds: Any, told: Any, slots: Any, weight: Any, logits: Any, means: Any, greatest: Any
) -> None:
    """What the tile of each slot, in each turn, does in each cell: its logit, and the means over all (slot, turn).

    kinds: int64 (n, 3, 3), the kind of wall that the tile of a slot has on each axis, -1 for none. told: float32
    (m, 27, size), what each kind does on each axis. slots: float32 (n, 3, size). weight: float32 (size + 1,), then the
    bias. Written: logits, float32 (n, 9 * 256); means: float32 (m, size); greatest, float32 (n, size + 3), if it was
    less: of the numbers that the means are of, and the logits of each slot.
    """
    size = means.shape[1]
    zero = np.float32(0.0)
    for m in range(position.shape[0]):
        i = position[m]
        for h in range(size):
            means[m, h] = zero
        for slot in range(3):
            for turn in range(3):
                logit = weight[size]
                for h in range(size):
                    total = slots[i, slot, h]
                    for axis in range(3):
                        kind = kinds[i, slot, (axis - turn + 3) % 3]
                        if kind >= 0:
                            total += told[m, 9 * axis + kind, h]
                    total = max(zero, total)
                    means[m, h] += total / np.float32(9.0)
                    greatest[i, h] = max(greatest[i, h], total)
                    logit += total * weight[h]
                logits[i, (slot * 3 + turn) * 256 + cell[m]] = logit
                greatest[i, size + slot] = max(greatest[i, size + slot], logit)
