"""What scripted players of ISO want: from a survey of what each wall does in each free cell (iso_survey.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from iszoo.baselines.scripted.iso_survey import MOST_CELLS, PLACES, SHOWS, WALLS, list_free, objective_at, survey
from iszoo.envs.iso import (
    AREA_CONTROL,
    AREAS,
    CELLS,
    DISPLAY,
    FACE_WALLS,
    FACES,
    GROUP,
    LOOKS,
    MODE,
    ON_DISPLAY_ALL_GAME,
    PLACED,
    PLAYER,
    ROW_SIZE,
    SHOWN,
    SIDE,
    SLOT_FACE,
    SLOT_NUMBER,
    SLOTS,
    STARS,
    TILES,
    TURNED,
    group_controller,
    group_of,
    place_tile,
)
from iszoo.envs.iso_tiles import MOST_TILES, MOST_WALLS, NUM_TILES
from iszoo.envs.native import kernel, popcount, trailing_zeros
from iszoo.envs.primitives import NUM_PLAYERS

FACE_CODES = FACE_WALLS.shape[0]

# The tie-breaks: more objectives, then the highest number. All objectives together are less than a star.
OBJECTIVE = 0.01
NUMBER = 0.0001
# What a star of an objective on display counts when it is nearly complete: all of them are less than a star won.
# In mode area_control: what a tile counts by which a player's largest group is larger, per star.
ADVANCE = 0.05
# Expert, in solo and coop: what stars of the next turn count against stars now. Less than 1, or it would wait
# for ever: with 1 it wins 14 stars, not 19, in solo; 0.5 to 0.8 are alike.
TOGETHER = 0.7
# Expert: to how many actions, at most, it looks at the reply.
TRIED = 15

NOT_TRIED = 1000.0  # what the values of actions lack whose reply was not looked at: more than any value


@kernel
def _worth(objectives: int, params: Any) -> float:
    """The stars of a set of objectives, and a little for the tie-breaks."""
    worth = 0.0
    while objectives:
        n = trailing_zeros(objectives)
        objectives &= objectives - 1
        worth += params[STARS + n] + OBJECTIVE + NUMBER * n
    return worth


@kernel
def _face_of(rows: Any, i: int, action: int) -> int:
    """The block face that an action places."""
    return TURNED[action // CELLS % 3, rows[i, SLOT_FACE + action // (3 * CELLS)]]  # type: ignore[no-any-return]


@kernel
def _place_of(cells: Any, action: int) -> int:
    """Which of the free cells an action takes."""
    k = 0
    while cells[k] != action & 255:
        k += 1
    return k


@kernel
def _best_not_tried(rows: Any, i: int, values: Any, cells: Any, count: int) -> int:
    """The best action of those whose value still holds -NOT_TRIED; -1 when all were tried."""
    best = -1
    for slot in range(SLOTS):
        if rows[i, SLOT_NUMBER + slot]:
            for rotation in range(3):
                for k in range(count):
                    a = CELLS * (3 * slot + rotation) + cells[k]
                    if values[i, a] < -NOT_TRIED / 2 and (best < 0 or values[i, a] > values[i, best]):
                        best = a
    return best


@kernel
def _won(wins: Any, k: int, face: int) -> int:
    """The objectives that a block face would complete in cell k."""
    return wins[k, SHOWS[face, 0]] | wins[k, SHOWS[face, 1]] | wins[k, SHOWS[face, 2]]  # type: ignore[no-any-return]


@kernel
def _value_now(rows: Any, i: int, shares: Any, k: int, face: int, done: int, params: Any) -> float:
    """What a block face in cell k wins, and a little for how complete the other objectives on display become.

    For each of these its stars times the square of the best share that one of the three walls has.
    """
    total = 0.0
    for place in range(popcount(rows[i, DISPLAY])):
        n = objective_at(rows[i, DISPLAY], place)
        if (done >> n) & 1 == 0:
            share = 0.0
            for axis in range(3):
                share = max(share, shares[k, SHOWS[face, axis], place])
            total += params[STARS + n] * share * share
    return _worth(done, params) + ADVANCE * total


@kernel(allocates=True)
def greedy(rows: Any, i: int, mask: Any, values: Any, params: Any) -> None:
    """The stars won now; then how complete the other objectives on display become. See also `_lead`."""
    if params[MODE] == AREA_CONTROL:
        _value_areas(rows, i, values, params, 0)
        return
    cells, wins = np.empty(MOST_CELLS, np.int64), np.empty((MOST_CELLS, WALLS), np.int64)
    shares, around = np.empty((MOST_CELLS, WALLS, PLACES)), np.empty(7, np.int64)
    count = survey(rows, i, rows[i, PLAYER], MOST_WALLS, cells, wins, shares, around, params)
    for slot in range(SLOTS):
        if rows[i, SLOT_NUMBER + slot]:
            for rotation in range(3):
                for k in range(count):
                    a = CELLS * (3 * slot + rotation) + cells[k]
                    face = _face_of(rows, i, a)
                    values[i, a] = _value_now(rows, i, shares, k, face, _won(wins, k, face), params)


# --- Looking ahead -----------------------------------------------------------------------------------------


@kernel
def _count_unseen(rows: Any, i: int, unseen: Any, params: Any) -> int:
    """Writes how many tiles of each look lie under the top of the pile; returns how many in all."""
    for look in range(FACE_CODES):
        unseen[look] = 0
    for n in range(NUM_TILES):
        if (rows[i, SHOWN] >> n) & 1 == 0:
            unseen[LOOKS[params[FACES + 1 + n]]] += 1
    for t in range(rows[i, PLACED]):
        unseen[LOOKS[(rows[i, TILES + t] >> 8) & 63]] -= 1
    for slot in range(SLOTS):
        if rows[i, SLOT_NUMBER + slot]:
            unseen[LOOKS[rows[i, SLOT_FACE + slot]]] -= 1
    total = 0
    for look in range(FACE_CODES):
        total += unseen[look]
    return total


@kernel
def _best_with(face: int, count: int, wins: Any, gone: int, done: int, params: Any) -> float:
    """The most that the tile of a face can win, in any rotation, but in cell `gone` and without those `done`."""
    best = 0.0
    for rotation in range(3):
        turned = TURNED[rotation, face]
        for k in range(count):
            won = _won(wins, k, turned) & ~done
            if won and k != gone:
                best = max(best, _worth(won, params))
    return best


@kernel
def _best_left(rows: Any, i: int, played: int, count: int, wins: Any, gone: int, done: int, params: Any) -> float:
    """The most that the tiles which stay in the slots can win, see `_best_with`."""
    best = 0.0
    for slot in range(SLOTS):
        if slot != played and rows[i, SLOT_NUMBER + slot]:
            best = max(best, _best_with(rows[i, SLOT_FACE + slot], count, wins, gone, done, params))
    return best


@kernel
def _expected(rows: Any, i: int, played: int, count: int, wins: Any, unseen: Any, hidden: int, params: Any) -> float:
    """The most that can be won with the tiles that stay in the slots or the unknown one that comes to them."""
    best = _best_left(rows, i, played, count, wins, -1, 0, params)
    if hidden == 0:
        return best
    total = 0.0
    for look in range(FACE_CODES):
        if unseen[look]:
            total += unseen[look] * max(best, _best_with(look, count, wins, -1, 0, params))
    return total / hidden


@kernel
def _try(rows: Any, i: int, trial: Any, action: int, done: int) -> None:
    """Makes trial[0] the position after an action that wins objectives: the slots as they were, no new objectives."""
    for j in range(ROW_SIZE):
        trial[0, j] = rows[i, j]
    place_tile(trial, 0, action & 255, _face_of(rows, i, action))
    trial[0, DISPLAY] &= ~done


@kernel(allocates=True)
def expert(rows: Any, i: int, mask: Any, values: Any, params: Any) -> None:
    """What greedy wants, less what the next player can be expected to win then; in solo and coop that is added.

    With two opponents a star of the next one hurts half as much. Actions are first valued as if they did nothing
    for the next player but take a tile, a cell and the objectives won: a tile hardly ever undoes what can be won
    elsewhere, so that this is the most that an action can be worth. Then the replies are looked at, from the best
    action down, for as long as one can be better than the best so far.
    """
    if params[MODE] == AREA_CONTROL:
        _value_areas(rows, i, values, params, TRIED)
        return
    cells, wins = np.empty(MOST_CELLS, np.int64), np.empty((MOST_CELLS, WALLS), np.int64)
    later, wins_later = np.empty(MOST_CELLS, np.int64), np.empty((MOST_CELLS, WALLS), np.int64)
    shares, around = np.empty((MOST_CELLS, WALLS, PLACES)), np.empty(7, np.int64)
    unseen, trial = np.empty(FACE_CODES, np.int64), np.empty((1, ROW_SIZE), np.int64)
    me, players = rows[i, PLAYER], params[NUM_PLAYERS]
    following = (me + 1) % players
    together = params[MODE] == GROUP
    sign = TOGETHER if together else -1.0 / (players - 1)
    hidden = _count_unseen(rows, i, unseen, params)

    count = survey(rows, i, following, 1, cells, wins_later, shares, around, params)
    survey(rows, i, me, MOST_WALLS, cells, wins, shares, around, params)
    for slot in range(SLOTS):
        if rows[i, SLOT_NUMBER + slot]:
            for k in range(count):
                left = _best_left(rows, i, slot, count, wins_later, k, 0, params)
                for rotation in range(3):
                    a = CELLS * (3 * slot + rotation) + cells[k]
                    face = _face_of(rows, i, a)
                    done = _won(wins, k, face)
                    value = _value_now(rows, i, shares, k, face, done, params)
                    if done:
                        value += sign * _best_left(rows, i, slot, count, wins_later, k, done, params)
                    else:
                        value += sign * left
                    values[i, a] = value - NOT_TRIED

    best = -NOT_TRIED
    for _ in range(TRIED):
        a = _best_not_tried(rows, i, values, cells, count)
        if a < 0 or (not together and values[i, a] + NOT_TRIED <= best):
            return
        k, face = _place_of(cells, a), _face_of(rows, i, a)
        done = _won(wins, k, face)
        _try(rows, i, trial, a, done)
        count_later = survey(trial, 0, following, 1, later, wins_later, shares, around, params)
        reply = _expected(rows, i, a // (3 * CELLS), count_later, wins_later, unseen, hidden, params)
        values[i, a] = _value_now(rows, i, shares, k, face, done, params) + sign * reply
        best = max(best, values[i, a])


# --- Mode area_control -------------------------------------------------------------------------------------


@kernel
def _lead(rows: Any, i: int, me: int, largest: Any, params: Any) -> float:
    """The stars that a player would win less those of the others, were the game over, and a little for the sizes.

    For each area by how many tiles the player's largest group of such a colour, big enough or not, is larger than
    the others', times its stars. largest (3, 3) is scratch: the size by controller and colour.
    """
    for p in range(3):
        for colour in range(3):
            largest[p, colour] = 0
    for t in range(rows[i, PLACED]):
        for axis in range(3):
            group = group_of(rows, i, axis, t)
            if group & ((1 << t) - 1) == 0:
                p = group_controller(rows, i, axis, group)
                if p >= 0:
                    colour = (SHOWS[(rows[i, TILES + t] >> 8) & 63, axis] - 9 * axis) // 3
                    largest[p, colour] = max(largest[p, colour], popcount(group))
    lead = 0.0
    for number in ON_DISPLAY_ALL_GAME:
        n = number - 1
        mine, best, accepted = 0, 0, 0
        for colour in range(3):
            if (params[AREAS + SIDE * colour + MOST_TILES] >> n) & 1:
                accepted = colour
                mine = max(mine, largest[me, colour])
                for p in range(params[NUM_PLAYERS]):
                    if p != me:
                        best = max(best, largest[p, colour])
        lead += ADVANCE * params[STARS + n] * (mine - best)
        if mine > best and (params[AREAS + SIDE * accepted + mine] >> n) & 1:
            lead += params[STARS + n] + OBJECTIVE
        elif best > mine and (params[AREAS + SIDE * accepted + best] >> n) & 1:
            lead -= params[STARS + n] + OBJECTIVE
    return lead


@kernel(allocates=True)
def _value_areas(rows: Any, i: int, values: Any, params: Any, tried: int) -> None:
    """The lead after an action; for the best `tried` actions what the next player's best reply leaves of it.

    A reply plays a tile that stays in the slots: the one that comes to them is unknown. An action is given up as
    soon as it is no better than the best so far.
    """
    cells, later = np.empty(MOST_CELLS, np.int64), np.empty(MOST_CELLS, np.int64)
    trial, after = np.empty((1, ROW_SIZE), np.int64), np.empty((1, ROW_SIZE), np.int64)
    largest = np.empty((3, 3), np.int64)
    me = rows[i, PLAYER]
    count = list_free(rows, i, cells)
    for slot in range(SLOTS):
        if rows[i, SLOT_NUMBER + slot]:
            for rotation in range(3):
                for k in range(count):
                    a = CELLS * (3 * slot + rotation) + cells[k]
                    _try(rows, i, trial, a, 0)
                    values[i, a] = _lead(trial, 0, me, largest, params)
                    if tried > 0:
                        values[i, a] -= NOT_TRIED
    best = -NOT_TRIED
    for _ in range(tried):
        a = _best_not_tried(rows, i, values, cells, count)
        if a < 0 or values[i, a] + NOT_TRIED <= best:
            return
        _try(rows, i, trial, a, 0)
        worst = values[i, a] + NOT_TRIED
        replies = list_free(trial, 0, later)
        for slot in range(SLOTS):
            if slot != a // (3 * CELLS) and rows[i, SLOT_NUMBER + slot]:
                for reply in range(3 * replies):
                    if worst > best:
                        _try(trial, 0, after, CELLS * (3 * slot + reply % 3) + later[reply // 3], 0)
                        worst = min(worst, _lead(after, 0, me, largest, params))
        values[i, a] = worst if worst > best else worst - NOT_TRIED / 4
        best = max(best, worst)
