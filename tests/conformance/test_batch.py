"""Batches: bit for bit the games of single environments, at any size and on any number of threads."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from iszoo.envs.threads import max_threads
from tests.helpers import BUFFERS, Setting, batch_picture, frozen, random_actions, scaled

SEED = 100


@pytest.mark.parametrize("num_envs", [1, 2, scaled(19, least=3)])
def test_a_batch_is_single_games(setting: Setting, num_envs: int) -> None:
    """Game i of a batch is what env.reset(seed=SEED + i) starts, through several resets without a seed."""
    vec = setting.vec(num_envs, seed=SEED)
    envs = [setting.started(SEED + i, observation="flat") for i in range(num_envs)]
    rng = np.random.default_rng(num_envs)
    ended = np.zeros(num_envs, np.int64)
    for _ in range(scaled(3, least=1) * setting.game.max_game_length + 1):
        for i, env in enumerate(envs):
            seen = env.observe(env.agent_selection)
            assert np.array_equal(vec.obs[i], seen["observation"])
            assert np.array_equal(vec.action_mask[i], seen["action_mask"])
            assert f"player_{vec.player[i]}" == env.agent_selection
            assert np.array_equal(vec.rows[i], env._rows[0])
        actions = random_actions(vec, rng)
        vec.step(actions)
        for i, env in enumerate(envs):
            env.step(actions[i])
            assert vec.scores[i].tolist() == env.scores()
            assert vec.rewards[i].tolist() == np.array(list(env.rewards.values()), np.float32).tolist()
            assert vec.done[i] == any(env.terminations.values())
            if vec.done[i]:
                assert np.array_equal(vec.final_rows[i], env._rows[0])
                ended[i] += 1
                env.reset()
    assert ended.min() >= scaled(3, least=1)


@pytest.mark.parametrize("num_envs", [1, 2, 3, scaled(130, least=5)])
def test_threads_change_nothing(setting: Setting, num_envs: int) -> None:
    """Every buffer is the same, after steps of all games, of some, and after games of random steps."""
    most = max_threads()
    one, two = (setting.vec(num_envs, seed=SEED, threads=min(threads, most)) for threads in (1, 2))
    rng = np.random.default_rng(1)
    for turn in range(6):
        actions = random_actions(one, rng)
        where = np.arange(num_envs) % 3 == 0 if turn % 2 else None
        for vec in (one, two):
            vec.step(actions, where=where)
        assert batch_picture(one) == batch_picture(two)
        counts = [vec.random_steps(scaled(20) * turn, observe=turn % 3 != 0) for vec in (one, two)]
        assert counts == [num_envs * scaled(20) * turn] * 2
        assert batch_picture(one) == batch_picture(two)


def test_where_moves_only_some_games(setting: Setting) -> None:
    """In the others only what speaks of the last call changes: rewards and done are cleared."""
    vec = setting.vec(6, seed=SEED)
    rng = np.random.default_rng(2)
    positions = ("obs", "action_mask", "player", "rows")
    for _ in range(setting.game.max_game_length):
        where = rng.random(6) < 0.5
        before = {name: getattr(vec, name).copy() for name in positions}
        vec.step(np.where(where, random_actions(vec, rng), -1), where=where)
        for name, array in before.items():
            changed = (getattr(vec, name) != array).reshape(6, -1).any(axis=1)
            assert not changed[~where].any()
        assert (vec.rows != before["rows"]).any(axis=1)[where].all()
        assert not vec.done[~where].any()
        assert not vec.rewards[~where].any()


def test_reset_of_some_games(setting: Setting) -> None:
    vec = setting.vec(4, seed=SEED)
    vec.random_steps(5)
    before = frozen(vec.rows[:2])
    vec.reset(seed=7, where=np.array([False, False, True, True]))
    assert frozen(vec.rows[:2]) == before
    fresh = setting.vec(4, seed=7)
    for name in ("obs", "action_mask", "player", "rows"):
        assert np.array_equal(getattr(vec, name)[2:], getattr(fresh, name)[2:])


def test_games_that_are_over_stay_so(setting: Setting) -> None:
    """With autoreset="disabled" the end is shown until reset(where=...), which goes on with the generator."""
    vec, single = setting.vec(3, seed=SEED, autoreset="disabled"), setting.started(SEED, observation="flat")
    vec.random_steps(setting.game.max_game_length)
    assert (vec.player == -1).all()
    assert not vec.action_mask.any()
    assert vec.done.all()
    at_the_end, rewards = batch_picture(vec), vec.rewards.copy()
    assert vec.random_steps(3) == 0
    assert batch_picture(vec) == at_the_end
    vec.reset(where=np.array([True, False, False]))
    single.reset()
    assert np.array_equal(vec.rows[0], single._rows[0])
    assert np.array_equal(vec.obs[0], single.observe("player_0")["observation"])
    assert vec.player.tolist() == [0, -1, -1]
    assert vec.done.tolist() == [False, True, True]
    assert not vec.rewards[0].any()
    assert np.array_equal(vec.rewards[1:], rewards[1:])
    assert rewards[0].any()


def test_positions_written_into_rows(setting: Setting) -> None:
    vec, source = setting.vec(5, seed=1), setting.vec(5, seed=2)
    source.random_steps(6)
    vec.rows[:] = source.rows
    vec.refresh()
    for name in ("obs", "action_mask", "player", "rows"):
        assert np.array_equal(getattr(vec, name), getattr(source, name))


def test_every_seat_observes(setting: Setting) -> None:
    """`observe` takes one seat or one a game, and writes into `out` without touching any buffer."""
    vec = setting.vec(6, seed=SEED)
    vec.random_steps(4)
    before = batch_picture(vec)
    seats = np.arange(6) % vec.num_players
    views = np.stack([vec.observe(seat) for seat in range(vec.num_players)])
    assert np.array_equal(vec.observe(seats), views[seats, np.arange(6)])
    out = np.empty_like(vec.obs)
    assert vec.observe(0, out=out) is out
    assert np.array_equal(out, views[0])
    assert np.array_equal(vec.observe(vec.player), vec.obs)
    assert batch_picture(vec) == before


def test_board_and_features_are_views(setting: Setting) -> None:
    vec = setting.vec(3, seed=SEED)
    env = setting.started(SEED, observation="split")
    shown = env.observe(env.agent_selection)["observation"]
    parts: dict[str, Any] = {"board": vec.board, "features": vec.features}
    for name, part in parts.items():
        assert np.shares_memory(part, vec.obs)
        assert np.array_equal(part[0], shown[name])
        assert part.shape == (3, *shown[name].shape)


def test_buffers_stay_and_share_nothing(plain: Setting) -> None:
    """Every call writes into the same arrays, and none of them is a view of another: ends outlive the next deal."""
    vec = plain.vec(3, seed=SEED)
    buffers = {name: getattr(vec, name) for name in BUFFERS}
    for one, other in combinations(buffers.values(), 2):
        assert not np.shares_memory(one, other)
    vec.random_steps(plain.game.max_game_length)
    vec.step(vec.action_mask.argmax(axis=1))
    vec.reset(seed=1)
    assert all(getattr(vec, name) is buffer for name, buffer in buffers.items())
