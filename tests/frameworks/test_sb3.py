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
    from sb3_contrib import QRDQN, MaskablePPO, RecurrentPPO
    from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
    from stable_baselines3 import A2C, DQN, PPO
    from stable_baselines3.common.env_checker import check_env

import iszoo
from iszoo.baselines.agents import make_agent, view_of
from iszoo.baselines.ladder import ladder
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


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model of each kind, hardly trained: with masks or without, flat or as planes in a Dict."""
    folder = tmp_path_factory.mktemp("models")
    lenient = {"seed": 0, "illegal": "terminate"}
    flat = LearnerVecEnv("isis_osiris", 4, **lenient)
    planes = SingleAgentEnv("isis_osiris", observation="planes", illegal="terminate")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in (
            MaskablePPO("MlpPolicy", LearnerVecEnv("isis_osiris", 4, seed=0), n_steps=8, seed=0),
            PPO("MlpPolicy", flat, n_steps=8, seed=0),
            A2C("MultiInputPolicy", planes, n_steps=8, seed=0),
            DQN("MlpPolicy", flat, seed=0),
            QRDQN("MlpPolicy", flat, seed=0),
            RecurrentPPO("MlpLstmPolicy", flat, n_steps=8, seed=0),
        ):
            model.learn(64)
            model.save(folder / f"{type(model).__name__}.zip")
    return folder


@pytest.mark.parametrize("kind", ["MaskablePPO", "PPO", "A2C", "DQN", "QRDQN"])
@pytest.mark.parametrize("sample", ["", ":sample"])
def test_saved_models_play_by_name(kind: str, sample: str, saved: Path) -> None:
    """Legal actions only, and the same games again: nothing is drawn from torch's generator."""
    game = iszoo.REGISTRY["isis_osiris"]
    name = f"sb3:{saved / kind}.zip{sample}"
    one, two = (play(game, [make_agent(name, game, trust=True), _random(game)], 20) for _ in range(2))
    assert one.digests == two.digests
    assert make_agent(name, game, trust=True).name == name


def test_the_policy_is_the_saved_one(saved: Path) -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    model = MaskablePPO.load(saved / "MaskablePPO.zip")
    watcher = make_agent(f"sb3:{saved / 'MaskablePPO.zip'}", game, trust=True)
    vec = iszoo.make_vec("isis_osiris", 50, seed=0)
    vec.random_steps(9)
    view = view_of(vec, np.arange(50), np.arange(50))
    expected, _ = model.predict(vec.obs, deterministic=True, action_masks=vec.action_mask)
    np.testing.assert_array_equal(watcher.act(view), expected)
    drawn = [make_agent(f"sb3:{saved / 'MaskablePPO.zip'}:sample", game, trust=True).act(view) for _ in range(2)]
    np.testing.assert_array_equal(*drawn)
    assert (drawn[0] != expected).any()


def test_saved_models_that_cannot_play(saved: Path) -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    with pytest.raises(ValueError, match="whatever code is in it"):
        make_agent(f"sb3:{saved / 'PPO.zip'}", game)
    with pytest.raises(ValueError, match="RecurrentActorCriticPolicy can't play here; the policies of PPO"):
        make_agent(f"sb3:{saved / 'RecurrentPPO.zip'}", game, trust=True)
    with pytest.raises(ValueError, match=r"acts in Discrete\(37\), and isaac in Discrete"):
        make_agent(f"sb3:{saved / 'PPO.zip'}", iszoo.REGISTRY["isaac"], trust=True)
    (saved / "text.zip").write_text("no model")
    with pytest.raises(ValueError, match=r"text\.zip can't be loaded as a model of Stable-Baselines3"):
        make_agent(f"sb3:{saved / 'text.zip'}", game, trust=True)


def test_a_saved_model_is_an_opponent_and_on_the_ladder(saved: Path) -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    agent = make_agent(f"sb3:{saved / 'PPO.zip'}:sample", game, trust=True)
    envs = LearnerVecEnv("isis_osiris", 2, seed=0, opponent=["random", agent])
    envs.reset()
    pytest.importorskip("scipy", reason="the ladder needs iszoo[ladder]")
    report = ladder(game, [agent.name, "greedy"], 16, trust=True, resamples=20)
    assert {entry["agent"] for entry in report["agents"]} == {agent.name, "greedy", "random"}
