"""Isaac drawn: the pieces of the text board, each player's view, the last action, where the counter goes."""

from __future__ import annotations

import random

import iszoo
from iszoo.envs.aec import GameEnv
from iszoo.envs.drawing.isaac_board import cells_of, last_piece, pieces_on
from iszoo.envs.drawing.position import Position
from iszoo.envs.isaac import LENGTHS, TARGETS, VALUES, WIN
from tests.envs.drawing.svgs import SVG, clickable, drawn, parsed, targets, texts
from tests.helpers import Setting, scaled, settings_of

GAME = iszoo.REGISTRY["isaac"]
TABLE = Setting(GAME, {"pieces": "table"})


def position_of(env: GameEnv, last: int | None = None) -> Position:
    return Position(env.game, env._rows[0], env.options, last=last)


def on_text_board(env: GameEnv) -> set[tuple[int, int, bool, int]]:
    """Owner, value, whether it is upright, cell: of every cell of every piece on the text board."""
    found = set()
    for line in env.game.text(env._rows[0], env.options).splitlines()[:10]:
        for units in range(10):
            piece = line[3 + 5 * units : 6 + 5 * units]
            if piece.strip(" ."):
                owner = "dl".index(piece[0].lower())
                found.add((owner, int(piece[1]), piece[2] == "|", 10 * int(line[0]) + units))
    return found


def test_the_pieces_are_those_of_the_text_board() -> None:
    for setting in settings_of(GAME):
        env = setting.started(1)
        rng = random.Random(1)
        for _ in range(scaled(40)):
            if not env.legal_actions():
                break
            env.step(rng.choice(env.legal_actions()))
            pieces = list(pieces_on(position_of(env)))
            shown = {(p.owner, VALUES[p.kind], p.upright, cell) for p in pieces for cell in p.cells}
            assert shown == on_text_board(env)
            # One label each, but for a piece that counters cover.
            groups = {f"piece-{min(p.cells)}" for p in pieces}
            assert {name for name in clickable(drawn(env)) if name.startswith("piece-")} == groups


def test_the_last_piece_is_that_of_who_acted() -> None:
    """Whatever can be told: the exceptions are positions in which either may have acted."""
    wrong = seen = 0
    for setting in settings_of(GAME):
        lengths = LENGTHS[str(setting.options["pieces"])]
        for seed in range(scaled(6)):
            env = setting.started(seed)
            rng = random.Random(seed)
            while legal := env.legal_actions():
                actor, action = env._player, rng.choice(legal)
                assert actor is not None
                env.step(action)
                position = position_of(env, action)
                moved = last_piece(position, list(pieces_on(position)))
                if action >= TARGETS:
                    assert moved is None
                    continue
                assert moved is not None
                seen += 1
                wrong += moved.owner != actor
                if moved.owner == actor:
                    assert set(moved.cells) == set(cells_of(action, actor, lengths))
    assert wrong <= seen / 50


def test_each_player_has_the_own_first_line_at_the_bottom() -> None:
    env = iszoo.make("isaac")
    env.reset()

    def corner(seat: int | None, name: str) -> tuple[float, float]:
        for element in parsed(drawn(env, seat=seat)).iter(f"{SVG}rect"):
            if element.attrib.get("data-target") == name:
                return float(element.attrib["x"]), float(element.attrib["y"])
        raise AssertionError(name)

    for seat in (None, 0):
        assert corner(seat, "cell-0") < corner(seat, "cell-9")
        assert corner(seat, "cell-0")[1] > corner(seat, "cell-90")[1]
    assert corner(1, "cell-99") == corner(0, "cell-0")
    assert corner(1, "cell-9") == corner(0, "cell-90")


def test_targets_of_placements() -> None:
    env = iszoo.make("isaac")
    env.reset()
    found = targets(env)
    assert found[env.string_to_action("3c04")] == ("reserve-2", "cell-4", "cell-44")
    assert found[env.string_to_action("1r97")] == ("reserve-0", "cell-97", "cell-99")
    env.step(env.string_to_action("1r97"))
    # Light's 04 is Dark's 95; Light's 44 Dark's 55.
    assert targets(env)[env.string_to_action("3c04")] == ("reserve-2", "cell-95", "cell-55")


def test_targets_of_pieces_of_one_cell() -> None:
    env = TABLE.started()
    found = targets(env)
    assert found[env.string_to_action("1r34")] == ("reserve-0", "cell-34", "row-3")
    assert found[env.string_to_action("1c34")] == ("reserve-0", "cell-34", "column-4")
    env.step(env.string_to_action("1r34"))
    assert targets(env)[env.string_to_action("1c00")] == ("reserve-0", "cell-99", "column-9")


def in_counter_phase(env: GameEnv, gain: int, score: int) -> GameEnv:
    """A position in which Dark may move the counter from a score by a gain."""
    vec = iszoo.make_vec("isaac", 1, seed=0)
    row = vec.rows[0].copy()
    fields = row.view(GAME.row)[0]
    fields["phase"], fields["gain"] = 2, gain
    fields["score"] = score, 20
    env.reset()
    env._rows[0] = row
    env.set_state(env.get_state())
    return env


def test_the_counter_that_can_reach_a_hundred() -> None:
    env = in_counter_phase(iszoo.make("isaac"), 6, 95)
    found = targets(env)
    assert found == {**{TARGETS + t: (f"cell-{t}",) for t in range(95, 100)}, TARGETS + WIN: ("win",)}
    assert "win" in clickable(drawn(env))
    assert "to 100" in texts(drawn(env))
    assert "to 100 80%" in texts(drawn(env, overlay={TARGETS + WIN: 4, TARGETS + 97: 1}))
    env.step(TARGETS + WIN)
    assert texts(drawn(env))[0] == "Dark wins, 100 : 20"


def test_the_status() -> None:
    env = iszoo.make("isaac")
    env.reset()
    assert texts(drawn(env))[0] == "Dark to place a piece"
    env.step(0)
    assert texts(drawn(env))[0] == "Light to place a piece"
    assert texts(drawn(in_counter_phase(env, 6, 10)))[0] == "Dark to move the counter by 0 to 6"
