"""The engine against the oracles: every ply of random games, as every seat sees it.

ISZOO_GAMES sets how many games of each game are played, shared out among its settings.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from iszoo.envs.aec import GameEnv
from iszoo.envs.vec import VecEnv
from tests.helpers import NUM_GAMES, Setting, settings_to_test
from tests.traces import Trace, record


@pytest.fixture(scope="module")
def traces(setting: Setting) -> list[Trace]:
    """This setting's share of the random games."""
    rng = random.Random(str(setting))
    share = -(-NUM_GAMES // len(settings_to_test(setting.game)))
    return [record(setting, setting.random_deal(rng), rng) for _ in range(share)]


# --- One game at a time ---


@pytest.mark.parametrize(("layout", "reward"), [("planes", "outcome"), ("split", "margin"), ("flat", "outcome")])
def test_single_games(setting: Setting, traces: list[Trace], layout: str, reward: str) -> None:
    env = setting.env(observation=layout, reward=reward)
    for trace in traces:
        env.reset(options={"deal": trace.deal or None})
        for ply in range(trace.length + 1):
            compare_single(env, trace, ply)
            if ply < trace.length:
                env.step(trace.actions[ply])


def compare_single(env: GameEnv, trace: Trace, ply: int) -> None:
    """Everything that an environment says of a position."""
    mover = trace.movers[ply]
    over = mover < 0
    rewards = trace.rewards(ply, env.reward_kind).tolist()
    assert env.terminations == dict.fromkeys(env.possible_agents, over)
    assert env.truncations == dict.fromkeys(env.possible_agents, False)
    assert list(env.rewards.values()) == (pytest.approx(rewards, abs=1e-12) if over else rewards)
    assert env.legal_actions() == np.flatnonzero(trace.masks[ply]).tolist()
    assert env.scores() == trace.scores[ply].tolist()

    observation, reward, terminated, truncated, _ = env.last()
    seat = env.possible_agents.index(env.agent_selection)
    assert over or seat == mover
    assert (reward, terminated, truncated) == (env.rewards[env.agent_selection], over, False)
    compare_observation(observation, env, trace, ply, seat)
    for seat, agent in enumerate(env.possible_agents):
        compare_observation(env.observe(agent), env, trace, ply, seat)


def compare_observation(shown: Any, env: GameEnv, trace: Trace, ply: int, seat: int) -> None:
    """What one seat sees, and its mask."""
    expected = trace.observation(ply, seat, env.observation_layout)
    if isinstance(expected, dict):
        assert shown["observation"].keys() == expected.keys()
        for part, array in expected.items():
            assert np.array_equal(shown["observation"][part], array), (ply, seat, part)
    else:
        assert np.array_equal(shown["observation"], expected), (ply, seat)
    if seat == trace.movers[ply]:
        assert np.array_equal(shown["action_mask"], trace.masks[ply]), (ply, seat)
    else:
        assert not shown["action_mask"].any(), (ply, seat)


# --- Batches ---


def test_a_batch_out_of_step(setting: Setting, traces: list[Trace]) -> None:
    """All games in one batch; at each call a random part of them moves, so that turns fall out of step."""
    count = len(traces)
    vec = setting.vec(count, autoreset="disabled", reward="margin")
    if traces[0].deal:
        vec.reset(deal=[trace.deal for trace in traces])
    rng = np.random.default_rng(0)
    lengths = np.array([trace.length for trace in traces])
    at = np.zeros(count, np.int64)
    moved = np.zeros(count, np.bool_)
    while True:
        over = at == lengths
        assert np.array_equal(vec.done, moved & over)
        compare_batch(vec, traces, at)
        for i in range(count):
            expected = traces[i].rewards(int(at[i]) if moved[i] else 0, "margin")
            assert np.allclose(vec.rewards[i], expected, atol=1e-6), i
        if over.all():
            break
        moved = ~over & (rng.random(count) < 0.8)
        games = zip(traces, at.tolist(), moved, strict=True)
        actions = [trace.actions[ply] if moves else -1 for trace, ply, moves in games]
        vec.step(np.array(actions), where=moved)
        at += moved


def test_a_batch_where_game_follows_game(setting: Setting) -> None:
    """Same-step autoreset: the next game is there at once, and the end of the last one beside it."""
    rng = random.Random(str(setting))
    count = 4
    to_play = max(2 * count, NUM_GAMES // (4 * len(settings_to_test(setting.game))))
    vec = setting.vec(count, seed=7)

    def begin(i: int) -> Trace:
        return record(setting, setting.deal_in(vec.rows[i]), rng)

    traces = [begin(i) for i in range(count)]
    at = np.zeros(count, np.int64)
    while to_play > 0:
        vec.step(np.array([trace.actions[ply] for trace, ply in zip(traces, at.tolist(), strict=True)]))
        at += 1
        ended = [i for i in range(count) if at[i] == traces[i].length]
        assert np.flatnonzero(vec.done).tolist() == ended
        assert not vec.rewards[~vec.done].any()
        for i in ended:
            compare_end(vec, traces[i], i)
            traces[i] = begin(i)
            at[i] = 0
            to_play -= 1
        compare_batch(vec, traces, at)


def compare_batch(vec: VecEnv, traces: list[Trace], at: Any) -> None:
    """What a batch shows of each position, but for the ends that same-step autoreset keeps beside it."""
    games = list(zip(traces, at.tolist(), strict=True))
    assert np.array_equal(vec.player, [trace.movers[ply] for trace, ply in games])
    assert np.array_equal(vec.action_mask, [trace.masks[ply] for trace, ply in games])
    assert np.array_equal(vec.obs, [trace.seen[ply, trace.shown_to(ply)] for trace, ply in games])
    for seat in range(vec.num_players):
        assert np.array_equal(vec.observe(seat), [trace.seen[ply, seat] for trace, ply in games])
    present = ~vec.done | (vec.player < 0)
    scores = np.array([trace.scores[ply] for trace, ply in games])
    assert np.array_equal(vec.scores[present], scores[present])


def compare_end(vec: VecEnv, trace: Trace, i: int) -> None:
    """What a batch says of a game that has just ended."""
    end = trace.length
    assert vec.rewards[i] == pytest.approx(trace.rewards(end, "outcome"), abs=1e-6)
    assert vec.scores[i].tolist() == trace.scores[end].tolist()
    assert np.array_equal(vec.final_obs[i], trace.seen[end, trace.shown_to(end)])
    for seat in range(vec.num_players):
        assert np.array_equal(vec.observe(seat, final=True)[i], trace.seen[end, seat])
