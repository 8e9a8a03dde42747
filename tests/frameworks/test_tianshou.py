from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("tianshou")
import torch
from tianshou.data import Collector, CollectStats, VectorReplayBuffer
from tianshou.env import DummyVectorEnv

from iszoo.wrappers.tianshou import TianshouEnv, dqn
from tests.frameworks.games import DECIDED, LENIENT, NAMES, decided, play_measured, run_example

pytestmark = LENIENT


@DECIDED
def test_rewards_are_every_seats_and_no_list_is_reused(game: tuple[str, int, bool]) -> None:
    record = decided(*game)
    env = TianshouEnv(record.name, **record.game_options)
    seen, _ = env.reset(seed=record.seed)
    earned = []
    for ply, (action, mover) in enumerate(zip(record.actions, record.movers, strict=True)):
        plain = record.replayed(ply, observation="flat").observe(mover)
        assert seen["agent_id"] == mover
        assert np.array_equal(seen["obs"], plain["observation"])
        assert seen["mask"] == plain["action_mask"].astype(bool).tolist()
        seen, rewards, terminated, truncated, _ = env.step(action)
        earned.append(rewards)
        assert terminated == (ply == len(record.actions) - 1)
        assert not truncated
    assert not np.any(earned[:-1])
    assert dict(zip(env.agents, earned[-1], strict=True)) == record.rewards


@pytest.mark.parametrize("name", NAMES)
def test_every_decision_of_a_game_has_its_seats_outcome_as_target(name: str) -> None:
    """Real games in a vector env; illegal="raise" would stop them."""
    np.random.seed(0)  # noqa: NPY002 - what Tianshou explores with
    torch.manual_seed(0)
    envs = DummyVectorEnv([lambda: TianshouEnv(name) for _ in range(3)])
    envs.seed(0)
    algorithm = dqn(TianshouEnv(name), hidden=(16,), exploration=0.5)
    length = TianshouEnv(name).env.game.max_game_length
    buffer = VectorReplayBuffer(3 * 6 * length, 3)
    collector = Collector[CollectStats](algorithm, envs, buffer, exploration_noise=True)
    collector.reset()
    collector.collect(n_episode=12)
    batch, indices = buffer.sample(0)
    assert len(indices) > 0
    assert all(mask[action] for mask, action in zip(batch.obs.mask, batch.act, strict=True))
    done = batch.terminated
    assert done.sum() >= 12
    assert np.allclose(batch.rew.sum(axis=1), 0)
    # The games in the buffer, env by env; `sample(0)` gives each env's entries in order.
    outcome, after = np.full(len(indices), np.nan), None
    processed = algorithm._preprocess_batch(batch, buffer, indices)
    returns = np.full(len(indices), np.nan)
    for agent in ("player_0", "player_1"):
        returns[batch.obs.agent_id == agent] = processed[agent].returns.flatten().numpy()
    for k in range(len(indices) - 1, -1, -1):
        if done[k]:
            after = batch.rew[k]
        elif (
            k + 1 == len(indices)
            or indices[k + 1] != indices[k] + 1
            or _env_of(indices[k + 1], buffer) != _env_of(indices[k], buffer)
        ):
            after = None  # not played to its end
        if after is not None:
            outcome[k] = after[int(batch.obs.agent_id[k][-1])]
    finished = ~np.isnan(outcome)
    assert finished.sum() >= 12
    assert np.allclose(returns[finished], outcome[finished])
    assert {-1.0, 1.0} <= set(outcome[finished])


def _env_of(index: int, buffer: Any) -> int:
    return int(index) // (buffer.maxsize // buffer.buffer_num)


def test_bad_options_are_named() -> None:
    with pytest.raises(ValueError, match="there is no game 'go'; the games are"):
        TianshouEnv("go")


def test_the_example_trains() -> None:
    names: Any = run_example("tianshou")
    result = names["result"]
    assert result.update_step > 0
    assert result.train_step > 0


def test_what_is_measured_plays_on() -> None:
    play_measured("tianshou")
