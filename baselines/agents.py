"""Agents: what plays a game, and how it is named.

An agent sees a batch of positions at once, as the player to move sees each, and answers with one action a
position. Chance in an agent comes from `View.seeds` alone, so that a game is the same whatever other games are
played beside it.
"""

from __future__ import annotations

import importlib
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
def choose_random(mask: Any, i: int, seed: int, states: Any, j: int) -> int:
    """A legal action of row i of a mask, each with the same probability; states[j, 0] is scratch."""
    states[j, 0] = mix(seed)
    return nth_legal(mask, i, draw(states, j, 0, count_legal(mask, i)))


@kernel
def _choose_random(mask: Any, seeds: Any, states: Any, actions: Any) -> None:
    for i in range(mask.shape[0]):
        actions[i] = choose_random(mask, i, seeds[i], states, i)


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
    """Plays the action that a scripted preference of its game values most, ties at random.

    `prefer`: the kernel of the preference.
    """

    def __init__(self, name: str, prefer: Any) -> None:
        self.name = name
        self.prefer = prefer
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

    def __reduce__(self) -> Any:
        return ScriptedAgent, (self.name, self.prefer)  # the table holds addresses of this process


_LOADED: Mapping[str, tuple[str, str]] = {
    "az": ("iszoo.baselines.search.network_search", "make"),
    "mcts": ("iszoo.baselines.search", "make"),
    "policy": ("iszoo.baselines.policy", "load_policy"),
}
"""Prefix of a name -> the module and the function (text after the colon, game) that makes the agent."""

_UNPICKLED: Mapping[str, tuple[str, str]] = {
    "sb3": ("iszoo.baselines.models", "load_sb3"),
    "rllib": ("iszoo.baselines.models", "load_rllib"),
}
"""The same for files that run code when they are loaded: functions (text, game, trust)."""

AGENT_FORMS = ("mcts:SIMS", "az:FILE:SIMS", "policy:FILE", "sb3:ZIP", "rllib:CHECKPOINT", "module:attribute")
"""How agents are named that are not in `agent_names`, in any game."""


def agent_names(game: Game) -> list[str]:
    """The agents that a game has of its own; those of AGENT_FORMS play every game."""
    return ["random", *scripted.SCRIPTED.get(game.name, {})]


def make_agent(name: str, game: Game, *, trust: bool = False) -> Agent:
    """The agent of a name.

    Args:
        name: one of `agent_names(game)`; `mcts:SIMS` and `az:FILE:SIMS` (`iszoo.baselines.search`), `policy:FILE`
            (`iszoo.baselines.policy`), `sb3:ZIP` or `rllib:CHECKPOINT` (`iszoo.baselines.models`); or your own agent
            as `module:attribute` (`iszoo.baselines.custom`).
        game: the game that it is to play.
        trust: let `sb3:` and `rllib:` load a file, which runs code that is in it.

    Raises:
        ValueError: no such agent, or it can't be loaded; says what was tried.
        ImportError: the agent needs an extra; names it.
    """
    if name == "random":
        return RandomAgent()
    preferences: Mapping[str, Callable[..., Any]] = scripted.SCRIPTED.get(game.name, {})
    if name in preferences:
        return ScriptedAgent(name, preferences[name])
    prefix, colon, text = name.partition(":")
    if not colon:
        raise ValueError(
            f"{game.name} has no agent {name!r}; its agents are {', '.join(agent_names(game))},"
            f" and in every game {', '.join(AGENT_FORMS)}"
        )
    agent: Agent
    if prefix in _LOADED:
        agent = _function(_LOADED[prefix])(text, game)
    elif prefix in _UNPICKLED:
        agent = _function(_UNPICKLED[prefix])(text, game, trust)
    else:
        agent = _function(("iszoo.baselines.custom", "load_custom"))(name, game)
    return agent


def _function(place: tuple[str, str]) -> Callable[..., Any]:
    """A function of a module that is imported only now: most agents need none of these."""
    module, name = place
    found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return found
