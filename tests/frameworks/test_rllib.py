from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray")
torch = pytest.importorskip("torch")

from ray.rllib.core.columns import Columns  # noqa: E402
from ray.rllib.core.rl_module.rl_module import RLModule  # noqa: E402
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode  # noqa: E402

import iszoo  # noqa: E402
from iszoo.baselines.agents import RandomAgent, make_agent, view_of  # noqa: E402
from iszoo.baselines.ladder import ladder  # noqa: E402
from iszoo.baselines.match import play  # noqa: E402
from iszoo.wrappers.rllib import POLICY, MaskedModule, RLlibEnv, check_env_config, ppo_config  # noqa: E402
from tests.frameworks.games import DECIDED, LENIENT, NAMES, ROOT, decided, example, play_measured  # noqa: E402

pytestmark = LENIENT


@DECIDED
def test_rewards_reach_the_right_actions_of_rllibs_own_episode(game: tuple[str, int, bool]) -> None:
    """Also the -1 of who doesn't move last; and moves several times in a row stay one agent's."""
    record = decided(*game)
    env = RLlibEnv({"game": record.name, **record.game_options})
    observations, _ = env.reset(seed=record.seed)
    episode = MultiAgentEpisode(
        observation_space=env.observation_spaces,
        action_space=env.action_spaces,
        agent_to_module_mapping_fn=lambda *_: POLICY,
    )
    episode.add_env_reset(observations=observations)
    for ply, (action, mover) in enumerate(zip(record.actions, record.movers, strict=True)):
        assert list(observations) == [mover]
        plain = record.replayed(ply, observation="flat").observe(mover)
        assert all(np.array_equal(observations[mover][key], plain[key]) for key in plain)
        observations, rewards, terminations, truncations, infos = env.step({mover: action})
        episode.add_env_step(
            observations, {mover: action}, rewards, infos, terminateds=terminations, truncateds=truncations
        )
    assert episode.is_terminated
    for agent, reward in record.rewards.items():
        single = episode.agent_episodes[agent]
        own = [action for action, mover in zip(record.actions, record.movers, strict=True) if mover == agent]
        assert list(single.get_actions()) == own
        assert list(single.get_rewards()) == [0.0] * (len(own) - 1) + [reward]
        assert single.is_terminated


@pytest.mark.parametrize("layout", ["flat", "split", "planes"])
@pytest.mark.parametrize("name", NAMES)
def test_the_module_reads_every_layout_and_never_draws_an_illegal_action(name: str, layout: str) -> None:
    env = RLlibEnv({"game": name, "observation": layout})
    (agent,), seen = (lambda first: (tuple(first), first))(env.reset(seed=1)[0])
    module = MaskedModule(
        observation_space=env.observation_spaces[agent],
        action_space=env.action_spaces[agent],
        model_config={"hidden": (16,)},
    )
    one = {"observation": seen[agent]["observation"], "action_mask": seen[agent]["action_mask"]}
    batch = {Columns.OBS: _stacked(one, 400)}
    out = module.forward_exploration(batch)
    drawn = module.get_exploration_action_dist_cls().from_logits(out[Columns.ACTION_DIST_INPUTS]).sample()
    assert one["action_mask"][drawn.numpy()].all()
    assert module.compute_values(batch).shape == (400,)
    assert torch.isfinite(out[Columns.ACTION_DIST_INPUTS]).all()


def _stacked(one: dict[str, Any], n: int) -> dict[str, Any]:
    return {
        key: _stacked(value, n) if isinstance(value, dict) else torch.from_numpy(np.stack([value] * n))
        for key, value in one.items()
    }


def test_errors_in_set_up_say_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="there is no game 'go'; the games are"):
        ppo_config("go")
    with pytest.raises(ValueError, match="has no option 'colour'; its options are"):
        ppo_config(NAMES[0], colour=1)
    with pytest.raises(ValueError, match="observation='image' is not allowed; choose one of 'planes'"):
        ppo_config(NAMES[0], observation="image")
    with pytest.raises(ValueError, match="name the game in the env config"):
        check_env_config({})
    with pytest.raises(ValueError, match="reads a Dict of 'observation' and 'action_mask', not Discrete"):
        MaskedModule(observation_space=RLlibEnv({"game": NAMES[0]}).action_spaces["player_0"], action_space=None)


def test_only_the_agent_to_move_may_act() -> None:
    env = RLlibEnv({"game": NAMES[0]})
    env.reset(seed=0)
    with pytest.raises(ValueError, match="it is player_0's turn, and actions came from player_1"):
        env.step({"player_1": 0})
    with pytest.raises(ValueError, match="it is player_0's turn, and actions came from nobody"):
        env.step({})


@pytest.mark.parametrize("name", NAMES)
def test_training_in_this_process(name: str) -> None:
    """Two iterations; `illegal="raise"` would stop them, and every episode must be zero-sum."""
    config = (
        ppo_config(name, hidden=(32,))
        .env_runners(num_env_runners=0)
        .training(train_batch_size_per_learner=64, minibatch_size=32, num_epochs=1)
    )
    algo = config.build_algo()
    before = _weights(algo)
    for _ in range(2):
        result = algo.train()
        returns = result["env_runners"]["agent_episode_returns_mean"]
        assert sum(returns.values()) == pytest.approx(0)
    assert result["learners"][POLICY]["num_module_steps_trained"] > 0
    after = _weights(algo)
    assert any(not np.array_equal(before[key], after[key]) for key in before)
    for episode in algo.env_runner.sample(num_episodes=3):
        for agent, single in episode.agent_episodes.items():
            masks = single.get_observations()["action_mask"]
            assert all(masks[k][action] for k, action in enumerate(single.get_actions())), agent
    algo.stop()


def _weights(algo: Any) -> dict[str, np.ndarray]:
    return {key: value.detach().numpy().copy() for key, value in algo.get_module(POLICY).state_dict().items()}


def run_example_program(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The page's example as a program of its own, as users run it."""
    script = folder / "train.py"
    script.write_text(example("rllib"), encoding="utf-8")
    environment = {**os.environ, "RAY_AUTH_MODE": "disabled", "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, str(script), *arguments],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip


def test_the_example_trains_on_a_local_cluster_with_two_env_runners(tmp_path: Path) -> None:
    done = run_example_program(tmp_path, "--iterations", "1")
    assert done.returncode == 0, done.stderr[-4000:]
    shown = json.loads(done.stdout.strip().splitlines()[-1])
    assert shown["env_runners"] == 2
    assert shown["games"] > 0
    assert sum(shown["returns"].values()) == pytest.approx(0)


def test_a_node_of_the_cluster_that_cant_make_the_env_says_why(tmp_path: Path) -> None:
    done = run_example_program(tmp_path, "--game", "go")
    assert done.returncode == 1
    assert "RuntimeError: Ray node" in done.stderr
    assert "there is no game 'go'; the games are" in done.stderr


def test_what_is_measured_plays_on() -> None:
    play_measured("rllib")


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with checkpoints of untrained algorithms, by layout."""
    folder = tmp_path_factory.mktemp("checkpoints")
    for layout in ("flat", "split"):
        config = ppo_config("isis_osiris", hidden=(16,), observation=layout).env_runners(num_env_runners=0)
        algo = config.build_algo()
        algo.save_to_path(str(folder / layout))
        algo.stop()
    return folder


MODULES = Path("learner_group", "learner", "rl_module")


@pytest.mark.parametrize("path", ["flat", "split", f"flat/{MODULES}", f"flat/{MODULES}/{POLICY}"])
def test_checkpoints_play_by_name(path: str, checkpoints: Path) -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    for sample in ("", ":sample"):
        name = f"rllib:{checkpoints / path}{sample}"
        one, two = (play(game, [make_agent(name, game, trust=True), RandomAgent()], 10) for _ in range(2))
        assert one.digests == two.digests
        assert make_agent(name, game, trust=True).name == name


def test_the_module_is_the_saved_one(checkpoints: Path) -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    agent = make_agent(f"rllib:{checkpoints / 'flat'}", game, trust=True)
    module = RLModule.from_checkpoint(str(checkpoints / "flat" / MODULES / POLICY))
    vec = iszoo.make_vec("isis_osiris", 30, seed=0)
    vec.random_steps(9)
    seen = {"observation": torch.tensor(vec.obs), "action_mask": torch.tensor(vec.action_mask)}
    logits = module.forward_inference({Columns.OBS: seen})[Columns.ACTION_DIST_INPUTS]
    actions = agent.act(view_of(vec, np.arange(30), np.arange(30)))
    np.testing.assert_array_equal(actions, logits.argmax(dim=1).numpy())


def test_checkpoints_that_cannot_play(checkpoints: Path) -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    with pytest.raises(ValueError, match="whatever code is in it"):
        make_agent(f"rllib:{checkpoints / 'flat'}", game)
    with pytest.raises(ValueError, match="is no checkpoint of an algorithm or an RLModule"):
        make_agent(f"rllib:{checkpoints}", game, trust=True)
    with pytest.raises(ValueError, match=r"acts in Discrete\(37\), and isaac in Discrete"):
        make_agent(f"rllib:{checkpoints / 'flat'}", iszoo.REGISTRY["isaac"], trust=True)


def test_a_ladder_on_a_local_ray_is_that_of_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an agent of the current directory; and an error on the other side comes as it is."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    (tmp_path / "agents_on_ray.py").write_text(
        "def act(view): return view.action_mask.argmax(axis=1)\ndef bad(view): return act(view) + 99\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    game = iszoo.REGISTRY["isis_osiris"]
    agents = ["greedy", "agents_on_ray:act"]
    reports = [ladder(game, agents, 24, workers=2, ray=where, resamples=20) for where in (None, "local")]
    for report in reports:
        del report["seconds"], report["machine"]
    assert reports[0] == reports[1]
    with pytest.raises(iszoo.IllegalActionError, match="agents_on_ray:bad"):
        ladder(game, ["agents_on_ray:bad"], 2, ray="local")
