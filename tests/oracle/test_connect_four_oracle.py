"""The connect four oracle by itself, pinned to the rules by hand-made positions."""

from __future__ import annotations

import pytest

from tests.oracle.connect_four import Oracle

DRAW = [int(c) for c in "010101101010232323323232454545545454666666"]


def play(columns: str) -> Oracle:
    """A game after stones were dropped into these columns, the two players in turn."""
    game = Oracle()
    for column in columns:
        game.step(int(column))
    return game


@pytest.mark.parametrize(
    "columns",
    ["0011223", "6655443", "3300112", "0101010", "3636363", "01122323303", "65544343363"],
    ids=["left to right", "right to left", "the gap last", "down left", "down the middle", "rising", "falling"],
)
def test_four_in_a_row_win(columns: str) -> None:
    game = play(columns[:-1])
    assert game.player_to_move() == 0
    game.step(int(columns[-1]))
    assert game.player_to_move() == -1
    assert game.legal_actions() == []
    assert game.scores() == [1, 0]
    assert game.returns() == game.returns("margin") == [1.0, -1.0]


def test_the_second_player_wins() -> None:
    game = play("01020364")
    assert game.returns() == [-1.0, 1.0]
    assert game.scores() == [0, 1]


@pytest.mark.parametrize("columns", ["001122", "010101"])
def test_three_do_not_win(columns: str) -> None:
    game = play(columns)
    assert game.player_to_move() == len(columns) % 2
    assert game.returns() == [0.0, 0.0]


def test_four_stones_round_the_edge_are_no_row() -> None:
    """Columns 5 and 6 of one row, 0 and 1 of the row below, which follow in reading order."""
    game = play("0556631")
    assert game.player_to_move() == 1


def test_a_full_board_is_a_draw() -> None:
    game = Oracle()
    for column in DRAW:
        assert column in game.legal_actions()
        game.step(column)
    assert game.player_to_move() == -1
    assert game.legal_actions() == []
    assert game.returns() == [0.0, 0.0]
    assert game.scores() == [0, 0]


def test_full_columns_are_closed() -> None:
    game = play("333333")
    assert game.legal_actions() == [0, 1, 2, 4, 5, 6]
    with pytest.raises(ValueError, match="illegal action 3"):
        game.step(3)
    assert game.player_to_move() == 0


def test_stones_fall_and_are_seen_by_owner() -> None:
    game = play("303")
    first, second = {35 + 3, 28 + 3}, {35}  # rows are counted from the top
    for seat, (own, other) in enumerate([(first, second), (second, first)]):
        board, features = game.observe(seat)
        assert features == []
        assert {c for c in range(42) if board[c]} == own
        assert {c for c in range(42) if board[42 + c]} == other


def test_a_copy_is_another_game() -> None:
    game = play("33")
    twin = game.copy()
    twin.step(0)
    assert game.player_to_move() == 0
    assert twin.player_to_move() == 1
