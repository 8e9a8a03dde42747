"""Connect four: a game from outside the package, held to the same tests as those inside, and to OpenSpiel."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo.benchmarks.yardstick.connect_four import GAME, random_steps
from iszoo.envs import registry
from iszoo.testing import check_env
from tests.helpers import NUM_GAMES, Setting, batch_picture, plies, run_python, scaled
from tests.test_differential import compare_batch, compare_end, compare_single
from tests.traces import Trace, record


@pytest.fixture(scope="module", autouse=True)
def plain() -> Iterator[Setting]:
    """The game as a user registers it; not in the registry of the tests after these."""
    assert GAME.name not in iszoo.REGISTRY
    iszoo.register(GAME)
    yield Setting(GAME, {})
    del registry._games[GAME.name]


def test_importing_it_registers_nothing() -> None:
    code = "import iszoo, iszoo.benchmarks.yardstick.connect_four; print(*iszoo.REGISTRY)"
    assert "connect_four" not in run_python(code).split()


# --- Against the oracle ---


@pytest.fixture(scope="module")
def traces(plain: Setting) -> list[Trace]:
    """Random games as the oracle plays them."""
    rng = random.Random(0)
    return [record(plain, [], rng) for _ in range(NUM_GAMES // 10)]


@pytest.mark.parametrize("layout", ["planes", "split", "flat"])
def test_single_games(plain: Setting, traces: list[Trace], layout: str) -> None:
    env = plain.env(observation=layout, reward="margin" if layout == "split" else "outcome")
    for trace in traces[: scaled(80)]:
        env.reset()
        for ply in range(trace.length + 1):
            compare_single(env, trace, ply)
            if ply < trace.length:
                env.step(trace.actions[ply])


def test_games_end_in_every_way(traces: list[Trace]) -> None:
    """What the differential tests here can see: either seat winning."""
    assert {float(trace.returns["outcome"][0]) for trace in traces} >= {-1.0, 1.0}


def test_a_batch_in_which_game_follows_game(plain: Setting, traces: list[Trace]) -> None:
    """Every game of the traces, four at a time."""
    waiting = list(traces)
    vec = plain.vec(4, seed=0)
    playing = [waiting.pop() for _ in range(4)]
    at = np.zeros(4, np.int64)
    while waiting:
        vec.step(np.array([trace.actions[ply] for trace, ply in zip(playing, at.tolist(), strict=True)]))
        at += 1
        ended = [i for i in range(4) if at[i] == playing[i].length]
        assert np.flatnonzero(vec.done).tolist() == ended
        for i in ended:
            compare_end(vec, playing[i], i)
            playing[i] = waiting.pop() if waiting else playing[i]
            at[i] = 0
        compare_batch(vec, playing, at)


DRAW = [int(column) for column in "010101101010232323323232454545545454666666"]


def test_a_full_board_is_a_draw(plain: Setting) -> None:
    env = plain.started()
    for column in DRAW:
        assert list(env.rewards.values()) == [0, 0]
        env.step(column)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert list(env.rewards.values()) == env.scores() == [0, 0]
    assert env.legal_actions() == []


# --- The usual demands ---


def test_it_conforms(plain: Setting) -> None:
    check_env(plain.env)


def test_notation_and_text(plain: Setting) -> None:
    env = plain.started(render_mode="ansi")
    for action in range(7):
        assert env.string_to_action(env.action_to_string(action)) == action
    for text in ("h", "", "ab", "A"):
        with pytest.raises(ValueError, match="no action of connect_four"):
            env.string_to_action(text)
    for text in "ddc":
        env.step(env.string_to_action(text))
    lines = env.render().splitlines()
    assert lines[0] == "a b c d e f g"
    assert lines[5:] == [". . . O . . .", ". . X X . . .", "O to move"]
    env.set_state(plain.started().get_state())
    for _ in plies(env):
        pass
    assert env.render().endswith("game over")


def test_positions_as_bytes_and_copies(plain: Setting) -> None:
    env, other = plain.started(), plain.started()
    env.step(3)
    other.set_state(env.get_state())
    twin = env.clone()
    for _ in plies(env, other, twin):
        assert env.state().tolist() == other.state().tolist() == twin.state().tolist()
    assert env.rewards == other.rewards == twin.rewards


# --- Its own loop ---


@pytest.mark.parametrize("autoreset", ["same_step", "disabled"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("illegal", ["raise", "terminate"])
def test_its_own_loop_plays_the_same_games(plain: Setting, autoreset: str, threads: int, illegal: str) -> None:
    if threads > iszoo.envs.threads.max_threads():
        pytest.skip("one core")
    options: dict[str, Any] = {"seed": 3, "autoreset": autoreset, "illegal": illegal}
    one, other = plain.vec(50, **options), plain.vec(50, threads=threads, **options)
    if illegal == "terminate":
        for vec in (one, other):
            vec.step(np.full(50, -1), where=np.arange(50) % 3 == 0)
    for k in (0, 1, 3, 17, 60):
        assert one.random_steps(k) == random_steps(other, k)
        assert batch_picture(one) == batch_picture(other)


def test_its_own_loop_in_a_fork() -> None:
    code = """
import os, warnings
from iszoo.benchmarks.yardstick.connect_four import GAME, random_steps
from iszoo.envs import VecEnv
warnings.simplefilter("ignore", DeprecationWarning)
vec = VecEnv(GAME, 20, seed=0, threads=2)
random_steps(vec, 5)
child = os.fork()
if child == 0:
    os._exit(0 if random_steps(vec, 5) == 100 else 1)
print(os.waitpid(child, 0)[1])
"""
    assert run_python(code, NUMBA_NUM_THREADS="2") == "0"


# --- Against OpenSpiel ---


def test_openspiel_agrees_move_for_move(plain: Setting) -> None:
    """Legal moves, whose turn it is, what either seat sees, the end and the result."""
    pyspiel = pytest.importorskip("pyspiel")
    game = pyspiel.load_game("connect_four")
    env = plain.env()
    rng = random.Random(1)
    results = set()
    for number in range(scaled(400)):
        state = game.new_initial_state()
        env.reset(seed=number)
        moves = iter(DRAW) if number == 0 else None
        while True:
            theirs = [] if state.is_terminal() else state.legal_actions()
            assert env.legal_actions() == theirs
            assert any(env.terminations.values()) == state.is_terminal()
            for seat, agent in enumerate(env.possible_agents):
                # Their planes are of seat 0, seat 1 and free cells, and their first row is the bottom one.
                planes = np.array(state.observation_tensor(0)).reshape(3, 6, 7)[:, ::-1]
                assert np.array_equal(env.observe(agent)["observation"], planes[[seat, 1 - seat]])
            if state.is_terminal():
                break
            assert env.agent_selection == f"player_{state.current_player()}"
            action = next(moves) if moves is not None else rng.choice(theirs)
            state.apply_action(action)
            env.step(action)
        assert list(env.rewards.values()) == state.returns()
        results.add(env.rewards["player_0"])
    assert results == {1.0, -1.0, 0.0}
