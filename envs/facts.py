"""The fact sheet of a game, made from its `Game`: for the command line and the docs."""

from __future__ import annotations

from typing import Any

from iszoo.envs.game import Game


def facts(game: Game) -> dict[str, Any]:
    """Plain values."""
    return {
        "name": game.name,
        "id": game.id,
        "title": game.title,
        "credits": game.credits,
        "players": list(game.players),
        "num_actions": game.num_actions,
        "board_shape": list(game.board_shape),
        "num_features": len(game.features),
        "observation_size": game.obs_size,
        "max_game_length": game.max_game_length,
        "margin_scale": game.margin_scale,
        "deal": game.deal_about if game.deal else None,
        "options": {
            name: {"default": option.default, "choices": list(option.choices), "about": option.about}
            for name, option in game.options.items()
        },
        "actions": [{"ids": ids, "about": about} for ids, about in game.action_groups],
        "planes": list(game.planes),
        "features": list(game.features),
    }


def tables(game: Game) -> dict[str, str]:
    """The Markdown tables of a game's docs page: options, actions, planes, features."""
    options = [
        (f"`{name}`", f"`{option.default!r}`", ", ".join(f"`{c!r}`" for c in option.choices), option.about)
        for name, option in game.options.items()
    ]
    return {
        "options": _table(("option", "default", "values", "what it does"), options),
        "actions": _table(("id", "what it does"), game.action_groups),
        "planes": _table(("plane", "what it shows"), list(enumerate(game.planes))),
        "features": _table(("feature", "what it says"), list(enumerate(game.features))),
    }


def fact_sheet(game: Game) -> str:
    """The sheet as Markdown."""
    c, h, w = game.board_shape
    made = tables(game)
    players = " or ".join(map(str, game.players))
    lines = [
        f"# {game.title} (`{game.id}`)",
        "",
        game.credits,
        "",
        f"- players: {players}",
        f"- actions: `Discrete({game.num_actions})`, at most {game.max_game_length} in a game",
        f"- board: int8 ({c}, {h}, {w}); features: int8 ({len(game.features)},);"
        f" planes: int8 ({c + len(game.features)}, {h}, {w}); flat: int8 ({game.obs_size},)",
        f"- margin reward: own points minus the best other's, divided by {game.margin_scale}",
        f"- deal: {game.deal_about if game.deal else 'no chance'}",
    ]
    for title in ("options", "actions", "planes", "features"):
        lines += ["", f"## {title.capitalize()}", "", made[title]]
    return "\n".join(lines)


def _table(head: tuple[str, ...], rows: Any) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines)
