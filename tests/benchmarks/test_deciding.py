"""The measurement of how long a decision takes: what it asks, and that the published figures are whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("safetensors")

import iszoo
from iszoo.baselines.search.leaf_values import NETWORKS
from iszoo.benchmarks import deciding
from iszoo.benchmarks.deciding import AGAINST, AGENTS, RESULTS, main, stopped, tables


def test_games_are_stopped_at_plies_from_beginning_to_end() -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    vec = stopped(game, 8)
    assert len({row.tobytes() for row in vec.rows}) == 8
    free = vec.obs[:, : game.board_size].reshape(8, *game.board_shape)[:, :2].sum(axis=(1, 2, 3))
    assert free[0] == 0 < free[-1]  # stones that were set


def test_a_run_asks_everybody_both_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(deciding, "AGENTS", {"isis_osiris": ("mcts:2000", "mcts:2")})
    monkeypatch.setattr(deciding, "GAMES", 4)
    out = tmp_path / "deciding.json"
    main(["isis_osiris", "--rounds", "1", "--out", str(out)])
    report = json.loads(out.read_text(encoding="utf-8"))
    for rates in report["deciding"]["isis_osiris"]["ways"].values():
        assert rates["mcts:2"]["per_second"] > rates["mcts:2000"]["per_second"] > 0
    assert "| isis_osiris | `mcts:2000` |" in capsys.readouterr().out
    lines = tables(report)["times"].splitlines()
    assert [cell.strip() for cell in lines[2].split("|")][4] == "1.00"
    for words, message in ((["--rounds", "0"], "rounds=0 is not allowed"), (["connect_four"], "connect_four")):
        with pytest.raises(SystemExit, match=message):
            main(words)


def test_the_published_figures_are_of_the_agents_that_ship() -> None:
    report = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert list(report["deciding"]) == list(AGENTS)
    for name, entry in report["deciding"].items():
        for rates in entry["ways"].values():
            assert tuple(rates) == AGENTS[name]
            assert AGAINST in rates
            assert all(rate["rounds"] >= 5 for rate in rates.values())
        assert any(f"az:{NETWORKS[name]}:64" == agent for agent in AGENTS[name])
