"""Isis & Osiris drawn: what lies in each cell, what is shown eye up, what is in hand, the stock."""

from __future__ import annotations

import random
from typing import Any

import iszoo
from iszoo.envs.aec import GameEnv
from iszoo.envs.drawing.canvas import signed
from iszoo.envs.drawing.isis_osiris import EYE
from iszoo.envs.isis_osiris import CELLS, REVEAL
from tests.envs.drawing.svgs import SVG, clickable, drawn, parsed, texts
from tests.helpers import Setting, play, scaled, settings_of

GAME = iszoo.REGISTRY["isis_osiris"]


def cells(picture: str) -> list[str]:
    """What is written in each cell."""
    found = [""] * CELLS
    for group in parsed(picture).iter(f"{SVG}g"):
        name = group.attrib.get("data-target", "")
        if name.startswith("cell-"):
            found[int(name[5:])] = "".join(text.text or "" for text in group.iter(f"{SVG}text"))
    return found


def on_text_board(env: GameEnv) -> list[str]:
    lines = env.game.text(env._rows[0], env.options).splitlines()[1:7]
    entries = [entry for line in lines for entry in line.split()[1:]]
    return [entry.replace("-", "\N{MINUS SIGN}").replace(".", "") for entry in entries]


def eyes(picture: str) -> int:
    """How many tiles lie eye up, anywhere."""
    return sum(element.attrib.get("fill") == EYE for element in parsed(picture).iter(f"{SVG}rect"))


def test_cells_are_those_of_the_text_board() -> None:
    for setting in settings_of(GAME):
        env = setting.started(1)
        rng = random.Random(1)
        for _ in range(scaled(30)):
            env.step(rng.choice(env.legal_actions()))
            shown = cells(drawn(env, seat=0))
            if setting.options["memory"] == "open":
                assert shown == on_text_board(env)
                assert cells(drawn(env)) == shown
            else:
                assert shown == [entry.replace("##", "") for entry in on_text_board(env)]


def started(**options: Any) -> GameEnv:
    return Setting(GAME, options).started(0)


def test_hidden_memory_lies_eye_up_until_the_end() -> None:
    env = play(started(memory="hidden"), most=40)
    tiles = bin(int(env._rows[0].view(GAME.row)[0]["tiles"])).count("1")
    assert tiles > 2
    stock = int(env._rows[0].view(GAME.row)[0]["tiles_left"].sum())
    on_button = int(REVEAL in env.legal_actions())
    assert eyes(drawn(env, seat=1)) == tiles + stock + on_button
    assert eyes(drawn(env)) == on_button
    assert texts(drawn(env, seat=1)).count("?") == 2
    assert "?" not in texts(drawn(env))
    play(env)
    assert "".join(cells(drawn(env, seat=1))) == "".join(cells(drawn(env)))
    assert "?" not in texts(drawn(env, seat=1))


def test_who_sees_all_sees_the_stock_in_order() -> None:
    deal = [
        value
        for value, count in ((1, 2), (2, 6), (3, 2), (4, 1), (-1, 2), (-2, 6), (-3, 2), (-4, 1))
        for _ in range(count)
    ]
    for players, out in ((2, 0), (3, 1), (4, 2)):
        env = Setting(GAME, {"num_players": players}).env()
        env.reset(options={"deal": deal})
        shown = [text for text in texts(drawn(env)) if text in {signed(value) for value in deal}]
        assert shown[8:] == [signed(value) for value in deal]  # after the eight of the strip of counts
        assert ("out of the game" in texts(drawn(env))) == bool(out)
        assert len(texts(drawn(env, seat=0))) < len(texts(drawn(env)))


def test_a_tile_in_hand_is_shown_to_everybody() -> None:
    for memory in ("open", "hidden"):
        env = started(memory=memory)
        assert "reveal" in clickable(drawn(env, seat=0))
        env.step(REVEAL)
        value = signed(int(env._rows[0].view(GAME.row)[0]["hand"]))
        assert texts(drawn(env, seat=1))[:3] == ["A to place the tile", "in hand", value]
        assert "reveal" not in clickable(drawn(env))


def test_the_status() -> None:
    env = started()
    assert texts(drawn(env))[0] == "A to move"
    env = play(started())
    winners = [seat for seat, points in enumerate(env.scores()) if points == max(env.scores())]
    assert len(winners) == 1
    assert texts(drawn(env))[0] == f"{'AB'[winners[0]]} wins with {signed(max(env.scores()))}"
