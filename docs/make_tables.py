"""Fills the tables of the games' pages in from the code. With --check: says which page is out of date instead."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from iszoo.envs import REGISTRY
from iszoo.envs.facts import tables

PAGES = Path(__file__).parent / "games"
_BLOCK = re.compile(r"(<!-- from the code: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(page: str, name: str) -> str:
    """A page with the tables of a game as the code has them now."""
    made = tables(REGISTRY[name])
    return _BLOCK.sub(lambda found: f"{found[1]}{made[found[2]]}\n{found[3]}", page)


def main() -> int:
    """Returns how many pages were out of date, with --check; else writes them and returns 0."""
    stale = 0
    for name in REGISTRY:
        path = PAGES / f"{name}.md"
        page = path.read_text(encoding="utf-8")
        if filled(page, name) != page:
            stale += 1
            print(f"{path}: {'out of date' if '--check' in sys.argv else 'written'}")
            if "--check" not in sys.argv:
                path.write_text(filled(page, name), encoding="utf-8")
    return stale if "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
