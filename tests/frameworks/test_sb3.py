"""Stable-Baselines3 and sb3-contrib train on every game, with legal actions and the right rewards."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib", reason="needs iszoo[sb3]: make test-frameworks")
with warnings.catch_warnings():  # what it imports warns of its own age
    warnings.simplefilter("ignore")
    import torch
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
    from stable_baselines3.common.env_checker import check_env

import iszoo
from iszoo.baselines.match import match, play
from iszoo.envs.game import Game
from iszoo.wrappers.gymnasium import SingleAgentEnv
from iszoo.wrappers.sb3 import LearnerVecEnv, PolicyAgent
from tests.frameworks.games import DECIDED, Replay, decided, play_measured

torch.set_num_threads(1)

GAMES = [pytest.param(game, id=game.name) for game in iszoo.REGISTRY.values()]


def choose(masks: Any, rng: np.random.Generator) -> Any:
    return (rng.random(masks.shape) * masks).argmax(axis=-1)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.filterwarnings("ignore")
def test_sb3s_checker(game: Game) -> None:
    check_env(SingleAgentEnv(game.name, illegal="terminate"))


@pytest.mark.parametrize("game", GAMES)
def test_the_vec_env_is_what_sb3_expects(game: Game) -> None:
    envs = LearnerVecEnv(game.name, 8, seed=3, seat=0)
    single = [SingleAgentEnv(game.name, seat=0) for _ in range(8)]
    assert is_masking_supported(envs)
    assert envs.has_attr("action_masks")
    assert not envs.has_attr("nonsense")
    envs.seed(70)
    shown = envs.reset()
    for i, env in enumerate(single):
        np.testing.assert_array_equal(shown[i], env.reset(seed=70 + i)[0]["observation"])
    rng = np.random.default_rng(0)
    ends = 0
    for _ in range(120):
        masks = get_action_masks(envs)
        assert masks.shape == (8, game.num_actions)
        actions = choose(masks, rng)
        shown, rewards, done, infos = envs.step(actions)
        for i, env in enumerate(single):
            expected, reward, terminated, _, _ = env.step(actions[i])
            assert rewards[i] == pytest.approx(reward)
            assert done[i] == terminated
            if terminated:
                ends += 1
                np.testing.assert_array_equal(infos[i]["terminal_observation"], expected["observation"])
                assert infos[i]["TimeLimit.truncated"] is False
                expected, _ = env.reset()
            np.testing.assert_array_equal(shown[i], expected["observation"])
    assert ends > 8


@DECIDED
def test_who_wins_gets_plus_one_and_who_loses_minus_one(game: tuple[str, int, bool]) -> None:
    """On every seat, whoever makes the last move."""
    record = decided(*game)
    for seat, (agent, reward) in enumerate(record.rewards.items()):
        envs = LearnerVecEnv(record.name, 1, seat=seat, **record.game_options)
        envs.set_opponents(Replay(record, agent))
        envs.seed(record.seed)
        envs.reset()
        own = [action for action, mover in zip(record.actions, record.movers, strict=True) if mover == agent]
        steps = [envs.step(np.array([action])) for action in own]
        assert [step[1][0] for step in steps] == pytest.approx([0.0] * (len(own) - 1) + [reward])
        assert [step[2][0] for step in steps] == [False] * (len(own) - 1) + [True]
        last = record.replayed(observation="flat").observe(agent)["observation"]
        np.testing.assert_array_equal(steps[-1][3][0]["terminal_observation"], last)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.filterwarnings("ignore")
def test_maskable_ppo_trains_by_self_play(game: Game) -> None:
    """An illegal action would raise: the games are made with illegal="raise"."""
    envs = LearnerVecEnv(game.name, 16, seed=0)
    model = MaskablePPO("MlpPolicy", envs, n_steps=32, batch_size=256, n_epochs=2, seed=0)
    before = [parameter.detach().clone() for parameter in model.policy.parameters()]
    model.learn(512)
    past = PolicyAgent(model.policy, "past self")
    envs.set_opponents(["random", past])
    model.learn(512)
    assert model.num_timesteps == 512
    changed = [not torch.equal(old, new) for old, new in zip(before, model.policy.parameters(), strict=True)]
    assert any(changed)
    result = match(game, [PolicyAgent(model.policy), PolicyAgent(model.policy, "itself")], 8)
    assert result.games == 8


@pytest.mark.filterwarnings("ignore")
def test_it_learns_to_beat_random() -> None:
    torch.manual_seed(0)
    envs = LearnerVecEnv("isis_osiris", 64, seed=0, opponent="random", reward="margin")
    model = MaskablePPO(
        "MlpPolicy", envs, n_steps=64, batch_size=512, n_epochs=4, learning_rate=1e-3, gamma=1.0, seed=0
    )
    model.learn(120_000)
    game = iszoo.REGISTRY["isis_osiris"]
    learned = play(game, [PolicyAgent(model.policy), _random(game)], 200, seed=10_000)
    mine = learned.returns[learned.seats == 0]
    assert mine.mean() > 0.4


def _random(game: Game) -> Any:
    from iszoo.baselines.agents import make_agent

    return make_agent("random", game)


@pytest.mark.filterwarnings("ignore")
def test_the_page_of_the_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "frameworks" / "sb3.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "sb3.md", "exec"), {"__name__": "__main__"})


def test_what_is_measured_plays_on() -> None:
    play_measured("sb3")
