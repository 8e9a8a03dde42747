"""What scripted players of Isis & Osiris choose in small positions, and that they play with every option."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo.baselines.agents import View, make_agent
from iszoo.baselines.match import match, play
from iszoo.envs.aec import GameEnv
from iszoo.envs.isis_osiris import GAME, NUM_TILES, REVEAL, STOCK, TILES, resample
from iszoo.envs.native import JIT
from tests.baselines.scripted.preferences import chosen, valued
from tests.helpers import scaled, settings_of

BOTH = pytest.mark.parametrize("name", ["greedy", "expert"])


def position(stocks: list[list[int]], actions: list[int], **options: Any) -> GameEnv:
    """A game after some actions; each player's stock begins with the values given, any others follow."""
    each = STOCK[options.get("num_players", 2)]
    rest = [value for value, count in TILES for _ in range(count)]
    for stock in stocks:
        for value in stock:
            rest.remove(value)
    deal: list[int] = []
    for stock in stocks:
        missing = each - len(stock)
        deal += stock + rest[:missing]
        rest = rest[missing:]
    env = iszoo.make("isis_osiris", **options)
    env.reset(options={"deal": (deal + rest)[:NUM_TILES]})
    for action in actions:
        env.step(action)
    return env


# --- Positions ---


@BOTH
@pytest.mark.parametrize(("tile", "cell"), [(4, 15), (-4, 34)])
def test_tiles_between_stones(name: str, tile: int, cell: int) -> None:
    """A good tile between the own stones on 14 and 16, a bad one between the rival's on 33 and 35."""
    env = position([[tile], []], [14, 35, 16, 33, REVEAL])
    assert chosen(env, name) == [cell]


@BOTH
def test_a_stone_beside_a_good_tile(name: str) -> None:
    """Both places beside the corner with +4, and nothing else."""
    env = position([[4], []], [REVEAL, 0])
    assert chosen(env, name) == [1, 6]


@BOTH
def test_negatives_beside_the_leader(name: str) -> None:
    """On 29, beside the leader's stone; on 19 it would cost another player twice as much."""
    moves = [0, 35, REVEAL, 34, 5, REVEAL, 30, 18, 4, REVEAL, 31, 20, REVEAL]
    env = position([[-4], [1, 1], [4]], moves, num_players=3)
    assert chosen(env, name) == [29]


def test_greedy_sees_the_points_only() -> None:
    """On 1, between tiles, +4 is as good as on 6, where a rival on 12 would share it."""
    env = position([[-1, 4], [-1]], [0, REVEAL, 2, REVEAL, 7, 35, REVEAL])
    assert chosen(env, "greedy") == [1, 6]
    assert chosen(env, "expert") == [1]


def test_greedy_reveals_where_stones_lose() -> None:
    """To reveal changes nothing, and neither does a stone away from the tile."""
    env = position([[-4], []], [REVEAL, 14])
    beside = [8, 13, 15, 20]
    assert chosen(env, "greedy") == [action for action in env.legal_actions() if action not in beside]


# --- What they may know ---


@BOTH
def test_the_order_of_the_stock_is_not_seen(name: str) -> None:
    """All orders that fit what was shown get the same values, in every position of a game."""

    class Checked:
        def __init__(self) -> None:
            self.name, self.agent = name, make_agent(name, GAME)

        def act(self, view: View) -> Any:
            for i, row in enumerate(view.positions()):
                mask = view.action_mask[i : i + 1]
                seen = []
                for seed in range(3):
                    rows = row[None].copy()
                    resample(rows, 0, int(view.player[i]), seed, view.params)
                    seen.append(valued("isis_osiris", name, rows, mask, view.params)[mask[0] != 0])
                assert np.isfinite(seen[0]).all()
                np.testing.assert_array_equal(seen[1], seen[0])
                np.testing.assert_array_equal(seen[2], seen[0])
            return self.agent.act(view)

    for variant in ("standard", "shared_stock"):
        play(GAME, [Checked(), make_agent("random", GAME)], scaled(20), seed=1, variant=variant)


def test_hidden_memory_changes_no_choice() -> None:
    """They remember what was shown: the same seeds give the same games."""
    agents = [make_agent(name, GAME) for name in ("expert", "greedy")]
    shown = play(GAME, agents, scaled(20), seed=2, memory="open")
    hidden = play(GAME, agents, scaled(20), seed=2, memory="hidden")
    np.testing.assert_array_equal(shown.scores, hidden.scores)


# --- Whole games ---


@pytest.mark.parametrize("setting", settings_of(GAME), ids=str)
def test_whole_games(setting: Any) -> None:
    """Every answer is legal, or `play` raises; and no two deals are played alike."""
    players = setting.options["num_players"]
    count = players * scaled(20)
    for names in (["expert"] + ["greedy"] * (players - 1), ["expert"] * players, ["greedy"] * players):
        games = play(GAME, [make_agent(name, GAME) for name in names], count, seed=3, **setting.options)
        # One and the same player on every seat may play a deal the same way whoever sits where.
        assert len(set(games.digests)) >= (count if len(set(names)) > 1 else count // players)


@pytest.mark.skipif(not JIT, reason="too few games in the time")
@pytest.mark.parametrize("variant", ["standard", "shared_stock"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_expert_beats_greedy(players: int, variant: str) -> None:
    """One expert wins more than its share of the games among greedies, and of two more than 55 in 100."""
    agents = [make_agent(name, GAME) for name in ["expert"] + ["greedy"] * (players - 1)]
    expert = match(GAME, agents, 100 * players, seed=0, variant=variant).standings[0]
    assert expert.win_rate > (0.55 if players == 2 else 1 / players)


@pytest.mark.skipif(not JIT, reason="too few games in the time")
def test_both_beat_random() -> None:
    for name in ("greedy", "expert"):
        agents = [make_agent(name, GAME), make_agent("random", GAME)]
        assert match(GAME, agents, 200).standings[0].win_rate >= 0.98
