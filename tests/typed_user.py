"""What a user may write, for the type checkers (tests/test_package.py); it runs too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import iszoo
from iszoo import record
from iszoo.baselines.agents import Agent, View, make_agent
from iszoo.baselines.match import MatchResult, match
from iszoo.envs import VecEnv
from iszoo.envs.game import Game
from iszoo.envs.observation import Observation, SplitObservation


class FirstLegal:
    """An agent of the user's own."""

    name = "first"

    def act(self, view: View) -> npt.NDArray[np.int64]:
        """The first legal action of each position."""
        actions: npt.NDArray[np.int64] = view.action_mask.argmax(axis=1)
        return actions


def play_one() -> list[float]:
    """The loop of PettingZoo."""
    env = iszoo.make("iso", num_players=2)
    env.reset(seed=1)
    assert_type(env.agent_iter(), Iterator[str])
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        assert_type(observation, Observation)
        assert_type(reward, float)
        assert_type(terminated, bool)
        assert_type(truncated, bool)
        assert_type(info, dict[str, Any])
        assert_type(observation["action_mask"], npt.NDArray[np.int8])
        env.step(None if terminated or truncated else int(observation["action_mask"].argmax()))
        assert_type(env.last(observe=False)[1] if env.agents else 0.0, float)
        assert agent in env.possible_agents
    assert_type(env.scores(), list[int])
    assert_type(env.get_state(), bytes)
    return [float(score) for score in env.scores()]


def layouts_and_pictures(layout: str, rgb: bool) -> None:
    """What an observation and a picture are follows from the options."""
    split = iszoo.make("isaac", observation="split", render_mode="ansi")
    split.reset(seed=0)
    assert_type(split.observe("player_0"), SplitObservation)
    assert_type(split.observe("player_0")["observation"]["board"], npt.NDArray[np.int8])
    assert_type(split.render(), str)
    twin = split.clone()
    assert_type(twin.render(), str)
    flat = iszoo.make("isaac", observation="flat", render_mode="svg")
    flat.reset(seed=0)
    assert_type(flat.observe("player_0"), Observation)
    assert_type(flat.render(), str)
    plain = iszoo.make("isaac")
    plain.reset(seed=0)
    assert_type(plain.render(), None)
    if rgb:
        array = iszoo.make("isaac", render_mode="rgb_array")
        array.reset(seed=0)
        assert_type(array.render(), npt.NDArray[np.uint8])
    whatever = iszoo.make("isaac", observation=layout)
    whatever.reset(seed=0)
    assert_type(whatever.observe("player_0"), Any)


def play_many() -> int:
    """A batch."""
    vec = iszoo.make_vec("isis_osiris", 8, seed=0)
    assert_type(vec, VecEnv)
    seen: npt.NDArray[np.int8] = vec.obs
    assert_type(vec.board, npt.NDArray[np.int8])
    assert_type(vec.scores, npt.NDArray[np.int64])
    vec.step(vec.action_mask.argmax(axis=1))
    assert_type(vec.observe(0), npt.NDArray[np.int8])
    steps = vec.random_steps(3)
    assert_type(steps, int)
    return steps + len(seen)


def meet() -> MatchResult:
    """Agents by name, and one's own."""
    game = iszoo.REGISTRY["isis_osiris"]
    assert_type(game, Game)
    agents: list[Agent] = [FirstLegal(), make_agent("greedy", game)]
    result = match(game, agents, 4, seed=3)
    assert_type(result.standings[0].win_rate, float)
    assert_type(result.to_json(), dict[str, Any])
    return result


def keep() -> str:
    """A record, and what is in it."""
    kept = record.make("isis_osiris", seed=2, actions=[])
    assert_type(kept, record.Record)
    assert_type(record.loads(record.dumps(kept)).actions, tuple[int, ...])
    for position in record.replay(kept):
        assert_type(position, record.Position)
    return record.dumps(kept)


if __name__ == "__main__":
    layouts_and_pictures("planes", rgb=False)
    print(len(play_one()), play_many(), meet().games, len(keep()) > 0)
