"""Tests of Isaac's oracle by itself: the vectors and the sentences of the rules text, on hand-made positions.

A piece is written (owner, type, orientation, lowest cell in its owner's frame); Dark is 0, Light is 1.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.oracle.isaac import Oracle

DARK, LIGHT = 0, 1
ROW, COLUMN = 0, 1
CELLS = {"standard": (3, 4, 5, 6, 7), "table": (1, 2, 3, 4, 6)}
VALUES = (1, 2, 3, 4, 6)
NONE = (0, 0, 0, 0, 0)

PieceEntry = tuple[int, int, int, int]


def slot(kind: int, orientation: int, cell: int) -> int:
    """The action id of a slot."""
    return (2 * kind + orientation) * 100 + cell


def targets(first: int, last: int) -> list[int]:
    """The action ids of all targets from the first to the last."""
    return [1000 + t for t in range(first, last + 1)]


def planes(game: Oracle, player: int) -> dict[int, list[int]]:
    """The non-empty planes of the observer's board: plane -> its cells."""
    board, _ = game.observe(player)
    assert len(board) == 1500
    assert set(board) <= {0, 1}
    found: dict[int, list[int]] = {}
    for index, value in enumerate(board):
        if value:
            found.setdefault(index // 100, []).append(index % 100)
    return found


def features(game: Oracle, player: int) -> list[int]:
    """The 20 features that the player sees."""
    _, values = game.observe(player)
    assert len(values) == 20
    return values


def phase(game: Oracle) -> str:
    """What both players see of the phase."""
    one_hot = features(game, DARK)[10:13]
    assert features(game, LIGHT)[10:13] == one_hot
    assert sorted(one_hot) == [0, 0, 1]
    return ("place", "remove", "counter")[one_hot.index(1)]


def seen(game: Oracle) -> tuple[object, ...]:
    """All that the interface shows of a position."""
    return (
        game.player_to_move(),
        game.legal_actions(),
        game.observe(DARK),
        game.observe(LIGHT),
        game.scores(),
        game.returns("outcome"),
        game.returns("margin"),
    )


# ---- construction and options


def test_two_players_and_dark_starts() -> None:
    game = Oracle()
    assert game.num_players == 2
    assert game.player_to_move() == DARK
    assert phase(game) == "place"


def test_standard_and_dark_are_the_defaults() -> None:
    assert seen(Oracle()) == seen(Oracle(pieces="standard"))
    assert seen(Oracle()) != seen(Oracle(pieces="table"))
    assert Oracle.from_position(out=(True, True)).returns() == [1.0, -1.0]


def test_an_empty_deal_is_accepted() -> None:
    assert seen(Oracle(deal=[])) == seen(Oracle(deal=None)) == seen(Oracle())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"deal": [0]}, "no chance"),
        ({"deal": (3, 1)}, "no chance"),
        ({"pieces": "long"}, "standard.*table"),
        ({"pieces": None}, "standard.*table"),
        ({"tiebreak": "light"}, "dark.*shared"),
        ({"tiebreak": ["dark"]}, "dark.*shared"),
        ({"colour": "red"}, "colour.*pieces.*tiebreak"),
        ({"phase": "place"}, "phase.*pieces.*tiebreak"),
    ],
)
def test_bad_deals_and_options(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Oracle(**arguments)


# ---- components and slots


@pytest.mark.parametrize(("pieces", "count"), [("standard", 600), ("table", 780)])
def test_legal_actions_at_the_start(pieces: str, count: int) -> None:
    """All slots whose piece stays on the board; a one-cell piece counts once per orientation."""
    game = Oracle(pieces=pieces)
    on_board = [
        slot(kind, orientation, 10 * tens + units)
        for kind in range(5)
        for orientation in (ROW, COLUMN)
        for tens in range(10)
        for units in range(10)
        if (units if orientation == ROW else tens) + CELLS[pieces][kind] <= 10
    ]
    assert len(on_board) == count
    assert game.legal_actions() == on_board


def test_edges_of_the_board_by_hand() -> None:
    legal = Oracle().legal_actions()
    assert slot(0, ROW, 7) in legal
    assert slot(0, ROW, 8) not in legal
    assert slot(0, COLUMN, 79) in legal
    assert slot(0, COLUMN, 80) not in legal
    assert slot(4, ROW, 93) in legal
    assert slot(4, ROW, 94) not in legal
    assert slot(4, COLUMN, 39) in legal
    assert slot(4, COLUMN, 40) not in legal


@pytest.mark.parametrize("player", [DARK, LIGHT])
def test_the_set_of_a_player(player: int) -> None:
    assert features(Oracle(), player)[:10] == [5, 4, 3, 2, 1, 5, 4, 3, 2, 1]
    assert features(Oracle(pieces="table"), player)[:10] == [5, 4, 3, 2, 1, 5, 4, 3, 2, 1]


@pytest.mark.parametrize("pieces", ["standard", "table"])
@pytest.mark.parametrize("kind", range(5))
def test_cells_of_each_type_along_a_row_and_along_a_column(pieces: str, kind: int) -> None:
    game = Oracle(pieces=pieces)
    game.step(slot(kind, ROW, 31))
    game.step(slot(kind, COLUMN, 0))
    length = CELLS[pieces][kind]
    row = [31 + i for i in range(length)]  # Dark's
    column = [10 * i for i in range(length)]  # Light's: units 0 is Dark's units 9
    dark_column = sorted(99 - cell for cell in column)
    assert planes(game, DARK) == {
        kind: row,
        5 + kind: dark_column,
        10: row,
        11: dark_column,
        12: sorted([31, dark_column[0]]),
    }
    assert planes(game, LIGHT)[kind] == column


def test_a_type_runs_out() -> None:
    game = Oracle()
    game.step(slot(4, ROW, 0))
    game.step(slot(4, ROW, 0))
    assert features(game, DARK)[:10] == [5, 4, 3, 2, 0, 5, 4, 3, 2, 0]
    assert max(game.legal_actions()) < slot(4, ROW, 0)
    game.step(slot(3, ROW, 10))
    assert features(game, DARK)[:10] == [5, 4, 3, 1, 0, 5, 4, 3, 2, 0]
    assert features(game, LIGHT)[:10] == [5, 4, 3, 2, 0, 5, 4, 3, 1, 0]
    game.step(slot(0, ROW, 10))
    assert slot(3, ROW, 20) in game.legal_actions()
    game.step(slot(3, ROW, 20))
    assert features(game, DARK)[:5] == [5, 4, 3, 0, 0]
    game.step(slot(0, ROW, 30))
    assert max(game.legal_actions()) < slot(3, ROW, 0)


# ---- frames


def test_actions_are_in_the_own_frame() -> None:
    game = Oracle()
    game.step(slot(0, ROW, 0))  # Dark's 00-02
    assert game.player_to_move() == LIGHT
    assert planes(game, DARK) == {0: [0, 1, 2], 10: [0, 1, 2], 12: [0]}
    assert planes(game, LIGHT) == {5: [97, 98, 99], 10: [97, 98, 99], 12: [97]}
    legal = game.legal_actions()
    assert slot(0, ROW, 0) in legal  # the same id, at Light's own left
    assert slot(0, ROW, 97) not in legal
    assert slot(0, ROW, 95) not in legal  # would cover Light's 97
    assert slot(0, ROW, 94) in legal
    assert slot(0, COLUMN, 77) not in legal  # would cover Light's 97
    assert slot(0, COLUMN, 67) in legal
    assert slot(0, COLUMN, 76) in legal
    # Gone are, for each of five lengths, the last three starts of a row and the last start of three columns.
    assert len(legal) == 600 - 5 * 3 - 5 * 3
    game.step(slot(1, COLUMN, 20))  # Light's 20, 30, 40, 50 = Dark's 79, 69, 59, 49
    assert game.player_to_move() == DARK
    assert planes(game, LIGHT) == {
        1: [20, 30, 40, 50],
        5: [97, 98, 99],
        10: [97, 98, 99],
        11: [20, 30, 40, 50],
        12: [20, 97],
    }
    assert planes(game, DARK) == {
        0: [0, 1, 2],
        6: [49, 59, 69, 79],
        10: [0, 1, 2],
        11: [49, 59, 69, 79],
        12: [0, 49],
    }
    assert slot(0, ROW, 47) not in game.legal_actions()
    assert slot(0, ROW, 46) in game.legal_actions()


def test_removals_are_in_the_own_frame() -> None:
    pieces = [(DARK, 1, COLUMN, 35), (LIGHT, 2, ROW, 20), (LIGHT, 0, COLUMN, 9)]
    dark = Oracle.from_position(pieces, player=DARK)
    assert dark.legal_actions() == [slot(1, COLUMN, 35)]
    light = Oracle.from_position(pieces, player=LIGHT)
    assert light.legal_actions() == [slot(0, COLUMN, 9), slot(2, ROW, 20)]


# ---- placement phase


def test_placement_goes_turn_by_turn_onto_free_cells() -> None:
    game = Oracle()
    for tens in range(3):
        assert game.player_to_move() == DARK
        game.step(slot(0, ROW, 10 * tens))
        assert game.player_to_move() == LIGHT
        game.step(slot(0, ROW, 10 * tens))
    assert planes(game, DARK)[0] == [0, 1, 2, 10, 11, 12, 20, 21, 22]
    assert planes(game, DARK)[5] == [77, 78, 79, 87, 88, 89, 97, 98, 99]
    assert slot(0, ROW, 10) not in game.legal_actions()


def test_a_column_blocks_rows_and_the_other_way() -> None:
    game = Oracle.from_position([(DARK, 2, COLUMN, 24), (LIGHT, 2, ROW, 24)], phase="place", player=DARK)
    legal = game.legal_actions()
    # Dark's own 24-64 along the column, Light's 24-28 = Dark's 71-75 along the row.
    assert slot(0, ROW, 22) not in legal
    assert slot(0, ROW, 21) in legal
    assert slot(0, ROW, 64) not in legal
    assert slot(0, ROW, 65) in legal
    assert slot(0, COLUMN, 55) not in legal
    assert slot(0, COLUMN, 45) in legal
    assert slot(0, COLUMN, 75) not in legal
    assert slot(0, COLUMN, 76) in legal


# Nine full rows, and the last one (Dark's tens 9) with 94, 95, 96 free.
NEARLY_FULL: list[PieceEntry] = [
    (DARK, 4, ROW, 0),
    (LIGHT, 0, ROW, 90),
    (LIGHT, 4, ROW, 83),
    (DARK, 0, ROW, 17),
    (DARK, 3, ROW, 20),
    (LIGHT, 1, ROW, 70),
    (DARK, 3, ROW, 30),
    (LIGHT, 1, ROW, 60),
    (LIGHT, 3, ROW, 54),
    (DARK, 1, ROW, 46),
    (LIGHT, 3, ROW, 44),
    (DARK, 1, ROW, 56),
    (DARK, 2, ROW, 60),
    (LIGHT, 2, ROW, 30),
    (DARK, 2, ROW, 70),
    (LIGHT, 2, ROW, 20),
    (DARK, 2, ROW, 80),
    (LIGHT, 2, ROW, 10),
    (DARK, 1, ROW, 90),
    (LIGHT, 0, ROW, 0),
]


def removals(pieces: list[PieceEntry], player: int) -> set[int]:
    """The action ids that name the player's pieces."""
    return {slot(kind, orientation, cell) for owner, kind, orientation, cell in pieces if owner == player}


@pytest.mark.parametrize(("last", "action"), [(DARK, slot(0, ROW, 94)), (LIGHT, slot(0, ROW, 3))])
def test_both_pass_at_the_same_time(last: int, action: int) -> None:
    """After the last piece nobody has room. The next on turn passes first, so starts the scoring phase."""
    game = Oracle.from_position(NEARLY_FULL, phase="place", player=last)
    assert game.player_to_move() == last
    assert game.legal_actions() == [action]
    game.step(action)
    first = 1 - last
    assert game.player_to_move() == first
    assert phase(game) == "remove"
    # Both counters stand on their owner's 00, on top of a piece each: these two pieces cannot be removed.
    assert planes(game, DARK)[13] == [0]
    assert planes(game, DARK)[14] == [99]
    assert planes(game, LIGHT)[13] == [0]
    assert planes(game, LIGHT)[14] == [99]
    under_counter = {DARK: slot(4, ROW, 0), LIGHT: slot(0, ROW, 0)}[first]
    assert set(game.legal_actions()) == removals(NEARLY_FULL, first) - {under_counter}
    unplayed = {DARK: [3, 1, 0, 0, 0, 3, 2, 0, 0, 0], LIGHT: [4, 1, 0, 0, 0, 2, 2, 0, 0, 0]}[last]
    assert features(game, DARK)[:10] == unplayed


@pytest.mark.parametrize(
    ("blocked", "unplayed", "action"),
    [
        (DARK, ([0, 1, 0, 0, 0], [3, 2, 0, 0, 0]), slot(0, ROW, 3)),
        (LIGHT, ([4, 1, 0, 0, 0], [0, 2, 0, 0, 0]), slot(0, ROW, 94)),
    ],
)
def test_a_pass_for_want_of_room(blocked: int, unplayed: tuple[list[int], list[int]], action: int) -> None:
    """Four cells do not fit into three: the other goes on, and the one who passed starts the scoring."""
    game = Oracle.from_position(NEARLY_FULL, phase="place", player=blocked, unplayed=unplayed)
    assert phase(game) == "place"
    assert game.player_to_move() == 1 - blocked
    assert game.legal_actions() == [action]
    game.step(action)
    assert phase(game) == "remove"
    assert game.player_to_move() == blocked


@pytest.mark.parametrize("passing", [DARK, LIGHT])
def test_passes_for_want_of_pieces(passing: int) -> None:
    """The other places several pieces in a row; the first who passed starts the scoring phase."""
    other = 1 - passing
    unplayed = [[0] * 5, [0] * 5]
    unplayed[passing] = [1, 0, 0, 0, 0]
    unplayed[other] = [2, 0, 1, 0, 1]
    game = Oracle.from_position([], phase="place", player=passing, unplayed=unplayed)
    game.step(slot(0, ROW, 50))  # the last piece
    for action in (slot(0, ROW, 1), slot(4, COLUMN, 0), slot(2, ROW, 21)):
        assert game.player_to_move() == other
        assert phase(game) == "place"
        game.step(action)
    assert game.player_to_move() == other
    game.step(slot(0, COLUMN, 9))
    assert game.player_to_move() == passing
    assert phase(game) == "remove"
    assert game.legal_actions() == [slot(0, ROW, 50)]
    assert features(game, DARK)[:10] == [0] * 10


def test_who_passed_first_starts_and_not_always_dark() -> None:
    """Light places last, after Dark's pass: Dark starts. And the other way round."""
    dark_short = Oracle.from_position([], phase="place", player=DARK, unplayed=([1, 0, 0, 0, 0], [2, 0, 0, 0, 0]))
    for action in (slot(0, ROW, 30), slot(0, ROW, 30), slot(0, ROW, 20)):
        dark_short.step(action)
    assert (phase(dark_short), dark_short.player_to_move()) == ("remove", DARK)
    light_short = Oracle.from_position([], phase="place", player=DARK, unplayed=([2, 0, 0, 0, 0], [1, 0, 0, 0, 0]))
    for action in (slot(0, ROW, 30), slot(0, ROW, 30), slot(0, ROW, 20)):
        light_short.step(action)
    assert (phase(light_short), light_short.player_to_move()) == ("remove", LIGHT)


def test_placing_is_compulsory() -> None:
    """There is no pass action: every legal action of the placement phase places a piece."""
    game = Oracle.from_position(NEARLY_FULL, phase="place", player=DARK)
    assert game.legal_actions() == [slot(0, ROW, 94)]
    before = seen(game)
    for action in (1000, 1100):
        with pytest.raises(ValueError, match="illegal action"):
            game.step(action)
    assert seen(game) == before


def test_counters_have_no_effect_in_the_placement_phase() -> None:
    game = Oracle()
    assert slot(0, ROW, 0) in game.legal_actions()
    assert slot(0, ROW, 97) in game.legal_actions()
    assert planes(game, DARK) == {}
    assert planes(game, LIGHT) == {}
    game.step(slot(0, ROW, 97))  # over Light's 00
    assert slot(0, ROW, 97) in game.legal_actions()  # over Dark's 00
    game.step(slot(0, ROW, 97))
    assert planes(game, DARK) == {0: [97, 98, 99], 5: [0, 1, 2], 10: [0, 1, 2, 97, 98, 99], 12: [0, 97]}
    assert game.scores() == [0, 0]


# ---- scoring phase: removing


@pytest.mark.parametrize(
    ("scores", "blocked"),
    [
        ((0, 0), set()),
        ((40, 0), {slot(0, ROW, 40)}),  # own counter, lowest cell
        ((41, 0), {slot(0, ROW, 40)}),  # middle
        ((42, 0), {slot(0, ROW, 40)}),  # highest cell
        ((43, 0), set()),
        ((39, 0), set()),
        ((0, 59), {slot(0, ROW, 40)}),  # Light's 59 = Dark's 40
        ((0, 57), {slot(0, ROW, 40)}),
        ((0, 56), set()),
        ((0, 14), {slot(1, COLUMN, 55)}),  # Light's 14 = Dark's 85
        ((55, 58), {slot(0, ROW, 40), slot(1, COLUMN, 55)}),
        ((75, 34), {slot(1, COLUMN, 55)}),  # both counters on one piece
        ((20, 0), set()),  # on a piece of Light's
    ],
)
def test_a_piece_under_a_counter_of_either_colour_stays(scores: tuple[int, int], blocked: set[int]) -> None:
    pieces = [(DARK, 0, ROW, 40), (DARK, 1, COLUMN, 55), (DARK, 4, ROW, 10), (LIGHT, 2, ROW, 75)]
    everything = {slot(0, ROW, 40), slot(1, COLUMN, 55), slot(4, ROW, 10)}
    game = Oracle.from_position(pieces, player=DARK, scores=scores)
    assert game.legal_actions() == sorted(everything - blocked)


def test_light_under_a_counter() -> None:
    pieces = [(LIGHT, 0, ROW, 40), (LIGHT, 1, COLUMN, 55), (DARK, 2, ROW, 0)]
    own = Oracle.from_position(pieces, player=LIGHT, scores=(0, 65))
    assert own.legal_actions() == [slot(0, ROW, 40)]
    darks = Oracle.from_position(pieces, player=LIGHT, scores=(58, 0))  # Light's 41
    assert darks.legal_actions() == [slot(1, COLUMN, 55)]


@pytest.mark.parametrize(
    ("longest", "kinds"),
    [(0, [0, 1, 2, 3, 4]), (3, [0, 1, 2, 3, 4]), (4, [1, 2, 3, 4]), (5, [2, 3, 4]), (6, [3, 4]), (7, [4])],
)
@pytest.mark.parametrize("player", [DARK, LIGHT])
def test_at_least_as_long_as_every_own_piece_removed_before(player: int, longest: int, kinds: list[int]) -> None:
    pieces = [(player, kind, ROW, 20 + 10 * kind) for kind in range(5)]
    lengths = [7, 7]  # the other's removals are no bar
    lengths[player] = longest
    game = Oracle.from_position(pieces, player=player, longest=lengths)
    assert game.legal_actions() == [slot(kind, ROW, 20 + 10 * kind) for kind in kinds]


def test_removals_bar_shorter_pieces_from_then_on() -> None:
    pieces = [(DARK, kind, ROW, 20 + 10 * kind) for kind in range(5)] + [(DARK, 1, ROW, 36)]
    pieces += [(LIGHT, kind, ROW, 1 + 10 * kind) for kind in range(2)]
    game = Oracle.from_position(pieces, player=DARK)
    game.step(slot(1, ROW, 30))  # one piece left on the row: the turn goes on
    assert phase(game) == "counter"
    game.step(1000)
    assert game.legal_actions() == [slot(0, ROW, 1), slot(1, ROW, 11)]  # Light's own list, no bar
    assert features(game, DARK)[14:16] == [4, 0]
    assert features(game, LIGHT)[14:16] == [0, 4]
    game.step(slot(1, ROW, 11))
    assert game.player_to_move() == DARK
    assert game.legal_actions() == [slot(1, ROW, 36), slot(2, ROW, 40), slot(3, ROW, 50), slot(4, ROW, 60)]
    game.step(slot(4, ROW, 60))  # Light has only a shorter piece left: out
    assert features(game, DARK)[14:18] == [7, 4, 1, 1]
    assert game.player_to_move() == -1


# ---- scoring phase: gains


@pytest.mark.parametrize("pieces", ["standard", "table"])
@pytest.mark.parametrize("kind", range(5))
@pytest.mark.parametrize("orientation", [ROW, COLUMN])
@pytest.mark.parametrize("player", [DARK, LIGHT])
def test_value_of_each_type(pieces: str, kind: int, orientation: int, player: int) -> None:
    """One piece crosses the line at its far end, away from the removed piece; no counter is on the line."""
    if orientation == ROW:
        entries = [(player, kind, ROW, 40), (player, 0, COLUMN, 49), (player, 0, ROW, 50)]
    else:
        entries = [(player, kind, COLUMN, 4), (player, 0, ROW, 94), (player, 0, COLUMN, 5)]
    game = Oracle.from_position(entries, player=player, pieces=pieces)
    game.step(entries[0][1] * 200 + orientation * 100 + entries[0][3])
    assert game.player_to_move() == player
    assert game.legal_actions() == targets(0, VALUES[kind])
    assert features(game, player)[13] == VALUES[kind]


LINE: list[PieceEntry] = [
    (DARK, 1, ROW, 40),  # removed: Dark's 40-43
    (LIGHT, 0, ROW, 53),  # along the line: Dark's 44-46, three cells and yet one piece
    (DARK, 1, COLUMN, 17),  # across: Dark's 17-47
    (DARK, 0, COLUMN, 49),  # across: Dark's 49-69
    (DARK, 0, ROW, 50),  # the row beside
    (LIGHT, 0, COLUMN, 66),  # Dark's 13, 23, 33: stops short of the line
]


@pytest.mark.parametrize(
    ("scores", "gain"),
    [
        ((0, 0), 6),
        ((48, 0), 12),  # the own counter on the line
        ((0, 51), 12),  # the opponent's: Light's 51 = Dark's 48
        ((0, 52), 12),  # the opponent's, on top of a piece that is counted
        ((48, 52), 24),  # both
        ((48, 53), 24),
        ((58, 0), 6),  # a row beside
        ((0, 61), 6),
    ],
)
def test_gain_counts_pieces_of_both_colours_and_doubles_for_each_counter(scores: tuple[int, int], gain: int) -> None:
    game = Oracle.from_position(LINE, player=DARK, scores=scores, unplayed=([1] * 5, [1] * 5))
    game.step(slot(1, ROW, 40))
    assert features(game, DARK)[13] == gain
    assert features(game, LIGHT)[13] == gain
    assert game.legal_actions() == targets(scores[0], scores[0] + gain)


def test_the_counters_of_cell_00_double_too() -> None:
    pieces = [(DARK, 0, ROW, 3), (DARK, 0, ROW, 7), (LIGHT, 0, COLUMN, 65)]  # Light's 65-85 = Dark's 34-14
    game = Oracle.from_position(pieces, player=DARK)
    game.step(slot(0, ROW, 3))
    assert features(game, DARK)[13] == 2
    assert game.legal_actions() == targets(0, 2)
    # A column with both: Dark's 00 and, at score 9, Light's counter on Dark's 90.
    pieces = [(DARK, 0, COLUMN, 30), (DARK, 0, ROW, 60)]
    game = Oracle.from_position(pieces, player=DARK, scores=(0, 9))
    game.step(slot(0, COLUMN, 30))
    assert features(game, DARK)[13] == 4


def test_the_line_follows_the_orientation() -> None:
    """Dark's 44-46 lies alone on its row; with Dark's 14-34, along the column, it shares that column."""
    pieces = [(DARK, 0, ROW, 44), (DARK, 0, COLUMN, 14), (DARK, 0, COLUMN, 15), (LIGHT, 0, COLUMN, 10)]
    game = Oracle.from_position(pieces, player=DARK)
    game.step(slot(0, ROW, 44))
    assert phase(game) == "remove"
    assert game.player_to_move() == LIGHT
    game = Oracle.from_position(pieces, player=DARK)
    game.step(slot(0, COLUMN, 14))
    assert features(game, DARK)[13] == 1


def test_gain_zero_ends_the_turn_without_a_counter_action() -> None:
    """Also with both counters on the line."""
    pieces = [(DARK, 0, ROW, 40), (DARK, 0, ROW, 60), (LIGHT, 0, ROW, 20)]
    for scores in ((0, 0), (47, 51)):
        game = Oracle.from_position(pieces, player=DARK, scores=scores)
        game.step(slot(0, ROW, 40))
        assert game.player_to_move() == LIGHT
        assert phase(game) == "remove"
        assert features(game, DARK)[13:16] == [0, 3, 0]
        assert game.legal_actions() == [slot(0, ROW, 20)]
        assert game.scores() == list(scores)
        assert planes(game, DARK)[0] == [60, 61, 62]


EXAMPLE_1: list[PieceEntry] = [
    (LIGHT, 2, COLUMN, 4),  # Light's 04-44
    (LIGHT, 0, ROW, 52),  # Light's 52-54
    (LIGHT, 1, ROW, 64),  # Light's 64-67
    (DARK, 2, ROW, 22),  # Light's 73-77
    (DARK, 0, ROW, 13),  # Light's 84-86
    (DARK, 0, ROW, 3),  # Light's 94-96, under Dark's counter
    (LIGHT, 0, ROW, 5),  # Light's 05-07: not on the line
    (DARK, 3, COLUMN, 31),  # Light's 68, 58, 48, 38, 28, 18: not on the line
]


def test_example_1_of_the_rulebook() -> None:
    game = Oracle.from_position(EXAMPLE_1, player=LIGHT, scores=(5, 0))
    game.step(slot(2, COLUMN, 4))
    assert game.player_to_move() == LIGHT
    assert phase(game) == "counter"
    assert features(game, LIGHT)[13] == 30
    assert game.legal_actions() == targets(0, 30)
    game.step(1030)
    assert game.scores() == [5, 30]
    assert game.player_to_move() == DARK
    assert planes(game, LIGHT)[13] == [30]
    assert planes(game, DARK)[14] == [69]


EXAMPLE_2: list[PieceEntry] = [
    (DARK, 3, COLUMN, 43),  # Dark's 43-93
    (DARK, 0, ROW, 21),  # Dark's 21-23 crosses the line
    (DARK, 4, COLUMN, 8),  # Dark's 08-68
    (LIGHT, 0, COLUMN, 53),  # Light's last piece, Light's 53-73 = Dark's 46, 36, 26
]


def example_2(scores: tuple[int, int]) -> Oracle:
    """The example at the counter action, with the counters at other places."""
    game = Oracle.from_position(EXAMPLE_2, player=DARK, scores=scores, longest=(6, 3))
    game.step(slot(3, COLUMN, 43))
    return game


def test_example_2_of_the_rulebook() -> None:
    game = example_2((34, 20))
    assert features(game, DARK)[13] == 4
    assert game.legal_actions() == targets(34, 38)
    game.step(1036)
    assert game.scores() == [36, 20]
    assert game.player_to_move() == DARK  # Light's last piece is blocked
    assert features(game, DARK)[16:18] == [0, 1]
    assert features(game, LIGHT)[16:18] == [1, 0]
    assert game.legal_actions() == [slot(4, COLUMN, 8)]


@pytest.mark.parametrize("target", [34, 35, 37, 38])
def test_example_2_elsewhere_light_goes_on(target: int) -> None:
    game = example_2((34, 20))
    game.step(1000 + target)
    assert game.player_to_move() == LIGHT
    assert game.legal_actions() == [slot(0, COLUMN, 53)]
    assert features(game, DARK)[16:18] == [0, 0]


def test_example_3_of_the_rulebook() -> None:
    game = example_2((33, 20))
    assert features(game, DARK)[13] == 8
    assert game.legal_actions() == targets(33, 41)
    game = example_2((13, 20))
    assert features(game, DARK)[13] == 8
    assert game.legal_actions() == targets(13, 21)


# ---- scoring phase: moving the counter


def test_the_opponents_cell_is_excluded() -> None:
    assert example_2((34, 62)).legal_actions() == [1034, 1035, 1036, 1038]  # 37 + 62 = 99
    assert example_2((34, 61)).legal_actions() == [1034, 1035, 1036, 1037]
    assert example_2((34, 64)).legal_actions() == [1034, 1036, 1037, 1038]
    assert example_2((34, 60)).legal_actions() == targets(34, 38)
    pieces = [(LIGHT, 0, ROW, 10), (LIGHT, 0, COLUMN, 18)]
    light = Oracle.from_position(pieces, player=LIGHT, scores=(79, 19))  # Dark's 79 = Light's 20
    light.step(slot(0, ROW, 10))
    assert features(light, LIGHT)[13] == 2
    assert light.legal_actions() == [1019, 1021]


def test_jumping_over_the_opponents_counter() -> None:
    game = example_2((34, 62))
    game.step(1038)
    assert game.scores() == [38, 62]


def test_staying_is_legal_and_asked_even_as_the_only_target() -> None:
    pieces = [(DARK, 0, ROW, 40), (DARK, 0, COLUMN, 49), (LIGHT, 0, ROW, 20)]
    game = Oracle.from_position(pieces, player=DARK, scores=(10, 88))
    game.step(slot(0, ROW, 40))
    assert game.player_to_move() == DARK
    assert phase(game) == "counter"
    assert features(game, DARK)[13] == 1
    assert game.legal_actions() == [1010]
    game.step(1010)
    assert game.scores() == [10, 88]
    assert game.player_to_move() == LIGHT
    assert phase(game) == "remove"


SEVEN: list[PieceEntry] = [
    (DARK, 4, ROW, 40),  # value 6
    (DARK, 0, COLUMN, 49),  # crosses
    (LIGHT, 0, ROW, 1),
    (LIGHT, 1, COLUMN, 5),  # Light's 05-35 = Dark's 94-64
]


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((92, 20), targets(92, 98)),
        ((93, 20), targets(93, 99)),  # 99 in all: not enough
        ((94, 20), [*targets(94, 99), 1100]),  # exactly 100
        ((96, 20), [*targets(96, 99), 1100]),
        ((99, 20), [1099, 1100]),
        ((94, 0), [*targets(94, 98), 1100]),  # 99 is Light's 00, where Light's counter stands
        ((93, 0), targets(93, 98)),
        ((98, 0), [1098, 1100]),
    ],
)
def test_hundred_or_more(scores: tuple[int, int], expected: list[int]) -> None:
    game = Oracle.from_position(SEVEN, player=DARK, scores=scores)
    game.step(slot(4, ROW, 40))
    assert features(game, DARK)[13] == 6
    assert game.legal_actions() == expected


def test_hundred_or_more_wins_at_once() -> None:
    """In mid-turn: both players could have gone on, as they do where Dark declines."""
    pieces = [(DARK, 3, ROW, 40), *SEVEN[1:], (DARK, 4, ROW, 10)]
    game = Oracle.from_position(pieces, player=DARK, scores=(97, 20), longest=(0, 3))
    game.step(slot(3, ROW, 40))
    assert game.legal_actions() == [1097, 1098, 1099, 1100]
    declined = game.copy()
    declined.step(1098)
    assert declined.player_to_move() == LIGHT
    declined.step(slot(1, COLUMN, 5))  # Dark's 10-16 crosses
    declined.step(1020)
    assert declined.legal_actions() == [slot(4, ROW, 10)]
    game.step(1100)
    assert game.player_to_move() == -1
    assert game.legal_actions() == []
    assert game.scores() == [100, 20]
    assert game.returns() == game.returns("outcome") == [1.0, -1.0]
    assert game.returns("margin") == pytest.approx([0.8, -0.8])
    assert features(game, DARK) == [*NONE, *NONE, 0, 1, 0, 0, 6, 3, 0, 0, 100, 20]
    assert features(game, LIGHT) == [*NONE, *NONE, 0, 1, 0, 0, 3, 6, 0, 0, 20, 100]
    assert 13 not in planes(game, DARK)  # the winner's counter is off the board
    assert planes(game, DARK)[14] == [79]
    assert planes(game, LIGHT)[13] == [20]
    assert 14 not in planes(game, LIGHT)
    assert 3 not in planes(game, DARK)  # the removed piece is gone
    for action in (1100, 1020, slot(4, ROW, 10), slot(1, COLUMN, 5), 0):
        with pytest.raises(ValueError, match="illegal action"):
            game.step(action)


def test_light_wins_with_hundred_alone() -> None:
    """Dark is out; the out flags stay as they stood."""
    pieces = [(LIGHT, 4, ROW, 40), (LIGHT, 0, COLUMN, 49), (LIGHT, 3, ROW, 70)]
    game = Oracle.from_position(pieces, player=LIGHT, scores=(98, 95), out=(True, False))
    game.step(slot(4, ROW, 40))
    game.step(1100)
    assert game.player_to_move() == -1
    assert game.scores() == [98, 100]
    assert game.returns() == [-1.0, 1.0]
    assert game.returns("margin") == pytest.approx([-0.02, 0.02])
    assert features(game, DARK)[10:] == [0, 1, 0, 0, 0, 7, 1, 0, 98, 100]
    assert features(game, LIGHT)[10:] == [0, 1, 0, 0, 7, 0, 0, 1, 100, 98]


def test_declining_hundred() -> None:
    game = Oracle.from_position(SEVEN, player=DARK, scores=(97, 20))
    game.step(slot(4, ROW, 40))
    game.step(1097)
    assert game.player_to_move() == LIGHT
    assert game.scores() == [97, 20]
    assert game.returns() == [0.0, 0.0]


# ---- out


def test_out_is_a_matter_of_the_own_turn() -> None:
    """Light has no piece left, but is out only when the turn comes to Light."""
    pieces = [(DARK, 0, ROW, 40), (DARK, 0, COLUMN, 49), (DARK, 0, COLUMN, 16)]
    game = Oracle.from_position(pieces, player=DARK)
    assert features(game, DARK)[16:18] == [0, 0]
    game.step(slot(0, ROW, 40))
    assert phase(game) == "counter"
    assert features(game, DARK)[16:18] == [0, 0]
    game.step(1001)
    assert game.player_to_move() == DARK
    assert features(game, DARK)[16:18] == [0, 1]
    assert features(game, LIGHT)[16:18] == [1, 0]


def test_the_other_goes_on_alone_many_times() -> None:
    pieces = [(DARK, kind, ROW, 20 + 10 * kind) for kind in range(4)]
    pieces += [(DARK, 0, COLUMN, 49), (LIGHT, 0, COLUMN, 15)]  # Light's 15-35 = Dark's 84-64
    game = Oracle.from_position(pieces, player=DARK, longest=(0, 7))
    actions = [slot(0, ROW, 20), slot(0, COLUMN, 49), slot(1, ROW, 30), slot(2, ROW, 40), slot(3, ROW, 50)]
    for number, action in enumerate(actions):  # each time the line is empty: no counter action
        assert game.player_to_move() == DARK
        assert phase(game) == "remove"
        assert features(game, LIGHT)[16:18] == [int(number > 0), 0]
        game.step(action)
    assert game.player_to_move() == -1
    assert features(game, DARK)[16:18] == [1, 1]
    assert planes(game, DARK)[5] == [64, 74, 84]  # Light's piece stays where it is


def test_alone_with_counter_actions() -> None:
    """Remove, counter, remove, counter, ... by Light, with Dark out; Dark is not asked again."""
    pieces = [(LIGHT, 0, ROW, 20), (LIGHT, 1, ROW, 30), (LIGHT, 2, ROW, 40), (LIGHT, 3, COLUMN, 19)]
    pieces += [(DARK, 4, ROW, 0)]  # under Dark's counter
    game = Oracle.from_position(pieces, player=DARK)
    score = 0
    for kind, tens, value in ((0, 2, 1), (1, 3, 2), (2, 4, 3)):
        assert game.player_to_move() == LIGHT
        assert features(game, DARK)[16:18] == [1, 0]
        game.step(slot(kind, ROW, 10 * tens))
        assert game.player_to_move() == LIGHT
        assert game.legal_actions() == targets(score, score + value)
        score += value
        game.step(1000 + score)
    assert game.player_to_move() == LIGHT
    assert game.legal_actions() == [slot(3, COLUMN, 19)]
    game.step(slot(3, COLUMN, 19))  # Dark's piece covers the end of that column, with Dark's counter on top
    assert game.legal_actions() == targets(6, 14)
    game.step(1014)
    assert game.player_to_move() == -1
    assert game.scores() == [0, 14]
    assert game.returns() == [-1.0, 1.0]
    assert game.returns("margin") == pytest.approx([-0.14, 0.14])


def test_out_is_for_the_rest_of_the_game() -> None:
    """Dark's counter leaves Light's last piece again: Light stays out."""
    pieces = [*EXAMPLE_2, (DARK, 3, ROW, 94)]
    game = Oracle.from_position(pieces, player=DARK, scores=(34, 20))
    game.step(slot(3, COLUMN, 43))
    game.step(1036)
    assert game.player_to_move() == DARK
    assert features(game, LIGHT)[16:18] == [1, 0]
    assert game.legal_actions() == [slot(3, ROW, 94), slot(4, COLUMN, 8)]
    game.step(slot(4, COLUMN, 8))  # Dark's 94-99 crosses that column
    assert game.legal_actions() == targets(36, 42)
    game.step(1042)  # Light's piece is free
    assert game.player_to_move() == -1  # Dark is out too: what is left is shorter than seven
    assert features(game, LIGHT)[16:18] == [1, 1]
    assert features(game, DARK)[16:18] == [1, 1]
    assert game.returns() == [1.0, -1.0]


def test_out_stays_while_the_other_still_moves() -> None:
    """As above, but Dark has more to do once Light's piece is free again."""
    pieces = [(DARK, 0, COLUMN, 33), (DARK, 0, ROW, 21), (DARK, 2, ROW, 90), (DARK, 2, ROW, 60)]
    pieces += [(DARK, 2, COLUMN, 29), (LIGHT, 0, COLUMN, 53)]
    game = Oracle.from_position(pieces, player=DARK, scores=(35, 20))
    game.step(slot(0, COLUMN, 33))  # Dark's 21-23, 60-64 and 90-94 cross the column
    assert game.legal_actions() == targets(35, 38)
    game.step(1036)
    assert features(game, DARK)[16:18] == [0, 1]
    game.step(slot(2, ROW, 60))  # Dark's 29-69 crosses the row
    assert game.legal_actions() == targets(36, 39)
    game.step(1037)
    assert game.player_to_move() == DARK
    assert phase(game) == "remove"
    assert features(game, DARK)[16:18] == [0, 1]
    assert game.legal_actions() == [slot(2, ROW, 90), slot(2, COLUMN, 29)]
    fresh = Oracle.from_position([(LIGHT, 0, COLUMN, 53)], player=LIGHT, scores=(37, 20))
    assert fresh.legal_actions() == [slot(0, COLUMN, 53)]  # nothing but being out keeps Light from it


def test_the_game_ends_when_both_are_out() -> None:
    pieces = [(DARK, 0, ROW, 40), (LIGHT, 0, ROW, 20)]
    game = Oracle.from_position(pieces, player=DARK)
    game.step(slot(0, ROW, 40))
    assert game.player_to_move() == LIGHT
    game.step(slot(0, ROW, 20))
    assert game.player_to_move() == -1
    assert game.legal_actions() == []
    assert features(game, DARK) == [*NONE, *NONE, 0, 1, 0, 0, 3, 3, 1, 1, 0, 0]
    assert features(game, LIGHT) == [*NONE, *NONE, 0, 1, 0, 0, 3, 3, 1, 1, 0, 0]
    assert planes(game, DARK) == {13: [0], 14: [99]}
    assert planes(game, LIGHT) == {13: [0], 14: [99]}


def test_a_scoring_phase_in_which_nobody_can_start() -> None:
    """The last placement puts Dark's only piece on 00; Light's lies on Light's 00."""
    game = Oracle.from_position(
        [(LIGHT, 0, ROW, 0)], phase="place", player=DARK, unplayed=([1, 0, 0, 0, 0], [0, 0, 0, 0, 0])
    )
    game.step(slot(0, COLUMN, 0))
    assert game.player_to_move() == -1
    assert features(game, DARK)[10:] == [0, 1, 0, 0, 0, 0, 1, 1, 0, 0]


def test_first_to_start_may_be_out_at_once() -> None:
    game = Oracle.from_position(
        [(LIGHT, 0, ROW, 0), (DARK, 0, ROW, 50)], phase="place", player=DARK, unplayed=([1, 0, 0, 0, 0], NONE)
    )
    game.step(slot(0, COLUMN, 0))  # Light passes first, and so would start, but can remove nothing
    assert phase(game) == "remove"
    assert game.player_to_move() == DARK
    assert game.legal_actions() == [slot(0, ROW, 50)]
    assert features(game, DARK)[16:18] == [0, 1]


# ---- result


def ended(scores: tuple[int, int], dark: tuple[int, ...], light: tuple[int, ...], **options: Any) -> Oracle:
    """A game that is over, with an empty board and these unplayed pieces."""
    return Oracle.from_position(out=(True, True), scores=scores, unplayed=(dark, light), **options)


@pytest.mark.parametrize("tiebreak", ["dark", "shared"])
@pytest.mark.parametrize(
    ("scores", "dark", "light", "winner"),
    [
        ((51, 50), NONE, (0, 0, 0, 0, 1), DARK),  # the score comes first
        ((50, 51), (0, 0, 0, 0, 1), NONE, LIGHT),
        ((0, 1), NONE, NONE, LIGHT),
        ((40, 40), (0, 0, 0, 0, 1), (2, 0, 0, 0, 0), DARK),  # 7 cells, 6
        ((40, 40), (2, 0, 0, 0, 0), (0, 0, 0, 0, 1), LIGHT),
        ((40, 40), (0, 0, 0, 0, 1), (3, 0, 0, 0, 0), LIGHT),  # 7 cells, 9: cells, not pieces, not values
        ((40, 40), (3, 0, 0, 0, 0), (0, 0, 0, 0, 1), DARK),
        ((40, 40), NONE, (1, 0, 0, 0, 0), LIGHT),
        ((40, 40), (1, 0, 0, 0, 0), NONE, DARK),
        ((40, 40), (2, 0, 0, 0, 0), (0, 0, 0, 1, 0), LIGHT),  # 6 cells each: fewer pieces are longer
        ((40, 40), (0, 0, 0, 1, 0), (2, 0, 0, 0, 0), DARK),
        ((0, 0), (4, 0, 0, 0, 0), (0, 3, 0, 0, 0), LIGHT),  # 12 cells each
        ((0, 0), (0, 3, 0, 0, 0), (4, 0, 0, 0, 0), DARK),
        ((0, 0), (0, 1, 1, 0, 0), (3, 0, 0, 0, 0), DARK),  # 9 cells each
    ],
)
def test_result_levels(
    scores: tuple[int, int], dark: tuple[int, ...], light: tuple[int, ...], winner: int, tiebreak: str
) -> None:
    game = ended(scores, dark, light, tiebreak=tiebreak)
    assert game.player_to_move() == -1
    assert game.returns() == ([1.0, -1.0] if winner == DARK else [-1.0, 1.0])


@pytest.mark.parametrize(
    ("dark", "light"),
    [
        (NONE, NONE),
        ((1, 0, 2, 0, 0), (1, 0, 2, 0, 0)),
        ((1, 0, 1, 0, 0), (0, 2, 0, 0, 0)),  # 3 + 5 = 4 + 4 cells, two pieces each
        ((0, 2, 0, 0, 0), (1, 0, 1, 0, 0)),
    ],
)
def test_result_last_level(dark: tuple[int, ...], light: tuple[int, ...]) -> None:
    assert ended((7, 7), dark, light).returns() == [1.0, -1.0]
    assert ended((7, 7), dark, light, tiebreak="dark").returns() == [1.0, -1.0]
    assert ended((7, 7), dark, light, tiebreak="shared").returns() == [0.0, 0.0]
    assert ended((7, 7), dark, light).returns("margin") == [0.0, 0.0]


def test_result_compares_the_cells_of_the_set_in_use() -> None:
    """One of type 4 against one of type 0 and one of type 1: 7 and 7 cells, in `table` 6 and 3."""
    assert ended((7, 7), (1, 1, 0, 0, 0), (0, 0, 0, 0, 1)).returns() == [-1.0, 1.0]
    assert ended((7, 7), (2, 1, 0, 0, 0), (0, 0, 0, 0, 1)).returns() == [1.0, -1.0]
    assert ended((7, 7), (2, 1, 0, 0, 0), (0, 0, 0, 0, 1), pieces="table").returns() == [-1.0, 1.0]
    assert ended((7, 7), (0, 1, 0, 1, 0), (0, 0, 0, 0, 1), pieces="table").returns() == [-1.0, 1.0]
    assert ended((7, 7), (0, 0, 0, 0, 1), (0, 1, 0, 1, 0), pieces="table").returns() == [1.0, -1.0]
    same = ended((7, 7), (1, 0, 1, 0, 0), (0, 2, 0, 0, 0), pieces="table", tiebreak="shared")
    assert same.returns() == [0.0, 0.0]


def test_removed_pieces_and_pieces_on_the_board_are_no_unplayed_pieces() -> None:
    """Light has one unplayed piece; Dark has only a removed one and one left on the board."""
    pieces = [(DARK, 4, ROW, 40), (DARK, 0, ROW, 60), (DARK, 3, ROW, 0)]
    game = Oracle.from_position(pieces, player=DARK, longest=(0, 0), unplayed=(NONE, (1, 0, 0, 0, 0)))
    game.step(slot(4, ROW, 40))
    assert game.player_to_move() == -1
    assert features(game, DARK)[:10] == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0]
    assert game.returns() == [-1.0, 1.0]


@pytest.mark.parametrize(
    ("scores", "margins"),
    [((70, 30), [0.4, -0.4]), ((12, 47), [-0.35, 0.35]), ((100, 0), [1.0, -1.0]), ((0, 100), [-1.0, 1.0])],
)
def test_margin(scores: tuple[int, int], margins: list[float]) -> None:
    game = ended(scores, NONE, NONE)
    assert game.returns("margin") == pytest.approx(margins)
    assert game.returns("outcome") == ([1.0, -1.0] if scores[0] > scores[1] else [-1.0, 1.0])


def test_no_rewards_while_running() -> None:
    games = [Oracle(), Oracle.from_position(SEVEN, scores=(50, 20)), example_2((34, 20))]
    games.append(Oracle.from_position(SEVEN, scores=(50, 20), out=(False, True)))
    for game in games:
        assert game.player_to_move() == DARK
        assert game.returns() == [0.0, 0.0]
        assert game.returns("margin") == [0.0, 0.0]


def test_unknown_rewards() -> None:
    for game in (Oracle(), ended((1, 0), NONE, NONE)):
        with pytest.raises(ValueError, match=r"outcome.*margin"):
            game.returns("points")


# ---- one-cell pieces of `table`


@pytest.mark.parametrize(("orientation", "plane"), [(ROW, 10), (COLUMN, 11)])
def test_one_cell_pieces_keep_their_orientation(orientation: int, plane: int) -> None:
    game = Oracle(pieces="table")
    game.step(slot(0, orientation, 44))
    assert planes(game, DARK) == {0: [44], plane: [44], 12: [44]}
    assert planes(game, LIGHT) == {5: [55], plane: [55], 12: [55]}


@pytest.mark.parametrize(("orientation", "gain"), [(ROW, 1), (COLUMN, 2)])
def test_one_cell_pieces_have_one_line(orientation: int, gain: int) -> None:
    pieces = [(DARK, 0, orientation, 44), (DARK, 1, ROW, 47), (LIGHT, 1, ROW, 84), (LIGHT, 0, ROW, 25)]
    # Dark's 47-48 on the row; Light's 84-85 = Dark's 14-15 and Light's 25 = Dark's 74 on the column.
    game = Oracle.from_position(pieces, player=DARK, pieces="table")
    assert game.legal_actions() == sorted([slot(0, orientation, 44), slot(1, ROW, 47)])
    game.step(slot(0, orientation, 44))
    assert features(game, DARK)[13:15] == [gain, 1]
    assert game.legal_actions() == targets(0, gain)


def test_table_bars_by_cells() -> None:
    pieces = [(DARK, kind, ROW, 20 + 10 * kind) for kind in range(5)]
    game = Oracle.from_position(pieces, player=DARK, pieces="table", longest=(3, 0))
    assert game.legal_actions() == [slot(2, ROW, 40), slot(3, ROW, 50), slot(4, ROW, 60)]


# ---- observations


OBSERVED: list[PieceEntry] = [
    (DARK, 0, ROW, 0),
    (DARK, 1, COLUMN, 35),
    (LIGHT, 2, ROW, 20),
    (LIGHT, 4, COLUMN, 9),
]
UNPLAYED = ([1, 0, 0, 1, 0], [0, 2, 0, 0, 0])
DARKS_PIECES = {
    0: [0, 1, 2],
    1: [35, 45, 55, 65],
    7: [75, 76, 77, 78, 79],
    9: [30, 40, 50, 60, 70, 80, 90],
    10: [0, 1, 2, 75, 76, 77, 78, 79],
    11: [30, 35, 40, 45, 50, 55, 60, 65, 70, 80, 90],
    12: [0, 30, 35, 75],
}
LIGHTS_PIECES = {
    2: [20, 21, 22, 23, 24],
    4: [9, 19, 29, 39, 49, 59, 69],
    5: [97, 98, 99],
    6: [34, 44, 54, 64],
    10: [20, 21, 22, 23, 24, 97, 98, 99],
    11: [9, 19, 29, 34, 39, 44, 49, 54, 59, 64, 69],
    12: [9, 20, 34, 97],
}


@pytest.mark.parametrize("player", [DARK, LIGHT])
def test_observation_in_phase_place(player: int) -> None:
    game = Oracle.from_position(OBSERVED, phase="place", player=player, unplayed=UNPLAYED)
    assert game.player_to_move() == player
    assert planes(game, DARK) == DARKS_PIECES
    assert planes(game, LIGHT) == LIGHTS_PIECES
    assert features(game, DARK) == [1, 0, 0, 1, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    assert features(game, LIGHT) == [0, 2, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]


def test_the_placement_phase_counts_what_is_not_on_the_board() -> None:
    game = Oracle.from_position(OBSERVED, phase="place")
    assert features(game, DARK)[:10] == [4, 3, 3, 2, 1, 5, 4, 2, 2, 0]


@pytest.mark.parametrize("player", [DARK, LIGHT])
def test_observation_in_phase_remove(player: int) -> None:
    game = Oracle.from_position(
        OBSERVED,
        player=player,
        scores=(12, 34),
        longest=(3, 5),
        unplayed=UNPLAYED,
        out=(player == LIGHT, False),
    )
    dark_out = int(player == LIGHT)
    assert game.player_to_move() == player
    assert planes(game, DARK) == {**DARKS_PIECES, 13: [12], 14: [65]}
    assert planes(game, LIGHT) == {**LIGHTS_PIECES, 13: [34], 14: [87]}
    assert features(game, DARK) == [1, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 3, 5, dark_out, 0, 12, 34]
    assert features(game, LIGHT) == [0, 2, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 5, 3, 0, dark_out, 34, 12]
    assert game.scores() == [12, 34]


def test_observation_in_phase_counter() -> None:
    """Light removes Light's 10-15. Light's 09-69 crosses that row, and Light's counter stands on it."""
    pieces = [*OBSERVED, (LIGHT, 3, ROW, 10)]
    game = Oracle.from_position(pieces, player=LIGHT, scores=(12, 18), longest=(3, 5), unplayed=UNPLAYED)
    game.step(slot(3, ROW, 10))
    assert game.player_to_move() == LIGHT
    assert planes(game, DARK) == {**DARKS_PIECES, 13: [12], 14: [81]}
    assert planes(game, LIGHT) == {**LIGHTS_PIECES, 13: [18], 14: [87]}
    # The waiting player sees phase and gain of the player to act.
    assert features(game, DARK) == [1, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 1, 8, 3, 6, 0, 0, 12, 18]
    assert features(game, LIGHT) == [0, 2, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 8, 6, 3, 0, 0, 18, 12]
    assert game.legal_actions() == targets(18, 26)
    # The same position given by hand, with the removed piece named.
    by_hand = Oracle.from_position(
        OBSERVED,
        phase="counter",
        player=LIGHT,
        scores=(12, 18),
        longest=(3, 5),
        unplayed=UNPLAYED,
        just_removed=(3, ROW, 10),
    )
    assert seen(by_hand) == seen(game)
    game.step(1020)
    assert features(game, DARK) == [1, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 3, 6, 0, 0, 12, 20]
    assert features(game, LIGHT) == [0, 2, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 6, 3, 0, 0, 20, 12]
    assert planes(game, DARK)[14] == [79]


def test_observation_after_the_end() -> None:
    over = Oracle.from_position(OBSERVED, scores=(12, 34), longest=(3, 5), unplayed=UNPLAYED, out=(True, True))
    assert over.player_to_move() == -1
    assert over.legal_actions() == []
    assert planes(over, DARK) == {**DARKS_PIECES, 13: [12], 14: [65]}
    assert planes(over, LIGHT) == {**LIGHTS_PIECES, 13: [34], 14: [87]}
    assert features(over, DARK) == [1, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 3, 5, 1, 1, 12, 34]
    assert features(over, LIGHT) == [0, 2, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 5, 3, 1, 1, 34, 12]
    won = Oracle.from_position(OBSERVED, scores=(12, 100), longest=(3, 5), unplayed=UNPLAYED)
    assert won.player_to_move() == -1
    assert planes(won, DARK) == {**DARKS_PIECES, 13: [12]}
    assert planes(won, LIGHT) == {**LIGHTS_PIECES, 14: [87]}
    assert features(won, DARK)[10:] == [0, 1, 0, 0, 3, 5, 0, 0, 12, 100]
    assert features(won, LIGHT)[10:] == [0, 1, 0, 0, 5, 3, 0, 0, 100, 12]
    last_piece = Oracle.from_position([], scores=(100, 12), player=LIGHT)  # nobody is out by a win
    assert features(last_piece, DARK)[10:] == [0, 1, 0, 0, 0, 0, 0, 0, 100, 12]


def test_observers_are_players() -> None:
    for player in (-1, 2):
        with pytest.raises(ValueError, match="player must"):
            Oracle().observe(player)


# ---- illegal actions, copies, hand-made positions


@pytest.mark.parametrize(
    ("game", "actions"),
    [
        (Oracle(), [-1, slot(0, ROW, 8), slot(4, COLUMN, 49), 1000, 1099, 1100, 1101, 5000]),
        (
            Oracle.from_position(OBSERVED, phase="place"),
            [slot(0, ROW, 0), slot(0, ROW, 75), slot(2, ROW, 75)],
        ),
        (
            Oracle.from_position(OBSERVED, player=LIGHT, scores=(12, 20)),
            [
                slot(2, ROW, 20),
                slot(2, ROW, 75),
                slot(4, ROW, 9),
                slot(3, COLUMN, 9),
                slot(1, COLUMN, 34),
                1000,
                1020,
            ],
        ),
        (example_2((34, 62)), [1033, 1037, 1039, 1100, slot(4, COLUMN, 8), slot(3, COLUMN, 43), 38]),
        (ended((1, 0), NONE, NONE), [0, 1000, 1001, 1100]),
    ],
)
def test_illegal_actions_change_nothing(game: Oracle, actions: list[int]) -> None:
    before = seen(game)
    for action in actions:
        with pytest.raises(ValueError, match="illegal action"):
            game.step(action)
        assert seen(game) == before


def test_copies_are_independent() -> None:
    for game, action in [
        (Oracle(pieces="table", tiebreak="shared"), slot(0, ROW, 99)),
        (Oracle.from_position(NEARLY_FULL, phase="place", player=LIGHT), slot(0, ROW, 3)),
        (Oracle.from_position(SEVEN, scores=(94, 20), longest=(7, 0)), slot(4, ROW, 40)),
        (example_2((34, 20)), 1036),
        (Oracle.from_position(SEVEN, scores=(30, 20), out=(False, True)), slot(0, COLUMN, 49)),
    ]:
        before = seen(game)
        twin = game.copy()
        assert seen(twin) == before
        twin.step(action)
        after = seen(twin)
        assert after != before
        assert seen(game) == before
        game.step(action)
        assert seen(game) == after
        assert seen(twin) == after


def test_copies_keep_options_and_the_first_pass() -> None:
    over = ended((0, 0), NONE, NONE, tiebreak="shared").copy()
    assert over.returns() == [0.0, 0.0]
    game = Oracle.from_position([], phase="place", unplayed=([0, 0, 0, 0, 0], [2, 0, 0, 0, 0])).copy()
    game.step(slot(0, ROW, 30))
    game = game.copy()
    game.step(slot(0, ROW, 40))
    assert game.player_to_move() == LIGHT  # Dark would start, but has no piece
    assert features(game, LIGHT)[16:18] == [0, 1]


def test_results_are_the_callers_to_change() -> None:
    game = Oracle.from_position(SEVEN, scores=(50, 20))
    before = seen(game)
    game.legal_actions().clear()
    game.scores()[0] = 99
    board, values = game.observe(DARK)
    board[0] = 7
    values[0] = 7
    assert seen(game) == before


REMOVED = (0, ROW, 40)
LEFT = [(DARK, 0, ROW, 45)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"placed": [(DARK, 0, ROW, 8)]}, "no such piece"),  # leaves the board
        ({"placed": [(2, 0, ROW, 0)]}, "no such piece"),
        ({"placed": [(DARK, 5, ROW, 0)]}, "no such piece"),
        ({"placed": [(DARK, 0, 2, 0)]}, "no such piece"),
        ({"placed": [(DARK, 0, ROW, 100)]}, "no such piece"),
        ({"placed": [(DARK, 0, ROW, 0), (LIGHT, 0, ROW, 97)]}, "overlap"),
        ({"placed": [(DARK, 4, ROW, 0), (DARK, 4, ROW, 10)]}, "wrong number"),
        ({"placed": [(DARK, 4, ROW, 0)], "unplayed": ([0, 0, 0, 0, 1], NONE)}, "wrong number"),
        ({"unplayed": ([-1, 0, 0, 0, 0], NONE)}, "wrong number"),
        ({"phase": "score"}, "phase"),
        ({"player": 2}, "player"),
        ({"scores": (101, 0)}, "scores must"),
        ({"scores": (-1, 0)}, "scores must"),
        ({"scores": (60, 39)}, "both counters"),
        ({"scores": (100, 100)}, "two winners"),
        ({"longest": (2, 0)}, "longest must"),
        ({"phase": "place", "scores": (1, 0)}, "belong to the scoring phase"),
        ({"phase": "place", "out": (True, False)}, "belong to the scoring phase"),
        ({"phase": "place", "longest": (3, 0)}, "belong to the scoring phase"),
        ({"phase": "counter"}, "belongs to phase counter"),
        ({"phase": "remove", "just_removed": REMOVED}, "belongs to phase counter"),
        ({"phase": "counter", "just_removed": REMOVED}, "gain 0"),
        ({"phase": "counter", "just_removed": REMOVED, "placed": [(DARK, 0, COLUMN, 40)]}, "lies under"),
        ({"phase": "counter", "just_removed": REMOVED, "placed": LEFT, "scores": (41, 0)}, "lies under"),
        ({"phase": "counter", "just_removed": REMOVED, "placed": LEFT, "longest": (4, 0)}, "shorter"),
        ({"phase": "counter", "just_removed": REMOVED, "placed": LEFT, "out": (True, False)}, "nobody"),
        ({"phase": "counter", "just_removed": REMOVED, "placed": LEFT, "scores": (5, 100)}, "nobody"),
        ({"tiebreak": "light"}, "dark.*shared"),
        ({"pieces": "long"}, "standard.*table"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_impossible_positions(arguments: dict[str, Any], message: str) -> None:
    placed = arguments.get("placed", [])
    others = {name: value for name, value in arguments.items() if name != "placed"}
    with pytest.raises(ValueError, match=message):
        Oracle.from_position(placed, **others)


def test_the_counter_phase_by_hand() -> None:
    """The base of the impossible ones above is possible."""
    game = Oracle.from_position(LEFT, phase="counter", just_removed=REMOVED)
    assert game.legal_actions() == targets(0, 1)
    assert features(game, DARK)[14:16] == [3, 0]
    equal = Oracle.from_position(LEFT, phase="counter", just_removed=REMOVED, longest=(3, 7))
    assert equal.legal_actions() == targets(0, 1)
    assert features(equal, DARK)[14:16] == [3, 7]
    corner = Oracle.from_position([(DARK, 0, ROW, 99)], pieces="table", scores=(0, 1))
    assert corner.legal_actions() == [slot(0, ROW, 99)]


# ---- whole games


@pytest.mark.parametrize("pieces", ["standard", "table"])
@pytest.mark.parametrize("seed", range(4))
def test_random_games(pieces: str, seed: int) -> None:
    """Both see the same board, half turned; the game ends in time, with a result."""
    chooser = random.Random(seed)
    game = Oracle(pieces=pieces, tiebreak="shared")
    phases: list[str] = []
    while game.player_to_move() != -1:
        phases.append(phase(game))
        legal = game.legal_actions()
        assert len(legal) > 0
        assert legal == sorted(set(legal))
        game.step(chooser.choice(legal))
        dark, light = planes(game, DARK), planes(game, LIGHT)
        for plane, other in enumerate([5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 10, 11, None, 14, 13]):
            if other is not None:
                assert dark.get(plane, []) == sorted(99 - cell for cell in light.get(other, []))
        covered = sorted(cell for plane in range(10) for cell in dark.get(plane, []))
        assert covered == sorted(dark.get(10, []) + dark.get(11, [])) == sorted(set(covered))
        assert len(dark.get(12, [])) == len(light.get(12, []))
    assert len(phases) <= 90
    assert phases == sorted(phases, key=lambda name: name != "place")  # no way back to the placement phase
    assert set(phases) == {"place", "remove", "counter"}
    assert game.legal_actions() == []
    assert sorted(game.returns()) in ([-1.0, 1.0], [0.0, 0.0])
    assert sum(game.returns("margin")) == 0.0
