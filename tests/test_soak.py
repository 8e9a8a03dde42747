"""The soak finds what it looks for, and plays the same again."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import pytest

from iszoo import REGISTRY
from iszoo.envs.game import Game
from tests import soak
from tests.helpers import GAMES, ROOT, Setting, settings_of


def watched(game: Game, num_envs: int = 32) -> tuple[soak.Watch, Any]:
    setting = settings_of(game)[-1]
    vec = setting.vec(num_envs, seed=1)
    vec.random_steps(game.max_game_length // 3)
    return soak.Watch(setting), vec


def test_every_game_has_its_own_count_of_pieces(game: Game) -> None:
    watch, vec = watched(game)
    assert watch.conserved is not None
    watch.look(vec)


@pytest.mark.parametrize(
    ("name", "field"),
    [("isaac", "unplayed"), ("iso", "slot_number"), ("isis_osiris", "stones_left"), ("isis_osiris", "tiles")],
)
def test_a_piece_too_many_is_found(name: str, field: str) -> None:
    watch, vec = watched(REGISTRY[name])
    rows = vec.rows.view(vec.game.row)[:, 0]
    if field == "tiles":
        rows[field][0] = 0
    else:
        rows[field][0] = 0 if field == "slot_number" else rows[field][0] + 1
    with pytest.raises(AssertionError, match=name):
        watch.look(vec)


def test_an_observation_outside_its_space_is_found() -> None:
    watch, vec = watched(REGISTRY["isis_osiris"])
    vec.obs[3, 0] = 100
    with pytest.raises(AssertionError, match="outside its space"):
        watch.look(vec)


def test_an_empty_mask_is_found() -> None:
    watch, vec = watched(REGISTRY["iso"])
    vec.action_mask[2] = 0
    with pytest.raises(AssertionError, match="no legal action"):
        watch.look(vec)


def test_followed_games_are_the_same_again_and_another_oracle_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = Setting(REGISTRY["isis_osiris"], {})
    watch = soak.Watch(setting)
    digests = []
    for _ in range(2):
        seen = hashlib.sha256()
        assert soak.followed_games(setting, watch, ["random", "greedy"], 5, seen) > 100
        digests.append(seen.digest())
    assert digests[0] == digests[1]
    oracle = setting.oracle
    monkeypatch.setattr(setting, "oracle", lambda deal: oracle(list(np.array(deal)[::-1])), raising=False)
    with pytest.raises(AssertionError, match=r"oracle's|points|reward|mask"):
        soak.followed_games(setting, watch, ["random"], 5, hashlib.sha256())


def test_the_page_says_what_the_published_hour_found() -> None:
    found = json.loads((ROOT / "tests" / "soak.json").read_text(encoding="utf-8"))
    page = " ".join((ROOT / "docs" / "mutation.md").read_text(encoding="utf-8").split())
    assert found["seconds"] >= 3600
    assert found["settings"] == sum(1 for game in GAMES for _ in settings_of(game))
    assert f"{found['followed_games']:,} games followed over {found['followed_plies']:,} plies" in page
    assert f"{found['settings']} settings, " in page
    assert f"{found['random_steps']:,} random steps, no deviation" in page
    memory = found["memory_mb"]
    assert f"{memory['after_the_first_round']} MB after the first round, {memory['end']} MB at the end" in page
    assert memory["end"] < memory["after_the_first_round"] + 16
