"""Published ladders come out again, and one that does not is noticed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import iszoo
from iszoo.__main__ import main
from iszoo.baselines import reproduce
from tests.helpers import GAMES

# Searches take long: a person runs them.
QUICK = ("mcts:200", "mcts:1000", "mcts:2000", "az:isaac-az-2:64", "az:iso-az:64")


@pytest.mark.parametrize("game", GAMES, ids=[game.name for game in GAMES])
def test_what_is_published_comes_out_again(game: iszoo.envs.Game) -> None:
    report = reproduce.reproduce(game, 32, name=game.name, without=QUICK)
    assert report["all_agree"]
    assert len(report["entries"]) >= 6
    assert all(entry["same_games"] for entry in report["entries"] if not has_network(entry))


def has_network(entry: dict[str, Any]) -> bool:
    """Whether a network plays at a table: other processors round what it says otherwise, which decides near ties."""
    return any(agent.startswith(("policy:", "az:")) for agent in entry["table"])


@pytest.mark.parametrize("change", ["the games", "the figure"])
def test_what_differs_is_noticed(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    published = json.loads((reproduce.RESULTS / "isis_osiris.ladder.json").read_text())
    table = next(t for t in published["tables"] if t["agents"] == ["expert", "greedy"])
    if change == "the games":
        table["first_games"] = "00" + table["first_games"][2:]
    else:
        table["results"][0].update(win_rate=0.5, win_rate_low=0.45, win_rate_high=0.55)
    (tmp_path / "isis_osiris.ladder.json").write_text(json.dumps(published))
    monkeypatch.setattr(reproduce, "RESULTS", tmp_path)
    command = ["reproduce", "isis_osiris", "--games", "32", "--workers", "1", "--without", *QUICK, "--json", "-"]
    assert main(command) == (0 if change == "the games" else 1)
    report = json.loads(capsys.readouterr().out)
    changed = [e for e in report["entries"] if not e["agrees"] or not (e["same_games"] or has_network(e))]
    assert {tuple(entry["table"]) for entry in changed} == {("expert", "greedy")}
    assert len(changed) == (2 if change == "the games" else 1)


def test_agreement_is_that_of_two_samples() -> None:
    assert reproduce.agrees((0.5, 0.4, 0.6), (0.62, 0.52, 0.72))  # by 0.12, of sqrt(2) * 0.1
    assert not reproduce.agrees((0.5, 0.4, 0.6), (0.65, 0.55, 0.75))
    assert not reproduce.agrees((0.65, 0.55, 0.75), (0.5, 0.4, 0.6))
    assert reproduce.agrees((1.0, 0.9, 1.0), (1.0, 0.99, 1.0))
    # The sides that face each other count: 0.9 may be 1.0, and 1.0 may be 0.9.
    assert reproduce.agrees((0.9, 0.8, 0.95), (1.0, 0.91, 1.0))


def test_bad_names_are_answered() -> None:
    iso, isaac = iszoo.envs.find("iso"), iszoo.envs.find("isaac")
    with pytest.raises(ValueError, match=r"iso has no published ladder 'go'; it has .*iso-solo"):
        reproduce.reproduce(iso, 8, name="go")
    with pytest.raises(ValueError, match="0 games a table"):
        reproduce.reproduce(isaac, 0)
    with pytest.raises(ValueError, match="nobody is left to play without"):
        reproduce.reproduce(isaac, 8, without=[*QUICK, "mcts:20", "greedy", "expert", "policy:isaac"])
