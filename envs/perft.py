"""Perft: how many action sequences of a length a deal has. The count that shows up any wrong rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from iszoo.envs import engine
from iszoo.envs.game import STEP, Game, Options
from iszoo.envs.native import kernel
from iszoo.envs.seeds import as_seed


@kernel
def _count(table: Any, rows: Any, masks: Any, tried: Any, depth: int, params: Any) -> int:
    """Depth-first over rows[0] (the start) to rows[depth]; tried[d] is the next action to try at ply d."""
    total = 0
    d = 0
    tried[0] = 0
    legal = engine.write_mask(table, rows, 0, masks, params)
    if depth == 1:
        return legal
    while d >= 0:
        a = tried[d]
        while a < masks.shape[1] and masks[d, a] == 0:
            a += 1
        if a == masks.shape[1]:
            d -= 1
            continue
        tried[d] = a + 1
        for k in range(rows.shape[1]):
            rows[d + 1, k] = rows[d, k]
        engine.call_step(table[STEP], rows, d + 1, a, params)
        legal = engine.write_mask(table, rows, d + 1, masks, params)
        if d + 2 == depth:
            total += legal  # the last ply is counted, not played
        else:
            d += 1
            tried[d] = 0
    return total


def perft(game: Game, depth: int, *, seed: int = 0, deal: Sequence[int] | None = None, **options: Any) -> int:
    """The number of action sequences of length `depth` from the start of a deal.

    A game that is over has no further action: sequences that end before `depth` don't count.

    Args:
        game: the game.
        depth: the length, from 0.
        seed: fixes the deal, as in `reset`.
        deal: fixes the deal itself, see `game.deal_about`.
        **options: the game's own options.

    Raises:
        ValueError: a bad depth, seed, deal or option.
    """
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 0:
        raise ValueError(f"depth={depth!r} is not allowed; it is a whole number from 0")
    settled: Options = game.resolve(options)
    params = game.params(options)
    if depth == 0:
        return 1
    deals = np.empty((1, 0), np.int64) if deal is None else game.check_deal(deal, settled)[None]
    rows = np.zeros((depth + 1, game.row_size), np.int64)
    start = np.zeros(depth + 1, np.bool_)
    start[0] = True
    seeds = np.full(depth + 1, as_seed(seed), np.int64)
    engine.init_batch(game.table, rows, start, seeds, deals, params)
    masks = np.zeros((depth + 1, game.num_actions), np.int8)
    return int(_count(game.table, rows, masks, np.zeros(depth + 1, np.int64), depth, params))
