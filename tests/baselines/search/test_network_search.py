"""Search with a network: it counts right, never peeks, never touches the game, and finds what can be forced."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import iszoo
from iszoo.baselines import POLICIES, networks
from iszoo.baselines.agents import agent_names, make_agent, view_of
from iszoo.baselines.match import match
from iszoo.baselines.networks import Network
from iszoo.baselines.policy import Card, load_card, load_policy, save_policy
from iszoo.baselines.search.network_search import DEFAULTS, NetworkSearch, NetworkSearchAgent, NetworkSearchOptions
from iszoo.baselines.search.network_tree import NETWORK_NODE
from iszoo.baselines.search.tree import NODE
from iszoo.envs import engine, isis_osiris
from iszoo.envs.game import Game
from iszoo.envs.native import kernel
from iszoo.envs.primitives import GENERATOR, MARGIN, NUM_PLAYERS
from tests.baselines.search.test_search import WITH_ENDGAMES, endgames, mark_instead
from tests.helpers import GAMES, SETTINGS, Setting, play

GAME_IDS = [game.name for game in GAMES]
OPTIONS = NetworkSearchOptions()


def some_network(game: Game, options: dict[str, Any], seats: int = 1, seed: int = 0) -> Network:
    """A network that knows nothing but has opinions."""
    architecture = {"kind": "mlp", "hidden": [8], "value_hidden": [8], "seats": seats}
    rng = np.random.default_rng(seed)
    weights = {
        name: rng.normal(size=shape).astype(np.float32) for name, shape in networks.shapes(architecture, game).items()
    }
    for name in weights:
        if name.startswith("value"):
            weights[name] *= 0.3
    return Network(game, game.resolve(options), architecture, weights)


class Ignorant:
    """Says nothing: all actions alike, nobody ahead."""

    def __init__(self, game: Game) -> None:
        self.actions = game.num_actions
        self.positions = 0

    def evaluate(self, obs: npt.NDArray[np.int8]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        self.positions += len(obs)
        return np.zeros((len(obs), self.actions), np.float32), np.zeros((len(obs), 1), np.float32)


def started(setting: Setting, games: int = 3, plies: int = 4, **more: Any) -> tuple[NetworkSearch, Any]:
    """Searches of some positions that have begun, and the games."""
    vec = setting.vec(games, seed=5, autoreset="disabled")
    vec.random_steps(plies, observe=True)
    network = more.pop("network", None) or some_network(setting.game, setting.options)
    search = NetworkSearch(setting.game, vec.params, network, games, **{"simulations": 80, "options": OPTIONS, **more})
    search.start(vec.rows, np.arange(games))
    return search, vec


def children(search: NetworkSearch, node: int) -> Iterator[int]:
    child = int(search._tree["child"][node])
    while child:
        yield child
        child = int(search._tree["sibling"][child])


def below(search: NetworkSearch, node: int) -> Iterator[int]:
    yield node
    for child in children(search, node):
        yield from below(search, child)


# --- The tree ---


def test_a_node_is_one_of_the_other_search_and_a_probability() -> None:
    assert NETWORK_NODE.itemsize == NODE.itemsize + 4
    assert (NETWORK_NODE.names or ())[:-1] == NODE.names


@pytest.mark.parametrize("setting", SETTINGS, ids=repr)
@pytest.mark.parametrize("chance", [False, True], ids=["", "chance"])
def test_the_trees_count_right(setting: Setting, chance: bool) -> None:
    search, vec = started(setting, options=replace(OPTIONS, chance=chance))
    before = vec.rows.copy()
    search.run(50)
    search.run(30)
    assert (vec.rows == before).all()
    nodes, visits = search._tree, search.visits()
    for g in range(3):
        root = g * search.capacity
        assert nodes["visits"][root] == 80 == visits[g].sum() == search.simulations
        assert set(np.flatnonzero(visits[g])) <= set(np.flatnonzero(vec.action_mask[g]))
        assert sorted(below(search, root)) == list(range(root, int(search._used[g])))
        for node in below(search, root):
            actions = [int(nodes["action"][child]) for child in children(search, node)]
            assert len(set(actions)) == len(actions)
            passed_on = sum(int(nodes["visits"][child]) for child in children(search, node))
            # Every visit went on to a child, but those in which the node was a leaf. What is seen after an action has
            # nodes between it and the next ones, which every visit passes in which the game went on.
            shown = bool(actions) and actions[0] < 0
            assert all((action < 0) == shown for action in actions)
            assert shown == (chance and bool(actions) and node != root and int(nodes["action"][node]) >= 0)
            assert passed_on <= int(nodes["visits"][node]) - (node != root and bool(actions) and not shown)
            assert (np.abs(nodes["value"][node]) <= nodes["visits"][node] + 1e-3).all()
        priors = [float(nodes["prior"][child]) for child in children(search, root)]
        assert priors == sorted(priors, reverse=True)
        assert len(priors) == min(OPTIONS.width, vec.action_mask[g].sum())
    best = search.best()
    assert (visits[np.arange(3), best] == visits.max(axis=1)).all()


@pytest.mark.parametrize("game", GAMES, ids=GAME_IDS)
def test_the_probabilities_are_the_networks_over_legal_actions(game: Game) -> None:
    search, vec = started(Setting(game, {}), games=7)
    logits = np.where(vec.action_mask != 0, search.network.evaluate(vec.obs)[0].astype(np.float64), -np.inf)
    wanted = np.exp(logits - logits.max(axis=1, keepdims=True))
    wanted /= wanted.sum(axis=1, keepdims=True)
    actions, visits, priors, values = search.roots()
    assert not visits.any()
    assert np.isnan(values).all()
    for g in range(len(actions)):
        order = np.argsort(-wanted[g], kind="stable")[: search.options.width]
        legal = order[wanted[g, order] > 0]
        assert set(actions[g][actions[g] >= 0]) == set(legal)
        assert np.allclose(priors[g][: len(legal)], wanted[g, legal], rtol=1e-3)


@pytest.mark.parametrize("setting", SETTINGS, ids=repr)
def test_values_are_of_every_seat(setting: Setting) -> None:
    """A network with a value for each seat, from the player to move on, whose first look is at known leaves."""
    players = len(setting.started(0).possible_agents)
    if players == 1:
        network = some_network(setting.game, setting.options)
    else:
        network = some_network(setting.game, setting.options, seats=players)
    search, _ = started(setting, network=network)
    search.run(1)
    for g in range(3):
        (child,) = (c for c in children(search, g * search.capacity) if search._tree["visits"][c])
        twin = setting.batch_at(search._rows[g : g + 1])
        mover = int(twin.player[0])
        if mover < 0:
            continue
        told = np.clip(network.evaluate(twin.obs)[1][0], -1, 1)
        seats = [(mover + k) % players for k in range(players)]
        assert np.allclose(search._tree["value"][child, seats], told, atol=1e-4)
        assert np.allclose(search.values()[g, seats], told, atol=1e-4)


@pytest.mark.parametrize("setting", SETTINGS, ids=repr)
def test_one_value_is_shared_among_opponents_and_common_to_partners(setting: Setting) -> None:
    search, _ = started(setting)
    search.run(60)
    values = search.values()
    if len(setting.started(0).possible_agents) > 1 and setting.options.get("mode") != "coop":
        assert np.allclose(values.sum(axis=1), 0, atol=1e-3)
    else:
        assert np.allclose(values, values[:, :1], atol=1e-3)


@pytest.mark.parametrize("setting", SETTINGS, ids=repr)
def test_games_that_are_over_count_by_the_rules_and_in_part_by_the_margin(setting: Setting) -> None:
    game = setting.game
    margins = setting.params.copy()
    margins[1] = MARGIN
    for share in (0.0, 0.25):
        options = NetworkSearchOptions(margin=share)
        env, trial = setting.started(3), setting.started(3)
        while trial.legal_actions():  # up to the last action
            env, trial = trial.clone(), play(trial, most=1)
        search = NetworkSearch(game, setting.params, Ignorant(game), 1, 4, options)
        search.start(env._rows, np.zeros(1, np.int64))
        search.run(1)
        rows = search._rows.copy()
        found = np.zeros((2, int(setting.params[NUM_PLAYERS])))
        engine.write_returns(game.table, rows, 0, found, setting.params)
        engine.write_returns(game.table, rows, 0, found[1:], margins)
        assert search.values()[0] == pytest.approx((1 - share) * found[0] + share * found[1], abs=1e-6)


@pytest.mark.parametrize("setting", SETTINGS, ids=repr)
def test_a_rollout_has_its_share_in_a_leaf(setting: Setting) -> None:
    """What the game that it played gave each seat, times the share; the network says nothing here."""
    game = setting.game
    margins = setting.params.copy()
    margins[1] = MARGIN
    for share, margin, rollout in ((1.0, 0.0, ""), (0.25, 0.5, agent_names(game)[-1])):
        options = NetworkSearchOptions(rollout=rollout, rollout_share=share, margin=margin)
        search, vec = started(setting, games=1, network=Ignorant(game), options=options)
        before = vec.rows.copy()
        search.run(1)
        leaf, end = search._rows.copy(), search._ends
        assert setting.batch_at(leaf).player[0] >= 0 > setting.batch_at(end).player[0]
        found = np.zeros((2, int(setting.params[NUM_PLAYERS])))
        engine.write_returns(game.table, end, 0, found, setting.params)
        engine.write_returns(game.table, end, 0, found[1:], margins)
        wanted = share * ((1 - margin) * found[0] + margin * found[1])
        assert search.values()[0] == pytest.approx(wanted, abs=1e-6)
        search.run(20)
        assert (vec.rows == before).all()


def test_rollouts_say_who_is_ahead() -> None:
    """Where the network says nothing, a search by rollouts wins against one without."""
    game = iszoo.REGISTRY["isaac"]
    agents = [
        NetworkSearchAgent(
            game, Ignorant(game), 60, options=NetworkSearchOptions(rollout="greedy", rollout_share=share, margin=0.5)
        )
        for share in (1.0, 0.0)
    ]
    assert match(game, agents, 20, seed=1).standings[0].win_rate > 0.8


@pytest.mark.parametrize("game", GAMES, ids=GAME_IDS)
@pytest.mark.parametrize("chance", [False, True], ids=["", "chance"])
def test_full_trees_are_searched_on(game: Game, chance: bool) -> None:
    search, _ = started(Setting(game, {}), simulations=3, options=replace(OPTIONS, chance=chance))
    search.run(60)
    assert (search.visits().sum(axis=1) == 60).all()
    assert (search._used <= np.arange(1, 4) * search.capacity).all()


def test_a_full_tree_takes_no_label_for_an_action() -> None:
    """Its leaf may be an action whose children are what is seen after it; their labels are no places in a mask."""
    game = iszoo.REGISTRY["isis_osiris"]

    class Revealing(Ignorant):
        def evaluate(self, obs: npt.NDArray[np.int8]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
            logits, values = super().evaluate(obs)
            logits[:, isis_osiris.REVEAL] = 8
            return logits, values

    vec = Setting(game, {}).vec(1, seed=3, autoreset="disabled")
    options = NetworkSearchOptions(exploration=1000.0, urgency=0.0, chance=True, width=37)
    search = NetworkSearch(game, vec.params, Revealing(game), 1, 3, options)
    guarded = np.full((1000, game.num_actions), 7, np.int8)  # labels go down to -32767
    search._mask = guarded[900:901]
    search.start(vec.rows, np.zeros(1, np.int64))
    search.run(80)
    assert int(search._used[0]) == search.capacity
    assert (guarded[:900] == 7).all()
    assert (guarded[901:] == 7).all()


def test_noise_changes_the_probabilities_and_their_sum_stays() -> None:
    search, _ = started(Setting(iszoo.REGISTRY["isis_osiris"], {}))
    before = search.roots()[2]
    search.stir(np.random.default_rng(0), alpha=10.0, share=0.25)
    after = search.roots()[2]
    assert np.allclose(after.sum(axis=1), 0.75 * before.sum(axis=1) + 0.25, atol=1e-5)
    assert (after >= 0.75 * before - 1e-6).all()
    assert not np.allclose(before, after, atol=1e-3)


def test_what_chance_shows_has_nodes_of_its_own() -> None:
    """After a reveal, one for each value of a tile; the rest of the tree is for that tile."""
    game = iszoo.REGISTRY["isis_osiris"]
    vec = Setting(game, {}).vec(1, seed=3, autoreset="disabled")
    options = NetworkSearchOptions(exploration=1000.0, urgency=0.0, chance=True, width=37)
    search = NetworkSearch(game, vec.params, Ignorant(game), 1, 3000, options)
    search.start(vec.rows, np.zeros(1, np.int64))
    search.run(3000)
    reveal = [node for node in children(search, 0) if search._tree["action"][node] == isis_osiris.REVEAL]
    shown = list(children(search, reveal[0]))
    assert len(shown) == 8
    visits = np.sort(search._tree["visits"][shown]) / search._tree["visits"][reveal[0]]
    assert visits == pytest.approx(np.array([1, 1, 2, 2, 2, 2, 6, 6]) / 22, abs=0.06)
    # A stone shows nothing: one node, as after any action.
    assert all(len(list(children(search, node))) == 1 for node in children(search, 0) if node not in reveal)


def test_how_far_apart_results_are_is_the_unit_of_exploration() -> None:
    """The same values in other units: the same tree."""
    game = iszoo.REGISTRY["isis_osiris"]
    _, vec = started(Setting(game, {}))
    plain = some_network(game, {})

    class Scaled:
        def __init__(self, by: float) -> None:
            self.by = by

        def evaluate(self, obs: npt.NDArray[np.int8]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
            logits, values = plain.evaluate(obs)
            return logits, np.float32(self.by) * values

    def searched(by: float, exploration: float) -> tuple[Any, Any]:
        options = replace(OPTIONS, exploration=exploration, prior_power=0.3)
        search = NetworkSearch(game, vec.params, Scaled(by), 3, 200, options)
        search.start(vec.rows, np.arange(3))
        search.run(200)
        return search.visits(), search.deviations()

    (visits, spread), (same, half), (other, _) = searched(0.5, 1.5), searched(0.25, 1.5), searched(0.5, 3.0)
    assert spread == pytest.approx(2 * half, rel=0.1)
    away = np.abs(visits - same).sum(axis=1)  # for the little that keeps deviations above 0
    assert (away < 40).all()
    assert (away < 0.5 * np.abs(visits - other).sum(axis=1)).all()  # as if the unit were another


def test_the_probabilities_of_the_network_stay_known() -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    plain, flat = (started(Setting(game, {}), options=replace(OPTIONS, prior_power=power))[0] for power in (1.0, 0.5))
    told = plain.probabilities()
    assert np.allclose(told, plain.roots()[2], atol=1e-5)
    assert np.allclose(flat.probabilities(), told, atol=1e-6)
    children = told > 0
    roots = np.sqrt(told)
    assert np.allclose((flat.roots()[2] / roots)[children], (flat.roots()[2] / roots)[:, :1].repeat(32, 1)[children])
    flat.stir(np.random.default_rng(0), alpha=10.0, share=0.25)
    assert np.allclose(flat.probabilities(), told, atol=1e-6)


@pytest.mark.parametrize("game", GAMES, ids=GAME_IDS)
def test_the_batch_changes_nothing(game: Game) -> None:
    vec = Setting(game, {}).vec(40, seed=0, autoreset="disabled")
    vec.random_steps(4, observe=True)
    view = view_of(vec, np.arange(40), np.arange(40))
    network = some_network(game, {})
    together = NetworkSearchAgent(game, network, 30).act(view).tolist()
    assert view.action_mask[np.arange(40), together].all()
    alone = NetworkSearchAgent(game, network, 30)
    assert [int(alone.act(view_of(vec, np.array([k]), np.array([k])))[0]) for k in range(40)] == together
    # Trees that stand for others meanwhile don't show.
    some = view_of(vec, np.arange(5, 22), np.arange(5, 22))
    assert alone.act(some).tolist() == together[5:22]
    assert pickle.loads(pickle.dumps(alone)).act(some).tolist() == together[5:22]


@pytest.mark.parametrize("game", GAMES, ids=GAME_IDS)
def test_the_seed_decides(game: Game) -> None:
    _, vec = started(Setting(game, {}))

    def values(seed: int) -> list[list[float]]:
        search = NetworkSearch(game, vec.params, some_network(game, {}), 3, 60)
        search.start(vec.rows, np.arange(3) + seed)
        search.run(60)
        return search.values().tolist()  # type: ignore[no-any-return]

    assert values(3) == values(3)
    if game.name == "iso":  # Isaac has no chance; this network turns up no tile of Isis & Osiris
        assert values(3) != values(9)


# --- Never peeks ---


@pytest.mark.parametrize("setting", SETTINGS, ids=repr)
def test_what_the_player_cannot_know_changes_nothing(setting: Setting) -> None:
    """Two positions that the player can't tell apart are the same to the agent: same trees, same actions."""
    games = 4
    vec = setting.vec(games, seed=9, autoreset="disabled")
    vec.random_steps(3, observe=True)
    redrawn = vec.rows.copy()
    engine.resample_batch(setting.game.table, redrawn, vec.player.astype(np.int64), np.arange(9, 9 + games), vec.params)
    agent = NetworkSearchAgent(setting.game, some_network(setting.game, setting.options), 60)
    views = [view_of(batch, np.arange(games), np.arange(games)) for batch in (vec, setting.batch_at(redrawn))]
    assert agent.act(views[0]).tolist() == agent.act(views[1]).tolist()
    trees = []
    for view in views:
        search = NetworkSearch(setting.game, vec.params, some_network(setting.game, setting.options), games, 60)
        search.start(view.positions(), np.arange(games))
        search.run(60)
        trees.append(search._tree.tobytes())
    assert trees[0] == trees[1]


@pytest.mark.parametrize("game", GAMES, ids=GAME_IDS)
def test_every_simulation_draws_anew_for_the_player_at_the_root(game: Game) -> None:
    marking = replace(game, kernels=game.kernels._replace(resample=mark_instead))
    vec = Setting(game, {}).vec(2, seed=1, autoreset="disabled")
    vec.random_steps(3)
    search = NetworkSearch(marking, vec.params, some_network(game, {}), 2, 20)
    search.start(vec.rows, np.array([1, 2]))
    marks = []
    for _ in range(20):
        search.run(1)
        marks.append(search._rows[:, GENERATOR].tolist())
    for g in range(2):
        assert len({mark[g] for mark in marks}) == 20
        assert {mark[g] & 3 for mark in marks} == {int(vec.player[g])}


def test_only_what_is_legal_in_the_position_at_hand_competes() -> None:
    """A game in which the draw decides what is legal: the last bit of the generator, which `resample` draws."""
    game = iszoo.REGISTRY["isis_osiris"]
    drawn = replace(game, kernels=game.kernels._replace(legal=half_legal))
    vec = Setting(game, {}).vec(1, seed=1, autoreset="disabled")
    search = NetworkSearch(drawn, vec.params, some_network(game, {}), 1, 200, OPTIONS)
    search.start(vec.rows, np.zeros(1, np.int64))
    parts = set()
    for _ in range(200):
        search.run(1)
        bit = int(search._rows[0, GENERATOR] & 1)
        line = search._path[0, 1 : int(search._lengths[0])]
        if len(line) > 1:  # below the root, whose children are those of the first draw
            action = int(search._tree["action"][line[1]])
            assert action & 1 == bit
            parts.add(bit)
    assert parts == {0, 1}


@kernel
def half_legal(rows: Any, i: int, mask: Any, params: Any) -> int:
    """In the place of `legal`: of the legal actions the even or the odd ones, whichever was drawn, if there are any."""
    count = isis_osiris.legal(rows, i, mask, params)
    left = 0
    for a in range(mask.shape[1]):
        if mask[i, a] != 0 and (a ^ rows[i, 0]) & 1 == 0:
            left += 1
    if left == 0:
        return count
    for a in range(mask.shape[1]):
        if (a ^ rows[i, 0]) & 1 != 0:
            mask[i, a] = 0
    return left


# --- Endgames ---


@pytest.mark.parametrize("setting", WITH_ENDGAMES, ids=repr)
def test_finds_the_only_move(setting: Setting) -> None:
    ((env, only),) = endgames(setting, 1)
    search = NetworkSearch(setting.game, setting.params, Ignorant(setting.game), 1, 1500, replace(OPTIONS, width=200))
    search.start(env._rows, np.ones(1, np.int64))
    search.run(1500)
    assert search.best().tolist() == [only]


# --- The agent ---


@pytest.mark.parametrize(
    ("name", "policy", "opponent", "least"),
    [
        ("isaac", "isaac-az-2", "expert", 0.85),
        ("iso", "iso-az", "policy:iso", 0.5),
        ("isis_osiris", "isis_osiris-az-3", "policy:isis_osiris", 0.5),
    ],
)
def test_shipped_policies_search(name: str, policy: str, opponent: str, least: float) -> None:
    """And it helps: by itself Isaac's policy wins less than half against expert."""
    game = iszoo.REGISTRY[name]
    agent = make_agent(f"az:{policy}:16", game)
    assert agent.name == f"az:{policy}:16"
    assert make_agent(f"az:{policy}", game).name == f"az:{policy}:64"
    margin = load_card(policy).margin
    assert margin > 0.5
    assert agent._options == replace(DEFAULTS[name], margin=margin)
    result = match(game, [agent, make_agent(opponent, game)], 60, seed=3)
    assert result.distinct_games > 20
    assert result.standings[0].win_rate > least


def test_a_policy_of_a_path_and_its_margin(tmp_path: Path) -> None:
    game = iszoo.REGISTRY["isaac"]
    for suffix in (".json", ".safetensors"):
        shutil.copy(POLICIES / f"isaac{suffix}", tmp_path / f"mine{suffix}")
    file = tmp_path / "mine.safetensors"
    assert make_agent(f"az:{file}", game).name == "az:mine:64"
    assert make_agent(f"az:{file}:5", game).name == "az:mine:5"
    network = load_policy(str(file), game).network
    card = Card("isaac_v0", game.resolve({}), network._architecture, margin=0.5)
    save_policy(file, network._weights, card)
    agent = make_agent(f"az:{file}:5", game)
    assert isinstance(agent, NetworkSearchAgent)
    assert agent._options.margin == 0.5


@pytest.mark.parametrize(
    "text", ["isaac:0", "isaac:-1", "isaac:1.5", "isaac:", "", ":5", "isaac:many", "isaac:99999999"]
)
def test_bad_budgets_are_named(text: str) -> None:
    with pytest.raises(ValueError, match=r"az:.* is not allowed; write a policy and simulations"):
        make_agent(f"az:{text}", iszoo.REGISTRY["isaac"])


def test_bad_input_is_named() -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    with pytest.raises(ValueError, match="no policy nobody ships with iszoo"):
        make_agent("az:nobody:5", game)
    with pytest.raises(ValueError, match="was trained for isaac_v0, not for isis_osiris_v0"):
        make_agent("az:isaac:5", game)
    with pytest.raises(ValueError, match="simulations=0 is not allowed"):
        NetworkSearchAgent(game, Ignorant(game), 0)
    setting = Setting(game, {})
    with pytest.raises(ValueError, match="the network has values for 3 seats; the game has 2"):
        started(setting, network=some_network(game, {"num_players": 3}, seats=3))
    for options, wrong in (({"rollout": "nobody"}, "rollout='nobody' is not allowed; isis_osiris has 'greedy'"),
                           ({"rollout_share": 1.5}, "rollout_share=1.5 is not allowed")):  # fmt: skip
        with pytest.raises(ValueError, match=wrong):
            started(setting, options=NetworkSearchOptions(**options))
    with pytest.raises(ValueError, match="each is at least 1"):
        NetworkSearch(game, setting.params, Ignorant(game), 0, 1)
    search = NetworkSearch(game, setting.params, Ignorant(game), 2, 5)
    with pytest.raises(ValueError, match="call start"):
        search.run(1)
    vec = setting.vec(3, seed=0, autoreset="disabled")
    with pytest.raises(ValueError, match="3 positions are not allowed; this search has room for 1 to 2"):
        search.start(vec.rows, np.zeros(3, np.int64))
    search.start(vec.rows[:2], np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="nothing was searched"):
        search.best()
    vec.random_steps(game.max_game_length)
    with pytest.raises(ValueError, match="a game is over"):
        search.start(vec.rows[:2], np.zeros(2, np.int64))


def test_one_agent_plays_games_of_different_options() -> None:
    game = iszoo.REGISTRY["iso"]
    agent = NetworkSearchAgent(game, some_network(game, {}), 20)
    for options in ({"mode": "solo"}, {"num_players": 3}, {"mode": "coop"}, {}):
        vec = Setting(game, options).vec(2, seed=0, autoreset="disabled")
        view = view_of(vec, np.arange(2), np.arange(2))
        assert view.action_mask[np.arange(2), agent.act(view)].all()


def test_a_forced_action_is_not_searched() -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    network = Ignorant(game)
    vec = Setting(game, {}).vec(1, seed=0, autoreset="disabled")
    while vec.action_mask.sum() > 1:
        vec.random_steps(1, observe=True)
    view = view_of(vec, np.arange(1), np.zeros(1, np.int64))
    assert NetworkSearchAgent(game, network, 10).act(view).tolist() == np.flatnonzero(vec.action_mask[0]).tolist()
    assert network.positions == 0
