"""What a long run has done so far, kept in a file: one line of JSON for each part, under the key of all it depends on.

A part whose key isn't asked for (other options, an edited agent, newer code) stays in the file and is not used.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import iszoo.baselines
import iszoo.envs
from iszoo import __version__


@cache
def code_stamp() -> str:
    """A hash of the rules and the agents as they are installed here."""
    parts = [__version__.encode()]
    for package in (iszoo.envs, iszoo.baselines):
        folder = Path(package.__path__[0])
        for path in sorted(path for kind in ("py", "toml", "safetensors") for path in folder.rglob(f"*.{kind}")):
            parts += [path.relative_to(folder).as_posix().encode(), path.read_bytes()]
    return _hash(parts)


def file_stamp(agent: str) -> str:
    """A hash of the files that an agent's name stands for: a policy, a checkpoint, or the user's module itself.

    What the module imports is not looked at. Empty for agents without a file.
    """
    prefix, colon, text = agent.partition(":")
    if not colon:
        return ""
    module = getattr(sys.modules.get(prefix), "__file__", None)
    for place in (text, text.rpartition(":")[0], module):
        if place and Path(place).exists():
            path = Path(place)
            files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
            return _hash(part for file in files for part in (file.name.encode(), file.read_bytes()))
    return ""


def key_of(*parts: Any) -> str:
    """The key of a part of a run, from plain values: all that its result depends on."""
    return _hash([json.dumps(parts, sort_keys=True, default=str).encode()])


def read(file: Path) -> dict[str, dict[str, Any]]:
    """The parts of a file by key; none if there is no file. A last line that was cut off is left out.

    Raises ValueError if it is another kind of file.
    """
    if not file.exists():
        return {}
    parts = {}
    lines = file.read_text(encoding="utf-8").split("\n")
    for number, line in enumerate(lines, 1):
        try:
            part = json.loads(line)
            parts[part.pop("key")] = part
        except (ValueError, KeyError, AttributeError, TypeError):
            if number < len(lines):
                raise ValueError(f"{file}, line {number}: this is no file of kept parts; move it away") from None
    return parts


def add(file: Path, key: str, part: dict[str, Any]) -> None:
    """Adds a part at the end of the file, in place of a line there that was cut off."""
    file.parent.mkdir(parents=True, exist_ok=True)
    line = json.dumps({"key": key, **part}, separators=(",", ":")).encode() + b"\n"
    with open(file, "ab+") as stream:
        end = stream.tell()
        if end and _last_byte(stream, end) != b"\n":
            stream.seek(0)
            stream.truncate(stream.read().rfind(b"\n") + 1)
        stream.write(line)


def _last_byte(stream: Any, end: int) -> bytes:
    stream.seek(end - 1)
    last: bytes = stream.read(1)
    return last


def _hash(parts: Iterable[bytes]) -> str:
    whole = hashlib.blake2b(digest_size=16)
    for part in parts:
        whole.update(len(part).to_bytes(8, "little") + part)
    return whole.hexdigest()
