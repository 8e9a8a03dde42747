"""How games end: rewards of each kind, agents that leave, and illegal="terminate"."""

from __future__ import annotations

import copy
import pickle
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from iszoo.envs.aec import GameEnv
from iszoo.envs.vec import AUTORESETS
from tests.helpers import Setting, picture, play, random_actions, scaled

# --- Rewards ---


def test_what_a_learner_is_given(setting: Setting) -> None:
    """In the usual loop each agent is given, by its last turn, what the game was worth to it, and once only.

    Agents move twice in a row here, or are more than two: no sign may alternate by ply.
    """
    env = setting.started(1)
    rng = np.random.default_rng(5)
    given: defaultdict[str, float] = defaultdict(float)
    final: dict[str, float] = {}
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        given[agent] += reward
        assert not truncated
        assert info == {}
        assert env.infos == {each: {} for each in env.agents}
        legal = np.flatnonzero(observation["action_mask"])
        assert terminated == (len(legal) == 0)
        env.step(None if terminated else rng.choice(legal))
        if len(env.agents) == len(env.possible_agents):
            assert env.agents == env.possible_agents
            assert not any(final.values())
            final = dict(env.rewards)
    assert given == final
    assert env.agents == []


def final_rewards(setting: Setting, reward: str) -> tuple[Any, Any]:
    """Rewards and scores of many finished games, each (N, P)."""
    vec = setting.vec(scaled(400, least=10), seed=0, autoreset="disabled", reward=reward)
    vec.random_steps(setting.game.max_game_length)
    assert vec.done.all()
    return vec.rewards, vec.scores


def test_kinds_of_reward(setting: Setting) -> None:
    """Outcomes of opponents sum to zero; a common result is the same for all, whatever the kind of reward."""
    outcome, scores = final_rewards(setting, "outcome")
    margin, _ = final_rewards(setting, "margin")
    players = outcome.shape[1]
    if not np.allclose(outcome.sum(axis=1), 0, atol=1e-5):
        assert (outcome == outcome[:, :1]).all()
        assert (margin == outcome).all()
        return
    won = outcome == outcome.max(axis=1, keepdims=True)
    share = won * players / won.sum(axis=1, keepdims=True)
    assert np.allclose(outcome, (share - 1) / (players - 1), atol=1e-6)
    best = scores.max(axis=1, keepdims=True)
    assert (scores == best)[won].all()
    assert np.abs(margin).max() <= 1
    alone = (scores == best) & ((scores == best).sum(axis=1, keepdims=True) == 1)
    assert ((margin > 0) == alone).all()
    assert alone.any(axis=0).all()


# --- Illegal actions that end the game ---


def through_bytes(env: GameEnv) -> GameEnv:
    """The position in another environment."""
    other = GameEnv(env.game, **env.options)
    other.set_state(env.get_state())
    return other


def penalty(offender: int, players: int) -> list[float]:
    """-1 for who played the illegal action, 1 / (n - 1) for the others."""
    return [-1.0 if seat == offender else 1 / (players - 1) for seat in range(players)]


@pytest.mark.parametrize("most", [0, 1, 4])
def test_an_illegal_action_ends_the_game(setting: Setting, most: int) -> None:
    env = play(setting.started(2, illegal="terminate"), most=most)
    agents = env.possible_agents
    offender = agents.index(env.agent_selection)
    size = env.game.num_actions
    not_legal = next((action for action in range(size) if action not in env.legal_actions()), size)
    for action in (not_legal, -1, size, 2**70, np.int64(not_legal)):
        ended = env.clone()
        ended.step(action)
        assert list(ended.rewards.values()) == penalty(offender, len(agents))
        assert ended.terminations == dict.fromkeys(agents, True)
        assert ended.truncations == dict.fromkeys(agents, False)
        assert ended.legal_actions() == []
        assert ended.scores() == env.scores()
        assert ended.state_space.contains(ended.state())
        for agent in agents:
            assert ended.observation_space(agent).contains(ended.observe(agent))
            assert not ended.observe(agent)["action_mask"].any()
    for copied in (copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env)), GameEnv.clone, through_bytes):
        assert picture(copied(ended)) == picture(ended)
    ended.reset()
    env.reset()
    assert picture(ended) == picture(env)


@pytest.mark.parametrize("autoreset", AUTORESETS)
def test_an_illegal_action_ends_one_game_of_a_batch(setting: Setting, autoreset: str) -> None:
    """It ends as in a single environment, and the others go on."""
    vec, legal = (setting.vec(3, seed=2, autoreset=autoreset, illegal="terminate") for _ in range(2))
    single = setting.started(3, observation="flat", illegal="terminate")  # game 1
    rng = np.random.default_rng(3)
    others, here = np.array([True, False, True]), np.array([False, True, False])
    for wrong in (-1, setting.game.num_actions, 2**62):
        for _ in range(2):
            actions = random_actions(vec, rng)
            for batch in (vec, legal):
                batch.step(actions)
            single.step(actions[1])
        actions = random_actions(vec, rng)
        actions[1] = wrong
        offender = single.agent_selection
        single.step(wrong)
        legal.step(actions, where=others)
        vec.step(actions)
        assert actions[1] == wrong
        assert vec.done.tolist() == here.tolist()
        assert vec.rewards[1].tolist() == pytest.approx(list(single.rewards.values()))
        assert not vec.rewards[others].any()
        assert np.array_equal(vec.final_obs[1], single.observe(offender)["observation"])
        assert vec.scores[1].tolist() == single.scores()
        if autoreset == "disabled":
            assert vec.player[1] == -1
            assert not vec.action_mask[1].any()
            assert np.array_equal(vec.obs[1], vec.final_obs[1])
            vec.reset(where=here)
        legal.reset(where=here)
        single.reset()
        assert np.array_equal(vec.rows[1], single._rows[0])
        for name in ("obs", "action_mask", "player", "rows"):
            assert np.array_equal(getattr(vec, name), getattr(legal, name))
