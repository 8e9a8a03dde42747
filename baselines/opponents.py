"""From one decision of a learner to the next in many games, inside compiled code wherever the others are kernels.

Agents that are asked in batches from Python cost a dozen calls of NumPy for each round of moves, and observations and
masks that nobody reads. Random and scripted agents are played here instead, with what they would have answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import prange

from iszoo.baselines.agents import Agent, RandomAgent, ScriptedAgent, choose_random
from iszoo.baselines.scripted import PREFER, choose_one
from iszoo.envs import native
from iszoo.envs.engine import (
    call_init,
    call_observe,
    call_resample,
    call_step,
    finish,
    to_move,
    write_mask,
)
from iszoo.envs.game import INIT, OBSERVE, RESAMPLE, STEP
from iszoo.envs.native import kernel
from iszoo.envs.primitives import draw
from iszoo.envs.threads import in_parallel, is_serial
from iszoo.envs.vec import VecEnv

SEED_BOUND = 1 << 31
"""Seeds of decisions are drawn below it."""

# What is to be done with a game: nothing; to play on after a move; to deal and seat anew, or only to seat.
IDLE, PLAY, DEAL, SEAT = 0, 1, 2, 3

_ASKED, _RANDOM, _SCRIPTED = 0, 1, 2  # how an agent plays


class OpponentTable:
    """A list of agents, of which compiled code plays those that it can.

    Args:
        agents: agents; those of a game are places in this list.
        drawn_from: the places from which the agents of a new game are drawn.
        seat: the learner's seat, or -1: drawn for each new game.
        vec: the games that they play, autoreset="disabled".
    """

    def __init__(self, agents: Sequence[Agent], drawn_from: Sequence[int], seat: int, vec: VecEnv) -> None:
        self._vec = vec
        prefer = tuple(agent.prefer if isinstance(agent, ScriptedAgent) else _no_preference for agent in agents)
        table = native.bind(prefer, (PREFER,) * len(prefer))
        kinds = np.array([_kind(agent) for agent in agents], np.int64)
        game, shares = vec.game, vec.threads
        self._agents = (kinds, table, np.array(drawn_from, np.int64), seat)
        self._scratch = (
            np.zeros((shares, game.row_size), np.int64), np.zeros((shares, game.num_actions), np.int8),
            np.zeros((shares, game.num_actions)), np.zeros((shares, 1), np.int64),
        )  # fmt: skip
        self._batch = (
            game.table, vec.rows, vec.obs, vec.action_mask, vec.player, vec.rewards, vec.done, vec.final_obs,
            vec.final_rows, vec.params, np.zeros((vec.num_envs, vec.num_players)), np.empty(0, np.int64),
        )  # fmt: skip

    def advance(self, todo: Any, seats: Any, agent_of: Any, stream: Any, over: Any, total: Any) -> int:
        """Moves games on until it is the learner's turn, an agent must be asked, or the game is over.

        Args:
            todo: int8 (N,): PLAY where somebody has just moved, DEAL or SEAT where a game begins, else IDLE;
                afterwards PLAY where an agent must be asked and has to move, else IDLE.
            seats: int64 (N,), the learner's seat.
            agent_of: int64 (N, P), the place in the list of who plays each seat.
            stream: int64 (N, 1), generators of seats, agents, and of the seed of each decision.
            over: bool (N,), whether the game is over.
            total: float32 (N,), set to the learner's reward where the game ends.

        Returns how many agents must be asked.
        """
        games, threads = self._vec.num_envs, self._vec.threads
        learner = (seats, agent_of, stream, over, total)
        if is_serial(threads):
            return int(_advance(0, games, 0, todo, learner, self._agents, self._scratch, self._batch))
        return in_parallel(threads, _advance_parallel, games, todo, learner, self._agents, self._scratch, self._batch)


def _kind(agent: Agent) -> int:
    # Not what inherits from them: it may answer otherwise.
    return {RandomAgent: _RANDOM, ScriptedAgent: _SCRIPTED}.get(type(agent), _ASKED)


@kernel
def _no_preference(rows: Any, i: int, mask: Any, values: Any, params: Any) -> None:
    """What the table holds for an agent that is not scripted."""


@kernel
def _advance(lo: int, hi: int, share: int, todo: Any, learner: Any, agents: Any, scratch: Any, batch: Any) -> int:
    """`OpponentTable.advance` for games lo to hi - 1; row `share` of the scratch is theirs.

    An observation is written where an agent is asked or the learner decides, a mask at every move.
    """
    seats, agent_of, stream, over, total = learner
    kinds, prefer, drawn_from, fixed_seat = agents
    known, legal, values, states = scratch
    table, rows, obs, mask, player, rewards, done, final_obs, final_rows, params, returns, any_deal = batch
    asked = 0
    for i in range(lo, hi):
        what = todo[i]
        if what == IDLE:
            continue
        todo[i] = IDLE
        mover = int(player[i])
        stale = what != PLAY
        if stale:
            if what == DEAL:
                call_init(table[INIT], rows, i, -1, any_deal, params)
                done[i] = False
                rewards[i, :] = 0
            mover = to_move(table, rows, i, params)
            write_mask(table, rows, i, mask, params)
            seats[i] = draw(stream, i, 0, agent_of.shape[1]) if fixed_seat < 0 else fixed_seat
            for p in range(agent_of.shape[1]):
                agent_of[i, p] = drawn_from[draw(stream, i, 0, drawn_from.shape[0])]
            over[i] = False
        while mover >= 0 and mover != seats[i]:
            agent = agent_of[i, mover]
            if kinds[agent] == _ASKED:
                todo[i] = PLAY
                asked += 1
                break
            seed = draw(stream, i, 0, SEED_BOUND)
            if kinds[agent] == _RANDOM:
                action = choose_random(mask, i, seed, states, share)
            else:
                for k in range(rows.shape[1]):
                    known[share, k] = rows[i, k]
                for a in range(mask.shape[1]):
                    legal[share, a] = mask[i, a]
                call_resample(table[RESAMPLE], known, share, mover, seed, params)
                action = choose_one(prefer[agent], known, share, legal, seed, states, values, params)
            call_step(table[STEP], rows, i, action, params)
            last = mover
            mover = to_move(table, rows, i, params)
            stale = True
            if mover < 0:
                finish(
                    table, rows, i, last, False, any_deal,
                    returns, rewards, done, final_obs, final_rows, params,
                )  # fmt: skip
            write_mask(table, rows, i, mask, params)
        player[i] = mover
        if mover < 0:
            over[i] = True
            total[i] = rewards[i, seats[i]]
        if stale or mover < 0:  # as an agent that ended the game sees it, before
            call_observe(table[OBSERVE], rows, i, mover if mover >= 0 else seats[i], obs, params)
    return asked


@kernel(parallel=True)
def _advance_parallel(chunks: int, games: Any, todo: Any, learner: Any, agents: Any, scratch: Any, batch: Any) -> int:
    """`_advance` over equal shares of the games, one a thread."""
    asked = 0
    for k in prange(chunks):
        c: Any = np.int64(k)  # prange counts in uint64
        asked += _advance(games * c // chunks, games * (c + 1) // chunks, c, todo, learner, agents, scratch, batch)
    return asked
