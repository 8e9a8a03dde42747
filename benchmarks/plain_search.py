"""The search of `az:` as one would write it at first: one game, objects for nodes, an AEC environment, no kernels.

It does what `baselines/search/network_search.py` does, and with the same draws it comes to the same visits, which is a
test. `self_play.py` measures how much faster the other one is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.baselines.search.network_search import Evaluator, NetworkSearchOptions
from iszoo.envs import engine
from iszoo.envs.aec import GameEnv


class Node:
    """A sequence of actions."""

    def __init__(self, prior: float, players: int) -> None:
        self.prior = prior
        self.visits = 0
        self.values = [0.0] * players  # by seat: the sum over visits
        self.children: dict[int, Node] = {}
        self.seen: dict[bytes, Node] = {}  # by what is seen after the last action, with the option `chance`


def redrawn(env: GameEnv, seat: int, seed: int) -> GameEnv:
    """A copy in which what a seat can't know was drawn anew."""
    copy = env.clone()
    engine.resample_batch(env.game.table, copy._rows, np.array([seat]), np.array([seed]), env._params)
    copy._forget_observation()
    return copy


class PlainSearch:
    """The tree of one position.

    Args:
        env: the position, with flat observations; it stays as it is. Its reward is what a finished game is worth.
        network: looks at the leaves.
        seeds: of what is drawn anew, one for the first look at the root and one a simulation.
        options: how to search.

    Raises ValueError for options with rollouts, which it doesn't make.
    """

    def __init__(self, env: GameEnv, network: Evaluator, seeds: Iterator[int], options: NetworkSearchOptions) -> None:
        if options.rollout_share > 0:
            raise ValueError(f"rollout_share={options.rollout_share!r} is not allowed: this search makes no rollouts")
        self.env, self.network, self.seeds, self.options = env, network, seeds, options
        self.players = len(env.possible_agents)
        self.seat = env.possible_agents.index(env.agent_selection)
        self.root = Node(1.0, self.players)
        self.sums = [0.0, 0.0, 0.0]  # of the simulations: how many, their results for who searches, and the squares
        self._look(redrawn(env, self.seat, next(seeds)), self.root)

    def run(self, simulations: int) -> None:
        """Adds simulations to the tree."""
        for _ in range(simulations):
            env = redrawn(self.env, self.seat, next(self.seeds))
            node, path = self.root, [self.root]
            while (legal := env.legal_actions()) and node.children:
                mover = env.possible_agents.index(env.agent_selection)
                allowed = set(legal)
                here = [action for action in node.children if action in allowed]
                if not here or (node is not self.root and 2 * len(here) < min(len(legal), self.options.width)):
                    break
                action = self._best(node, here, mover)
                env.step(action)
                node = node.children[action]
                path.append(node)
                if self.options.chance and env.legal_actions():
                    shown = env.observe(env.agent_selection)["observation"].tobytes()
                    node = node.seen.setdefault(shown, Node(1.0, self.players))
                    path.append(node)
            values = self._look(env, node) if legal else [float(env.rewards[a]) for a in env.possible_agents]
            for node in path:
                node.visits += 1
                for seat, value in enumerate(values):
                    node.values[seat] += value
            mine = values[self.seat]
            self.sums = [old + new for old, new in zip(self.sums, (1.0, mine, mine * mine), strict=True)]

    def _best(self, node: Node, actions: list[int], mover: int) -> int:
        """PUCT, in standard deviations of the results so far."""
        count, total, squares = max(1.0, self.sums[0]), self.sums[1], self.sums[2]
        scale = math.sqrt(max(0.0, squares - total**2 / count) / count) + 1e-3
        seen = sum(child.prior for child in node.children.values() if child.visits)
        unvisited = node.values[mover] / max(1, node.visits) - scale * self.options.urgency * math.sqrt(seen)
        wide = scale * self.options.exploration * math.sqrt(node.visits)

        def bound(action: int) -> float:
            child = node.children[action]
            value = child.values[mover] / child.visits if child.visits else unvisited
            return value + wide * child.prior / (child.visits + 1)

        return max(actions, key=bound)

    def _look(self, env: GameEnv, node: Node) -> list[float]:
        """Gives a node children, and says what each seat can expect."""
        seen = env.observe(env.agent_selection)
        logits, told = self.network.evaluate(seen["observation"][None])
        legal = np.flatnonzero(seen["action_mask"])
        weights = np.exp(self.options.prior_power * (logits[0, legal] - logits[0, legal].max()))
        probabilities = weights / weights.sum()
        room = self.options.width - sum(int(action) in node.children for action in legal)
        ranked = [(int(legal[k]), float(probabilities[k])) for k in np.argsort(-probabilities, kind="stable")]
        new = [(action, prior) for action, prior in ranked if action not in node.children][: max(0, room)]
        # In the order of the other search: the newest children first, of these the most probable.
        node.children = {action: Node(prior, self.players) for action, prior in new} | node.children
        mover = env.possible_agents.index(env.agent_selection)
        values = [0.0] * self.players
        for k in range(self.players):
            value = min(1.0, max(-1.0, float(told[0, k if told.shape[1] > 1 else 0])))
            if told.shape[1] == 1 and k > 0:
                value = -value / (self.players - 1)
            values[(mover + k) % self.players] = value
        return values

    def visits(self) -> npt.NDArray[np.int64]:
        """How often each action was chosen at the root: int64 (A,)."""
        found = np.zeros(self.env.game.num_actions, np.int64)
        for action, child in self.root.children.items():
            found[action] = child.visits
        return found


def play_game(env: GameEnv, network: Evaluator, simulations: int, rng: Any, options: NetworkSearchOptions) -> int:
    """Plays a game that has begun against itself, each action drawn by its visits; returns the number of plies."""
    plies = 0
    while legal := env.legal_actions():
        action = legal[0]
        if len(legal) > 1:
            search = PlainSearch(env, network, iter(lambda: int(rng.integers(1 << 31)), -1), options)
            search.run(simulations)
            visits = search.visits()
            action = int(rng.choice(len(visits), p=visits / visits.sum()))
        env.step(action)
        plies += 1
    return plies
