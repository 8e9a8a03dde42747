"""What a browser may ask for: options, seats, agents, names, paces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from iszoo.baselines.agents import agent_names, make_agent
from iszoo.envs.game import Game
from iszoo.envs.primitives import NUM_PLAYERS
from iszoo.envs.registry import REGISTRY

LONGEST_NAME = 40
PACES = (0.1, 10.0)  # seconds that agents wait before they act: the least, the most
PACE = 0.5
YOU, OPEN = "you", "open"  # seats of people, when a table is made


def settle(game: Game, options: Any) -> dict[str, Any]:
    """Options from a browser, with the others at their defaults. Raises ValueError.

    An option without a list of values names a file of the server, which is none of a browser's business.
    """
    if not isinstance(options, Mapping):
        raise ValueError("options are an object")
    for name, value in options.items():
        if name in game.options and not game.options[name].choices and value != game.options[name].default:
            raise ValueError(f"{name} can't be set from a page")
    return game.resolve(options)


def offered(more: Sequence[str]) -> dict[str, list[str]]:
    """By game, the agents that a page may choose: the game's own, and of `more` those that can play it.

    A page can name no other one: what stands behind a name may be a file, or a day of search.

    Raises ValueError for one that can play none of the games.
    """
    found = {name: agent_names(game) for name, game in REGISTRY.items()}
    for agent in more:
        problems = []
        for name, game in REGISTRY.items():
            try:
                make_agent(agent, game)
            except (ValueError, ImportError) as error:
                problems.append(str(error))
            else:
                found[name] += [agent] if agent not in found[name] else []
        if len(problems) == len(REGISTRY):
            raise ValueError(f"--agent {agent}: {problems[0]}")
    return found


def check_seats(game: Game, options: Mapping[str, Any], seats: Any, agents: Sequence[str]) -> None:
    """Raises ValueError unless there is somebody for each seat: YOU once at most, OPEN, or one of the agents."""
    players = int(game.params(options)[NUM_PLAYERS])
    allowed = [YOU, OPEN, *agents]
    if not isinstance(seats, Sequence) or isinstance(seats, str) or len(seats) != players:
        raise ValueError(f"{game.title} has {players} seats with these options")
    for who in seats:
        if who not in allowed:
            raise ValueError(f"nobody is called {str(who)[:LONGEST_NAME]!r}; a seat is for {', '.join(allowed)}")
    if list(seats).count(YOU) > 1:
        raise ValueError("you can sit on one seat; open another tab for another one")


def as_name(name: Any) -> str:
    """What a person is called on the page."""
    text = "".join(c for c in name if c.isprintable()).strip() if isinstance(name, str) else ""
    return text[:LONGEST_NAME] or "Guest"


def as_pace(pace: Any) -> float:
    """Seconds before an agent's action, within what is allowed."""
    if isinstance(pace, bool) or not isinstance(pace, (int, float)) or pace != pace:
        return PACE
    return float(min(max(pace, PACES[0]), PACES[1]))
