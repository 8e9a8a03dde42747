"""One learner against agents: whose turn it is, whose rewards it gets, and that games are those of `reset`."""

from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo.baselines.agents import RandomAgent, View
from iszoo.envs.game import Game
from iszoo.wrappers.learner import LearnerGames

GAMES = [pytest.param(game, id=game.name) for game in iszoo.REGISTRY.values()]
MANY_PLAYERS = [
    pytest.param(game, players, id=f"{game.name}-{players}")
    for game in iszoo.REGISTRY.values()
    for players in game.players
    if players > 1
]


def options_of(game: Game, players: int) -> dict[str, Any]:
    return {"num_players": players} if "num_players" in game.options else {}


class Recorder(RandomAgent):
    """Plays at random and keeps which seat of which position it was asked for."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, bytes]] = []

    def act(self, view: View) -> Any:
        self.seen += [(int(p), obs.tobytes()) for p, obs in zip(view.player, view.obs, strict=True)]
        return super().act(view)


def random_actions(games: LearnerGames, rng: np.random.Generator) -> Any:
    return (rng.random(games.action_mask.shape) * games.action_mask).argmax(axis=1)


@pytest.mark.parametrize(("game", "players"), MANY_PLAYERS)
def test_rewards_are_those_of_the_learners_seat(game: Game, players: int) -> None:
    """Beside plain AEC environments in which the same actions are played, by learner and agents."""
    rng = np.random.default_rng(1)
    for seat in range(players):
        recorder = Recorder()
        games = LearnerGames(game, 1, opponent=recorder, seat=seat, seed=5, **options_of(game, players))
        env = iszoo.make(game.name, observation="flat", **options_of(game, players))
        env.reset(seed=5)
        agent = env.possible_agents[seat]
        total, steps = 0.0, 0
        while not games.done[0]:
            # What happened up to the learner's turn: bring the plain environment to the same position.
            env.set_state(_state_of(env, games))
            assert env.agent_selection == agent
            np.testing.assert_array_equal(games.obs[0], env.observe(agent)["observation"])
            np.testing.assert_array_equal(games.action_mask[0], env.observe(agent)["action_mask"])
            total += float(games.step(random_actions(games, rng))[0])
            steps += 1
        env.set_state(_state_of(env, games))
        assert total == pytest.approx(env.rewards[agent])
        assert all(env.terminations.values())
        np.testing.assert_array_equal(games.obs[0], env.observe(agent)["observation"])
        assert not games.action_mask.any()
        assert steps > 0
        assert recorder.seen
        assert {player for player, _ in recorder.seen} <= set(range(players)) - {seat}


def _state_of(env: Any, games: LearnerGames) -> bytes:
    env._rows[0] = games.vec.rows[0]
    return env.get_state()  # type: ignore[no-any-return]


@pytest.mark.parametrize("game", GAMES)
def test_every_seat_is_trained_and_every_opponent_met(game: Game) -> None:
    class Counting(RandomAgent):
        def __init__(self) -> None:
            self.asked = 0

        def act(self, view: View) -> Any:
            self.asked += len(view.seeds)
            return super().act(view)

    pool = [Counting() for _ in range(3)]
    games = LearnerGames(game, 200, opponent=pool, seed=0)
    rng = np.random.default_rng(0)
    games.step(random_actions(games, rng))
    counts = np.bincount(games.seats, minlength=games.vec.num_players)
    expected = 200 / games.vec.num_players
    assert (abs(counts - expected) < 5 * np.sqrt(expected)).all()
    assert all(agent.asked > 0 for agent in pool)


@pytest.mark.parametrize("game", GAMES)
def test_games_are_repeatable_and_those_of_reset(game: Game) -> None:
    one, two = (LearnerGames(game, 5, seed=9, opponent=["random", "random"]) for _ in range(2))
    rng = np.random.default_rng(3)
    for _ in range(200):
        np.testing.assert_array_equal(one.obs, two.obs)
        np.testing.assert_array_equal(one.seats, two.seats)
        actions = random_actions(one, rng)
        np.testing.assert_array_equal(one.step(actions), two.step(actions))
        for games in (one, two):
            if games.done.any():
                games.reset(where=games.done.copy())
    first_seat = LearnerGames(game, 3, seed=9, seat=0)
    env = iszoo.make(game.name, observation="flat")
    for i in range(3):
        env.reset(seed=9 + i)
        if env.agent_selection == "player_0":
            np.testing.assert_array_equal(first_seat.obs[i], env.observe("player_0")["observation"])


def test_new_opponents_are_met_in_games_dealt_from_then_on() -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    first, second = Recorder(), Recorder()
    games = LearnerGames(game, 4, seed=0, seat=0, opponent=first)
    games.set_opponents(second)
    rng = np.random.default_rng(0)
    games.step(random_actions(games, rng))
    assert first.seen
    assert not second.seen
    while not games.done.all():
        games.step(np.where(games.done, 0, random_actions(games, rng)), where=~games.done)
    count = len(first.seen)
    games.reset()
    games.step(random_actions(games, rng))
    assert second.seen
    assert len(first.seen) == count


def test_a_long_pool_keeps_no_agent_that_nobody_meets() -> None:
    games = LearnerGames(iszoo.REGISTRY["isis_osiris"], 2, seed=0)
    for _ in range(100):
        games.set_opponents([RandomAgent(), RandomAgent()])
        games.reset()
    assert len(games._agents) <= 16


def test_an_illegal_action_moves_nothing_or_ends_its_game() -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    games = LearnerGames(game, 3, seed=0)
    before = games.vec.rows.copy()
    actions = games.action_mask.argmax(axis=1)
    actions[1] = 99
    with pytest.raises(iszoo.IllegalActionError, match="game 1: action 99"):
        games.step(actions)
    np.testing.assert_array_equal(games.vec.rows, before)
    lenient = LearnerGames(game, 3, seed=0, illegal="terminate")
    rewards = lenient.step(actions)
    assert rewards.tolist() == [0, -1, 0]
    assert lenient.done.tolist() == [False, True, False]


@pytest.mark.parametrize("seat", [-1, 2, True, "dealer", 1.5])
def test_bad_seats(seat: Any) -> None:
    with pytest.raises(ValueError, match="'random' or 0 to 1"):
        LearnerGames(iszoo.REGISTRY["isis_osiris"], 1, seat=seat)


def test_no_opponent() -> None:
    with pytest.raises(ValueError, match="at least one opponent"):
        LearnerGames(iszoo.REGISTRY["isis_osiris"], 1, opponent=[])
