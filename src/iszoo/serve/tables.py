"""Tables: games between people and agents that go on by themselves, and come back after a restart.

Everything here runs in the server's event loop, so that a change is one piece: it is written to the store, played,
and told to who waits. Only agents think elsewhere, in a few threads; kernels don't hold the interpreter's lock.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import secrets
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from iszoo import record
from iszoo.baselines.agents import Agent, agent_names, make_agent
from iszoo.envs.game import Game
from iszoo.envs.registry import REGISTRY, find
from iszoo.envs.seeds import fresh_seed
from iszoo.serve.checks import OPEN, PACE, YOU, as_name, as_pace, check_seats, offered, settle
from iszoo.serve.store import Saved, Seat, Store
from iszoo.session import PERSON, Session, choose, scores_are_public

_log = logging.getLogger("iszoo.serve")


class Refused(Exception):
    """What a browser asked for and doesn't get: an HTTP status and a sentence."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


def digest(token: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(token.encode()).hexdigest()


class Table:
    """A game, who sits where, and who waits for news of it."""

    def __init__(self, saved: Saved, game: Game) -> None:
        self.saved, self.game = saved, game
        self.session = Session(game, saved.options, saved.seed, saved.actions)
        self.agents: list[Agent | None] = [make_agent(s.name, game) if s.agent else None for s in saved.seats]
        self.failed = ""  #: why an agent can't go on
        self.removed = False
        self.driver: asyncio.Task[None] | None = None
        self.hinting = False
        self.pictures: dict[Any, asyncio.Future[Any]] = {}  #: what was drawn of this position, see views
        self._boot = secrets.token_hex(4)
        self._count = 0
        self._news = asyncio.Event()

    @property
    def id(self) -> str:
        """What its address ends in."""
        return self.saved.id

    @property
    def seats(self) -> list[Seat]:
        """Who sits where."""
        return self.saved.seats

    @property
    def version(self) -> str:
        """Differs whenever something has changed."""
        return f"{self._boot}.{self._count}"

    @property
    def for_agents_only(self) -> bool:
        """Whether nobody plays from whom anything could be hidden."""
        return all(seat.agent for seat in self.seats)

    def seat_of(self, token: str | None) -> int | None:
        """The seat whose secret this is."""
        if token:
            hashed = digest(token)
            for k, seat in enumerate(self.seats):
                if seat.token is not None and secrets.compare_digest(seat.token, hashed):
                    return k
        return None

    def owned_by(self, token: str | None) -> bool:
        """Whether this is the secret of who made the table."""
        return bool(token) and secrets.compare_digest(self.saved.owner, digest(token or ""))

    def changed(self) -> None:
        """Tells who waits."""
        self.saved.touched = time.time()
        self.pictures = {}
        self._count += 1
        self._news.set()
        self._news = asyncio.Event()

    async def news(self, version: str, seconds: float) -> None:
        """Returns when the version is another one, or after so many seconds."""
        if version == self.version:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._news.wait(), seconds)

    def record(self) -> record.Record:
        """The game so far."""
        return self.session.record([seat.name if seat.agent else PERSON for seat in self.seats])


class Tables:
    """All tables of a server.

    Args:
        store: where they are kept.
        most: how many there may be; the oldest that is over makes room for a new one.
        recorded: a file of records to which every finished game is added.
        agents: by game, those that a page may choose, see `offered`.
        threads: how many agents think at once.
    """

    def __init__(
        self,
        store: Store,
        *,
        most: int = 200,
        recorded: Path | None = None,
        agents: Mapping[str, list[str]] | None = None,
        threads: int = 2,
    ) -> None:
        self._store, self._most, self._recorded = store, most, recorded
        self.agents = offered(()) if agents is None else agents
        self._tables: dict[str, Table] = {}
        self.pool = ThreadPoolExecutor(threads, "agent")
        self.closing = False

    def start(self) -> None:
        """Takes up the tables of the store; agents go on where they were."""
        for saved in self._store.load():
            game = next((game for game in REGISTRY.values() if game.id == saved.game), None)
            try:
                if game is None:
                    raise ValueError(f"there is no game {saved.game}")
                self._tables[saved.id] = table = Table(saved, game)
            except (ValueError, ImportError) as error:  # it stays in the file: another version may know it
                _log.warning("table %s can't be taken up: %s", saved.id, error)
                continue
            self._drive(table)

    def let_go(self) -> None:
        """Nobody waits for news any longer."""
        self.closing = True
        for table in self._tables.values():
            table.changed()

    async def stop(self) -> None:
        """Lets go of everything."""
        self.let_go()
        drivers = [table.driver for table in self._tables.values() if table.driver is not None]
        for driver in drivers:
            driver.cancel()
        await asyncio.gather(*drivers, return_exceptions=True)
        self.pool.shutdown(wait=False, cancel_futures=True)
        self._store.close()

    def all(self) -> list[Table]:
        """All of them, the one that changed last first."""
        return sorted(self._tables.values(), key=lambda table: -table.saved.touched)

    def get(self, name: str) -> Table:
        """One of them. Raises Refused."""
        table = self._tables.get(name)
        if table is None:
            raise Refused(404, "There is no such table; it may have been removed.")
        return table

    # --- What people do ---

    def make(
        self, game_name: Any, options: Any, seats: Any, name: Any = "", pace: Any = PACE
    ) -> tuple[Table, str, dict[int, str]]:
        """A new table: the table, the secret of its owner, and those of the seats that are theirs. Raises Refused."""
        try:
            game = find(game_name)
            settled = settle(game, options)
            check_seats(game, settled, seats, self.agents[game.name])
        except ValueError as error:
            raise Refused(400, str(error)) from None
        self._make_room()
        owner, tokens, sitting = secrets.token_urlsafe(24), {}, []
        for k, who in enumerate(seats):
            if who == YOU:
                tokens[k] = secrets.token_urlsafe(24)
                sitting.append(Seat(False, as_name(name), digest(tokens[k])))
            else:
                sitting.append(Seat(who != OPEN, "" if who == OPEN else who))
        saved = Saved(
            secrets.token_urlsafe(9), game.id, settled, fresh_seed(), digest(owner), sitting, as_pace(pace),
            False, time.time(),
        )  # fmt: skip
        table = Table(saved, game)
        self._store.add(saved)
        self._tables[table.id] = table
        self._drive(table)
        return table, owner, tokens

    def _make_room(self) -> None:
        if len(self._tables) < self._most:
            return
        over = [table for table in self._tables.values() if table.session.over]
        if not over:
            raise Refused(429, f"There are {self._most} tables already, none of them finished: remove one first.")
        self.remove(min(over, key=lambda table: table.saved.touched))

    def sit_down(self, table: Table, seat: int, name: Any) -> str:
        """Gives a free seat to who asks first: its secret. Raises Refused."""
        if not 0 <= seat < len(table.seats) or not table.seats[seat].free:
            raise Refused(409, "This seat is taken.")
        token, called = secrets.token_urlsafe(24), as_name(name)
        self._store.sit(table.id, seat, called, digest(token), time.time())
        table.seats[seat] = Seat(False, called, digest(token))
        table.changed()
        return token

    def stand_up(self, table: Table, token: str | None) -> None:
        """Makes the seat of this secret free. Raises Refused."""
        seat = table.seat_of(token)
        if seat is None:
            raise Refused(403, "This is not your seat.")
        self._store.sit(table.id, seat, "", None, time.time())
        table.seats[seat] = Seat(False, "")
        table.changed()

    def play(self, table: Table, token: str | None, ply: Any, action: Any) -> None:
        """An action of a person, seen at position `ply`. Raises Refused."""
        seat = table.seat_of(token)
        if seat is None:
            raise Refused(403, "You have no seat at this table.")
        if table.session.over:
            raise Refused(409, "The game is over.")
        if seat != table.session.player:
            raise Refused(409, "It is not your turn.")
        if isinstance(ply, bool) or ply != len(table.session.actions):
            raise Refused(409, "The position has changed in the meantime.")
        if isinstance(action, bool) or not isinstance(action, int) or action not in table.session.legal:
            raise Refused(422, "This action is not legal here.")
        self._commit(table, action)

    async def hint(self, table: Table, token: str | None, name: Any) -> int:
        """What an agent would play in the seat's place. Raises Refused."""
        seat = table.seat_of(token)
        if seat is None or seat != table.session.player:
            raise Refused(409, "It is not your turn.")
        if not scores_are_public(table.session.options):
            raise Refused(403, "An agent remembers what you must remember here: there are no hints.")
        if table.hinting:
            raise Refused(429, "An agent is thinking already.")
        chosen = name or agent_names(table.game)[-1]
        if chosen not in self.agents[table.game.name]:
            raise Refused(400, f"There is no such agent; there are {', '.join(self.agents[table.game.name])}.")
        table.hinting = True
        try:
            agent, view = make_agent(chosen, table.game), table.session.view(hint=True)
            return await asyncio.get_running_loop().run_in_executor(self.pool, choose, agent, view)
        finally:
            table.hinting = False

    def set_pace(self, table: Table, token: str | None, pace: Any, paused: Any) -> None:
        """How fast agents play; one that failed tries again. Raises Refused."""
        self._need_owner(table, token)
        table.saved.pace, table.saved.paused, table.failed = as_pace(pace), paused is True, ""
        self._store.set_pace(table.id, table.saved.pace, table.saved.paused)
        table.changed()
        self._drive(table)

    def remove_by(self, table: Table, token: str | None) -> None:
        """Removes a table for who made it. Raises Refused."""
        self._need_owner(table, token)
        self.remove(table)

    def remove(self, table: Table) -> None:
        """Removes a table."""
        self._store.remove(table.id)
        del self._tables[table.id]
        table.removed = True
        if table.driver is not None:
            table.driver.cancel()
        table.changed()

    def _need_owner(self, table: Table, token: str | None) -> None:
        if not table.owned_by(token):
            raise Refused(403, "Only who made the table may do that.")

    # --- What happens by itself ---

    def _commit(self, table: Table, action: int) -> None:
        """Writes a legal action down, then plays it."""
        session = table.session
        self._store.act(table.id, len(session.actions), action, time.time())
        session.play(action)
        table.changed()
        if session.over and self._recorded is not None:
            try:
                record.append(self._recorded, [table.record()])
            except (OSError, ValueError) as error:
                _log.error("the game of table %s can't be recorded: %s", table.id, error)
        self._drive(table)

    def _drive(self, table: Table) -> None:
        """Lets agents act as long as it is their turn."""
        if table.driver is None and not self.closing and self._agent_to_move(table) is not None:
            table.driver = asyncio.get_running_loop().create_task(self._let_agents_act(table))

    def _agent_to_move(self, table: Table) -> Agent | None:
        if table.session.over or table.saved.paused or table.removed or table.failed:
            return None
        return table.agents[table.session.player]

    async def _let_agents_act(self, table: Table) -> None:
        loop = asyncio.get_running_loop()
        try:
            while (agent := self._agent_to_move(table)) is not None:
                began = loop.time()
                try:
                    action = await loop.run_in_executor(self.pool, choose, agent, table.session.view())
                except Exception as error:
                    _log.exception("agent %s failed at table %s", agent.name, table.id)
                    table.failed = f"{agent.name} can't go on: {error}"
                    table.changed()
                    return
                await asyncio.sleep(max(0.0, table.saved.pace - (loop.time() - began)))
                if self._agent_to_move(table) is agent:  # not paused or removed in the meantime
                    self._commit(table, action)
        finally:
            table.driver = None
