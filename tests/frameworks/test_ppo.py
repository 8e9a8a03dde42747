"""Real, short trainings with Stable-Baselines3."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
pytest.importorskip("tyro")
torch = pytest.importorskip("torch")

import iszoo  # noqa: E402
from iszoo.baselines import networks, ppo  # noqa: E402
from iszoo.baselines.agents import make_agent, view_of  # noqa: E402
from iszoo.baselines.match import match  # noqa: E402
from iszoo.baselines.networks import Network  # noqa: E402
from iszoo.baselines.policy import Policy, load_card, load_policy  # noqa: E402
from iszoo.baselines.training.checkpoints import load_checkpoint  # noqa: E402
from iszoo.baselines.training.torch_networks import TorchNetwork  # noqa: E402
from tests.frameworks.games import LENIENT, NAMES, ROOT  # noqa: E402

pytestmark = LENIENT

SHORT = """
    --seed 3 --num-envs 16 --n-steps 8 --batch-size 64 --steps 768 --games 4
    --imitate greedy:values:4096 --imitate expert:choices:8192 --imitate-batch 128
    --remember-every 2 --pool 2 --evaluate-every 0.3 --margin 0.5 --settle 1 --value-hidden 8
""".split()  # noqa: SIM905 - as it is typed


def parse(*words: str) -> ppo.Arguments:
    return ppo.parse(ppo.Arguments, ppo.MODULE, list(words))


def arguments(out: Path, game: str = "isis_osiris", *more: str) -> ppo.Arguments:
    hidden = ("8", "8") if game == "iso" else ("16",)
    return parse("--game", game, *SHORT, "--hidden", *hidden, "--out", str(out), *more)


def trained(*words: Any) -> ppo.Trainer:
    trainer = ppo.Trainer(arguments(*words))
    trainer.run()
    return trainer


def digest(folder: Path) -> str:
    return hashlib.sha256((folder / "policy.safetensors").read_bytes()).hexdigest()


def curve(folder: Path) -> list[dict[str, Any]]:
    """The learning curve, without the seconds."""
    points = [json.loads(line) for line in (folder / "curve.jsonl").read_text().splitlines()]
    return [{name: value for name, value in point.items() if "seconds" not in name} for point in points]


@pytest.mark.parametrize("name", NAMES)
def test_the_exported_policy_plays_as_the_model(name: str, tmp_path: Path) -> None:
    trainer = trained(tmp_path, name, "--mix", "random=1", "--mix", "self=1", "--mix", "past=1")
    game = iszoo.REGISTRY[name]
    policy = load_policy(str(tmp_path / "policy.safetensors"), game)
    vec = iszoo.make_vec(name, 256, seed=11)
    same = 0
    for _ in range(4):
        vec.random_steps(4)
        view = view_of(vec, np.arange(256), np.arange(256))
        actions, _ = trainer.model.policy.predict(view.obs, deterministic=True, action_masks=view.action_mask)
        mine = policy.act(view)
        same += int((mine == actions).sum())
        logits = trainer.network.forward_actor(torch.as_tensor(view.obs)).detach().numpy()
        games = np.arange(256)
        assert (logits[games, actions] - logits[games, mine] < 0.02).all()
        values = trainer.model.policy.predict_values(torch.as_tensor(view.obs)).detach().numpy()[:, 0]
        assert np.allclose(policy.values(view), values, atol=0.02)
    assert same > 0.9 * 4 * 256  # float16 breaks a few ties
    card = load_card(tmp_path / "policy.safetensors")
    assert (card.seed, card.steps, card.version) == (3, 768, iszoo.__version__)
    assert [score["opponent"] for score in card.evaluation] == ["random", "greedy", "expert"]
    assert (tmp_path / "best.safetensors").exists()
    assert any((tmp_path / "tensorboard").iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_the_default_networks_fit_in_a_megabyte_and_torch_and_numpy_agree(name: str) -> None:
    game = iszoo.REGISTRY[name]
    architecture = ppo.architecture(parse("--game", name))
    assert 2 * sum(np.prod(shape) for shape in networks.shapes(architecture, game).values()) < 999_000
    torch.manual_seed(0)
    network = TorchNetwork(game, game.resolve({}), architecture)
    twin = Network(game, game.resolve({}), architecture, network.export())
    vec = iszoo.make_vec(name, 64, seed=1)
    for _ in range(3):
        with torch.no_grad():
            logits, values = network(torch.as_tensor(vec.obs))
        assert np.allclose(logits.numpy(), twin.logits(vec.obs), atol=1e-5)
        assert np.allclose(values.numpy()[:, 0], twin.values(vec.obs), atol=1e-4)
        vec.random_steps(5)


@pytest.mark.parametrize("name", ["isis_osiris", "iso"])
def test_the_same_seed_gives_the_same_weights_and_another_seed_others(name: str, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        trained(tmp_path / folder, name)
    trained(tmp_path / "c", name, "--seed", "4")
    assert digest(tmp_path / "a") == digest(tmp_path / "b") != digest(tmp_path / "c")
    assert curve(tmp_path / "a") == curve(tmp_path / "b")
    card = load_card(tmp_path / "a" / "policy.safetensors")
    assert curve(tmp_path / "a")[-1]["scores"] == [dict(one) for one in card.evaluation]


def test_a_run_that_stops_anywhere_and_goes_on_ends_in_the_same_weights(tmp_path: Path) -> None:
    """Every session ends after two updates, of the imitation or of the self-play, with the reward changing once."""
    whole = trained(tmp_path / "whole")
    sessions, stopped = 0, True
    while stopped:
        trainer = ppo.Trainer(arguments(tmp_path / "parts"))
        if sessions:
            trainer.load()
        count = [0]

        def stopping(step: Callable[[], Any], trainer: Any = trainer, count: list[int] = count) -> Callable[[], Any]:
            def counted() -> Any:
                result = step()
                count[0] += 1
                trainer.stopping = count[0] == 2
                return result

            return counted

        trainer._learn = stopping(trainer._learn)  # type: ignore[method-assign]
        assert trainer.imitation is not None
        trainer.imitation.learn = stopping(trainer.imitation.learn)  # type: ignore[method-assign]
        trainer.run()
        sessions, stopped = sessions + 1, trainer.stopping
    assert sessions >= 4
    assert digest(tmp_path / "whole") == digest(tmp_path / "parts")
    assert curve(tmp_path / "whole") == curve(tmp_path / "parts")
    assert [one.name for one in trainer.pool.past] == [one.name for one in whole.pool.past]
    assert trainer.spent["seconds"] > 0


def program(out: Path, *more: str) -> subprocess.Popen[str]:
    words = ["--game", "isis_osiris", *SHORT, "--hidden", "16", "--out", str(out), *more]
    return subprocess.Popen(
        [sys.executable, "-m", "iszoo.baselines.ppo", *words],
        cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_for_steps(out: Path, steps: int) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if (out / "checkpoint.pt").exists() and load_checkpoint(out / "checkpoint.pt")["counts"][0] >= steps:
            return
        time.sleep(0.05)
    raise AssertionError("no checkpoint came")


def test_a_killed_run_goes_on_and_ctrl_c_saves(tmp_path: Path) -> None:
    long = ("--steps", "128000", "--checkpoint-minutes", "0")
    run = program(tmp_path / "killed", *long)
    wait_for_steps(tmp_path / "killed", 256)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    before = load_checkpoint(tmp_path / "killed" / "checkpoint.pt")["counts"][0]

    run = program(tmp_path / "killed", *long)
    _, told = run.communicate(timeout=120)
    assert run.returncode == 1
    assert "holds a run already: add --resume, or choose another --out" in told

    run = program(tmp_path / "killed", *long, "--resume")
    wait_for_steps(tmp_path / "killed", before + 256)
    run.send_signal(signal.SIGINT)
    _, told = run.communicate(timeout=120)
    assert run.returncode == 130
    assert "Saved; go on with the same command and --resume" in told
    assert load_checkpoint(tmp_path / "killed" / "checkpoint.pt")["counts"][0] >= before + 256


@pytest.mark.parametrize(
    ("lesson", "soften"), [("choices", "0.5"), ("choices", "0"), ("values", "0.5")], ids=["soft", "hard", "values"]
)  # fmt: skip
def test_imitation_alone_learns_to_beat_random(lesson: str, soften: str, tmp_path: Path) -> None:
    words = f"--game isaac --seed 1 --imitate expert:{lesson}:60000 --imitate-batch 64 --imitate-rate 2e-3"
    trainer = ppo.Trainer(parse(*words.split(), "--soften", soften, "--num-envs", "128", "--out", str(tmp_path)))
    assert trainer.imitation is not None
    trainer.imitation.learn()
    first = trainer.imitation.agreement
    while not trainer.imitation.finished:
        trainer.imitation.learn()
    assert trainer.imitation.agreement > first
    agent = Policy(Network(trainer.game, trainer.options, trainer.architecture, trainer.network.export()))
    result = match(trainer.game, [agent, make_agent("random", trainer.game)], 200, seed=10)
    assert result.standings[0].win_rate > 0.85


@pytest.mark.parametrize(
    ("game", "option"),
    [("iso", "mode=solo"), ("iso", "num_players=3"), ("isis_osiris", "num_players=4")],
)
def test_other_numbers_of_players(game: str, option: str, tmp_path: Path) -> None:
    trained(tmp_path, game, "--option", option, "--mix", "random=1", "--mix", "self=1")
    card = load_card(tmp_path / "policy.safetensors")
    name, value = option.split("=")
    assert str(card.options[name]) == value
    assert all(score["games"] % max(card.options["num_players"], 1) == 0 for score in card.evaluation)
    assert len(card.evaluation) == (1 if value == "solo" else 3)


def test_the_command_of_a_card_is_the_same_run(tmp_path: Path) -> None:
    given = arguments(tmp_path, "iso", "--option", "mode=solo", "--mix", "self=2", "--mix", "greedy=1")
    words = ppo.command(ppo.MODULE, given).split()
    assert words[:3] == ["python", "-m", "iszoo.baselines.ppo"]
    assert parse(*words[3:], "--out", str(tmp_path)) == given


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--game go", "there is no game 'go'; the games are"),
        ("--game iso --option colour=1", "iso has no option 'colour'; its options are"),
        ("--game iso --mix nobody=1", "--mix nobody=1: write NAME=SHARE, the share a whole number, of random, greedy,"),
        ("--game iso --mix self=0", "--mix: give at least one opponent a share"),
        ("--game iso --kind cnn", "kind='cnn' is not allowed; choose one of mlp, walls"),
        ("--game isaac --kind walls", "kind walls is for iso"),
        (
            "--game iso --imitate random:choices:9",
            "--imitate random:choices:9: write TEACHER:KIND:POSITIONS, the teacher",
        ),
        ("--game iso --imitate greedy:sums:9", "the kind one of choices, values"),
        ("--game iso --imitate greedy:values:0", "write TEACHER:KIND:POSITIONS"),
        (
            "--game iso --imitate greedy:values:9 --soften 0",
            "soften=0.0 is not allowed; it is above 0, or 0 where only",
        ),
        ("--game iso --resume", "there is no such file to resume"),
    ],
)
def test_bad_arguments(words: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ppo.main([*words.split(), "--out", str(tmp_path)]) == 1
    assert told in capsys.readouterr().err


def test_a_checkpoint_of_another_run_or_cut_off_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trained(tmp_path)
    other = ["--game", "isis_osiris", *SHORT, "--hidden", "16", "--out", str(tmp_path), "--clip", "0.3", "--resume"]
    assert ppo.main(other) == 1
    assert "is of another run: there clip is 0.2, not 0.3" in capsys.readouterr().err
    path = tmp_path / "checkpoint.pt"
    path.write_bytes(path.read_bytes()[:-100])
    assert ppo.main(other) == 1
    assert "is not a whole checkpoint" in capsys.readouterr().err
