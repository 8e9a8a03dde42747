"""Strength against simulations: paired games, kept as they are played, in a table and a plot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import iszoo
from iszoo.baselines.agents import make_agent
from iszoo.baselines.arena import pages, plots
from iszoo.baselines.arena.strength import main, strength
from iszoo.baselines.match import match
from iszoo.reports import hash_in, report_hash


def test_points_are_matches(tmp_path: Path) -> None:
    game = iszoo.envs.find("isis_osiris")
    keep = tmp_path / "games.jsonl"
    report = strength(game, [(5, 8), (10, 4)], against=["random"], keep=keep)
    assert [(point["simulations"], point["games"]) for point in report["points"]] == [(5, 8), (10, 4)]
    agents = [make_agent(name, game) for name in ("mcts:5", "random")]
    assert report["points"][0]["results"][0]["win_rate"] == match(game, agents, 8).standings[0].win_rate
    kept = keep.read_bytes()
    again = strength(game, [(5, 8), (10, 4)], against=["random"], keep=keep)
    assert again["points"] == report["points"]
    assert keep.read_bytes() == kept


@pytest.mark.parametrize(("points", "message"), [([(0, 2)], "0:2 is not"), ([(5, 3)], "5:3 is not"), ([(5, 0)], "5:0")])
def test_bad_points(points: list[tuple[int, int]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        strength(iszoo.envs.find("isaac"), points)
    with pytest.raises(ValueError, match="3 players"):
        strength(iszoo.envs.find("isis_osiris"), [(5, 2)], num_players=3)


def test_the_command_writes_a_table_and_a_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "iso.strength"
    main(["iso", "5:4", "--against", "random", "--workers", "1", "--out", str(out)])
    report = json.loads(out.with_name("iso.strength.json").read_text())
    table = pages.strength_tables(report)["curve"]
    assert table in capsys.readouterr().out
    assert "wins against `random`" in table
    svg = out.with_name("iso.strength.svg").read_text()
    assert svg == plots.strength_svg(report)
    assert hash_in(svg) == report_hash(report)
    with pytest.raises(SystemExit, match="error: "):
        main(["iso", "5:x"])
