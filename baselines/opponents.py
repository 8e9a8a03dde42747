"""The moves of opponents in many games, inside compiled code wherever the agents are kernels.

What a learner waits for is the others' moves. Asked in batches from Python, each round of them costs a dozen calls of
NumPy; random and scripted agents are played here instead, with what they would have answered.
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
    OBSERVE,
    RESAMPLE,
    STEP,
    call_observe,
    call_resample,
    call_step,
    finish,
    in_parallel,
    in_threads,
    to_move,
    write_mask,
)  # fmt: skip
from iszoo.envs.native import kernel
from iszoo.envs.primitives import draw
from iszoo.envs.vec import VecEnv

SEED_BOUND = 1 << 31
"""Seeds of decisions are drawn below it."""

ASKED, RANDOM, SCRIPTED = 0, 1, 2


class OpponentTable:
    """A list of agents, of which compiled code plays those that it can.

    Args:
        agents: agents; a game's opponents are places in this list.
        vec: the games that they play, autoreset="disabled".
    """

    def __init__(self, agents: Sequence[Agent], vec: VecEnv) -> None:
        self._vec = vec
        self._kinds = np.array([_kind(agent) for agent in agents], np.int64)
        prefer = [agent.prefer if isinstance(agent, ScriptedAgent) else _no_preference for agent in agents]
        self._prefer = native.bind(tuple(prefer), (PREFER,) * len(prefer))
        game, shares = vec.game, vec.threads
        returns = np.zeros((vec.num_envs, vec.num_players))
        self._games = (
            False, np.empty(0, np.int64), vec.obs, vec.action_mask, vec.player, returns,
            vec.rewards, vec.done, vec.final_obs, vec.final_rows, vec.params,
        )  # fmt: skip
        self._scratch = (
            np.zeros((shares, game.row_size), np.int64), np.zeros((shares, game.num_actions), np.int8),
            np.zeros((shares, game.num_actions)), np.zeros((shares, 1), np.int64),
        )  # fmt: skip

    def play_on(self, seats: Any, agent_of: Any, stream: Any, waiting: Any, over: Any, rewards: Any) -> int:
        """The others' moves, until it is the learner's turn, an agent must be asked, or the game is over.

        Args:
            seats: int64 (N,), the learner's seat.
            agent_of: int64 (N, P), the place in the list of who plays each seat.
            stream: int64 (N, 1), generators from which each decision's seed is drawn.
            waiting: bool (N,): the games that have just moved; afterwards those whose player must be asked.
            over: bool (N,), set where the game is over.
            rewards: float32 (N,), set to the learner's reward where the game is over.

        Returns how many games wait.
        """
        vec = self._vec
        arguments = (
            vec.game.table, vec.rows, seats, agent_of, self._kinds, self._prefer, *self._scratch,
            stream, waiting, over, rewards, *self._games,
        )  # fmt: skip
        if in_threads(vec.threads):
            return in_parallel(vec.threads, _play_parallel, *arguments)
        return int(_play_range(0, vec.num_envs, 0, *arguments))


def _kind(agent: Agent) -> int:
    # Not what inherits from them: it may answer otherwise.
    return {RandomAgent: RANDOM, ScriptedAgent: SCRIPTED}.get(type(agent), ASKED)


@kernel
def _no_preference(rows: Any, i: int, mask: Any, values: Any, params: Any) -> None:
    """What the table holds for an agent that is not scripted."""


@kernel
def _play_range(
    lo: int, hi: int, share: int, table: Any, rows: Any, seats: Any, agent_of: Any, kinds: Any, prefer: Any,
    known: Any, legal: Any, values: Any, states: Any, stream: Any, waiting: Any, over: Any, total: Any,
    same_step: bool, any_deal: Any, obs: Any, mask: Any, player: Any, returns: Any, rewards: Any, done: Any,
    final_obs: Any, final_rows: Any, params: Any,
) -> int:  # fmt: skip
    """`OpponentTable.play_on` for games lo to hi - 1; known, legal, values, states: scratch, row `share` is used."""
    asked = 0
    for i in range(lo, hi):
        if not waiting[i]:
            continue
        waiting[i] = False
        mover = int(player[i])
        moved = False
        while mover >= 0 and mover != seats[i]:
            agent = agent_of[i, mover]
            if kinds[agent] == ASKED:
                waiting[i] = True
                asked += 1
                break
            seed = draw(stream, i, 0, SEED_BOUND)
            if kinds[agent] == RANDOM:
                action = choose_random(mask, i, seed, states, share)
            else:
                for k in range(rows.shape[1]):
                    known[share, k] = rows[i, k]
                for a in range(mask.shape[1]):
                    legal[share, a] = mask[i, a]
                call_resample(table[RESAMPLE], known, share, mover, seed, params)
                action = choose_one(prefer[agent], known, share, legal, seed, states, values, params)
            call_step(table[STEP], rows, i, action, params)
            seat = mover
            mover = to_move(table, rows, i, params)
            if mover < 0:
                finish(
                    table, rows, i, seat, same_step, any_deal,
                    returns, rewards, done, final_obs, final_rows, params,
                )  # fmt: skip
            write_mask(table, rows, i, mask, params)
            moved = True
        player[i] = mover
        if mover < 0:
            over[i] = True
            total[i] = rewards[i, seats[i]]
        if moved or mover < 0:
            call_observe(table[OBSERVE], rows, i, mover if mover >= 0 else seats[i], obs, params)
    return asked


@kernel(parallel=True)
def _play_parallel(
    chunks: int, table: Any, rows: Any, seats: Any, agent_of: Any, kinds: Any, prefer: Any, known: Any,
    legal: Any, values: Any, states: Any, stream: Any, waiting: Any, over: Any, total: Any, same_step: bool,
    any_deal: Any, obs: Any, mask: Any, player: Any, returns: Any, rewards: Any, done: Any, final_obs: Any,
    final_rows: Any, params: Any,
) -> int:  # fmt: skip
    """`_play_range` over equal shares of the games, one a thread."""
    games = rows.shape[0]
    asked = 0
    for k in prange(chunks):
        c = np.int64(k)  # prange counts in uint64
        asked += _play_range(
            games * c // chunks, games * (c + 1) // chunks, c, table, rows, seats, agent_of, kinds, prefer,
            known, legal, values, states, stream, waiting, over, total, same_step, any_deal, obs, mask, player, returns,
            rewards, done, final_obs, final_rows, params,
        )  # fmt: skip
    return asked
