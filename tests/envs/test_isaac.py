"""Isaac's own rules: the vectors of the rulebook, and what random games hardly ever come to.

A piece is (owner, type, orientation, lowest cell in its owner's frame).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo.envs import state
from iszoo.envs.aec import GameEnv
from iszoo.envs.isaac import COUNTER, GAME, LENGTHS, PLACE, REMOVE, VALUES
from tests.helpers import scaled
from tests.oracle.isaac import SLOTS, Oracle

DARK, LIGHT = 0, 1
ROW, COLUMN = 0, 1
ALL = (5, 4, 3, 2, 1)
NONE = (0, 0, 0, 0, 0)
HUNDRED_OR_MORE = 1100
OUT, OTHER_OUT = 16, 17
GAIN = 13

Piece = tuple[int, int, int, int]


def slot(kind: int, orientation: int, cell: int) -> int:
    """The action id of a slot."""
    return (2 * kind + orientation) * 100 + cell


def targets(first: int, last: int) -> list[int]:
    """The action ids of the targets from the first to the last."""
    return [1000 + t for t in range(first, last + 1)]


def position(
    placed: Iterable[Piece] = (),
    /,
    *,
    phase: int = REMOVE,
    player: int = DARK,
    scores: Sequence[int] = (0, 0),
    longest: Sequence[int] = (0, 0),
    out: Sequence[bool] = (False, False),
    unplayed: Sequence[Sequence[int]] = (NONE, NONE),
    gain: int = 0,
    reward: str = "outcome",
    **options: Any,
) -> GameEnv:
    """An environment in a position set up by hand. All pairs are (Dark's, Light's)."""
    env = iszoo.make("isaac", observation="split", reward=reward, **options)
    row = np.zeros(1, GAME.row)
    fields = row[0]
    fields["player"], fields["phase"], fields["gain"] = player, phase, gain
    fields["score"], fields["longest"] = scores, longest
    fields["out"] = out[DARK] + 2 * out[LIGHT]
    for seat in (DARK, LIGHT):
        fields["unplayed"][seat] = sum(n << (8 * k) for k, n in enumerate(unplayed[seat]))
    lengths = LENGTHS[options.get("pieces", "standard")]
    for owner, kind, orientation, lowest in placed:
        own = [lowest + n * (10 if orientation else 1) for n in range(lengths[kind])]
        for frame in (DARK, LIGHT):
            cells = own if frame == owner else [99 - c for c in own]
            for plane, covered in (
                (kind + (0 if frame == owner else 5), cells),
                (10 + orientation, cells),
                (12, [min(cells)]),
            ):
                for c in covered:
                    fields["sets"][frame, plane, c // 50] |= 1 << (c % 50)
    env.reset(seed=0)
    env.set_state(state.to_bytes(GAME, GAME.params(options), row.view(np.int64)))
    return env


def played(env: GameEnv, *actions: int) -> GameEnv:
    """The environment after these actions."""
    for action in actions:
        env.step(action)
    return env


def mover(env: GameEnv) -> int:
    """The seat to move."""
    return env.possible_agents.index(env.agent_selection)


def features(env: GameEnv, seat: int = DARK) -> list[int]:
    """The features as a seat sees them."""
    found: list[int] = env.observe(env.possible_agents[seat])["observation"]["features"].tolist()
    return found


def phase_of(env: GameEnv) -> int:
    """The phase, of which both players see the same."""
    assert features(env, DARK)[10:13] == features(env, LIGHT)[10:13]
    return features(env)[10:13].index(1)


def over(env: GameEnv) -> bool:
    return all(env.terminations.values()) and not env.legal_actions()


# --- The placement phase ---


@pytest.mark.parametrize(("pieces", "count"), [("standard", 600), ("table", 780)])
def test_legal_actions_at_the_start(pieces: str, count: int) -> None:
    env = iszoo.make("isaac", pieces=pieces)
    env.reset()
    assert env.agent_selection == "player_0"
    assert env.legal_actions() == list(SLOTS[pieces][DARK])
    assert len(env.legal_actions()) == count


@pytest.mark.parametrize("pieces", ["standard", "table"])
def test_every_slot_in_both_frames(pieces: str) -> None:
    """A piece placed by a step makes the row that the helper of this file makes by hand."""
    for seat in (DARK, LIGHT):
        start = position(phase=PLACE, player=seat, unplayed=(ALL, ALL), pieces=pieces)
        for action in SLOTS[pieces][seat]:
            kind, orientation, cell = action // 200, action // 100 % 2, action % 100
            left = [tuple(n - (k == kind) for k, n in enumerate(ALL)) if p == seat else ALL for p in (0, 1)]
            expected = position(
                [(seat, kind, orientation, cell)],
                phase=PLACE, player=1 - seat, unplayed=left, pieces=pieces,
            )  # fmt: skip
            assert played(start.clone(), action).get_state() == expected.get_state(), (seat, action)


def test_counters_are_not_on_the_board_before_the_scoring_phase() -> None:
    env = position(phase=PLACE, unplayed=(ALL, ALL))
    env.step(slot(0, ROW, 0))  # across Dark's own cell 00
    for agent in env.possible_agents:
        assert not env.observe(agent)["observation"]["board"][13:].any()


def full_but_one(unplayed: Sequence[Sequence[int]], player: int) -> GameEnv:
    """Rows of three, three and four cells fill the board, but for the last four cells of Dark's 96 to 99.

    Odd rows are Light's. They are more pieces than a player has, which the rules don't ask about.
    """
    pieces = [
        (LIGHT, kind, ROW, 99 - first - last) if first // 10 % 2 else (DARK, kind, ROW, first)
        for first in range(0, 100, 10)
        for kind, first, last in ((0, first, 2), (0, first + 3, 2), (1, first + 6, 3))
        if first != 96
    ]
    return position(pieces, phase=PLACE, player=player, unplayed=unplayed)


@pytest.mark.parametrize("last", [DARK, LIGHT])
def test_both_pass_at_the_same_time(last: int) -> None:
    """The turn is the other's when nobody can place any more: so they passed first, and start."""
    env = full_but_one([(2, 1, 0, 0, 0), (2, 1, 0, 0, 0)], last)
    action = slot(1, ROW, 96 if last == DARK else 0)
    assert action in env.legal_actions()
    env.step(action)
    assert (phase_of(env), mover(env)) == (REMOVE, 1 - last)


@pytest.mark.parametrize("passing", [DARK, LIGHT])
def test_a_pass_for_want_of_pieces(passing: int) -> None:
    """The other acts many times in a row, and who passed first starts the scoring phase."""
    other = 1 - passing
    unplayed = [NONE, NONE]
    unplayed[other] = (4, 0, 0, 0, 0)
    env = position([(passing, 0, ROW, 90)], phase=PLACE, player=other, unplayed=unplayed)
    for cell in (20, 30, 40):
        env.step(slot(0, ROW, cell))
        assert (phase_of(env), mover(env)) == (PLACE, other)
    env.step(slot(0, ROW, 50))
    assert (phase_of(env), mover(env)) == (REMOVE, passing)


@pytest.mark.parametrize("placing", [DARK, LIGHT])
def test_a_pass_for_want_of_room(placing: int) -> None:
    """Four cells are free: one has a piece of four, the other only one of seven."""
    unplayed = [(0, 0, 0, 0, 1), (0, 0, 0, 0, 1)]
    unplayed[placing] = (0, 1, 0, 0, 0)
    env = full_but_one(unplayed, placing)
    assert len(env.legal_actions()) == 1
    played(env, *env.legal_actions())
    assert (phase_of(env), mover(env)) == (REMOVE, 1 - placing)
    assert sorted(features(env)[:10]) == [*[0] * 9, 1]


def test_who_starts_with_nothing_to_remove_is_out_at_once() -> None:
    """Counters start on their owner's cell 00, on top of what lies there."""
    env = position([(LIGHT, 0, ROW, 0)], phase=PLACE, unplayed=[(1, 0, 0, 0, 0), NONE])
    env.step(slot(0, COLUMN, 45))
    assert (phase_of(env), mover(env)) == (REMOVE, DARK)
    assert features(env)[OUT : OTHER_OUT + 1] == [0, 1]
    board = env.observe("player_0")["observation"]["board"]
    assert np.argwhere(board[13:]).tolist() == [[0, 0, 0], [1, 9, 9]]


# --- The rulebook's worked examples ---


def test_example_1() -> None:
    """Light takes the value-3 piece off 04-44; five others lie across, Dark's counter is on Dark's 05."""
    env = position(
        [
            (LIGHT, 2, COLUMN, 4),
            (LIGHT, 0, ROW, 53),
            (LIGHT, 0, ROW, 62),
            (LIGHT, 1, ROW, 74),
            (DARK, 1, ROW, 14),  # Light's 82 to 85
            (DARK, 0, ROW, 3),  # Light's 94 to 96
            (DARK, 0, ROW, 50),  # not on the line
        ],
        player=LIGHT,
        scores=(5, 0),
    )
    env.step(slot(2, COLUMN, 4))
    assert (mover(env), phase_of(env)) == (LIGHT, COUNTER)
    assert features(env, DARK)[GAIN] == features(env, LIGHT)[GAIN] == 30
    assert env.legal_actions() == targets(0, 30)
    env.step(1030)
    assert (mover(env), phase_of(env), env.scores()) == (DARK, REMOVE, [5, 30])


EXAMPLE_2 = (
    (DARK, 3, COLUMN, 43),
    (DARK, 0, ROW, 21),  # across the column
    (DARK, 4, COLUMN, 9),
    (LIGHT, 0, COLUMN, 53),  # on Dark's 26, 36 and 46
)


def test_example_2() -> None:
    """Dark on 34 takes the value-4 piece off 43-93, and by going to 36 puts Light out."""
    env = position(EXAMPLE_2, scores=(34, 20))
    env.step(slot(3, COLUMN, 43))
    assert features(env)[GAIN] == 4
    assert env.legal_actions() == targets(34, 38)
    for target in (34, 35, 37, 38):
        other = played(env.clone(), 1000 + target)
        assert mover(other) == LIGHT
        assert features(other)[OTHER_OUT] == 0
    env.step(1036)
    assert features(env, LIGHT)[OUT] == features(env, DARK)[OTHER_OUT] == 1
    assert (mover(env), phase_of(env)) == (DARK, REMOVE)
    assert env.legal_actions() == [slot(4, COLUMN, 9)]


def test_example_3() -> None:
    """The same with Dark's counter on the line."""
    env = position(EXAMPLE_2, scores=(33, 20))
    env.step(slot(3, COLUMN, 43))
    assert features(env)[GAIN] == 8
    assert env.legal_actions() == targets(33, 41)


# --- Removing ---


def test_no_shorter_piece_than_one_removed_before() -> None:
    pieces = [(DARK, kind, ROW, 10 * kind + 10) for kind in range(5)]
    for longest, kinds in ((0, range(5)), (3, range(5)), (5, range(2, 5)), (7, range(4, 5))):
        env = position(pieces, longest=(longest, 7))
        assert env.legal_actions() == [slot(kind, ROW, 10 * kind + 10) for kind in kinds]


@pytest.mark.parametrize(("scores", "blocked"), [((31, 0), [0]), ((0, 39), [1]), ((30, 29), [0, 1])])
def test_no_piece_under_a_counter_of_either_colour(scores: tuple[int, int], blocked: list[int]) -> None:
    pieces = [(DARK, 0, ROW, 30), (DARK, 0, COLUMN, 50), (DARK, 0, ROW, 82)]
    env = position(pieces, scores=scores)
    free = [slot(*piece[1:]) for n, piece in enumerate(pieces) if n not in blocked]
    assert env.legal_actions() == sorted(free)


def test_out_for_the_rest_of_the_game() -> None:
    """Light is out though its piece lies free by now; Dark takes one piece after the other."""
    pieces = [(DARK, kind, ROW, 10 * kind + 10) for kind in range(5)]
    across = [(DARK, 0, COLUMN, 8), (LIGHT, 0, COLUMN, 41)]  # on Dark's 08 to 28, and 38 to 58
    env = position([*pieces, *across], out=(False, True))
    for kind in range(5):
        assert (mover(env), phase_of(env)) == (DARK, REMOVE)
        env.step(slot(kind, ROW, 10 * kind + 10))
        assert (mover(env), phase_of(env)) == (DARK, COUNTER)
        assert features(env)[GAIN] == VALUES[kind]
        env.step(1000 + sum(VALUES[: kind + 1]))
    assert over(env)
    assert env.scores() == [16, 0]
    assert features(env)[OUT : OTHER_OUT + 1] == [1, 1]


# --- Gains and targets ---


def test_both_counters_on_the_line() -> None:
    """A piece that lies along the line counts once, however many of its cells do."""
    env = position([(DARK, 0, COLUMN, 30), (DARK, 0, COLUMN, 60), (LIGHT, 0, ROW, 77)], scores=(0, 9))
    env.step(slot(0, COLUMN, 30))
    assert features(env)[GAIN] == 2 * 1 * 4
    assert env.legal_actions() == targets(0, 8)


def test_gain_0_ends_the_turn() -> None:
    env = position([(DARK, 0, ROW, 40), (LIGHT, 0, ROW, 10)])
    env.step(slot(0, ROW, 40))
    assert (mover(env), phase_of(env), env.scores()) == (LIGHT, REMOVE, [0, 0])
    assert features(env)[GAIN + 1 : GAIN + 3] == [3, 0]


LINE = ((DARK, 1, ROW, 40), (DARK, 0, COLUMN, 45), (LIGHT, 0, COLUMN, 32))  # Light's on Dark's 47, 57 and 67


def test_the_opponents_cell_is_no_target_but_may_be_passed() -> None:
    env = played(position(LINE, scores=(10, 87)), slot(1, ROW, 40))  # Light's counter is on Dark's 12
    assert env.legal_actions() == [1010, 1011, 1013, 1014]


def test_staying_is_asked_even_as_the_only_target() -> None:
    pieces = [(DARK, 0, ROW, 40), (DARK, 0, COLUMN, 45), (LIGHT, 0, COLUMN, 0)]
    env = played(position(pieces, scores=(10, 88)), slot(0, ROW, 40))
    assert (mover(env), phase_of(env)) == (DARK, COUNTER)
    assert env.legal_actions() == [1010]
    assert mover(played(env, 1010)) == LIGHT


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((95, 10), targets(95, 99)),
        ((96, 10), [*targets(96, 99), HUNDRED_OR_MORE]),
        ((96, 0), [*targets(96, 98), HUNDRED_OR_MORE]),  # Light's counter is on Dark's 99
        ((97, 1), [1097, 1099, HUNDRED_OR_MORE]),
        ((99, 1), [1099, HUNDRED_OR_MORE]),
    ],
)
def test_100_or_more(scores: tuple[int, int], expected: list[int]) -> None:
    env = played(position(LINE, scores=scores), slot(1, ROW, 40))
    assert env.legal_actions() == expected


@pytest.mark.parametrize(("reward", "returns"), [("outcome", [1, -1]), ("margin", [0.6, -0.6])])
@pytest.mark.parametrize("winner", [DARK, LIGHT])
def test_100_wins_in_mid_turn(winner: int, reward: str, returns: list[float]) -> None:
    """At once, though the other could go on, and with more unplayed pieces."""
    pieces = [(owner if winner == DARK else 1 - owner, *rest) for owner, *rest in LINE]
    scores = (98, 40) if winner == DARK else (40, 98)
    unplayed = (NONE, ALL) if winner == DARK else (ALL, NONE)
    env = position(pieces, player=winner, scores=scores, unplayed=unplayed, reward=reward)  # type: ignore[arg-type]
    env.step(slot(1, ROW, 40))
    declined = played(env.clone(), 1099)
    assert (mover(declined), over(declined)) == (1 - winner, False)
    env.step(HUNDRED_OR_MORE)
    assert over(env)
    order = 1 if winner == DARK else -1
    assert list(env.rewards.values()) == returns[::order]
    assert env.scores() == [100, 40][::order]
    assert phase_of(env) == REMOVE
    assert features(env, winner)[GAIN:] == [0, 4, 0, 0, 0, 100, 40]
    board = env.observe(env.possible_agents[winner])["observation"]["board"]
    assert not board[13].any()
    assert board[14].any()


@pytest.mark.parametrize(("orientation", "gain"), [(ROW, 2), (COLUMN, 1)])
def test_one_cell_pieces_keep_their_line(orientation: int, gain: int) -> None:
    pieces = [(DARK, 0, orientation, 44), (DARK, 0, COLUMN, 41), (LIGHT, 1, COLUMN, 42), (DARK, 0, ROW, 74)]
    env = position(pieces, pieces="table")  # Light's on Dark's 47 and 57
    assert slot(0, orientation, 44) in env.legal_actions()
    assert slot(0, 1 - orientation, 44) not in env.legal_actions()
    assert features(played(env, slot(0, orientation, 44)))[GAIN] == gain


@pytest.mark.parametrize(("pieces", "across", "greatest"), [("standard", [7, 17], 72), ("table", [9, 19, 89], 96)])
def test_the_greatest_gain(pieces: str, across: list[int], greatest: int) -> None:
    """From a reset: both counters and nothing but single cells of pieces on the line of the longest piece.

    Dark takes the piece of value 6 off column 9, with 09 under Dark's counter and 99 under Light's.
    """
    env = iszoo.make("isaac", observation="split", pieces=pieces)
    env.reset()
    longest, first = slot(4, COLUMN, 29), slot(2, ROW, 1)
    wanted = {DARK: [longest, first, slot(1, COLUMN, 6), *(slot(0, ROW, c) for c in across)]}
    wanted[LIGHT] = [slot(0, ROW, 0)]
    reserved = {c for seat, slots in wanted.items() for action in slots for c in SLOTS[pieces][seat][action].cells}
    while phase_of(env) == PLACE:
        seat = mover(env)
        action = wanted[seat].pop(0) if wanted[seat] else None
        if action is None:
            elsewhere = (a for a in env.legal_actions() if reserved.isdisjoint(SLOTS[pieces][seat][a].cells))
            action = next(elsewhere, env.legal_actions()[0])
        env.step(action)
    own = iter([first, 1009, longest])
    while features(env)[GAIN] < greatest:
        if mover(env) == LIGHT:
            env.step(env.legal_actions()[0])  # a short piece; then the counter stays
        else:
            env.step(next(own))
    assert features(env)[GAIN] == GAME.bounds(env.options).features_high[GAIN]


# --- The result ---


@pytest.mark.parametrize(
    ("scores", "unplayed", "returns"),
    [
        ((21, 20), (NONE, ALL), [1, -1]),
        ((20, 21), (ALL, NONE), [-1, 1]),
        ((20, 20), ((1, 0, 0, 0, 0), NONE), [1, -1]),
        ((20, 20), ((2, 0, 0, 0, 0), (0, 0, 0, 0, 1)), [-1, 1]),  # six cells, seven cells
        ((20, 20), ((2, 0, 0, 0, 0), (0, 0, 0, 1, 0)), [-1, 1]),  # six cells: two pieces, one piece
        ((20, 20), ((0, 0, 0, 1, 0), (2, 0, 0, 0, 0)), [1, -1]),
        ((20, 20), ((0, 2, 0, 0, 0), (1, 0, 1, 0, 0)), None),  # eight cells in two pieces
        ((20, 20), (NONE, NONE), None),
    ],
)
@pytest.mark.parametrize("tiebreak", ["dark", "shared"])
def test_tie_breaks(
    scores: Sequence[int], unplayed: Sequence[Sequence[int]], returns: list[int] | None, tiebreak: str
) -> None:
    """Dark takes the last piece off, at gain 0: then both are out."""
    if returns is None:
        returns = [1, -1] if tiebreak == "dark" else [0, 0]
    for reward in ("outcome", "margin"):
        env = position([(DARK, 0, ROW, 40)], scores=scores, unplayed=unplayed, tiebreak=tiebreak, reward=reward)
        env.step(slot(0, ROW, 40))
        assert over(env)
        assert features(env)[OUT : OTHER_OUT + 1] == [1, 1]
        lead = (scores[0] - scores[1]) / 100
        assert list(env.rewards.values()) == (returns if reward == "outcome" else [lead, -lead])


@pytest.mark.parametrize(("pieces", "returns"), [("standard", [1, -1]), ("table", [-1, 1])])
def test_the_tie_break_counts_the_cells_of_the_set_in_use(pieces: str, returns: list[int]) -> None:
    """Two pieces of type 0 against one of type 1: six cells against four, or two against two."""
    env = position([(DARK, 0, ROW, 40)], unplayed=((2, 0, 0, 0, 0), (0, 1, 0, 0, 0)), pieces=pieces)
    env.step(slot(0, ROW, 40))
    assert list(env.rewards.values()) == returns


# --- Against the oracle, from positions that random games hardly ever come to ---


def random_pieces(rng: random.Random, pieces: str) -> list[Piece]:
    found: list[Piece] = []
    free = set(range(100))
    sets = [(seat, kind) for seat in (DARK, LIGHT) for kind in range(5) for _ in range(ALL[kind])]
    for seat, kind in rng.sample(sets, rng.randint(2, 24)):
        for _ in range(10):
            orientation, cell = rng.randrange(2), rng.randrange(100)
            lying = SLOTS[pieces][seat].get(slot(kind, orientation, cell))
            if lying is not None and free.issuperset(lying.cells):
                free.difference_update(lying.cells)
                found.append((seat, kind, orientation, cell))
                break
    return found


@pytest.mark.parametrize("pieces", ["standard", "table"])
def test_random_scoring_phases(pieces: str) -> None:
    """Counters anywhere, often near 100, and targets that lean to the highest."""
    rng = random.Random(pieces)
    for _ in range(scaled(300)):
        scores = [rng.choice((rng.randrange(100), rng.randrange(85, 100))) for _ in range(2)]
        if sum(scores) == 99:
            continue
        placed = random_pieces(rng, pieces)
        longest = [rng.choice((0, 0, LENGTHS[pieces][rng.randrange(3)])) for _ in range(2)]
        oracle = Oracle.from_position(placed, player=rng.randrange(2), scores=scores, longest=longest, pieces=pieces)
        if oracle.is_over():
            continue
        out = [bool(oracle.observe(seat)[1][OUT]) for seat in (DARK, LIGHT)]
        env = position(placed, player=oracle.player_to_move(), scores=scores, longest=longest, out=out, pieces=pieces)
        while True:
            assert env.legal_actions() == oracle.legal_actions()
            for seat, agent in enumerate(env.possible_agents):
                seen = env.observe(agent)["observation"]
                board, expected = oracle.observe(seat)
                assert seen["board"].ravel().tolist() == board
                assert seen["features"].tolist() == expected
            assert env.scores() == oracle.scores()
            if oracle.is_over():
                break
            assert mover(env) == oracle.player_to_move()
            legal = env.legal_actions()
            action = legal[-1] if rng.random() < 0.5 else rng.choice(legal)
            env.step(action)
            oracle.step(action)
        assert list(env.rewards.values()) == oracle.returns()


# --- Notation and text ---


@pytest.mark.parametrize(
    ("action", "text"),
    [(slot(2, COLUMN, 4), "3c04"), (slot(4, ROW, 93), "6r93"), (1007, "07"), (HUNDRED_OR_MORE, "100")],
)
def test_notation(action: int, text: str) -> None:
    env = iszoo.make("isaac")
    assert env.action_to_string(action) == text
    assert env.string_to_action(text) == action


def test_notation_of_every_action() -> None:
    strings = [GAME.action_to_string(action) for action in range(GAME.num_actions)]
    assert len(set(strings)) == GAME.num_actions
    assert [GAME.string_to_action(text) for text in strings] == list(range(GAME.num_actions))


@pytest.mark.parametrize("text", ["", "5c04", "3x04", "3c4", "3c004", "3c\u00b2\u00b3", "7", "101", "-1", " 07"])
def test_no_notation(text: str) -> None:
    with pytest.raises(ValueError, match=r"r along a row or c along a column.* 00 to 99, or 100"):
        GAME.string_to_action(text)


def test_text() -> None:
    pieces = [(DARK, 0, ROW, 12), (LIGHT, 1, COLUMN, 0)]
    env = position(pieces, player=LIGHT, scores=(13, 0), unplayed=((2, 0, 0, 0, 1), NONE), out=(True, False))
    assert GAME.text(env._rows[0], env.options).splitlines() == [
        "9   .    .    .    .    .    .    .    .    .   l2|o",
        "8   .    .    .    .    .    .    .    .    .   l2|",
        "7   .    .    .    .    .    .    .    .    .   l2|",
        "6   .    .    .    .    .    .    .    .    .   L2|",
        *(f"{tens}   ." + 9 * "    ." for tens in (5, 4, 3, 2)),
        "1   .    .   D1-  d1-* d1-   .    .    .    .    .",
        "0   .    .    .    .    .    .    .    .    .    .",
        "    0    1    2    3    4    5    6    7    8    9",
        "Dark: score 13; unplayed: 2 of value 1, 1 of value 6; out",
        "Light: score 0; unplayed: none",
        "Light to remove a piece",
    ]
