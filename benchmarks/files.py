"""Result files: written whole or not at all; and which report a plot was drawn from."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any


def write_text(path: Path, text: str) -> None:
    """Writes a text, UTF-8, see `write_bytes`."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Writes a file beside its place and moves it there: a half-written file never replaces a good one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_json(path: Path, value: Any) -> None:
    """Writes a value as JSON, lists of numbers on one line, see `write_text`."""
    text = json.dumps(value, indent=1)
    write_text(path, _NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text) + "\n")


# Between brackets on lines of their own, which no string of JSON has.
_NUMBERS = re.compile(r"\[\n([-+.\deE,\s]+)\]")


def report_hash(report: Any) -> str:
    """What a plot holds of its report, to be found by `hash_in`."""
    return hashlib.sha256(json.dumps(report, sort_keys=True).encode()).hexdigest()[:16]


def hash_in(svg: str) -> str | None:
    """The hash of the report that a plot was drawn from."""
    found = re.search(r"report ([0-9a-f]{16})", svg)
    return found[1] if found else None
