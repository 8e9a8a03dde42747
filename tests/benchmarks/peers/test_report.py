"""What the report says of given rates."""

from __future__ import annotations

import json
from typing import Any

import pytest

from iszoo.benchmarks.peers.measure import QUICK, to_json
from iszoo.benchmarks.peers.report import best, markdown, tables, targets
from iszoo.benchmarks.peers.rows import rows


def rate(per_second: float) -> dict[str, float]:
    return {"per_second": per_second, "low": per_second / 2, "high": per_second * 2, "rounds": 5}


@pytest.fixture
def report() -> dict[str, Any]:
    """A run in which every target but one holds, and some were not measured."""
    one = {
        "aec": {"iszoo, env()": rate(90), "iszoo, raw_env()": rate(70), "PettingZoo, env()": rate(10)},
        "one": {"iszoo, vec.step": rate(30), "iszoo, AEC": rate(10), "OpenSpiel, State": rate(20)},
        "given 1024": {"iszoo, vec.step": rate(100), "Pgx, slow": rate(5), "Pgx, fast": rate(20)},
        "inside 1024": {
            "iszoo, random_steps of its own file": rate(800),
            "Pgx, scan": rate(100),
            "Pgx, scan, no observation": rate(700),
        },
        "training": {"MaskablePPO, iszoo, LearnerVecEnv": rate(3), "MaskablePPO, PettingZoo, DummyVecEnv": rate(2)},
    }
    two = {"inside 1024": {"iszoo, random_steps of its own file": rate(1500)}}
    made: dict[str, Any] = {
        "machine": {"cpu": "Abacus", "cores": 2, "python": "3.12.0", "date": "today"},
        "plan": json.loads(json.dumps(to_json(QUICK))),
        "versions": {"iszoo": {"iszoo": "1", "numpy": "2"}},
        "missing": {"EnvPool": "No such file\n or directory"},
        "rates": {"1": one, "2": two},
        "first_use": {"iszoo": {"cold": 5.0, "warm": 0.5}, "OpenSpiel": {"warm": 0.25}},
        "memory": {"connect_four": {"allocated": 130, "buffers": 100, "ratio": 1.3}},
    }
    made["targets"] = targets(made)
    return made


def test_targets(report: dict[str, Any]) -> None:
    found = {entry["what"]: (entry["measured"], entry["holds"]) for entry in report["targets"]}
    assert found["1,024 games, a call a step: times Pgx"] == (5.0, True)
    assert found["1,024 games, all in one call: times Pgx"] == (8.0, True)  # not the row without the observation
    assert found["AEC loop, env(): times PettingZoo's"] == (9.0, True)
    assert found["AEC loop, raw_env(): times PettingZoo's"] == (None, None)
    assert found["one game: times OpenSpiel's Python loop"] == (1.5, False)
    assert found["random_steps, 1,024 games: two threads, times one"] == (1.875, True)
    assert found["search: times OpenSpiel's MCTSBot"] == (None, None)
    assert found["memory of a batch of 4,096, connect_four: times its buffers"] == (1.3, False)


def test_the_best_of_a_contender(report: dict[str, Any]) -> None:
    one = report["rates"]["1"]
    assert best(one, "given 1024", "Pgx") == 20
    assert best(one, "given 1024", "Pgx", "slow") == 5
    assert best(one, "given 1024", "EnvPool") is None
    assert best(one, "no such row", "Pgx") is None


def test_markdown(report: dict[str, Any]) -> None:
    text = markdown(report)
    assert "Abacus" in text
    assert "| one game: times OpenSpiel's Python loop | ≥ 2 | 1.5 | **missed** |" in text
    assert "not measured" in text
    assert "| EnvPool | left out: No such file or directory |" in text
    assert "|  | Pgx, fast | 20 | 10 | 40 | 50 ms | 5 x |" in text
    assert "| OpenSpiel | no cache | 0.25 |" in text
    assert all(f"| {row.name} | {row.compared} |" in text for row in rows(QUICK.sizes))
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in lines)


def test_the_headline_shows_the_fastest_of_the_others(report: dict[str, Any]) -> None:
    lines = tables(report)["headline"].splitlines()[2:]
    assert [line.split(" | ")[1:] for line in lines] == [
        ["90", "10 (PettingZoo)", "9 x |"],
        ["30", "20 (OpenSpiel)", "1.5 x |"],
        ["100", "20 (Pgx)", "5 x |"],
        ["800", "100 (Pgx)", "8 x |"],
    ]


def test_tables_for_the_docs(report: dict[str, Any]) -> None:
    found = tables(report)
    assert set(found) >= {"facts", "targets", "one", "two", "first_use", "compared"}
    for table in found.values():
        widths = {line.count("|") for line in table.splitlines() if line.startswith("|")}
        assert len(widths) <= 1
