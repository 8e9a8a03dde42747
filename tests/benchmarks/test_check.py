"""The guard finds what is slower, and says when there is nothing to compare with."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from iszoo.benchmarks import check, throughput
from iszoo.benchmarks.check import Finding, check_game, differs, ratios, worse
from iszoo.reports import machine

RATES = {
    "aec flat": {"per_second": 100.0},
    "aec connect_four": {"per_second": 10.0},
    "step 1 x1": {"per_second": 30.0},
    "step 1 x2": {"per_second": 3.0},
    "step 1024 x2": {"per_second": 50.0},
    "limit 1": {"per_second": 60.0},
    "limit 1024": {"per_second": 100.0},
    "clone row of 1024": {"per_second": 900.0},
    "clone env": {"per_second": 200.0},
    "step 64 x1": {"per_second": 7.0},
}


def test_each_rate_by_what_it_depends_on() -> None:
    assert ratios(RATES) == {
        "aec flat / aec connect_four": 10,
        "clone env / aec connect_four": 20,
        "step 1 x1 / limit 1": 0.5,
        "step 1024 x2 / limit 1024": 0.5,
        "clone row of 1024 / limit 1024": 9,
    }


def test_the_report_of_the_throughput_has_them() -> None:
    """What `make bench` writes is what is read here."""
    published = json.loads(check.PUBLISHED.read_text(encoding="utf-8"))
    for entry in published["games"].values():
        found = ratios(entry["rates"])
        assert {"step 1024 x1 / limit 1024", "aec flat / aec connect_four"} <= found.keys()


def test_what_is_worse() -> None:
    published = {"a": 1.0, "b": 2.0, "only there": 5.0}
    assert worse("iso", published, {"a": 0.9, "b": 4.0, "only here": 1.0}, 0.15) == []
    found = worse("iso", published, {"a": 0.8, "b": 2.0}, 0.15)
    assert found == [Finding("iso", "a", 1.0, 0.8)]
    assert str(found[0]) == "iso, a: 0.8, published 1 (-20%)"


def test_a_slow_spell_is_measured_again() -> None:
    runs: Iterator[dict[str, float]] = iter([{"a": 0.5, "b": 1.0}, {"a": 0.6, "b": 0.1}, {"a": 1.0, "b": 0.1}])
    assert check_game("iso", {"a": 1.0, "b": 1.0}, lambda: next(runs), 0.15) == []
    assert next(runs, None) is None


def test_what_stays_slow_is_found() -> None:
    calls = []

    def measure() -> dict[str, float]:
        calls.append(None)
        return {"a": 0.5}

    assert check_game("iso", {"a": 1.0}, measure, 0.15) == [Finding("iso", "a", 1.0, 0.5)]
    assert len(calls) == 3


def test_nothing_in_common_is_no_pass() -> None:
    with pytest.raises(ValueError, match="none of the ratios"):
        check_game("iso", {"a": 1.0}, lambda: {"b": 1.0}, 0.15)


def test_kinds_of_machines() -> None:
    here = machine()
    assert differs({**here, "date": "1999", "numpy": "1.0"}, here) is None
    assert "Abacus" in (differs({**here, "cpu": "Abacus"}, here) or "")


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Published figures of this machine, which every run reaches."""
    path = tmp_path / "throughput.json"
    path.write_text(json.dumps({"machine": machine(), "games": {"iso": {"rates": RATES}}}), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["check", "--against", str(path)])

    def measure(games: Any, **_: Any) -> Any:
        return {"games": {game.name: {"rates": RATES} for game in games}}

    monkeypatch.setattr(throughput, "measure", measure)
    return path


def test_the_command(published: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main() == 0
    faster = {
        name: {"per_second": rate["per_second"] * (2 if name == "aec flat" else 1)} for name, rate in RATES.items()
    }
    report = {"machine": machine(), "games": {"iso": {"rates": faster}}}
    published.write_text(json.dumps(report), encoding="utf-8")
    assert check.main() == 1
    assert "iso, aec flat / aec connect_four: 10, published 20 (-50%)" in capsys.readouterr().out

    report["machine"] = {**machine(), "cores": 999}
    published.write_text(json.dumps(report), encoding="utf-8")
    assert check.main() == 2
    assert "another kind of machine" in capsys.readouterr().err
    published.unlink()
    assert check.main() == 2
    monkeypatch.setattr(sys, "argv", ["check", "--tolerance", "1.5"])
    with pytest.raises(SystemExit):
        check.main()
