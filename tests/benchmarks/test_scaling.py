"""Scaling and profile: what they count, and what they draw. How fast anything is, is not tested."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo.benchmarks import profile, scaling
from iszoo.benchmarks.yardstick.connect_four import GAME
from iszoo.envs import VecEnv
from iszoo.envs.threads import max_threads


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    """A small one."""
    return scaling.measure([GAME], sizes=(1, 8), processes=(1, 2), rounds=1, seconds=0.01)


def test_a_report(report: dict[str, Any]) -> None:
    json.dumps(report)
    entry = report["games"]["connect_four"]
    kinds = {"step x1", "random x1", "limit"} | ({"step x2", "random x2"} if max_threads() > 1 else set())
    assert set(entry["rates"]) == kinds
    for rates in entry["rates"].values():
        assert set(rates) == {"1", "8"}
        assert all(rate["per_second"] > 0 for rate in rates.values())
    assert set(entry["processes"]) == {"1", "2"}
    assert all(rate["low"] <= rate["per_second"] <= rate["high"] for rate in entry["processes"].values())
    tables = scaling.tables(report)
    assert set(tables) == {"facts", "connect_four", "processes"}
    text = scaling.markdown(report)
    assert all(table in text for table in tables.values())


def test_steps_are_counted() -> None:
    for name, (begin, work) in scaling.tasks(GAME, 8, (1,)).items():
        begin()
        assert work() % 8 == 0, name
    vec = VecEnv(GAME, 8, seed=0)
    played = []
    step = vec.step
    vec.step = lambda actions: (played.append(len(actions)), step(actions))[1]  # type: ignore[method-assign, assignment, misc, func-returns-value]
    begin, work = scaling._stepping(vec, 5)
    played.clear()
    begin()
    assert work() == sum(played) == 40


def test_drawn_actions_are_legal() -> None:
    vec = VecEnv(iszoo.REGISTRY["isis_osiris"], 50, seed=0)
    vec.random_steps(5)
    states, actions = np.arange(50)[:, None], np.empty(50, np.int64)
    scaling.draw_actions(vec.action_mask, states, actions)
    assert vec.action_mask[np.arange(50), actions].all()
    assert len(set(actions.tolist())) > 10


def test_the_plots(report: dict[str, Any]) -> None:
    pytest.importorskip("matplotlib")
    from iszoo.benchmarks import plots

    first, again = plots.scaling_svg(report), plots.scaling_svg(report)
    assert first == again
    assert first.startswith("<?xml")
    rate = {"per_second": 10.0}
    rates = {
        "given 64": {"iszoo, vec.step": rate, "Pgx, fast": rate},
        "one": {"OpenSpiel, x": rate},
        "clone": {"a, b": rate},
    }
    peers = {"rates": {"1": rates, "2": rates}}
    assert plots._curves(rates) == {
        ("iszoo", "given"): {64: 10.0},
        ("Pgx", "given"): {64: 10.0},
        ("OpenSpiel", "given"): {1: 10.0},
    }
    assert plots.peers_svg(peers) == plots.peers_svg(peers)


def test_a_profile() -> None:
    report = profile.measure([GAME], rounds=1)
    json.dumps(report)
    entry = report["games"]["connect_four"]
    assert set(entry["parts"]) == set(profile.KERNELS)
    assert entry["rest"] == pytest.approx(entry["vec.step"] - sum(entry["parts"].values()))
    assert entry["bytes"] == 91
    assert profile.tables(report)["profile"] in profile.markdown(report)
    assert "| connect_four | 91 |" in profile.markdown(report)
