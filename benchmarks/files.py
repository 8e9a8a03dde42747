"""Writing result files: whole, or not at all."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a file beside its place and moves it there: a half-written file never replaces a good one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_text(path: Path, text: str) -> None:
    """Writes a text as UTF-8, see `write_bytes`."""
    write_bytes(path, text.encode())


def write_json(path: Path, value: Any) -> None:
    """Writes a value as JSON, see `write_text`."""
    write_text(path, json.dumps(value, indent=1) + "\n")
