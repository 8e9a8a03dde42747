"""The Isis & Osiris oracle by itself, pinned to the specification by hand-made positions."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.oracle.isis_osiris import Oracle
from tests.oracle.pictures import deal_starting, planned

REVEAL = 36
VALUES = (-4, -3, -2, -1, 1, 2, 3, 4)
COUNTS = [1, 2, 6, 2, 2, 6, 2, 1]
STONES = {2: 8, 3: 6, 4: 5}

# All 22 tiles in an order in which no two stocks look alike.
DEAL = [4, -1, -2, 1, 2, 3, -3, -4, 2, 2, -2, 1, -1, 2, -2, 3, 2, -2, -3, 2, -2, -2]
ALL_CONFIGS = [(n, variant) for variant in ("standard", "shared_stock") for n in (2, 3, 4)]


def play(game: Oracle, *actions: int) -> Oracle:
    """Play the actions one after the other."""
    for action in actions:
        game.step(action)
    return game


def planes(game: Oracle, player: int) -> list[dict[int, int]]:
    """The non-zero entries of each of the six planes, by cell."""
    flat = game.observe(player)[0]
    assert len(flat) == 216
    starts = range(0, 216, 36)
    return [{cell: value for cell, value in enumerate(flat[at : at + 36]) if value} for at in starts]


def features(game: Oracle, player: int) -> list[int]:
    """The features that `player` sees."""
    found = game.observe(player)[1]
    assert len(found) == 21
    return found


def snapshot(game: Oracle) -> tuple[Any, ...]:
    """Everything that a game shows to the outside."""
    seen = [game.observe(player) for player in range(game.num_players)]
    rewards = game.returns("outcome"), game.returns("margin")
    return seen, game.player_to_move(), game.legal_actions(), game.scores(), rewards


def random_game(seed: int, **options: Any) -> tuple[Oracle, list[int], list[int]]:
    """A finished random game with its actions and the seats that made them."""
    rng = random.Random(seed)
    game = Oracle(rng.sample(DEAL, 22), **options)
    actions, seats = [], []
    while game.player_to_move() != -1:
        seats.append(game.player_to_move())
        actions.append(rng.choice(game.legal_actions()))
        game.step(actions[-1])
    return game, actions, seats


def play_picture(picture: str, num_players: int, **options: Any) -> Oracle:
    """Play the standard game that ends in `picture`, see pictures.py."""
    deal, actions = planned(picture, num_players)
    game = play(Oracle(deal, num_players=num_players, **options), *actions)
    assert game.player_to_move() == -1
    return game


# The deal and the options.


@pytest.mark.parametrize(
    "deal",
    [
        None,
        [],
        DEAL[:21],
        [*DEAL, 1],
        [3, *DEAL[1:]],
        [0, *DEAL[1:]],
        [float(value) for value in DEAL],
        [str(value) for value in DEAL],
        7,
    ],
)
def test_the_deal_must_be_the_22_tiles(deal: Any) -> None:
    with pytest.raises(ValueError, match="deal"):
        Oracle(deal)


def test_the_deal_is_required() -> None:
    with pytest.raises(ValueError, match="required"):
        Oracle()


@pytest.mark.parametrize(
    "options",
    [
        {"num_players": 1},
        {"num_players": 5},
        {"num_players": "2"},
        {"variant": "shared"},
        {"variant": None},
        {"memory": "closed"},
        {"memory": True},
        {"players": 2},
        {"seed": 1},
    ],
)
def test_unknown_options_and_bad_values(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must be one of|unknown option"):
        Oracle(DEAL, **options)


def test_defaults_are_two_players_standard_open() -> None:
    script = (REVEAL, 7, 8, REVEAL)
    plain = play(Oracle(DEAL), *script)
    assert plain.num_players == 2
    assert snapshot(plain) == snapshot(play(Oracle(DEAL, num_players=2, variant="standard", memory="open"), *script))
    assert snapshot(plain) != snapshot(play(Oracle(DEAL, variant="shared_stock"), *script))
    assert snapshot(plain) != snapshot(play(Oracle(DEAL, memory="hidden"), *script))


def test_the_deal_is_taken_when_the_game_is_made() -> None:
    deal = list(DEAL)
    game = Oracle(deal)
    deal[0] = -4
    game.step(REVEAL)
    assert features(game, 0)[17] == 4


# The opening.

OPENING = {
    (2, "standard"): [8, 8, 0, 0, 11, 11, 0, 0],
    (3, "standard"): [6, 6, 6, 0, 7, 7, 7, 0],
    (4, "standard"): [5, 5, 5, 5, 5, 5, 5, 5],
    (2, "shared_stock"): [8, 8, 0, 0, 22, 0, 0, 0],
    (3, "shared_stock"): [6, 6, 6, 0, 22, 0, 0, 0],
    (4, "shared_stock"): [5, 5, 5, 5, 22, 0, 0, 0],
}
ONE_HOT = {2: [1, 0, 0], 3: [0, 1, 0], 4: [0, 0, 1]}


@pytest.mark.parametrize(("n", "variant"), ALL_CONFIGS)
def test_opening(n: int, variant: str) -> None:
    game = Oracle(DEAL, num_players=n, variant=variant)
    assert game.num_players == n
    assert game.player_to_move() == 0
    assert game.legal_actions() == list(range(37))
    assert game.scores() == [0] * n
    assert game.returns() == [0.0] * n
    for player in range(n):
        assert planes(game, player) == [{}, {}, {}, {}, {}, {}]
        # Tiles out of the game count as not seen: all 22 are there.
        assert features(game, player) == OPENING[n, variant] + COUNTS + [0, 0] + ONE_HOT[n]


@pytest.mark.parametrize(("n", "variant"), ALL_CONFIGS)
def test_opening_with_hidden_memory(n: int, variant: str) -> None:
    game = Oracle(DEAL, num_players=n, variant=variant, memory="hidden")
    for player in range(n):
        assert features(game, player) == OPENING[n, variant] + [0] * 8 + [0, 0] + ONE_HOT[n]


@pytest.mark.parametrize("player", [-1, 2, 3])
def test_only_seats_observe(player: int) -> None:
    with pytest.raises(ValueError, match="player"):
        Oracle(DEAL).observe(player)


# One turn.


def test_a_stone_is_a_whole_turn() -> None:
    game = play(Oracle(DEAL), 13)
    assert game.player_to_move() == 1
    assert game.legal_actions() == [cell for cell in range(37) if cell != 13]
    assert planes(game, 0) == [{13: 1}, {}, {}, {}, {}, {}]
    assert planes(game, 1) == [{}, {13: 1}, {}, {}, {}, {}]
    assert features(game, 0) == [7, 8, 0, 0, 11, 11, 0, 0, *COUNTS, 0, 0, 1, 0, 0]
    assert features(game, 1) == [8, 7, 0, 0, 11, 11, 0, 0, *COUNTS, 0, 0, 1, 0, 0]


def test_cell_numbers_are_row_major_and_planes_in_c_order() -> None:
    game = play(Oracle(DEAL), 6 * 4 + 1, REVEAL, 6 * 2 + 5)  # (row 4, column 1) and (row 2, column 5)
    flat = game.observe(1)[0]
    assert {index for index, entry in enumerate(flat) if entry} == {36 + 25, 4 * 36 + 17, 5 * 36 + 17}
    assert flat[5 * 36 + 17] == 1  # the first tile of seat 1


def test_a_tile_is_revealed_to_everybody_and_placed_by_the_same_player() -> None:
    game = play(Oracle(DEAL), 13, 14, REVEAL)
    assert game.player_to_move() == 0  # the same player goes on
    assert game.legal_actions() == [cell for cell in range(36) if cell not in (13, 14)]  # must be placed
    # The tile has left the stock and the values not seen at once, is in hand for both, and not on the board.
    assert features(game, 0) == [7, 7, 0, 0, 10, 11, 0, 0, 1, 2, 6, 2, 2, 6, 2, 0, 1, 4, 1, 0, 0]
    assert features(game, 1) == [7, 7, 0, 0, 11, 10, 0, 0, 1, 2, 6, 2, 2, 6, 2, 0, 1, 4, 1, 0, 0]
    assert planes(game, 1) == [{14: 1}, {13: 1}, {}, {}, {}, {}]

    game.step(15)
    assert game.player_to_move() == 1
    assert game.legal_actions() == [cell for cell in range(37) if cell not in (13, 14, 15)]
    assert features(game, 0) == [7, 7, 0, 0, 10, 11, 0, 0, 1, 2, 6, 2, 2, 6, 2, 0, 0, 0, 1, 0, 0]
    assert features(game, 1) == [7, 7, 0, 0, 11, 10, 0, 0, 1, 2, 6, 2, 2, 6, 2, 0, 0, 0, 1, 0, 0]
    assert planes(game, 0) == [{13: 1}, {14: 1}, {}, {}, {15: 1}, {15: 4}]
    assert planes(game, 1) == [{14: 1}, {13: 1}, {}, {}, {15: 1}, {15: 4}]


def test_a_revealed_tile_costs_no_stone_and_a_stone_no_tile() -> None:
    game = play(Oracle(DEAL, num_players=4), REVEAL, 0, 1, REVEAL, 2, 3, REVEAL)
    assert features(game, 0)[:8] == [5, 4, 5, 4, 3, 5, 4, 5]


def test_observer_comes_first_then_clockwise() -> None:
    # 3 players: seat 0 has played a stone at 0 and then a tile, seat 1 two stones, seat 2 a tile and a stone.
    game = play(Oracle(DEAL, num_players=3), 0, 1, REVEAL, 2, REVEAL, 3, 4, 5)
    tiles = {2: 1, 3: 1}
    values = {2: -2, 3: 4}
    unseen = [1, 2, 5, 2, 2, 6, 2, 0]
    assert planes(game, 0) == [{0: 1}, {1: 1, 4: 1}, {5: 1}, {}, tiles, values]
    assert planes(game, 1) == [{1: 1, 4: 1}, {5: 1}, {0: 1}, {}, tiles, values]
    assert planes(game, 2) == [{5: 1}, {0: 1}, {1: 1, 4: 1}, {}, tiles, values]
    assert features(game, 0) == [5, 4, 5, 0, 6, 7, 6, 0, *unseen, 0, 0, 0, 1, 0]
    assert features(game, 1) == [4, 5, 5, 0, 7, 6, 6, 0, *unseen, 0, 0, 0, 1, 0]
    assert features(game, 2) == [5, 5, 4, 0, 6, 6, 7, 0, *unseen, 0, 0, 0, 1, 0]


def test_four_players_have_four_planes() -> None:
    game = play(Oracle(DEAL, num_players=4), 10, 11, 12, 13)
    assert planes(game, 2) == [{12: 1}, {13: 1}, {10: 1}, {11: 1}, {}, {}]
    assert game.player_to_move() == 0


def test_the_common_stock_shows_in_feature_4_only() -> None:
    game = play(Oracle(DEAL, num_players=3, variant="shared_stock"), REVEAL, 0, 1, REVEAL)
    unseen = [1, 2, 6, 1, 2, 6, 2, 0]  # 4 and -1 are the first two of the common stock
    for player, stones in [(0, [6, 5, 6, 0]), (1, [5, 6, 6, 0]), (2, [6, 6, 5, 0])]:
        assert features(game, player) == [*stones, 20, 0, 0, 0, *unseen, 1, -1, 0, 1, 0]


@pytest.mark.parametrize(("n", "variant"), ALL_CONFIGS)
def test_hidden_memory_hides_exactly_the_values_of_the_board_and_the_counts(n: int, variant: str) -> None:
    script = (REVEAL, 0, 1, REVEAL, 2, REVEAL, 3, REVEAL)
    open_game = play(Oracle(DEAL, num_players=n, variant=variant), *script)
    hidden = play(Oracle(DEAL, num_players=n, variant=variant, memory="hidden"), *script)
    for player in range(n):
        board, numbers = open_game.observe(player)
        assert sum(map(abs, numbers[8:16])) == 22 - 4  # there is something to hide
        assert sum(map(bool, board[180:])) == 3
        assert numbers[16] == 1  # and a tile in hand that stays open
        assert numbers[17] != 0
        assert hidden.observe(player) == (board[:180] + [0] * 36, numbers[:8] + [0] * 8 + numbers[16:])


def test_hidden_memory_changes_nothing_but_the_observation() -> None:
    script = (REVEAL, 0, 1, 6, REVEAL, 7)
    open_game, hidden = play(Oracle(DEAL), *script), play(Oracle(DEAL, memory="hidden"), *script)
    # 4 at cell 0 and 1 at cell 7. The stone of seat 1 at cell 1 touches both, so does seat 0's at cell 6.
    assert hidden.scores() == open_game.scores() == [5, 5]
    assert hidden.legal_actions() == open_game.legal_actions()
    assert hidden.player_to_move() == open_game.player_to_move() == 0


@pytest.mark.parametrize(
    ("n", "variant", "spot"),
    # Two places of the deal, in one stock or two or out of the game, that one reveal of seat 0 can't show.
    [
        (2, "standard", (11, 12)),
        (3, "standard", (7, 21)),
        (4, "standard", (4, 20)),
        (2, "shared_stock", (1, 2)),
    ],
)
@pytest.mark.parametrize("memory", ["open", "hidden"])
def test_the_order_of_the_stock_shows_nowhere(n: int, variant: str, spot: tuple[int, int], memory: str) -> None:
    other = list(DEAL)
    a, b = spot
    other[a], other[b] = other[b], other[a]
    one = play(Oracle(DEAL, num_players=n, variant=variant, memory=memory), REVEAL, 0)
    two = play(Oracle(other, num_players=n, variant=variant, memory=memory), REVEAL, 0)
    assert snapshot(one) == snapshot(two)


# Which tile is drawn when.


def draw_all(game: Oracle, rounds: int) -> dict[int, list[int]]:
    """The values that each seat reveals when everybody plays nothing but tiles."""
    drawn: dict[int, list[int]] = {seat: [] for seat in range(game.num_players)}
    for cell in range(rounds):
        seat = game.player_to_move()
        game.step(REVEAL)
        drawn[seat].append(features(game, seat)[17])
        game.step(cell)
    return drawn


def test_standard_deal_for_two() -> None:
    game = Oracle(DEAL, num_players=2)
    assert draw_all(game, 22) == {0: DEAL[:11], 1: DEAL[11:]}
    assert features(game, 0) == [8, 8, 0, 0] + [0] * 14 + [1, 0, 0]  # all tiles have been seen


def test_standard_deal_for_three_leaves_the_last_tile_out() -> None:
    game = Oracle(deal_starting(*DEAL[14:21], *DEAL[7:14], *DEAL[:7]), num_players=3)  # -2 is the last one
    assert draw_all(game, 21) == {0: DEAL[14:21], 1: DEAL[7:14], 2: DEAL[:7]}
    assert features(game, 0) == [6, 6, 6, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]
    assert game.legal_actions() == list(range(21, 36))  # it is never revealed


def test_standard_deal_for_four_leaves_the_last_two_tiles_out() -> None:
    deal = DEAL[2:] + DEAL[:2]  # 4 and -1 are the last ones
    game = Oracle(deal, num_players=4)
    assert draw_all(game, 20) == {0: deal[:5], 1: deal[5:10], 2: deal[10:15], 3: deal[15:20]}
    assert features(game, 0) == [5, 5, 5, 5, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    assert game.legal_actions() == list(range(20, 36))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_shared_stock_is_drawn_by_whoever_reveals_and_nothing_is_out(n: int) -> None:
    game = Oracle(DEAL, num_players=n, variant="shared_stock")
    drawn = draw_all(game, 22)
    assert drawn == {seat: DEAL[seat::n] for seat in range(n)}
    assert features(game, 0)[4:18] == [0] * 14
    assert game.legal_actions() == list(range(22, 36))


def test_shared_stock_goes_on_after_stones() -> None:
    game = play(Oracle(DEAL, variant="shared_stock"), 0, REVEAL, 1, 2, REVEAL, 3, REVEAL, 4)
    assert planes(game, 0)[5] == {1: 4, 3: -1, 4: -2}


def test_own_stock_goes_on_after_stones() -> None:
    game = play(Oracle(DEAL), 0, REVEAL, 1, 2, REVEAL, 3, REVEAL, 4)
    assert planes(game, 0)[5] == {1: 1, 3: -1, 4: 4}


# Forced turns.


def test_who_has_no_stone_must_reveal_and_who_has_no_tile_must_place_a_stone() -> None:
    game = Oracle(DEAL)
    for turn in range(8):  # seat 0 places its 8 stones, seat 1 tiles
        assert game.legal_actions() == list(range(2 * turn, 37))
        play(game, 2 * turn, REVEAL, 2 * turn + 1)
    assert features(game, 0)[:6] == [0, 8, 0, 0, 11, 3]
    assert game.legal_actions() == [REVEAL]
    with pytest.raises(ValueError, match="illegal action"):
        game.step(16)
    game.step(REVEAL)
    assert game.player_to_move() == 0
    assert game.legal_actions() == list(range(16, 36))
    play(game, 16, REVEAL, 17, REVEAL, 18, REVEAL, 19, REVEAL, 20, REVEAL, 21)
    # Seat 1 has drawn all its 11 tiles. Seat 0 has no stone, 8 tiles, and goes on revealing.
    assert game.player_to_move() == 0
    assert game.legal_actions() == [REVEAL]
    play(game, REVEAL, 22)
    assert features(game, 1)[:6] == [8, 0, 0, 0, 0, 7]
    assert game.player_to_move() == 1
    assert game.legal_actions() == list(range(23, 36))
    with pytest.raises(ValueError, match="illegal action"):
        game.step(REVEAL)
    play(game, 23)
    assert game.player_to_move() == 0


def test_an_empty_common_stock_forces_stones_on_all() -> None:
    game = Oracle(DEAL, num_players=3, variant="shared_stock")
    draw_all(game, 22)
    for cell in range(22, 36):
        assert game.player_to_move() == cell % 3
        assert game.legal_actions() == list(range(cell, 36))
        with pytest.raises(ValueError, match="illegal action"):
            game.step(REVEAL)
        game.step(cell)
    assert game.player_to_move() == -1


def test_two_players_skipping() -> None:
    game = Oracle(DEAL, variant="shared_stock")
    count = 0
    for cell in range(30):  # seat 0: 8 stones, then 7 tiles; seat 1: 15 tiles
        assert game.player_to_move() == cell % 2
        if cell % 2 or cell >= 16:
            game.step(REVEAL)
            count += 1
        game.step(cell)
        count += 1
    for cell in range(30, 36):  # seat 0 has neither and is skipped to the end
        assert game.player_to_move() == 1
        assert game.legal_actions() == list(range(cell, 36))
        assert features(game, 1)[:5] == [38 - cell, 0, 0, 0, 0]
        game.step(cell)
        count += 1
    assert count == 58  # the longest game: all 22 tiles
    assert game.player_to_move() == -1
    assert features(game, 0)[:5] == [0, 2, 0, 0, 0]  # two stones are left over


def test_who_has_a_single_stone_is_not_skipped_yet() -> None:
    game = Oracle(DEAL, variant="shared_stock")
    for cell in range(29):  # seat 0: 7 stones, then 8 tiles; seat 1: 14 tiles
        assert game.player_to_move() == cell % 2
        if cell % 2 or cell >= 14:
            game.step(REVEAL)
        game.step(cell)
    game.step(29)  # a stone of seat 1
    assert features(game, 0)[:5] == [1, 7, 0, 0, 0]
    assert game.player_to_move() == 0
    assert game.legal_actions() == list(range(30, 36))
    play(game, 30, 31)
    assert features(game, 0)[:5] == [0, 6, 0, 0, 0]
    assert game.player_to_move() == 1  # now it is


def test_three_players_skipping_two_in_a_row_and_over_the_end_of_the_circle() -> None:
    game = Oracle(DEAL, num_players=3, variant="shared_stock")
    for cell in range(33):  # seats 0 and 1: 6 stones and 5 tiles each; seat 2: 11 tiles
        assert game.player_to_move() == cell % 3
        if cell % 3 == 2 or cell >= 18:
            game.step(REVEAL)
        game.step(cell)
    # One tile is left and seat 0 has no stone: it must reveal, and is not skipped with that tile in hand.
    assert game.player_to_move() == 0
    assert game.legal_actions() == [REVEAL]
    game.step(REVEAL)
    assert features(game, 1)[:5] == [0, 6, 0, 0, 0]
    assert game.player_to_move() == 0
    assert game.legal_actions() == [33, 34, 35]
    game.step(33)
    assert game.player_to_move() == 2  # seat 1 is skipped
    game.step(34)
    assert game.player_to_move() == 2  # seats 0 and 1 are skipped
    game.step(35)
    assert game.player_to_move() == -1


def test_four_players_skipping_one_in_the_middle() -> None:
    game = Oracle(DEAL, num_players=4, variant="shared_stock")
    for cell in range(27):  # seat 1: 5 stones, then 2 tiles; the others: tiles
        assert game.player_to_move() == cell % 4
        if cell % 4 != 1 or cell >= 20:
            game.step(REVEAL)
        game.step(cell)
    for cell, seat in zip(range(27, 36), [3, 0, 2, 3, 0, 2, 3, 0, 2], strict=True):
        assert game.player_to_move() == seat
        assert game.legal_actions() == list(range(cell, 36))
        game.step(cell)
    assert game.player_to_move() == -1
    assert features(game, 1)[:5] == [0, 2, 2, 2, 0]


# Illegal actions.


@pytest.mark.parametrize("action", [-1, -36, 37, 7, 8, 9])
def test_an_illegal_action_raises_and_changes_nothing(action: int) -> None:
    game = play(Oracle(DEAL), 7, 8, REVEAL, 9)  # own stone, the other's stone, a tile
    before = snapshot(game)
    with pytest.raises(ValueError, match="illegal action"):
        game.step(action)
    assert snapshot(game) == before
    game.step(10)
    assert planes(game, 1)[0] == {8: 1, 10: 1}


@pytest.mark.parametrize("action", [-1, 7, 8, REVEAL, 37])
def test_an_illegal_action_with_a_tile_in_hand(action: int) -> None:
    game = play(Oracle(DEAL), 7, REVEAL, 8, REVEAL)
    before = snapshot(game)
    with pytest.raises(ValueError, match="illegal action"):
        game.step(action)
    assert snapshot(game) == before
    game.step(9)
    assert planes(game, 1)[5] == {8: 1, 9: 4}


# Scores.


def test_rulebook_example_minus_three() -> None:
    # Stock of seat 0: -1, -2. Its stone at 14 lies between them.
    game = play(Oracle(deal_starting(-1, -2)), 14, 35, REVEAL, 13, 34, REVEAL, 15)
    assert game.scores() == [-3, 0]


def test_rulebook_example_plus_one() -> None:
    game = play(Oracle(deal_starting(4, -1, -2)), 14, 35, REVEAL, 8, 34, REVEAL, 13, 33, REVEAL, 20)
    assert game.scores() == [1, 0]


def test_rulebook_example_plus_three() -> None:
    # In the corner this time: 1 to the left, 2 above.
    game = play(Oracle(deal_starting(1, 2)), 35, 0, REVEAL, 34, 1, REVEAL, 29)
    assert game.scores() == [3, 0]


def test_scores_stand_at_any_time_and_a_tile_in_hand_does_not_count() -> None:
    game = Oracle(deal_starting(4, -1, -2))
    seen = []
    for action in (14, 35, REVEAL, 8, 34, REVEAL, 13, 33, REVEAL, 20):
        game.step(action)
        seen.append(game.scores()[0])
    assert seen == [0, 0, 0, 4, 4, 4, 3, 3, 3, 1]


def test_a_stone_counts_when_it_comes_after_the_tiles_too() -> None:
    game = play(Oracle(deal_starting(4, -1)), REVEAL, 8, 35, REVEAL, 13, 14)
    assert game.scores() == [0, 3]


def test_a_tile_counts_for_every_stone_beside_it() -> None:
    # +3 at 14 with stones of seat 0 at 8 and 13, of seat 1 at 15 and 20; stones of seat 1 on the diagonals.
    game = play(Oracle(deal_starting(3, 2)), REVEAL, 14, 15, 8, 20, 13, 7, REVEAL, 0, 21)
    # 2 at cell 0 touches 1 and 6 only, not 7 on its diagonal. Stones give nothing to each other.
    assert game.scores() == [6, 6]
    play(game, 6)
    assert game.scores() == [8, 6]


@pytest.mark.parametrize(
    ("tile", "beside"),
    [
        (0, {1, 6}),
        (5, {4, 11}),  # not 6, the next number
        (6, {0, 7, 12}),  # not 5
        (11, {5, 10, 17}),  # not 12
        (3, {2, 4, 9}),  # not 33, round the edge
        (14, {8, 13, 15, 20}),
        (30, {24, 31}),
        (33, {27, 32, 34}),
        (35, {29, 34}),
    ],
)
def test_orthogonally_next_to_it(tile: int, beside: set[int]) -> None:
    game = play(Oracle(deal_starting(4)), REVEAL, tile)  # then seat 1 places one stone
    found = set()
    for cell in range(36):
        if cell != tile:
            after = play(game.copy(), cell)
            assert after.scores() in ([0, 0], [0, 4])
            if after.scores() == [0, 4]:
                found.add(cell)
    assert found == beside


def test_scores_are_by_seat_for_four_players() -> None:
    # The first tile of seat 3 is +3 and lies at 14 between a stone of every seat.
    deal = [value for value in DEAL if value != 3] + [3]
    deal.insert(15, 3)
    game = play(Oracle(deal, num_players=4), 13, 8, 15, REVEAL, 14, 0, 1, 2, 20)
    assert game.scores() == [3, 3, 3, 3]
    play(game, REVEAL, 12)  # the first tile of seat 0, a 4, left of its stone at 13
    assert game.scores() == [7, 3, 3, 3]


# Length and order of play.


@pytest.mark.parametrize(("n", "variant"), ALL_CONFIGS)
def test_36_placements_and_36_plus_k_actions(n: int, variant: str) -> None:
    for seed in range(10):
        game, actions, seats = random_game(seed, num_players=n, variant=variant)
        board = planes(game, 0)
        stones = [len(plane) for plane in board[:4]]
        k = len(board[4])
        assert len(actions) == 36 + k
        assert sum(action == REVEAL for action in actions) == k
        assert sorted(action for action in actions if action != REVEAL) == list(range(36))
        assert sum(stones) + k == 36
        assert sum(len(plane) for plane in board) == 36 + k  # the values of the k tiles, none of them 0
        numbers = features(game, 0)
        assert numbers[:4] == [STONES[n] - stones[seat] if seat < n else 0 for seat in range(4)]
        in_stocks = sum(numbers[4:8])
        out = {2: 0, 3: 1, 4: 2}[n] if variant == "standard" else 0
        assert in_stocks == 22 - out - k
        assert sum(numbers[8:16]) == 22 - k
        assert set(seats) == set(range(n))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_nobody_is_skipped_in_standard(n: int) -> None:
    for seed in range(10):
        _, actions, seats = random_game(seed, num_players=n)
        placing = [seat for seat, action in zip(seats, actions, strict=True) if action != REVEAL]
        assert placing == [turn % n for turn in range(36)]


@pytest.mark.parametrize(("n", "variant"), ALL_CONFIGS)
def test_legal_actions_are_exactly_what_step_accepts(n: int, variant: str) -> None:
    rng = random.Random(5)
    game = Oracle(DEAL, num_players=n, variant=variant)
    while game.player_to_move() != -1:
        accepted = []
        for action in range(-1, 38):
            try:
                game.copy().step(action)
            except ValueError:
                continue
            accepted.append(action)
        assert game.legal_actions() == accepted
        assert accepted
        game.step(rng.choice(accepted))


# The end.

WIN_FOR_TWO = """
    A B A B A B
    A B A B A B
    A B A B +1 -2
    +3 -1 +2 -3 . .
    . . . . . .
    . . . . . .
"""  # A: 3 + 2 + 1 = 6 (columns 0, 2, and 4 above the 1); B: -1 - 3 + 1 (right of row 2's last B) - 2 = -5

NARROW_WIN_FOR_TWO = """
    A B A B A B
    A B A B A B
    A B A B +1 -1
    +2 +2 -2 -2 . .
    . . . . . .
    . . . . . .
"""  # A: 2 - 2 + 1 = 1; B: 2 - 2 + 1 - 1 = 0

TIE_FOR_TWO = """
    A B A B A B
    A B A B A B
    A B A B +1 -2
    +2 +4 -2 -2 . .
    . . . . . .
    . . . . . .
"""  # A: 2 - 2 + 1 = 1; B: 4 - 2 + 1 - 2 = 1

CLIPPED = """
    A +3 A +2 A +2
    +3 A +4 A +2 +1
    A +2 A +2 A +2
    B -2 B -2 B -2
    -3 B -4 B -2 +1
    B -3 B -2 B -2
"""  # A: 4 * 4 + 3 * (3 + 3 + 2 + 2 + 2 + 2) + 2 + 2 = 62, and B the same with minus

THREE = """
    A B C A B C
    A B C A B C
    A B C A B C
    {}
    . . . . . .
    . . . . . .
"""  # A scores the first and the fourth value, B the second and the fifth, C the third and the sixth

FOUR = """
    A B C D A B
    C D A B C D
    A B C D A B
    {}
    . . . . . .
    . . . . . .
"""  # A scores the first and the fifth value, B the second and the sixth, C the third, D the fourth


def test_win_for_two() -> None:
    game = play_picture(WIN_FOR_TWO, 2)
    assert game.scores() == [6, -5]
    assert game.returns() == [1.0, -1.0]
    assert game.returns("outcome") == [1.0, -1.0]
    assert game.returns("margin") == [pytest.approx(11 / 40), pytest.approx(-11 / 40)]


def test_win_of_the_second_player() -> None:
    game = play_picture(WIN_FOR_TWO.translate(str.maketrans("AB", "BA")), 2)
    assert game.scores() == [-5, 6]
    assert game.returns() == [-1.0, 1.0]
    assert game.returns("margin") == [pytest.approx(-11 / 40), pytest.approx(11 / 40)]


def test_one_point_wins() -> None:
    game = play_picture(NARROW_WIN_FOR_TWO, 2)
    assert game.scores() == [1, 0]
    assert game.returns() == [1.0, -1.0]
    assert game.returns("margin") == [pytest.approx(0.025), pytest.approx(-0.025)]


def test_a_tie_of_two_is_shared() -> None:
    game = play_picture(TIE_FOR_TWO, 2)
    assert game.scores() == [1, 1]
    assert game.returns() == [0.0, 0.0]
    assert game.returns("margin") == [0.0, 0.0]


def test_margin_is_clipped() -> None:
    game = play_picture(CLIPPED, 2)
    assert game.scores() == [62, -62]
    assert game.returns("margin") == [1.0, -1.0]


@pytest.mark.parametrize(
    ("values", "scores", "outcome", "margin_points"),
    [
        ("+4 +1 -1 +2 -3 -2", [6, -2, -3], [1, -1 / 2, -1 / 2], [8, -8, -9]),
        ("-1 +2 -2 -2 +3 -1", [-3, 5, -3], [-1 / 2, 1, -1 / 2], [-8, 8, -8]),
        ("+1 +1 +2 -4 -3 -2", [-3, -2, 0], [-1 / 2, -1 / 2, 1], [-3, -2, 2]),
        ("-3 -1 +1 +1 -2 -4", [-2, -3, -3], [1, -1 / 2, -1 / 2], [1, -1, -1]),
        ("+4 +3 -1 +1 +2 -2", [5, 5, -3], [1 / 4, 1 / 4, -1 / 2], [0, 0, -8]),
        ("+2 -1 +1 +1 -2 +2", [3, -3, 3], [1 / 4, -1 / 2, 1 / 4], [0, -6, 0]),
        ("+2 +2 +2 -2 -2 -2", [0, 0, 0], [0, 0, 0], [0, 0, 0]),
    ],
)
def test_rewards_of_three(values: str, scores: list[int], outcome: list[float], margin_points: list[int]) -> None:
    game = play_picture(THREE.format(values), 3)
    assert game.scores() == scores
    assert game.returns() == pytest.approx(outcome)
    assert game.returns("margin") == pytest.approx([points / 40 for points in margin_points])


@pytest.mark.parametrize(
    ("values", "scores", "outcome", "margin_points"),
    [
        ("+2 -1 -2 -3 +1 -1", [3, -2, -2, -3], [1, -1 / 3, -1 / 3, -1 / 3], [5, -5, -5, -6]),
        ("-1 -2 +1 +4 -1 +2", [-2, 0, 1, 4], [-1 / 3, -1 / 3, -1 / 3, 1], [-6, -4, -3, 3]),
        ("-1 +1 -4 +3 -1 +2", [-2, 3, -4, 3], [-1 / 3, 1 / 3, -1 / 3, 1 / 3], [-5, 0, -7, 0]),
        ("+1 -1 +2 -3 +1 +3", [2, 2, 2, -3], [1 / 9, 1 / 9, 1 / 9, -1 / 3], [0, 0, 0, -5]),
        ("+1 -1 +2 +2 +1 +3", [2, 2, 2, 2], [0, 0, 0, 0], [0, 0, 0, 0]),
    ],
)
def test_rewards_of_four(values: str, scores: list[int], outcome: list[float], margin_points: list[int]) -> None:
    game = play_picture(FOUR.format(values), 4)
    assert game.scores() == scores
    assert game.returns() == pytest.approx(outcome)
    assert game.returns("margin") == pytest.approx([points / 40 for points in margin_points])


def test_no_rewards_before_the_36th_cell() -> None:
    game = Oracle(DEAL, variant="shared_stock")
    draw_all(game, 22)  # cell k holds the k-th value of the deal
    play(game, *range(22, 35))
    # Seat 0: 2 - 2 at 22, -3 at 24, -2 at 26; seat 1: -2 at 23, 2 at 25, -2 at 27.
    assert game.scores() == [-5, -2]
    assert game.player_to_move() == 1
    assert game.returns() == game.returns("margin") == [0.0, 0.0]
    game.step(35)
    assert game.player_to_move() == -1
    assert game.scores() == [-5, -2]
    assert game.returns() == [-1.0, 1.0]
    assert game.returns("margin") == [pytest.approx(-3 / 40), pytest.approx(3 / 40)]


@pytest.mark.parametrize("over", [False, True])
def test_unknown_reward(over: bool) -> None:
    game = play_picture(CLIPPED, 2) if over else Oracle(DEAL)
    with pytest.raises(ValueError, match="reward"):
        game.returns("score")


def test_nothing_is_legal_after_the_end() -> None:
    game = play_picture(CLIPPED, 2)  # both players have a tile left in their stocks
    assert game.legal_actions() == []
    before = snapshot(game)
    for action in range(-1, 38):
        with pytest.raises(ValueError, match="illegal action"):
            game.step(action)
    assert snapshot(game) == before


@pytest.mark.parametrize("memory", ["open", "hidden"])
def test_terminal_observation(memory: str) -> None:
    game = play_picture(CLIPPED, 2, memory=memory)
    cells = CLIPPED.split()
    stones = [{k: 1 for k, cell in enumerate(cells) if cell == letter} for letter in "AB"]
    values = {k: int(cell) for k, cell in enumerate(cells) if cell not in "AB"}
    tiles = dict.fromkeys(values, 1)
    known = values if memory == "open" else {}
    assert planes(game, 0) == [stones[0], stones[1], {}, {}, tiles, known]
    assert planes(game, 1) == [stones[1], stones[0], {}, {}, tiles, known]
    unseen = [0, 0, 0, 2, 0, 0, 0, 0] if memory == "open" else [0] * 8  # both -1 are still in the stocks
    for player in (0, 1):
        assert features(game, player) == [0, 0, 0, 0, 1, 1, 0, 0, *unseen, 0, 0, 1, 0, 0]


def test_terminal_observation_of_four() -> None:
    game = play_picture(FOUR.format("+1 -1 +2 -3 +1 +3"), 4)
    cells = FOUR.split()[:18]
    stones = [{k: 1 for k, cell in enumerate(cells) if cell == letter} for letter in "ABCD"]
    for player in range(4):
        board = planes(game, player)
        assert board[:4] == stones[player:] + stones[:player]
        assert board[4] == dict.fromkeys(range(18, 36), 1)
        assert [board[5][cell] for cell in range(18, 24)] == [1, -1, 2, -3, 1, 3]
        numbers = features(game, player)
        # A and B have placed 5 stones and 4 tiles, C and D 4 stones and all 5 tiles.
        assert numbers[:4] == [0, 0, 1, 1, 0, 0, 1, 1][player : player + 4]
        assert numbers[4:8] == [1, 1, 0, 0, 1, 1, 0, 0][player : player + 4]
        assert numbers[8:16] == [
            count - list(board[5].values()).count(value) for value, count in zip(VALUES, COUNTS, strict=True)
        ]
        assert sum(numbers[8:16]) == 4  # two in the stocks, two out of the game
        assert numbers[16:] == [0, 0, 0, 0, 1]


# Copies.


def test_a_copy_and_its_original_go_separate_ways() -> None:
    options: dict[str, Any] = {"num_players": 3, "variant": "shared_stock", "memory": "hidden"}
    game = play(Oracle(DEAL, **options), REVEAL, 0, 1, REVEAL)
    before = snapshot(game)
    twin = game.copy()
    assert snapshot(twin) == before
    play(twin, 2, REVEAL)
    assert snapshot(game) == before
    moved = snapshot(twin)
    play(game, 3, 4)
    assert snapshot(twin) == moved
    # The copy has the deal and the options too: it plays on like a game of its own.
    assert moved == snapshot(play(Oracle(DEAL, **options), REVEAL, 0, 1, REVEAL, 2, REVEAL))


def test_answers_are_fresh_lists() -> None:
    game = play(Oracle(DEAL), 0, REVEAL, 1)
    before = snapshot(game)
    for answer in (*game.observe(0), *game.observe(1), game.legal_actions(), game.scores(), game.returns()):
        answer.clear()
    assert snapshot(game) == before
