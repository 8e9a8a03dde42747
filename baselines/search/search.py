"""Search: UCT over the kernels of any game, on one preallocated tree of arrays.

Every simulation starts from the position with all that its player can't know redrawn (`resample`), walks down the
tree by UCB1, adds one node, plays to the end and backs up the result of every seat. The tree is over sequences of
actions (Cowling, Powley, Whitehouse 2012, single-observer information-set search): a node stands for all positions
that the sequence can lead to, and at each visit only those of its children compete that are legal in the position
at hand. A game without chance or secrets is searched as by plain UCT. Where much depends on what chance shows, the
option `chance` gives each of its outcomes a node of its own; else a node stands for all of them.

`Search` is for one position at a time; `SearchAgent` is the agent `mcts:2000` or `mcts:500ms`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.baselines import scripted
from iszoo.baselines.agents import View
from iszoo.baselines.search import tree as search_tree
from iszoo.baselines.search.tree import NODE
from iszoo.envs.game import Game, Params
from iszoo.envs.primitives import MARGIN, NUM_PLAYERS, OUTCOME, REWARD, mix


@dataclass(frozen=True)
class SearchOptions:
    """How to search; `DEFAULTS` has what measured best for each game."""

    exploration: float = 1.4  #: the constant of UCB1 (Auer et al. 2002), or of PUCT where there is a prior
    prior: str = ""  #: the scripted agent in whose order the actions of a node are tried; "": at random, and UCB1
    decay: float = 0.5  #: what each action in the prior's order has of the probability of the one before
    first: int = 1 << 30  #: a node visited n times has at most first + widening * sqrt(n) children
    widening: float = 0.0
    rollout: str = ""  #: the scripted agent that plays the rollouts; "": uniformly random
    epsilon: float = 0.0  #: how often a scripted rollout plays at random instead
    chance: bool = False  #: whether what is seen after an action has nodes of its own: up to twice as many nodes
    margin: float = 0.0  #: the share of the margin reward in the value of a finished game; the rest is the outcome


DEFAULTS: Mapping[str, SearchOptions] = {
    "isaac": SearchOptions(2.0, "expert", 0.7, first=4, widening=1.0, rollout="expert", margin=0.5),
    "iso": SearchOptions(2.0, "expert", 0.8, first=4, widening=1.0, rollout="greedy", margin=0.7),
    "isis_osiris": SearchOptions(2.0, "expert", 0.5, first=2, widening=0.3, chance=True, margin=0.9),
}
"""Game -> how `mcts:` searches it; any other game is searched without a prior, rollouts at random."""

_CHUNK = 64  # simulations between two looks at the clock
_MOST = 1 << 24  # simulations, or milliseconds: float32 counts to there
_LARGE = 1 << 20  # nodes of a tree whose simulations are not counted


class Search:
    """The search tree of one position of a game.

    Args:
        game: the game.
        params: `game.params(options)`, of the position's game.
        options: how to search; by default `DEFAULTS` of the game.
        capacity: the most nodes of the tree, 32 bytes each. When they are used up, simulations go on without new ones.
    """

    def __init__(
        self, game: Game, params: Params, options: SearchOptions | None = None, capacity: int = 1 << 18
    ) -> None:
        if capacity < 2:
            raise ValueError(f"capacity={capacity} is not allowed; a tree has at least 2 nodes")
        self.game = game
        self.options = DEFAULTS.get(game.name, SearchOptions()) if options is None else options
        self.num_players = int(params[NUM_PLAYERS])
        self._params, self._margin_params = (with_reward(params, reward) for reward in (OUTCOME, MARGIN))
        self._prior, self._ordered = scripted_preference(game, self.options.prior, "prior")
        self._policy, self._guided = scripted_preference(game, self.options.rollout, "rollout")
        knobs = ("exploration", "first", "widening", "epsilon", "margin", "chance")
        self._knobs = tuple(float(getattr(self.options, knob)) for knob in knobs)
        decay = self.options.decay
        self._likely = ((1 - decay) * decay ** np.arange(game.num_actions)).astype(np.float32)
        self._tree = np.zeros(capacity, NODE)
        self._spare: npt.NDArray[Any] | None = None
        self._used = 0
        self._root = np.zeros((1, game.row_size), np.int64)
        self._rows = np.zeros((1, game.row_size), np.int64)
        self._mask = np.zeros((1, game.num_actions), np.int8)
        self._values = np.zeros((1, game.num_actions))
        self._path = np.zeros(2 * game.max_game_length + 2, np.int64)
        self._returns = np.zeros((2, self.num_players))
        self._seen, self._words = search_tree.scratch_for_views(game.obs_size)
        self._states = np.zeros((1, 1), np.int64)

    def start(self, row: npt.NDArray[np.int64], seed: int) -> None:
        """Forgets the tree; the next one is for a position, of which only what its player knows is looked at.

        Args:
            row: int64 (S,), a copy of which is kept.
            seed: sets all chance of the search.

        Raises ValueError if the game is over.
        """
        self._place(row, seed)
        self._tree[0] = np.zeros((), NODE)
        self._used = 1

    def _place(self, row: npt.NDArray[np.int64], seed: int) -> None:
        root = np.ascontiguousarray(row, np.int64).reshape(1, self.game.row_size).copy()
        player = int(search_tree.mover(self.game.table, root, self._params))
        if player < 0:
            raise ValueError("the game is over: there is nothing to search")
        self._root, self.player = root, player
        self._states[0, 0] = mix(seed)

    def run(self, simulations: int = 0, milliseconds: int = 0) -> int:
        """Adds simulations, or as many as fit into a time (in chunks of 64); returns how many were added."""
        before = self.simulations
        deadline = time.perf_counter() + milliseconds / 1000
        if simulations:
            self._simulate(simulations)
        while milliseconds and time.perf_counter() < deadline:
            self._simulate(_CHUNK)
        return self.simulations - before

    def _simulate(self, count: int) -> None:
        self._used = search_tree.simulate(
            count, self.game.table, self._root, self.player, self._tree, self._used, self._prior, self._ordered,
            self._policy, self._guided, self._knobs, self._likely, self._rows, self._mask, self._values, self._path,
            self._returns, self._seen, self._words, self._states, self._params, self._margin_params,
        )  # fmt: skip

    @property
    def simulations(self) -> int:
        """How many simulations the tree holds."""
        return int(self._tree["visits"][0]) if self._used else 0

    @property
    def nodes(self) -> int:
        """How many nodes the tree has."""
        return self._used

    def _children(self, node: int) -> Iterator[int]:
        child = int(self._tree["child"][node])
        while child:
            yield child
            child = int(self._tree["sibling"][child])

    def visits(self) -> npt.NDArray[np.int64]:
        """How often each action was chosen at the root: int64 (A,)."""
        visits = np.zeros(self.game.num_actions, np.int64)
        for child in self._children(0):
            visits[self._tree["action"][child]] = self._tree["visits"][child]
        return visits

    def values(self) -> npt.NDArray[np.float64]:
        """The mean result of each seat after each action at the root: float64 (A, P); nan where never tried."""
        values = np.full((self.game.num_actions, self.num_players), np.nan)
        for child in self._children(0):
            node = self._tree[child]
            values[node["action"]] = node["value"][: self.num_players] / node["visits"]
        return values

    def best(self) -> int:
        """The action that was chosen most often; of equals, the one with the greater mean result."""
        if not self.simulations:
            raise ValueError("nothing was searched yet: call run()")
        tried = self._tree[list(self._children(0))]
        best = max(
            tried, key=lambda node: (node["visits"], node["value"][self.player] / node["visits"], -int(node["action"]))
        )
        return int(best["action"])

    def principal_variation(self) -> list[int]:
        """The most visited actions from the root on; after each of them, what is seen most often."""
        line, node = [], 0
        while below := list(self._children(node)):
            node = max(below, key=lambda child: int(self._tree["visits"][child]))
            line.append(int(self._tree["action"][node]))
        return [action for action in line if action >= 0]

    def advance(self, action: int, row: npt.NDArray[np.int64], seed: int) -> int:
        """Makes the position after an action the root, and keeps what the tree has below it.

        What was learnt there was learnt for all positions that were possible before; in a game with chance or
        secrets, what the move has shown meanwhile bears only on what is searched from now on.

        Args:
            action: the action that was played at the root, by whomever.
            row: int64 (S,), the position now.
            seed: sets the chance of what is searched from now on.

        Returns the number of simulations that were kept.
        """
        kept = int(search_tree.child_of(self._tree, 0, action))
        self._place(row, seed)
        if kept and self.options.chance:
            label = search_tree.seen_after(
                self.game.table, self._root, self.player, self._seen, self._words, self._params
            )  # fmt: skip
            kept = int(search_tree.child_of(self._tree, kept, label))
        if not kept:
            self._tree[0] = np.zeros((), NODE)
            self._used = 1
            return 0
        if self._spare is None:
            self._spare = np.zeros_like(self._tree)
        self._used = search_tree.keep_below(self._tree, kept, self._spare)
        self._tree, self._spare = self._spare, self._tree
        return self.simulations


class SearchAgent:
    """Plays the most visited action of a search. Its name is `mcts:` and its budget.

    Args:
        game: the game.
        simulations: a budget a decision; or
        milliseconds: the time a decision may take.
        options: how to search; by default `DEFAULTS` of the game.
        threads: how many positions of a batch are searched at the same time. It changes no answer.
    """

    def __init__(
        self,
        game: Game,
        simulations: int = 0,
        milliseconds: int = 0,
        options: SearchOptions | None = None,
        threads: int = 1,
    ) -> None:
        if (simulations < 1) == (milliseconds < 1):
            raise ValueError("give a search either simulations or milliseconds")
        if threads < 1:
            raise ValueError(f"threads={threads} is not allowed; it is a whole number from 1")
        self.name = f"mcts:{simulations}" if simulations else f"mcts:{milliseconds}ms"
        self._game, self._options, self._threads = game, options, threads
        self._budget = simulations, milliseconds
        self._searches: dict[tuple[bytes, int], Search] = {}  # by parameters and thread

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_searches": {}}

    def act(self, view: View) -> npt.NDArray[np.int64]:
        """See `Agent.act`."""
        rows = view.positions()
        actions = np.zeros(len(rows), np.int64)

        def search_share(thread: int) -> None:
            search = self._search_in(view.params, thread)
            for k in range(thread, len(rows), self._threads):
                legal = np.flatnonzero(view.action_mask[k])
                if len(legal) == 1:
                    actions[k] = legal[0]
                    continue
                search.start(rows[k], int(view.seeds[k]))
                search.run(*self._budget)
                actions[k] = search.best()

        if self._threads == 1 or len(rows) == 1:
            for thread in range(self._threads):
                search_share(thread)
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                list(pool.map(search_share, range(self._threads)))
        return actions

    def _search_in(self, params: Params, thread: int) -> Search:
        """The tree for games of some options: one each, made at the first use."""
        key = params.tobytes(), thread
        if key not in self._searches:
            capacity = min(2 * self._budget[0] + 1, _LARGE) if self._budget[0] else _LARGE
            self._searches[key] = Search(self._game, params, self._options, capacity)
        return self._searches[key]


def make(text: str, game: Game) -> SearchAgent:
    """The agent `mcts:text`, where text is a number of simulations ("2000") or a time ("500ms").

    Raises ValueError for any other text.
    """
    number, milliseconds = (text[:-2], True) if text.endswith("ms") else (text, False)
    if not (number.isascii() and number.isdecimal()) or not 0 < int(number) <= _MOST:
        raise ValueError(
            f"mcts:{text} is not allowed; write simulations or a time, from 1 to {_MOST:,}: mcts:2000, mcts:500ms"
        )
    return SearchAgent(game, milliseconds=int(number)) if milliseconds else SearchAgent(game, int(number))


def with_reward(params: Params, reward: int) -> Params:
    """The parameters of a game with another reward: OUTCOME or MARGIN."""
    changed = params.copy()
    changed[REWARD] = reward
    changed.setflags(write=False)
    return changed


def scripted_preference(game: Game, name: str, what: str) -> tuple[Any, bool]:
    """The table of a scripted preference, and whether there is one. Raises ValueError that lists the names."""
    known = scripted.SCRIPTED.get(game.name, {})
    if name and name not in known:
        raise ValueError(f"{what}={name!r} is not allowed; {game.name} has {', '.join(map(repr, known)) or 'none'}")
    if not name:
        return (game.table, False)  # never called; of the same type
    return scripted.bind(known[name]), True
