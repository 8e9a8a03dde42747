"""Isis & Osiris's own rules, through the environment: the rulebook's examples, the rulings, the ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import iszoo
from iszoo.envs.aec import GameEnv
from tests.oracle.pictures import deal_starting, planned

REVEAL = 36
STONES = {2: 8, 3: 6, 4: 5}
STOCK = {2: 11, 3: 7, 4: 5}
COUNTS = [1, 2, 6, 2, 2, 6, 2, 1]  # of -4 -3 -2 -1 1 2 3 4
VALUES = [-4, -3, -2, -1, 1, 2, 3, 4]
DEAL = [4, -1, -2, 1, 2, 3, -3, -4, 2, 2, -2, 1, -1, 2, -2, 3, 2, -2, -3, 2, -2, -2]  # no two stocks look alike


def begun(deal: Sequence[int] = DEAL, **options: Any) -> GameEnv:
    """A game at the beginning of a deal."""
    env = iszoo.make("isis_osiris", observation="split", **options)
    env.reset(seed=0, options={"deal": deal})
    return env


def play(env: GameEnv, *actions: int) -> GameEnv:
    """The environment after these actions."""
    for action in actions:
        env.step(action)
    return env


def draw(env: GameEnv, *cells: int) -> GameEnv:
    """Plays a tile of the stock on each cell, whoever moves."""
    for cell in cells:
        play(env, REVEAL, cell)
    return env


def features(env: GameEnv, seat: int = 0) -> list[int]:
    found: list[int] = env.observe(f"player_{seat}")["observation"]["features"].tolist()
    return found


def plane(env: GameEnv, number: int, seat: int = 0) -> dict[int, int]:
    """The entries of a plane that are not zero, by cell."""
    cells = env.observe(f"player_{seat}")["observation"]["board"][number].ravel().tolist()
    return {cell: value for cell, value in enumerate(cells) if value}


def mover(env: GameEnv) -> int:
    """The seat to move, -1 when the game is over."""
    return -1 if any(env.terminations.values()) else env.possible_agents.index(env.agent_selection)


# --- The deal ---


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("variant", ["standard", "shared_stock"])
def test_the_opening(players: int, variant: str) -> None:
    env = begun(num_players=players, variant=variant)
    absent = [0] * (4 - players)
    tiles = [22, 0, 0, 0] if variant == "shared_stock" else [STOCK[players]] * players + absent
    one_hot = [int(players == n) for n in (2, 3, 4)]
    for seat in range(players):
        assert features(env, seat) == [STONES[players]] * players + absent + tiles + COUNTS + [0, 0] + one_hot
    assert env.legal_actions() == list(range(37))
    assert mover(env) == 0


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_player_draws_from_a_stock_of_their_own(players: int) -> None:
    """The stocks stand in the deal in seat order, the first tile on top; what is left is out of the game."""
    env = begun(num_players=players)
    drawn: list[list[int]] = [[] for _ in range(players)]
    for cell in range(STOCK[players] * players):
        seat = mover(env)
        env.step(REVEAL)
        drawn[seat].append(features(env)[17])
        env.step(cell)
    each = STOCK[players]
    assert drawn == [DEAL[each * seat : each * (seat + 1)] for seat in range(players)]
    out = DEAL[each * players :]
    assert features(env)[8:16] == [out.count(value) for value in VALUES]  # out of the game counts as not seen
    assert REVEAL not in env.legal_actions()


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_shared_stock_is_drawn_by_whoever_reveals(players: int) -> None:
    env = begun(num_players=players, variant="shared_stock")
    play(env, 35, *(cell for number in range(22) for cell in (REVEAL, number)))  # a stone, then all tiles
    assert list(plane(env, 5).values()) == DEAL
    assert features(env)[4:8] == [0, 0, 0, 0]
    assert REVEAL not in env.legal_actions()


# --- A turn ---


def test_a_revealed_tile_is_placed_by_the_same_player() -> None:
    env = play(begun(), 7)
    assert mover(env) == 1
    env.step(REVEAL)
    assert mover(env) == 1
    assert env.legal_actions() == [cell for cell in range(36) if cell != 7]
    for seat in (0, 1):  # everybody sees it, and it has left stock and counts
        assert features(env, seat)[16:18] == [1, DEAL[11]]
        assert sorted(features(env, seat)[4:6]) == [10, 11]
        assert features(env, seat)[8 + VALUES.index(DEAL[11])] == COUNTS[VALUES.index(DEAL[11])] - 1
    env.step(35)
    assert mover(env) == 0
    assert plane(env, 4) == {35: 1}
    assert plane(env, 5) == {35: DEAL[11]}
    assert features(env)[16:18] == [0, 0]
    assert env.legal_actions() == [cell for cell in range(37) if cell not in (7, 35)]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_observer_comes_first_then_clockwise(players: int) -> None:
    env = play(begun(num_players=players), *range(players))  # a stone of each seat on the cell of its number
    for seat in range(players):
        for distance in range(4):
            expected = {(seat + distance) % players: 1} if distance < players else {}
            assert plane(env, distance, seat) == expected


def test_hidden_memory_hides_values_and_counts_only() -> None:
    actions = [0, REVEAL, 1, 2, REVEAL, 3, REVEAL]
    shown, hidden = play(begun(), *actions), play(begun(memory="hidden"), *actions)
    for seat in (0, 1):
        assert [plane(hidden, number, seat) for number in range(5)] == [plane(shown, n, seat) for n in range(5)]
        assert plane(shown, 5, seat)
        assert plane(hidden, 5, seat) == {}
        assert features(hidden, seat)[8:16] == [0] * 8
        assert features(hidden, seat)[:8] == features(shown, seat)[:8]
        assert features(hidden, seat)[16:] == features(shown, seat)[16:] == [1, DEAL[0], 1, 0, 0]


def test_the_order_of_the_stock_shows_nowhere() -> None:
    env, other = begun(), begun([*reversed(DEAL)])
    for action in range(6):
        play(env, action)
        play(other, action)
        for seat in (0, 1):
            assert features(env, seat) == features(other, seat)
    assert env.state().tolist() != other.state().tolist()


# --- Who can't do either ---


def test_without_stones_a_tile_and_without_tiles_a_stone() -> None:
    env = begun()
    for turn in range(8):  # player_0 places its stones, player_1 tiles
        draw(play(env, 2 * turn), 2 * turn + 1)
    assert env.legal_actions() == [REVEAL]
    draw(env, 16, 17, 18, 19, 20, 21)
    assert env.legal_actions() == [REVEAL]  # player_0 has tiles only
    draw(env, 22)
    assert env.legal_actions() == list(range(23, 36))  # player_1 has stones only


def test_who_has_neither_is_skipped() -> None:
    """The longest game: player_0 places its stones first and player_1 takes the last tile: 58 actions."""
    env = begun(variant="shared_stock")
    count = 0
    for cell in range(30):  # player_0: 8 stones, then 7 tiles; player_1: 15 tiles
        assert mover(env) == cell % 2
        stone = cell % 2 == 0 and cell < 16
        (play if stone else draw)(env, cell)
        count += 1 if stone else 2
    for cell in range(30, 36):
        assert mover(env) == 1
        play(env, cell)
        count += 1
    assert mover(env) == -1
    assert count == env.game.max_game_length == 58


def test_several_are_skipped_over_the_end_of_the_circle() -> None:
    env = begun(num_players=3, variant="shared_stock")
    for cell in range(33):  # players 0 and 1: 6 stones and 5 tiles each; player_2: 11 tiles
        stone = cell % 3 != 2 and cell < 18
        (play if stone else draw)(env, cell)
    assert mover(env) == 0
    env.step(REVEAL)  # the last tile: who has it in hand is not skipped
    assert mover(env) == 0
    env.step(33)
    assert mover(env) == 2  # player_1 is skipped
    env.step(34)
    assert mover(env) == 2  # so are 0 and 1
    env.step(35)
    assert mover(env) == -1


# --- Points ---


@pytest.mark.parametrize(
    ("tiles", "actions", "points"),
    [
        ((-1, -2), [14, 35, REVEAL, 13, 34, REVEAL, 15], -3),
        ((4, -1, -2), [14, 35, REVEAL, 8, 34, REVEAL, 13, 33, REVEAL, 20], 1),
        ((1, 2), [35, 0, REVEAL, 34, 1, REVEAL, 29], 3),
    ],
)
def test_the_examples_of_the_rulebook(tiles: tuple[int, ...], actions: list[int], points: int) -> None:
    """A stone next to -1 and -2; to +4, -1, -2; to +1 and +2."""
    env = play(begun(deal_starting(*tiles)), *actions)
    assert env.scores()[0] == points


@pytest.mark.parametrize("tile", range(36))
def test_next_to_is_orthogonal(tile: int) -> None:
    """A +4 counts for a stone on the cells above, below, left and right, not across an edge of the board."""
    beside = {tile + 6, tile - 6} & set(range(36))
    beside |= {tile + 1} if tile % 6 < 5 else set()
    beside |= {tile - 1} if tile % 6 > 0 else set()
    start = draw(begun(deal_starting(4)), tile)
    found = {cell for cell in start.legal_actions() if cell < 36 and play(start.clone(), cell).scores()[1]}
    assert found == beside


TWO = """
    A B A B A B
    A B A B A B
    A B A B {} {}
    {} {} {} {} . .
    . . . . . .
    . . . . . .
"""  # A scores the first, third and fifth value; B the first, second, fourth and sixth
THREE = """
    A B C A B C
    A B C A B C
    A B C A B C
    {} {} {} {} {} {}
    . . . . . .
    . . . . . .
"""  # A scores the first and the fourth value, B the second and the fifth, C the third and the sixth
FOUR = """
    A B C D A B
    C D A B C D
    A B C D A B
    {} {} {} {} {} {}
    . . . . . .
    . . . . . .
"""  # A scores the first and the fifth value, B the second and the sixth, C the third, D the fourth
CLIPPED = """
    A +3 A +2 A +2
    +3 A +4 A +2 +1
    A +2 A +2 A +2
    B -2 B -2 B -2
    -3 B -4 B -2 +1
    B -3 B -2 B -2
"""


@pytest.mark.parametrize(
    ("picture", "values", "scores", "outcome", "margin"),
    [
        (TWO, "+1 -2 +3 -1 +2 -3", [6, -5], [1, -1], [11, -11]),
        (TWO, "+1 -1 +2 +2 -2 -2", [1, 0], [1, -1], [1, -1]),
        (TWO, "+1 -2 +2 +4 -2 -2", [1, 1], [0, 0], [0, 0]),
        (CLIPPED, "", [62, -62], [1, -1], [40, -40]),
        (THREE, "+4 +1 -1 +2 -3 -2", [6, -2, -3], [1, -1 / 2, -1 / 2], [8, -8, -9]),
        (THREE, "+4 +3 -1 +1 +2 -2", [5, 5, -3], [1 / 4, 1 / 4, -1 / 2], [0, 0, -8]),
        (THREE, "+2 +2 +2 -2 -2 -2", [0, 0, 0], [0, 0, 0], [0, 0, 0]),
        (FOUR, "-1 -2 +1 +4 -1 +2", [-2, 0, 1, 4], [-1 / 3, -1 / 3, -1 / 3, 1], [-6, -4, -3, 3]),
        (FOUR, "-1 +1 -4 +3 -1 +2", [-2, 3, -4, 3], [-1 / 3, 1 / 3, -1 / 3, 1 / 3], [-5, 0, -7, 0]),
        (FOUR, "+1 -1 +2 -3 +1 +3", [2, 2, 2, -3], [1 / 9, 1 / 9, 1 / 9, -1 / 3], [0, 0, 0, -5]),
    ],
)
def test_results(picture: str, values: str, scores: list[int], outcome: list[float], margin: list[int]) -> None:
    """Most points win and ties are shared; the margin is points over 40, at most 1."""
    deal, actions = planned(picture.format(*values.split()), len(scores))
    expected = {"outcome": outcome, "margin": [points / 40 for points in margin]}
    for reward, rewards in expected.items():
        env = begun(deal, num_players=len(scores), reward=reward)
        play(env, *actions[:-1])
        assert mover(env) >= 0
        assert not any(env.rewards.values())
        env.step(actions[-1])
        assert mover(env) == -1
        assert env.scores() == scores
        assert list(env.rewards.values()) == pytest.approx(rewards)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_thirty_six_placements(players: int) -> None:
    """With k tiles placed a game has 36 + k actions."""
    env = begun(num_players=players, variant="shared_stock")
    actions = 0
    while mover(env) >= 0:
        env.step(env.legal_actions()[-1 if actions % 3 else 0])
        actions += 1
    tiles = len(plane(env, 4))
    assert 0 < tiles < 22
    assert actions == 36 + tiles
    stones = [len(plane(env, seat)) for seat in range(players)]
    assert sum(stones) + tiles == 36


def test_the_text_has_a_line_of_six_cells_a_row() -> None:
    env = begun(render_mode="ansi")
    env.step(env.string_to_action("f6"))
    assert env.render() == "\n".join([
        "    a  b  c  d  e  f",
        *(f"{row}   .  .  .  .  .  ." for row in range(1, 6)),
        "6   .  .  .  .  .  A",
        "A: 7 stones, 11 tiles",
        "B: 8 stones, 11 tiles",
        "B to move",
    ])  # fmt: skip


def test_the_features_are_named_by_what_they_count() -> None:
    named = [name for name in iszoo.REGISTRY["isis_osiris"].features if name.startswith("tiles not yet seen")]
    assert named == [f"tiles not yet seen of value {value:+d} (memory='open')" for value in VALUES]
