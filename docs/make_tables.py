"""Fills in the tables of the pages, from code and results. With --check: says which page is out of date instead.

A table stands between `<!-- from SOURCE: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from iszoo.benchmarks import wrappers
from iszoo.envs import REGISTRY
from iszoo.envs.facts import tables

DOCS = Path(__file__).parent
_BLOCK = re.compile(r"(<!-- from [^:]+: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(page: str, made: Mapping[str, str]) -> str:
    """A page with its tables as they are now. Raises KeyError for one that nobody makes."""
    return _BLOCK.sub(lambda found: f"{found[1]}{made[found[2]]}\n{found[3]}", page)


def pages() -> dict[Path, Mapping[str, str]]:
    """The tables of each page that has some."""
    games = {DOCS / "games" / f"{name}.md": tables(game) for name, game in REGISTRY.items()}
    return {**games, DOCS / "frameworks" / "index.md": wrappers.tables(wrappers.load())}


def main() -> int:
    """Returns how many pages were out of date, with --check; else writes them and returns 0."""
    stale = 0
    for path, made in pages().items():
        page = path.read_text(encoding="utf-8")
        if filled(page, made) != page:
            stale += 1
            print(f"{path}: {'out of date' if '--check' in sys.argv else 'written'}")
            if "--check" not in sys.argv:
                path.write_text(filled(page, made), encoding="utf-8")
    return stale if "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
