"""Search: it counts right, never peeks, never touches the game, and finds what can be forced."""

from __future__ import annotations

import pickle
import random
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo.baselines import scripted
from iszoo.baselines.agents import view_of
from iszoo.baselines.match import match
from iszoo.baselines.search import DEFAULTS, Search, SearchAgent, SearchOptions, make
from iszoo.baselines.search.tree import MAX_PLAYERS, NODE
from iszoo.envs import engine, isis_osiris
from iszoo.envs.aec import GameEnv
from iszoo.envs.native import kernel
from iszoo.envs.primitives import GENERATOR
from tests.helpers import GAMES, SETTINGS, Setting, play

PLAIN = SearchOptions()
GAME_IDS = [game.name for game in GAMES]


def search_of(env: GameEnv, options: SearchOptions | None = None, capacity: int = 5000) -> Search:
    """A search of an environment's position that has not begun."""
    search = Search(env.game, env._params, options, capacity)
    search.start(env._rows[0], seed=1)
    return search


def resampled(env: GameEnv, seat: int, seed: int) -> GameEnv:
    """A clone in which what a seat can't know was drawn anew."""
    twin = env.clone()
    engine.resample_batch(env.game.table, twin._rows, np.array([seat]), np.array([seed]), env._params)
    return twin


def below(search: Search, node: int) -> Iterator[int]:
    """All nodes of a subtree."""
    yield node
    for child in search._children(node):
        yield from below(search, child)


# --- The tree ---


@pytest.mark.parametrize("setting", SETTINGS, ids=repr)
def test_the_tree_counts_right(setting: Setting) -> None:
    env = play(setting.started(4), most=4)
    before = env.get_state()
    search = search_of(env, PLAIN)
    assert search.run(simulations=300) == 300 == search.simulations
    assert env.get_state() == before
    assert search.nodes <= 301
    tree = search._tree
    assert sorted(below(search, 0)) == list(range(search.nodes))
    for node in range(search.nodes):
        actions = [int(tree["action"][child]) for child in search._children(node)]
        assert len(set(actions)) == len(actions)
        passed_on = sum(int(tree["visits"][child]) for child in search._children(node))
        # Every visit went on to a child, but the first of a node below the root, and those in which it was the end.
        assert passed_on <= int(tree["visits"][node]) - (node > 0) or not actions
        assert (np.abs(tree["value"][node]) <= tree["visits"][node] + 1e-3).all()
    visits = search.visits()
    legal = set(env.legal_actions())
    assert set(np.flatnonzero(visits).tolist()) <= legal
    assert visits.sum() == 300
    values = search.values()[:, search.player]
    tied = np.flatnonzero(visits == visits.max())
    assert search.best() == tied[values[tied].argmax()]
    line = search.principal_variation()
    assert line[0] in np.flatnonzero(visits == visits.max())


@pytest.mark.parametrize("setting", SETTINGS, ids=repr)
def test_results_of_all_seats_are_backed_up(setting: Setting) -> None:
    env = setting.started(4)
    search = search_of(env, PLAIN)
    search.run(simulations=100)
    players = len(env.possible_agents)
    values = search.values()
    assert values.shape == (setting.game.num_actions, players)
    tried = search.visits() > 0
    assert np.isnan(values[~tried]).all()
    assert not np.isnan(values[tried]).any()
    total = search._tree["value"][0, :players].sum()
    if players > 1 and setting.options.get("mode") != "coop":
        assert total == pytest.approx(0, abs=1e-3)  # the outcome is zero-sum
    assert (search._tree["value"][: search.nodes, players:] == 0).all()


def test_a_node_is_half_a_line_of_the_cache() -> None:
    assert NODE.itemsize == 32
    assert max(max(game.players) for game in GAMES) <= MAX_PLAYERS


@pytest.mark.parametrize("game", GAMES, ids=GAME_IDS)
@pytest.mark.parametrize("plain", [True, False])
def test_the_seed_decides(game: Any, plain: bool) -> None:
    env = play(Setting(game, {}).started(2), most=5)

    def visits(seed: int) -> list[int]:
        search = Search(game, env._params, PLAIN if plain else None)
        search.start(env._rows[0], seed)
        search.run(simulations=100)
        search.run(simulations=50)
        return search.visits().tolist()  # type: ignore[no-any-return]

    assert visits(3) == visits(3) != visits(4)


@pytest.mark.parametrize("game", GAMES, ids=GAME_IDS)
def test_a_full_tree_is_searched_on(game: Any) -> None:
    search = search_of(Setting(game, {}).started(2), PLAIN, capacity=12)
    search.run(simulations=200)
    assert search.nodes == 12
    assert search.simulations == 200
    assert search.visits().sum() == 200


@pytest.mark.parametrize("game", GAMES, ids=GAME_IDS)
def test_the_first_children_are_the_priors_best(game: Any) -> None:
    env = play(Setting(game, {}).started(2), most=3)
    options = SearchOptions(prior="greedy", first=3)
    search = search_of(env, options)
    search.run(simulations=200)
    tried = np.flatnonzero(search.visits())
    values = np.full((1, game.num_actions), -np.inf)
    mask = np.zeros((1, game.num_actions), np.int8)
    mask[0, env.legal_actions()] = 1
    prefer = scripted.SCRIPTED[game.name]["greedy"]
    prefer(env._rows.copy(), 0, mask, values, env._params)
    values[0, mask[0] == 0] = -np.inf
    assert len(tried) == min(3, len(env.legal_actions()))
    assert set(values[0, tried]) <= set(np.sort(values[0])[-len(tried) :])


@pytest.mark.parametrize("game", GAMES, ids=GAME_IDS)
def test_the_tree_goes_on_after_a_move(game: Any) -> None:
    env = play(Setting(game, {}).started(2), most=game.max_game_length // 3)
    search = search_of(env, PLAIN)
    search.run(simulations=2000)
    action = search.best()
    kept = search.visits()[action]
    child = next(c for c in search._children(0) if search._tree["action"][c] == action)
    nodes, line = len(list(below(search, child))), search.principal_variation()
    values = search._tree["value"][child].tolist()
    env.step(action)
    assert search.advance(action, env._rows[0], seed=2) == kept == search.simulations
    assert search.nodes == nodes == len(set(below(search, 0)))
    assert search._tree["value"][0].tolist() == values
    assert search.principal_variation() == line[1:]
    assert search.player == env.possible_agents.index(env.agent_selection)
    search.run(simulations=100)
    assert search.simulations == kept + 100
    assert set(np.flatnonzero(search.visits()).tolist()) <= set(range(game.num_actions))


def test_the_tree_goes_on_from_what_chance_has_shown() -> None:
    setting = Setting(iszoo.REGISTRY["isis_osiris"], {})
    env = play(setting.started(2), most=9)
    while isis_osiris.REVEAL not in env.legal_actions():
        env.step(env.legal_actions()[0])
    search = search_of(env, SearchOptions(chance=True))
    search.run(simulations=3000)
    tree = search._tree
    reveal = next(c for c in search._children(0) if tree["action"][c] == isis_osiris.REVEAL)
    shown = {int(tree["action"][c]): c for c in search._children(reveal)}
    assert len(shown) > 4
    assert max(shown) < 0  # no actions
    assert all(action >= 0 for action in search.principal_variation())
    visits = {label: int(tree["visits"][c]) for label, c in shown.items()}
    assert sum(visits.values()) == tree["visits"][reveal] - 1  # at its first visit it was a leaf
    env.step(isis_osiris.REVEAL)
    kept = search.advance(isis_osiris.REVEAL, env._rows[0], seed=3)
    assert kept == search.simulations
    assert kept in visits.values()
    assert set(np.flatnonzero(search.visits()).tolist()) <= set(env.legal_actions())


def test_a_move_that_was_never_tried_starts_anew() -> None:
    env = Setting(GAMES[0], {}).started(2)
    search = search_of(env, PLAIN)
    search.run(simulations=3)
    action = next(a for a in env.legal_actions() if search.visits()[a] == 0)
    env.step(action)
    assert search.advance(action, env._rows[0], seed=0) == 0 == search.simulations
    search.run(simulations=20)
    assert search.visits().sum() == 20


# --- Never peeks ---


@pytest.mark.parametrize("setting", SETTINGS, ids=repr)
def test_what_the_player_cannot_know_changes_nothing(setting: Setting) -> None:
    """Two positions that the player can't tell apart are the same to the agent: same searches, same actions."""
    games = 4
    vec = setting.vec(games, seed=9, autoreset="disabled")
    vec.random_steps(3, observe=True)
    games_on = np.flatnonzero(vec.player >= 0)
    seeds = np.arange(len(games_on))
    redrawn = vec.rows.copy()
    seats, draws = np.maximum(vec.player, 0).astype(np.int64), np.arange(9, 9 + games)
    engine.resample_batch(setting.game.table, redrawn, seats, draws, vec.params)
    twin = setting.batch_at(redrawn)
    agent = SearchAgent(setting.game, simulations=60, options=PLAIN)
    ours, theirs = view_of(vec, games_on, seeds), view_of(twin, games_on, seeds)
    assert agent.act(ours).tolist() == agent.act(theirs).tolist()
    for k in range(len(games_on)):
        trees = []
        for view in (ours, theirs):
            search = Search(setting.game, vec.params, PLAIN)
            search.start(view.positions()[k], seed=5)
            search.run(simulations=100)
            trees.append(search._tree[: search.nodes].tobytes())
        assert trees[0] == trees[1]


@kernel
def mark_instead(rows: Any, i: int, player: int, seed: int, params: Any) -> None:
    """In place of `resample`: leaves a mark in the row that nothing changes until the end of a game."""
    rows[i, GENERATOR] = (seed << 2) + player


@pytest.mark.parametrize("game", GAMES, ids=GAME_IDS)
def test_every_simulation_draws_anew_for_the_player_at_the_root(game: Any) -> None:
    marking = replace(game, kernels=game.kernels._replace(resample=mark_instead))
    env = play(Setting(game, {}).started(2), most=3)
    search = Search(marking, env._params, PLAIN)
    search.start(env._rows[0], seed=1)
    marks = []
    for _ in range(20):
        search.run(simulations=1)
        marks.append(int(search._rows[0, GENERATOR]))
    assert len(set(marks)) == 20
    assert {mark & 3 for mark in marks} == {env.possible_agents.index(env.agent_selection)}


# --- Endgames ---


def solve(env: GameEnv, budget: list[int]) -> tuple[float, ...]:
    """The exact result of every seat if each plays for the best for itself; without chance."""
    legal = env.legal_actions()
    if not legal:
        return tuple(env.rewards[agent] for agent in env.possible_agents)
    seat = env.possible_agents.index(env.agent_selection)
    results = []
    for action in legal:
        budget[0] -= 1
        if budget[0] < 0:
            raise OverflowError
        twin = env.clone()
        twin.step(action)
        results.append(solve(twin, budget))
    return max(results, key=lambda result: result[seat])


def endgames(setting: Setting, wanted: int) -> Iterator[tuple[GameEnv, int]]:
    """Positions near the end without anything unknown where one action wins or saves what all others lose."""
    found = 0
    for seed in range(400):
        env = setting.started(seed)
        length = 0
        trial = env.clone()
        rng = random.Random(seed)
        line = []
        while legal := trial.legal_actions():
            line.append(rng.choice(legal))
            trial.step(line[-1])
        for length in range(max(0, len(line) - 5), len(line)):
            at = env.clone()
            for action in line[:length]:
                at.step(action)
            seat = at.possible_agents.index(at.agent_selection)
            if any((resampled(at, seat, s)._rows != resampled(at, seat, 0)._rows)[:, 2:].any() for s in (1, 2, 3)):
                continue
            results = {}
            try:
                budget = [3000]
                for action in at.legal_actions():
                    twin = at.clone()
                    twin.step(action)
                    results[action] = solve(twin, budget)[seat]
            except OverflowError:
                continue
            ranked = sorted(results.values())
            if len(ranked) > 2 and ranked[-1] > ranked[-2] + 0.1:
                yield at, max(results, key=lambda action: results[action])
                found += 1
                break
        if found == wanted:
            return


WITH_ENDGAMES = [
    *(Setting(game, {}) for game in GAMES),
    Setting(iszoo.envs.find("isaac"), {"pieces": "table"}),
    Setting(iszoo.envs.find("iso"), {"num_players": 3}),
    Setting(iszoo.envs.find("iso"), {"mode": "area_control"}),
]


@pytest.mark.parametrize("setting", WITH_ENDGAMES, ids=repr)
def test_finds_the_only_move(setting: Setting) -> None:
    wanted = 2
    count = 0
    for env, only in endgames(setting, wanted):
        for options in (PLAIN, replace(DEFAULTS[setting.game.name], margin=0.0)):
            search = search_of(env, options, capacity=20_000)
            search.run(simulations=4000)
            assert search.best() == only
        count += 1
    assert count == wanted


# --- The agent ---


def test_budgets() -> None:
    game = GAMES[0]
    assert make("50", game).name == "mcts:50"
    assert make("20ms", game).name == "mcts:20ms"
    for text in ("", "0", "-1", "1.5", "many", "10s", "ms", "²", "99999999999"):
        with pytest.raises(ValueError, match=r"mcts:.* is not allowed; write simulations or a time"):
            make(text, game)
    with pytest.raises(ValueError, match="either simulations or milliseconds"):
        SearchAgent(game, 5, 5)
    with pytest.raises(ValueError, match="either simulations or milliseconds"):
        SearchAgent(game)


def test_a_time_is_kept() -> None:
    search = search_of(Setting(GAMES[0], {}).started(0), PLAIN)
    search.run(simulations=1)  # compiled
    began = time.perf_counter()
    assert search.run(milliseconds=30) >= 64
    assert time.perf_counter() - began >= 0.03


def test_bad_input_is_named() -> None:
    game = GAMES[0]
    env = Setting(game, {}).started(0)
    with pytest.raises(ValueError, match="prior='strong' is not allowed; isaac has 'greedy', 'expert'"):
        search_of(env, SearchOptions(prior="strong"))
    with pytest.raises(ValueError, match="rollout='strong' is not allowed"):
        search_of(env, SearchOptions(rollout="strong"))
    with pytest.raises(ValueError, match="at least 2 nodes"):
        search_of(env, capacity=1)
    search = search_of(env)
    with pytest.raises(ValueError, match="nothing was searched"):
        search.best()
    over = play(env)
    with pytest.raises(ValueError, match="the game is over"):
        search.start(over._rows[0], 0)


@pytest.mark.parametrize("game", GAMES, ids=GAME_IDS)
def test_beats_random(game: Any) -> None:
    from iszoo.baselines.agents import RandomAgent

    result = match(game, [make("60", game), RandomAgent()], 20, seed=1)
    assert result.standings[0].wins >= 16


def test_one_agent_plays_games_of_different_options() -> None:
    game = next(g for g in GAMES if g.name == "iso")
    agent = make("20", game)
    for options in ({"mode": "solo"}, {"num_players": 3}, {}):
        setting = Setting(game, options)
        vec = setting.vec(2, seed=0, autoreset="disabled")
        view = view_of(vec, np.arange(2), np.arange(2))
        actions = agent.act(view)
        assert view.action_mask[np.arange(2), actions].all()


@pytest.mark.parametrize("game", GAMES, ids=GAME_IDS)
def test_threads_change_no_answer(game: Any) -> None:
    vec = Setting(game, {}).vec(7, seed=0, autoreset="disabled")
    vec.random_steps(4, observe=True)
    view = view_of(vec, np.arange(7), np.arange(7))
    alone = SearchAgent(game, 40).act(view).tolist()
    assert SearchAgent(game, 40, threads=3).act(view).tolist() == alone
    copied = pickle.loads(pickle.dumps(SearchAgent(game, 40)))
    assert copied.act(view).tolist() == alone
    with pytest.raises(ValueError, match="threads=0 is not allowed"):
        SearchAgent(game, 40, threads=0)
