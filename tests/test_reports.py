"""Files of reports are whole, whatever happens, and say on what machine they were made."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo.envs.game import Game
from iszoo.reports import machine, machine_text, report_games, write_json, write_text


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "new" / "report.json"
    write_json(file, {"a": 1})
    assert json.loads(file.read_text()) == {"a": 1}

    def fails(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("os.replace", fails)
    with pytest.raises(OSError, match="full"):
        write_text(file, "half")
    assert json.loads(file.read_text()) == {"a": 1}
    assert [path.name for path in file.parent.iterdir()] == ["report.json"]


def test_the_machine_and_its_versions() -> None:
    found = machine("pytest")
    assert found["python"] == sys.version.split()[0]
    assert (found["iszoo"], found["numpy"], found["pytest"]) == (iszoo.__version__, np.__version__, pytest.__version__)
    assert found["cores"] >= 1
    told = machine_text(found)
    assert all(found[name] in told for name in ("cpu", "python", "numba", "iszoo", "date"))
    assert f"NumPy {np.__version__};" in machine_text(found, "NumPy")


def test_a_command_measures_the_games_that_it_can(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "report.json"

    def measure(game: Game, tell: Callable[[str], None]) -> dict[str, Any]:
        tell(f"now {game.name}")
        return {"cells": game.board_size}

    def tables(report: dict[str, Any]) -> dict[str, str]:
        return {"first": " and ".join(report["boards"]), "second": "end"}

    report_games(file, "boards", ["iso", "isaac"], ["isaac", "iso"], measure, tables)
    report = json.loads(file.read_text())
    assert report["boards"] == {name: {"cells": iszoo.REGISTRY[name].board_size} for name in ("iso", "isaac")}
    assert report["machine"]["iszoo"] == iszoo.__version__
    said = capsys.readouterr()
    assert said.out == f"iso and isaac\n\nend\n\nwritten to {file}\n"
    assert said.err == "now iso\nnow isaac\n"
    for name, message in (("chess", "chess"), ("isis_osiris", "isis_osiris can't be measured; choose of isaac, iso")):
        with pytest.raises(SystemExit, match=message):
            report_games(file, "boards", ["isaac", name], ["isaac", "iso"], measure, tables)
    assert json.loads(file.read_text()) == report
    assert capsys.readouterr().err == ""  # nothing was measured before the names were right
