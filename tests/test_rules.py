"""The rules that are shown: those of the docs page, and for a game from outside its fact sheet."""

from __future__ import annotations

import dataclasses

from iszoo.envs.facts import fact_sheet
from iszoo.envs.game import Game
from iszoo.rules import rules_html, rules_text
from tests.helpers import ROOT


def test_the_rules_are_those_of_the_page(game: Game) -> None:
    page = (ROOT / "docs" / "games" / f"{game.name}.md").read_text(encoding="utf-8")
    text = rules_text(game)
    assert text.startswith(f"# {game.title}\n")
    body = text.partition("\n")[2].strip()
    assert len(body) > 500
    assert body in page
    assert "## Options" not in text


def test_as_html(game: Game) -> None:
    page = rules_html(game)
    assert page.startswith("<h1>")
    assert "style=" not in page
    assert "<script" not in page
    assert ("<table>" in page) == ("|---" in rules_text(game))


def test_a_game_from_outside_shows_its_sheet(game: Game) -> None:
    other = dataclasses.replace(game, name="another")
    assert rules_text(other) == fact_sheet(other)
    assert rules_html(other)
