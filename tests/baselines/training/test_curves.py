"""What is published of training runs: all seeds' curves, the median policy, whole and playing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo.baselines import POLICIES, RESULTS, networks
from iszoo.baselines.agents import make_agent
from iszoo.baselines.arena import pages, plots
from iszoo.baselines.match import match
from iszoo.baselines.policy import Card, load_card, save_policy
from iszoo.baselines.training import curves
from iszoo.reports import hash_in, report_hash

GAME = iszoo.envs.find("isis_osiris")
ARCHITECTURE = {"kind": "mlp", "hidden": [8], "value_hidden": [4]}
SHIPPED = sorted(path.stem for path in POLICIES.glob("*.safetensors"))


def score(mean_return: float) -> dict[str, Any]:
    rate = (mean_return + 1) / 2
    return {
        "opponent": "random", "games": 100, "win_rate": rate, "low": rate, "high": rate, "mean_score": 1.0,
        "mean_return": mean_return,
    }  # fmt: skip


def run(folder: Path, seed: int, mean_return: float, **options: Any) -> Path:
    """What training leaves of a run."""
    random = np.random.default_rng(seed)
    weights = {name: random.normal(size=shape) for name, shape in networks.shapes(ARCHITECTURE, GAME).items()}
    last = score(mean_return)
    card = Card(
        GAME.id, GAME.resolve(options), ARCHITECTURE, command="python -m iszoo.baselines.ppo", seed=seed, steps=7,
        evaluation=(last,), training={"out": str(folder), "cpu": "a cpu"},
    )  # fmt: skip
    folder.mkdir()
    save_policy(folder / "policy.safetensors", weights, card)
    points = [{"steps": k, "cpu_seconds": 60.0 * k, "scores": [score(0) if k == 0 else last]} for k in (0, 7)]
    (folder / "curve.jsonl").write_text("".join(json.dumps(point) + "\n" for point in points))
    return folder


def test_the_median_run_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = [run(tmp_path / str(seed), seed, value) for seed, value in ((1, 0.9), (2, 0.1), (3, 0.5))]
    for name in ("RESULTS", "POLICIES"):
        monkeypatch.setattr(curves, name, tmp_path / name)
    assert curves.publish("some", runs).startswith("some: seed 3 of 3 runs")
    report = json.loads((tmp_path / "RESULTS" / "some.curves.json").read_text())
    assert report["shipped"] == 3
    assert "out" not in report["training"]
    assert (tmp_path / "POLICIES" / "some.safetensors").read_bytes() == (runs[2] / "policy.safetensors").read_bytes()
    assert load_card(tmp_path / "POLICIES" / "some.safetensors").seed == 3
    assert "| 3, shipped | 7 | 100 | 75.0% (75.0% to 75.0%) |" in pages.curves_tables(report)["runs"]
    assert "Seeds 1, 2, 3, 7 minutes of one core each" in pages.curves_facts(report)
    assert hash_in(plots.curves_svg(report)) == report_hash(report)


def test_runs_that_do_not_belong_together(tmp_path: Path) -> None:
    one, same = run(tmp_path / "1", 1, 0.5), run(tmp_path / "1b", 1, 0.5)
    three = run(tmp_path / "3p", 2, 0.5, num_players=3)
    with pytest.raises(ValueError, match="the same seed"):
        curves.curves([one, same])
    with pytest.raises(ValueError, match="different games or options"):
        curves.curves([one, three])
    lines = (one / "curve.jsonl").read_text().splitlines()
    (one / "curve.jsonl").write_text(lines[0] + "\n")
    with pytest.raises(ValueError, match="let the run end"):
        curves.curves([one])


@pytest.mark.parametrize("name", SHIPPED)
def test_what_ships_is_small_and_plays_as_its_card_says(name: str) -> None:
    file = POLICIES / f"{name}.safetensors"
    assert file.stat().st_size <= 1_000_000
    card = load_card(file)
    assert (RESULTS / f"{name}.curves.json").exists()
    game = next(g for g in iszoo.REGISTRY.values() if g.id == card.game)
    for then in card.evaluation:
        searches = card.training.get("algorithm") == "AlphaZero"
        if then["opponent"] in (("expert",) if searches else ("random", "greedy")):
            others = game.params(card.options)[0] - 1
            simulations = card.training["arguments"]["evaluate_simulations"] if searches else 0
            agents = [make_agent(f"az:{name}:{simulations}" if searches else f"policy:{name}", game)]
            agents += [make_agent(then["opponent"], game) for _ in range(others)]
            games = 80 if searches else 240  # they take longer
            result = match(game, agents, games, seed=77, **card.options).standings[0]
            assert result.low - 0.03 <= then["win_rate"] <= result.high + 0.03


def test_there_is_something_that_ships() -> None:
    assert SHIPPED
