"""What the tests of the server share: an app on a file, with a client that talks to it as a browser does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from iszoo.serve.app import make_app

Json = dict[str, Any]


class Browser:
    """Asks the server; keeps the secrets of one table."""

    def __init__(self, client: TestClient) -> None:
        self.client = client
        self.id = self.owner = ""
        self.tokens: dict[int, str] = {}

    def make(self, game: str, seats: Sequence[str], options: Json | None = None, **more: Any) -> Browser:
        """A new table."""
        body = {"game": game, "options": options or {}, "seats": list(seats), "pace": 0, **more}
        made = self.ask("POST", "/api/tables", 201, json=body)
        self.id, self.owner = made["id"], made["owner"]
        self.tokens = {int(seat): token for seat, token in made["seats"].items()}
        return self

    def ask(self, method: str, path: str, status: int = 200, seat: int | None = None, **rest: Any) -> Any:
        """A request with the secret of a seat; `path` may begin within the table. The answer must have that status."""
        headers = dict(rest.pop("headers", {}))
        if seat is not None and seat in self.tokens:
            headers["Authorization"] = f"Bearer {self.tokens[seat]}"
        where = path if path.startswith("/") else f"/api/tables/{self.id}/{path}".rstrip("/")
        answer = self.client.request(method, where, headers=headers, **rest)
        assert answer.status_code == status, (answer.status_code, answer.text)
        return answer.json()

    def see(self, seat: int | None = None, **rest: Any) -> Json:
        """The table as a seat sees it, or a watcher."""
        found: Json = self.ask("GET", "", seat=seat, **rest)
        return found

    def act(self, seat: int, action: int, ply: int, status: int = 200) -> Json:
        """An action of a seat."""
        found: Json = self.ask("POST", "actions", status, seat=seat, json={"action": action, "ply": ply})
        return found

    def until(self, fits: Callable[[Json], bool], seat: int | None = None) -> Json:
        """The table once it is as asked for."""
        end = time.monotonic() + 60
        while not fits(found := self.see(seat)):
            assert time.monotonic() < end, {**found, "picture": ""}
            time.sleep(0.01)
        return found

    def play_out(self, *seats: int) -> Json:
        """Plays the first legal action of these seats until the game is over."""
        while True:
            found = self.until(lambda now: now["over"] or now["player"] in seats)
            if found["over"]:
                return found
            mine = self.see(found["player"])
            if mine["legal"]:
                self.act(mine["you"], int(next(iter(mine["legal"]))), mine["plies"])


@contextmanager
def serving(file: Path, **options: Any) -> Iterator[Browser]:
    """An app on a file, running; agents need not be slow enough to be watched."""
    with (
        pytest.MonkeyPatch.context() as patched,
        TestClient(make_app(file, **options), base_url="http://localhost") as client,
    ):
        patched.setattr("iszoo.serve.checks.PACES", (0.0, 10.0))
        yield Browser(client)
