"""The published positions: the seed makes them, each is reached by its game, and none is trivial."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo.baselines.solver import Solver
from iszoo.baselines.solver.positions import (
    MOST_NODES,
    WINDOWS,
    load,
    main,
    make,
    path_of,
    played,
    row_hash,
    tables,
    write,
)
from iszoo.envs.game import Game

PUBLISHED = [iszoo.REGISTRY[name] for name in WINDOWS]
EACH_GAME = pytest.mark.parametrize("game", PUBLISHED, ids=lambda game: game.name)


@EACH_GAME
def test_the_published_set(game: Game) -> None:
    report = json.loads(path_of(game.name).read_text())
    assert len(report["endgames"]) == 300
    assert path_of(game.name).stat().st_size < 300_000
    endgames = load(game.name)  # plays every game again
    solver = Solver(game, endgames.options)
    least, greatest = WINDOWS[game.name]
    seen = set()
    for position in endgames.positions:
        solution = position.solution
        assert position.left == solver.left(position.row)
        assert least <= position.left <= greatest
        assert 0 < len(solution.best) < len(solution.actions)
        assert solution.nodes <= MOST_NODES
        outcome, margin = solution.value
        assert abs(outcome).max() <= 1
        assert outcome.sum() == pytest.approx(0)
        assert margin.sum() == pytest.approx(0)
        seen.add(position.row.tobytes())
    assert len(seen) == 300
    assert len({position.left for position in endgames.positions}) == greatest - least + 1


@EACH_GAME
def test_the_seed_makes_the_published_positions(game: Game, tmp_path: Path) -> None:
    report = make(game, 1, 3, nodes=20_000)
    published = json.loads(path_of(game.name).read_text())["endgames"]
    by_row = {entry["row"]: entry for entry in published}
    assert all(by_row[entry["row"]] == entry for entry in report["endgames"])
    again = make(game, 1, 3, nodes=20_000)
    assert again["endgames"] == report["endgames"]
    assert make(game, 2, 3, nodes=20_000)["endgames"] != report["endgames"]
    write(tmp_path / "set.json", report)
    assert json.loads((tmp_path / "set.json").read_text()) == report
    assert str(WINDOWS[game.name][1]) in tables(json.loads(path_of(game.name).read_text()))["sizes"]
    read = load(game.name, tmp_path / "set.json")
    assert [row_hash(position.row) for position in read.positions] == [entry["row"] for entry in report["endgames"]]


def change(entry: dict[str, Any], how: str) -> None:
    """Damages an entry."""
    if how == "seed":
        entry["seed"] += 1
    elif how == "actions":
        entry["actions"] = [*entry["actions"][:-1], 36 if entry["actions"][-1] != 36 else 0]
    elif how == "fewer":
        entry["values"] = [group for group in entry["values"] if len(group) == 3]
    else:
        named = next(group for group in entry["values"] if len(group) == 3)
        named[2] = [*named[2], 999]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("seed", "leads elsewhere|not legal|is over"),
        ("actions", "leads elsewhere|not legal|is over"),
        ("fewer", "don't cover"),
        ("more", "don't cover"),
    ],
)
def test_a_set_that_the_rules_do_not_lead_to_is_refused(how: str, message: str, tmp_path: Path) -> None:
    report = json.loads(path_of("isis_osiris").read_text())
    report["endgames"] = report["endgames"][:2]
    change(report["endgames"][1], how)
    write(tmp_path / "bad.json", report)
    with pytest.raises(ValueError, match=f"position 1: .*({message})"):
        load("isis_osiris", tmp_path / "bad.json")
    with pytest.raises(ValueError, match="of isis_osiris_v0, not isaac_v0"):
        load("isaac", tmp_path / "bad.json")


@EACH_GAME
def test_games_are_the_same_and_differ(game: Game) -> None:
    first, again, other = (list(played(game, 1, number)) for number in (4, 4, 5))
    assert [(deal, actions) for deal, actions, _ in first] == [(deal, actions) for deal, actions, _ in again]
    assert first[-1][:2] != other[-1][:2]
    assert all(len(actions) == ply for ply, (_, actions, _) in enumerate(first))
    assert not np.array_equal(first[0][2], first[-1][2])


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "isis.json"
    main(["isis_osiris", "--seed", "3", "--count", "2", "--out", str(out)])
    assert "2 positions of" in capsys.readouterr().out
    assert len(load("isis_osiris", out).positions) == 2
    with pytest.raises(SystemExit, match="0 positions"):
        main(["isis_osiris", "--count", "0"])
    with pytest.raises(SystemExit, match="chess"):
        main(["chess"])
