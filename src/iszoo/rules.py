"""The rules of each game for players: the first part of its page in docs/games, which the package carries along."""

from __future__ import annotations

import re
from pathlib import Path

from iszoo import envs
from iszoo.envs.facts import fact_sheet
from iszoo.envs.game import Game

# An installed package has the pages beside this file, a checkout by a link, or, where links don't work, at its root.
_PLACES = (Path(__file__).with_name("docs"), Path(envs.__file__).parents[1] / "docs" / "games")
_STYLE = re.compile(r' style="text-align:\w+"')
_SECTION = re.compile(r"^## The rules, in our words\n(.*?)^## ", re.DOTALL | re.MULTILINE)


def rules_text(game: Game) -> str:
    """The rules as Markdown; for a game from outside, which has no page, its fact sheet."""
    for place in _PLACES:
        page = place / f"{game.name}.md"
        if page.is_file():
            found = _SECTION.search(page.read_text(encoding="utf-8"))
            if found is not None:
                return f"# {game.title}\n{found[1].rstrip()}\n"
    return fact_sheet(game)


def rules_html(game: Game) -> str:
    """The rules as HTML without styles of its own. Needs markdown-it-py, of the extra iszoo[serve]."""
    from markdown_it import MarkdownIt

    rendered: str = MarkdownIt("commonmark", {"html": False}).enable("table").render(rules_text(game))
    return _STYLE.sub("", rendered)
