"""The trees of a search with a network, one a game, and the kernels that grow them side by side.

A simulation of all games is three calls: `select` walks down every tree and writes what is seen at its leaf, the
network looks at all leaves at once, and `expand` writes what it said into the trees. `network_search.py` makes them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from iszoo.baselines.search.tree import NODE, _add_child, _roll_out, child_of, seen_after, write_worth
from iszoo.envs.engine import (
    call_init,
    call_observe,
    call_resample,
    call_step,
    nth_legal,
    to_move,
    write_mask,
    write_returns,
)
from iszoo.envs.game import INIT, OBSERVE, RESAMPLE, STEP
from iszoo.envs.native import kernel
from iszoo.envs.primitives import draw

NETWORK_NODE = np.dtype([(name, NODE[name]) for name in NODE.names or ()] + [("prior", np.dtype("<f4"))])
"""A node of `tree.py` and the probability that the network gave the action that leads to it."""

_HUGE = 1e30


@kernel
def _best_child(tree: Any, node: int, mover: int, mask: Any, g: int, exploration: float, urgency: float) -> Any:
    """The legal child of the greatest bound (0: none is legal), and how many children are legal.

    PUCT (Silver et al. 2017), in the units of the values. A child that was never visited is thought to be as good as
    its parent, less `urgency` times the root of the probability of those that were.
    """
    visits, values_of, priors, actions = tree["visits"], tree["value"], tree["prior"], tree["action"]
    seen = np.float32(0.0)
    child = tree["child"][node]
    while child != 0:
        if visits[child] > 0:
            seen += priors[child]
        child = tree["sibling"][child]
    parent = values_of[node, mover] / np.float32(max(1, visits[node]))
    unvisited = parent - np.float32(urgency) * np.sqrt(seen)
    wide = np.float32(exploration) * np.sqrt(np.float32(visits[node]))
    best = 0
    legal = 0
    best_bound = np.float32(-_HUGE)
    child = tree["child"][node]
    while child != 0:
        if mask[g, actions[child]] != 0:
            legal += 1
            count = np.float32(visits[child])
            bound = values_of[child, mover] / count if visits[child] > 0 else unvisited
            bound += wide * priors[child] / (count + np.float32(1.0))
            if bound > best_bound:
                best = child
                best_bound = bound
        child = tree["sibling"][child]
    return best, legal


@kernel
def deviation(sums: Any, g: int) -> float:
    """How far apart the results of a tree's simulations are: their standard deviation, and a little more than 0."""
    count = max(1.0, sums[g, 0])
    return np.sqrt(max(0.0, sums[g, 2] - sums[g, 1] ** 2 / count) / count) + 1e-3  # type: ignore[no-any-return]


@kernel
def select(
    table: Any, games: int, roots: Any, seats: Any, tree: Any, used: Any, capacity: int, width: int, knobs: Any,
    rows: Any, obs: Any, mask: Any, path: Any, lengths: Any, movers: Any, values: Any, sums: Any, margins: Any,
    seen: Any, words: Any, states: Any, params: Any, margin_params: Any,
) -> None:  # fmt: skip
    """Walks down the tree of each game from its root, with what the searching seat can't know drawn anew.

    tree: node g * capacity is the root of game g. roots: int64 (N, S). seats: who searches. knobs: floats, as unpacked
    below. Written, for each game: the position, observation and mask at the leaf, the nodes on the way (path, lengths),
    the player to move there (movers; -1: the game is over), and what a game that is over gave each seat (values).
    Nodes for what chance shows are made on the way. used: int64 (N,), the first node of each game that is not in use.
    sums: float64 (N, 3), of each tree's simulations: how many, the sum of their results for the searching seat, and of
    the squares. margins, seen, words: scratch. states: the generators.
    """
    exploration, urgency, margin, chance = knobs
    for g in range(games):
        scale = deviation(sums, g)
        for k in range(roots.shape[1]):
            rows[g, k] = roots[g, k]
        call_resample(table[RESAMPLE], rows, g, seats[g], draw(states, g, 0, 1 << 31), params)
        node = g * capacity
        length = 1
        path[g, 0] = node
        mover = to_move(table, rows, g, params)
        while mover >= 0:
            count = write_mask(table, rows, g, mask, params)
            if tree["child"][node] == 0 or length + 1 >= path.shape[1]:
                break
            best, legal = _best_child(tree, node, mover, mask, g, scale * exploration, scale * urgency)
            # What was drawn can make other actions legal than at the first visit: when less than half of those
            # that a node of this position would have are there, it is a leaf once more.
            if best == 0 or (2 * legal < min(count, width) and length > 1):
                break
            call_step(table[STEP], rows, g, int(tree["action"][best]), params)
            node = best
            path[g, length] = node
            length += 1
            mover = to_move(table, rows, g, params)
            if chance > 0.0 and mover >= 0:
                label = seen_after(table, rows[g : g + 1], mover, seen, words, params)
                child = child_of(tree, node, label)
                if child == 0:
                    if used[g] == (g + 1) * capacity:
                        break
                    _add_child(tree, used[g], node, label)
                    child = used[g]
                    used[g] += 1
                node = child
                path[g, length] = node
                length += 1
        lengths[g] = length
        movers[g] = mover
        if mover >= 0:
            call_observe(table[OBSERVE], rows, g, mover, obs, params)
        else:
            write_worth(table, rows, g, values, margins, margin, params, margin_params)


@kernel
def roll_out(
    table: Any, leaves: Any, policy: Any, guided: bool, margin: float, rows: Any, ends: Any, mask: Any, values: Any,
    rolled: Any, margins: Any, states: Any, params: Any, margin_params: Any,
) -> None:  # fmt: skip
    """Plays on from the leaves of some games to the end; rolled, float64 (N, P): what that gave each seat.

    leaves: int64 (M,), those games. rows: int64 (N, S), never changed. ends, mask, values, margins: scratch, of one
    row. states: int64 (N, 1), the generators.
    """
    for k in range(leaves.shape[0]):
        g = leaves[k]
        for j in range(rows.shape[1]):
            ends[0, j] = rows[g, j]
        _roll_out(table, policy, guided, 0.0, ends, mask, values, states[g : g + 1], params)
        write_worth(table, ends, 0, rolled[g : g + 1], margins, margin, params, margin_params)


@kernel
def _add_children(
    tree: Any, used: int, most: int, node: int, logits: Any, k: int, mask: Any, g: int, width: int, kept: Any,
    kept_logits: Any, power: float,
) -> int:  # fmt: skip
    """Gives a node children for the most probable legal actions, up to `width` with those that it has.

    Their probability is the softmax of `power` times the logits, over all legal actions. mask[g] is used up. Returns
    how many nodes are in use.
    """
    greatest = np.float32(-_HUGE)
    for a in range(mask.shape[1]):
        if mask[g, a] != 0 and logits[k, a] > greatest:
            greatest = logits[k, a]
    total = np.float32(0.0)
    for a in range(mask.shape[1]):
        if mask[g, a] != 0:
            total += np.exp(np.float32(power) * (logits[k, a] - greatest))
    wanted = width
    child = tree["child"][node]
    while child != 0:
        if mask[g, tree["action"][child]] != 0:
            wanted -= 1
            mask[g, tree["action"][child]] = 0
        child = tree["sibling"][child]
    wanted = max(0, min(wanted, most - used))
    count = 0
    for a in range(mask.shape[1]):  # the best so far, in order
        if mask[g, a] == 0 or wanted == 0 or (count == wanted and logits[k, a] <= kept_logits[count - 1]):
            continue
        at = count if count < wanted else count - 1
        while at > 0 and kept_logits[at - 1] < logits[k, a]:
            kept[at] = kept[at - 1]
            kept_logits[at] = kept_logits[at - 1]
            at -= 1
        kept[at] = a
        kept_logits[at] = logits[k, a]
        count = min(count + 1, wanted)
    for at in range(count - 1, -1, -1):  # the best last: the newest child is the first of the list
        _add_child(tree, used, node, kept[at])
        tree["prior"][used] = np.exp(np.float32(power) * (kept_logits[at] - greatest)) / total
        used += 1
    return used


@kernel
def expand(
    games: int, leaves: Any, logits: Any, told: Any, rolled: Any, share: float, common: bool, count_visit: bool,
    tree: Any, used: Any, capacity: int, width: int, mask: Any, path: Any, lengths: Any, movers: Any, values: Any,
    sums: Any, seats: Any, power: float, kept: Any, kept_logits: Any,
) -> None:  # fmt: skip
    """Writes what the network said about the leaves of some games, and backs up what each game came to.

    leaves: int64 (M,), the games whose leaf the network saw; logits: float32 (M, A); told: float32 (M, 1), the value
    for the player to move, or (M, P), the value for each seat from that player on. With one value, the other seats
    share what the mover loses; or, `common`, have the same. rolled: float64 (N, P), what rollouts gave, and the share
    that they have in the value of a leaf. count_visit: False for the first look at the root. sums: see `select`.
    """
    players = values.shape[1]
    for k in range(leaves.shape[0]):
        g = leaves[k]
        mover = movers[g]
        for j in range(players):
            value = min(1.0, max(-1.0, told[k, j if told.shape[1] > 1 else 0]))
            if told.shape[1] == 1 and j > 0 and not common:
                value = -value / (players - 1)
            seat = (mover + j) % players
            values[g, seat] = (1.0 - share) * value + share * rolled[g, seat]
        if used[g] < (g + 1) * capacity:  # in a full tree the leaf may be an action, whose children are what is seen
            used[g] = _add_children(
                tree, used[g], (g + 1) * capacity, path[g, lengths[g] - 1], logits, k, mask, g, width, kept,
                kept_logits, power,
            )  # fmt: skip
    if not count_visit:
        return
    for g in range(games):
        mine = values[g, seats[g]]
        sums[g, 0] += 1.0
        sums[g, 1] += mine
        sums[g, 2] += mine * mine
        for k in range(lengths[g]):
            node = path[g, k]
            tree["visits"][node] += 1
            for p in range(players):
                tree["value"][node, p] += values[g, p]


@kernel
def mix_in(tree: Any, capacity: int, games: int, noise: Any, share: float) -> None:
    """Mixes noise, float32 (N, K), of which row g sums to 1 over the children of root g, into their probabilities."""
    for g in range(games):
        child = tree["child"][g * capacity]
        k = 0
        while child != 0:
            tree["prior"][child] = (1.0 - share) * tree["prior"][child] + share * noise[g, k]
            k += 1
            child = tree["sibling"][child]


@kernel
def read_roots(tree: Any, capacity: int, games: int, actions: Any, visits: Any, priors: Any, values: Any) -> None:
    """The children of each root, the most probable first.

    actions: -1 for no child; visits, priors: (N, K). values: (N, K, P), the mean of each seat; nan where never visited.
    """
    for g in range(games):
        child = tree["child"][g * capacity]
        for k in range(actions.shape[1]):
            actions[g, k] = -1
            visits[g, k] = 0
            priors[g, k] = 0.0
            for p in range(values.shape[2]):
                values[g, k, p] = np.nan
            if child != 0:
                actions[g, k] = tree["action"][child]
                visits[g, k] = tree["visits"][child]
                priors[g, k] = tree["prior"][child]
                if visits[g, k] > 0:
                    for p in range(values.shape[2]):
                        values[g, k, p] = tree["value"][child, p] / visits[g, k]
                child = tree["sibling"][child]


@kernel
def adds_up(
    table: Any, games: int, rows: Any, mask: Any, values: Any, states: Any, any_deal: Any, params: Any
) -> float:
    """The greatest sum over the seats, up or down, of what random games gave them: 0 where they are opponents."""
    greatest = 0.0
    for game in range(games):
        call_init(table[INIT], rows, 0, game, any_deal, params)
        count = write_mask(table, rows, 0, mask, params)
        while count > 0:
            call_step(table[STEP], rows, 0, nth_legal(mask, 0, draw(states, 0, 0, count)), params)
            count = write_mask(table, rows, 0, mask, params)
        write_returns(table, rows, 0, values, params)
        total = 0.0
        for p in range(values.shape[1]):
            total += values[0, p]
        greatest = max(greatest, abs(total))
    return greatest
