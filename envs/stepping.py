"""The loops of `VecEnv.step` and `VecEnv.random_steps`, in a serial and a parallel form around the same body.

Buffers belong to the caller, who binds them once (`bind_buffers`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange
from numba.core.types import Array, boolean, float32, float64, int8, int64

from iszoo.envs import signatures
from iszoo.envs.engine import call_observe, call_step, count_legal, finish, nth_legal, to_move, write_mask
from iszoo.envs.game import OBSERVE, STEP
from iszoo.envs.native import JIT, atomic_add, bundle, kernel, unbundler
from iszoo.envs.primitives import OFFENDER, draw
from iszoo.envs.threads import in_parallel, is_serial, max_threads

# What `step_batch` and `random_batch` work on, in the order in which `_step_range` and `_random_range` end.
unbundle_buffers = unbundler(
    Array(int64, 1, "C"), signatures.ROWS,  # table, rows
    signatures.BYTES, signatures.BYTES, Array(int8, 1, "C"),  # obs, mask, player
    Array(float64, 2, "C"), Array(float32, 2, "C"), Array(boolean, 1, "C"),  # returns, rewards, done
    signatures.BYTES, signatures.ROWS,  # final_obs, final_rows
    signatures.ROWS, Array(int64, 1, "C"), signatures.PARAMS,  # choices, any_deal, params
    Array(boolean, 1, "C"),  # everywhere
)  # fmt: skip

FEW = 16  # games that `step_few` is for
_WAITS = 500 if JIT else 0  # how often a thread looks whether the others have checked theirs: some 10 us
_PLAYED = -2  # in the place of the first illegal action of a share

# --- Games lo to hi - 1 ------------------------------------------------------------------------------------


@kernel
def _first_illegal(lo: int, hi: int, mark: bool, where: Any, actions: Any, mask: Any) -> int:
    """The first game whose action is out of range or not legal, or -1. `mark`: turn such actions into -1 instead."""
    size = mask.shape[1]
    for i in range(lo, hi):
        if where[i] and (actions[i] < 0 or actions[i] >= size or mask[i, actions[i]] == 0):
            if not mark:
                return i
            actions[i] = -1
    return -1


@kernel
def _step_range(
    lo: int, hi: int, where: Any, actions: Any, same_step: bool,
    table: Any, rows: Any, obs: Any, mask: Any, player: Any, returns: Any, rewards: Any, done: Any,
    final_obs: Any, final_rows: Any, any_deal: Any, params: Any,
) -> None:  # fmt: skip
    """Plays actions[i] (already checked) in the games of `where`; the others' rewards and done are cleared.

    An action below 0 is an illegal one, which ends the game. What follows a move stands here and again in
    `_random_range`: as a function of its own, called or inlined by numba, it made a step slower.
    """
    for i in range(lo, hi):
        if done[i]:
            done[i] = False
            rewards[i, :] = 0
        if not where[i]:
            continue
        seat = int(player[i])
        if actions[i] < 0:
            rows[i, OFFENDER] = seat + 1
        else:
            call_step(table[STEP], rows, i, actions[i], params)
        mover = to_move(table, rows, i, params)
        if mover < 0:
            finish(
                table, rows, i, seat, same_step, any_deal,
                returns, rewards, done, final_obs, final_rows, params,
            )  # fmt: skip
            mover = to_move(table, rows, i, params)
        player[i] = mover
        call_observe(table[OBSERVE], rows, i, mover if mover >= 0 else seat, obs, params)
        write_mask(table, rows, i, mask, params)


@kernel
def _random_range(
    lo: int, hi: int, steps: int, show: bool, same_step: bool,
    table: Any, rows: Any, obs: Any, mask: Any, player: Any, returns: Any, rewards: Any, done: Any,
    final_obs: Any, final_rows: Any, choices: Any, any_deal: Any, params: Any,
) -> int:  # fmt: skip
    """Plays up to `steps` uniformly random legal actions in each game; returns how many in all."""
    total = 0
    for i in range(lo, hi):
        count = count_legal(mask, i)
        for _ in range(steps):
            if count == 0:
                break
            if done[i]:
                done[i] = False
                rewards[i, :] = 0
            seat = int(player[i])
            action = nth_legal(mask, i, draw(choices, i, 0, count))
            call_step(table[STEP], rows, i, action, params)
            mover = to_move(table, rows, i, params)
            if mover < 0:
                finish(
                    table, rows, i, seat, same_step, any_deal,
                    returns, rewards, done, final_obs, final_rows, params,
                )  # fmt: skip
                mover = to_move(table, rows, i, params)
            player[i] = mover
            if show:
                call_observe(table[OBSERVE], rows, i, mover if mover >= 0 else seat, obs, params)
            count = write_mask(table, rows, i, mask, params)
            total += 1
    return total


@kernel
def _step_serial(buffers: Any, where: Any, actions: Any, mark: bool, same_step: bool) -> int:
    """Checks all actions, then plays them. Returns the first game with an illegal one (none has moved), or -1."""
    (
        table, rows, obs, mask, player, returns, rewards, done, final_obs, final_rows, _, any_deal, params, _,
    ) = unbundle_buffers(buffers)  # fmt: skip
    games = rows.shape[0]
    wrong = _first_illegal(0, games, mark, where, actions, mask)
    if wrong < 0:
        _step_range(
            0, games, where, actions, same_step,
            table, rows, obs, mask, player, returns, rewards, done, final_obs, final_rows, any_deal, params,
        )  # fmt: skip
    return wrong


@kernel(brief=True)
def step_few(buffers: Any, actions: Any, same_step: bool) -> int:
    """`step_batch` for a few games that all move, on one thread: a call takes 0.5 us less, of 1.2 us."""
    return _step_serial(buffers, unbundle_buffers(buffers)[-1], actions, False, same_step)


@kernel
def _random_serial(buffers: Any, steps: int, show: bool, same_step: bool) -> int:
    """`_random_range` over all games."""
    (
        table, rows, obs, mask, player, returns, rewards, done, final_obs, final_rows, choices, any_deal, params, _,
    ) = unbundle_buffers(buffers)  # fmt: skip
    return _random_range(
        0, rows.shape[0], steps, show, same_step,
        table, rows, obs, mask, player, returns, rewards, done, final_obs, final_rows, choices, any_deal, params,
    )  # fmt: skip


@kernel(parallel=True)
def _step_parallel(
    chunks: int, buffers: Any, where: Any, actions: Any, mark: bool, same_step: bool, wrong: Any, checked: Any
) -> int:
    """`_step_serial` over equal shares of the games, one a thread. Scratch: int64 wrong (chunks,) and checked (1,).

    Each thread checks its own share: masks that another thread wrote would have to come over from its core. It plays
    as soon as it sees that all shares are legal; if that takes long, for a thread may not even have begun, its share
    is played after the others. A second parallel loop in place of this would be one more start of all threads.
    """
    (
        table, rows, obs, mask, player, returns, rewards, done, final_obs, final_rows, _, any_deal, params, _,
    ) = unbundle_buffers(buffers)  # fmt: skip
    games = rows.shape[0]
    checked[0] = 0
    for k in prange(chunks):
        c = np.int64(k)  # prange counts in uint64
        lo, hi = games * c // chunks, games * (c + 1) // chunks
        wrong[c] = _first_illegal(lo, hi, mark, where, actions, mask)
        # A share with an illegal action makes the sum greater than all shares can without.
        total = atomic_add(checked, 0, 1 if wrong[c] < 0 else chunks + 1)
        waits = _WAITS
        while total < chunks and waits > 0:
            total = atomic_add(checked, 0, 0)
            waits -= 1
        if total == chunks:
            _step_range(
                lo, hi, where, actions, same_step,
                table, rows, obs, mask, player, returns, rewards, done, final_obs, final_rows, any_deal, params,
            )  # fmt: skip
            wrong[c] = _PLAYED
    for share in range(chunks):
        if wrong[share] >= 0:
            return int(wrong[share])
    for share in range(chunks):
        if wrong[share] != _PLAYED:
            _step_range(
                games * share // chunks, games * (share + 1) // chunks, where, actions, same_step,
                table, rows, obs, mask, player, returns, rewards, done, final_obs, final_rows, any_deal, params,
            )  # fmt: skip
    return -1


@kernel(parallel=True)
def _random_parallel(chunks: int, buffers: Any, steps: int, show: bool, same_step: bool) -> int:
    """`_random_range` over equal shares of the games, one a thread."""
    (
        table, rows, obs, mask, player, returns, rewards, done, final_obs, final_rows, choices, any_deal, params, _,
    ) = unbundle_buffers(buffers)  # fmt: skip
    games = rows.shape[0]
    total = 0
    for k in prange(chunks):
        c = np.int64(k)
        total += _random_range(
            games * c // chunks, games * (c + 1) // chunks, steps, show, same_step,
            table, rows, obs, mask, player, returns, rewards, done, final_obs, final_rows, choices, any_deal, params,
        )  # fmt: skip
    return total


# --- Called by `VecEnv` ------------------------------------------------------------------------------------

# Scratch of the parallel loop that holds the lock.
_wrong, _checked = np.empty(max_threads(), np.int64), np.empty(1, np.int64)


def bind_buffers(
    table: Any, rows: Any, obs: Any, mask: Any, player: Any, returns: Any, rewards: Any, done: Any,
    final_obs: Any, final_rows: Any, choices: Any, any_deal: Any, params: Any, everywhere: Any,
) -> Any:  # fmt: skip
    """The arrays that a batch is kept in, as one argument of `step_batch` and `random_batch`; see `VecEnv`.

    Bound once, so that a call doesn't pass them all. It is good as long as the arrays are.
    """
    return bundle(
        table, rows, obs, mask, player, returns, rewards, done, final_obs, final_rows, choices, any_deal, params,
        everywhere,
    )  # fmt: skip


def step_batch(threads: int, buffers: Any, where: Any, actions: Any, mark: bool, same_step: bool) -> int:
    """Plays one action in each game of `where`, on one thread or several, once all of them were found to be legal.

    Returns the first game whose action is illegal (then none has moved), or -1. `mark`: an illegal action ends
    its game instead, and becomes -1 in the array of actions.
    """
    if is_serial(threads):
        return _step_serial(buffers, where, actions, mark, same_step)
    return in_parallel(threads, _step_parallel, buffers, where, actions, mark, same_step, _wrong, _checked)


def random_batch(threads: int, buffers: Any, steps: int, show: bool, same_step: bool) -> int:
    """Plays random actions in each game, on one thread or several; returns how many in all."""
    if is_serial(threads):
        return int(_random_serial(buffers, steps, show, same_step))
    return in_parallel(threads, _random_parallel, buffers, steps, show, same_step)
