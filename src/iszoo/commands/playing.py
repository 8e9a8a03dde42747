"""Commands for people: to play, to watch, to look at what was played."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, UseAppendAction, arg

from iszoo.baselines.options import parse_options
from iszoo.commands.shared import GameOptions
from iszoo.envs import find


@dataclass(frozen=True)
class Play:
    """A game in the terminal against agents: type moves, or help."""

    game: Positional[str]
    against: tuple[str, ...] = ("greedy",)
    """Agents of the other seats, in order; one for all of them; human for another person at the keyboard."""
    seat: int = 0
    """Your seat."""
    seed: int | None = None
    """Fixes the deal and the agents' chance."""
    option: GameOptions = ()
    record: Path | None = None
    """Add the game to this file, also when it is left early."""

    def run(self) -> None:
        """Plays."""
        from iszoo.envs.seeds import fresh_seed
        from iszoo.play import run

        game = find(self.game)
        options = parse_options(game, self.option)
        seed = fresh_seed() if self.seed is None else self.seed
        run(game, self.against, seat=self.seat, seed=seed, options=options, record=self.record)


@dataclass(frozen=True)
class Replay:
    """A recorded game as a page (--html), an animation (--gif) or a picture (--png)."""

    file: Positional[Path]
    game: int = 1
    """Which game of the file, from 1."""
    html: Path | None = None
    """Write one page with everything in it: step, play, jump, scores."""
    overlay: str | None = None
    """An agent whose policy the page shows."""
    gif: Path | None = None
    """Write an animated GIF."""
    png: int | None = None
    """Write the position after so many actions, as FILE-GAME-PLY.png in this folder."""

    def run(self) -> None:
        """Writes what was asked for; without any of it, says what is in the file."""
        from iszoo.replay import run

        run(self.file, self.game, html=self.html, overlay=self.overlay, gif=self.gif, png=self.png)


@dataclass(frozen=True)
class Serve:
    """A page to play on, in any seat, against agents and people; to watch, and to look at records."""

    host: str = "127.0.0.1"
    """Where to listen; 0.0.0.0 lets other machines in."""
    port: int = 8000
    """0: any that is free."""
    file: Path | None = None
    """Where tables are kept; by default in your folder for data."""
    record: Path | None = None
    """Add every finished game to this file."""
    most_tables: int = 200
    """How many tables there may be."""
    agent: Annotated[UseAppendAction[tuple[str, ...]], arg(name="agent")] = ()
    """An agent that pages may choose besides each game's own; may be given several times."""
    allow_host: tuple[str, ...] = ()
    """Names, besides localhost and addresses, by which browsers may call this server."""

    def run(self) -> None:
        """Serves until Ctrl-C."""
        from iszoo.serve.command import serve

        serve(self.host, self.port, file=self.file, recorded=self.record, most_tables=self.most_tables,
              agents=self.agent, hosts=self.allow_host)  # fmt: skip
