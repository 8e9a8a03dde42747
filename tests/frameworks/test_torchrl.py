from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torchrl")
import torch
from tensordict import TensorDict, TensorDictBase
from torchrl.envs.utils import check_env_specs

from iszoo.wrappers.torchrl import GROUP, LOG_PROB, decisions, make_env, masked_actor
from tests.frameworks.games import DECIDED, LENIENT, NAMES, Decided, decided, play_measured, run_example

pytestmark = LENIENT


def replayed(record: Decided) -> TensorDictBase:
    """A game as a rollout."""
    env = make_env(record.name, **record.game_options)
    plan = zip(record.actions, record.movers, strict=True)

    def follow(shown: TensorDictBase) -> TensorDictBase:
        action, mover = next(plan)
        given = torch.zeros(len(env.possible_agents), dtype=torch.int64)
        given[int(mover[-1])] = action
        return shown.set((GROUP, "action"), given)

    rollout: TensorDictBase = env.rollout(
        len(record.actions) + 1, follow, auto_reset=False, tensordict=env.reset(seed=record.seed)
    )
    return rollout


@DECIDED
def test_rewards_reach_the_right_decisions(game: tuple[str, int, bool]) -> None:
    record = decided(*game)
    batch = decisions(replayed(record))
    assert len(batch) == len(record.actions)
    for seat, (agent, reward) in enumerate(record.rewards.items()):
        own = batch[batch["agent"] == seat]
        plies = [ply for ply, mover in enumerate(record.movers) if mover == agent]
        assert own["action"].tolist() == [record.actions[ply] for ply in plies]
        assert own["next", "reward"].flatten().tolist() == pytest.approx([0.0] * (len(plies) - 1) + [reward])
        assert own["next", "done"].flatten().tolist() == [False] * (len(plies) - 1) + [True]
        for k, ply in enumerate(plies):
            plain = record.replayed(ply, observation="flat").observe(agent)
            assert np.array_equal(own["observation"][k], plain["observation"])
            assert np.array_equal(own["action_mask"][k], plain["action_mask"].astype(bool))
            following = record.replayed(plies[k + 1] if k + 1 < len(plies) else None, observation="flat")
            assert np.array_equal(own["next", "observation"][k], following.observe(agent)["observation"])


def test_several_moves_in_a_row_are_one_agents() -> None:
    """Rewards between two decisions add up, and unfinished games are left out: a rollout made by hand."""
    mask = torch.tensor([[1, 0], [1, 0], [0, 1], [1, 0], [0, 1]], dtype=torch.bool)
    reward = torch.tensor([[0, 0], [1, 2], [4, 8], [16, 32], [0, 0]], dtype=torch.float32)[..., None]
    done = torch.tensor([0, 0, 0, 1, 0], dtype=torch.bool)[:, None]
    group = {
        "mask": mask,
        "action": torch.arange(10).reshape(5, 2),
        "action_mask": torch.ones(5, 2, 3, dtype=torch.bool),
        "observation": {"observation": torch.arange(10, dtype=torch.int8).reshape(5, 2, 1)},
    }
    after = {"reward": reward, "observation": {"observation": -torch.arange(10, dtype=torch.int8).reshape(5, 2, 1)}}
    rollout = TensorDict({GROUP: group, "next": {GROUP: after, "done": done}}, batch_size=5)
    batch = decisions(torch.stack([rollout, rollout]))
    assert batch["agent"].tolist() == [0, 0, 0, 1] * 2
    assert batch["action"].tolist() == [0, 2, 6, 5] * 2
    assert batch["next", "reward"].flatten().tolist() == [0, 5, 16, 40] * 2
    assert batch["next", "observation"].flatten().tolist() == [2, 6, -6, -7] * 2
    with pytest.raises(ValueError, match="no game of this rollout was played to its end"):
        decisions(rollout[:3])


@pytest.mark.parametrize("name", NAMES)
def test_specs_and_legal_play(name: str) -> None:
    """`illegal="raise"` would stop the rollout."""
    env = make_env(name, seed=0)
    check_env_specs(env)
    net = torch.nn.LazyLinear(env.action_spec[GROUP, "action"].space.n)
    actor = masked_actor(net, in_env=True)
    with torch.no_grad():
        rollout = env.rollout(env.game.max_game_length + 20, actor, break_when_any_done=False)
    batch = decisions(rollout)
    assert batch["action_mask"].gather(1, batch["action"][:, None]).all()
    # The same network, asked with the keys of `decisions`, gives the same probabilities.
    with torch.no_grad():
        again = masked_actor(net, in_env=False).get_dist(batch).log_prob(batch["action"])
    assert torch.allclose(again, batch[LOG_PROB], atol=1e-4)


def test_bad_options_are_named() -> None:
    with pytest.raises(ValueError, match="there is no game 'go'; the games are"):
        make_env("go")


def test_the_example_trains() -> None:
    names: Any = run_example("torchrl")
    assert names["played"] > 0
    assert all(np.isfinite(loss) for loss in names["losses"])


def test_what_is_measured_plays_on() -> None:
    play_measured("torchrl")
