"""Tables on disk: one SQLite file, to which an action is written before anybody sees it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_VERSION = 1
_APPLICATION = 0x49535A4F  # "ISZO": tells our files from others of SQLite
_SCHEMA = """
CREATE TABLE tables (
    id TEXT PRIMARY KEY, game TEXT NOT NULL, options TEXT NOT NULL, seed INTEGER NOT NULL, owner TEXT NOT NULL,
    pace REAL NOT NULL, paused INTEGER NOT NULL, touched REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE seats (
    of_table TEXT NOT NULL REFERENCES tables ON DELETE CASCADE, seat INTEGER NOT NULL,
    agent INTEGER NOT NULL, name TEXT NOT NULL, token TEXT, PRIMARY KEY (of_table, seat)
) WITHOUT ROWID;
CREATE TABLE actions (
    of_table TEXT NOT NULL REFERENCES tables ON DELETE CASCADE, ply INTEGER NOT NULL, action INTEGER NOT NULL,
    PRIMARY KEY (of_table, ply)
) WITHOUT ROWID;
"""


@dataclass
class Seat:
    """Who sits there: an agent by its name, or a person, once somebody has taken the seat."""

    agent: bool
    name: str
    token: str | None = None  #: the hash of the secret of the person who sits there; None: the seat is free

    @property
    def free(self) -> bool:
        """Whether a person may sit down."""
        return not self.agent and self.token is None


@dataclass
class Saved:
    """A table as it is kept."""

    id: str
    game: str  #: the id with its version
    options: dict[str, Any]
    seed: int
    owner: str  #: the hash of the secret of who made it
    seats: list[Seat]
    pace: float  #: seconds before an agent's action
    paused: bool
    touched: float  #: when it last changed, in seconds since 1970
    actions: list[int] = field(default_factory=list)


class Store:
    """The file. Every call is one transaction: all of it is on disk, or nothing.

    Only one process at a time has a file open.

    Raises ValueError for a file of something else, of a newer version, or that another process has open.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        # made in one thread, used in that of the event loop alone
        self._db = sqlite3.connect(path, timeout=0.5, isolation_level=None, check_same_thread=False)
        try:
            self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("PRAGMA foreign_keys = ON")
            self._open()
        except sqlite3.Error as error:
            self._db.close()
            if "locked" in str(error):
                raise ValueError(f"{path} is open in another process: another iszoo serve, perhaps") from None
            raise ValueError(f"{path} is no file of tables: {error}") from None
        except ValueError:
            self._db.close()
            raise

    def _open(self) -> None:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        (application,) = self._db.execute("PRAGMA application_id").fetchone()
        with _transaction(self._db):
            if version == 0 and application == 0:
                if self._db.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,):
                    raise ValueError(f"{self.path} is a file of SQLite, but not of tables of iszoo")
                for statement in _SCHEMA.split(";"):
                    self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {_VERSION}")
                self._db.execute(f"PRAGMA application_id = {_APPLICATION}")
            elif application != _APPLICATION:
                raise ValueError(f"{self.path} is a file of SQLite, but not of tables of iszoo")
            elif version != _VERSION:
                raise ValueError(f"{self.path} has version {version}; this version of iszoo reads version {_VERSION}")

    def add(self, table: Saved) -> None:
        """A new table."""
        with _transaction(self._db):
            self._db.execute(
                "INSERT INTO tables VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (table.id, table.game, json.dumps(table.options), table.seed, table.owner, table.pace,
                 table.paused, table.touched),
            )  # fmt: skip
            self._db.executemany(
                "INSERT INTO seats VALUES (?, ?, ?, ?, ?)",
                [(table.id, k, seat.agent, seat.name, seat.token) for k, seat in enumerate(table.seats)],
            )

    def act(self, table: str, ply: int, action: int, now: float) -> None:
        """An action that was played as number `ply`. Raises sqlite3.IntegrityError if there is one."""
        with _transaction(self._db):
            self._db.execute("INSERT INTO actions VALUES (?, ?, ?)", (table, ply, action))
            self._db.execute("UPDATE tables SET touched = ? WHERE id = ?", (now, table))

    def sit(self, table: str, seat: int, name: str, token: str | None, now: float) -> None:
        """Who has a seat now, or that it is free again."""
        with _transaction(self._db):
            self._db.execute(
                "UPDATE seats SET name = ?, token = ? WHERE of_table = ? AND seat = ?", (name, token, table, seat)
            )
            self._db.execute("UPDATE tables SET touched = ? WHERE id = ?", (now, table))

    def set_pace(self, table: str, pace: float, paused: bool) -> None:
        """How fast agents play."""
        with _transaction(self._db):
            self._db.execute("UPDATE tables SET pace = ?, paused = ? WHERE id = ?", (pace, paused, table))

    def remove(self, table: str) -> None:
        """Takes a table away."""
        with _transaction(self._db):
            self._db.execute("DELETE FROM tables WHERE id = ?", (table,))

    def load(self) -> Iterator[Saved]:
        """All tables, the one that changed last first."""
        query = "SELECT id, game, options, seed, owner, pace, paused, touched FROM tables ORDER BY touched DESC"
        for found in self._db.execute(query).fetchall():
            name, game, options, seed, owner, pace, paused, touched = found
            seats = self._db.execute("SELECT agent, name, token FROM seats WHERE of_table = ? ORDER BY seat", (name,))
            actions = self._db.execute("SELECT action FROM actions WHERE of_table = ? ORDER BY ply", (name,))
            yield Saved(
                name, game, json.loads(options), seed, owner,
                [Seat(bool(agent), who, token) for agent, who, token in seats],
                pace, bool(paused), touched, [action for (action,) in actions],
            )  # fmt: skip

    def close(self) -> None:
        """Lets the file go."""
        self._db.close()


class _transaction:
    """All that is executed within, or nothing."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._db.execute("COMMIT" if kind is None else "ROLLBACK")
