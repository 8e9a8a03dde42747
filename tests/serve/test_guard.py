"""What doesn't get in: other hosts (DNS rebinding), pages of other sites, bodies that are too large."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from iszoo.serve.guard import LARGE, SMALL
from tests.serve.tables import Browser, serving


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with serving(tmp_path / "tables.sqlite", hosts=["Games.example"]) as found:
        yield found


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8000", "LOCALHOST", "127.0.0.1", "127.0.0.1:8000", "[::1]:8000", "192.168.1.20:80",
     "games.example", "games.example:8000"],
)  # fmt: skip
def test_names_of_this_server(host: str, browser: Browser) -> None:
    assert browser.client.get("/api/games", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example", "", "evil@localhost",
     "localhost:8000.evil.example", "[", "games.example.evil"],
)  # fmt: skip
def test_names_of_others(host: str, browser: Browser) -> None:
    for path in ("/", "/api/games", "/static/style.css"):
        assert browser.client.get(path, headers={"Host": host}).status_code == 421


BODY = {"game": "isaac", "seats": ["you", "greedy"]}


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:9999"},
        {"Origin": "http://localhost.evil.example"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_pages_of_other_sites_change_nothing(headers: dict[str, str], browser: Browser) -> None:
    assert browser.client.post("/api/tables", json=BODY, headers=headers).status_code == 403
    assert browser.ask("GET", "/api/tables") == []


@pytest.mark.parametrize("headers", [{}, {"Origin": "http://localhost"}, {"Sec-Fetch-Site": "same-origin"}])
def test_our_pages_and_programs_do(headers: dict[str, str], browser: Browser) -> None:
    assert browser.client.post("/api/tables", json=BODY, headers=headers).status_code == 201


def test_bodies_are_bounded(browser: Browser) -> None:
    headers = {"Content-Type": "application/json"}
    fits = b'{"game": "x"}' + b" " * (SMALL - 13)
    assert browser.client.post("/api/tables", content=fits, headers=headers).status_code == 400
    assert browser.client.post("/api/tables", content=fits + b" ", headers=headers).status_code == 413

    def in_pieces(size: int) -> Iterator[bytes]:
        for _ in range(size // 1024):
            yield b" " * 1024

    assert browser.client.post("/api/tables", content=in_pieces(2 * SMALL), headers=headers).status_code == 413
    assert browser.client.post("/api/replay", content=in_pieces(2 * SMALL)).status_code == 400
    assert browser.client.post("/api/replay", content=in_pieces(2 * LARGE)).status_code == 413
    for length in ("-1", "x", "1e3"):
        answer = browser.client.post("/api/tables", content=b"{}", headers={**headers, "Content-Length": length})
        assert answer.status_code == 413


@pytest.mark.parametrize("path", ["/", "/api/games", "/static/table.js", "/api/nothing"])
def test_every_answer_says_what_a_page_may_do(path: str, browser: Browser) -> None:
    headers = browser.client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers


def test_positions_are_in_no_cache(browser: Browser) -> None:
    browser.make("isaac", ["you", "greedy"])
    answer = browser.client.get(f"/api/tables/{browser.id}")
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/static/../serve/app.py", "/static/%2e%2e/serve/app.py", "/static/..%2fsession.py"])
def test_no_other_files_are_served(path: str, browser: Browser) -> None:
    assert browser.client.get(path).status_code in (404, 405)
