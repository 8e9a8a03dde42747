"""The command line: what it prints, what it writes, how it fails."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import iszoo
from iszoo import record
from iszoo.__main__ import main
from iszoo.baselines.solver import solve_record
from iszoo.reports import hash_in, report_hash

GAMES = list(iszoo.REGISTRY)


def test_list_names_every_game(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    for name, game in iszoo.REGISTRY.items():
        assert name in shown
        assert game.title in shown


@pytest.mark.parametrize("name", GAMES)
def test_info_is_made_from_the_game(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    game = iszoo.REGISTRY[name]
    assert main(["info", name, "--json", "-"]) == 0
    sheet = json.loads(capsys.readouterr().out)
    assert sheet["num_actions"] == game.num_actions
    assert sheet["planes"] == list(game.planes)
    assert sheet["features"] == list(game.features)
    assert set(sheet["options"]) == set(game.options)
    assert main(["info", name]) == 0
    shown = capsys.readouterr().out
    assert all(feature in shown for feature in game.features)


@pytest.mark.parametrize("name", GAMES)
def test_match_writes_json_and_is_repeatable(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = []
    for k in range(2):
        file = tmp_path / f"{k}.json"
        command = ["match", name, "greedy", "random", "--games", "11", "--seed", "3", "--json", str(file)]
        assert main(command) == 0
        results.append(json.loads(file.read_text()))
        del results[k]["seconds"]
    assert results[0] == results[1]
    assert results[0]["games"] == 12  # rounded up: each agent on every seat
    assert results[0]["agents"] == ["greedy", "random"]
    assert "95 % interval" in capsys.readouterr().out


def test_a_ladder_writes_its_files_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "isis.ladder"
    command = ["ladder", "isis_osiris", "--agents", "greedy", "--games", "16", "--workers", "1", "--out", str(out)]
    assert main(command) == 0
    first = capsys.readouterr()
    page = out.with_name("isis.ladder.md").read_text()
    assert page in first.out
    assert str(out.with_name("isis.ladder.svg")) in first.err
    report = json.loads(out.with_name("isis.ladder.json").read_text())
    assert [entry["agent"] for entry in report["agents"]] == ["greedy", "random"]
    assert hash_in(out.with_name("isis.ladder.svg").read_text()) == report_hash(report)
    assert main([*command, "--json", "-"]) == 0
    again = capsys.readouterr()
    assert "1 of 1 parts are played already" in again.err
    assert json.loads(again.out)["tables"] == report["tables"]


def test_a_ladder_without_matplotlib_has_no_plot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "iszoo.baselines.arena.plots", None)
    monkeypatch.delattr("iszoo.baselines.arena.plots", raising=False)
    out = tmp_path / "solo"
    command = ["ladder", "iso", "--agents", "greedy", "--games", "4", "--workers", "1", "--option", "mode=solo"]
    assert main([*command, "--out", str(out)]) == 0
    assert "no plot: solo.svg" in capsys.readouterr().err
    assert {file.name for file in tmp_path.iterdir()} == {"solo.json", "solo.md", "solo.games.jsonl"}


def test_statistics_write_their_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "numbers"
    command = ["statistics", "isis_osiris", "--games", "4", "--workers", "1", "--option", "num_players=3"]
    assert main([*command, "--agents", "random", "--out", str(out)]) == 0
    assert out.with_name("numbers.md").read_text() in capsys.readouterr().out
    report = json.loads(out.with_name("numbers.json").read_text())
    assert [setting["label"] for setting in report["settings"]] == ["3 players"]
    assert out.with_name("numbers.svg").exists()


def test_agents_of_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "agents_of_the_cli_test.py").write_text("def act(view): return view.action_mask.argmax(axis=1)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    command = ["match", "isis_osiris", "agents_of_the_cli_test:act", "random", "--games", "4", "--json", "-"]
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["agents"] == ["agents_of_the_cli_test:act", "random"]
    (tmp_path / "model.zip").write_bytes(b"no zip")
    assert main(["match", "isis_osiris", "sb3:model.zip", "random"]) == 1
    assert "--trust-pickle" in capsys.readouterr().err


def test_match_records_its_games(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    command = ["match", "iso", "greedy", "random", "--games", "4", "--record", str(file), "--json", "-"]
    assert main([*command, "--option", "mode=coop"]) == 0
    found = list(record.read(file))
    assert len(found) == 4
    assert {each.options["mode"] for each in found} == {"coop"}
    for each in found:
        record.verify(each)


def test_perft_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["perft", "isis_osiris", "3", "--json", "-"]) == 0
    counts = json.loads(capsys.readouterr().out)["counts"]
    assert [entry["count"] for entry in counts] == [37, 1332, 46656]


def test_options_of_a_game(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["match", "isis_osiris", "random", "random", "random", "--games", "3", "--json", "-"]
    assert main([*command, "--option", "variant=shared_stock", "--option", "memory=hidden"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["options"] == {"num_players": 3, "variant": "shared_stock", "memory": "hidden"}


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["match", "chess", "random", "random"], "'isis_osiris'"),
        (["match", "isis_osiris", "random", "stockfish"], "random, greedy, expert"),
        (["match", "isis_osiris", "random"], "name one agent for each seat"),
        (["match", "isis_osiris", "random", "random", "--games", "0"], "at least one"),
        (["match", "isis_osiris", "random", "random", "--seed", "-1"], "whole number"),
        (["match", "isis_osiris", "random", "random", "--option", "memory=maybe"], "'open', 'hidden'"),
        (["match", "isis_osiris", "random", "random", "--option", "memory"], "NAME=VALUE"),
        (["match", "isis_osiris", "random", "random", "--option", "colour=red"], "num_players"),
        (["perft", "isis_osiris", "-1"], "whole number"),
        (["perft", "isis_osiris", "2", "--deal", "1", "2"], "22 tile values"),
        (["info", "chess"], "'isis_osiris'"),
        (["match", "isis_osiris", "random", "nowhere:Mine"], "neither installed nor in"),
        (["ladder", "isis_osiris", "--agents", "random", "--workers", "1"], "name an agent beside random"),
        (["ladder", "isis_osiris", "--agents", "greedy", "--workers", "0"], "whole number from 1"),
        (["ladder", "isis_osiris", "--agents", "greedy", "--option", "colour=red"], "num_players"),
        (["statistics", "isis_osiris", "--games", "0"], "at least two"),
    ],
)
def test_errors_say_what_is_allowed(command: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("iszoo: error: ")
    assert message in captured.err
    assert "Traceback" not in captured.err


def test_usage_errors_exit_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["conquer"])
    assert exit_.value.code == 2


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"iszoo {iszoo.__version__}\n"


def test_without_the_extra_the_error_names_it() -> None:
    code = "import sys; sys.modules['tyro'] = None; import runpy; runpy.run_module('iszoo', run_name='__main__')"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 1
    assert "iszoo[cli]" in result.stderr
    assert "Traceback" not in result.stderr


def test_demo_plays_every_game_and_writes_its_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--games", "4", "--out", str(tmp_path)]) == 0
    report = json.loads((tmp_path / "demo.json").read_text())
    assert {result["game"] for result in report["matches"]} == {g.id for g in iszoo.REGISTRY.values()}
    assert all(rate["per_second"] > 0 for rate in report["rates"].values())
    text = (tmp_path / "demo.md").read_text()
    shown = capsys.readouterr()
    assert text in shown.out
    assert str(tmp_path / "demo.md") in shown.err


def recorded_endings(tmp_path: Path) -> Path:
    """A file of two games, of which the second is Isis & Osiris to its end."""
    path = tmp_path / "games.jsonl"
    for name in ("iso", "isis_osiris"):
        assert main(["match", name, "random", "random", "--games", "2", "--record", str(path)]) == 0
    games = list(record.read(path))
    path.unlink()
    record.append(path, [games[0], games[2]])
    return path


def test_solve_prints_values_and_best_actions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = recorded_endings(tmp_path)
    found = list(record.read(path))[1]
    ply = len(found.actions) - 4
    capsys.readouterr()
    assert main(["solve", str(path), "--game", "2", "--ply", str(ply), "--json", "-"]) == 0
    report = json.loads(capsys.readouterr().out)
    position = record.replay(found)[ply]
    solution = solve_record(found, ply)
    assert report["player"] == position.player == solution.player
    assert sorted(entry["action"] for entry in report["actions"]) == position.legal.tolist()
    assert [entry["action"] for entry in report["actions"] if entry["best"]] == list(solution.best)
    assert report["actions"][0]["best"]
    assert report["outcome"] == solution.value[0].tolist()
    assert report["nodes"] == solution.nodes
    assert main(["solve", str(path), "--game", "2", "--ply", str(ply)]) == 0
    shown = capsys.readouterr().out
    for entry in report["actions"]:
        assert iszoo.REGISTRY["isis_osiris"].action_to_string(entry["action"]) in shown
    assert f"{solution.nodes:,} nodes" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ply", "0"], "isis_osiris can't be solved here: 22 tiles are unseen"),
        (["--ply", "1000"], "ply 1000 is out of range: the game has plies 0 to"),
        (["--ply", "LAST"], "the game is over there"),
        (["--ply", "LATE", "--nodes", "2"], "not solved within 2 nodes"),
        (["--ply", "LATE", "--nodes", "0"], "--nodes 0 is not allowed"),
        (["--ply", "0", "--game", "3"], "has games 1 to 2"),
    ],
)
def test_what_solve_refuses(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = recorded_endings(tmp_path)
    last = len(list(record.read(path))[1].actions)
    given = [str({"LAST": last, "LATE": last - 6}.get(argument, argument)) for argument in arguments]
    assert main(["solve", str(path), "--game", "2", *given]) == 1
    assert message in capsys.readouterr().err
    assert main(["solve", str(tmp_path / "none.jsonl"), "--ply", "1"]) == 1
    assert "none.jsonl can't be read" in capsys.readouterr().err
