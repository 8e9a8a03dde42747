"""Files of reports are whole, whatever happens, and say on what machine they were made."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import iszoo
from iszoo.reports import machine, write_json, write_text


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
