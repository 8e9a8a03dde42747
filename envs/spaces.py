"""The spaces of a game for each observation layout, and the vector of its whole position."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from iszoo.envs import engine
from iszoo.envs.game import Game, Options, Params, Rows
from iszoo.envs.primitives import NUM_PLAYERS

LAYOUTS = ("planes", "split", "flat")


def observation_space(game: Game, options: Options, layout: str) -> spaces.Dict:
    """What one agent observes; Box bounds are the true least and greatest values."""
    mask = spaces.Box(0, 1, (game.num_actions,), np.int8)
    return spaces.Dict({"observation": bare_space(game, options, layout), "action_mask": mask})


def bare_space(game: Game, options: Options, layout: str) -> spaces.Box | spaces.Dict:
    """The observation without the mask: int8 (C + F, H, W), a Dict of board and features, or int8 (D,)."""
    _, h, w = game.board_shape
    bounds = game.bounds(options)
    board_low, board_high = (_planes(edge, h, w) for edge in (bounds.board_low, bounds.board_high))
    if layout == "split":
        return spaces.Dict(
            {
                "board": spaces.Box(board_low, board_high, dtype=np.int8),
                "features": spaces.Box(bounds.features_low, bounds.features_high, dtype=np.int8),
            }
        )
    if layout == "flat":
        low = np.concatenate([board_low.ravel(), bounds.features_low])
        high = np.concatenate([board_high.ravel(), bounds.features_high])
    else:
        low = np.concatenate([board_low, _planes(bounds.features_low, h, w)])
        high = np.concatenate([board_high, _planes(bounds.features_high, h, w)])
    return spaces.Box(low, high, dtype=np.int8)


def state_space(game: Game, options: Options) -> spaces.Box:
    """The space of `state_vector`: int16."""
    flat = bare_space(game, options, "flat")
    assert isinstance(flat, spaces.Box)
    players = game.params(options)[NUM_PLAYERS]
    length, least, greatest = game.hidden_bounds(options)
    low = np.concatenate([flat.low, [-1], np.full(length, least)]).astype(np.int16)
    high = np.concatenate([flat.high, [players - 1], np.full(length, greatest)]).astype(np.int16)
    return spaces.Box(low, high, dtype=np.int16)


def state_vector(game: Game, options: Options, table: Any, rows: Rows, params: Params) -> npt.NDArray[np.int16]:
    """Row 0 whole: the flat observation of seat 0, the seat to move, then `game.hidden`."""
    obs = np.empty(game.obs_size, np.int8)
    engine.observe_one(table, rows, 0, obs, 0, len(game.features), params)
    player = engine.to_move(table, rows, 0, params)
    hidden = np.asarray(game.hidden(rows[0], options), np.int16)
    return np.concatenate([obs.astype(np.int16), np.array([player], np.int16), hidden])


def _planes(edge: npt.NDArray[np.int8], h: int, w: int) -> npt.NDArray[np.int8]:
    return np.repeat(edge, h * w).reshape(len(edge), h, w)
