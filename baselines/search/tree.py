"""The tree of a search and the kernels that grow it; `search.py` says what it is and gives it a face."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.baselines import scripted
from iszoo.envs.engine import (
    call_observe,
    call_resample,
    call_step,
    nth_legal,
    to_move,
    write_mask,
    write_returns,
)
from iszoo.envs.game import OBSERVE, RESAMPLE, STEP
from iszoo.envs.native import kernel
from iszoo.envs.primitives import NUM_PLAYERS, draw, mix

MAX_PLAYERS = 4

NODE = np.dtype(
    [
        ("value", "<f4", (MAX_PLAYERS,)),  # by seat: the sum over visits
        ("visits", "<i4"),
        ("child", "<i4"),  # the newest child, or 0: node 0 is the root and nobody's child
        ("sibling", "<i4"),  # the next older child of the same parent, or 0
        ("action", "<i2"),  # that leads here from the parent; below 0: what is seen after the parent's action
        ("rank", "<i2"),  # among the children of the same parent: the first made is 0
    ]
)
"""A node: 32 bytes, two to a line of the cache. Walking down the tree waits for memory above all."""

_HUGE = 1e30


@kernel
def _add_child(tree: Any, used: int, parent: int, action: int) -> None:
    """Makes node `used` the newest child of its parent."""
    elder = tree["child"][parent]
    tree["visits"][used] = 0
    tree["child"][used] = 0
    tree["sibling"][used] = elder
    tree["action"][used] = action
    tree["rank"][used] = tree["rank"][elder] + 1 if elder != 0 else 0
    for p in range(MAX_PLAYERS):
        tree["value"][used, p] = 0.0
    tree["child"][parent] = used


@kernel
def child_of(tree: Any, node: int, action: int) -> int:
    """The child that an action, or what is seen, leads to; 0 if there is none."""
    child = tree["child"][node]
    while child != 0 and tree["action"][child] != action:
        child = tree["sibling"][child]
    return child  # type: ignore[no-any-return]


def scratch_for_views(size: int) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int64]]:
    """What `seen_after` writes a flat observation of a size into, and the same memory as whole words."""
    words = np.zeros((1, -(-size // 8)), np.int64)
    return words.view(np.int8)[:, :size], words


@kernel
def seen_after(table: Any, rows: Any, mover: int, seen: Any, words: Any, params: Any) -> int:
    """A number below 0 for what the player to move sees in row 0: how nodes for what chance has shown are told apart.

    Two views share one of the 32,767 numbers so seldom that it costs nothing but a node for both of them.
    seen: int8 (1, D), a view of words, int64 (1, W): scratch, zero beyond D.
    """
    call_observe(table[OBSERVE], rows, 0, mover, seen, params)
    hashed = 0
    for k in range(words.shape[1]):
        hashed = mix(hashed ^ words[0, k])
    return -1 - (hashed & 0x7FFFFFFF) % 0x7FFF


@kernel
def _untried(
    tree: Any, node: int, prior: Any, ordered: bool, rows: Any, mask: Any, left: int, values: Any,
    states: Any, params: Any,
) -> int:  # fmt: skip
    """A legal action without a child yet: the first in the prior's order, or at random; `left` of them exist.

    With a prior, its values are asked for at the whole mask: a preference may look at what else is legal.
    """
    if ordered:
        scripted.call_prefer(prior[0], rows, 0, mask, values, params)
    child = tree["child"][node]
    while child != 0:
        mask[0, tree["action"][child]] = 0
        child = tree["sibling"][child]
    if not ordered:
        return nth_legal(mask, 0, draw(states, 0, 0, left))
    return scripted.most_valued(mask, values, 0, states)


@kernel
def _roll_out(
    table: Any, policy: Any, guided: bool, epsilon: float, rows: Any, mask: Any, values: Any, states: Any, params: Any
) -> None:
    """Plays row 0 to its end."""
    one_in = int(epsilon * (1 << 20))
    count = write_mask(table, rows, 0, mask, params)
    while count > 0:
        if guided and (one_in == 0 or draw(states, 0, 0, 1 << 20) >= one_in):
            scripted.call_prefer(policy[0], rows, 0, mask, values, params)
            action = scripted.most_valued(mask, values, 0, states)
        else:
            action = nth_legal(mask, 0, draw(states, 0, 0, count))
        call_step(table[STEP], rows, 0, action, params)
        count = write_mask(table, rows, 0, mask, params)


@kernel
def write_worth(
    table: Any, rows: Any, i: int, values: Any, margins: Any, margin: float, params: Any, margin_params: Any
) -> None:
    """What a game that is over gave each seat, in part by the margin: values[i], float64 (., P). margins: scratch."""
    write_returns(table, rows, i, values, params)
    if margin > 0.0:
        write_returns(table, rows, i, margins, margin_params)
        for p in range(values.shape[1]):
            values[i, p] = (1.0 - margin) * values[i, p] + margin * margins[i, p]


@kernel
def simulate(
    simulations: int, table: Any, root: Any, player: int, tree: Any, used: int, prior: Any, ordered: bool,
    policy: Any, guided: bool, knobs: Any, likely: Any, rows: Any, mask: Any, values: Any, path: Any, returns: Any,
    seen: Any, words: Any, states: Any, params: Any, margin_params: Any,
) -> int:  # fmt: skip
    """Adds simulations to a tree of which `used` nodes are in use; returns how many are then.

    root: int64 (1, S), never changed. player: the seat that searches. knobs: floats, as unpacked below.
    likely: float32, the probability that the prior gives to the action of each rank. rows, mask, values, path,
    returns, seen, words: scratch. states: the generator.
    """
    exploration, first, widening, epsilon, margin, chance = knobs
    visits, values_of, children = tree["visits"], tree["value"], tree["child"]
    siblings, actions, ranks = tree["sibling"], tree["action"], tree["rank"]
    players = params[NUM_PLAYERS]
    one = np.float32(1.0)
    for _ in range(simulations):
        for k in range(root.shape[1]):
            rows[0, k] = root[0, k]
        call_resample(table[RESAMPLE], rows, 0, player, draw(states, 0, 0, 1 << 31), params)
        node = 0
        length = 1
        path[0] = 0
        mover = to_move(table, rows, 0, params)
        while mover >= 0 and length < path.shape[0] - 1:
            count = write_mask(table, rows, 0, mask, params)
            # The child of the greatest upper bound among those that are legal here.
            times = np.float32(visits[node])
            wide = np.float32(exploration) * np.sqrt(times if ordered else np.log(times + one))
            best = 0
            best_bound = np.float32(-_HUGE)
            tried = 0
            child = children[node]
            while child != 0:
                if mask[0, actions[child]] != 0:
                    tried += 1
                    each = one / np.float32(visits[child])
                    bound = values_of[child, mover] * each
                    if ordered:
                        bound += wide * likely[ranks[child]] / np.float32(visits[child] + 1)
                    else:
                        bound += wide * np.sqrt(each)
                    if bound > best_bound:
                        best = child
                        best_bound = bound
                child = siblings[child]
            if used < tree.shape[0] and tried < count and tried < first + widening * np.sqrt(times):
                action = _untried(tree, node, prior, ordered, rows, mask, count - tried, values, states, params)
                _add_child(tree, used, node, action)
                call_step(table[STEP], rows, 0, action, params)
                path[length] = used
                length += 1
                used += 1
                break
            if best == 0:  # the tree is full
                break
            call_step(table[STEP], rows, 0, int(actions[best]), params)
            node = best
            path[length] = best
            length += 1
            mover = to_move(table, rows, 0, params)
            if chance > 0.0 and mover >= 0:
                label = seen_after(table, rows, mover, seen, words, params)
                child = child_of(tree, node, label)
                if child == 0:
                    if used == tree.shape[0]:
                        break
                    _add_child(tree, used, node, label)
                    child = used
                    used += 1
                node = child
                path[length] = child
                length += 1
        _roll_out(table, policy, guided, epsilon, rows, mask, values, states, params)
        write_worth(table, rows, 0, returns, returns[1:], margin, params, margin_params)
        for k in range(length):
            visits[path[k]] += 1
            for p in range(players):
                values_of[path[k], p] += returns[0, p]
    return used


@kernel
def mover(table: Any, rows: Any, params: Any) -> int:
    """The player to move in row 0; -1 when the game is over."""
    return to_move(table, rows, 0, params)


@kernel
def keep_below(tree: Any, kept: int, into: Any) -> int:
    """Copies a node and all below it into another tree, as its root; returns how many nodes these are.

    A copied node has its place there in breadth-first order, so that the copy itself is the queue: `child` of a
    node that was not yet expanded still points into the old tree.
    """
    into[0] = tree[kept]
    into["sibling"][0] = 0
    used = 1
    node = 0
    while node < used:
        old = into["child"][node]
        into["child"][node] = 0
        last = 0
        while old != 0:
            into[used] = tree[old]
            into["sibling"][used] = 0
            if last == 0:
                into["child"][node] = used
            else:
                into["sibling"][last] = used
            last = used
            used += 1
            old = tree["sibling"][old]
        node += 1
    return used
