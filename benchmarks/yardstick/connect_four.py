"""Connect four (Howard Wexler; Milton Bradley, 1974): the rules, as kernels. The worked example of a game from outside.

It is not in the package's list of games. To play it:

    import iszoo
    from iszoo.benchmarks.yardstick.connect_four import GAME

    iszoo.register(GAME)
    env = iszoo.make("connect_four")

Two players drop stones into the seven columns of an upright board of six rows. Who first has four in a row, in any
direction, wins; a full board without that is a draw. Cells are 7 * row + column, row 0 at the top; a set of cells is
one int64, bit c for cell c.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import prange

from iszoo.envs import VecEnv, engine
from iszoo.envs.game import Bounds, Game, Kernels, Options, Rows, words
from iszoo.envs.native import kernel, popcount, spread64
from iszoo.envs.primitives import GENERATOR, OFFENDER, ROW_HEAD, draw, mix, start_generator
from iszoo.envs.stepping import unbundle_buffers
from iszoo.envs.threads import in_parallel, is_serial

HEIGHT, WIDTH = 6, 7
CELLS = HEIGHT * WIDTH
ALL_CELLS = (1 << CELLS) - 1
TOP_ROW = (1 << WIDTH) - 1
COLUMN = sum(1 << (WIDTH * row) for row in range(HEIGHT))  # the cells of column 0

# A row of four begins in one of these columns, or it would go round the edge of the board.
LEFT = COLUMN * 0b0001111
RIGHT = COLUMN * 0b1111000

ROW = np.dtype(
    [
        *ROW_HEAD,
        ("player", "<i8"),  # seat to move; -1 when the game is over
        ("stones", "<i8", (2,)),  # cells of each player's stones
    ]
)
PLAYER, STONES = words(ROW, "player", "stones")


@kernel(inline=True)
def has_four(stones: int) -> bool:
    """Whether a set of cells has four in a row: down, across, and along both diagonals."""
    down = stones & (stones >> 7)
    across = stones & (stones >> 1)
    falling = stones & (stones >> 8)
    rising = stones & (stones >> 6)
    fours = down & (down >> 14)
    fours |= ((across & (across >> 2)) | (falling & (falling >> 16))) & LEFT
    fours |= rising & (rising >> 12) & RIGHT
    return fours != 0


@kernel
def init(rows: Any, i: int, seed: int, deal: Any, params: Any) -> None:
    start_generator(rows, i, seed)  # nothing is drawn from it; every row has one
    rows[i, PLAYER] = 0
    rows[i, STONES] = 0
    rows[i, STONES + 1] = 0


@kernel
def status(rows: Any, i: int, params: Any) -> int:
    return rows[i, PLAYER]  # type: ignore[no-any-return]


@kernel
def legal(rows: Any, i: int, mask: Any, params: Any) -> int:
    free = TOP_ROW & ~(rows[i, STONES] | rows[i, STONES + 1])
    if rows[i, PLAYER] < 0:
        free = 0
    for column in range(WIDTH):
        mask[i, column] = (free >> column) & 1
    return popcount(free)


@kernel
def step(rows: Any, i: int, action: int, params: Any) -> None:
    player = rows[i, PLAYER]
    taken = rows[i, STONES] | rows[i, STONES + 1]
    height = popcount(taken & (COLUMN << action))
    stone = 1 << (WIDTH * (HEIGHT - 1 - height) + action)
    stones = rows[i, STONES + player] | stone
    rows[i, STONES + player] = stones
    over = has_four(stones) or (taken | stone) == ALL_CELLS
    rows[i, PLAYER] = -1 if over else 1 - player


@kernel
def observe(rows: Any, i: int, player: int, obs: Any, params: Any) -> None:
    own, other = rows[i, STONES + player], rows[i, STONES + 1 - player]
    # 84 bytes by two stores of 64, which overlap.
    spread64(obs, i, 0, own | (other << CELLS))
    spread64(obs, i, 2 * CELLS - 64, (own >> (2 * CELLS - 64)) | (other << (64 - CELLS)))


@kernel(inline=True)
def winner(rows: Any, i: int) -> int:
    """The seat that has four in a row, or -1."""
    if has_four(rows[i, STONES]):
        return 0
    return 1 if has_four(rows[i, STONES + 1]) else -1


@kernel
def scores(rows: Any, i: int, out: Any, params: Any) -> None:
    """The winner has one point."""
    who = winner(rows, i)
    for p in range(2):
        out[i, p] = int(p == who)


@kernel
def returns(rows: Any, i: int, out: Any, params: Any) -> None:
    """The same by outcome and by margin."""
    who = winner(rows, i)
    for p in range(2):
        out[i, p] = 0.0 if who < 0 else (1.0 if p == who else -1.0)


@kernel
def resample(rows: Any, i: int, player: int, seed: int, params: Any) -> None:
    """Nothing is hidden; only what the generator would draw next must not be known."""
    rows[i, GENERATOR] = mix(seed)


# --- A loop of its own -------------------------------------------------------------------------------------


# Column n of the free ones, for each set of free columns: _NTH[free, n].
_NTH = np.array(
    [([k for k in range(WIDTH) if (free >> k) & 1] + [0] * WIDTH)[:WIDTH] for free in range(1 << WIDTH)], np.int8
)


@kernel
def _play_range(lo: int, hi: int, buffers: Any, steps: int, same_step: bool) -> int:
    """`random_steps` in games lo to hi - 1, the kernels called by name, so that they are compiled into the loop."""
    (
        table, rows, obs, mask, player, results, rewards, done, final_obs, final_rows, choices, any_deal, params, _,
    ) = unbundle_buffers(buffers)  # fmt: skip
    total = 0
    for i in range(lo, hi):
        for _ in range(steps):
            seat = rows[i, PLAYER]
            if seat < 0 or rows[i, OFFENDER] != 0:
                break
            if done[i]:
                done[i] = False
                rewards[i, :] = 0
            free = TOP_ROW & ~(rows[i, STONES] | rows[i, STONES + 1])
            step(rows, i, int(_NTH[free, draw(choices, i, 0, popcount(free))]), params)
            total += 1
            if rows[i, PLAYER] < 0:
                engine.finish(
                    table, rows, i, seat, same_step, any_deal,
                    results, rewards, done, final_obs, final_rows, params,
                )  # fmt: skip
            mover = rows[i, PLAYER]
            player[i] = mover
            observe(rows, i, mover if mover >= 0 else seat, obs, params)
            legal(rows, i, mask, params)
    return total


@kernel(parallel=True)
def _play_parallel(chunks: int, buffers: Any, games: Any, steps: int, same_step: bool) -> int:
    """`_play_range` over equal shares of the games, one a thread."""
    total = 0
    for k in prange(chunks):
        c = np.int64(k)
        total += _play_range(games * c // chunks, games * (c + 1) // chunks, buffers, steps, same_step)
    return total


def random_steps(vec: VecEnv, k: int) -> int:
    """What `vec.random_steps(k)` does, bit for bit, in a loop made for this game.

    The engine's loop serves every game, so it calls kernels by address and counts through masks: 60 ns a step. Here
    the compiler sees the whole step (30 ns), and the n-th free column is looked up (18 ns).
    """
    same_step = vec.autoreset == "same_step"
    if is_serial(vec.threads):
        return int(_play_range(0, vec.num_envs, vec.buffers, k, same_step))
    return in_parallel(vec.threads, _play_parallel, vec.buffers, vec.num_envs, k, same_step)


# --- The fact sheet ----------------------------------------------------------------------------------------


def _bounds(options: Options) -> Bounds:
    nothing = np.zeros(0, np.int8)
    return Bounds(np.zeros(2, np.int8), np.ones(2, np.int8), nothing, nothing)


def _text(row: Rows, options: Options) -> str:
    """Stones as X and O."""
    fields = row.view(ROW)[0]
    first, second = map(int, fields["stones"])
    cells = ["X" if (first >> c) & 1 else "O" if (second >> c) & 1 else "." for c in range(CELLS)]
    lines = [" ".join(cells[WIDTH * r : WIDTH * (r + 1)]) for r in range(HEIGHT)]
    player = int(fields["player"])
    return "\n".join(["a b c d e f g", *lines, f"{'XO'[player]} to move" if player >= 0 else "game over"])


def _action_to_string(action: int) -> str:
    return "abcdefg"[action]


def _string_to_action(text: str) -> int:
    if len(text) == 1 and text in "abcdefg":
        return "abcdefg".index(text)
    raise ValueError(f"{text!r} is no action of connect_four: a column is a (left) to g")


def _pack(options: Options) -> Sequence[int]:
    return [2, 0]  # two players, and room for the kind of reward


GAME = Game(
    name="connect_four",
    title="Connect Four",
    gym_name="ConnectFour",
    version=0,
    credits="Howard Wexler; Milton Bradley 1974",
    players=(2,),
    row=ROW,
    num_actions=WIDTH,
    board_shape=(2, HEIGHT, WIDTH),
    planes=("own stones", "opponent's stones"),
    features=(),
    action_groups=(("0..6", "drop a stone into column 0 (left) to 6; written a to g"),),
    max_game_length=CELLS,
    margin_scale=1,
    options={},
    kernels=Kernels(init, legal, step, observe, scores, returns, status, resample),
    pack=_pack,
    bounds=_bounds,
    deal=None,
    deal_about="",
    hidden=lambda row, options: (),
    hidden_bounds=lambda options: (0, 0, 0),
    text=_text,
    action_to_string=_action_to_string,
    string_to_action=_string_to_action,
)
