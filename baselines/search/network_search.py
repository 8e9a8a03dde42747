"""Search with a network: PUCT over the kernels of any game, the trees of many games grown side by side.

As in `search.py`, every simulation starts from the position with all that its player can't know redrawn, a node stands
for all positions that a sequence of actions can lead to, and the result of every seat is backed up. In place of a
rollout a network says what each seat can expect at the leaf; what it thinks of the actions there, at the first visit,
decides which of them get a node, and how often these are tried (AlphaZero; Silver et al. 2017). Where a game has
scripted agents that are worth it, a rollout may have a share in what a leaf is worth (AlphaGo; Silver et al. 2016).

`NetworkSearch` is for a batch of positions; `NetworkSearchAgent` is the agent `az:FILE:64`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from iszoo.baselines.agents import View
from iszoo.baselines.search import network_tree, tree
from iszoo.baselines.search.network_tree import NETWORK_NODE
from iszoo.baselines.search.search import scripted_preference, with_reward
from iszoo.envs.game import Game, Params
from iszoo.envs.primitives import MARGIN, NUM_PLAYERS, OUTCOME, mix

_ANY_DEAL = np.empty(0, np.int64)


class Evaluator(Protocol):
    """A network, whatever runs it: `networks.Network`, or a torch module."""

    def evaluate(self, obs: npt.NDArray[np.int8]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Flat observations (n, D) to logits (n, A) and values: (n, 1), or (n, P) from the player to move on."""
        ...


@dataclass(frozen=True)
class NetworkSearchOptions:
    """How to search with a network; `DEFAULTS` has what measured best for each game."""

    exploration: float = 1.5  #: the constant of PUCT, in standard deviations of what simulations from the root came to
    urgency: float = 0.3  #: so many of these a child is thought to be worse than its parent before its first visit
    width: int = 32  #: the most children that a node gets at a visit: those that the network likes best
    prior_power: float = 1.0  #: to which the network's probabilities are raised: below 1 flattens them
    chance: bool = False  #: whether what is seen after an action has nodes of its own
    margin: float = 0.0  #: the share of the margin reward in the value of a finished game, as the network was trained
    rollout: str = ""  #: the scripted agent that plays the rollouts; "": uniformly random
    rollout_share: float = 0.0  #: of a rollout in what a leaf is worth; the rest is what the network says


DEFAULTS: Mapping[str, NetworkSearchOptions] = {
    "isaac": NetworkSearchOptions(2.0, width=16, prior_power=0.6, rollout="expert", rollout_share=0.5),
    "iso": NetworkSearchOptions(2.0, chance=True, width=12, prior_power=0.6, rollout="greedy", rollout_share=0.5),
    "isis_osiris": NetworkSearchOptions(2.0, chance=True, prior_power=0.7, rollout="expert", rollout_share=0.35),
}
"""Game -> how `az:` searches it, but for the margin; any other game by the defaults."""

SIMULATIONS = 64  # of an agent whose name doesn't say
_MOST = 1 << 16  # simulations
_NODES = 1 << 22  # in all trees of a batch
_SIDE_BY_SIDE = 256  # games of a batch: more gain nothing
_BLOCK = 16  # a network sees so many positions or a multiple: what it says of one then depends on no other


class NetworkSearch:
    """The trees of a batch of positions of a game.

    Args:
        game: the game.
        params: `game.params(options)`, of the positions' games.
        network: looks at the leaves.
        games: the most positions side by side.
        simulations: of each position, at most; the trees have room for these.
        options: how to search; by default `DEFAULTS` of the game.

    Raises ValueError where the network has values for another number of seats.
    """

    def __init__(
        self,
        game: Game,
        params: Params,
        network: Evaluator,
        games: int,
        simulations: int,
        options: NetworkSearchOptions | None = None,
    ) -> None:
        self.game = game
        self.network = network
        self.options = o = DEFAULTS.get(game.name, NetworkSearchOptions()) if options is None else options
        self.num_players = int(params[NUM_PLAYERS])
        if games < 1 or simulations < 1 or o.width < 1:
            raise ValueError(f"games={games}, simulations={simulations}, width={o.width}: each is at least 1")
        if not 0 <= o.rollout_share <= 1:
            raise ValueError(f"rollout_share={o.rollout_share!r} is not allowed; it is a share, from 0 to 1")
        self.most = games
        self.capacity = _room(o, simulations)
        self._params, self._margin_params = (with_reward(params, reward) for reward in (OUTCOME, MARGIN))
        self._common = self.num_players == 1 or _has_common_result(game, self._params)
        self._policy, self._guided = scripted_preference(game, o.rollout, "rollout")
        self._knobs = (float(o.exploration), float(o.urgency), float(o.margin), float(o.chance))
        self._sums = np.zeros((games, 3))
        self._tree = np.zeros(games * self.capacity, NETWORK_NODE)
        padded = -games % _BLOCK + games
        self._used = np.zeros(games, np.int64)
        self._roots = np.zeros((games, game.row_size), np.int64)
        self.seats = np.zeros(games, np.int64)
        self._rows = np.zeros((games, game.row_size), np.int64)
        self._obs = np.zeros((padded, game.obs_size), np.int8)
        self._mask = np.zeros((games, game.num_actions), np.int8)
        self._path = np.zeros((games, 2 * game.max_game_length + 2), np.int64)
        self._seen, self._words = tree.scratch_for_views(game.obs_size)
        self._lengths = np.zeros(games, np.int64)
        self._movers = np.zeros(games, np.int64)
        self._values = np.zeros((games, self.num_players))
        self._margins = np.zeros((games, self.num_players))
        self._states = np.zeros((games, 1), np.int64)
        self._ends = np.zeros((1, game.row_size), np.int64)  # of rollouts
        self._end_mask, self._wanted = np.zeros((1, game.num_actions), np.int8), np.zeros((1, game.num_actions))
        self._rolled = np.zeros((games, self.num_players))
        self._kept, self._kept_logits = np.zeros(o.width, np.int64), np.zeros(o.width, np.float32)
        self._root_logits, self._root_mask = np.zeros((0, game.num_actions), np.float32), np.zeros((0, 1), np.bool_)
        self.count = 0  #: positions of the batch
        self.simulations = 0  #: that each tree holds

    def start(self, rows: npt.NDArray[np.int64], seeds: npt.NDArray[np.int64]) -> None:
        """Forgets the trees; the next ones are for positions, of which only what their players know is looked at.

        Args:
            rows: int64 (n, S), copies of which are kept.
            seeds: int64 (n,), each sets all chance in the search of its position.

        Raises ValueError if there are too many, or if a game is over.
        """
        n = len(rows)
        if not 0 < n <= self.most:
            raise ValueError(f"{n} positions are not allowed; this search has room for 1 to {self.most}")
        self._roots[:n] = rows
        for g in range(n):
            self.seats[g] = tree.mover(self.game.table, self._roots[g : g + 1], self._params)
            self._states[g, 0] = mix(int(seeds[g]))
        if (self.seats[:n] < 0).any():
            raise ValueError("a game is over: there is nothing to search")
        first = np.arange(n) * self.capacity
        self._tree[first] = np.zeros((), NETWORK_NODE)
        self._used[:n] = first + 1
        self._sums[:n] = 0
        self.count, self.simulations = n, 0
        self._simulate(count_visit=False)  # the roots get their children

    def run(self, simulations: int) -> None:
        """Adds simulations to every tree. When a tree is full, they go on without new nodes."""
        if not self.count:
            raise ValueError("there is nothing to search: call start()")
        for _ in range(simulations):
            self._simulate()
        self.simulations += simulations

    def _simulate(self, count_visit: bool = True) -> None:
        n = self.count
        network_tree.select(
            self.game.table, n, self._roots, self.seats, self._tree, self._used, self.capacity, self.options.width,
            self._knobs, self._rows, self._obs, self._mask, self._path, self._lengths, self._movers, self._values,
            self._sums, self._margins, self._seen, self._words, self._states, self._params, self._margin_params,
        )  # fmt: skip
        leaves = np.flatnonzero(self._movers[:n] >= 0)
        logits, values = self._look(leaves)
        if not count_visit:
            self._root_logits, self._root_mask = logits.copy(), self._mask[:n] != 0
        share = float(self.options.rollout_share) if count_visit else 0.0
        if share > 0:
            network_tree.roll_out(
                self.game.table, leaves, self._policy, self._guided, self._knobs[2], self._rows, self._ends,
                self._end_mask, self._wanted, self._rolled, self._margins, self._states, self._params,
                self._margin_params,
            )  # fmt: skip
        network_tree.expand(
            n, leaves, logits, values, self._rolled, share, self._common, count_visit, self._tree, self._used,
            self.capacity, self.options.width, self._mask, self._path, self._lengths, self._movers, self._values,
            self._sums, self.seats, float(self.options.prior_power), self._kept, self._kept_logits,
        )  # fmt: skip

    def _look(self, leaves: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """What the network says about some games."""
        m = len(leaves)
        if m == 0:
            return np.zeros((0, self.game.num_actions), np.float32), np.zeros((0, 1), np.float32)
        padded = -m % _BLOCK + m
        obs = self._obs[:padded] if m == self.count else self._obs[np.resize(leaves, padded)]
        logits, values = self.network.evaluate(obs)
        if values.shape[1] not in (1, self.num_players):
            raise ValueError(f"the network has values for {values.shape[1]} seats; the game has {self.num_players}")
        return np.ascontiguousarray(logits[:m]), np.ascontiguousarray(values[:m])

    def stir(self, rng: np.random.Generator, alpha: float, share: float) -> None:
        """Mixes Dirichlet noise into what the network thinks of the actions at the roots, after `start`.

        alpha: is divided by the number of children of a root. share: of the noise.
        """
        noise = np.zeros((self.count, self.options.width), np.float32)
        for g in range(self.count):
            children = int(self._used[g]) - g * self.capacity - 1
            noise[g, :children] = rng.dirichlet(np.full(children, alpha / children))
        network_tree.mix_in(self._tree, self.capacity, self.count, noise, share)

    def roots(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
        """The children of the roots, the most probable first, K of them at most.

        Returns actions int64 (n, K), -1 for none; visits int64 (n, K); probabilities float32 (n, K); and the mean
        result of each seat float32 (n, K, P), nan where never visited.
        """
        n, k = self.count, self.options.width
        actions, visits = np.empty((n, k), np.int64), np.empty((n, k), np.int64)
        priors, values = np.empty((n, k), np.float32), np.empty((n, k, self.num_players), np.float32)
        network_tree.read_roots(self._tree, self.capacity, n, actions, visits, priors, values)
        return actions, visits, priors, values

    def probabilities(self) -> npt.NDArray[np.float32]:
        """What the network gave the children of the roots, in their order, without `prior_power` and noise: (n, K)."""
        logits = np.where(self._root_mask, self._root_logits, -np.inf)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        actions = self.roots()[0]
        found = np.take_along_axis(weights / weights.sum(axis=1, keepdims=True), np.maximum(actions, 0), axis=1)
        return np.where(actions >= 0, found, 0).astype(np.float32)

    def visits(self) -> npt.NDArray[np.int64]:
        """How often each action was chosen at the roots: int64 (n, A)."""
        actions, visits, _, _ = self.roots()
        found = np.zeros((self.count, self.game.num_actions), np.int64)
        games, children = np.nonzero(visits)
        found[games, actions[games, children]] = visits[games, children]
        return found

    def values(self) -> npt.NDArray[np.float64]:
        """The mean result of each seat at the roots: float64 (n, P)."""
        roots = self._tree[np.arange(self.count) * self.capacity]
        return np.asarray(roots["value"][:, : self.num_players] / np.maximum(roots["visits"], 1)[:, None], np.float64)

    def deviations(self) -> npt.NDArray[np.float64]:
        """How far apart the results of the simulations were for who searches: standard deviations, above 0, (n,)."""
        return np.array([network_tree.deviation(self._sums, g) for g in range(self.count)])

    def best(self) -> npt.NDArray[np.int64]:
        """The actions that were chosen most often; of equals, the one with the greater mean result."""
        if not self.simulations:
            raise ValueError("nothing was searched yet: call run()")
        actions, visits, _, values = self.roots()
        mine = np.take_along_axis(values, self.seats[: self.count, None, None], axis=2)[:, :, 0]
        rank = visits + np.where(visits > 0, np.nan_to_num(mine) / 4 + 0.5, 0)  # values are in [-1, 1]
        return np.asarray(np.take_along_axis(actions, rank.argmax(axis=1)[:, None], axis=1)[:, 0])


class NetworkSearchAgent:
    """Plays the most visited action of a search with a network. Its name is `az:FILE:SIMULATIONS`.

    Args:
        game: the game.
        network: looks at the leaves.
        simulations: a decision.
        name: how tables call it.
        options: how to search; by default `DEFAULTS` of the game.
    """

    def __init__(
        self,
        game: Game,
        network: Evaluator,
        simulations: int = SIMULATIONS,
        name: str = "az",
        options: NetworkSearchOptions | None = None,
    ) -> None:
        if isinstance(simulations, bool) or not 0 < simulations <= _MOST:
            raise ValueError(f"simulations={simulations!r} is not allowed; it is a whole number from 1 to {_MOST:,}")
        self.name = name
        self.simulations = simulations
        self._game, self._network = game, network
        self._options = DEFAULTS.get(game.name, NetworkSearchOptions()) if options is None else options
        self._searches: dict[bytes, NetworkSearch] = {}  # by parameters

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_searches": {}}

    def act(self, view: View) -> npt.NDArray[np.int64]:
        """See `Agent.act`."""
        rows = view.positions()
        actions = np.asarray(view.action_mask.argmax(axis=1), np.int64)
        choosing = np.flatnonzero(view.action_mask.sum(axis=1, dtype=np.int64) > 1)
        if len(choosing):
            search = self._search_in(view.params, len(choosing))
            for some in np.array_split(choosing, math.ceil(len(choosing) / search.most)):
                search.start(rows[some], view.seeds[some])
                search.run(self.simulations)
                actions[some] = search.best()
        return actions

    def _search_in(self, params: Params, positions: int) -> NetworkSearch:
        """The trees for games of some options, with room for as many positions as there were at most so far."""
        key = params.tobytes()
        room = max(1, min(_SIDE_BY_SIDE, _NODES // _room(self._options, self.simulations)))
        room = min(room, 1 << (positions - 1).bit_length())
        if key not in self._searches or self._searches[key].most < room:
            self._searches[key] = NetworkSearch(
                self._game, params, self._network, room, self.simulations, self._options
            )  # fmt: skip
        return self._searches[key]


def _room(options: NetworkSearchOptions, simulations: int) -> int:
    """The most nodes that a tree can get."""
    return 1 + (options.width + options.chance) * (simulations + 1)


def make(text: str, game: Game) -> NetworkSearchAgent:
    """The agent `az:text`, where text is FILE or FILE:SIMS: a policy as `policy:` takes it, and simulations.

    Raises ValueError for other numbers, PolicyError for a file that can't be used.
    """
    from iszoo.baselines.policy import load_card, load_policy  # needs an extra

    file, colon, number = text.rpartition(":")
    if not colon or number.endswith(".safetensors"):  # a colon can be in a path, too
        file, number = text, str(SIMULATIONS)
    if not file or not (number.isascii() and number.isdecimal()) or not 0 < int(number) <= _MOST:
        raise ValueError(
            f"az:{text} is not allowed; write a policy and simulations, from 1 to {_MOST:,}: az:isaac-az:64,"
            " az:runs/iso-1/policy.safetensors:200"
        )
    policy = load_policy(file, game)
    options = DEFAULTS.get(game.name, NetworkSearchOptions())
    options = NetworkSearchOptions(**{**options.__dict__, "margin": load_card(file).margin})
    name = f"az:{policy.name.partition(':')[2]}:{int(number)}"
    return NetworkSearchAgent(game, policy.network, int(number), name, options)


def _has_common_result(game: Game, params: Params) -> bool:
    """Whether the seats win and lose together: what some random games gave them doesn't add up to zero."""
    rows, mask = np.zeros((1, game.row_size), np.int64), np.zeros((1, game.num_actions), np.int8)
    values = np.zeros((1, int(params[NUM_PLAYERS])))
    return bool(
        network_tree.adds_up(game.table, 32, rows, mask, values, np.zeros((1, 1), np.int64), _ANY_DEAL, params) > 1e-6
    )
