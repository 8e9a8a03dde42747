"""Writing result files: whole, or not at all."""

from __future__ import annotations

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
