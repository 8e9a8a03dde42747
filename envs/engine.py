"""The batched loops over a game's kernels, written once for all games.

Each driver takes the table of kernel addresses, so that one compiled driver, kept in numba's disk cache,
serves every game. The loops come in a serial and a parallel form around the same body: threads=1 never
enters a parallel driver. Buffers belong to the caller; nothing is allocated here but scratch.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import numba
import numpy as np
from numba import prange
from numba.core.types import Array, boolean, float32, float64, int8, int64

from iszoo.envs import signatures
from iszoo.envs.game import INIT, LEGAL, OBSERVE, RESAMPLE, RETURNS, SCORES, STATUS, STEP
from iszoo.envs.native import (
    JIT,
    atomic_add,
    bundle,
    caller,
    gather64,
    kernel,
    load8,
    popcount,
    trailing_zeros,
    unbundler,
)
from iszoo.envs.primitives import NUM_PLAYERS, OFFENDER, draw

call_init = caller(signatures.INIT)
call_legal = caller(signatures.LEGAL)
call_step = caller(signatures.STEP)
call_observe = caller(signatures.OBSERVE)
call_scores = caller(signatures.SCORES)
call_returns = caller(signatures.RETURNS)
call_status = caller(signatures.STATUS)
call_resample = caller(signatures.RESAMPLE)

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


# --- Many games: the bodies of the loops -------------------------------------------------------------------


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


# --- Many games: the loops over games lo to hi - 1 ---------------------------------------------------------


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
    `_random_range`: as a function of its own, called or inlined by numba, it made a step half as fast again.
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


# --- Many games: the other loops ---------------------------------------------------------------------------


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


# --- Threads -----------------------------------------------------------------------------------------------

_parallel_lock = threading.Lock()
_forked = False


def _after_fork() -> None:
    """A forked child whose parent ran a parallel loop dies in one of its own: it goes on serially."""
    global _forked, _parallel_lock
    _forked = True
    _parallel_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def is_serial(threads: int) -> bool:
    """Whether a batch of so many threads is to be played by a serial loop."""
    return threads == 1 or _forked


GAMES_A_THREAD = 128
"""Fewer games are not worth a thread in `step`: 64 of Isis & Osiris took 1.5 times as long on two threads as on one,
256 of them 0.9 times, 256 of Isaac 0.7 times."""


def step_threads(threads: int, games: int) -> int:
    """How many threads a step in so many games is worth, of those that it may have."""
    return max(1, min(threads, games // GAMES_A_THREAD))


def max_threads() -> int:
    """The most threads that numba can use in this process (its NUMBA_NUM_THREADS, by default the cores)."""
    config: Any = numba.config  # pyright: ignore[reportPrivateImportUsage]
    return int(config.NUMBA_NUM_THREADS)


# Scratch of the parallel loop that holds the lock.
_MOST_THREADS = max_threads()
_wrong, _checked = np.empty(_MOST_THREADS, np.int64), np.empty(1, np.int64)


def in_parallel(threads: int, driver: Any, *arguments: Any) -> int:
    """Calls a parallel driver with numba's thread count at `threads`; two at once would abort the process."""
    with _parallel_lock:
        if threads == _MOST_THREADS:  # no need of numba's count, which takes 1 us to read
            return driver(threads, *arguments)  # type: ignore[no-any-return]
        before = numba.get_num_threads()
        numba.set_num_threads(threads)
        try:
            return driver(threads, *arguments)  # type: ignore[no-any-return]
        finally:
            numba.set_num_threads(before)


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
