"""ISO drawn: the perspectives are those of the rules, walls lie as the tile file says, the torus is unrolled."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import iszoo
from iszoo.envs.aec import GameEnv
from iszoo.envs.drawing import iso as iso_drawing
from iszoo.envs.drawing.canvas import Canvas
from iszoo.envs.drawing.iso_blocks import PAINT, block, facing, on_table
from iszoo.envs.drawing.position import Position
from iszoo.envs.iso import FACES, SIDE, TURNED, UNITED
from iszoo.envs.iso_tiles import MOST_TILES, load
from tests.envs.drawing.svgs import SVG, clickable, drawn, parsed, targets, texts
from tests.helpers import Setting, play

GAME = iszoo.REGISTRY["iso"]
WAYS = ((1, 0), (0, 1), (-1, -1))  # e_x, e_y, e_z
# As the rules have it: along axes x, y, z the steps to the right and up.
STEPS = ((1, 2), (2, 0), (0, 1))


def started(**options: object) -> GameEnv:
    return Setting(GAME, options).started(0)


@pytest.mark.parametrize("axis", range(3))
def test_a_perspective_is_that_of_the_rules_up_to_a_turn(axis: int) -> None:
    right, up = (np.array(facing(axis, WAYS[step])) for step in STEPS[axis])
    assert abs(right).sum() == abs(up).sum() == 1
    assert right[0] * up[1] - right[1] * up[0] == 1  # a turn, no mirror
    for (x, y), sign in itertools.product(WAYS, (1, -1)):
        united = (int(UNITED[((sign * x) % SIDE) * SIDE + (sign * y) % SIDE]) >> (MOST_TILES * axis)) & 1
        assert (abs(np.array(facing(axis, (sign * x, sign * y)))).sum() == 1) == bool(united)


def test_the_table_is_a_lattice_of_hexagons() -> None:
    for x, y in WAYS:
        assert np.hypot(*on_table((x, y))) == pytest.approx(3**0.5, abs=1e-3)
    angles = [np.degrees(np.arctan2(-y, x)) for x, y in map(on_table, WAYS)]
    assert [(after - before) % 360 for before, after in itertools.pairwise(angles)] == pytest.approx(
        [120, 120], abs=0.1
    )


@pytest.mark.parametrize("rotation", range(3))
def test_walls_lie_as_the_tile_file_says(rotation: int) -> None:
    params = GAME.params({})
    for number, walls in enumerate(load(None).blocks, start=1):
        canvas = Canvas(10, "")
        block(canvas, (5, 5), 5, int(TURNED[rotation, params[FACES + number]]))
        drawn_walls = list(parsed(canvas.to_svg(10)).iter(f"{SVG}g"))
        fills = [wall[0].attrib["fill"] for wall in drawn_walls]
        assert fills == [PAINT[walls[(axis - rotation) % 3][0]] for axis in range(3)]
        # x on the left, y on the right, z on top: the middle of each wall, from the middle of the cube
        middles = []
        for wall in drawn_walls:
            a, b, c, d, e, f = map(float, wall.attrib["transform"][7:-1].split())
            middles.append((e + 50 * (a + c) - 5, f + 50 * (b + d) - 5))
            assert a * d - b * c < 0  # a wall is seen from outside: right, then up, counter-clockwise
        assert middles[0][0] < -1 < 1 < middles[1][0]
        assert middles[2] == pytest.approx((0, -2.5), abs=0.01)


def test_a_line_across_the_edge_of_the_torus() -> None:
    for dx, dy in ((1, 0), (0, 1), (-1, -1), (1, 1)):
        env = started(mode="area_control")
        for step in range(14):
            x, y = (8 + dx * step) % SIDE, (8 + dy * step) % SIDE
            env.step(next(a for a in env.legal_actions() if a % 256 == 16 * x + y))
            position = Position(env.game, env._rows[0], env.options)
            spots = list(iso_drawing._placed(position))
            assert spots == [(8 + dx * k, 8 + dy * k) for k in range(step + 1)]
            free = iso_drawing._free(position, dict.fromkeys(spots, 0))
            assert len(set(free.values()) - set(spots)) == len(free) == len({a % 256 for a in env.legal_actions()})


def test_every_tile_is_in_each_perspective() -> None:
    env = play(started(num_players=3), most=9)
    placed = [group.attrib.get("transform", "") for group in parsed(drawn(env, seat=0)).iter(f"{SVG}g")]
    walls = [transform for transform in placed if "scale" in transform]
    cubes = [transform for transform in placed if "matrix" in transform]
    objectives = sum(
        len(objective.cells) or objective.size
        for number, objective in enumerate(load(None).objectives)
        if (int(env._rows[0].view(GAME.row)[0]["display"]) >> number) & 1
    )
    slots = int((env._rows[0].view(GAME.row)[0]["slot_number"] > 0).sum())
    assert len(walls) == 3 * 9 + objectives
    assert len(cubes) == 3 * (9 + 3 * slots)


def test_the_numbers_of_tiles_are_for_who_sees_all() -> None:
    env = play(started(), most=4)
    assert any(text.startswith("tile ") for text in texts(drawn(env)))
    for seat in (0, 1):
        assert not any(text.startswith("tile ") for text in texts(drawn(env, seat=seat)))
        assert "pile" not in texts(drawn(env, seat=seat))


def test_targets_and_what_is_clicked() -> None:
    env = started()
    assert targets(env)[env.string_to_action("2.1@8,8")] == ("slot-2-1", "cell-136")
    assert clickable(drawn(env)) == {"cell-136"} | {f"slot-{s}-{r}" for s in range(3) for r in range(3)}


def test_the_status_of_each_mode() -> None:
    assert texts(drawn(started()))[0] == "Black to place a tile"
    env = play(started(mode="solo"))
    stars = env.scores()[0]
    assert texts(drawn(env))[0].startswith(f"The end: {stars} star")
    env = play(started(mode="coop", num_players=3))
    assert "together" in texts(drawn(env))
    env = play(started(num_players=3))
    assert "win" in texts(drawn(env))[0]
