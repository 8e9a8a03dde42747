"""What scripted players of ISO choose in small positions, and that they play in every mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo.baselines.agents import View, make_agent
from iszoo.baselines.match import match, play
from iszoo.envs.aec import GameEnv
from iszoo.envs.iso import GAME, GROUP, MODE, PLAYER, STARS_AT, resample, step
from iszoo.envs.native import JIT
from iszoo.envs.primitives import NUM_PLAYERS
from tests.baselines.scripted.preferences import chosen, valued
from tests.helpers import scaled, settings_of

BOTH = pytest.mark.parametrize("name", ["greedy", "expert"])


def position(deal: list[int], actions: list[str], **options: Any) -> GameEnv:
    """A game after some actions in the notation of the game; the deal goes on with the numbers that it lacks."""
    apart = (10, 11, 12, 13) if options.get("mode") == "area_control" else ()
    rest = [number for number in range(1, 19) if number not in (*deal, *apart)]
    env = iszoo.make("iso", **options)
    env.reset(options={"deal": [*deal, *rest]})
    for text in actions:
        env.step(GAME.string_to_action(text))
    return env


def after(env: GameEnv, action: int) -> GameEnv:
    copied = env.clone()
    copied.step(action)
    return copied


def gain(env: GameEnv, action: int) -> int:
    """The stars that an action wins."""
    holder = 0 if GAME.params(env.options)[MODE] == GROUP else int(env._rows[0, PLAYER])
    row = env._rows.copy()
    step(row, 0, action, GAME.params(env.options))
    return int(row[0, STARS_AT + holder] - env._rows[0, STARS_AT + holder])


def answers(env: GameEnv, action: int) -> int:
    """The most stars that the next player can win with a tile that lies in the slots now."""
    then = after(env, action)
    stay = [slot for slot in range(3) if slot != action // 768]
    if action // 768 != 2:  # the top of the pile moved to the slot of the tile played
        stay = [0, 1]
    return max((gain(then, a) for a in then.legal_actions() if a // 768 in stay), default=0)


# Objectives 14, 15 (three stars each) and 9 (two) on display after four turns.
DEAL = [14, 15, 9, 10, 11, 8, 2, 3, 13]
OPENING = ["1.2@8,8", "0.0@9,8", "1.1@10,9", "1.1@9,9"]


def test_greedy_takes_the_most_stars() -> None:
    """Three stars, where two and none can be had too or not: never less than the most."""
    env = position(DEAL, OPENING)
    gains = {action: gain(env, action) for action in env.legal_actions()}
    assert max(gains.values()) == 3
    assert all(gains[action] == 3 for action in chosen(env, "greedy"))


def test_expert_denies_the_next_player() -> None:
    """Whatever greedy chooses, the next player can win 3 stars; expert wins as many and leaves nothing."""
    env = position(DEAL, OPENING)
    assert [answers(env, action) for action in chosen(env, "greedy")] == [3] * 6
    assert chosen(env, "expert") == [GAME.string_to_action("0.2@11,9")]
    assert [(gain(env, action), answers(env, action)) for action in chosen(env, "expert")] == [(3, 0)]


# --- Whole games ---


class Checked:
    """Plays as the agent of a name does, and checks each of its choices."""

    def __init__(self, name: str) -> None:
        self.name, self.agent = name, make_agent(name, GAME)

    def act(self, view: View) -> Any:
        rows = view.positions()
        params = view.params
        for i in range(len(rows)):
            mask = view.action_mask[i : i + 1]
            values = valued("iso", self.name, rows[i : i + 1].copy(), mask, params)
            legal = np.flatnonzero(mask[0])
            assert np.isfinite(values[legal]).all()
            other = rows[i : i + 1].copy()
            resample(other, 0, int(view.player[i]), 99, params)
            np.testing.assert_array_equal(values, valued("iso", self.name, other, mask, params))
            if self.name == "greedy" and view.options["mode"] != "area_control":
                self.check_stars(rows[i : i + 1], legal, values, params)
        return self.agent.act(view)

    def check_stars(self, row: Any, legal: Any, values: Any, params: Any) -> None:
        """The whole part of greedy's value is what the rules give."""
        holder = 0 if params[MODE] == GROUP else int(row[0, PLAYER])
        for action in legal:
            then = row.copy()
            step(then, 0, int(action), params)
            assert int(values[action]) == then[0, STARS_AT + holder] - row[0, STARS_AT + holder]


@BOTH
@pytest.mark.parametrize("setting", settings_of(GAME), ids=str)
def test_whole_games(setting: Any, name: str) -> None:
    """Every answer is legal, or `play` raises; no value depends on what is hidden; greedy counts stars rightly."""
    players = int(GAME.params(setting.options)[NUM_PLAYERS])
    other = "greedy" if name == "expert" else "random"
    agents = [Checked(name), *[make_agent(other, GAME)] * (players - 1)]
    play(GAME, agents, players * scaled(8, least=1), seed=3, **setting.options)


@pytest.mark.parametrize("mode", ["competitive", "area_control"])
def test_each_is_stronger_than_the_one_before(mode: str) -> None:
    for better, worse, share in (("greedy", "random", 0.9), ("expert", "greedy", 0.5)):
        agents = [make_agent(better, GAME), make_agent(worse, GAME)]
        standing = match(GAME, agents, scaled(200), seed=7, mode=mode).standings[0]
        assert not JIT or standing.win_rate > share
