"""The kernels that solve a position: depth first, alpha-beta, with a table of transpositions.

A value is a whole number: `OUTCOME_WEIGHT` times the outcome reward of seat 0, plus seat 0's points less seat 1's; in
games with a common result the points alone. So the outcome comes first and the points decide between equal outcomes.
It is times `orders` of its position (see endings.py), so that expectations are whole numbers too: the value of an
action with chance is the sum of weight times value over its outcomes. Every value is of seat 0, who wants it great;
seat 1 wants it small, or, with a common result, great as well.
"""

from __future__ import annotations

from typing import Any

from numba.core.types import Array, float64, int64

from iszoo.baselines import scripted
from iszoo.baselines.solver.endings import call_chances, call_fix, call_key, call_orders
from iszoo.envs import signatures
from iszoo.envs.engine import call_scores, call_step, to_move, write_mask, write_returns
from iszoo.envs.game import SCORES, STEP
from iszoo.envs.native import gather64, kernel, trailing_zeros, unbundler
from iszoo.envs.primitives import mix

OUTCOME_WEIGHT = 1 << 34
"""More than twice the greatest lead (192 points, in Isis & Osiris) times 11! orders."""

INFINITE = 1 << 62  # above all values

KEY, CHANCES, FIX, ORDERS = range(4)

# Columns of the table of transpositions; a key follows.
VALUE, BOUND, BEST, EFFORT, KEY_AT = range(5)
# In BOUND: 4 * the number of the solve + one of these.
EXACT, AT_LEAST, AT_MOST = 1, 2, 3

# What `settings` holds.
NODES, LIMIT, SOLVE, COMMON, TABLE_MASK, ORDERED = range(6)
NUM_SETTINGS = 6

unbundle = unbundler(
    Array(int64, 1, "C"), Array(int64, 1, "C"), Array(int64, 1, "C"),  # table, ending, prior
    signatures.ROWS, signatures.BYTES, Array(int64, 2, "C"), Array(float64, 2, "C"),  # rows, masks, lists, wishes
    Array(int64, 2, "C"), Array(int64, 2, "C"),  # keys, entries
    Array(float64, 2, "C"), Array(int64, 2, "C"),  # returns, points
    Array(int64, 1, "C"), signatures.PARAMS,  # settings, params
)  # fmt: skip
"""rows, masks, lists, keys: a row for each ply from the root on; entries: the table of transpositions."""


@kernel
def advance(table: Any, ending: Any, rows: Any, d: int, action: int, outcome: int, params: Any) -> int:
    """Makes rows[d + 1] what rows[d] becomes by an action and an outcome of chance; returns the outcome's weight."""
    for k in range(rows.shape[1]):
        rows[d + 1, k] = rows[d, k]
    weight = call_fix(ending[FIX], rows, d + 1, action, outcome, params)
    if weight > 0:
        call_step(table[STEP], rows, d + 1, action, params)
    return weight  # type: ignore[no-any-return]


@kernel
def _list_legal(masks: Any, d: int, lists: Any) -> None:
    """Writes the legal actions of ply d, ascending, 64 bytes of the mask at a time."""
    size = masks.shape[1]
    listed = 0
    a = 0
    while a + 64 <= size:
        word = gather64(masks, d, a)
        while word:
            lists[d, listed] = a + trailing_zeros(word)
            listed += 1
            word &= word - 1
        a += 64
    while a < size:
        if masks[d, a]:
            lists[d, listed] = a
            listed += 1
        a += 1


@kernel
def _find(entries: Any, keys: Any, d: int, table_mask: int, solve: int) -> int:
    """The entry of keys[d], which is compared as a whole; -1 if there is none. Its place is in keys[d, -1]."""
    size = keys.shape[1] - 1
    hashed = 0
    for k in range(size):
        hashed = mix(hashed ^ keys[d, k])
    place = hashed & table_mask
    keys[d, size] = place
    for entry in (place, place ^ 1):
        if entries[entry, BOUND] >> 2 == solve:
            same = True
            for k in range(size):
                same &= entries[entry, KEY_AT + k] == keys[d, k]
            if same:
                return entry
    return -1


@kernel
def _store(entries: Any, keys: Any, d: int, solve: int, value: int, bound: int, best: int, effort: int) -> None:
    """Keeps what was found of keys[d]: in place of what was known of it, or of the older or cheaper of two entries."""
    size = keys.shape[1] - 1
    place = keys[d, size]
    entry = place
    lowest = INFINITE
    for other in (place, place ^ 1):
        worth = entries[other, EFFORT]
        same = entries[other, BOUND] >> 2 == solve
        if not same:
            worth = -1
        else:
            for k in range(size):
                same &= entries[other, KEY_AT + k] == keys[d, k]
            if same:
                worth = -2
        if worth < lowest:
            lowest = worth
            entry = other
    entries[entry, VALUE] = value
    entries[entry, BOUND] = solve << 2 | bound
    entries[entry, BEST] = best
    entries[entry, EFFORT] = effort
    for k in range(size):
        entries[entry, KEY_AT + k] = keys[d, k]


@kernel
def _next_action(lists: Any, wishes: Any, d: int, at: int, count: int, first: int, ordered: bool) -> int:
    """Brings the action to try next to place `at` of the list of ply d: `first`, then the most wished for."""
    chosen = at
    if at == 0 and first >= 0:
        for k in range(count):
            if lists[d, k] == first:
                chosen = k
    elif ordered:
        for k in range(at + 1, count):
            if wishes[d, lists[d, k]] > wishes[d, lists[d, chosen]]:
                chosen = k
    action = lists[d, chosen]
    lists[d, chosen] = lists[d, at]
    lists[d, at] = action
    return action  # type: ignore[no-any-return]


@kernel
def value_of(work: Any, d: int, low: int, high: int) -> int:
    """The value of the position rows[d] where it lies between low and high; where not, a bound.

    A result of at most `low` says that the value is not above that result, one of at least `high` that it is not
    below. When settings[NODES] has gone beyond settings[LIMIT], it is nothing at all.
    """
    (
        table, ending, prior, rows, masks, lists, wishes, keys, entries, returns, points, settings, params,
    ) = unbundle(work)  # fmt: skip
    settings[NODES] += 1
    if settings[NODES] > settings[LIMIT]:
        return 0
    began = settings[NODES]
    player = to_move(table, rows, d, params)
    if player < 0:
        call_scores(table[SCORES], rows, d, points, params)
        total = points[d, 0]
        if settings[COMMON] == 0:
            write_returns(table, rows, d, returns, params)
            total += int(returns[d, 0]) * OUTCOME_WEIGHT - points[d, 1]
        return total * call_orders(ending[ORDERS], rows, d, params)  # type: ignore[no-any-return]

    first = -1
    if settings[TABLE_MASK] > 0:
        call_key(ending[KEY], rows, d, keys, d, params)
        entry = _find(entries, keys, d, settings[TABLE_MASK], settings[SOLVE])
        if entry >= 0:
            known, bound = entries[entry, VALUE], entries[entry, BOUND] & 3
            if bound == EXACT or (bound == AT_LEAST and known >= high) or (bound == AT_MOST and known <= low):
                return known  # type: ignore[no-any-return]
            first = entries[entry, BEST]

    count = write_mask(table, rows, d, masks, params)
    _list_legal(masks, d, lists)
    # To order the last actions of a game takes longer than to play them.
    ordered = settings[ORDERED] != 0 and count > 1
    if ordered:
        advance(table, ending, rows, d, lists[d, 0], 0, params)
        ordered = to_move(table, rows, d + 1, params) >= 0
    if ordered:
        scripted.call_prefer(prior[0], rows, d, masks, wishes, params)

    greater = player == 0 or settings[COMMON] != 0
    best = -INFINITE if greater else INFINITE
    best_action = -1
    from_low, to_high = low, high
    for k in range(count):
        action = _next_action(lists, wishes, d, k, count, first, ordered)
        outcomes = call_chances(ending[CHANCES], rows, d, action, params)
        value = 0
        for outcome in range(outcomes):
            weight = advance(table, ending, rows, d, action, outcome, params)
            if weight > 0:
                # A window for the sum says nothing about one of its terms.
                alone = outcomes == 1
                value += weight * value_of(
                    work, d + 1, from_low if alone else -INFINITE, to_high if alone else INFINITE
                )
        if settings[NODES] > settings[LIMIT]:
            return 0
        if greater and value > best:
            best = value
            best_action = action
            from_low = max(from_low, value)
        elif not greater and value < best:
            best = value
            best_action = action
            to_high = min(to_high, value)
        if from_low >= to_high:
            break
    if settings[TABLE_MASK] > 0:
        bound = AT_LEAST if best >= high else AT_MOST if best <= low else EXACT
        effort = settings[NODES] - began
        _store(entries, keys, d, settings[SOLVE], best, bound, best_action, effort)
    return best


@kernel
def orders_of(ending: Any, rows: Any, d: int, params: Any) -> int:
    """See `orders` in endings.py."""
    return call_orders(ending[ORDERS], rows, d, params)  # type: ignore[no-any-return]


@kernel
def chances_of(ending: Any, rows: Any, d: int, action: int, params: Any) -> int:
    """See `chances` in endings.py."""
    return call_chances(ending[CHANCES], rows, d, action, params)  # type: ignore[no-any-return]
