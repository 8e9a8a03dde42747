"""What a browser is sent: nothing that its seat may not know, whatever the position."""

from __future__ import annotations

import asyncio
import json
import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo.envs import engine
from iszoo.serve.store import Saved, Seat
from iszoo.serve.tables import Table, digest
from iszoo.serve.views import Drawers, view
from tests.helpers import Setting

SECRETS = ("the owner's secret", "the seat's secret")
PEOPLE, AGENTS = [Seat(False, "Ada", digest(SECRETS[1])), Seat(False, "Ben", "x")], [Seat(True, "greedy")] * 2


async def at_table(setting: Setting, seats: list[Seat], actions: list[int]) -> Table:
    """A table of a game that has come so far."""
    game = setting.game
    players = int(setting.params[0])
    sitting = (seats * 2)[:players]
    options = game.resolve(setting.options)
    saved = Saved("table", game.id, options, 987654321987654321, digest(SECRETS[0]), sitting, 1, False, 0.0, actions)
    return Table(saved, game)


def seen(setting: Setting, seats: list[Seat], actions: list[int], seat: int | None, rows: Any = None) -> dict[str, Any]:
    """What is sent; `rows` replaces the position, with all that is counted of it."""

    async def see() -> dict[str, Any]:
        table = await at_table(setting, seats, actions)
        if rows is not None:
            table.session._vec.rows[0] = rows
            table.session._vec.refresh()
        with ThreadPoolExecutor(1) as drawer:
            found = await view(table, seat, False, Drawers(drawer, drawer))
        return {**found, "version": ""}

    return asyncio.run(see())


def some_actions(setting: Setting, plies: int, seed: int = 0) -> list[int]:
    """The beginning of a random game on the table's deal."""
    rng, actions = random.Random(seed), []
    env = setting.started(seed=987654321987654321)
    while (legal := env.legal_actions()) and len(actions) < plies:
        actions.append(rng.choice(legal))
        env.step(actions[-1])
    return actions


def redrawn(setting: Setting, row: Any, seat: int, seed: int) -> Any:
    """The position with what a seat can't know drawn anew."""
    rows = row[None].copy()
    engine.resample_batch(setting.game.table, rows, np.array([seat]), np.array([seed]), setting.params)
    return rows[0]


def row_after(setting: Setting, actions: list[int]) -> Any:
    table = asyncio.run(at_table(setting, PEOPLE, actions))
    return table.session.row


@pytest.mark.parametrize("plies", [0, 5, 12])
def test_what_a_seat_can_not_know_makes_no_difference(setting: Setting, plies: int) -> None:
    actions = some_actions(setting, plies)
    row = row_after(setting, actions)
    for seat in (0, int(setting.params[0]) - 1, None):
        shown = seen(setting, PEOPLE, actions, seat)
        if shown["over"]:
            continue
        for seed in range(3):
            other = redrawn(setting, row, seat or 0, seed)
            assert seen(setting, PEOPLE, actions, seat, other) == shown, (seat, seed)


@pytest.mark.parametrize("variant", ["standard", "shared_stock"])
def test_what_must_be_remembered_makes_no_difference(variant: str) -> None:
    """Values of tiles that lie face down, changed: neither board, points nor anything else may tell."""
    setting = Setting(iszoo.REGISTRY["isis_osiris"], {"memory": "hidden", "variant": variant})
    actions = [a for k in range(6) for a in (36, k)]
    row = row_after(setting, actions)
    fields = row.view(setting.game.row)[0]
    values = fields["values"].view(np.int8)
    assert np.count_nonzero(values) == 6
    for seat in (0, 1, None):
        shown = seen(setting, PEOPLE, actions, seat)
        assert shown["scores"] is None
        other = row.copy()
        changed = other.view(setting.game.row)[0]["values"].view(np.int8)
        changed[:6] = [-4, 4, 3, -3, 1, -1]
        assert not np.array_equal(other, row)
        assert seen(setting, PEOPLE, actions, seat, other) == shown


def test_with_open_memory_the_same_change_does_tell() -> None:
    """So the test above could fail."""
    setting = Setting(iszoo.REGISTRY["isis_osiris"], {"memory": "open"})
    actions = [a for k in range(6) for a in (36, k)]
    row = row_after(setting, actions)
    other = row.copy()
    other.view(setting.game.row)[0]["values"].view(np.int8)[:6] = [-4, 4, 3, -3, 1, -1]
    assert seen(setting, PEOPLE, actions, 0, other)["picture"] != seen(setting, PEOPLE, actions, 0)["picture"]


def test_agents_alone_are_shown_with_all_that_they_hide() -> None:
    setting = Setting(iszoo.REGISTRY["iso"], {})
    actions = some_actions(setting, 5)
    row = row_after(setting, actions)
    pictures = {seen(setting, AGENTS, actions, None, redrawn(setting, row, 0, seed))["picture"] for seed in range(5)}
    assert len(pictures) == 5


@pytest.mark.parametrize("seats", [PEOPLE, AGENTS])
def test_seeds_and_secrets_are_never_sent(plain: Setting, seats: list[Seat]) -> None:
    for plies in (0, 6):
        text = json.dumps(seen(plain, seats, some_actions(plain, plies), 0))
        for secret in ("987654321987654321", *SECRETS, *map(digest, SECRETS), "generator"):
            assert secret not in text


def test_only_who_moves_gets_what_to_click(plain: Setting) -> None:
    found = {seat: seen(plain, PEOPLE, [], seat) for seat in (0, 1, None)}
    assert found[0]["legal"]
    assert found[0]["legal"].keys() == found[0]["targets"].keys()
    for names in found[0]["targets"].values():
        assert all(f'data-target="{name}"' in found[0]["picture"] for name in names)
    for seat in (1, None):
        assert found[seat]["legal"] == found[seat]["targets"] == {}


def test_nobody_is_called_you_to_a_watcher(plain: Setting) -> None:
    actions = some_actions(plain, 4)
    watched = seen(plain, PEOPLE, actions, None)["picture"]
    seated = seen(plain, PEOPLE, actions, 0)["picture"]
    assert "you" in seated
    assert "you" not in watched
    assert len(watched) > 0.9 * len(seated)


def test_one_drawing_is_made_for_all_who_look_from_one_place(plain: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[float] = []

    def draw(*arguments: Any) -> tuple[str, dict[str, Any]]:
        drawn.append(time.monotonic())
        return "", {}

    monkeypatch.setattr("iszoo.serve.views.draw", draw)

    async def look() -> None:
        table = await at_table(plain, PEOPLE, [])
        with ThreadPoolExecutor(2) as drawer:
            drawers = Drawers(drawer, drawer)
            await asyncio.gather(*(view(table, None, False, drawers) for _ in range(10)))
            assert len(drawn) == 1
            await view(table, 0, False, drawers)
            assert len(drawn) == 2
            table.changed()
            await view(table, None, False, drawers)
            assert len(drawn) == 3

    asyncio.run(look())
