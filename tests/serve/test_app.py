"""The server as browsers see it: whole games, what is refused, restarts, records."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import iszoo
from iszoo import record
from iszoo.baselines.agents import Agent, RandomAgent, agent_names
from iszoo.envs.game import Game
from iszoo.envs.primitives import NUM_PLAYERS
from iszoo.serve import checks, tables
from iszoo.serve.tables import Tables
from tests.golden_records import path_of
from tests.helpers import GAMES, Setting, covering, settings_of
from tests.serve.tables import Browser, serving


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    with serving(tmp_path / "tables.sqlite") as found:
        yield found


# --- Playing ---


@pytest.mark.parametrize("setting", [each for game in GAMES for each in covering(settings_of(game))], ids=str)
def test_a_whole_game_against_agents(setting: Setting, browser: Browser) -> None:
    players = int(setting.params[NUM_PLAYERS])
    seat = players - 1
    agents = [agent_names(setting.game)[k % 3] for k in range(seat)]
    browser.make(setting.game.name, [*agents, "you"], setting.options)
    ended = browser.play_out(seat)
    line = browser.client.get(f"/api/tables/{browser.id}/record").text
    found = record.loads(line)
    record.verify(found)
    assert found.agents == (*agents, "human")
    assert found.options == setting.game.resolve(setting.options)
    assert list(found.scores) == ended["scores"]
    assert list(found.returns) == pytest.approx(ended["returns"])
    assert [move for _, move in ended["moves"]] == list(found.moves)


def test_two_people_have_a_secret_each(browser: Browser) -> None:
    browser.make("isis_osiris", ["you", "open"], name="Ada")
    first = browser.see(0)
    assert first["you"] == 0
    assert [seat["free"] for seat in first["seats"]] == [False, True]
    watcher = browser.see()
    assert watcher["you"] is None
    assert watcher["legal"] == watcher["targets"] == {}
    other = Browser(browser.client)
    other.id = browser.id
    other.tokens[1] = browser.ask("POST", "seats/1", 201, json={"name": "Ben"})["token"]
    assert other.tokens[1] != browser.tokens[0]
    assert [seat["name"] for seat in browser.see(0)["seats"]] == ["Ada", "Ben"]
    assert "taken" in browser.ask("POST", "seats/1", 409, json={})["error"]
    browser.act(0, 3, 0)
    assert other.see(1)["legal"]
    assert not browser.see(0)["legal"]
    other.act(1, 4, 1)
    assert [move for _, move in browser.see(0)["moves"]] == ["d1", "e1"]


def test_a_seat_that_is_left_is_free_and_its_secret_is_worth_nothing(browser: Browser) -> None:
    browser.make("isaac", ["you", "expert"])
    browser.ask("DELETE", "seat", seat=0)
    assert browser.see(0)["you"] is None
    assert browser.see()["seats"][0]["free"]
    browser.act(0, 0, 0, status=403)
    browser.ask("DELETE", "seat", 403, seat=0)
    token = browser.ask("POST", "seats/0", 201, json={"name": "Cy"})["token"]
    browser.tokens[0] = token
    browser.act(0, 0, 0)


@pytest.mark.parametrize("game", iszoo.REGISTRY)
def test_whatever_is_not_legal_is_refused_and_changes_nothing(game: str, browser: Browser) -> None:
    browser.make(game, ["you", "open"])
    browser.tokens[1] = browser.ask("POST", "seats/1", 201, json={})["token"]
    before = browser.see(0)
    legal = int(next(iter(before["legal"])))
    illegal = min({*range(iszoo.REGISTRY[game].num_actions)} - {int(action) for action in before["legal"]}, default=-1)
    refused: list[tuple[int | None, Any, Any, int]] = [
        (0, illegal, 0, 422), (0, -1, 0, 422), (0, 10**9, 0, 422), (0, str(legal), 0, 422), (0, None, 0, 422),
        (0, True, 0, 422), (0, 1.5, 0, 422), (0, [legal], 0, 422), (0, legal, 1, 409), (0, legal, None, 409),
        (0, legal, False, 409), (1, legal, 0, 409), (None, legal, 0, 403),
    ]  # fmt: skip
    for seat, action, ply, status in refused:
        answer = browser.ask("POST", "actions", status, seat=seat, json={"action": action, "ply": ply})
        assert answer["error"]
    browser.ask("POST", "actions", 403, headers={"Authorization": "Bearer wrong"}, json={"action": legal, "ply": 0})
    browser.ask("POST", "actions", 403, headers={"Authorization": f"Basic {browser.tokens[0]}"}, json={"action": legal})
    after = browser.see(0)
    assert after == before
    browser.act(0, legal, 0)
    browser.act(0, legal, 0, status=409)  # the same click twice


def test_nothing_can_be_played_after_the_end(browser: Browser) -> None:
    browser.make("iso", ["you"], {"mode": "solo"})
    ended = browser.play_out(0)
    assert browser.see(0)["legal"] == {}
    assert "over" in browser.act(0, 0, ended["plies"], status=409)["error"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"game": "chess"}, "there is no game 'chess'"),
        ({"game": ["isaac"]}, "there is no game"),
        ({"game": "isaac", "seats": ["you"]}, "Isaac has 2 seats"),
        ({"game": "isaac", "seats": "me"}, "Isaac has 2 seats"),
        ({"game": "isaac", "seats": None}, "Isaac has 2 seats"),
        ({"game": "isaac", "seats": ["you", "you"]}, "one seat"),
        ({"game": "isaac", "seats": ["you", "stockfish"]}, "nobody is called 'stockfish'"),
        ({"game": "isaac", "seats": ["you", {"a": 1}]}, "nobody is called"),
        ({"game": "isaac", "seats": ["you", "open"], "options": {"pieces": "huge"}}, "'standard', 'table'"),
        ({"game": "isaac", "seats": ["you", "open"], "options": []}, "options are an object"),
        ({"game": "iso", "seats": ["you", "open"], "options": {"tiles": "/etc/passwd"}}, "can't be set from a page"),
        ({"game": "iso", "seats": ["you", "open"], "options": {"colour": 1}}, "has no option 'colour'"),
        ({"game": "iso", "seats": ["you", "open"], "options": {"mode": "solo", "num_players": 2}}, "not allowed"),
        ({}, "there is no game"),
    ],
)
def test_tables_that_can_not_be_made(body: Any, message: str, browser: Browser) -> None:
    assert message in browser.ask("POST", "/api/tables", 400, json=body)["error"]
    assert browser.ask("GET", "/api/tables") == []


def test_names_and_paces_are_kept_within_bounds(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    browser.make("isaac", ["you", "greedy"], name="x" * 500 + "\n", pace=0.3)
    found = browser.see(0)
    assert found["seats"][0]["name"] == "x" * 40
    assert found["pace"] == 0.3
    monkeypatch.setattr("iszoo.serve.checks.PACES", (0.1, 10.0))
    for given, kept in ((1e9, 10.0), (0, 0.1), (-5, 0.1), ("fast", 0.5), (None, 0.5), (True, 0.5)):
        browser.ask("POST", "pace", json={"pace": given}, headers={"X-Owner": browser.owner})
        assert browser.see(0)["pace"] == kept
    for name in (None, 7, "", " \t", "\x00\x07"):
        assert Browser(browser.client).make("isaac", ["you", "greedy"], name=name).see(0)["seats"][0]["name"] == "Guest"


# --- Agents ---


def test_agents_can_be_watched_paused_and_hurried_by_who_made_the_table(browser: Browser) -> None:
    browser.make("isis_osiris", ["greedy", "random"], pace=0.3)
    owner = {"X-Owner": browser.owner}
    for headers in ({}, {"X-Owner": "wrong"}, {"Authorization": f"Bearer {browser.owner}"}):
        browser.ask("POST", "pace", 403, json={"paused": True}, headers=headers)
        browser.ask("DELETE", "", 403, headers=headers)
    browser.ask("POST", "pace", json={"paused": True, "pace": 0.3}, headers=owner)
    still = browser.see()
    assert still["paused"]
    time.sleep(0.4)
    assert browser.see()["plies"] == still["plies"]
    browser.ask("POST", "pace", json={"paused": False, "pace": 0}, headers=owner)
    assert browser.until(lambda now: now["over"])["scores"]


def test_a_table_can_be_removed_while_agents_think(browser: Browser) -> None:
    browser.make("isaac", ["greedy", "random"])
    browser.ask("DELETE", "", headers={"X-Owner": browser.owner})
    assert "no such table" in browser.ask("GET", "", 404)["error"]
    assert browser.ask("GET", "/api/tables") == []


def test_an_agent_that_fails_stops_its_table_only(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    def tired(self: Any, view: Any) -> None:
        raise RuntimeError("tired")

    other = Browser(browser.client).make("isaac", ["greedy", "greedy"])
    with monkeypatch.context() as patched:
        patched.setattr(RandomAgent, "act", tired)
        browser.make("isaac", ["random", "greedy"])
        found = browser.until(lambda now: bool(now["failed"]))
        assert found["failed"] == "random can't go on: tired"
        plies = other.see()["plies"]
        other.until(lambda now: now["plies"] > plies)
    browser.ask("POST", "pace", json={"pace": 0, "paused": False}, headers={"X-Owner": browser.owner})
    browser.until(lambda now: now["plies"] > 4)


def test_hints(browser: Browser) -> None:
    browser.make("isaac", ["you", "greedy"])
    found = browser.ask("POST", "hint", seat=0, json={})
    assert found["move"] == browser.see(0)["legal"][str(found["action"])]
    assert browser.ask("POST", "hint", seat=0, json={"agent": "random"})["move"]
    assert "random, greedy" in browser.ask("POST", "hint", 400, seat=0, json={"agent": "stockfish"})["error"]
    browser.ask("POST", "hint", 409, json={})
    browser.make("isis_osiris", ["you", "greedy"], {"memory": "hidden"})
    assert not browser.see(0)["hints"]
    assert "remember" in browser.ask("POST", "hint", 403, seat=0, json={})["error"]


def test_only_agents_that_the_server_offers_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def make_agent(name: str, game: Game) -> Agent:
        made.append(name)
        if name == "search:9" and game.name == "isaac":
            agent = RandomAgent()
            agent.name = name
            return agent
        return ordinary(name, game)

    ordinary = tables.make_agent
    for module in (checks, tables):
        monkeypatch.setattr(module, "make_agent", make_agent)
    with serving(tmp_path / "tables.sqlite", agents=["search:9"]) as browser:
        offered = {game["name"]: game["agents"] for game in browser.ask("GET", "/api/games")}
        assert offered["isaac"] == [*agent_names(iszoo.REGISTRY["isaac"]), "search:9"]
        assert "search:9" not in offered["iso"]
        browser.make("isaac", ["search:9", "greedy"])
        browser.until(lambda now: now["plies"] > 2)
        made.clear()
        for name in ("search:10", "module:attribute", "policy:/etc/passwd"):
            body = {"game": "isaac", "seats": ["you", name]}
            assert "nobody is called" in browser.ask("POST", "/api/tables", 400, json=body)["error"]
        assert not made
    with pytest.raises(ValueError, match="--agent search:10: agent 'search:10': write module:attribute"):
        checks.offered(["search:10"])


# --- News ---


def test_who_waits_is_told_at_once_and_each_only_what_is_new(browser: Browser) -> None:
    browser.make("isis_osiris", ["you", "open"])
    version = browser.see(0)["version"]
    found: list[Any] = []
    waiting = threading.Thread(target=lambda: found.append(browser.see(None, params={"version": version})))
    waiting.start()
    time.sleep(0.2)
    assert not found
    browser.act(0, 0, 0)
    waiting.join(10)
    assert found[0]["plies"] == 1
    assert found[0]["version"] != version
    assert browser.see(None, params={"version": version})["plies"] == 1


def test_waiting_ends_by_itself(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iszoo.serve.app.WAIT", 0.05)
    browser.make("isaac", ["you", "open"])
    version = browser.see()["version"]
    assert browser.see(None, params={"version": version})["version"] == version


def test_who_waits_for_a_table_that_is_removed(browser: Browser) -> None:
    browser.make("isaac", ["you", "open"])
    version = browser.see()["version"]
    status: list[int] = []
    waiting = threading.Thread(
        target=lambda: status.append(
            browser.client.get(f"/api/tables/{browser.id}", params={"version": version}).status_code
        )
    )
    waiting.start()
    time.sleep(0.2)
    browser.ask("DELETE", "", headers={"X-Owner": browser.owner})
    waiting.join(10)
    assert status == [404]


# --- What stays ---


@pytest.mark.parametrize("game", iszoo.REGISTRY)
def test_a_restart_loses_nothing(game: str, tmp_path: Path) -> None:
    file = tmp_path / "tables.sqlite"
    with serving(file) as first:
        first.make(game, ["you", "greedy"], name="Ada")
        for _ in range(3):
            mine = first.until(lambda now: bool(now["legal"]), seat=0)
            first.act(0, int(next(iter(mine["legal"]))), mine["plies"])
        first.until(lambda now: bool(now["legal"]) or now["over"], seat=0)
        before = first.see(0)
    with serving(file) as second:
        second.id, second.owner, second.tokens = first.id, first.owner, first.tokens
        after = second.see(0)
        assert {**after, "version": "", "touched": 0} == {**before, "version": "", "touched": 0}
        assert after["version"] != before["version"]
        assert second.play_out(0)["over"]
        found = record.loads(second.client.get(f"/api/tables/{second.id}/record").text)
        record.verify(found)


def test_agents_go_on_after_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "tables.sqlite"
    with serving(file) as first:
        first.make("isis_osiris", ["greedy", "random"], pace=0.05)
        first.until(lambda now: now["plies"] >= 3)
    with serving(file) as second:
        second.id = first.id
        assert second.until(lambda now: now["over"])["plies"] > 30


def test_tables_of_another_version_are_left_in_the_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "tables.sqlite"
    with serving(file) as first:
        first.make("isaac", ["you", "greedy"])
        second = Browser(first.client).make("isaac", ["you", "greedy"])
    with sqlite3.connect(file) as db:
        db.execute("UPDATE tables SET game = 'isaac_v9' WHERE id = ?", (first.id,))
    db.close()
    with serving(file) as again:
        assert [table["id"] for table in again.ask("GET", "/api/tables")] == [second.id]
        assert "isaac_v9" in caplog.text
    with sqlite3.connect(file) as db:
        assert db.execute("SELECT count(*) FROM tables").fetchone() == (2,)
    db.close()


def test_tables_are_bounded_and_finished_ones_make_room(tmp_path: Path) -> None:
    with serving(tmp_path / "tables.sqlite", most_tables=3) as browser:
        made = [Browser(browser.client).make("iso", ["you"], {"mode": "solo"}) for _ in range(3)]
        body = {"game": "iso", "options": {"mode": "solo"}, "seats": ["you"]}
        assert "3 tables already" in browser.ask("POST", "/api/tables", 429, json=body)["error"]
        made[1].play_out(0)
        browser.ask("POST", "/api/tables", 201, json=body)
        left = {table["id"] for table in browser.ask("GET", "/api/tables")}
        assert len(left) == 3
        assert made[1].id not in left
        browser.ask("POST", "/api/tables", 429, json=body)


def test_finished_games_are_recorded(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    with serving(tmp_path / "tables.sqlite", recorded=file) as browser:
        for _ in range(2):
            browser.make("iso", ["random", "greedy"])
            browser.until(lambda now: now["over"])
    found = list(record.read(file))
    assert [each.agents for each in found] == [("random", "greedy")] * 2
    for each in found:
        record.verify(each)
    with pytest.raises(record.RecordError, match="left as it is"), serving(tmp_path / "b.sqlite", recorded=__file__):
        pass


# --- Records ---


def test_the_record_and_replay_of_a_running_game_are_secret(browser: Browser) -> None:
    browser.make("iso", ["you", "greedy"])
    for what in ("record", "replay"):
        assert "isn't over" in browser.ask("GET", what, 403, seat=0)["error"]


def test_a_finished_game_can_be_gone_through(browser: Browser) -> None:
    browser.make("isis_osiris", ["you", "greedy"], {"memory": "hidden"})
    ended = browser.play_out(0)
    data = browser.ask("GET", "replay")
    assert len(data["plies"]) == ended["plies"] + 1
    assert data["plies"][-1]["scores"] == ended["scores"]
    assert [ply["move"] for ply in data["plies"][:-1]] == [move for _, move in ended["moves"]]
    with_policy = browser.ask("GET", "replay", params={"overlay": "greedy"})
    assert with_policy["policy_of"] == "greedy"
    assert all("overlaid" in ply for ply in with_policy["plies"][:-1])
    browser.ask("GET", "replay", 400, params={"overlay": "stockfish"})


@pytest.mark.parametrize("name", iszoo.REGISTRY)
def test_files_of_records_can_be_gone_through(name: str, browser: Browser) -> None:
    text = path_of(iszoo.REGISTRY[name]).read_bytes()
    games = list(record.read(path_of(iszoo.REGISTRY[name])))
    for number in (1, len(games)):
        data = browser.ask("POST", f"/api/replay?game={number}", content=text)
        assert data["games"] == len(games)
        assert [ply["move"] for ply in data["plies"][:-1]] == list(games[number - 1].moves)
    for number in ("0", str(len(games) + 1), "x", "-1"):
        assert "games in this file" in browser.ask("POST", f"/api/replay?game={number}", 400, content=text)["error"]


def test_damaged_records_are_refused_with_line_and_field(browser: Browser) -> None:
    (line, *_) = path_of(iszoo.REGISTRY["isaac"]).read_text().splitlines()
    for content, message in (
        (b"", "line 1: iszoo_record: cut off"),
        (b"\xff\xfe", "no UTF-8"),
        (b"hello", "line 1: iszoo_record: damaged"),
        (line[:100].encode(), "cut off"),
        (line.replace('"scores": [', '"scores": [1').encode(), "checksum"),
    ):
        assert message in browser.ask("POST", "/api/replay", 400, content=content)["error"]


def test_a_record_names_no_files_of_the_server(browser: Browser, tmp_path: Path) -> None:
    tiles = tmp_path / "tiles.toml"
    tiles.write_bytes((Path(iszoo.envs.iso_tiles.__file__).with_name("iso_tiles.toml")).read_bytes())
    made = record.make("iso", seed=0, actions=[136], options={"tiles": str(tiles)})
    answer = browser.ask("POST", "/api/replay", 400, content=record.dumps(made).encode())
    assert "can't be set from a page" in answer["error"]
    assert str(tmp_path) not in answer["error"]


# --- Pages ---


@pytest.mark.parametrize("path", ["/", "/table/anything", "/replay"])
def test_pages_load_nothing_from_elsewhere(path: str, browser: Browser) -> None:
    page = browser.client.get(path)
    assert page.status_code == 200
    assert "text/html" in page.headers["content-type"]
    assert "http://" not in page.text
    assert "https://" not in page.text
    for name in ("style.css", "icon.svg"):
        assert f"/static/{name}" in page.text


def test_games_their_rules_and_their_pictures(browser: Browser) -> None:
    games = browser.ask("GET", "/api/games")
    assert [game["name"] for game in games] == list(iszoo.REGISTRY)
    for game in games:
        assert game["agents"] == agent_names(iszoo.REGISTRY[game["name"]])
        rules = browser.client.get(f"/api/games/{game['name']}/rules")
        assert f"<h1>{game['title']}".replace("&", "&amp;") in rules.text
        picture = browser.client.get(f"/api/games/{game['name']}/picture.svg")
        assert picture.headers["content-type"].startswith("image/svg+xml")
        assert picture.text.startswith("<svg")
    browser.ask("GET", "/api/games/chess/rules", 404)
    browser.ask("GET", "/api/nothing", 404)
    browser.ask("PUT", "/api/games", 405)


def test_the_number_of_seats_follows_the_options(browser: Browser) -> None:
    def players(game: str, **options: Any) -> Any:
        return browser.ask("POST", "/api/settle", json={"game": game, "options": options})["players"]

    assert players("isis_osiris", num_players=4) == 4
    assert players("iso", mode="solo") == 1
    assert players("iso", mode="coop") == 2
    error = browser.ask("POST", "/api/settle", 400, json={"game": "iso", "options": {"mode": "solo", "num_players": 3}})
    assert "not allowed" in error["error"]


def test_bodies_that_are_no_json_object(browser: Browser) -> None:
    browser.make("isaac", ["you", "greedy"])
    for content in (b"", b"{", b"[]", b"null", b"\xff", b"[" * 5000):
        browser.ask("POST", "actions", 400, seat=0, content=content, headers={"Content-Type": "application/json"})
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        body = json.dumps({"action": 0, "ply": 0}).encode()
        browser.ask("POST", "actions", 415, seat=0, content=body, headers={"Content-Type": kind})


def test_a_fault_of_the_server_is_no_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from starlette.testclient import TestClient

    from iszoo.serve.app import make_app

    def broken(self: Tables) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(Tables, "all", broken)
    app = make_app(tmp_path / "tables.sqlite")
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:
        answer = client.get("/api/tables")
    assert answer.status_code == 500
    assert "secret" not in answer.text
