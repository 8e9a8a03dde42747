"""Files of game records, a line each: to add to one that an interruption may have cut off, and to read one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from iszoo.envs.record_line import START, Record, RecordError, dumps, loads

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows: two processes should not append to one file at a time there
    fcntl = None  # type: ignore[assignment]

LONGEST_LINE = 2**20  # bytes


def append(path: str | os.PathLike[str], records: Iterable[Record]) -> None:
    """Adds records to a file, which is made if it isn't there; on disk when this returns.

    An append that is interrupted loses no earlier game: it may leave the beginning of a line, which the next one
    removes. Several processes may append to one file (not on Windows).

    Raises RecordError for a file of something else, which stays as it is; OSError.
    """
    lines = "".join(dumps(record) + "\n" for record in records).encode()
    found = Path(path)
    found.parent.mkdir(parents=True, exist_ok=True)
    with open(found, "a+b") as file, _locked(file):
        _mend(file, str(found))
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())


def read(path: str | os.PathLike[str], errors: list[RecordError] | None = None) -> Iterator[Record]:
    """The records of a file, in order; empty lines are passed over. `verify` plays one again.

    errors: where to put the errors of lines that can't be read, in place of raising the first of them.

    Raises RecordError that names the line and the field; OSError.
    """
    with open(path, "rb") as file:
        number = 0
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            source = f"{os.fspath(path)}, line {number}"
            try:
                if len(line) > LONGEST_LINE:
                    while line and not line.endswith(b"\n"):
                        line = file.readline(LONGEST_LINE)
                    raise RecordError(f"{source}: longer than {LONGEST_LINE} bytes: no record of iszoo")
                if not line.strip():
                    continue
                found = loads(line, source)
            except RecordError as error:
                if errors is None:
                    raise
                errors.append(error)
                continue
            yield found


def _mend(file: IO[bytes], name: str) -> None:
    """Makes a file ready for the next line: an interrupted one is removed.

    Raises RecordError, and changes nothing, where the file doesn't look as `append` leaves it.
    """
    end = file.seek(0, os.SEEK_END)
    file.seek(0)
    first = file.read(len(START))
    if not START.startswith(first.rstrip(b"\0")) and first != START:
        raise RecordError(f"{name}, line 1: {START.decode()!r} is not its beginning: no file of records; left as it is")
    file.seek(max(0, end - LONGEST_LINE))
    tail = file.read().rpartition(b"\n")[2]
    if not tail:
        return
    try:
        loads(tail)
    except RecordError:
        begun = tail.rstrip(b"\0")  # some file systems lengthen a file before they fill it
        if not begun.startswith(START) and not START.startswith(begun):
            raise RecordError(f"{name}: its last line is no record; left as it is") from None
        file.truncate(end - len(tail))
        file.seek(0, os.SEEK_END)
    else:  # only the end of the line is missing
        file.write(b"\n")


@contextmanager
def _locked(file: IO[bytes]) -> Iterator[None]:
    """Keeps other processes from appending in the meantime."""
    if fcntl is None:
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)
