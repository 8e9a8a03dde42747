from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("agilerl")
import torch
from agilerl.algorithms import DQN
from agilerl.components.replay_buffer import ReplayBuffer
from agilerl.training.train_off_policy import train_off_policy
from agilerl.vector import PzDummyVecEnv
from pettingzoo.test import parallel_api_test, parallel_seed_test

from iszoo.wrappers.agilerl import WAIT, AgileRLEnv, AgileRLVectorEnv, MaskedIPPO, collect
from iszoo.wrappers.gymnasium import LearnerVectorEnv
from tests.frameworks.games import DECIDED, LENIENT, NAMES, ROOT, decided, example, play_measured

pytestmark = LENIENT


@DECIDED
def test_rewards_reach_every_agent_and_only_the_movers_action_counts(game: tuple[str, int, bool]) -> None:
    record = decided(*game)
    env = AgileRLEnv(record.name, **record.game_options)
    observations, infos = env.reset(seed=record.seed)
    for ply, (action, mover) in enumerate(zip(record.actions, record.movers, strict=True)):
        plain = record.replayed(ply, observation="flat")
        for agent in env.possible_agents:
            seen, mask = plain.observe(agent).values()
            expected = mask if agent == mover else np.arange(len(mask)) == WAIT
            assert np.array_equal(infos[agent]["action_mask"], expected)
            assert np.array_equal(observations[agent], [*seen, *expected])
            assert env.observation_space(agent).contains(observations[agent])
        given = {agent: action if agent == mover else -1 for agent in env.possible_agents}
        observations, rewards, terminations, truncations, infos = env.step(given)
        over = ply == len(record.actions) - 1
        assert rewards == (record.rewards if over else dict.fromkeys(rewards, 0))
        assert set(terminations.values()) == {over}
        assert set(truncations.values()) == {False}
    assert env.agents == []


@pytest.mark.parametrize("name", NAMES)
def test_pettingzoos_tests_of_parallel_envs(name: str) -> None:
    parallel_api_test(AgileRLEnv(name, illegal="terminate"), num_cycles=50)
    parallel_seed_test(lambda: AgileRLEnv(name, illegal="terminate"), num_cycles=5)


def ippo(env: AgileRLEnv) -> MaskedIPPO:
    return MaskedIPPO(
        [env.observation_space(agent) for agent in env.possible_agents],
        [env.action_space(agent) for agent in env.possible_agents],
        agent_ids=env.possible_agents,
        net_config={"encoder_config": {"hidden_size": [16]}, "head_config": {"hidden_size": [16]}},
        batch_size=32,
        gamma=1.0,
        update_epochs=1,
    )


@pytest.mark.parametrize("name", NAMES)
def test_ippo_plays_legally_and_learns(name: str) -> None:
    """illegal="raise" would stop it; across several games, through their stale infos."""
    env = AgileRLEnv(name)
    agent = ippo(env)
    steps = 2 * env.env.game.max_game_length
    (states, actions, log_probs, rewards, dones, *_), _ = experiences = collect(agent, PzDummyVecEnv(env), steps)
    size = env.env.game.num_actions
    ends = 0
    for seat in env.possible_agents:
        for seen, action, log_prob in zip(states[seat], actions[seat], log_probs[seat], strict=True):
            mask = seen[0, -size:]
            assert mask[action[0]] == 1
            if mask.sum() == 1:
                assert log_prob[0] == pytest.approx(0, abs=1e-6)
    earned = np.array([rewards[seat] for seat in env.possible_agents])[..., 0]
    assert np.allclose(earned.sum(axis=0), 0)
    ends = np.flatnonzero([done[0] for done in dones["player_0"]])  # the first step of each later game
    assert len(ends) >= 1
    assert not np.delete(earned, ends - 1, axis=1)[:, :-1].any()
    (group,) = agent.actors.keys()
    before = [weight.detach().clone() for weight in agent.actors[group].parameters()]
    losses = agent.learn(experiences[0])
    assert np.isfinite(list(losses.values())).all()
    after = agent.actors[group].parameters()
    assert any(not torch.equal(old, new) for old, new in zip(before, after, strict=True))


def test_learning_sees_the_probabilities_of_play() -> None:
    """The masked actor gives the log-probabilities that were recorded, as PPO's ratio needs."""
    env = AgileRLEnv(NAMES[0])
    agent = ippo(env)
    (states, actions, log_probs, *_), _ = collect(agent, PzDummyVecEnv(env), 20)
    (group,) = agent.actors.keys()
    found: list[Any] = []

    def spied(*, actor: Any, **_: Any) -> float:
        seen = torch.as_tensor(np.concatenate(states["player_0"])).float()
        actor(seen)
        found.append(actor.action_log_prob(torch.as_tensor(np.concatenate(actions["player_0"]))))
        return 0.0

    original = MaskedIPPO.__mro__[1]._learn_individual
    try:
        MaskedIPPO.__mro__[1]._learn_individual = lambda self, **arguments: spied(**arguments)
        agent._learn_individual(actor=agent.actors[group], action_space=env.action_space("player_0"))
    finally:
        MaskedIPPO.__mro__[1]._learn_individual = original
    assert np.allclose(found[0].detach().numpy(), np.concatenate(log_probs["player_0"]), atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_dqn_of_one_learner_in_agilerls_own_loop(name: str) -> None:
    """illegal="raise" would stop it."""
    envs = AgileRLVectorEnv(name, 4, seed=0)
    agent = DQN(
        envs.single_observation_space, envs.single_action_space, batch_size=16, learn_step=4,
        net_config={"encoder_config": {"hidden_size": [16]}, "head_config": {"hidden_size": [16]}},
    )  # fmt: skip
    before = [weight.detach().clone() for weight in agent.actor.parameters()]
    trained, _ = train_off_policy(
        envs, name, "DQN", [agent], memory=ReplayBuffer(max_size=500), max_steps=200, evo_steps=200, eval_steps=20,
        eval_loop=1, verbose=False,
    )  # fmt: skip
    after = trained[0].actor.parameters()
    assert any(not torch.equal(old, new) for old, new in zip(before, after, strict=True))


def test_the_learners_env_gives_what_the_gymnasium_one_gives() -> None:
    one = AgileRLVectorEnv(NAMES[0], 4, seed=0)
    two = LearnerVectorEnv(NAMES[0], 4, seed=0, autoreset_mode="SameStep")
    (seen, infos), (shown, _) = one.reset(seed=5), two.reset(seed=5)
    rng = np.random.default_rng(0)
    outcomes = set()
    for _ in range(300):
        assert np.array_equal(seen, shown["observation"])
        assert np.array_equal(infos["action_mask"], shown["action_mask"])
        assert infos["action_mask"].dtype == np.int8
        actions = (infos["action_mask"] * rng.uniform(0.1, 1, infos["action_mask"].shape)).argmax(axis=1)
        seen, rewards, terminated, _, infos = one.step(actions)
        shown, *others = two.step(actions)
        assert np.array_equal(rewards, others[0])
        assert np.array_equal(terminated, others[1])
        outcomes |= set(rewards[terminated].tolist())
    assert outcomes >= {1.0, -1.0}


def test_bad_options_are_named() -> None:
    with pytest.raises(ValueError, match="there is no game 'go'; the games are"):
        AgileRLEnv("go")


def test_the_example_trains(tmp_path: Path) -> None:
    """As a program of its own: its vector env starts processes."""
    script = tmp_path / "train.py"
    script.write_text(example("agilerl"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    losses = eval(done.stdout.strip().splitlines()[-1], {"nan": float("nan")})
    assert len(losses) == 3
    assert all(np.isfinite(list(loss.values())).all() for loss in losses)


def test_what_is_measured_plays_on() -> None:
    play_measured("agilerl")
