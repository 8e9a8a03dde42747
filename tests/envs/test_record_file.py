"""Files of records: they grow, keep what was there, and outlive interruptions and other writers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from iszoo import record
from iszoo.envs.record_line import START
from tests.helpers import ROOT


def sample(count: int = 4) -> list[record.Record]:
    return [record.make("isis_osiris", seed=seed, actions=[36, seed], agents=["é", "b"]) for seed in range(count)]


def test_files_grow_and_keep_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "new" / "games.jsonl"
    games = sample()
    record.append(path, games[:1])
    before = path.read_bytes()
    record.append(path, games[1:])
    record.append(path, [])
    assert path.read_bytes().startswith(before)
    assert list(record.read(path)) == games
    assert [found.source for found in record.read(path)] == [f"{path}, line {k}" for k in (1, 2, 3, 4)]


def test_errors_name_the_file_and_the_line(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    record.append(path, sample(4))
    lines = path.read_text().splitlines()
    lines[1] = lines[1].replace('"seed": 1', '"seed": "x"')
    lines[2] = "\n\n" + lines[2][:200]
    path.write_text("\n".join(lines) + "\n")
    reading = record.read(path)
    assert next(reading) == sample()[0]
    with pytest.raises(record.RecordError, match=r"games\.jsonl, line 2: seed: 'x' is no whole number"):
        next(reading)
    errors: list[record.RecordError] = []
    assert list(record.read(path, errors)) == [sample()[0], sample()[3]]
    assert [str(error).partition(": ")[0] for error in errors] == [f"{path}, line 2", f"{path}, line 5"]
    assert "line 5: " in str(errors[1])
    assert "cut off" in str(errors[1])


def test_a_line_without_end_is_not_read_into_memory(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    record.append(path, sample(1))
    with path.open("ab") as file:
        file.write(b"x" * (3 << 20) + b"\n" + record.dumps(sample()[1]).encode() + b"\n")
    errors: list[record.RecordError] = []
    assert list(record.read(path, errors)) == sample(2)
    assert "line 2: longer than" in str(errors[0])


def test_an_interrupted_append_loses_nothing_and_the_next_one_works(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    games = sample(3)
    record.append(path, games[:2])
    whole = path.read_bytes()
    first = len(whole.splitlines(keepends=True)[0])
    for end in [*range(first, len(whole), 7), len(whole) - 1]:
        path.write_bytes(whole[:end])
        errors: list[record.RecordError] = []
        kept = list(record.read(path, errors))
        assert kept[0] == games[0]
        assert len(kept) + len(errors) == (1 if end == first else 2)
        record.append(path, games[2:])
        assert list(record.read(path)) == [*kept, games[2]], end


def test_zeros_that_a_crash_left_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    record.append(path, sample(1))
    for left in (b"\0" * 300, START + b"\0" * 10):
        with path.open("ab") as file:
            file.write(left)
        record.append(path, [])
        assert list(record.read(path)) == sample(1)


@pytest.mark.parametrize("content", [b"my thesis", b"line\nline", b"{}\n", b'{"iszoo_record": 1, }\nnotes', b"\xff"])
def test_a_file_of_something_else_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "thesis.txt"
    path.write_bytes(content)
    with pytest.raises(record.RecordError, match=r"thesis\.txt.*left as it is"):
        record.append(path, sample(1))
    assert path.read_bytes() == content


def test_a_record_that_can_not_be_written_leaves_the_file_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    record.append(path, sample(1))
    before = path.read_bytes()

    def fails() -> Any:
        yield sample()[1]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        record.append(path, fails())
    assert path.read_bytes() == before


APPEND = """
import sys
from iszoo import record
for k in range(20):
    record.append(sys.argv[1], [record.make("isis_osiris", seed=k, actions=[36], agents=[sys.argv[2], "b"])])
"""


def test_processes_that_append_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    running = [
        subprocess.Popen([sys.executable, "-c", APPEND, str(path), name], cwd=ROOT, env=dict(os.environ))
        for name in ("one", "two")
    ]
    assert [process.wait(120) for process in running] == [0, 0]
    found = list(record.read(path))
    assert sorted((each.agents[0], each.seed) for each in found) == [(n, k) for n in ("one", "two") for k in range(20)]
