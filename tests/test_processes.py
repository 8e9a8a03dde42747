"""The engine in other processes: interpreted, threaded, forked, with and without a cache on disk."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from iszoo.envs import threads
from tests.helpers import GAMES, ROOT, run_python
from tests.programs import PLAY, QUICKEST

WITHOUT_CACHE = """
from numba.core import caching
for locator in caching.CacheImpl._locator_classes:
    locator.from_function = classmethod(lambda *arguments, **more: None)
"""

COUNT_COMPILED = """
import atexit
from numba.core import event
recorder = event.RecordingListener()
event.register("numba:compile", recorder)
names = lambda: [e.data["dispatcher"].py_func.__qualname__ for _, e in recorder.buffer if e.is_start]
atexit.register(lambda: print(*names()))
"""


def played(*names: str, before: str = "", **environment: str) -> tuple[dict[str, str], list[str]]:
    """What PLAY prints for some games, or all, and the words of the lines after it."""
    names = names or tuple(game.name for game in GAMES)
    hashes, _, rest = run_python(before + PLAY, *names, **{"NUMBA_DISABLE_JIT": "0", **environment}).partition("\n")
    return json.loads(hashes), rest.split()


def package_in(folder: Path) -> dict[str, str]:
    """The environment in which a copy of the package is imported, and caches beside itself."""
    return {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": ""}


@pytest.fixture(scope="module")
def as_usual() -> dict[str, str]:
    """What is seen in an ordinary process."""
    return played()[0]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package, in which nothing was compiled yet."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "src" / "iszoo", folder / "iszoo", ignore=shutil.ignore_patterns("__pycache__", "envs"))
    shutil.copytree(ROOT / "envs", folder / "iszoo" / "envs", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_interpreted_kernels_give_the_same_bits(as_usual: dict[str, str]) -> None:
    assert played(NUMBA_DISABLE_JIT="1")[0] == as_usual


def test_a_warm_cache_compiles_nothing(as_usual: dict[str, str], copy: Path) -> None:
    cold, compiled = played(before=COUNT_COMPILED, **package_in(copy))
    warm, compiled_again = played(before=COUNT_COMPILED, **package_in(copy))
    assert cold == warm == as_usual
    assert {"init", "legal", "step", "observe"} <= set(compiled)
    assert compiled_again == []


def test_the_cache_goes_stale_with_helpers(as_usual: dict[str, str], copy: Path, tmp_path: Path) -> None:
    """A constant of the shared generator changes: cached kernels of other files must not answer from the old one."""
    edited = shutil.copytree(copy, tmp_path / "edited")
    helpers = edited / "iszoo" / "envs" / "primitives.py"
    source = helpers.read_text(encoding="utf-8")
    assert source.count("0x9E3779B97F4A7C15") == 1
    before, _ = played(QUICKEST, **package_in(edited))
    helpers.write_text(source.replace("0x9E3779B97F4A7C15", "0x9E3779B97F4A7C17"), encoding="utf-8")
    after, _ = played(QUICKEST, **package_in(edited))
    interpreted, _ = played(QUICKEST, NUMBA_DISABLE_JIT="1", **package_in(edited))
    assert before[QUICKEST] == as_usual[QUICKEST]
    assert after == interpreted != before


def test_without_a_folder_for_the_cache(as_usual: dict[str, str]) -> None:
    """Neither the package's folder nor the user's can be written: numba finds no place for its cache."""
    shown, _ = played(QUICKEST, before=WITHOUT_CACHE)
    assert shown[QUICKEST] == as_usual[QUICKEST]


WRONG_AT_FIRST = """
import sys
import iszoo
env = iszoo.make(sys.argv[1])
env.reset(seed=1)
for action in (2**70, -(2**63) - 1, 2**63, -1, True, 1.0):
    try:
        env.step(action)
    except iszoo.IllegalActionError:
        print("refused")
env.step(env.legal_actions()[0])
"""


def test_a_process_may_begin_with_a_wrong_action() -> None:
    """Numbers of more than 64 bits meet compiled code that has not been called yet."""
    assert run_python(WRONG_AT_FIRST, QUICKEST, NUMBA_DISABLE_JIT="0").split() == ["refused"] * 6


# --- Threads and forks ---

LAYERS = ["default", "workqueue"]

SEVERAL = """
import os, threading, warnings
import iszoo, numba

warnings.simplefilter("ignore", DeprecationWarning)  # of fork() in a process with threads, which is the point

def play(vec):
    for k in range(20):
        vec.random_steps(5 * k)
        vec.step(vec.action_mask.argmax(axis=1))

def alike(one, other):
    return all((getattr(one, name) == getattr(other, name)).all() for name in ("rows", "obs", "action_mask"))

name = sys.argv[1]
threaded = [iszoo.make_vec(name, 256, seed=seed, threads=2) for seed in range(3)]
serial = [iszoo.make_vec(name, 256, seed=seed) for seed in range(3)]
for vec in serial:
    play(vec)
"""

IN_THREADS = """
running = [threading.Thread(target=play, args=(vec,)) for vec in threaded]
for thread in running:
    thread.start()
for thread in running:
    thread.join()
assert all(map(alike, threaded, serial))
print(numba.get_num_threads())
"""

IN_FORKS = """
play(threaded[0])  # in parallel, before the fork
child = os.fork()
if child == 0:
    play(threaded[1])
    os._exit(0 if alike(threaded[1], serial[1]) else 1)
_, status = os.waitpid(child, 0)
assert status == 0, status
play(threaded[2])  # and in the parent after it
assert alike(threaded[0], serial[0]) and alike(threaded[2], serial[2])
print("alike")
"""


def run_threaded(code: str, layer: str) -> str:
    """Runs one of the programs above with two threads and a threading layer of numba."""
    environment = {"NUMBA_NUM_THREADS": "2", "NUMBA_DISABLE_JIT": "0", "NUMBA_THREADING_LAYER": layer}
    return run_python("import sys\n" + SEVERAL + code, QUICKEST, **environment)


@pytest.mark.parametrize("layer", LAYERS)
def test_python_threads_at_once(layer: str) -> None:
    """numba's workqueue aborts a process in which two threads call parallel code; a lock prevents that."""
    assert run_threaded(IN_THREADS, layer) == "2"


@pytest.mark.parametrize("layer", LAYERS)
def test_a_forked_child_plays_on(layer: str) -> None:
    """A child of a process that ran parallel code dies if it runs some itself; it must go on serially."""
    assert run_threaded(IN_FORKS, layer) == "alike"


ON_ONE_THREAD = """
import numpy as np
vec, alone = threaded[0], serial[0]
play(vec)
numba.set_num_threads(1)  # both shares fall to one thread: the first can't wait until the second was checked
play(vec)
play(alone)
assert alike(vec, alone)
before = vec.rows.copy()
for game in (0, 39):  # in the first share, in the second
    actions = vec.action_mask.argmax(axis=1)
    actions[game] = -1
    try:
        vec.step(actions)
    except iszoo.IllegalActionError as error:
        print(str(error).partition(":")[0])
    assert (vec.rows == before).all()
"""


@pytest.mark.parametrize("layer", LAYERS)
def test_shares_that_do_not_run_at_once(layer: str) -> None:
    """A user's own numba.set_num_threads, or a system with nothing to spare: shares are checked and played in turn."""
    assert run_threaded(ON_ONE_THREAD, layer).splitlines() == ["game 0", "game 39"]


# --- Imports ---

HEAVY = {"torch", "pygame", "tyro", "rich", "matplotlib", "tkinter", "PIL", "jax", "ray", "stable_baselines3"}

LOADED = """
import sys
import iszoo
for name in iszoo.REGISTRY:
    env = iszoo.make(name, render_mode="ansi")
    env.reset(seed=1)
    env.render()
    iszoo.make_vec(name, 2).random_steps(3)
print(*{name.partition(".")[0] for name in sys.modules})
"""


def test_import_and_play_load_nothing_heavy() -> None:
    """No framework, no window, nothing of the extras."""
    loaded = set(run_python(LOADED).split())
    assert "iszoo" in loaded
    assert not loaded & HEAVY


def test_a_step_gets_no_more_threads_than_it_is_worth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "GAMES_A_THREAD", 128)
    assert [threads.step_threads(4, games) for games in (1, 128, 255, 256, 511, 512, 100_000)] == [1, 1, 1, 2, 3, 4, 4]
    assert threads.step_threads(1, 100_000) == 1
