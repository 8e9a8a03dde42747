"""What the kernels of every game share: the head of a row and of the parameters, the generator, the rewards.

Every function here is inlined into the kernels that call it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from iszoo.envs.native import JIT, kernel, store8

# A row of any game begins with these two words; its own fields follow.
ROW_HEAD: list[tuple[str, str]] = [
    ("generator", "<i8"),  # state of the generator that deals this game and the ones after it
    ("offender", "<i8"),  # 1 + the seat whose illegal action ended the game (illegal="terminate"), or 0
]
GENERATOR, OFFENDER = 0, 1

# The parameters of any game begin with these; its own options and tables follow.
NUM_PLAYERS, REWARD = 0, 1
PARAMS_HEAD = 2
OUTCOME, MARGIN = 0, 1

# SplitMix64 (Steele, Lea, Flood 2014), which adds a constant and mixes: 64 bits of state, all periods 2**64.
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)


def _wraps(function: Any) -> Any:
    """Without JIT, NumPy's scalars warn where 64-bit arithmetic wraps, which is what a generator wants."""
    return kernel(function if JIT else np.errstate(over="ignore")(function))


@_wraps
def mix(word: int) -> int:
    """A well-mixed int64 for any int64: how a seed becomes a generator's state. One to one."""
    z = np.uint64(word) + _GAMMA
    z = (z ^ (z >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    return np.int64(z ^ (z >> _S31))  # type: ignore[return-value]


@_wraps
def draw(words: Any, i: int, j: int, bound: int) -> int:
    """A number in [0, bound) from the generator whose state is words[i, j], which moves on.

    Multiplies 32 random bits by the bound (Lemire 2019): a value is off by at most bound / 2**32, some 5e-9
    here, which no number of games that can be played would show.
    """
    state = np.uint64(words[i, j]) + _GAMMA
    words[i, j] = np.int64(state)
    z = (state ^ (state >> _S30)) * _MIX_1
    z = (z ^ (z >> _S27)) * _MIX_2
    z = z ^ (z >> _S31)
    return np.int64(((z >> _S32) * np.uint64(bound)) >> _S32)  # type: ignore[return-value]


@kernel
def start_generator(rows: Any, i: int, seed: int) -> None:
    """Starts row i's generator at a seed; a negative seed lets it go on from where it is."""
    if seed >= 0:
        rows[i, GENERATOR] = mix(seed)
    rows[i, OFFENDER] = 0


@kernel
def outcome(out: Any, i: int, winners: int, players: int) -> None:
    """Writes the zero-sum outcome reward for a bit set of winners: (n / |W| if winner else 0, minus 1) / (n - 1)."""
    count = 0
    for p in range(players):
        count += (winners >> p) & 1
    for p in range(players):
        won = (winners >> p) & 1
        out[i, p] = (won * players / count - 1.0) / (players - 1)


@kernel
def margin(out: Any, i: int, points: Any, players: int, scale: float) -> None:
    """Writes the margin reward: own points minus the best other's, divided by scale, clipped to [-1, 1]."""
    for p in range(players):
        best = -1000000
        for q in range(players):
            if q != p and points[q] > best:
                best = points[q]
        out[i, p] = min(1.0, max(-1.0, (points[p] - best) / scale))


# Byte k of entry b is bit k of b: eight bits become eight bytes at one load. Against a loop over the bits
# this and `store8` make a step of Isis & Osiris some 1.5 times as fast.
_EIGHT = np.array([sum(((b >> k) & 1) << (8 * k) for k in range(8)) for b in range(256)], np.int64)


@kernel
def spread(word: int, count: int, out: Any, i: int, at: int) -> None:
    """Writes bits 0 .. count - 1 of a word as bytes out[i, at], out[i, at + 1], ...; count is at least 8.

    The last store overlaps the one before instead of running over the end.
    """
    for k in range(count >> 3):
        store8(out, i, at + 8 * k, _EIGHT[(word >> (8 * k)) & 255])
    if count & 7:
        store8(out, i, at + count - 8, _EIGHT[(word >> (count - 8)) & 255])
