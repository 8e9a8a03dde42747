"""A published policy is trained again by its card, and says whether it came out as strong.  Needs iszoo[train]."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch")

import iszoo
from iszoo.__main__ import main
from iszoo.baselines import alphazero, policy, ppo, reproduce

GAME = "isis_osiris"
SCRIPTS = {
    "ppo": (ppo, ("--steps", "512", "--num-envs", "32", "--n-steps", "8", "--mix", "random=1")),
    "alphazero": (
        alphazero,
        ("--steps", "200", "--settle", "0", "--simulations", "2", "--games-a-task", "4", "--batch-size", "32",
         "--evaluate-simulations", "2", "--start", "", "--opponents", "random"),
    ),
}  # fmt: skip


def publish(script: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Trains a little policy and makes it the published one, "mine"; returns the folder of the published."""
    module, words = SCRIPTS[script]
    words += ("--imitate", "none", "--hidden", "8", "--games", "10", "--evaluate-every", "1")
    assert module.main(["--game", GAME, "--seed", "5", *words, "--out", str(folder / "first")]) == 0
    (folder / "policies").mkdir()
    for kind in ("json", "safetensors"):
        shutil.copy(folder / "first" / f"policy.{kind}", folder / "policies" / f"mine.{kind}")
    for where in (reproduce, policy):
        monkeypatch.setattr(where, "POLICIES", folder / "policies")
    return folder / "policies"


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_same_policy_comes_out_again(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published = publish(script, tmp_path, monkeypatch)
    report = reproduce.train(iszoo.REGISTRY[GAME], "mine", tmp_path / "second", games=20)
    assert (tmp_path / "second" / "policy.safetensors").read_bytes() == (published / "mine.safetensors").read_bytes()
    assert report["all_agree"]
    card = json.loads((published / "mine.json").read_text())
    assert [entry["published"][0] for entry in report["entries"]] == [one["win_rate"] for one in card["evaluation"]]
    agent = {"ppo": "policy:policy", "alphazero": "az:policy:2"}[script]
    assert {entry["agent"] for entry in report["entries"]} == {agent}


def test_one_that_is_not_as_strong_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    published = publish("ppo", tmp_path, monkeypatch)
    card = json.loads((published / "mine.json").read_text())
    card["evaluation"][0].update(opponent="greedy", win_rate=0.999, low=0.99, high=1.0)
    (published / "mine.json").write_text(json.dumps(card))
    assert main(["reproduce", GAME, "--train", "mine", "--out", str(tmp_path / "second")]) == 1
    assert "greedy" in capsys.readouterr().out


def test_a_card_without_a_command_that_trains_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published = publish("ppo", tmp_path, monkeypatch)
    card = json.loads((published / "mine.json").read_text())
    for words in ("", "make it", "python -m elsewhere"):
        (published / "mine.json").write_text(json.dumps({**card, "command": words}))
        with pytest.raises(ValueError, match="mine can't be trained again here"):
            reproduce.train(iszoo.REGISTRY[GAME], "mine", tmp_path / "second")
    with pytest.raises(ValueError, match="has no published policy 'yours'; it has mine"):
        reproduce.train(iszoo.REGISTRY[GAME], "yours", tmp_path / "second")
