"""Files of ISO's tiles: what is refused, and that games with different files don't get in each other's way."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo.envs import iso
from iszoo.envs.iso import GAME
from iszoo.envs.iso_tiles import PACKAGED, load
from tests.helpers import run_python, scaled
from tests.oracle.iso import Oracle, random_deal

# Every kind of thing that can differ: numbers in another order, faces, rotations, stars, sizes, figures.
OTHER = {
    '{ number = 2,  walls = [["pink", "black"], ["yellow", "void"], ["blue", "white"]] }': (
        '{ number = 2,  walls = [["yellow", "white"], ["blue", "void"], ["pink", "black"]] }'
    ),
    '{ number = 4,  walls = [["pink", "white"], ["yellow", "void"], ["blue", "black"]] }': (
        '{ number = 4,  walls = [["blue", "void"], ["pink", "black"], ["yellow", "white"]] }'
    ),
    "number = 1,  stars = 1": "number = 1,  stars = 5",
    'cells = [[0, 0, "white", false], [1, 0, "white", false], [2, 0, "white", false]] }': (
        'cells = [[3, 3, "white", false], [3, 4, "white", false]] }'
    ),
    'cells = [[0, 0, "white", false], [1, 0, "white", false], [2, 0, "white", false], [2, 1, "white", false]] }': (
        'cells = [[0, 0, "white", false], [1, 0, "blue", false], [2, 0, "white", true], [2, 1, "pink", false],'
        ' [2, 2, "white", false]] }'
    ),
    'colour = "pink", size = 3': 'colour = "yellow", size = 2',
    'colour = "white", size = 5': 'colour = "white", size = 4',
}  # fmt: skip


def written(path: Path, changes: Mapping[str, str]) -> str:
    """A copy of the packaged file with some text replaced."""
    text = PACKAGED.read_text(encoding="utf-8")
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture
def other(tmp_path: Path) -> str:
    return written(tmp_path / "other.toml", OTHER)


# --- Two files ---


def test_two_files_in_one_process(other: str) -> None:
    """Two games side by side, ply by ply, each as the oracle plays it with that file."""
    rng = random.Random(0)
    envs = [iszoo.make("iso", tiles=path, observation="flat") for path in (None, other)]
    scores = [0, 0]
    for _ in range(scaled(40)):
        deal = random_deal(rng)
        games = [Oracle(deal, tiles=path) for path in (None, other)]
        for env in envs:
            env.reset(options={"deal": deal})
        while not all(game.is_over() for game in games):
            for env, game in zip(envs, games, strict=True):
                if game.is_over():
                    continue
                move = rng.choice(game.legal_actions())
                env.step(move)
                game.step(move)
                assert env.legal_actions() == game.legal_actions()
                board, features = game.observe(0)
                assert np.array_equal(env.observe("player_0")["observation"], [*board, *features])
        for k, (env, game) in enumerate(zip(envs, games, strict=True)):
            assert env.scores() == game.scores()
            scores[k] += sum(game.scores())
    assert scores[0] != scores[1]


PLAY = """
import hashlib, sys
import iszoo
for path in sys.argv[1:]:
    vec = iszoo.make_vec("iso", 4, seed=0, tiles=None if path == "packaged" else path)
    vec.random_steps(20)
    print(hashlib.sha256(vec.obs.tobytes() + vec.rows.tobytes()).hexdigest())
"""


def test_two_files_from_a_warm_cache(other: str) -> None:
    """What one file left in numba's cache doesn't answer for the other."""
    expected = []
    for path in (None, other):
        vec = iszoo.make_vec("iso", 4, seed=0, tiles=path)
        vec.random_steps(20)
        expected.append(hashlib.sha256(vec.obs.tobytes() + vec.rows.tobytes()).hexdigest())
    assert expected[0] != expected[1]
    for order in ([0, 1], [1, 0]):
        paths = ["packaged" if k == 0 else other for k in order]
        assert run_python(PLAY, *paths).splitlines() == [expected[k] for k in order]


def test_a_state_of_another_file_is_refused(other: str) -> None:
    one, two = iszoo.make("iso"), iszoo.make("iso", tiles=other)
    for env in (one, two):
        env.reset(seed=0)
    with pytest.raises(ValueError, match="other options or tables"):
        two.set_state(one.get_state())


def test_a_copy_of_the_packaged_file_plays_the_same(tmp_path: Path) -> None:
    copied = written(tmp_path / "copy.toml", {})
    assert np.array_equal(GAME.params({"tiles": copied}), GAME.params({}))
    assert np.array_equal(GAME.params({"tiles": Path(copied)}), GAME.params({}))


def test_the_path_counts_from_where_it_was_given(other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    env = iszoo.make("iso", tiles="other.toml")
    monkeypatch.chdir("/")
    assert env.options["tiles"] == other
    assert np.array_equal(GAME.params(env.options), GAME.params({"tiles": other}))


def test_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    path = written(tmp_path / "tiles.toml", {})
    before = load(path)
    written(tmp_path / "tiles.toml", {"number = 1,  stars = 1": "number = 1,  stars = 4"})
    assert before.objectives[0].stars == 1
    assert load(path).objectives[0].stars == 4


def test_faces_that_are_the_same_up_to_rotation_are_twins(other: str) -> None:
    """In this file 1, 2, 4 and 13 are, in three rotations: a player can't know which is which."""
    params = GAME.params({"tiles": other})
    env = iszoo.make("iso", tiles=other, observation="flat")
    env.reset(options={"deal": [18, 17, 16, 2, 3, 5, 4, 1, *range(6, 16)]})
    seen = set()
    for seed in range(200):
        twin = env.clone()
        iso.resample(twin._rows, 0, 0, seed, params)
        assert np.array_equal(twin.observe("player_1")["observation"], env.observe("player_1")["observation"])
        seen.add(int(twin._rows.view(GAME.row)[0, 0]["slot_number"][0]))
    assert seen == {1, 2, 4, 13}


# --- What is refused ---

WALLS_7 = 'walls = [["pink", "black"], ["blue", "void"], ["yellow", "white"]]'
CELLS_15 = 'cells = [[0, 0, "white", false], [1, 0, "yellow", true], [2, 0, "white", false]]'
AREA_10 = 'number = 10, stars = 2, kind = "area", colour = "pink", size = 3'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (WALLS_7, WALLS_7.replace("blue", "pink"), "tile 7, block: its three colours differ"),
        (WALLS_7, WALLS_7.replace("void", "black"), "tile 7, block: its three indicators differ"),
        (WALLS_7, WALLS_7.replace("blue", "green"), "tile 7, block: the colour .* pink, yellow, blue, not 'green'"),
        (WALLS_7, WALLS_7.replace("blue", "white"), "tile 7, block: the colour .* not 'white'"),
        (WALLS_7, WALLS_7.replace("void", "grey"), "tile 7, block: the indicator .* black, white, void, not 'grey'"),
        (WALLS_7, 'walls = [["pink", "black"], ["blue", "void"]]', "tile 7, block: it has three walls"),
        (WALLS_7, WALLS_7.replace('"blue", "void"', '"blue"'), r"tile 7, block: a wall is \[colour, indicator\]"),
        (WALLS_7, "walls = 3", "tile 7, block: it has three walls"),
        (WALLS_7, WALLS_7.replace("walls", "wals"), "tile 7, block: 'walls' is missing"),
        (WALLS_7, WALLS_7 + ", stars = 1", "tile 7, block: 'stars' is not a key here; the keys are number, walls"),
        ("{ number = 7,  walls", "{ number = 6,  walls", "tile 6 is twice among the blocks"),
        ("{ number = 7,  walls", "{ number = 19,  walls", "entry 7 of blocks: number is .* from 1 to 18, not 19"),
        ("{ number = 7,  walls", "{ walls", "entry 7 of blocks: number is .*, not None"),
        ("{ number = 7,  walls", "{ number = true, walls", "entry 7 of blocks: number is .*, not True"),
        ("number = 18, stars = 5", "number = 17, stars = 5", "tile 17 is twice among the objectives"),
        ("number = 18, stars = 5", "number = 18, stars = 0", "tile 18, objective: stars is .* from 1 to 5, not 0"),
        ("number = 18, stars = 5", "number = 18, stars = 6", "tile 18, objective: stars is .*, not 6"),
        ("number = 18, stars = 5", "number = 18, stars = 5.0", r"tile 18, objective: stars is .*, not 5\.0"),
        ("number = 18, stars = 5, kind", "number = 18, kind", "tile 18, objective: 'stars' is missing"),
        (AREA_10, AREA_10.replace("area", "aera"), "tile 10, objective: kind is one of figure, area, conditioned"),
        (AREA_10, AREA_10.replace("area", "figure"), "tile 10, objective: 'cells' is missing"),
        (AREA_10, AREA_10.replace("pink", "red"), "tile 10, objective: colour is one of .*, white, not 'red'"),
        (AREA_10, AREA_10.replace("size = 3", "size = 0"), "tile 10, objective: size is .* from 1 to 15, not 0"),
        (AREA_10, AREA_10.replace("size = 3", "size = 16"), "tile 10, objective: size is .*, not 16"),
        (AREA_10, AREA_10.replace(", size = 3", ""), "tile 10, objective: 'size' is missing"),
        (AREA_10, AREA_10 + ", cells = []", "tile 10, objective: 'cells' is not a key here"),
        (CELLS_15, "cells = []", "tile 15, objective: a figure has 1 to 5 walls"),
        (CELLS_15, CELLS_15 + ", size = 3", "tile 15, objective: 'size' is not a key here"),
        (CELLS_15, CELLS_15.replace("]]", ']' + "".join(f', [{u}, 0, "white", false]' for u in (3, 4, 5)) + "]"),
         "tile 15, objective: a figure has 1 to 5 walls"),
        (CELLS_15, CELLS_15.replace("[1, 0", "[0, 0"), "tile 15, objective: two walls of its figure are in one place"),
        (CELLS_15, CELLS_15.replace("[1, 0", "[1, 1"), "tile 15, objective: the walls .* not orthogonally united"),
        (CELLS_15, CELLS_15.replace("[1, 0", "[1.0, 0"), "tile 15, objective: a wall of a figure is .* whole u and v"),
        (CELLS_15, CELLS_15.replace("[1, 0", "[true, 0"), "tile 15, objective: a wall of a figure is .* whole u and v"),
        (CELLS_15, CELLS_15.replace('"yellow", true', '"yellow"'), "tile 15, objective: a wall of a figure is"),
        (CELLS_15, CELLS_15.replace("yellow", "green"), "tile 15, objective: the colour .*, white, not 'green'"),
        (CELLS_15, CELLS_15.replace("true", "1"), "tile 15, objective: a mark is true or false, not 1"),
        ("blocks = [", "block = [", "'blocks' is missing"),
        ('\nstatus = "reconstructed"', '\nstatu = "reconstructed"', "'statu' is not a key here"),
        ('\nstatus = "reconstructed"', "\nstatus = 3", "status is a text, not 3"),
        ("blocks = [", "blocks = [ 7,", "'blocks' is a list of tables"),
        ("blocks = [", "blocks = [ [", "is not a TOML file"),
    ],
)  # fmt: skip
def test_bad_files(old: str, new: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path / "tiles.toml", {old: new})
    with pytest.raises(ValueError, match=f"^tiles: .*tiles.toml.*{message}"):
        iszoo.make("iso", tiles=path)


def test_a_tile_too_few_and_too_many(tmp_path: Path) -> None:
    text = PACKAGED.read_text(encoding="utf-8")
    line = next(line for line in text.splitlines() if line.startswith("  { number = 7,  walls"))
    for changed, message in [("", "tile 7 is missing among the blocks"), (f"{line}\n{line}", "tile 7 is twice")]:
        path = written(tmp_path / "tiles.toml", {line: changed})
        with pytest.raises(ValueError, match=message):
            iszoo.make("iso", tiles=path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(ValueError, match=f"{path.name} can't be read: [A-Z]"):
            iszoo.make("iso", tiles=path)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"binary\.toml is not a TOML file"):
        iszoo.make("iso", tiles=binary)


@pytest.mark.parametrize("path", [3, b"tiles.toml", ["tiles.toml"], True])
def test_what_is_no_path(path: Any) -> None:
    with pytest.raises(ValueError, match="is not allowed; it is the path of a file, or None"):
        iszoo.make("iso", tiles=path)


def test_area_control_needs_areas(tmp_path: Path) -> None:
    figure = 'number = 10, stars = 2, kind = "figure", cells = [[0, 0, "white", false]]'
    path = written(tmp_path / "tiles.toml", {AREA_10: figure})
    iszoo.make("iso", tiles=path)
    with pytest.raises(ValueError, match="tile 10, objective: mode='area_control' needs an area there"):
        iszoo.make("iso", tiles=path, mode="area_control")


def test_the_packaged_file_is_marked_as_reconstructed() -> None:
    assert 'status = "reconstructed"' in PACKAGED.read_text(encoding="utf-8")
    stars = [objective.stars for objective in load(None).objectives]
    assert stars == [1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5]
