"""What reports of measurements, trainings and ladders share: whole files or none, and the machine that it was."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

from iszoo._version import __version__
from iszoo.envs import find
from iszoo.envs.game import Game


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


def machine(*more: str) -> dict[str, Any]:
    """The machine and the versions that a figure belongs to, those of `more` packages too."""
    packages = ("numpy", "numba", "llvmlite", "gymnasium", "pettingzoo", *more)
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": sys.version.split()[0],
        "iszoo": __version__,
        **{name: metadata.version(name) for name in packages},
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
    }


def machine_text(about: Mapping[str, Any], package: str = "numba") -> str:
    """What `machine` found, in a sentence, with the version of a package."""
    return (
        f"{about['cpu']}, Python {about['python']}, {package} {about[package.lower()]}; iszoo {about['iszoo']},"
        f" {about['date']}."
    )


def report_games(
    path: Path,
    under: str,
    names: Iterable[str],
    among: Iterable[str],
    measure: Callable[[Game, Callable[[str], None]], dict[str, Any]],
    tables: Callable[[dict[str, Any]], Mapping[str, str]],
) -> None:
    """The body of a command that measures some games: writes what it finds, and prints it.

    Args:
        path: of the report, {under: {game: what `measure` gives}, "machine": ...}.
        under: see path.
        names: of the games.
        among: the names of all that can be measured.
        measure: is given a game and who is told (on stderr) what is done next.
        tables: of a report, as Markdown.

    Ends the process with a message for a game that is not known, or not among these.
    """
    known = tuple(among)
    try:
        games = [find(name) for name in names]
        for game in games:
            if game.name not in known:
                raise ValueError(f"{game.name} can't be measured; choose of {', '.join(known)}")
    except ValueError as error:
        sys.exit(f"error: {error}")

    def tell(what: str) -> None:
        print(what, file=sys.stderr, flush=True)

    report = {under: {game.name: measure(game, tell) for game in games}, "machine": machine()}
    write_json(path, report)
    print("\n\n".join(tables(report).values()))
    print(f"\nwritten to {path}")


def _cpu() -> str:
    try:
        with open("/proc/cpuinfo") as info:
            names = {line.partition(":")[2].strip() for line in info if line.startswith("model name")}
        return ", ".join(sorted(names))
    except OSError:
        return platform.processor()
