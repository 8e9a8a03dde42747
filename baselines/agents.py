"""Agents: what plays a game, and how it is named.

An agent sees a batch of positions at once, as the player to move sees each, and answers with one action a
position. Chance in an agent comes from `View.seeds` alone, so that a game is the same whatever other games are
played beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from iszoo.baselines import scripted
from iszoo.envs import engine
from iszoo.envs.engine import count_legal, nth_legal
from iszoo.envs.game import Game, Params, Rows
from iszoo.envs.native import kernel
from iszoo.envs.primitives import draw, mix
from iszoo.envs.vec import VecEnv


@dataclass(frozen=True)
class View:
    """A batch of n positions as their players to move may know them."""

    game: Game
    options: Mapping[str, Any]
    params: Params
    obs: npt.NDArray[np.int8]  #: (n, C * H * W + F): board, then features, as the player to move sees them
    action_mask: npt.NDArray[np.int8]  #: (n, A)
    player: npt.NDArray[np.int8]  #: (n,): the seat to move
    seeds: npt.NDArray[np.int64]  #: (n,): fresh at every decision; the only source of an agent's chance
    _rows: Rows

    @property
    def board(self) -> npt.NDArray[np.int8]:
        """A view of `obs`: (n, C, H, W)."""
        return self.obs[:, : self.game.board_size].reshape(-1, *self.game.board_shape)

    @property
    def features(self) -> npt.NDArray[np.int8]:
        """A view of `obs`: (n, F)."""
        return self.obs[:, self.game.board_size :]

    def positions(self, seeds: npt.NDArray[np.int64] | None = None) -> Rows:
        """State rows (n, S) to search in, what the player to move can't know redrawn by seeds (n,)."""
        rows = self._rows.copy()
        chosen = self.seeds if seeds is None else seeds
        engine.resample_batch(self.game.table, rows, self.player.astype(np.int64), chosen, self.params)
        return rows


@runtime_checkable
class Agent(Protocol):
    """Whatever has a name and acts."""

    name: str

    def act(self, view: View) -> npt.NDArray[np.int64]:
        """One legal action for each position of the view: int64 (n,)."""
        ...


def view_of(vec: VecEnv, games: npt.NDArray[np.intp], seeds: npt.NDArray[np.int64]) -> View:
    """What the players to move in some games of a batch may know; copies, which an agent can't harm."""
    return View(
        vec.game,
        vec.options,
        vec.params,
        vec.obs[games],
        vec.action_mask[games],
        vec.player[games],
        seeds,
        vec.rows[games],
    )


@kernel
def _choose_random(mask: Any, seeds: Any, states: Any, actions: Any) -> None:
    for i in range(mask.shape[0]):
        states[i, 0] = mix(seeds[i])
        actions[i] = nth_legal(mask, i, draw(states, i, 0, count_legal(mask, i)))


class RandomAgent:
    """Plays each legal action with the same probability."""

    name = "random"

    def act(self, view: View) -> npt.NDArray[np.int64]:
        """See `Agent.act`."""
        n = len(view.seeds)
        actions = np.empty(n, np.int64)
        _choose_random(view.action_mask, view.seeds, np.empty((n, 1), np.int64), actions)
        return actions


class ScriptedAgent:
    """Plays the action that a scripted preference of its game values most, ties at random."""

    def __init__(self, name: str, prefer: Any) -> None:
        self.name = name
        self._table = scripted.bind(prefer)

    def act(self, view: View) -> npt.NDArray[np.int64]:
        """See `Agent.act`."""
        return self.weigh(view)[0]

    def weigh(self, view: View) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """The actions (n,), and how much it wants each action (n, A): -inf for illegal ones."""
        n, a = view.action_mask.shape
        actions, values = np.empty(n, np.int64), np.empty((n, a))
        scripted.choose(
            self._table, view.positions(), view.action_mask, view.seeds, np.empty((n, 1), np.int64),
            values, actions, view.params,
        )  # fmt: skip
        values[view.action_mask == 0] = -np.inf
        return actions, values


def agent_names(game: Game) -> list[str]:
    """The names that `make_agent` knows for a game."""
    return ["random", *scripted.SCRIPTED.get(game.name, {})]


def _policy(file: str, game: Game) -> Agent:
    from iszoo.baselines.policy import load_policy

    return load_policy(file, game)


PREFIXES: Mapping[str, Callable[[str, Game], Agent]] = {"policy": _policy}
"""Agents with an argument, named PREFIX:ARGUMENT. What they need is imported where they are made."""


def make_agent(name: str, game: Game) -> Agent:
    """The agent of a name. Raises ValueError that lists the names."""
    if name == "random":
        return RandomAgent()
    prefix, colon, argument = name.partition(":")
    if colon and prefix in PREFIXES:
        return PREFIXES[prefix](argument, game)
    preferences: Mapping[str, Callable[..., Any]] = scripted.SCRIPTED.get(game.name, {})
    if name in preferences:
        return ScriptedAgent(name, preferences[name])
    raise ValueError(f"{game.name} has no agent {name!r}; its agents are {', '.join(agent_names(game))}")
