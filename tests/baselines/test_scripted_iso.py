"""What scripted players of ISO choose in small positions, and that they play in every mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo.baselines.agents import View, make_agent
from iszoo.baselines.match import play
from iszoo.baselines.scripted import SCRIPTED
from iszoo.envs.aec import GameEnv
from iszoo.envs.iso import GAME, GROUP, MODE, PLAYER, STARS_AT, resample, step
from tests.helpers import scaled, settings_of

BOTH = pytest.mark.parametrize("name", ["greedy", "expert"])


def valued(name: str, rows: Any, mask: Any, params: Any) -> Any:
    """The values of one position's actions, NaN where none was written."""
    values = np.full(mask.shape, np.nan)
    SCRIPTED["iso"][name](rows, 0, mask, values, params)
    return values[0]


def position(deal: list[int], actions: list[str], **options: Any) -> GameEnv:
    """A game after some actions in the notation of the game; the deal goes on with the numbers that it lacks."""
    apart = (10, 11, 12, 13) if options.get("mode") == "area_control" else ()
    rest = [number for number in range(1, 19) if number not in (*deal, *apart)]
    env = iszoo.make("iso", **options)
    env.reset(options={"deal": [*deal, *rest]})
    for text in actions:
        env.step(GAME.string_to_action(text))
    return env


def chosen(env: GameEnv, name: str) -> list[int]:
    """The legal actions among which an agent draws."""
    legal = env.legal_actions()
    mask = np.zeros((1, GAME.num_actions), np.int8)
    mask[0, legal] = 1
    values = valued(name, env._rows.copy(), mask, GAME.params(env.options))[legal]
    assert np.isfinite(values).all()
    return [legal[k] for k in np.flatnonzero(values == values.max())]


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
