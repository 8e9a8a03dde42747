"""Random games as the oracle plays them, written down to compare the environments with."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.envs.game import Game
from tests.helpers import Setting

# Whether a game leans towards its first or its last legal actions: so it also comes to what uniformly random
# games hardly ever show, such as stones before tiles, or a counter at 100.
LEANINGS = (None, 0, -1)


@dataclass(frozen=True)
class Trace:
    """A game of T actions: every array has an entry for the position before each of them, and for the end."""

    game: Game
    deal: Sequence[int]
    actions: Sequence[int]
    movers: Sequence[int]  # the seat to move; -1 at the end
    masks: npt.NDArray[np.int8]  # (T + 1, A), zeros at the end
    seen: npt.NDArray[np.int8]  # (T + 1, P, D): the flat observation of each seat
    scores: npt.NDArray[np.int64]  # (T + 1, P)
    returns: dict[str, npt.NDArray[np.float64]]  # by kind of reward: (P,)

    @property
    def length(self) -> int:
        """The number of actions, T."""
        return len(self.actions)

    def shown_to(self, ply: int) -> int:
        """The seat whose observation a batch shows: who moves, and at the end who moved last."""
        return self.movers[min(ply, self.length - 1)]

    def rewards(self, ply: int, reward: str) -> npt.NDArray[np.float64]:
        """The reward of each seat for arriving at a position."""
        returns = self.returns[reward]
        return returns if ply == self.length else np.zeros_like(returns)

    def observation(self, ply: int, seat: int, layout: str) -> Any:
        """What a seat sees, in a layout."""
        flat = self.seen[ply, seat]
        if layout == "flat":
            return flat
        size = self.game.board_size
        board, features = flat[:size].reshape(self.game.board_shape), flat[size:]
        if layout == "split":
            return {"board": board, "features": features}
        _, height, width = self.game.board_shape
        filled = np.empty((len(features), height, width), np.int8)
        filled[:] = features[:, None, None]
        return np.concatenate([board, filled])


def record(setting: Setting, deal: Sequence[int], rng: random.Random) -> Trace:
    """Plays a deal at random with the oracle alone."""
    oracle = setting.oracle(deal)
    actions, movers, masks, seen, scores = [], [], [], [], []
    leaning = rng.choice(LEANINGS)
    while True:
        legal = oracle.legal_actions()
        mask = np.zeros(setting.game.num_actions, np.int8)
        mask[legal] = 1
        observations = [[*board, *rest] for board, rest in map(oracle.observe, range(oracle.num_players))]
        masks.append(mask)
        seen.append(np.array(observations, np.int8))
        scores.append(oracle.scores())
        movers.append(oracle.player_to_move())
        if movers[-1] < 0:
            break
        lean = leaning is not None and rng.random() < 0.8
        actions.append(legal[leaning] if lean else rng.choice(legal))
        oracle.step(actions[-1])
    returns = {reward: np.array(oracle.returns(reward)) for reward in ("outcome", "margin")}
    return Trace(setting.game, deal, actions, movers, np.stack(masks), np.stack(seen), np.array(scores), returns)
