"""What calls a game's kernels, written once for all games: for one position, and for each of a batch.

Each driver takes the table of kernel addresses, so that one compiled driver, kept in numba's disk cache,
serves every game. Buffers belong to the caller. The loops that step a batch, on several threads too, are in
stepping.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core.types import Array, int64

from iszoo.envs import signatures
from iszoo.envs.game import INIT, LEGAL, OBSERVE, RESAMPLE, RETURNS, SCORES, STATUS, STEP
from iszoo.envs.native import bundle, caller, gather64, kernel, load8, popcount, trailing_zeros, unbundler
from iszoo.envs.primitives import NUM_PLAYERS, OFFENDER

call_init = caller(signatures.INIT)
call_legal = caller(signatures.LEGAL)
call_step = caller(signatures.STEP)
call_observe = caller(signatures.OBSERVE)
call_scores = caller(signatures.SCORES)
call_returns = caller(signatures.RETURNS)
call_status = caller(signatures.STATUS)
call_resample = caller(signatures.RESAMPLE)

ILLEGAL = -2  # what `step_one` returns for an action that is out of range or not legal

# --- One position ------------------------------------------------------------------------------------------


@kernel(inline=True)
def to_move(table: Any, rows: Any, i: int, params: Any) -> int:
    """The player to move; -1 when the game is over, by its rules or by an illegal action."""
    if rows[i, OFFENDER] != 0:
        return -1
    return call_status(table[STATUS], rows, i, params)  # type: ignore[no-any-return]


@kernel(inline=True)
def write_mask(table: Any, rows: Any, i: int, mask: Any, params: Any) -> int:
    """Writes the action mask and returns the number of legal actions."""
    if rows[i, OFFENDER] != 0:
        mask[i, :] = 0
        return 0
    return call_legal(table[LEGAL], rows, i, mask, params)  # type: ignore[no-any-return]


@kernel
def write_returns(table: Any, rows: Any, i: int, out: Any, params: Any) -> None:
    """Writes the final rewards: by the rules, or -1 for who played illegally and 1 / (n - 1) for the others."""
    offender = rows[i, OFFENDER] - 1
    if offender < 0:
        call_returns(table[RETURNS], rows, i, out, params)
        return
    players = params[NUM_PLAYERS]
    for p in range(players):
        out[i, p] = -1.0 if p == offender else 1.0 / (players - 1)


@kernel
def broadcast_features(obs: Any, i: int, board_size: int, plane_size: int, count: int) -> None:
    """Turns a flat observation (in a wider row) into planes: each feature fills a plane after the board.

    In place, from the last feature to the first: a plane never covers a feature that is still to be read.
    """
    for f in range(count - 1, -1, -1):
        value = obs[i, board_size + f]
        first = board_size + f * plane_size
        obs[i, first : first + plane_size] = value


@kernel
def step_one(table: Any, rows: Any, action: int, check: bool, legal: Any, params: Any) -> int:
    """Plays an action in row 0 and writes the next mask into `legal`, which holds the present one.

    Returns the next player, -1 when over, or ILLEGAL with nothing changed. Without `check` only the range
    is looked at, which keeps kernels inside their arrays.
    """
    if action < 0 or action >= legal.shape[1] or (check and legal[0, action] == 0):
        return ILLEGAL
    call_step(table[STEP], rows, 0, action, params)
    player = to_move(table, rows, 0, params)
    write_mask(table, rows, 0, legal, params)
    return player


@kernel(brief=True)
def observe_one(table: Any, rows: Any, player: int, out: Any, plane_size: int, features: int, params: Any) -> None:
    """Writes row 0 as a player sees it into a vector; as planes if plane_size > 0, else flat."""
    obs = out.reshape(1, out.size)
    call_observe(table[OBSERVE], rows, 0, player, obs, params)
    if plane_size > 0:
        broadcast_features(obs, 0, obs.shape[1] - plane_size * features, plane_size, features)


_unbundle_one = unbundler(
    Array(int64, 1, "C"), signatures.ROWS, signatures.BYTES, signatures.PARAMS, Array(int64, 1, "C")
)  # table, rows, legal, params, settings


def bind_one(
    table: Any, rows: Any, legal: Any, params: Any, check: bool, plane_size: int, features: int
) -> tuple[Any, Any]:
    """What `step_observe_one` is given of an environment, and what must be kept as long as that."""
    settings = np.array([check, plane_size, features], np.int64)
    return bundle(table, rows, legal, params, settings), settings


@kernel(brief=True)
def step_observe_one(position: Any, action: int, obs: Any, mask: Any) -> int:
    """`step_one`, then the observation and a copy of the mask for the next player, in one call.

    One call in place of three, of few arguments: what Python pays to enter compiled code is most of an AEC step.
    """
    table, rows, legal, params, settings = _unbundle_one(position)
    player = step_one(table, rows, action, settings[0] != 0, legal, params)
    if player >= 0:
        observe_one(table, rows, player, obs, settings[1], settings[2], params)
        for a in range(legal.shape[1]):
            mask[a] = legal[0, a]
    return player


# --- For loops over games ----------------------------------------------------------------------------------


@kernel
def finish(
    table: Any, rows: Any, i: int, seat: int, same_step: bool, any_deal: Any,
    returns: Any, rewards: Any, done: Any, final_obs: Any, final_rows: Any, params: Any,
) -> None:  # fmt: skip
    """Keeps what a game ended with, and deals the next one if asked to."""
    done[i] = True
    write_returns(table, rows, i, returns, params)
    for p in range(rewards.shape[1]):
        rewards[i, p] = returns[i, p]
    for k in range(rows.shape[1]):
        final_rows[i, k] = rows[i, k]
    call_observe(table[OBSERVE], rows, i, seat, final_obs, params)
    if same_step:
        call_init(table[INIT], rows, i, -1, any_deal, params)


@kernel(inline=True)
def count_legal(mask: Any, i: int) -> int:
    """The number of legal actions, 64 bytes of the mask at a time."""
    size = mask.shape[1]
    count = 0
    a = 0
    while a + 64 <= size:
        count += popcount(gather64(mask, i, a))
        a += 64
    while a < size:
        count += int(mask[i, a])
        a += 1
    return count


@kernel(inline=True)
def nth_legal(mask: Any, i: int, n: int) -> int:
    """The id of the n-th (from 0) legal action, 64 bytes of the mask at a time."""
    size = mask.shape[1]
    a = 0
    found = -1
    while found < 0 and a + 64 <= size:
        word = gather64(mask, i, a)
        count = popcount(word)
        if n < count:
            for _ in range(n):
                word &= word - 1
            found = a + trailing_zeros(word)
        n -= count
        a += 64
    while found < 0 and a + 8 <= size:
        word = load8(mask, i, a)
        count = popcount(word)
        if n < count:
            for _ in range(n):
                word &= word - 1
            found = a + (trailing_zeros(word) >> 3)
        n -= count
        a += 8
    while found < 0 and a < size:
        n -= mask[i, a]
        if n < 0:
            found = a
        a += 1
    return found


# --- Many games --------------------------------------------------------------------------------------------


@kernel
def init_batch(table: Any, rows: Any, where: Any, seeds: Any, deals: Any, params: Any) -> None:
    """Starts the games of `where` at seeds[i] (below 0: each goes on with its own generator).

    deals: (N, L), or (1, L) for the same deal in every game; L = 0 shuffles.
    """
    for i in range(rows.shape[0]):
        if where[i]:
            call_init(table[INIT], rows, i, seeds[i], deals[i if deals.shape[0] > 1 else 0], params)


@kernel
def refresh_batch(table: Any, rows: Any, where: Any, obs: Any, mask: Any, player: Any, params: Any) -> None:
    """Writes observation, mask and player of the games of `where`; finished games as seat 0 sees them."""
    for i in range(rows.shape[0]):
        if where[i]:
            mover = to_move(table, rows, i, params)
            player[i] = mover
            call_observe(table[OBSERVE], rows, i, max(mover, 0), obs, params)
            write_mask(table, rows, i, mask, params)


@kernel
def observe_batch(table: Any, rows: Any, where: Any, seats: Any, obs: Any, params: Any) -> None:
    """Writes the games of `where` as seats[i] sees them."""
    for i in range(rows.shape[0]):
        if where[i]:
            call_observe(table[OBSERVE], rows, i, seats[i], obs, params)


@kernel
def scores_batch(table: Any, rows: Any, final_rows: Any, done: Any, out: Any, params: Any) -> None:
    """Writes the points of every game; of a game that has just ended, those it ended with."""
    for i in range(rows.shape[0]):
        if done[i]:
            call_scores(table[SCORES], final_rows, i, out, params)
        else:
            call_scores(table[SCORES], rows, i, out, params)


@kernel
def resample_batch(table: Any, rows: Any, seats: Any, seeds: Any, params: Any) -> None:
    """Redraws in each game what seats[i] can't know."""
    for i in range(rows.shape[0]):
        call_resample(table[RESAMPLE], rows, i, seats[i], seeds[i], params)
