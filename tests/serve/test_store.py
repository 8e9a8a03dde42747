"""The file of tables: what is written is there again, all of it or nothing, and files of others are left alone."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from iszoo.serve.store import Saved, Seat, Store
from tests.helpers import ROOT


def saved(name: str = "t", touched: float = 1.0) -> Saved:
    seats = [Seat(False, "Ada", "hash"), Seat(True, "greedy"), Seat(False, "")]
    return Saved(
        name, "isaac_v0", {"pieces": "table", "mirror": True, "n": None}, 2**62, "owner", seats, 0.5, True, touched
    )


def reopened(store: Store) -> list[Saved]:
    store.close()
    again = Store(store.path)
    found = list(again.load())
    again.close()
    return found


def test_tables_come_back_as_they_were(tmp_path: Path) -> None:
    store = Store(tmp_path / "new" / "tables.sqlite")
    store.add(saved("a", 1.0))
    store.add(saved("b", 2.0))
    for ply, action in enumerate((5, 3, 5)):
        store.act("a", ply, action, 3.0 + ply)
    store.sit("b", 2, "Ben", "his hash", 4.0)
    store.set_pace("b", 2.5, False)
    first, second = reopened(store)
    expected = saved("a", 5.0)
    expected.actions = [5, 3, 5]
    assert first == expected
    expected = saved("b", 4.0)
    expected.seats[2] = Seat(False, "Ben", "his hash")
    expected.pace, expected.paused = 2.5, False
    assert second == expected
    assert [seat.free for seat in first.seats] == [False, False, True]


def test_a_table_is_removed_with_all_that_is_of_it(tmp_path: Path) -> None:
    store = Store(tmp_path / "tables.sqlite")
    store.add(saved("a"))
    store.act("a", 0, 1, 1.0)
    store.remove("a")
    assert reopened(store) == []
    with sqlite3.connect(store.path) as db:
        for table in ("tables", "seats", "actions"):
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    db.close()


def test_a_call_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    store = Store(tmp_path / "tables.sqlite")
    store.add(saved("a"))
    store.act("a", 0, 1, 2.0)
    with pytest.raises(sqlite3.IntegrityError):
        store.act("a", 0, 9, 99.0)
    with pytest.raises(sqlite3.IntegrityError):
        store.act("nowhere", 0, 9, 99.0)
    with pytest.raises(sqlite3.IntegrityError):
        store.add(saved("a"))
    (found,) = reopened(store)
    assert found.actions == [1]
    assert found.touched == 2.0


def test_two_servers_do_not_share_a_file(tmp_path: Path) -> None:
    store = Store(tmp_path / "tables.sqlite")
    store.add(saved())
    with pytest.raises(ValueError, match="open in another process"):
        Store(store.path)
    assert len(reopened(store)) == 1


WRITE = """
import os, sys
from pathlib import Path
from iszoo.serve.store import Saved, Seat, Store
store = Store(Path(sys.argv[1]))
store.add(Saved("t", "isaac_v0", {}, 1, "", [Seat(True, "greedy")], 1, False, 0.0))
for ply in range(20):
    store.act("t", ply, ply, 1.0)
os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_a_killed_server_loses_no_action(tmp_path: Path) -> None:
    file = tmp_path / "tables.sqlite"
    done = subprocess.run([sys.executable, "-c", WRITE, str(file)], cwd=ROOT)
    assert done.returncode == -9
    store = Store(file)
    (found,) = store.load()
    assert found.actions == list(range(20))
    store.close()


def test_files_of_something_else_are_left_as_they_are(tmp_path: Path) -> None:
    text = tmp_path / "thesis.txt"
    text.write_text("my thesis, which is long enough to be looked at" * 50)
    before = text.read_bytes()
    with pytest.raises(ValueError, match="is no file of tables"):
        Store(text)
    assert text.read_bytes() == before
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE mine (x)")
    db.close()
    with pytest.raises(ValueError, match="not of tables of iszoo"):
        Store(other)
    newer = tmp_path / "newer.sqlite"
    Store(newer).close()
    with sqlite3.connect(newer) as db:
        db.execute("PRAGMA user_version = 9")
    db.close()
    with pytest.raises(ValueError, match="version 9; this version of iszoo reads version 1"):
        Store(newer)
