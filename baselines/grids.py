"""The loops of the networks of kinds "lines" and "cells" (see `networks.py`): what is not a product of matrices.

Array by array NumPy would go through the memory a dozen times; here a position stays in the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from iszoo.envs.native import kernel


@kernel
def add_lines(cells: Any, rows: Any, columns: Any, context: Any, place: Any, of_rows: Any, of_columns: Any) -> None:
    """Ends a layer in place: relu of what a cell, its row, its column, the features and its place add, and the means.

    cells: float32 (n, 10, 10, H), of the cells alone; becomes the layer. rows, columns: float32 (n, 10, H). context:
    float32 (n, H), and place: float32 (10, 10, H), or both empty for none. Written: of_rows, of_columns, float32
    (n, 10, H), the means of each row and column of the layer.
    """
    n, height, width, size = cells.shape
    zero, each = np.float32(0.0), np.float32(1.0) / np.float32(width)
    for i in range(n):
        for c in range(width):
            for h in range(size):
                of_columns[i, c, h] = zero
        for r in range(height):
            if context.shape[0] > 0:
                for h in range(size):
                    rows[i, r, h] += context[i, h]
            for h in range(size):
                of_rows[i, r, h] = zero
            for c in range(width):
                for h in range(size):
                    told = cells[i, r, c, h] + rows[i, r, h] + columns[i, c, h]
                    if place.shape[0] > 0:
                        told += place[r, c, h]
                    told = max(zero, told)
                    cells[i, r, c, h] = told
                    of_rows[i, r, h] += told
                    of_columns[i, c, h] += told
            for h in range(size):
                of_rows[i, r, h] *= each
        for c in range(width):
            for h in range(size):
                of_columns[i, c, h] *= each


@kernel
def tell_slots(
    covered: Any, rows: Any, columns: Any, kinds: Any, weight: Any, bias: Any, lengths: Any, sums: Any, logits: Any
) -> None:
    """The logits of all slots, from what each would cover, its line and its type; illegal ones stay as they are.

    covered: float32 (n, 10, 10, 2 * size), what each cell says to pieces along its row, then along its column. rows,
    columns: float32 (n, 10, size), what the lines say. kinds, weight: float32 (2 * types, size); bias: float32
    (2 * types,). lengths: int64 (types,). sums: float32 (11, size), scratch. Written: logits, float32 (n, A).
    """
    n, height, width, double = covered.shape
    size = double // 2
    zero, one = np.float32(0.0), np.float32(1.0)
    for i in range(n):
        for o in range(2):
            for line in range(height):
                for h in range(size):
                    sums[0, h] = zero
                for at in range(width):
                    r, c = (line, at) if o == 0 else (at, line)
                    for h in range(size):
                        sums[at + 1, h] = sums[at, h] + covered[i, r, c, o * size + h]
                for k in range(lengths.shape[0]):
                    length = lengths[k]
                    share = one / np.float32(length)
                    kind = 2 * k + o
                    for at in range(width + 1 - length):
                        logit = bias[kind]
                        for h in range(size):
                            whole = rows[i, line, h] if o == 0 else columns[i, line, h]
                            told = (sums[at + length, h] - sums[at, h]) * share + whole + kinds[kind, h]
                            logit += max(zero, told) * weight[kind, h]
                        cell = line * width + at if o == 0 else at * width + line
                        logits[i, kind * height * width + cell] = logit


@kernel
def add_beside(told: Any, context: Any, bias: Any, layer: Any) -> None:
    """A layer of cells: relu of what a cell, those beside it and the features add.

    told: float32 (n, height, width, 2 * H), what a cell says to itself, then to those beside it. context: float32
    (n, H), or with n = 0 for none. bias: float32 (H,). Written: layer, float32 (n, height, width, H).
    """
    n, height, width, size = layer.shape
    zero = np.float32(0.0)
    for i in range(n):
        for r in range(height):
            for c in range(width):
                for h in range(size):
                    layer[i, r, c, h] = told[i, r, c, h] + bias[h]
                if context.shape[0] > 0:
                    for h in range(size):
                        layer[i, r, c, h] += context[i, h]
                if r > 0:
                    for h in range(size):
                        layer[i, r, c, h] += told[i, r - 1, c, size + h]
                if r + 1 < height:
                    for h in range(size):
                        layer[i, r, c, h] += told[i, r + 1, c, size + h]
                if c > 0:
                    for h in range(size):
                        layer[i, r, c, h] += told[i, r, c - 1, size + h]
                if c + 1 < width:
                    for h in range(size):
                        layer[i, r, c, h] += told[i, r, c + 1, size + h]
                for h in range(size):
                    layer[i, r, c, h] = max(zero, layer[i, r, c, h])
