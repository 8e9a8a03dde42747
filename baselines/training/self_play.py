"""Self-play by search with a network: a task is so many games, and gives positions to learn from.

What a task gives depends on the task alone: any process on any machine can do it, or do it again after a kill.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.baselines.networks import Architecture, Network, Weights
from iszoo.baselines.search.network_search import NetworkSearch, NetworkSearchOptions
from iszoo.baselines.search.search import with_reward
from iszoo.baselines.search.tree import write_worth
from iszoo.envs import engine, find
from iszoo.envs.game import Game, Options, Params
from iszoo.envs.primitives import MARGIN, NUM_PLAYERS, OUTCOME
from iszoo.envs.vec import VecEnv


@dataclass(frozen=True)
class Task:
    """Some games of a network against itself."""

    game: str
    options: Options
    architecture: Architecture
    weights: Weights
    games: int  #: side by side
    seed: int  #: of the first deal, and of all else
    simulations: int  #: a decision; 0: plays by what the network thinks of the actions, see `play`
    search: NetworkSearchOptions
    noise: float  #: the share of Dirichlet noise in the probabilities at the root
    alpha: float  #: of the noise, divided by the number of actions
    explore: int  #: the plies at the beginning in which actions are drawn by their visits; then the most visited plays
    bootstrap: float  #: the share of the search's value in what a position is worth; the rest is the game's result
    improve: float = 2.0  #: how much the policy learns from what the search found, see `improved`


@dataclass(frozen=True)
class Positions:
    """What n positions of some games teach. Each field is an array, its first axis the positions."""

    rows: npt.NDArray[np.int64]  #: (n, S)
    actions: npt.NDArray[np.int16]  #: (n, K): those that were searched; -1 for none
    policy: npt.NDArray[np.float32]  #: (n, K): what the policy learns of each; what is left to 1 is for all others
    values: npt.NDArray[np.float32]  #: (n, P): what each seat can expect, from the player to move on

    def __len__(self) -> int:
        return len(self.rows)

    def arrays(self) -> dict[str, Any]:
        """The fields by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


def play(task: Task) -> Positions:
    """Plays the games of a task to their ends. Forced actions are played without a search, and teach nothing.

    Without simulations, every action is drawn by the squares of the network's probabilities: games that cost little,
    for values alone to learn from.
    """
    game = find(task.game)
    vec = VecEnv(game, task.games, seed=0, autoreset="disabled", **task.options)
    vec.reset(task.seed)
    rng = np.random.default_rng(task.seed)
    network = Network(game, task.options, task.architecture, task.weights)
    search = NetworkSearch(game, vec.params, network, task.games, max(1, task.simulations), task.search)
    everyone = np.arange(task.games)
    parts: list[dict[str, Any]] = []
    actions = np.zeros(task.games, np.int64)
    ply = 0
    while (running := vec.player >= 0).any():
        actions[:] = vec.action_mask.argmax(axis=1)
        chosen = everyone[running & (vec.action_mask.sum(axis=1, dtype=np.int64) > 1)]
        if len(chosen):
            search.start(vec.rows[chosen], rng.integers(1 << 62, size=len(chosen)))
            if task.noise and task.simulations:
                search.stir(rng, task.alpha, task.noise)
            search.run(task.simulations)
            parts.append({"game": chosen, **_lesson(search, vec.rows[chosen], chosen, vec.player, task)})
            actions[chosen] = _choose(parts[-1], rng, ply < task.explore or not task.simulations)
        vec.step(actions, where=running)
        ply += 1
    results = _results(game, vec.final_rows, vec.params, task.search.margin)
    return _positions(parts, results, task)


def play_timed(task: Task) -> tuple[Positions, float]:
    """`play`, and the seconds of processor time that it took."""
    began = process_time()
    return play(task), process_time() - began


def _lesson(search: NetworkSearch, rows: Any, chosen: Any, player: Any, task: Task) -> dict[str, Any]:
    actions, visits, _, means = search.roots()
    priors = search.probabilities()
    shares = visits.astype(np.float32) if task.simulations else priors**2
    shares /= shares.sum(axis=1, keepdims=True)
    seat, values = player[chosen].astype(np.int64), search.values().astype(np.float32)
    policy = np.zeros_like(shares)  # what the network itself thought would teach it nothing but to be surer of it
    if task.simulations:
        mine = np.take_along_axis(means, seat[:, None, None], axis=2)[:, :, 0]
        whole = np.take_along_axis(values, seat[:, None], axis=1)
        policy = improved(priors, visits, mine, whole, task.improve / search.deviations()[:, None])
    return {
        "rows": rows, "seat": seat, "actions": actions.astype(np.int16), "visits": shares, "values": values,
        "policy": policy.astype(np.float32),
    }  # fmt: skip


def improved(priors: Any, visits: Any, means: Any, whole: Any, improve: Any) -> Any:
    """What the network thought of the actions at some roots, times e^(improve * advantage).

    An action's advantage is its mean less that of the whole search, which counts as one more visit to each: few
    visits say little, none say nothing. (After Danihelka et al. 2022, who complete the means in another way. Visits
    themselves, as AlphaZero has them, say after a few dozen simulations hardly more than the network did.)

    Args:
        priors: (n, K), of the actions that the search considered.
        visits, means: (n, K), of each; means are nan where there were no visits.
        whole: (n, 1), the mean of all simulations.
        improve: by how much, in units of 1 over that of the means; a number or (n, 1).

    Returns (n, K), whose sum leaves to all other actions together what is theirs.
    """
    advantage = (np.where(visits > 0, means, 0) - whole) * (visits / (visits + 1.0))
    weights = priors * np.exp(improve * advantage)
    return weights / (weights.sum(axis=1, keepdims=True) + 1 - priors.sum(axis=1, keepdims=True))


def _choose(lesson: dict[str, Any], rng: np.random.Generator, explore: bool) -> npt.NDArray[np.int64]:
    """An action for each position: drawn by the visits, or the most visited one."""
    shares = lesson["visits"]
    if explore:
        below = np.cumsum(shares, axis=1)
        column = (below > rng.random(len(shares))[:, None] * below[:, -1:]).argmax(axis=1)
    else:
        column = shares.argmax(axis=1)
    return np.asarray(np.take_along_axis(lesson["actions"], column[:, None], axis=1)[:, 0], np.int64)


def _results(game: Game, rows: Any, params: Params, margin: float) -> npt.NDArray[np.float32]:
    """What finished games gave each seat, (n, P): in part by the margin."""
    by_outcome, by_margin = (with_reward(params, reward) for reward in (OUTCOME, MARGIN))
    found, margins = np.zeros((2, len(rows), int(params[NUM_PLAYERS])))
    for g in range(len(rows)):
        write_worth(game.table, rows, g, found, margins, float(margin), by_outcome, by_margin)
    return found.astype(np.float32)


def _positions(parts: list[dict[str, Any]], results: npt.NDArray[np.float32], task: Task) -> Positions:
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    players = results.shape[1]
    share = task.bootstrap if task.simulations else 0.0
    worth = (1 - share) * results[whole["game"]] + share * whole["values"]
    order = (whole["seat"][:, None] + np.arange(players)) % players
    return Positions(
        whole["rows"], whole["actions"], whole["policy"],
        np.take_along_axis(worth, order, axis=1).astype(np.float32),
    )  # fmt: skip


class Replay:
    """The newest positions, of which batches are drawn.

    Args:
        game, options: of the positions.
        size: how many it holds.
        width: the most actions of a position, K.
    """

    def __init__(self, game: Game, options: Options, size: int, width: int) -> None:
        self._game = game
        self._params = game.params(options)
        players = int(self._params[0])
        self._size = size
        self.kept = Positions(
            np.zeros((size, game.row_size), np.int64), np.full((size, width), -1, np.int16),
            np.zeros((size, width), np.float32), np.zeros((size, players), np.float32),
        )  # fmt: skip
        self.seen = 0  #: positions so far

    def __len__(self) -> int:
        return min(self.seen, self._size)

    def add(self, positions: Positions) -> None:
        """Adds positions in the place of the oldest."""
        places = (self.seen + np.arange(len(positions))) % self._size
        for name, value in positions.arrays().items():
            getattr(self.kept, name)[places] = value
        self.seen += len(positions)

    def clear(self) -> None:
        """Forgets all positions."""
        self.seen = 0

    def draw(self, rng: np.random.Generator, count: int) -> tuple[Any, Any, Any, Any]:
        """A batch: observations int8 (n, D), masks int8 (n, A), policies float32 (n, A), values float32 (n, P)."""
        game = self._game
        places = rng.integers(len(self), size=count)
        rows = self.kept.rows[places]
        obs, mask = np.empty((count, game.obs_size), np.int8), np.empty((count, game.num_actions), np.int8)
        engine.refresh_batch(
            game.table, rows, np.ones(count, np.bool_), obs, mask, np.empty(count, np.int8), self._params
        )  # fmt: skip
        policy = np.zeros((count, game.num_actions), np.float32)
        actions, learnt = self.kept.actions[places], self.kept.policy[places]
        position, column = np.nonzero(actions >= 0)
        policy[position, actions[position, column]] = learnt[position, column]
        return obs, mask, policy, self.kept.values[places]

    def get_state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"seen": self.seen, **{name: value[: len(self)] for name, value in self.kept.arrays().items()}}

    def set_state(self, state: dict[str, Any]) -> None:
        """Takes up what `get_state` gave."""
        self.seen = int(state["seen"])
        for name, value in self.kept.arrays().items():
            value[: len(self)] = np.asarray(state[name])
