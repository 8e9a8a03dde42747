"""What a browser may know of a table: nothing else of it is ever sent.

Who sits at a table knows what their seat knows. Who only watches knows what the first seat knows: in these games
what is hidden is hidden from all players alike. Where no people play, and when the game is over, all is shown.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from concurrent.futures import Executor
from typing import Any, NamedTuple

from iszoo.envs import drawing
from iszoo.envs.game import Game, Rows
from iszoo.serve.tables import Table
from iszoo.session import scores_are_public

_YOU = re.compile(r"<text[^>]*>you</text>|, you(?=</text>)")


def summary(table: Table) -> dict[str, Any]:
    """A line of the list of tables."""
    session = table.session
    return {
        "id": table.id,
        "game": table.game.name,
        "title": table.game.title,
        "seats": [{"name": seat.name, "agent": seat.agent, "free": seat.free} for seat in table.seats],
        "plies": len(session.actions),
        "player": session.player,
        "over": session.over,
        "touched": table.saved.touched,
    }


class Drawers(NamedTuple):
    """Who draws: who plays doesn't queue behind all who only watch."""

    to_play: Executor
    to_watch: Executor


async def view(table: Table, seat: int | None, owner: bool, drawers: Drawers) -> dict[str, Any]:
    """A table as the browser of a seat sees it (None: that of a watcher), as plain values.

    All is of one position, though drawing it takes a while in another thread and the game may go on meanwhile.
    """
    session, game = table.session, table.game
    mine = seat is not None and seat == session.player and not table.failed
    shown = {
        **summary(table),
        "version": table.version,
        "options": session.options,
        "you": seat,
        "owner": owner,
        "scores": session.scores if knows_all(table) or scores_are_public(session.options) else None,
        "returns": session.returns if session.over else None,
        "moves": [[who, move] for who, move in zip(session.movers, session.moves, strict=True)],
        "legal": {str(action): game.action_to_string(action) for action in session.legal} if mine else {},
        "hints": scores_are_public(session.options),
        "only_agents": table.for_agents_only,
        "pace": table.saved.pace,
        "paused": table.saved.paused,
        "failed": table.failed,
    }
    key = (seat, mine)
    if key not in table.pictures:  # one drawing for all who look at it from there
        last = session.actions[-1] if session.actions else None
        looks = 0 if seat is None and not knows_all(table) else seat
        arguments = (game, session.row, session.options, looks, last, seat is None, mine)
        drawer = drawers.to_watch if seat is None else drawers.to_play
        loop = asyncio.get_running_loop()
        table.pictures[key] = asyncio.ensure_future(loop.run_in_executor(drawer, draw, *arguments))
    drawn = table.pictures[key]
    shown["picture"], shown["targets"] = await asyncio.shield(drawn)
    return shown


def draw(
    game: Game, row: Rows, options: Mapping[str, Any], looks: int | None, last: int | None, watcher: bool, mine: bool
) -> tuple[str, dict[str, list[str]]]:
    """The drawing as it is seen from a seat, and what to click where it is that seat's turn."""
    picture = drawing.svg(game, row, options, seat=looks, last=last)
    if watcher:  # nobody is called "you"
        picture = _YOU.sub("", picture)
    targets = drawing.targets(game, row, options) if mine else {}
    return picture, {str(action): list(names) for action, names in targets.items()}


def knows_all(table: Table) -> bool:
    """Whether nothing is hidden from anybody any more, or ever was."""
    return table.for_agents_only or table.session.over
