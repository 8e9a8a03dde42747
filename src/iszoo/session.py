"""`Session`: one game that is being played by people and agents, in the terminal or on a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo import record
from iszoo.baselines.agents import Agent, View, view_of
from iszoo.envs.errors import IllegalActionError, as_action, illegal_action
from iszoo.envs.game import Game, Rows
from iszoo.envs.primitives import mix
from iszoo.envs.seeds import as_seed
from iszoo.envs.vec import VecEnv

PERSON = "human"
"""What a person is called where an agent has a name."""

_POSITIVE = 2**63 - 1
_HINTS = 0x68696E74  # sets the chance of hints apart from that of the moves


def scores_are_public(options: Mapping[str, Any]) -> bool:
    """Whether the points may be shown while a game runs: not where they tell what players must remember."""
    return options.get("memory") != "hidden"


class Session:
    """A position with the actions that led to it.

    Args:
        game: the game.
        options: its options.
        seed: fixes the deal, and with it what agents answer to the same actions: it is a secret of the game.
        actions: that were played already.

    Raises ValueError for bad options or a bad seed, IllegalActionError for actions that can't be played.
    """

    def __init__(self, game: Game, options: Mapping[str, Any], seed: int, actions: Sequence[int] = ()) -> None:
        self.game = game
        self.seed = as_seed(seed)
        self._vec = VecEnv(game, 1, seed=self.seed, autoreset="disabled", **options)
        self.options = self._vec.options
        self.num_players = self._vec.num_players
        self.actions: list[int] = []
        self.movers: list[int] = []
        for action in actions:
            self.play(action)

    @property
    def row(self) -> Rows:
        """The position, int64 (S,); a copy."""
        row: Rows = self._vec.rows[0].copy()
        return row

    @property
    def player(self) -> int:
        """The seat to move; -1 when the game is over."""
        return int(self._vec.player[0])

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return self.player < 0

    @property
    def legal(self) -> list[int]:
        """The legal actions, ascending."""
        return [int(action) for action in np.flatnonzero(self._vec.action_mask[0])]

    @property
    def scores(self) -> list[int]:
        """The points of each seat as they stand; see `scores_are_public`."""
        return [int(value) for value in self._vec.scores[0]]

    @property
    def returns(self) -> list[float]:
        """The outcome reward of each seat; zeros while the game runs."""
        return [float(value) for value in self._vec.rewards[0]] if self.over else [0.0] * self.num_players

    @property
    def moves(self) -> list[str]:
        """The actions so far in notation."""
        return [self.game.action_to_string(action) for action in self.actions]

    def play(self, action: Any) -> None:
        """Plays an action of the seat to move. Raises IllegalActionError; the game is as it was then."""
        number = as_action(action)
        if not 0 <= number < self.game.num_actions or not self._vec.action_mask[0, number]:
            raise illegal_action(number, self.game.num_actions, self.legal, "")
        self.movers.append(self.player)
        self._vec.step(np.array([number], np.int64))
        self.actions.append(number)

    def rewind(self, ply: int) -> None:
        """Takes back all actions but the first `ply`."""
        kept = self.actions[:ply]
        self._vec.reset(self.seed)
        self.actions, self.movers = [], []
        for action in kept:
            self.play(action)

    def view(self, copies: int = 1, hint: bool = False) -> View:
        """What the seat to move may know, for an agent: as often as asked for, each with chance of its own.

        The chance is that of the first game of a match with this seed; for a `hint` it is another one.
        """
        start = mix(mix(self.seed) ^ (_HINTS if hint else 0)) + len(self.actions)
        seeds = [mix(start) if k == 0 else mix(mix(start) ^ k) for k in range(copies)]
        return view_of(self._vec, np.zeros(copies, np.intp), np.array(seeds, np.int64) & _POSITIVE)

    def after(self) -> Rows:
        """The positions (n, S) that the n legal actions lead to."""
        legal = self.legal
        vec = VecEnv(self.game, max(1, len(legal)), seed=0, autoreset="disabled", **self.options)
        vec.rows[:] = self._vec.rows
        vec.refresh()
        if legal:
            vec.step(np.array(legal, np.int64))
        return vec.rows[: len(legal)]

    def record(self, names: Sequence[str]) -> record.Record:
        """The game so far, with who played, by seat."""
        return record.make(self.game, seed=self.seed, actions=self.actions, agents=names, options=self.options)


def choose(agent: Agent, view: View) -> int:
    """An agent's answer to a view of one position. Raises IllegalActionError for what is no legal action."""
    answer = np.asarray(agent.act(view))
    if answer.shape != (1,) or answer.dtype.kind not in "iu":
        raise IllegalActionError(f"agent {agent.name} answered {answer.dtype} {answer.shape} for one position")
    action = int(answer[0])
    if not 0 <= action < view.action_mask.shape[1] or not view.action_mask[0, action]:
        raise IllegalActionError(f"agent {agent.name} answered action {action}, which is not legal")
    return action


def policy(
    agent: Agent, game: Game, options: Mapping[str, Any], row: Rows, *, seed: int = 0, samples: int = 64
) -> dict[int, float]:
    """How often an agent plays each action in a position: the shares of its answers to so many chances.

    row: int64 (S,), of a game that is not over. The same seed gives the same shares.
    """
    vec = VecEnv(game, 1, seed=0, autoreset="disabled", **options)
    vec.rows[0] = row
    vec.refresh()
    seeds = np.array([mix(mix(seed) ^ k) for k in range(samples)], np.int64) & _POSITIVE
    answers: npt.NDArray[np.int64] = np.asarray(agent.act(view_of(vec, np.zeros(samples, np.intp), seeds)))
    actions, counts = np.unique(answers, return_counts=True)
    return {int(action): float(count) / samples for action, count in zip(actions, counts, strict=True)}
