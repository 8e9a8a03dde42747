"""What scripted players of Isaac choose in positions set up by hand, and that they play in every option set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from iszoo.baselines.agents import View, make_agent
from iszoo.baselines.match import play
from iszoo.baselines.scripted import SCRIPTED
from iszoo.envs.isaac import GAME, PLACE
from tests.baselines.scripted.preferences import chosen
from tests.envs.test_isaac import (
    ALL,
    COLUMN,
    DARK,
    HUNDRED_OR_MORE,
    LIGHT,
    LINE,
    NONE,
    ROW,
    Piece,
    played,
    position,
    slot,
    targets,
)
from tests.helpers import scaled, settings_of

BOTH = pytest.mark.parametrize("name", ["greedy", "expert"])
SEATS = pytest.mark.parametrize("seat", [DARK, LIGHT])


def seen_by(seat: int, pieces: tuple[Piece, ...] | list[Piece]) -> list[Piece]:
    """The pieces, their owners exchanged where Light is to have what is written down for Dark."""
    return [(owner ^ seat, kind, orientation, cell) for owner, kind, orientation, cell in pieces]


def pair(seat: int, own: Any, other: Any) -> tuple[Any, Any]:
    return (own, other) if seat == DARK else (other, own)


# --- Placing ---


@BOTH
@SEATS
def test_placing_on_the_line_with_the_most_pieces(name: str, seat: int) -> None:
    """Three columns have all a cell on row 5, of which only the right half is free."""
    pieces = seen_by(seat, [(DARK, 0, COLUMN, 30), (DARK, 0, COLUMN, 42), (DARK, 0, COLUMN, 54)])
    env = position(pieces, phase=PLACE, player=seat, unplayed=pair(seat, (1, 0, 0, 0, 0), ALL))
    assert chosen(env, name) == [slot(0, ROW, cell) for cell in (55, 56, 57)]


@BOTH
@SEATS
def test_placing_off_the_opponents_lines(name: str, seat: int) -> None:
    """A column that the opponent's long row lies across, but not so as to lie across that row in turn."""
    pieces = seen_by(seat, [(LIGHT, 4, ROW, 41)])  # on Dark's 52 to 58
    env = position(pieces, phase=PLACE, player=seat, unplayed=pair(seat, (1, 0, 0, 0, 0), ALL))
    cells = [10 * tens + units for tens in (0, 1, 2, 6, 7) for units in range(2, 9)]
    assert chosen(env, name) == [slot(0, COLUMN, cell) for cell in cells]


def test_the_first_piece() -> None:
    """Nothing to gain yet: any place, greedy of its shortest pieces, expert of all."""
    for pieces in ("standard", "table"):
        env = position(phase=PLACE, unplayed=(ALL, ALL), pieces=pieces)
        assert chosen(env, "greedy") == [action for action in env.legal_actions() if action < 200]
        assert chosen(env, "expert") == env.legal_actions()


@SEATS
def test_expert_places_long_pieces_first(seat: int) -> None:
    pieces = seen_by(seat, [(DARK, 0, COLUMN, 49)])
    env = position(pieces, phase=PLACE, player=seat, unplayed=pair(seat, (4, 4, 3, 2, 1), ALL))
    assert all(action // 200 == 4 for action in chosen(env, "expert"))


# --- Scoring ---


@BOTH
@SEATS
def test_finishing_at_100(name: str, seat: int) -> None:
    pieces = seen_by(seat, [*LINE, (DARK, 0, ROW, 80)])
    env = position(pieces, player=seat, scores=pair(seat, 96, 10))
    assert chosen(env, name) == [slot(1, ROW, 40)]
    assert chosen(played(env, slot(1, ROW, 40)), name) == [HUNDRED_OR_MORE]


@SEATS
def test_short_pieces_first(seat: int) -> None:
    """The long piece gains 6 and then bars the short one, which gains 1 and bars nothing."""
    pieces = seen_by(seat, [(DARK, 0, ROW, 10), (DARK, 4, COLUMN, 9), (LIGHT, 0, ROW, 0)])
    env = position(pieces, player=seat, scores=pair(seat, 30, 20), out=pair(seat, False, True))
    assert chosen(env, "greedy") == [slot(4, COLUMN, 9)]
    assert chosen(env, "expert") == [slot(0, ROW, 10)]


@SEATS
def test_blocking_the_last_piece(seat: int) -> None:
    """Light would gain 6 with the piece on Dark's 26 to 86, and win by 40 to 38; under a counter it can't."""
    pieces = seen_by(seat, [(DARK, 3, COLUMN, 43), (DARK, 0, ROW, 21), (DARK, 0, ROW, 95), (LIGHT, 4, COLUMN, 13)])
    env = position(pieces, player=seat, scores=(34, 34))
    env.step(slot(3, COLUMN, 43))
    assert env.legal_actions() == targets(34, 38)
    assert chosen(env, "greedy") == [1038]
    assert chosen(env, "expert") == [1036]


@SEATS
def test_doubling_the_next_gain(seat: int) -> None:
    """The last piece lies on 46 to 96 with one piece across column 6: it gains 8 from 36, and 4 from 37."""
    across_row_9 = [(LIGHT, 0, COLUMN, 0), (LIGHT, 0, COLUMN, 5)]  # on Dark's 99 and 94
    pieces = seen_by(seat, [(DARK, 0, ROW, 90), (DARK, 3, COLUMN, 46), *across_row_9, (LIGHT, 0, ROW, 92)])
    env = position(pieces, player=seat, scores=pair(seat, 34, 20), out=pair(seat, False, True))
    env.step(slot(0, ROW, 90))
    assert env.legal_actions() == targets(34, 37)
    assert chosen(env, "greedy") == [1037]
    assert chosen(env, "expert") == [1036]


@pytest.mark.parametrize(
    ("own", "other", "tiebreak", "safe"),
    [
        ((1, 0, 0, 0, 0), NONE, "dark", True),
        (NONE, (1, 0, 0, 0, 0), "dark", False),
        (NONE, NONE, "dark", True),
        (NONE, NONE, "shared", False),
    ],
)
def test_expert_knows_the_tie_breaks(own: Any, other: Any, tiebreak: str, safe: bool) -> None:
    """A win by the tie-break is worth as much as one by points, and a loss as little."""
    env = played(position(LINE, scores=(10, 14), unplayed=(own, other), tiebreak=tiebreak), slot(1, ROW, 40))
    mask = np.ones((1, GAME.num_actions), np.int8)
    values = np.zeros(mask.shape)
    # Light and Dark can remove a piece each, which gain nothing: 14 to 14 if Dark goes as far as it may.
    SCRIPTED["isaac"]["expert"](env._rows.copy(), 0, mask, values, GAME.params(env.options))
    worth = values[0, 1014]
    assert (worth >= 100) == safe
    assert (worth == 0) == (tiebreak == "shared")


# --- Whole games ---


@pytest.mark.parametrize("setting", settings_of(GAME), ids=str)
def test_whole_games(setting: Any) -> None:
    """Every answer is legal, or `play` raises; and the scripted players don't repeat themselves."""
    count = scaled(40)
    for names in (("greedy", "expert"), ("expert", "expert"), ("greedy", "greedy")):
        games = play(GAME, [make_agent(name, GAME) for name in names], count, seed=3, **setting.options)
        assert len(set(games.digests)) == count


@BOTH
def test_every_legal_action_is_valued(name: str) -> None:
    """Along games against the other."""

    class Checked:
        def __init__(self, name: str) -> None:
            self.name, self.agent = name, make_agent(name, GAME)

        def act(self, view: View) -> Any:
            rows, values = view.positions(), np.full(view.action_mask.shape, np.nan)
            for i in range(len(rows)):
                SCRIPTED["isaac"][self.name](rows, i, view.action_mask, values, view.params)
            assert np.isfinite(values[view.action_mask != 0]).all()
            answer = self.agent.act(view)
            best = np.where(view.action_mask != 0, values, -np.inf).max(axis=1)
            np.testing.assert_array_equal(values[np.arange(len(rows)), answer], best)
            return answer

    other = "greedy" if name == "expert" else "expert"
    for pieces in ("standard", "table"):
        play(GAME, [Checked(name), make_agent(other, GAME)], scaled(20), seed=1, pieces=pieces)
