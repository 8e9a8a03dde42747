"""The command `iszoo serve`."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

try:
    import markdown_it as _markdown_it  # noqa: F401 - for the rules
    import platformdirs
    import uvicorn

    from iszoo.serve.app import make_app
    from iszoo.serve.tables import Tables
except ImportError as error:
    raise ValueError(f"the server needs the extra serve: pip install 'iszoo[serve]' ({error})") from None

_CONNECTIONS = 500  # at once


class _Server(uvicorn.Server):
    """Lets browsers that wait for news go before it waits for them."""

    tables: Tables

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.tables.let_go()
        await super().shutdown(sockets)


def default_file() -> Path:
    """Where tables are kept if no file is named."""
    return Path(platformdirs.user_data_dir("iszoo", appauthor=False)) / "tables.sqlite"


def serve(
    host: str,
    port: int,
    *,
    file: Path | None = None,
    recorded: Path | None = None,
    most_tables: int = 200,
    agents: Sequence[str] = (),
    hosts: Sequence[str] = (),
) -> None:
    """Serves until Ctrl-C. Raises ValueError for an address, a file or an agent that can't be used."""
    if most_tables < 1:
        raise ValueError(f"--most-tables {most_tables}: at least one")
    with _listen(host, port) as listening:
        app = make_app(file or default_file(), most_tables=most_tables, recorded=recorded, agents=agents, hosts=hosts)
        warm_up()
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, limit_concurrency=_CONNECTIONS, timeout_graceful_shutdown=3,
            h11_max_incomplete_event_size=2**15,
        )  # fmt: skip
        server = _Server(config)
        server.tables = app.state.tables
        name, number = listening.getsockname()[:2]
        shown = f"[{name}]" if ":" in name else name
        print(f"iszoo plays at http://{shown}:{number}/ - Ctrl-C stops it", flush=True)
        print(f"Tables are kept in {file or default_file()}", flush=True)
        if name not in ("127.0.0.1", "::1"):
            print("Everybody who can reach this machine can open tables and watch.", flush=True)
        sys.setswitchinterval(0.001)  # threads that draw let the one that answers go on sooner
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port < 2**16:
        raise ValueError(f"--port {port}: a port is 0 to 65535")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_PASSIVE
        )[0]
        # The protocol must be named: only then asyncio sets TCP_NODELAY, without which each answer takes 40 ms more.
        listening = socket.socket(family, kind, protocol)
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(address)
            listening.listen(256)
        except OSError:
            listening.close()
            raise
        return listening
    except OSError as error:
        raise ValueError(f"can't listen at {host}, port {port}: {error.strerror}; --port 0 takes a free one") from None


def warm_up(games: Iterable[str] | None = None) -> None:
    """Compiles what a game needs before the first browser waits for it; quick where it is in numba's cache."""
    told = threading.Timer(3, print, ["Compiling the games; the next start is quicker."], {"file": sys.stderr})
    told.daemon = True
    told.start()
    from iszoo.baselines.agents import agent_names, make_agent
    from iszoo.envs.registry import REGISTRY
    from iszoo.session import Session, choose

    for name in REGISTRY if games is None else games:
        game = REGISTRY[name]
        for agent in agent_names(game):
            session = Session(game, {}, 0)
            session.play(choose(make_agent(agent, game), session.view()))
    told.cancel()
