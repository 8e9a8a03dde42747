"""The plain search comes to the same visits as the fast one, and what is measured beside it is whole games."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import iszoo
from iszoo.baselines.search.network_search import Evaluator, NetworkSearch, NetworkSearchOptions
from iszoo.benchmarks import self_play
from iszoo.benchmarks.plain_search import PlainSearch, play_game
from iszoo.envs.primitives import draw, mix
from iszoo.reports import machine
from tests.baselines.search.test_network_search import some_network
from tests.helpers import GAMES, Setting, play

OPTIONS = NetworkSearchOptions(width=12, prior_power=0.7)


class Padded:
    """A network that sees each position among as many as in the fast search: it says the same to the bit."""

    def __init__(self, network: Evaluator) -> None:
        self.network = network

    def evaluate(self, obs: npt.NDArray[np.int8]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        logits, values = self.network.evaluate(np.repeat(obs, 16, axis=0))
        return logits[:1], values[:1]


def draws(seed: int) -> Iterator[int]:
    """What the fast search draws for a position whose seed this is."""
    states = np.array([[mix(seed)]], np.int64)
    while True:
        yield int(draw(states, 0, 0, 1 << 31))


WHERE = [
    *(Setting(game, {}) for game in GAMES),
    Setting(iszoo.REGISTRY["isis_osiris"], {"num_players": 3, "variant": "shared_stock"}),
    Setting(iszoo.REGISTRY["iso"], {"num_players": 3}),
]


@pytest.mark.parametrize("setting", WHERE, ids=repr)
@pytest.mark.parametrize("plies", [1, 6, 11])
@pytest.mark.parametrize("chance", [False, True], ids=["", "chance"])
def test_the_same_draws_give_the_same_visits(setting: Setting, plies: int, chance: bool) -> None:
    options = replace(OPTIONS, chance=chance)
    env = play(setting.started(plies, observation="flat"), most=plies)
    network = some_network(setting.game, setting.options)
    fast = NetworkSearch(setting.game, setting.params, network, 1, 60, options)
    fast.start(env._rows, np.array([7]))
    fast.run(60)
    before = env.get_state()
    plain = PlainSearch(env, Padded(network), draws(7), options)
    plain.run(60)
    assert env.get_state() == before
    assert plain.visits().tolist() == fast.visits()[0].tolist()
    values = np.array(plain.root.values) / plain.root.visits
    assert values == pytest.approx(fast.values()[0], abs=1e-4)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_plain_self_play_is_whole_games(game: Any) -> None:
    env = Setting(game, {}).started(1, observation="flat")
    network = some_network(game, {})
    plies = play_game(env, network, 2, np.random.default_rng(0), OPTIONS)
    assert plies > 5
    assert env.legal_actions() == []


def test_the_plain_search_refuses_rollouts() -> None:
    env = Setting(iszoo.REGISTRY["isis_osiris"], {}).started(1, observation="flat")
    with pytest.raises(ValueError, match=r"rollout_share=0\.5 is not allowed"):
        PlainSearch(env, some_network(env.game, {}), draws(0), NetworkSearchOptions(rollout_share=0.5))


def test_both_are_measured() -> None:
    row = self_play.measure(iszoo.REGISTRY["isis_osiris"], 2, 4, 1, by_torch=False)
    hourly = row["games_an_hour"]
    assert set(row["ratios"]) == {"plain"}
    assert hourly["ours"]["median"] / hourly["plain"]["median"] == pytest.approx(row["ratios"]["plain"])
    assert row["ratios"]["plain"] > 0
    assert json.loads(json.dumps(row)) == row


def test_the_table_says_what_was_measured() -> None:
    row = self_play.measure(iszoo.REGISTRY["isis_osiris"], 1, 2, 1, by_torch=False)
    for name, median in (("ours", 25000.4), ("plain", 5000.2), ("torch", 2000.2)):
        row["games_an_hour"].setdefault(name, {})["median"] = median
    row["ratios"] = {"plain": 5.0, "torch": 12.5}
    tables = self_play.tables({"machine": machine(), "rows": [row]})
    cells = "| isis_osiris_v0 | cells, 48 x 48 x 48 | 25,000 | 2,000 | 12.5 | 5,000 | 5.0 |"
    assert tables["games"].splitlines()[2] == cells
    assert tables["run"].startswith("1 simulations a decision, 2 games side by side; medians of 1 rounds in turns")
