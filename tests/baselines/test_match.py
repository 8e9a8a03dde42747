"""Matches: who sits where, what is counted, and that the same seed gives the same games."""

import itertools
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo import record
from iszoo.baselines.agents import RandomAgent, View, agent_names, make_agent
from iszoo.baselines.match import match, play, seating, wilson
from iszoo.envs.game import Game

GAMES = list(iszoo.REGISTRY.values())


class Watcher(RandomAgent):
    """Plays at random and keeps what it was shown."""

    name = "watcher"

    def __init__(self) -> None:
        self.views: list[View] = []

    def act(self, view: View) -> Any:
        self.views.append(view)
        return super().act(view)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_every_agent_has_every_seat_on_every_deal(game: Game) -> None:
    for players in game.players:
        if players == 1:
            continue
        agents = [RandomAgent() for _ in range(players)]
        played = play(game, agents, 4 * players, num_players=players) if _has(game) else play(game, agents, 8)
        for deal in range(4):
            seats = played.seats[deal * players : (deal + 1) * players]
            for seat in range(players):
                assert sorted(seats[:, seat]) == list(range(players))


@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_all_seatings_come_up_equally_often(players: int) -> None:
    """Not the rotations alone: who sits before whom matters."""
    count = 2 * math.factorial(players)
    seats = [tuple(row) for row in seating(np.arange(count), players).tolist()]
    assert Counter(seats) == dict.fromkeys(itertools.permutations(range(players)), 2)
    assert seating(np.arange(count), players, rotate=False).tolist() == [list(range(players))] * count


def test_the_order_around_the_table_is_balanced() -> None:
    """ISO for three, where the expert wins far more often in one order than in the other."""
    game = iszoo.REGISTRY["iso"]
    names = ("expert", "greedy", "random")
    results = [
        match(game, [make_agent(name, game) for name in order], 600, seed=1)
        for order in (names, (names[1], names[0], names[2]))
    ]
    rates = [{standing.agent: standing.win_rate for standing in result.standings} for result in results]
    assert rates[0]["expert"] == pytest.approx(rates[1]["expert"], abs=0.1)


def _has(game: Game) -> bool:
    return "num_players" in game.options


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_games_of_a_deal_start_alike_and_are_those_of_reset(game: Game) -> None:
    watcher = Watcher()
    play(game, [watcher, watcher], 6, seed=11)
    first = watcher.views[0]
    env = iszoo.make(game.name, observation="flat")
    for g in range(6):
        env.reset(seed=11 + g // 2)
        shown = env.observe(env.agent_selection)
        # Both agents are the same object, asked in turn: the first half of the games, then the second.
        place = (g // 2) if g % 2 == 0 else None
        if place is not None:
            np.testing.assert_array_equal(first.obs[place], shown["observation"])


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_the_same_seed_gives_the_same_games(game: Game) -> None:
    agents = [make_agent(name, game) for name in ("greedy", "random")]
    one, two = (play(game, agents, 20, seed=5) for _ in range(2))
    other = play(game, agents, 20, seed=6)
    assert one.digests == two.digests
    np.testing.assert_array_equal(one.returns, two.returns)
    assert set(one.digests).isdisjoint(other.digests)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_a_game_is_the_same_whatever_is_played_beside_it(game: Game) -> None:
    agents = [make_agent(name, game) for name in ("greedy", "random")]
    few, many = play(game, agents, 4, seed=5), play(game, agents, 40, seed=5)
    assert few.digests == many.digests[:4]


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_agents_see_the_observation_of_the_mover_and_no_more(game: Game) -> None:
    watcher = Watcher()
    play(game, [watcher, watcher], 4, seed=2)
    for view in watcher.views:
        assert view.obs.shape == (len(view.seeds), game.obs_size)
        assert (view.action_mask.sum(axis=1) > 0).all()
        assert (view.seeds >= 0).all()
        redrawn = view.positions()
        np.testing.assert_array_equal(redrawn, view.positions())
        assert redrawn.shape == (len(view.seeds), game.row_size)


def test_standings_add_up() -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    result = match(game, [make_agent(n, game) for n in ("greedy", "random", "random")], 99, seed=1)
    assert sum(standing.win_rate for standing in result.standings) == pytest.approx(1)
    assert sum(standing.mean_return for standing in result.standings) == pytest.approx(0, abs=1e-6)
    for standing in result.standings:
        assert standing.low <= standing.win_rate <= standing.high
        assert np.mean(standing.win_rate_by_seat) == pytest.approx(standing.win_rate)
    assert result.options["num_players"] == 3
    assert result.distinct_games == 99


class First:
    """Plays the first legal action."""

    name = "first"

    def act(self, view: View) -> Any:
        return view.action_mask.argmax(axis=1)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_equal_games_are_counted_once(game: Game) -> None:
    """Both seatings of a deal are the same game, and without chance all games are, whatever their seeds."""
    result = match(game, [First(), First()], 10)
    assert result.distinct_games == (1 if game.deal is None else 5)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_a_part_of_a_match_has_the_games_of_the_whole(game: Game) -> None:
    agents = [make_agent(name, game) for name in ("greedy", "random")]
    whole, part = play(game, agents, 20, seed=5), play(game, agents, 8, seed=5, first=6)
    assert part.digests == whole.digests[6:14]
    np.testing.assert_array_equal(part.seats, whole.seats[6:14])
    np.testing.assert_array_equal(part.scores, whole.scores[6:14])
    with pytest.raises(ValueError, match="the first game is a multiple of 2"):
        play(game, agents, 2, first=1)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_without_rotation_each_game_has_a_deal_of_its_own(game: Game) -> None:
    plies = []

    def watch(vec: Any, running: Any) -> None:
        plies.append((vec.action_mask.sum(axis=1), running.copy()))

    played = play(game, [First(), First()], 5, seed=3, rotate=False, watch=watch)
    assert (played.seats == [0, 1]).all()
    assert len(set(played.digests)) == (1 if game.deal is None else 5)
    assert sum(running for _, running in plies).tolist() == played.lengths.tolist()
    assert all((counts[running] > 0).all() for counts, running in plies)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_every_game_can_be_recorded(game: Game, tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    agents = [make_agent(name, game) for name in ("greedy", "random")]
    played = play(game, agents, 6, seed=5, record=file)
    assert played.digests == play(game, agents, 6, seed=5).digests
    found = list(record.read(file))
    expected = {
        (5 + g // 2, *(agents[k].name for k in played.seats[g]), *played.returns[g], *played.scores[g])
        for g in range(6)
    }
    assert {(each.seed, *each.agents, *each.returns, *each.scores) for each in found} == expected
    assert sorted(len(each.actions) for each in found) == sorted(played.lengths)
    for each in found:
        record.verify(each)
    play(game, agents, 2, seed=99, record=file)
    assert list(record.read(file))[:6] == found


def test_a_match_does_not_begin_where_its_games_can_not_be_recorded(tmp_path: Path) -> None:
    class Never:
        name = "never"

        def act(self, view: View) -> Any:
            raise AssertionError

    file = tmp_path / "thesis.txt"
    file.write_text("my thesis")
    with pytest.raises(record.RecordError, match="left as it is"):
        play(iszoo.REGISTRY["isaac"], [Never(), Never()], 2, record=file)
    assert file.read_text() == "my thesis"


def test_illegal_answers_are_refused_with_the_names() -> None:
    class Cheat:
        name = "cheat"

        def act(self, view: View) -> Any:
            return np.full(len(view.seeds), 99)

    game = iszoo.REGISTRY["isis_osiris"]
    with pytest.raises(iszoo.IllegalActionError, match=r"cheat, random.*game 0: action 99 is out of range"):
        play(game, [Cheat(), RandomAgent()], 2)


def test_numbers_that_do_not_fit() -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    with pytest.raises(ValueError, match="multiple of 2"):
        play(game, [RandomAgent(), RandomAgent()], 3)
    with pytest.raises(ValueError, match="name one agent for each seat"):
        play(game, [RandomAgent()], 2)
    with pytest.raises(ValueError, match="its agents are random"):
        make_agent("stockfish", game)


def test_wilson_interval() -> None:
    # Figures of Newcombe (1998), Statistics in Medicine 17, table I, method 3: 81 of 263, 15 of 148, 0 of 20.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert wilson(20, 20)[1] == 1.0


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_random_is_uniform(game: Game) -> None:
    vec = iszoo.make_vec(game.name, 1, seed=0)
    n = 20 * int(vec.action_mask.sum())
    view = View(
        game, vec.options, vec.params, np.repeat(vec.obs, n, 0), np.repeat(vec.action_mask, n, 0),
        np.repeat(vec.player, n), np.arange(n), np.repeat(vec.rows, n, 0),
    )  # fmt: skip
    counts = Counter(RandomAgent().act(view).tolist())
    legal = np.flatnonzero(vec.action_mask[0]).tolist()
    assert set(counts) <= set(legal)
    chi2 = sum((counts[a] - 20) ** 2 / 20 for a in legal)
    # Mean and standard deviation of chi-square with k degrees of freedom: k and sqrt(2 k).
    k = len(legal) - 1
    assert abs(chi2 - k) < 5 * np.sqrt(2 * k)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_strength_in_order(game: Game) -> None:
    assert agent_names(game) == ["random", "greedy", "expert"]
    beats_random = match(game, [make_agent("greedy", game), RandomAgent()], 400, seed=77)
    assert beats_random.standings[0].win_rate >= 0.93  # Isaac's, the least of them, wins some 97 %
    best = match(game, [make_agent("expert", game), make_agent("greedy", game)], 400, seed=77)
    assert best.standings[0].win_rate >= 0.55
