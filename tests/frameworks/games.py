"""What the tests of the frameworks share: decided games to replay through an adapter, and the docs' examples."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import iszoo
from iszoo.baselines.agents import View
from iszoo.benchmarks.adapters import FRAMEWORKS
from iszoo.envs.aec import GameEnv

ROOT = Path(__file__).parents[2]
NAMES = tuple(iszoo.REGISTRY)

# The frameworks' own warnings are not errors here.
LENIENT = pytest.mark.filterwarnings("default")


@dataclass(frozen=True)
class Decided:
    """A game that one player won, as a plain AEC environment plays it."""

    name: str
    game_options: dict[str, int]
    seed: int
    actions: tuple[int, ...]
    movers: tuple[str, ...]
    rewards: dict[str, float]  # of each agent, +1 for who won; with two players -1 for who lost

    def replayed(self, plies: int | None = None, **options: object) -> GameEnv:
        """A plain environment after so many of the actions."""
        env = iszoo.make(self.name, **self.game_options, **options)
        env.reset(seed=self.seed)
        for action in self.actions[:plies]:
            env.step(action)
        return env


class Replay:
    """An agent that plays what the other seats played in a decided game, and then first legal actions."""

    name = "replay"

    def __init__(self, record: Decided, learner: str) -> None:
        moves = zip(record.actions, record.movers, strict=True)
        self._actions = [action for action, mover in moves if mover != learner]

    def act(self, view: View) -> np.ndarray:
        """See `Agent.act`; for one game at a time."""
        if not self._actions:
            actions: np.ndarray = view.action_mask.argmax(axis=1)
            return actions
        assert len(view.seeds) == 1
        return np.array([self._actions.pop(0)])


@cache
def decided(name: str, players: int, last_mover_wins: bool) -> Decided:
    """A game played at random in which who moves last wins, or loses."""
    options = {"num_players": players} if players > 2 else {}
    for seed in range(1000):
        rng = random.Random(seed)
        env = iszoo.make(name, **options)
        env.reset(seed=seed)
        actions, movers = [], []
        while legal := env.legal_actions():
            actions.append(rng.choice(legal))
            movers.append(env.agent_selection)
            env.step(actions[-1])
        if max(env.rewards.values()) == 1 and (env.rewards[movers[-1]] == 1) == last_mover_wins:
            assert sorted(env.rewards.values()) == [-1 / (players - 1)] * (players - 1) + [1]
            return Decided(name, options, seed, tuple(actions), tuple(movers), dict(env.rewards))
    raise AssertionError(f"no such game of {name}")


DECIDED = pytest.mark.parametrize("game", [
    pytest.param((name, players, wins), id=f"{name}-{players}-players-last-mover-{'wins' if wins else 'loses'}")
    for name, game in iszoo.REGISTRY.items() for players in game.players if players in (2, 3) for wins in (True, False)
])  # fmt: skip


def example(page: str) -> str:
    """The code of a page of docs/frameworks."""
    text = (ROOT / "docs" / "frameworks" / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 1
    code: str = blocks[0]
    return code


def run_example(page: str) -> dict[str, object]:
    """Runs the example of a page; its names afterwards."""
    names: dict[str, object] = {"__name__": "__main__"}
    exec(compile(example(page), f"{page}.md", "exec"), names)
    return names


def seen(env: GameEnv) -> np.ndarray:
    """What the agent to move sees, flat."""
    observation: np.ndarray = env.observe(env.agent_selection)["observation"]
    return observation.ravel()


def play_measured(framework: str) -> None:
    """Plays the adapters that the benchmark times: every action is legal, and games end and begin again."""
    for game in iszoo.REGISTRY.values():
        for adapter in FRAMEWORKS[framework](game):
            calls = 3 * game.max_game_length
            decisions = [adapter.once() for _ in range(calls)]
            assert set(decisions) <= {0, adapter.games}, adapter.name
            assert sum(decisions) > calls // 2 * adapter.games, adapter.name
