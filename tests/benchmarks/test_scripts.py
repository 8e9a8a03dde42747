"""The throughput of training scripts: what is run, and what is made of it."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from iszoo import REGISTRY
from iszoo.benchmarks import scripts


def said(game: str, steps: int) -> dict[str, Any]:
    """What a script writes with --profile."""
    return {
        "script": "ppo", "game": game, "steps": steps, "steps_per_second": 2500.0,
        "seconds": {"environment": 1.0, "update": 3.0, "imitation": 50.0, "evaluation": 9.0},
    }  # fmt: skip


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """Scripts are not run: what they would have been told is collected, and their profile is written."""
    told: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        told.append(command)
        out = Path(command[command.index("--out") + 1])
        out.mkdir(parents=True)
        game, steps = (command[command.index(flag) + 1] for flag in ("--game", "--steps"))
        (out / "profile.json").write_text(json.dumps(said(game, int(steps))))
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(scripts.subprocess, "run", run)
    monkeypatch.setattr(scripts, "ROOT", tmp_path)
    for script in scripts.SCRIPTS.values():
        python = tmp_path / ".venvs" / script.venv / "bin" / "python"
        python.parent.mkdir(parents=True, exist_ok=True)
        python.touch()
    return told


def test_every_script_is_there() -> None:
    for name in scripts.SCRIPTS:
        assert importlib.util.find_spec(f"iszoo.baselines.{name}") is not None


def test_each_script_trains_in_each_game(commands: list[list[str]], tmp_path: Path) -> None:
    out = tmp_path / "scripts.json"
    assert scripts.main(["ppo", "--steps", "64", "--out", str(out)]) == 0
    assert [command[command.index("--game") + 1] for command in commands] == list(REGISTRY)
    assert all(command[1:3] == ["-m", "iszoo.baselines.ppo"] for command in commands)
    kept = json.loads(out.read_text())
    assert {game: one["steps"] for game, one in kept["ppo"]["games"].items()} == dict.fromkeys(REGISTRY, 64)
    assert scripts.main(["rllib_ppo", "--out", str(out)]) == 0
    assert list(json.loads(out.read_text())) == ["ppo", "rllib_ppo"]  # what was not asked for is kept
    before = json.loads(out.read_text())
    assert scripts.main(["ppo", "--game", "iso", "--steps", "32", "--out", str(out)]) == 0
    after = json.loads(out.read_text())
    assert list(after["ppo"]["games"]) == list(REGISTRY)
    assert after["ppo"]["games"]["isaac"] == before["ppo"]["games"]["isaac"]
    assert after["rllib_ppo"] == before["rllib_ppo"]
    table = scripts.tables(json.loads(out.read_text()))["scripts"]
    assert f"| `ppo` | {next(iter(REGISTRY))} | 2.5 k | environment 25%, update 75% |" in table


def test_a_missing_environment_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setattr(scripts, "ROOT", tmp_path)
    assert scripts.main(["ppo", "--out", str(tmp_path / "scripts.json")]) == 1
    assert "make .venvs/sb3/.installed" in capsys.readouterr().err
    assert not (tmp_path / "scripts.json").exists()


def test_an_unknown_script_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        scripts.main(["dqn"])
    assert "there are ppo, rllib_ppo" in capsys.readouterr().err
