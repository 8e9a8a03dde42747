"""The pages in a real Chromium: whole games by clicks, reloads, two tabs as two seats, keys, phones."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import iszoo
from iszoo import record
from tests.chromium import DESK, PHONE, Watched, chromium, needs_chromium
from tests.golden_records import path_of
from tests.helpers import ROOT

pytestmark = needs_chromium


class Server:
    """`iszoo serve` in a process of its own."""

    def __init__(self, file: Path) -> None:
        self.file, self.port = file, 0
        self.start()

    def start(self) -> None:
        """Starts it; after a kill, where it was."""
        command = [sys.executable, "-m", "iszoo", "serve", "--port", str(self.port), "--file", str(self.file)]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
        assert self.process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", self.process.stdout.readline())
        assert found is not None
        self.port = int(found[1])

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    def kill(self) -> None:
        """As a crash would end it."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def stop(self) -> int:
        """As Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(20)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server on a new file."""
    found = Server(tmp_path_factory.mktemp("serve") / "tables.sqlite")
    yield found
    assert found.stop() == 0


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium."""
    with chromium() as found:
        yield found


@pytest.fixture
def tab(browser: Any) -> Iterator[Callable[..., Watched]]:
    """Opens tabs: of one browser, or with `alone` of another one. At the end no page may have had an error."""
    contexts: list[Any] = []
    tabs: list[Watched] = []

    def opened(kind: dict[str, Any] = DESK, alone: bool = False) -> Watched:
        if not contexts or alone:
            contexts.append(browser.new_context(**kind))
        tabs.append(Watched(contexts[-1]))
        return tabs[-1]

    yield opened
    for each in tabs:
        assert each.errors == []
    for context in contexts:
        context.close()


def wait_until(page: Any, script: str, argument: Any = None) -> None:
    """Waits until a script gives true. Playwright's own wait_for_function needs eval, which our pages forbid."""
    for _ in range(1000):
        if page.evaluate(script, argument):
            return
        page.wait_for_timeout(20)
    raise AssertionError(f"never: {script}")


def make_table(
    page: Any, server: Server, game: str, seats: dict[int, str], options: dict[str, str] | None = None
) -> str:
    """A new table by the form of the first page; its id."""
    page.goto(server.url)
    page.locator(f"label:has(input[value={game}])").click()
    for name, value in (options or {}).items():
        page.locator(f"[data-option={name}]").select_option(label=value)
    for seat, who in seats.items():
        page.locator(f"[data-seat='{seat}']").select_option(label=who)
    page.locator("#start").click()
    page.wait_for_url("**/table/*")
    page.locator("#board svg").wait_for()
    return str(page.evaluate("location.pathname.split('/').at(-1)"))


def hurry(page: Any) -> None:
    """Agents act at once."""
    page.locator("#pace").select_option("0.1")


def click_a_move(page: Any, rng: random.Random) -> None:
    """Clicks whatever is lit, until the action is played."""
    moves = page.locator("#moves li").count()
    for _ in range(4):
        lit = page.locator("#board .can[tabindex='0']:not([aria-pressed])")
        lit.nth(rng.randrange(lit.count())).click()
        page.wait_for_timeout(20)
        if page.locator("#board [aria-pressed]").count() == 0:
            break
    wait_until(page, "before => document.querySelectorAll('#moves li').length > before", moves)


def wait_for_turn(page: Any) -> bool:
    """Waits until it is this tab's turn; False when the game is over."""
    wait_until(
        page,
        """() => {
          const status = document.getElementById("status").textContent;
          return /your turn/.test(status) ? document.querySelector("#board .can") !== null : /won|over/.test(status);
        }""",
    )
    return "your turn" in page.locator("#status").inner_text()


@pytest.mark.parametrize(
    ("game", "options", "kind"),
    [
        ("isaac", {"pieces": "standard"}, DESK),
        ("isis_osiris", {"memory": "hidden"}, PHONE),
        ("iso", {"mode": "competitive"}, DESK),
        ("iso", {"mode": "solo"}, PHONE),
    ],
)
def test_a_whole_game_by_clicks(
    game: str, options: dict[str, str], kind: dict[str, Any], server: Server, tab: Callable[..., Watched]
) -> None:
    watched = tab(kind)
    page, rng = watched.page, random.Random(game)
    table = make_table(page, server, game, {}, options)
    if options.get("mode") != "solo":
        hurry(page)
    while wait_for_turn(page):
        assert watched.fits()
        click_a_move(page, rng)
    assert page.locator("#board .can").count() == 0
    found = record.loads(page.request.get(f"{server.url}/api/tables/{table}/record").text())
    record.verify(found)
    assert found.over
    shown = [text.split(". ", 1)[1] for text in page.locator("#moves li").all_inner_texts()]
    assert shown == list(found.moves)
    page.get_by_text("Go through it").click()
    page.locator("#replay svg").first.wait_for()
    page.keyboard.press("End")
    assert page.locator(".where").inner_text() == f"{len(found.moves)} / {len(found.moves)}"
    points = [int(text) for text in page.locator("#replay .points").all_inner_texts()]
    assert points == list(found.scores)
    assert watched.fits()


def test_a_reload_in_mid_game(server: Server, tab: Callable[..., Watched]) -> None:
    page, rng = tab().page, random.Random(1)
    make_table(page, server, "isis_osiris", {})
    for _ in range(3):
        assert wait_for_turn(page)
        click_a_move(page, rng)
    assert wait_for_turn(page)
    before = [page.locator(where).inner_html() for where in ("#seats", "#moves")]
    page.reload()
    assert wait_for_turn(page)
    assert [page.locator(where).inner_html() for where in ("#seats", "#moves")] == before
    click_a_move(page, rng)


def test_a_server_that_is_killed_and_started_again(tmp_path: Path, browser: Any) -> None:
    """The page goes on by itself, from the same position, on the same seat."""
    server = Server(tmp_path / "tables.sqlite")
    context = browser.new_context(**DESK)
    page, rng = Watched(context).page, random.Random(2)
    try:
        make_table(page, server, "isaac", {})
        for _ in range(2):
            assert wait_for_turn(page)
            click_a_move(page, rng)
        assert wait_for_turn(page)
        moves = page.locator("#moves").inner_text()
        server.kill()
        page.get_by_text("can't be reached").wait_for()
        server.start()
        assert wait_for_turn(page)
        assert page.locator("#moves").inner_text() == moves
        click_a_move(page, rng)
    finally:
        context.close()
        server.kill()


def test_two_tabs_are_two_seats_and_a_stranger_watches(server: Server, tab: Callable[..., Watched]) -> None:
    first, rng = tab().page, random.Random(3)
    table = make_table(first, server, "isis_osiris", {1: "somebody in another tab"}, {"memory": "hidden"})
    address = first.locator("#address").inner_text()
    assert address == f"{server.url}/table/{table}"
    second = tab().page
    second.goto(address)
    second.locator("[data-sit='1']").click()
    second.get_by_text("(you)").wait_for()
    stranger = tab(alone=True).page
    stranger.goto(address)
    stranger.locator("#board svg").wait_for()
    for _ in range(3):
        for page, other in ((first, second), (second, first)):
            assert wait_for_turn(page)
            assert other.locator("#board .can").count() == 0
            moves = page.locator("#moves li").count()
            click_a_move(page, rng)
            if "reveal" in page.locator("#moves li").last.inner_text():
                assert wait_for_turn(page)
                click_a_move(page, rng)
            assert page.locator("#moves li").count() > moves
    first.reload()
    second.reload()
    assert wait_for_turn(first)
    assert "(you)" in first.locator("#seats li").nth(0).inner_text()
    assert "(you)" in second.locator("#seats li").nth(1).inner_text()
    assert stranger.locator("#moves li").count() == first.locator("#moves li").count()
    assert stranger.locator("#board .can").count() == 0
    assert stranger.locator("#entry").is_hidden()
    assert stranger.locator("[data-sit]").count() == 0
    assert stranger.locator("#remove").is_hidden()
    second.locator("#leave").click()
    stranger.locator("[data-sit='1']").click()
    stranger.get_by_text("(you)").wait_for()


def test_the_page_can_not_play_what_is_not_legal(server: Server, tab: Callable[..., Watched]) -> None:
    watched = tab()
    page = watched.page
    table = make_table(page, server, "isaac", {})
    page.locator("#move").fill("9z99")
    page.keyboard.press("Enter")
    page.get_by_text("9z99 is no legal move here.").wait_for()
    status = page.evaluate(
        """async ([table, action]) => {
          const seats = JSON.parse(localStorage.getItem(`iszoo:${table}`)).seats;
          const answer = await fetch(`/api/tables/${table}/actions`, {
            method: "POST", headers: { "Content-Type": "application/json", Authorization: `Bearer ${seats[0]}` },
            body: JSON.stringify({ action, ply: 0 }),
          });
          return answer.status;
        }""",
        [table, 1005],
    )
    assert status == 422
    assert page.locator("#moves li").count() == 0
    watched.errors.clear()  # the browser tells of the 422


def test_clicks_can_be_taken_back(server: Server, tab: Callable[..., Watched]) -> None:
    page = tab().page
    make_table(page, server, "isaac", {})
    target = "#board [data-target='{}']"

    def lit() -> int:
        return int(page.locator("#board .can[tabindex='0']:not([aria-pressed])").count())

    assert lit() == 5
    page.locator(target.format("reserve-2")).first.click()
    assert lit() > 50
    for take_back in (
        lambda: page.keyboard.press("Escape"),
        lambda: page.locator("#cancel").click(),
        lambda: page.locator(target.format("reserve-2")).first.click(),
    ):
        if lit() == 5:
            page.locator(target.format("reserve-2")).first.click()
        take_back()
        assert lit() == 5
    page.locator(target.format("reserve-2")).first.click()
    page.locator(target.format("cell-55")).click()
    page.locator(target.format("reserve-4")).first.click()  # another piece instead
    assert page.locator("#board [aria-pressed]").count() == 1
    page.locator(target.format("cell-0")).click()
    page.locator(target.format("cell-6")).click()
    page.locator("#moves li").first.wait_for()
    assert "6r00" in page.locator("#moves li").first.inner_text()


def test_a_game_by_keys(server: Server, tab: Callable[..., Watched]) -> None:
    page = tab().page
    make_table(page, server, "isis_osiris", {1: "somebody in another tab"})
    page.locator("#board [data-target='cell-0']").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft"):
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.dataset.target") == "cell-7"
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "play b2"
    page.keyboard.press("Enter")
    page.locator("#moves li").first.wait_for()
    assert "b2" in page.locator("#moves li").first.inner_text()
    make_table(page, server, "isaac", {1: "somebody in another tab"})
    page.locator("#board [data-target='reserve-1']").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("#board .can[tabindex='0']:not([aria-pressed])").count() > 50
    assert page.evaluate("document.activeElement.dataset.target.startsWith('cell')")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.locator("#moves li").first.wait_for()
    make_table(page, server, "iso", {1: "somebody in another tab"})
    page.locator("#move").fill("2.1@8,8")
    page.keyboard.press("Enter")
    page.locator("#moves li").first.wait_for()
    assert "2.1@8,8" in page.locator("#moves li").first.inner_text()


def test_hints_and_rules(server: Server, tab: Callable[..., Watched]) -> None:
    page = tab().page
    make_table(page, server, "isaac", {})
    page.locator("#hint").click()
    page.get_by_text("An agent would play").wait_for()
    assert page.locator("#board .hinted").count() >= 2
    page.locator("#rules").click()
    page.locator("dialog", has_text="The board has 10 x 10 cells.").wait_for()  # they are asked for when opened
    page.locator("dialog button").click()
    assert page.locator("dialog").is_hidden()
    make_table(page, server, "isis_osiris", {}, {"memory": "hidden"})
    assert page.locator("#hint").count() == 0
    assert page.locator("#seats .points").first.inner_text() == ""


def test_agents_are_watched_paused_and_removed(server: Server, tab: Callable[..., Watched]) -> None:
    watched = tab()
    page = watched.page
    table = make_table(page, server, "iso", {0: "agent: greedy", 1: "agent: random"})
    page.locator("#moves li").nth(1).wait_for()
    page.locator("#pause").click()
    page.locator("#pause", has_text="Go on").wait_for()
    moves = page.locator("#moves li").count()
    page.wait_for_timeout(1200)
    assert page.locator("#moves li").count() == moves
    hurry(page)
    page.locator("#pause").click()
    page.locator("text=Save the record").wait_for(timeout=60_000)
    with page.expect_download() as waited:
        page.locator("text=Save the record").click()
    found = record.loads(Path(waited.value.path()).read_text())
    record.verify(found)
    page.on("dialog", lambda dialog: dialog.accept())
    page.locator("#remove").click()
    page.wait_for_url(f"{server.url}/")
    assert table not in page.locator("#tables").inner_html()
    # News that were asked for just before may still be answered, and the browser tells of that.
    watched.errors[:] = [error for error in watched.errors if "404 (Not Found)" not in error]


def test_the_form_follows_the_game_and_its_options(server: Server, tab: Callable[..., Watched]) -> None:
    watched = tab()
    page = watched.page
    page.goto(server.url)
    seats = page.locator("[data-seat]")
    page.locator("label:has(input[value=isis_osiris])").click()
    page.locator("[data-option=num_players]").select_option(label="4")
    wait_until(page, "document.querySelectorAll('[data-seat]').length === 4")
    page.locator("label:has(input[value=iso])").click()
    page.locator("[data-option=mode]").select_option(label="solo")
    wait_until(page, "document.querySelectorAll('[data-seat]').length === 1")
    page.locator("[data-option=num_players]").select_option(label="3")
    page.get_by_text("not allowed").wait_for()
    assert page.locator("#start").is_disabled()
    watched.errors.clear()  # the browser tells of the 400
    page.locator("[data-option=num_players]").select_option(label="as usual")
    wait_until(page, "!document.getElementById('start').disabled")
    assert seats.count() == 1


def test_tables_are_listed_and_joined(server: Server, tab: Callable[..., Watched]) -> None:
    first = tab().page
    table = make_table(first, server, "iso", {1: "somebody in another tab"})
    other = tab(alone=True).page
    other.goto(server.url)
    other.locator("#name").fill("Zoë <b>")
    link = other.locator(f"#tables a[href='/table/{table}']")
    assert link.inner_text() == "Join"
    name = "Zoë <b>"
    other.evaluate("name => localStorage.setItem('iszoo:name', name)", name)
    link.click()
    other.locator("[data-sit='1']").click()
    first.get_by_text(name).wait_for()
    other.goto(server.url)
    assert other.locator(f"#tables a[href='/table/{table}#1']").inner_text() == "Go on"


@pytest.mark.parametrize("kind", [DESK, PHONE])
def test_records_of_a_file(kind: dict[str, Any], server: Server, tab: Callable[..., Watched], tmp_path: Path) -> None:
    watched = tab(kind)
    page = watched.page
    file = path_of(iszoo.REGISTRY["iso"])
    games = list(record.read(file))
    page.goto(f"{server.url}/replay")
    page.locator("#file").set_input_files(file)
    page.locator("#replay svg").first.wait_for()
    assert page.locator("#number option").count() == len(games)
    page.locator("#number").select_option("3")
    wait_until(page, f"document.querySelector('.where').textContent === '0 / {len(games[2].moves)}'")
    page.locator("#overlay").select_option("greedy")
    page.get_by_text("What greedy plays here").wait_for()
    assert watched.fits()
    damaged = tmp_path / "damaged.jsonl"
    body = json.loads(file.read_text().splitlines()[0])
    damaged.write_text(json.dumps({**body, "seed": -1}))
    page.locator("#file").set_input_files(damaged)
    page.get_by_text("line 1: seed: -1 is no whole number").wait_for()
    watched.errors.clear()  # the browser tells of the 400


@pytest.mark.parametrize("kind", [DESK, PHONE])
def test_every_page_fits_and_loads_nothing_from_elsewhere(
    kind: dict[str, Any], server: Server, tab: Callable[..., Watched]
) -> None:
    watched = tab(kind)
    page = watched.page
    for game in iszoo.REGISTRY:
        make_table(page, server, game, {1: "somebody in another tab"})
        assert watched.fits(), game
    for path in ("/", "/replay", "/table/nothing"):
        page.goto(server.url + path)
        page.wait_for_timeout(200)
        assert watched.fits(), path
    assert "no such table" in page.locator("#status").inner_text()
    assert all(url.startswith(server.url) for url in watched.asked)
    watched.errors.clear()  # the browser tells of the 404
