"""What the tests of the scripted agents share: a preference's values, and the actions it would draw from."""

from __future__ import annotations

from typing import Any

import numpy as np

from iszoo.baselines.scripted import SCRIPTED
from iszoo.envs.aec import GameEnv


def valued(game: str, name: str, rows: Any, mask: Any, params: Any) -> Any:
    """The values of one position's actions, NaN where none was written; the position stays as it was."""
    values = np.full(mask.shape, np.nan)
    before = rows.copy()
    SCRIPTED[game][name](rows, 0, mask, values, params)
    np.testing.assert_array_equal(rows, before)
    return values[0]


def chosen(env: GameEnv, name: str) -> list[int]:
    """The legal actions among which an agent draws; every legal action must get a finite value."""
    game, legal = env.game, env.legal_actions()
    mask = np.zeros((1, game.num_actions), np.int8)
    mask[0, legal] = 1
    values = valued(game.name, name, env._rows.copy(), mask, game.params(env.options))[legal]
    assert np.isfinite(values).all()
    return [legal[k] for k in np.flatnonzero(values == values.max())]
