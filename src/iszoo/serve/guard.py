"""What is turned away before it reaches a table: foreign hosts, foreign pages, bodies that are too large.

A page of another site could point a name of its own at 127.0.0.1 and so read what is served there (DNS rebinding),
or send forms to it. So a request must name this server by an address, as localhost, or by a name that was allowed;
and one that changes something must come from our own pages, or from no page at all.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SMALL, LARGE = 2**14, 2**20  # bytes of a body: anywhere, and where records are looked at

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:;"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",  # addresses of tables are for those who were told
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


class Guard:
    """The outermost layer of the app.

    Args:
        app: what is behind it.
        hosts: names, besides localhost and addresses, by which this server may be called.
        large: paths that take larger bodies.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str] = (), large: Iterable[str] = ()) -> None:
        self._app, self._hosts, self._large = app, {"localhost", *(host.lower() for host in hosts)}, set(large)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the module."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        most = LARGE if scope["path"] in self._large else SMALL
        refusal = self._refusal(scope, most)
        if refusal is not None:
            status, why = refusal
            await JSONResponse({"error": why}, status)(scope, receive, send_guarded)
            return
        length = 0

        async def receive_guarded() -> Message:
            nonlocal length
            message = await receive()
            length += len(message.get("body", b""))
            if length > most:
                raise TooLarge
            return message

        try:
            await self._app(scope, receive_guarded, send_guarded)
        except TooLarge:
            await JSONResponse({"error": f"at most {most} bytes"}, 413)(scope, receive, send_guarded)

    def _refusal(self, scope: Scope, most: int) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_ours(host):
            return 421, "this server isn't called that; --allow-host NAME of iszoo serve allows a name"
        if scope["method"] not in ("GET", "HEAD"):
            origin = headers.get("origin")
            if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
                return 403, "this came from a page of another site"
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                return 403, "this came from a page of another site"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > most:
            return 413, f"at most {most} bytes"
        return None

    def _is_ours(self, host: str) -> bool:
        """An address, which no name can be made to point at, or a name that was allowed; with any port."""
        try:
            parts = urlsplit(f"//{host}")
            name, _ = parts.hostname or "", parts.port
        except ValueError:
            return False
        if "@" in host:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in self._hosts
        return True


class TooLarge(Exception):
    """A body that grew beyond what was allowed."""
