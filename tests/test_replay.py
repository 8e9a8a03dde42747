"""Replays: the page is what the record says, needs nothing else, and can be stepped through by all means."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import iszoo
from iszoo import record, replay
from iszoo.__main__ import main
from iszoo.baselines.agents import make_agent
from iszoo.envs import drawing
from iszoo.envs.game import Game
from tests.chromium import DESK, PHONE, Watched, chromium, needs_chromium
from tests.golden_records import path_of

EVIL = "</script><script>document.title='taken'</script>"


def golden(game: Game) -> list[record.Record]:
    return list(record.read(path_of(game)))


def test_pictures_are_those_of_the_drawings(game: Game) -> None:
    for found in golden(game)[-3:]:
        data = replay.data_of(found)
        positions = record.replay(found)
        for position, ply, last in zip(positions, data["plies"], [None, *found.actions], strict=True):
            whole = "".join(data["pieces"][number] for number in ply["picture"])
            assert whole == drawing.svg(game, position.row, found.options, last=last)
            assert tuple(ply["scores"]) == position.scores
            assert ply["player"] == position.player
        assert [ply["move"] for ply in data["plies"]] == [*found.moves, None]


def test_sharing_pieces_makes_it_small(game: Game) -> None:
    found = golden(game)[0]
    whole = sum(len(picture) for picture in replay._pictures(found))
    assert len(json.dumps(replay.data_of(found), separators=(",", ":"))) < whole / 3


def test_the_policy_is_laid_over_every_position_but_the_last(game: Game) -> None:
    found = golden(game)[0]
    data = replay.data_of(found, make_agent("random", game), samples=16)
    assert data["policy_of"] == "random"
    for ply in data["plies"][:-1]:
        assert ply["overlaid"] != ply["picture"]
        assert 0 < sum(share for _, share in ply["policy"]) <= 1 + 1e-9
    assert "overlaid" not in data["plies"][-1]
    late = replay.data_of(found, make_agent("random", game), samples=16, seconds=0)
    assert not any("overlaid" in ply for ply in late["plies"])


def test_the_page_loads_nothing(game: Game) -> None:
    page = replay.page(replay.data_of(golden(game)[0]))
    assert set(re.findall(r"https?://[^\\\"' <]*", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(link|img|iframe|script[^>]*src)", page)
    assert "default-src 'none'" in page


def test_names_are_text_and_nothing_else() -> None:
    made = record.make("isaac", seed=0, actions=[0], agents=[EVIL, EVIL])
    page = replay.page(replay.data_of(made))
    assert EVIL not in page
    assert page.count("<script") == page.count("</script") == 2
    data = re.search(r'id="game">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert json.loads(data[1])["agents"] == [EVIL, EVIL]


def test_a_record_that_is_wrong_makes_no_page() -> None:
    import dataclasses

    found = dataclasses.replace(golden(iszoo.REGISTRY["isaac"])[0], scores=(1, 2))
    with pytest.raises(record.RecordError, match=r"result\.scores"):
        replay.data_of(found)


def test_gif_and_png(game: Game) -> None:
    found = golden(game)[-2]
    with Image.open(io.BytesIO(replay.gif_of(found, seconds=0.5, width=200))) as image:
        assert image.size[0] == 200
        assert 1 < getattr(image, "n_frames", 1) <= len(found.actions) + 1
        image.seek(image.n_frames - 1)  # type: ignore[attr-defined]
        assert image.info["duration"] >= 2500
    pictures = set()
    for ply in (0, len(found.actions)):
        content = replay.png_of(found, ply, width=300)
        with Image.open(io.BytesIO(content)) as image:
            assert image.size[0] == 300
        pictures.add(content)
    assert len(pictures) == 2
    with pytest.raises(ValueError, match="the game has plies 0 to"):
        replay.png_of(found, len(found.actions) + 1)


# --- The command ---


def test_the_command_writes_what_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file, page, gif = str(path_of(iszoo.REGISTRY["iso"])), tmp_path / "a" / "page.html", tmp_path / "game.gif"
    command = [
        "replay",
        file,
        "--game",
        "2",
        "--html",
        str(page),
        "--overlay",
        "greedy",
        "--gif",
        str(gif),
        "--png",
        "3",
    ]
    assert main(command) == 0
    assert page.read_text().startswith("<!doctype html>")
    assert "overlaid" in page.read_text()
    assert gif.read_bytes().startswith(b"GIF89a")
    assert (tmp_path / "iso-2-3.png").read_bytes().startswith(b"\x89PNG")


def test_without_a_wish_it_says_what_is_in_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    games = golden(iszoo.REGISTRY["isaac"])
    assert main(["replay", str(path_of(iszoo.REGISTRY["isaac"]))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(games)
    for line, found in zip(lines, games, strict=True):
        assert " - ".join(found.agents) in line
        assert f"{len(found.actions)} actions" in line


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--game", "99", "--html", "x"], "has games 1 to"),
        (["--png", "999"], "the game has plies 0 to"),
        (["--html", "x", "--overlay", "stockfish"], "random, greedy, expert"),
    ],
)
def test_errors_say_what_is_allowed(more: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(path_of(iszoo.REGISTRY["isaac"])), *more]) == 1
    assert message in capsys.readouterr().err


def test_damaged_files_are_named_with_line_and_field(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "games.jsonl"
    lines = path_of(iszoo.REGISTRY["isaac"]).read_text().splitlines()
    file.write_text(f"{lines[0]}\n{lines[1][:300]}\n")
    assert main(["replay", str(file), "--html", str(tmp_path / "x.html")]) == 1
    assert re.search(r"games\.jsonl, line 2: \w+: cut off", capsys.readouterr().err)
    assert not (tmp_path / "x.html").exists()
    assert main(["replay", str(tmp_path / "nothing.jsonl")]) == 1
    assert "can't be read" in capsys.readouterr().err


def test_without_the_extra_the_error_names_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    monkeypatch.delitem(sys.modules, "iszoo.envs.drawing.raster", raising=False)
    assert main(["replay", str(path_of(iszoo.REGISTRY["isaac"])), "--png", "0"]) == 1
    assert "iszoo[render]" in capsys.readouterr().err


# --- The page, in Chromium ---


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium."""
    with chromium() as found:
        yield found


@pytest.fixture(params=[DESK, PHONE], ids=["desk", "phone"])
def opened(request: pytest.FixtureRequest, browser: Any, tmp_path: Path) -> Iterator[tuple[Watched, record.Record]]:
    """The page of a game, opened from a file, with the record that it shows."""
    found = golden(iszoo.REGISTRY["isis_osiris"])[0]
    file = tmp_path / "page.html"
    file.write_text(replay.page(replay.data_of(found, make_agent("greedy", iszoo.REGISTRY["isis_osiris"]), samples=8)))
    context = browser.new_context(**request.param)
    watched = Watched(context)
    watched.page.goto(file.as_uri())
    watched.page.locator(".board svg").wait_for()
    yield watched, found
    assert watched.errors == []
    assert {url.partition("#")[0] for url in watched.asked} == {file.as_uri()}
    context.close()


def where(page: Any) -> int:
    return int(page.locator(".where").inner_text().partition(" / ")[0])


@needs_chromium
def test_it_is_stepped_through_by_keys_and_buttons(opened: tuple[Watched, record.Record]) -> None:
    (watched, found), last = opened, len(opened[1].actions)
    page = watched.page
    assert watched.fits()
    assert where(page) == 0
    pictures = [page.locator(".board").inner_html()]
    for expected, step in (
        (1, lambda: page.keyboard.press("ArrowRight")),
        (2, lambda: page.get_by_role("button", name="on (→)").click()),
        (1, lambda: page.keyboard.press("ArrowLeft")),
        (0, lambda: page.get_by_role("button", name="back (←)").click()),
        (0, lambda: page.keyboard.press("ArrowLeft")),
        (10, lambda: page.keyboard.press("PageDown")),
        (last, lambda: page.keyboard.press("End")),
        (last, lambda: page.keyboard.press("ArrowRight")),
        (0, lambda: page.keyboard.press("Home")),
        (5, lambda: page.locator(".moves-list button").nth(4).click()),
        (7, lambda: page.locator("input[type=range]").fill("7")),
    ):
        step()
        assert where(page) == expected
    assert page.locator(".moves-list .now").inner_text() == f"7. {found.moves[6]}"
    pictures.append(page.locator(".board").inner_html())
    assert pictures[0] != pictures[1]
    page.keyboard.press("End")
    assert [int(text) for text in page.locator(".points").all_inner_texts()] == list(found.scores)
    assert page.url.endswith(f"#{last}")
    page.reload()
    assert where(page) == last
    assert page.locator(".won:visible").count() == (1 if len({*found.returns}) > 1 else 0)


@needs_chromium
def test_it_plays_by_itself(opened: tuple[Watched, record.Record]) -> None:
    (watched, found) = opened
    page = watched.page
    page.locator("select").select_option("5")
    page.get_by_role("button", name="play (space)").click()
    for _ in range(500):
        if where(page) >= 3:
            break
        page.wait_for_timeout(20)
    page.get_by_role("button", name="play (space)").click()
    stopped = where(page)
    assert stopped >= 3
    page.wait_for_timeout(500)
    assert where(page) == stopped
    assert stopped < len(found.actions)


@needs_chromium
def test_the_policy_can_be_laid_over_and_taken_away(opened: tuple[Watched, record.Record]) -> None:
    page = opened[0].page
    page.get_by_text("What greedy plays here").wait_for()
    assert page.locator(".policy tr").count() >= 1
    laid_over = page.locator(".board").inner_html()
    page.keyboard.press("o")
    assert page.locator(".board").inner_html() != laid_over
    assert page.get_by_text("What greedy plays here").is_hidden()
    page.locator("input[type=checkbox]").check()
    assert page.locator(".board").inner_html() == laid_over


@needs_chromium
def test_the_chart_is_clicked_to_jump(opened: tuple[Watched, record.Record]) -> None:
    page, last = opened[0].page, len(opened[1].actions)
    chart = page.locator(".chart")
    box = chart.bounding_box()
    chart.click(position={"x": box["width"] - 3, "y": box["height"] / 2})
    assert where(page) >= last - 2


@needs_chromium
def test_names_do_nothing_in_a_browser(browser: Any, tmp_path: Path) -> None:
    made = record.make("isaac", seed=0, actions=[0], agents=[EVIL, "<img src=x onerror=alert(1)>"])
    file = tmp_path / "page.html"
    file.write_text(replay.page(replay.data_of(made)))
    context = browser.new_context(**DESK)
    watched = Watched(context)
    watched.page.goto(file.as_uri())
    watched.page.locator(".board svg").wait_for()
    assert watched.page.locator(".name").all_inner_texts() == list(made.agents)
    assert "taken" not in watched.page.title().split("<")[0]
    assert watched.page.locator("img").count() == 0
    assert watched.errors == []
    context.close()
