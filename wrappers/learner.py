"""One learner against agents, in many games at once: what the single-agent adapters are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.baselines.agents import Agent, make_agent, view_of
from iszoo.baselines.opponents import DEAL, PLAY, SEAT, SEED_BOUND, OpponentTable
from iszoo.envs.game import Game
from iszoo.envs.native import kernel
from iszoo.envs.primitives import draw, mix
from iszoo.envs.seeds import fresh_seed
from iszoo.envs.vec import VecEnv

Opponents = str | Agent | Sequence[str | Agent]

_STREAM = 0x6C6561726E  # sets the stream of seats and opponents apart from those of deals and choices


@kernel
def _draw_seeds(stream: Any, games: Any, seeds: Any) -> None:
    for k in range(games.shape[0]):
        seeds[k] = draw(stream, games[k], 0, SEED_BOUND)


class LearnerGames:
    """N games; in each, one seat is the learner's and agents play the others, answering in batches.

    Between two actions of the learner the others play on until it is the learner's turn or the game is over. What
    the learner gets for an action are its own seat's rewards over all those moves, whoever ended the game.

    Args:
        game: the game.
        num_envs: the number of games, N.
        opponent: a name or an agent; or a list, of which one is drawn for each other seat of each game.
        seat: the learner's seat, or "random": drawn anew for each game.
        seed: game i is dealt as `env.reset(seed=seed + i)` deals it.
        reward: "outcome" or "margin".
        illegal: what an illegal action of the learner does: "raise", or "terminate" its game.
        threads: how many threads share the games.
        **options: the game's own options.

    Attributes:
        obs: int8 (N, C * H * W + F), the position as the learner sees it; overwritten by every call.
        action_mask: int8 (N, A); zero once the game is over.
        seats: int64 (N,), the learner's seat.
        done: bool (N,), whether the game is over: `reset(where=done)` deals the next.
        vec: the games themselves.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int = 1,
        *,
        opponent: Opponents = "random",
        seat: int | str = "random",
        seed: int | None = None,
        reward: str = "outcome",
        illegal: str = "raise",
        threads: int = 1,
        **options: Any,
    ) -> None:
        self.game = game
        self.vec = VecEnv(
            game, num_envs, seed=seed, threads=threads, autoreset="disabled", reward=reward, illegal=illegal, **options
        )  # fmt: skip
        players = self.vec.num_players
        if seat != "random" and (isinstance(seat, bool) or seat not in range(players)):
            raise ValueError(f"seat={seat!r} is not allowed; it is 'random' or 0 to {players - 1}")
        self.num_envs = num_envs
        self.seat = seat
        self.set_opponents(opponent)
        self.obs = self.vec.obs
        self.action_mask = self.vec.action_mask
        self.seats = np.zeros(num_envs, np.int64)
        self.done = np.zeros(num_envs, np.bool_)
        self._everywhere = np.ones(num_envs, np.bool_)
        self._stream = np.zeros((num_envs, 1), np.int64)
        self._agent_of = np.zeros((num_envs, players), np.int64)  # by game and seat: the place in the list
        self._table: OpponentTable | None = None
        self._bound_to: Any = None  # what the table was made of
        self.reset(fresh_seed() if seed is None else seed)

    def set_opponents(self, opponent: Opponents) -> None:
        """Changes the agents that games are dealt against from now on; games that run keep theirs."""
        given = [opponent] if isinstance(opponent, (str, Agent)) else list(opponent)
        if not given:
            raise ValueError("name at least one opponent")
        agents = [make_agent(one, self.game) if isinstance(one, str) else one for one in given]
        # Games that run point to places in the list, so that it only ever grows at its end. An agent that is
        # named several times, to be drawn more often, has one place: it answers for all its games at once.
        self._agents: list[Agent] = list(getattr(self, "_agents", []))
        first = len(self._agents)
        for agent in agents:
            if not any(agent is known for known in self._agents[first:]):
                self._agents.append(agent)
        places = {id(agent): first + k for k, agent in enumerate(self._agents[first:])}
        self._drawn_from = [places[id(agent)] for agent in agents]

    def reset(self, seed: int | None = None, where: Any = None) -> None:
        """Deals games anew, and plays on until it is the learner's turn in each of them.

        Args:
            seed: game i is dealt as `env.reset(seed=seed + i)` deals it, and seats and opponents are drawn from
                it. None: each game goes on with its own streams.
            where: bool (N,); all by default.
        """
        dealt = self._everywhere if where is None else np.asarray(where)
        if dealt.dtype != np.bool_ or dealt.shape != (self.num_envs,):
            raise ValueError(f"where is a boolean array of shape ({self.num_envs},), not {dealt.dtype} {dealt.shape}")
        if seed is not None:
            self.vec.reset(seed, where=dealt)
            for i in np.flatnonzero(dealt).tolist():
                self._stream[i, 0] = mix(mix(seed + i) ^ _STREAM)
        self._forget_unused_agents()
        self._play_on(dealt * np.int8(DEAL if seed is None else SEAT))

    def step(self, actions: Any, where: Any = None) -> npt.NDArray[np.float32]:
        """Plays the learner's actions, and the others on; returns the learner's rewards, float32 (N,).

        Args:
            actions: whole numbers (N,).
            where: bool (N,): the games that move; all by default. Games that are over must be left out or reset.

        Raises IllegalActionError with the number of the game; no game has moved then.
        """
        moving = self._everywhere if where is None else np.asarray(where)
        self.vec.step(actions, where=moving)
        return self._play_on(moving * np.int8(PLAY))

    def get_state(self) -> dict[str, Any]:
        """All that the games go on with, for a checkpoint: arrays, and the `agents` that they play, in order."""
        return {
            "rows": self.vec.rows.copy(),
            "stream": self._stream.copy(),
            "seats": self.seats.copy(),
            "agent_of": self._agent_of.copy(),
            "drawn_from": list(self._drawn_from),
            "agents": list(self._agents),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Takes up what `get_state` gave, here or in another process; no game may be over."""
        if state["rows"].shape != self.vec.rows.shape:
            raise ValueError(f"the state is of rows {state['rows'].shape}, these games are {self.vec.rows.shape}")
        self.vec.rows[:] = state["rows"]
        self._stream[:] = state["stream"]
        self.seats[:] = state["seats"]
        self._agent_of[:] = state["agent_of"]
        self._drawn_from = list(state["drawn_from"])
        self._agents = list(state["agents"])
        self.done[:] = False
        self.vec.refresh()

    def _play_on(self, todo: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
        """The other seats' moves, until it is the learner's turn or the game is over; returns the learner's rewards.

        todo: see `OpponentTable.advance`; overwritten.
        """
        vec = self.vec
        if self._table is None or self._bound_to != (self._agents, self._drawn_from):
            seat = -1 if self.seat == "random" else int(self.seat)
            self._table = OpponentTable(self._agents, self._drawn_from, seat, vec)
            self._bound_to = list(self._agents), self._drawn_from
        rewards = np.zeros(self.num_envs, np.float32)
        while self._table.advance(todo, self.seats, self._agent_of, self._stream, self.done, rewards):
            actions = np.zeros(self.num_envs, np.int64)
            games = np.flatnonzero(todo)
            agent_of = self._agent_of[games, vec.player[games]]
            for k in np.unique(agent_of):
                chosen = games[agent_of == k]
                seeds = np.empty(len(chosen), np.int64)
                _draw_seeds(self._stream, chosen, seeds)
                actions[chosen] = self._agents[k].act(view_of(vec, chosen, seeds))
            vec.step(actions, where=todo == PLAY)
        return rewards

    def _forget_unused_agents(self) -> None:
        """Drops agents that no game plays any more: a pool of past selves changes often."""
        if len(self._agents) <= 2 * len(self._drawn_from) + 8:
            return
        used = sorted({*np.unique(self._agent_of).tolist(), *self._drawn_from})
        place = {old: new for new, old in enumerate(used)}
        self._agent_of = np.vectorize(place.__getitem__, otypes=[np.int64])(self._agent_of)
        self._agents = [self._agents[old] for old in used]
        self._drawn_from = [place[old] for old in self._drawn_from]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_table": None}  # addresses of this process
