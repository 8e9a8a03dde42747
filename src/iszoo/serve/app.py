"""The addresses of `iszoo serve`, as a Starlette app."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from iszoo import record, replay
from iszoo.baselines.agents import agent_names, make_agent
from iszoo.envs import drawing
from iszoo.envs.game import Game
from iszoo.envs.primitives import NUM_PLAYERS
from iszoo.envs.registry import REGISTRY, find
from iszoo.rules import rules_html
from iszoo.serve.checks import PACE, offered, settle
from iszoo.serve.guard import Guard, TooLarge
from iszoo.serve.store import Store
from iszoo.serve.tables import Refused, Table, Tables
from iszoo.serve.views import Drawers, summary, view
from iszoo.session import Session, choose

STATIC = Path(replay.__file__).with_name("static")
WAIT = 20.0  # the most seconds that a browser waits for news
OVERLAY_SECONDS = 10.0  # the most seconds that go into the policy of an agent over a whole game
OVERLAY_SAMPLES = 24

_Handler = Callable[[Request], Awaitable[Response]]


def make_app(
    file: Path,
    *,
    most_tables: int = 200,
    recorded: Path | None = None,
    agents: Sequence[str] = (),
    hosts: Iterable[str] = (),
) -> Starlette:
    """The app on a file of tables.

    Args:
        file: where tables are kept; made if it isn't there.
        most_tables: how many there may be at once.
        recorded: a file of records to which finished games are added.
        agents: names of agents that a page may choose besides each game's own.
        hosts: names, besides localhost and addresses, by which this server may be called.

    Raises ValueError for an agent or a file that can't be used.
    """
    if recorded is not None:
        record.append(recorded, ())  # says now that it can't be done
    names = offered(agents)
    tables = Tables(Store(file), most=most_tables, recorded=recorded, agents=names)
    drawers = Drawers(ThreadPoolExecutor(1, "drawing"), ThreadPoolExecutor(1, "drawing-to-watch"))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        tables.start()
        yield
        await tables.stop()
        for drawer in drawers:
            drawer.shutdown(wait=False, cancel_futures=True)

    guard = Middleware(Guard, hosts=hosts, large=("/api/replay",))
    app = Starlette(
        routes=_Api(tables, drawers).routes(),
        middleware=[guard],
        lifespan=lifespan,
        exception_handlers={Refused: _refused, HTTPException: _http_error, 500: _failed},
    )
    app.state.tables = tables
    return app


class _Api:
    """What the addresses do."""

    def __init__(self, tables: Tables, drawers: Drawers) -> None:
        self.tables, self.drawers = tables, drawers
        self.replaying = asyncio.Semaphore(2)

    def routes(self) -> list[Route | Mount]:
        """All addresses."""

        def at(path: str, handler: _Handler, *methods: str) -> Route:
            return Route(path, handler, methods=list(methods) or ["GET"])

        return [
            at("/", _page("index.html")),
            at("/table/{table}", _page("table.html")),
            at("/replay", _page("replay.html")),
            at("/api/games", self.games),
            at("/api/games/{game}/picture.svg", self.game_picture),
            at("/api/games/{game}/rules", self.rules),
            at("/api/settle", self.settle, "POST"),
            at("/api/tables", self.list_tables),
            at("/api/tables", self.make_table, "POST"),
            at("/api/tables/{table}", self.table),
            at("/api/tables/{table}", self.remove, "DELETE"),
            at("/api/tables/{table}/actions", self.act, "POST"),
            at("/api/tables/{table}/hint", self.hint, "POST"),
            at("/api/tables/{table}/pace", self.pace, "POST"),
            at("/api/tables/{table}/seats/{seat:int}", self.sit_down, "POST"),
            at("/api/tables/{table}/seat", self.stand_up, "DELETE"),
            at("/api/tables/{table}/record", self.download),
            at("/api/tables/{table}/replay", self.replay_table),
            at("/api/replay", self.replay_file, "POST"),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]

    # --- Games ---

    async def games(self, request: Request) -> Response:
        """What can be played, and who plays it."""
        return JSONResponse([_about(game, self.tables.agents[game.name]) for game in REGISTRY.values()])

    async def game_picture(self, request: Request) -> Response:
        """A position of a game, to look at."""
        game = _game(request)
        drawn = await asyncio.get_running_loop().run_in_executor(self.drawers.to_watch, _sample_picture, game.name)
        return Response(drawn, media_type="image/svg+xml")

    async def rules(self, request: Request) -> Response:
        """The rules of a game as HTML."""
        return HTMLResponse(rules_html(_game(request)))

    async def settle(self, request: Request) -> Response:
        """Options with the others at their defaults, and how many seats there are then."""
        body = await _body(request)
        try:
            game = find(body.get("game", ""))
            options = settle(game, body.get("options", {}))
        except ValueError as error:
            raise Refused(400, str(error)) from None
        return JSONResponse({"options": options, "players": int(game.params(options)[NUM_PLAYERS])})

    # --- Tables ---

    async def list_tables(self, request: Request) -> Response:
        """All tables in short."""
        return _fresh([summary(table) for table in self.tables.all()])

    async def make_table(self, request: Request) -> Response:
        """A new table, with the secrets of its owner and of the seat that is theirs."""
        body = await _body(request)
        table, owner, seats = self.tables.make(
            body.get("game", ""), body.get("options", {}), body.get("seats"), body.get("name"), body.get("pace", PACE)
        )
        return _fresh({"id": table.id, "owner": owner, "seats": seats}, 201)

    async def table(self, request: Request) -> Response:
        """A table as its seat or a watcher sees it; with ?version=V, once it differs from that version."""
        table = self._table(request)
        token = _token(request)
        version = request.query_params.get("version")
        if version is not None and not self.tables.closing:
            await table.news(version, WAIT)
            table = self._table(request)  # it may have been removed
        owner = table.owned_by(request.headers.get("x-owner"))
        return _fresh(await view(table, table.seat_of(token), owner, self.drawers))

    async def act(self, request: Request) -> Response:
        """Plays {"action", "ply"}."""
        body = await _body(request)
        table = self._table(request)
        self.tables.play(table, _token(request), body.get("ply"), body.get("action"))
        return _fresh({"version": table.version})

    async def hint(self, request: Request) -> Response:
        """What an agent would play."""
        body = await _body(request)
        table = self._table(request)
        action = await self.tables.hint(table, _token(request), body.get("agent"))
        return _fresh({"action": action, "move": table.game.action_to_string(action)})

    async def pace(self, request: Request) -> Response:
        """Sets {"pace", "paused"}."""
        body = await _body(request)
        table = self._table(request)
        self.tables.set_pace(table, request.headers.get("x-owner"), body.get("pace"), body.get("paused"))
        return _fresh({"version": table.version})

    async def sit_down(self, request: Request) -> Response:
        """Takes a free seat: its secret."""
        body = await _body(request)
        table = self._table(request)
        return _fresh({"token": self.tables.sit_down(table, request.path_params["seat"], body.get("name"))}, 201)

    async def stand_up(self, request: Request) -> Response:
        """Leaves a seat."""
        table = self._table(request)
        self.tables.stand_up(table, _token(request))
        return _fresh({"version": table.version})

    async def remove(self, request: Request) -> Response:
        """Removes a table."""
        self.tables.remove_by(self._table(request), request.headers.get("x-owner"))
        return _fresh({})

    def _table(self, request: Request) -> Table:
        return self.tables.get(request.path_params["table"])

    # --- Records ---

    async def download(self, request: Request) -> Response:
        """The record of a finished game. It tells the deal, so of no other."""
        table = self._finished(request)
        name = f"{table.game.name}-{table.id}.jsonl"
        headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
        return PlainTextResponse(
            record.dumps(table.record()) + "\n", headers=headers, media_type="application/jsonl; charset=utf-8"
        )

    async def replay_table(self, request: Request) -> Response:
        """A finished game, to step through."""
        found = self._finished(request).record()
        return await self._replayed(found, 1, 1, request.query_params.get("overlay"))

    async def replay_file(self, request: Request) -> Response:
        """Game ?game=N of the file of records that is the body."""
        lines = [line for line in (await request.body()).splitlines() if line.strip()]
        number = request.query_params.get("game", "1")
        if not number.isdecimal() or not 1 <= int(number) <= max(1, len(lines)):
            raise Refused(400, f"There are {len(lines)} games in this file.")
        try:
            found = record.loads(lines[int(number) - 1] if lines else b"", f"line {number}")
            settle(record.game_of(found), found.options)  # a record of somebody names no files of the server
        except ValueError as error:
            raise Refused(400, str(error)) from None
        return await self._replayed(found, int(number), len(lines), request.query_params.get("overlay"))

    async def _replayed(self, found: record.Record, number: int, games: int, overlay: str | None) -> Response:
        game = record.game_of(found)
        agents = self.tables.agents[game.name]
        if overlay and overlay not in agents:
            raise Refused(400, f"There is no such agent; there are {', '.join(agents)}.")
        agent = make_agent(overlay, game) if overlay else None
        async with self.replaying:
            try:
                data = await asyncio.to_thread(
                    replay.data_of, found, agent, samples=OVERLAY_SAMPLES, seconds=OVERLAY_SECONDS
                )
            except ValueError as error:
                raise Refused(400, str(error)) from None
        return _fresh({**data, "number": number, "games": games, "policies": agents})

    def _finished(self, request: Request) -> Table:
        table = self._table(request)
        if not table.session.over:
            raise Refused(403, "The game isn't over yet: its record would tell what is hidden.")
        return table


# --- Helpers -----------------------------------------------------------------------------------------------


def _page(name: str) -> _Handler:
    async def page(request: Request) -> Response:
        return FileResponse(STATIC / name, headers={"cache-control": "no-cache"})

    return page


def _fresh(value: Any, status: int = 200) -> Response:
    return JSONResponse(value, status, headers={"cache-control": "no-store"})


def _token(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _game(request: Request) -> Game:
    try:
        return find(request.path_params["game"])
    except ValueError as error:
        raise Refused(404, str(error)) from None


async def _body(request: Request) -> dict[str, Any]:
    """The JSON object of a request. Another content type could come from a form of another site."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Refused(415, "The body is JSON: application/json.")
    try:
        body = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise Refused(400, "The body is no JSON.") from None
    if not isinstance(body, dict):
        raise Refused(400, "The body is a JSON object.")
    return body


def _about(game: Game, agents: list[str]) -> dict[str, Any]:
    return {
        "name": game.name,
        "title": game.title,
        "credits": game.credits,
        "agents": agents,
        "options": [
            {"name": name, "default": option.default, "choices": list(option.choices), "about": option.about}
            for name, option in game.options.items()
            if option.choices
        ],
    }


@lru_cache(maxsize=64)
def _sample_picture(name: str) -> str:
    """A position from the middle of a game between agents."""
    game = find(name)
    agent = make_agent(agent_names(game)[-1], game)
    session = Session(game, game.resolve({}), 4)
    while not session.over and len(session.actions) < game.max_game_length // 3:
        session.play(choose(agent, session.view()))
    return drawing.svg(game, session.row, session.options, size=300)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return _fresh({"error": error.why}, error.status)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _fresh({"error": error.detail}, error.status_code)


async def _failed(request: Request, error: Exception) -> Response:
    if isinstance(error, TooLarge):
        raise error
    return _fresh({"error": "The server failed at this; its log says how."}, 500)
