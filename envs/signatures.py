"""The signatures of a game's kernels, in the order of their table of addresses. See `Kernels` in game.py."""

from numba.core.types import Array, float64, int8, int64, void

ROWS = Array(int64, 2, "C")
PARAMS = Array(int64, 1, "C", readonly=True)
BYTES = Array(int8, 2, "C")

INIT = void(ROWS, int64, int64, Array(int64, 1, "C"), PARAMS)  # rows, i, seed, deal, params
LEGAL = int64(ROWS, int64, BYTES, PARAMS)  # rows, i, mask, params
STEP = void(ROWS, int64, int64, PARAMS)  # rows, i, action, params
OBSERVE = void(ROWS, int64, int64, BYTES, PARAMS)  # rows, i, player, obs, params
SCORES = void(ROWS, int64, Array(int64, 2, "C"), PARAMS)  # rows, i, out, params
RETURNS = void(ROWS, int64, Array(float64, 2, "C"), PARAMS)  # rows, i, out, params
STATUS = int64(ROWS, int64, PARAMS)  # rows, i, params
RESAMPLE = void(ROWS, int64, int64, int64, PARAMS)  # rows, i, player, seed, params

ALL = (INIT, LEGAL, STEP, OBSERVE, SCORES, RETURNS, STATUS, RESAMPLE)
