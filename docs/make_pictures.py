"""Draws a position of every game into docs/pictures. With --check: says which picture is out of date instead."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import iszoo
from iszoo.envs import drawing

PICTURES = Path(__file__).parent / "pictures"
# Beginnings of games that the experts played, with the seed of the deal: options, seed, actions.
GAMES: dict[str, tuple[dict[str, Any], int, str]] = {
    "isaac": (
        {},
        1,
        "2r51 3c57 6r43 6r70 3c57 2c05 3c56 2r06 4c30 2c68 4r33 3c01 3c55 1r16 2r04 1r26 2r14 1r36 2c59 1c79 2r51 11"
        " 1c79 02 3c55 26 2r06 13 3c57 39 2c68 17",
    ),
    "iso": ({"num_players": 3}, 3, "0.0@8,8 0.0@9,9 2.0@10,10 0.0@11,11 0.2@9,8 1.0@10,9 0.2@11,10"),
    "isis_osiris": (
        {"num_players": 3},
        1,
        "a6 b5 reveal a5 reveal b6 c6 reveal e2 f2 e1 e3 d2 reveal c5 reveal f1 d5 reveal f3 reveal e4 d4 reveal b4"
        " c4 e5 reveal d3 reveal d1 reveal",
    ),
}


def picture(name: str) -> str:
    """The picture of a game as the code draws it now."""
    options, seed, actions = GAMES[name]
    vec = iszoo.make_vec(name, 1, seed=seed, autoreset="disabled", **options)
    action = None
    for text in actions.split():
        action = vec.game.string_to_action(text)
        vec.step([action])
    return drawing.svg(vec.game, vec.rows[0], vec.options, last=action) + "\n"


def main() -> int:
    """Returns how many pictures were out of date, with --check; else writes them and returns 0."""
    stale = 0
    for name in GAMES:
        path = PICTURES / f"{name}.svg"
        drawn = picture(name)
        if not path.exists() or path.read_text(encoding="utf-8") != drawn:
            stale += 1
            print(f"{path}: {'out of date' if '--check' in sys.argv else 'written'}")
            if "--check" not in sys.argv:
                PICTURES.mkdir(exist_ok=True)
                path.write_text(drawn, encoding="utf-8")
    return stale if "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
