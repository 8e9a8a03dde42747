"""Options of a game as people type them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from iszoo.envs.game import Game


def parse_options(game: Game, given: Sequence[str]) -> dict[str, Any]:
    """NAME=VALUE texts as options of a game. Raises ValueError that lists what is allowed."""
    options: dict[str, Any] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--option {text}: write NAME=VALUE")
        option = game.options.get(name)
        if option is None:
            raise ValueError(f"{game.name} has no option {name!r}; its options are {', '.join(game.options)}")
        matching = [choice for choice in option.choices if str(choice).lower() == value.lower()]
        options[name] = matching[0] if matching else value
    game.resolve(options)
    return options
