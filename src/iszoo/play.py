"""A game in the terminal: the board as text, moves by their notation. `iszoo play`."""

from __future__ import annotations

import difflib
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from iszoo import record as records
from iszoo.baselines.agents import Agent, agent_names, make_agent
from iszoo.envs import engine
from iszoo.envs.game import Game
from iszoo.envs.primitives import NUM_PLAYERS
from iszoo.rules import rules_text
from iszoo.session import PERSON, Session, choose, scores_are_public

_GROUPS = 24  # the most groups that moves are listed in
_LISTED = 40  # the most moves that are listed one by one

HELP = """\
A move: its notation, the beginning of it where only one move begins so, or # and its number in the list.
  moves          the legal moves; moves 3c: those that begin so
  hint           what an agent would play; hint greedy: what that agent would
  undo           takes your last move back, and what was played since
  board          shows the position again
  rules          the rules of the game
  quit           leaves the game"""


def seats_of(
    game: Game, options: Mapping[str, Any], against: Sequence[str], seat: int
) -> tuple[dict[str, Any], list[Agent | None]]:
    """The options with the number of players settled, and an agent for each seat, None for a person.

    One name may stand for all other seats. Raises ValueError.
    """
    chosen = dict(options)
    others = len(against)
    if others > 1 and "num_players" in game.options and others + 1 in game.players:
        chosen.setdefault("num_players", others + 1)
    players = int(game.params(chosen)[NUM_PLAYERS])
    if not 0 <= seat < players:
        raise ValueError(f"--seat {seat}: the seats are 0 to {players - 1}")
    names = list(against) * (players - 1) if others == 1 else list(against)
    if len(names) != players - 1:
        raise ValueError(f"--against: {len(names)} agents for the {players - 1} other seats: one for each, or one name")
    agents: list[Agent | None] = [None if name == PERSON else make_agent(name, game) for name in names]
    agents.insert(seat, None)
    return game.resolve(chosen), agents


class Terminal:
    """A session with a person at the keyboard.

    Args:
        session: the game.
        agents: by seat; None: whoever sits at the keyboard.
        ask: gives a line for a prompt; raises EOFError at the end of the input.
        tell: shows a text.
    """

    def __init__(
        self,
        session: Session,
        agents: Sequence[Agent | None],
        ask: Callable[[str], str] = input,
        tell: Callable[[str], None] = print,
    ) -> None:
        self.session, self.agents, self._ask, self._tell = session, list(agents), ask, tell

    @property
    def names(self) -> list[str]:
        """Who plays, by seat."""
        return [PERSON if agent is None else agent.name for agent in self.agents]

    def run(self) -> bool:
        """Plays to the end. Returns whether it was reached; False: somebody left."""
        session = self.session
        options = ", ".join(f"{name}={value}" for name, value in session.options.items())
        self._tell(f"{session.game.title} ({options}), seed {session.seed}")
        self._tell(", ".join(f"player_{seat}: {self._who(seat)}" for seat in range(session.num_players)))
        self._tell("Type a move, or help.")
        self._show()
        while not session.over:
            agent = self.agents[session.player]
            if agent is not None:
                self._play(choose(agent, session.view()))
            elif not self._turn():
                return False
        self._result()
        return True

    def _who(self, seat: int) -> str:
        agent = self.agents[seat]
        if agent is not None:
            return agent.name
        return "you" if self.agents.count(None) == 1 else PERSON

    def _show(self) -> None:
        session = self.session
        self._tell("\n" + session.game.text(session.row, session.options))

    def _play(self, action: int) -> None:
        session = self.session
        who = f"player_{session.player} ({self._who(session.player)})"
        session.play(action)
        self._tell(f"{who}: {session.moves[-1]}")
        if session.over or self.agents[session.player] is None:
            self._show()

    def _turn(self) -> bool:
        """One line of a person, or more until it is a move. Returns False to leave."""
        session = self.session
        self._list("", brief=True)
        ply = len(session.actions)
        while len(session.actions) == ply and not session.over:
            try:
                line = self._ask(f"player_{session.player} ({self._who(session.player)})> ").strip()
            except EOFError:
                self._tell("\nThe input ended.")
                return False
            word, _, rest = line.partition(" ")
            rest = rest.strip()
            if not line:
                continue
            if word in ("quit", "q", "exit"):
                return False
            if word in ("help", "?"):
                self._tell(HELP)
                for ids, about in session.game.action_groups:
                    self._tell(f"  {ids}: {about}")
            elif word == "moves":
                self._list(rest)
            elif word == "hint":
                self._hint(rest)
            elif word == "undo":
                if self._undo():
                    return True
            elif word == "board":
                self._show()
            elif word == "rules":
                self._tell(rules_text(session.game))
            else:
                self._move(line)
        return True

    def _move(self, text: str) -> None:
        """Plays what a text means, or says why not."""
        moves = self._moves()
        if text in moves:
            self._play(moves[text])
            return
        if text.startswith("#") and text[1:].isdecimal():
            number = int(text[1:])
            if not 1 <= number <= len(moves):
                self._tell(f"The moves are #1 to #{len(moves)}.")
            else:
                self._play(list(moves.values())[number - 1])
            return
        begun = [move for move in moves if move.startswith(text)]
        if len(begun) == 1:
            self._play(moves[begun[0]])
        elif begun:
            self._list(text)
        else:
            near = difflib.get_close_matches(text, moves, n=5, cutoff=0.5)
            self._tell(f"{text!r} is no legal move here{': try ' + ', '.join(near) if near else ''}. moves lists them.")

    def _moves(self) -> dict[str, int]:
        return {self.session.game.action_to_string(action): action for action in self.session.legal}

    def _list(self, beginning: str, brief: bool = False) -> None:
        """The legal moves that begin so, in groups where they are many."""
        moves = list(self._moves())
        begun = [move for move in moves if move.startswith(beginning)]
        if not begun:
            self._tell(f"No legal move begins with {beginning!r}.")
            return
        count = f"{len(begun)} legal move{'s' if len(begun) > 1 else ''}"
        self._tell(f"{count} begin{'' if len(begun) > 1 else 's'} with {beginning}:" if beginning else f"{count}:")
        if len(begun) <= (_GROUPS if brief else _LISTED):
            notes = dict(zip(moves, notes_on(self.session), strict=True))
            width = len(str(len(moves)))
            entries = [f"#{moves.index(move) + 1:<{width}} {move} {notes[move]}".rstrip() for move in begun]
        else:
            entries = [f"{start}... {count}" if count > 1 else start for start, count in in_groups(begun)]
        self._tell(in_columns(entries))

    def _hint(self, name: str) -> None:
        session = self.session
        playing = [agent for agent in self.agents if agent is not None]
        try:
            if name:
                agent = make_agent(name, session.game)
            else:
                agent = playing[0] if playing else make_agent(agent_names(session.game)[-1], session.game)
        except (ValueError, ImportError) as error:
            self._tell(str(error))
            return
        action = choose(agent, session.view(hint=True))
        note = notes_on(session)[session.legal.index(action)]
        self._tell(f"{agent.name} would play {session.game.action_to_string(action)} {note}".rstrip())

    def _undo(self) -> bool:
        session = self.session
        own = [ply for ply, seat in enumerate(session.movers) if self.agents[seat] is None]
        if not own:
            self._tell("There is no move of yours to take back.")
            return False
        session.rewind(own[-1])
        self._show()
        return True

    def _result(self) -> None:
        session = self.session
        best = max(session.returns)
        winners = [f"player_{s} ({self._who(s)})" for s, value in enumerate(session.returns) if value == best]
        scores = ", ".join(f"player_{seat} {score}" for seat, score in enumerate(session.scores))
        if session.num_players == 1 or len(winners) == session.num_players:
            self._tell(f"The game is over: {scores}.")
        else:
            self._tell(f"{' and '.join(winners)} won: {scores}.")


def run(
    game: Game, against: Sequence[str], *, seat: int, seed: int, options: Mapping[str, Any], record: Path | None
) -> None:
    """Plays a game at the keyboard; however it ends, it is added to the file of records, if one was named.

    Raises ValueError for bad arguments.
    """
    settled, agents = seats_of(game, options, against, seat)
    if record is not None:
        records.append(record, ())  # says now, and not after the game, that it can't
    terminal = Terminal(Session(game, settled, seed), agents, ask=input if sys.stdin.isatty() else _read)
    try:
        terminal.run()
    finally:
        if record is not None:
            records.append(record, [terminal.session.record(terminal.names)])
            print(f"Recorded: {record}")


def _read(prompt: str) -> str:
    """A line of an input that is no terminal, shown as if it had been typed."""
    line = sys.stdin.readline()
    if not line:
        print(prompt, end="")
        raise EOFError
    print(prompt + line.rstrip("\n"))
    return line


# --- Lists of moves ----------------------------------------------------------------------------------------


def notes_on(session: Session) -> list[str]:
    """What each legal move does at once, in a few characters, where that may be known: to the points, mostly."""
    game, seat = session.game, session.player
    if not scores_are_public(session.options):
        return ["" for _ in session.legal]
    rows = session.after()
    points = np.zeros((len(rows), session.num_players), np.int64)
    params = game.params(session.options)
    engine.scores_batch(game.table, rows, rows, np.zeros(len(rows), np.bool_), points, params)
    changes = points - np.array(session.scores)
    found = []
    for change, row in zip(changes, rows, strict=True):
        others = [f"player_{s} {value:+d}" for s, value in enumerate(change) if s != seat and value]
        own = [f"{change[seat]:+d}"] if change[seat] else []
        note = ", ".join(own + others) or _NOTES.get(game.name, lambda row: "")(row.view(game.row)[0])
        found.append(f"({note})" if note else "")
    return found


_NOTES: Mapping[str, Callable[[Any], str]] = {
    "isaac": lambda after: f"gain {after['gain']}" if after["gain"] else "",
}


def in_groups(moves: Sequence[str]) -> list[tuple[str, int]]:
    """Moves by their first characters, as many of these as give at most _GROUPS groups: beginning, how many."""
    longest = max(map(len, moves))
    best = [("", len(moves))]
    for length in range(1, longest + 1):
        counts: dict[str, int] = {}
        for move in moves:
            counts[move[:length]] = counts.get(move[:length], 0) + 1
        if len(counts) > _GROUPS and len(best) > 1:
            break
        best = list(counts.items())
    return [(next(m for m in moves if m.startswith(start)) if n == 1 else start, n) for start, n in best]


def in_columns(entries: Sequence[str]) -> str:
    """Entries side by side, as many as the terminal is wide."""
    wide = max(map(len, entries)) + 3
    across = max(1, (shutil.get_terminal_size().columns - 2) // wide)
    lines = [entries[k : k + across] for k in range(0, len(entries), across)]
    return "\n".join("  " + "".join(entry.ljust(wide) for entry in line).rstrip() for line in lines)
