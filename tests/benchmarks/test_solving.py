"""The figures of the solver: that they are of what they say; how fast anything is, no test asks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import iszoo
from iszoo.benchmarks import solving
from iszoo.benchmarks.solving import LIMITS, RESULTS, main, measure, tables


def test_depth_and_speed_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "LONGEST", 0.02)
    told: list[str] = []
    report = measure(iszoo.REGISTRY["isis_osiris"], games=2, positions=3, tell=told.append)
    assert told == ["isis_osiris: game 1 of 2", "isis_osiris: game 2 of 2", "isis_osiris: published positions"]
    assert report["published"]["positions"] == 3
    assert report["nodes"] > 0
    assert report["nodes_per_second"] > 0
    for limit in LIMITS:
        left = report["depth"][str(limit)]["left"]
        assert 1 <= left["low"] <= left["median"] <= left["high"]
    one, ten = (report["depth"][str(limit)]["left"]["median"] for limit in LIMITS)
    assert one <= ten


def test_the_command_and_its_tables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(solving, "LONGEST", 0.01)
    out = tmp_path / "solving.json"
    main(["isis_osiris", "--quick", "--out", str(out)])
    report = json.loads(out.read_text())
    assert list(report["games"]) == ["isis_osiris"]
    made = tables(report)
    assert list(made) == ["speed", "depth", "run"]
    assert "| isis_osiris | free cells |" in made["depth"]
    with pytest.raises(SystemExit, match="chess"):
        main(["chess"])


def test_the_published_figures_are_of_every_game() -> None:
    report = json.loads(RESULTS.read_text())
    assert list(report["games"]) == list(solving.WINDOWS)
    assert "machine" in report
