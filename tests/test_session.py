"""Sessions: the game is the environment's, agents see what they may, the same seed gives the same answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo import record
from iszoo.baselines.agents import RandomAgent, make_agent
from iszoo.baselines.match import play
from iszoo.envs.errors import IllegalActionError
from iszoo.session import Session, choose, policy, scores_are_public
from tests.helpers import Setting


def to_the_end(session: Session) -> Session:
    """Plays the last legal action until the game is over."""
    while not session.over:
        session.play(session.legal[-1])
    return session


def test_it_is_the_environment(setting: Setting) -> None:
    session = Session(setting.game, setting.options, seed=4)
    env = setting.started(seed=4)
    while not session.over:
        assert session.legal == env.legal_actions()
        assert session.scores == env.scores()
        assert session.player == env.possible_agents.index(env.agent_selection)
        assert session.returns == [0.0] * session.num_players
        action = session.legal[len(session.actions) % len(session.legal)]
        session.play(action)
        env.step(action)
    assert session.returns == pytest.approx(list(env.rewards.values()))
    assert session.moves == [env.action_to_string(action) for action in session.actions]
    assert session.record(["a"] * session.num_players).scores == tuple(env.scores())


def test_illegal_actions_change_nothing(plain: Setting) -> None:
    session = Session(plain.game, {}, seed=0)
    session.play(session.legal[0])
    row, illegal = session.row, min({*range(plain.game.num_actions)} - {*session.legal})
    for action in (-1, plain.game.num_actions, 10**30, None, 1.0, True, "1", illegal):
        with pytest.raises(IllegalActionError):
            session.play(action)
    assert np.array_equal(session.row, row)
    assert len(session.actions) == 1
    over = to_the_end(session)
    with pytest.raises(IllegalActionError, match="the game is over"):
        over.play(0)


def test_taking_back(plain: Setting) -> None:
    session = Session(plain.game, {}, seed=7)
    rows = [session.row]
    while not session.over:
        session.play(session.legal[0])
        rows.append(session.row)
    for ply in (len(rows) - 1, len(rows) // 2, 0):
        session.rewind(ply)
        assert len(session.actions) == len(session.movers) == ply
        assert np.array_equal(session.row, rows[ply])
    assert session.returns == [0.0] * session.num_players


def test_after_shows_each_legal_action(plain: Setting) -> None:
    session = Session(plain.game, {}, seed=7)
    for _ in range(4):
        after = session.after()
        assert len(after) == len(session.legal)
        k = len(session.legal) // 2
        session.play(session.legal[k])
        assert np.array_equal(session.row, after[k])
    assert len(to_the_end(session).after()) == 0


def test_agents_answer_as_in_a_match(plain: Setting, tmp_path: Any) -> None:
    """So a game played here, a record of a match, and a table of the same seed are the same game."""
    game = plain.game
    agents = [make_agent("greedy", game), make_agent("random", game)]
    play(game, agents, 2, seed=3, record=tmp_path / "games.jsonl")
    for found in record.read(tmp_path / "games.jsonl"):
        if found.agents == ("greedy", "random"):
            session = Session(game, {}, seed=3)
            while not session.over:
                session.play(choose(agents[session.player], session.view()))
            assert tuple(session.actions) == found.actions


def test_hints_have_chance_of_their_own(plain: Setting) -> None:
    session = Session(plain.game, {}, seed=3)
    assert session.view().seeds != session.view(hint=True).seeds
    assert session.view().seeds == session.view().seeds
    assert len({*session.view(50).seeds.tolist()}) == 50
    before = session.row
    session.view().positions()[:] = 0
    assert np.array_equal(session.row, before)


@pytest.mark.parametrize("answer", [np.array([10**6]), np.array([-1]), np.array([0.0]), np.array([0, 1]), 0, None])
def test_answers_of_agents_are_checked(answer: Any) -> None:
    class Cheat:
        name = "cheat"

        def act(self, view: Any) -> Any:
            return answer

    session = Session(iszoo.REGISTRY["isaac"], {}, seed=3)
    with pytest.raises(IllegalActionError, match="agent cheat answered"):
        choose(Cheat(), session.view())


def test_policy_is_how_often_an_agent_plays_what(plain: Setting) -> None:
    session = Session(plain.game, {}, seed=3)
    found = policy(RandomAgent(), plain.game, session.options, session.row, samples=400)
    assert sum(found.values()) == pytest.approx(1)
    assert set(found) <= set(session.legal)
    assert len(found) > min(len(session.legal), 100) // 2


def test_points_of_hidden_tiles_are_no_public_matter() -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    assert not scores_are_public(game.resolve({"memory": "hidden"}))
    assert scores_are_public(game.resolve({}))
