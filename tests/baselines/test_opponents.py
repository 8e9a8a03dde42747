"""Opponents in compiled code play as they do when they are asked, and games survive copies."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo.baselines import opponents
from iszoo.baselines.agents import Agent, View, agent_names, make_agent
from iszoo.envs import native
from iszoo.envs.game import Game
from iszoo.envs.threads import max_threads
from iszoo.wrappers.learner import LearnerGames

GAMES = [pytest.param(game, id=game.name) for game in iszoo.REGISTRY.values()]
NAMED = [
    pytest.param(game, name, players, id=f"{game.name}-{name}-{players}")
    for game in iszoo.REGISTRY.values()
    for name in agent_names(game)
    for players in {2, max(game.players)}
]


class Asked:
    """An agent that compiled code doesn't know: the same one, asked from Python."""

    def __init__(self, agent: Agent) -> None:
        self.name = agent.name
        self._agent = agent

    def act(self, view: View) -> Any:
        return self._agent.act(view)


def options_of(game: Game, players: int) -> dict[str, Any]:
    return {"num_players": players} if players != 2 else {}


def assert_same_games(all_games: list[LearnerGames], steps: int, illegal: bool = False) -> int:
    """Plays the same actions in all; returns how many games ended."""
    rng, ends = np.random.default_rng(0), 0
    first = all_games[0]
    for _ in range(steps):
        actions = (rng.random(first.action_mask.shape) * first.action_mask).argmax(axis=1)
        if illegal:
            actions[rng.random(len(actions)) < 0.1] = -1
        rewards = [games.step(actions) for games in all_games]
        done = first.done.copy()
        ends += int(done.sum())
        for games, reward in zip(all_games, rewards, strict=True):
            np.testing.assert_array_equal(reward, rewards[0])
            np.testing.assert_array_equal(games.done, done)
            for name in ("obs", "action_mask", "seats"):
                np.testing.assert_array_equal(getattr(games, name), getattr(first, name), err_msg=name)
            np.testing.assert_array_equal(games.vec.rows, first.vec.rows)
            np.testing.assert_array_equal(games.vec.player, first.vec.player)
            np.testing.assert_array_equal(games.vec.scores, first.vec.scores)
        for games in all_games:
            games.reset(where=done)
        np.testing.assert_array_equal(first.done, np.zeros(len(done), np.bool_))
    return ends


@pytest.mark.parametrize(("game", "name", "players"), NAMED)
def test_they_play_as_if_they_were_asked(game: Game, name: str, players: int) -> None:
    agent = make_agent(name, game)
    options: dict[str, Any] = {"seed": 3, "illegal": "terminate", **options_of(game, players)}
    here, there, mixed = (
        LearnerGames(game, 12, opponent=pool, **options)
        for pool in ([agent, agent], [Asked(agent), Asked(agent)], [Asked(agent), agent])
    )
    assert assert_same_games([here, there, mixed], 3 * game.max_game_length, illegal=True) > 12


@pytest.mark.skipif(max_threads() < 2, reason="needs two threads")
@pytest.mark.parametrize("game", GAMES)
def test_threads_change_nothing(game: Game) -> None:
    pool = ["random", "greedy", Asked(make_agent("random", game))]
    one, two = (LearnerGames(game, 13, opponent=pool, seed=3, threads=threads) for threads in (1, 2))
    assert assert_same_games([one, two], 60) > 13


@pytest.mark.parametrize("game", GAMES)
def test_copies_go_on_by_themselves(game: Game) -> None:
    games = LearnerGames(game, 5, opponent=["random", "greedy"], seed=3)
    assert_same_games([games], 10)
    copies = [copy.deepcopy(games), pickle.loads(pickle.dumps(games))]
    before = games.vec.rows.copy()
    assert_same_games(copies, 30)
    np.testing.assert_array_equal(games.vec.rows, before)
    again = copy.deepcopy(games)
    assert_same_games([games, again], 30)


def test_a_scripted_agent_is_understood_in_another_process() -> None:
    """Its table holds addresses, which mean nothing there."""
    game = iszoo.REGISTRY["isaac"]
    games = LearnerGames(game, 3, opponent=make_agent("greedy", game), seed=3)
    code = (
        "import pickle, sys; games = pickle.loads(sys.stdin.buffer.read());"
        "games.step(games.action_mask.argmax(axis=1)); sys.stdout.buffer.write(pickle.dumps(games.vec.rows))"
    )
    there = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(games), capture_output=True, check=True)
    games.step(games.action_mask.argmax(axis=1))
    np.testing.assert_array_equal(pickle.loads(there.stdout), games.vec.rows)


@pytest.mark.skipif(not native.JIT, reason="there is no cache")
def test_compiled_code_goes_stale_with_the_files_that_it_is_made_of() -> None:
    """A kernel of baselines/ calls kernels of its other files, which numba's cache doesn't look at."""
    stamp = repr(opponents._advance._cache._cache_file._source_stamp)
    for module in ("iszoo.baselines.agents", "iszoo.baselines.scripted", "iszoo.envs.engine"):
        file = Path(str(sys.modules[module].__file__))
        assert repr((file.name, file.stat().st_mtime, file.stat().st_size)) in stamp
