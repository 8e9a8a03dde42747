"""The ladder: who meets whom on which deals, that results don't depend on who plays them, and what the report says."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo.baselines.agents import RandomAgent, make_agent
from iszoo.baselines.arena import kept
from iszoo.baselines.arena.standings import TableGames
from iszoo.baselines.ladder import CHUNK_DEALS, Chunk, has_common_result, ladder, play_chunk, seatings
from iszoo.baselines.match import match, play
from iszoo.envs.game import Game
from tests.helpers import SETTINGS, Setting

GAME = iszoo.REGISTRY["isis_osiris"]
ISO = iszoo.REGISTRY["iso"]


def report(game: Game = GAME, agents: Any = ("greedy",), games: int = 24, **options: Any) -> dict[str, Any]:
    """A ladder's report without what differs between two runs."""
    found = ladder(game, agents, games, **{"resamples": 50, **options})
    assert found.pop("seconds") > 0
    assert found.pop("machine")["iszoo"] == iszoo.__version__
    return found


def test_tables() -> None:
    assert seatings(3, 2, common_result=False) == [(0, 1), (0, 2), (1, 2)]
    assert seatings(4, 3, common_result=False) == [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]
    assert seatings(2, 3, common_result=False) == [(0, 0, 1), (0, 1, 1)]
    assert seatings(2, 2, common_result=True) == [(0, 0), (0, 1), (1, 1)]
    assert seatings(3, 1, common_result=True) == [(0,), (1,), (2,)]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_which_settings_have_a_common_result(setting: Setting) -> None:
    """Solo and cooperative ones; the others share out a sum of zero."""
    expected = setting.options.get("mode") in ("solo", "coop")
    assert has_common_result(setting.game, setting.game.resolve(setting.options)) == expected


def test_a_chunk_has_the_games_of_the_match(game: Game) -> None:
    agents = [make_agent(name, game) for name in ("greedy", "random")]
    whole = play(game, agents, 20, seed=3)
    chunk = play_chunk(Chunk(game.name, {}, ("greedy", "random"), 3, first_deal=4, deals=5, trust=False))
    assert chunk["digests"] == [digest.hex() for digest in whole.digests[8:18]]
    np.testing.assert_array_equal(chunk["returns"], whole.returns[8:18])


def test_one_worker_and_two_give_the_same() -> None:
    assert report(games=20, num_players=3) == report(games=20, num_players=3, workers=2)


def test_standings_are_those_of_the_matches(game: Game) -> None:
    """Of two agents, a ladder is a match."""
    found = report(game, games=41, seed=9)
    expected = match(game, [make_agent(name, game) for name in ("greedy", "random")], 42, seed=9)
    assert found["games"] == 42
    assert found["distinct_games"] == expected.distinct_games == found["tables"][0]["distinct_games"]
    assert [entry["agent"] for entry in found["agents"]] == ["greedy", "random"]
    for entry, standing in zip(found["agents"], expected.standings, strict=True):
        assert entry["win_rate"] == pytest.approx(standing.win_rate)
        assert entry["mean_score"] == pytest.approx(standing.mean_score)
        assert entry["mean_return"] == pytest.approx(standing.mean_return, abs=1e-12)
        assert [seat["win_rate"] for seat in entry["by_seat"]] == pytest.approx(standing.win_rate_by_seat)
        assert [seat["games"] for seat in entry["by_seat"]] == [21, 21]
    for result, standing in zip(found["tables"][0]["results"], expected.standings, strict=True):
        assert (result["win_rate_low"], result["win_rate_high"]) == pytest.approx((standing.low, standing.high))
    assert found["versus"]["share"][0][1] == pytest.approx(expected.standings[0].win_rate)
    assert found["versus"]["share"][0][0] is None


def test_the_order_of_the_agents_changes_nothing() -> None:
    assert report(agents=("greedy", "expert"), games=8) == report(agents=("random", "expert", "greedy"), games=8)


def test_random_is_always_there_at_zero() -> None:
    found = report(agents=("greedy", "expert"), games=40)
    assert [entry["agent"] for entry in found["agents"]] == ["expert", "greedy", "random"]
    assert len(found["tables"]) == 3
    expert, greedy, anchor = found["agents"]
    assert anchor["elo"] == anchor["elo_low"] == anchor["elo_high"] == 0
    assert expert["elo"] > greedy["elo"] > 100
    assert expert["elo_low"] < expert["elo"] < expert["elo_high"]
    assert any("No agent of a later group won" in note and "{random}" in note for note in found["notes"])


@pytest.mark.parametrize("players", [3, 4])
def test_three_and_four_players(players: int) -> None:
    found = report(agents=("greedy", "expert"), games=40, num_players=players)
    assert {table["games"] for table in found["tables"]} == {42 if players == 3 else 48}  # whole sets of seatings
    assert [sorted(set(table["agents"])) for table in found["tables"]] == [["expert", "greedy", "random"]] * (
        1 if players == 3 else 3
    )
    assert [entry["agent"] for entry in found["agents"]] == ["expert", "greedy", "random"]
    assert all(len(entry["by_seat"]) == players for entry in found["agents"])
    for table in found["tables"]:
        seats = Counter(table["agents"])
        assert sum(result["win_rate"] * seats[result["agent"]] for result in table["results"]) == pytest.approx(1)


def test_two_agents_at_a_table_for_three() -> None:
    found = report(games=12, num_players=3)
    assert [table["agents"] for table in found["tables"]] == [
        ["greedy", "greedy", "random"],
        ["greedy", "random", "random"],
    ]
    assert found["agents"][0]["agent"] == "greedy"


@pytest.mark.parametrize(("options", "players"), [
    ({"mode": "solo"}, 1),
    ({"mode": "coop"}, 2),
    ({"mode": "coop", "num_players": 3}, 3),
])  # fmt: skip
def test_a_common_result_is_a_mean_and_no_rating(options: dict[str, Any], players: int) -> None:
    found = report(ISO, games=30, **options)
    assert found["common_result"]
    assert found["versus"] is None
    assert [entry["agent"] for entry in found["agents"]] == ["greedy", "random"]
    greedy = found["agents"][0]
    assert "elo" not in greedy
    alone = play(ISO, [make_agent("greedy", ISO)] * players, 30, rotate=False, **options)
    assert greedy["mean_return"] == pytest.approx(alone.returns.mean())
    assert greedy["mean_return_low"] < greedy["mean_return"] < greedy["mean_return_high"]
    assert greedy["mean_score"] == pytest.approx(alone.scores.mean())
    assert len(found["tables"]) == players + 1
    if players == 1:
        assert greedy["mean_return_mixed"] is None
    else:
        mixed = [t["results"][0]["mean_return"] for t in found["tables"] if len(set(t["agents"])) > 1]
        assert greedy["mean_return_mixed"] == pytest.approx(np.mean(mixed))
        assert greedy["mean_return_mixed"] < greedy["mean_return"]


def test_a_run_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    whole = report(games=40, keep=file)
    lines = file.read_text().splitlines(keepends=True)
    assert len(lines) == 3  # 20 deals
    file.write_text(lines[0] + lines[2][: len(lines[2]) // 2])
    told: list[str] = []
    shown: list[tuple[int, int]] = []
    again = report(games=40, keep=file, tell=told.append, progress=lambda *done: shown.append(done))
    assert again == whole
    assert told == [f"{file}: 1 of 3 parts are played already"]
    assert shown == [(32, 40), (40, 40)]
    assert len(kept.read(file)) == 3


def test_kept_games_are_what_the_report_is_made_of(tmp_path: Path) -> None:
    """A changed line changes the result: nothing is played again."""
    file = tmp_path / "games.jsonl"
    report(games=2 * CHUNK_DEALS, keep=file)
    part = json.loads(file.read_text())
    part["returns"] = [[-1.0, 1.0], [1.0, -1.0]] * CHUNK_DEALS  # now random wins every game
    file.write_text(json.dumps(part) + "\n")
    assert report(games=2 * CHUNK_DEALS, keep=file)["agents"][0]["agent"] == "random"


def test_more_games_and_agents_play_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    report(games=16, keep=file)
    told: list[str] = []
    more = report(agents=("greedy", "expert"), games=32, keep=file, tell=told.append)
    assert told == [f"{file}: 1 of 6 parts are played already"]
    assert more == report(agents=("greedy", "expert"), games=32)


@pytest.mark.parametrize("changed", [{"seed": 1}, {"num_players": 3}, {"variant": "shared_stock"}])
def test_kept_games_of_something_else_are_not_used(changed: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    report(games=16, keep=file)
    told: list[str] = []
    assert report(games=16, keep=file, tell=told.append, **changed) == report(games=16, **changed)
    assert "0 of" in told[0]
    assert "1 in it are of other agents, options, games or code" in told[0]


def test_kept_games_of_other_code_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "games.jsonl"
    report(games=16, keep=file)
    monkeypatch.setattr("iszoo.baselines.ladder.code_stamp", lambda: "edited")
    told: list[str] = []
    monkeypatch.setattr("iszoo.baselines.ladder.Chunk.__init__", _with_stamp(Chunk.__init__, "edited"))
    report(games=16, keep=file, tell=told.append)
    assert "0 of 1 parts" in told[0]


def _with_stamp(init: Any, stamp: str) -> Any:
    return lambda self, *given, **named: init(self, *given, **{**named, "stamp": stamp})


def test_a_worker_with_other_code_refuses() -> None:
    with pytest.raises(ValueError, match="is another version, or was edited"):
        play_chunk(Chunk(GAME.name, {}, ("random", "random"), 0, 0, 1, False, stamp="another"))


def test_agents_may_be_objects(tmp_path: Path) -> None:
    """They play, and their games are not kept: nothing tells whether they are the same another time."""

    class Mine(RandomAgent):
        name = "mine"

    file = tmp_path / "games.jsonl"
    found = report(agents=[Mine(), "greedy"], games=16, keep=file)
    assert {entry["agent"] for entry in found["agents"]} == {"mine", "greedy", "random"}
    assert len(kept.read(file)) == 1


class First:
    """Plays the first legal action."""

    name = "first"

    def act(self, view: Any) -> Any:
        return view.action_mask.argmax(axis=1)


class Last:
    """Plays the last legal action."""

    name = "last"

    def act(self, view: Any) -> Any:
        return view.action_mask.shape[1] - 1 - view.action_mask[:, ::-1].argmax(axis=1)


def test_games_that_repeat_are_counted_and_told() -> None:
    """Isaac has no chance: two agents without any play the same two games on every deal."""
    found = report(iszoo.REGISTRY["isaac"], agents=[First(), Last()], games=20)
    first_and_last = next(table for table in found["tables"] if table["agents"] == ["first", "last"])
    assert first_and_last["distinct_games"] == 2
    assert found["distinct_games"] == 42
    assert any(note.startswith("9 deals brought the same games") for note in found["notes"])
    assert not any("brought the same games" in note for note in report()["notes"])


def test_wins_by_deal() -> None:
    """Two games of a deal, agents 3 and 5 on both sides: wins go to agents, not to seats."""
    part = {
        "returns": [[1.0, -1.0], [1.0, -1.0], [0.0, 0.0], [-1.0, 1.0]],
        "scores": [[3, 1], [4, 2], [5, 5], [0, 9]],
        "lengths": [7, 8, 9, 10],
        "digests": ["a", "b", "c", "d"],
    }
    games = TableGames.joined((3, 5), [part])
    assert games.agents.tolist() == [[3, 5], [5, 3], [3, 5], [5, 3]]
    assert games.wins(6)[:, [3, 5]].tolist() == [[1, 1], [1.5, 0.5]]
    assert games.by_deal(3).tolist() == [0, 0.5]
    assert games.repeated_deals == 0


@pytest.mark.parametrize(("arguments", "message"), [
    ({"agents": ("greedy", "greedy")}, "two agents are called 'greedy'"),
    ({"agents": ("random",)}, "name an agent beside random"),
    ({"agents": ("stockfish",)}, "has no agent 'stockfish'"),
    ({"games": 0}, "at least one"),
    ({"seed": -1}, "a seed is a whole number"),
    ({"workers": 0}, "whole number from 1"),
    ({"memory": "maybe"}, "'open', 'hidden'"),
])  # fmt: skip
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        report(**arguments)


def test_without_scipy_the_error_names_the_extra_before_any_game(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iszoo.baselines.ladder.find_spec", lambda _: None)
    monkeypatch.setattr("iszoo.baselines.ladder.run", None)
    with pytest.raises(ImportError, match=r"iszoo\[ladder\]"):
        report()
