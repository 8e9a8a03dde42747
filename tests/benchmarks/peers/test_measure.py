"""A run with made-up contenders, whose processes are real."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from iszoo.benchmarks.peers import measure
from iszoo.benchmarks.peers.contenders import CONTENDERS, Contender, Worker
from iszoo.benchmarks.peers.measure import Plan, core_sets, race
from iszoo.benchmarks.yardstick.connect_four import GAME

PLAN = Plan(sizes=(1, 64), rounds=3, seconds=0.001, rest=0.0)
FILE = """
from iszoo.benchmarks.peers.worker import Task
import os, time
PACKAGES = ("numpy",)

def tasks(setting):
    print("what a library prints")
    assert setting.sizes == (1, 64)
    pause = {pause}

    def work():
        time.sleep(pause)
        return 10

    return {{"one: sleep": Task(work), f"given 64: {{setting.cores}}": Task(work), "unknown row: x": Task(work)}}
"""
DIES = """
from iszoo.benchmarks.peers.worker import Task
import time
PACKAGES = ()
calls = 0

def work():
    global calls
    calls += 1
    time.sleep(0.002)  # once is a slice
    if calls > 2:
        raise OSError("the disk is on fire")
    return 1

def tasks(setting):
    return {"one: work": Task(work)}
"""


def contender(tmp_path: Path, name: str, source: str) -> Contender:
    """A contender in the environment of the tests."""
    file = tmp_path / f"{name}.py"
    file.write_text(source, encoding="utf-8")
    return Contender(name, file)


def test_contenders_take_turns(tmp_path: Path) -> None:
    quick, slow = (contender(tmp_path, name, FILE.format(pause=p)) for name, p in (("quick", 0.002), ("slow", 0.02)))
    told: list[str] = []
    rates, versions, missing = race([quick, slow], core_sets()[0], PLAN, told.append)
    assert missing == {}
    assert set(versions) == {"quick", "slow"}
    assert set(versions["quick"]) == {"numpy"}
    assert set(rates) == {"one", "given 64"}
    assert set(rates["given 64"]) == {"quick, 1", "slow, 1"}
    for label, rate in rates["one"].items():
        assert rate.rounds == 3
        assert rate.low <= rate.median <= rate.high <= 10 / (0.002 if "quick" in label else 0.02)
    turns = [line.partition(": ")[2] for line in told if "round 1" in line]
    assert turns == ["quick, one: sleep", "slow, one: sleep", "quick, given 64: 1", "slow, given 64: 1"]


def test_who_is_missing_or_dies_holds_nobody_up(tmp_path: Path) -> None:
    there = contender(tmp_path, "there", FILE.format(pause=0.001))
    broken = contender(tmp_path, "broken", "import nothing_of_this_name")
    dies = contender(tmp_path, "dies", DIES)
    absent = Contender("absent", tmp_path / "there.py", "peers-nowhere")
    rates, _, missing = race([absent, broken, dies, there], core_sets()[0], PLAN, lambda _: None)
    assert set(missing) == {"absent", "broken", "dies"}
    assert "nothing_of_this_name" in missing["broken"]
    assert "the disk is on fire" in missing["dies"]
    assert rates["one"]["there, sleep"].rounds == 3
    assert rates["one"]["dies, work"].rounds == 1


def test_a_worker_ends_when_it_is_closed(tmp_path: Path) -> None:
    setting = {"cores": core_sets()[0], "sizes": [1, 64], "simulations": 1, "games_in_training": 1}
    with Worker(contender(tmp_path, "there", FILE.format(pause=0.0)), setting) as worker:
        process = worker._process
        assert process.poll() is None
    assert process.returncode == 0


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="cores can't be chosen here")
def test_cores_are_those_of_this_process() -> None:
    sets = core_sets()
    assert [len(cores) for cores in sets] == ([1, 2] if len(os.sched_getaffinity(0)) > 1 else [1])
    assert all(set(cores) <= os.sched_getaffinity(0) for cores in sets)


def test_memory_counts_what_is_shown() -> None:
    found = measure.memory([GAME], 64)["connect_four"]
    a_game = 40 + 84 + 7 + 1 + 8 + 1 + 84 + 40  # rows, obs, mask, player, rewards, done, final_obs, final_rows
    assert found["buffers"] == 64 * a_game
    assert found["allocated"] > found["buffers"]


def test_every_contender_has_a_first_step() -> None:
    for one in CONTENDERS:
        assert one.file.exists()
        code = measure._first_step(one)
        assert bool(code) == (one.name != "MaskablePPO")
        compile(code, one.file.name, "exec")


COMPILES = """
FIRST_STEP = \"""
import os
kept = os.path.join(os.environ.get("NUMBA_CACHE_DIR", LOG + ".folder"), "compiled")
with open(LOG, "a") as log:
    print("warm" if os.path.exists(kept) else "cold", file=log)
os.makedirs(kept, exist_ok=True)
\"""
"""


def test_first_use_is_cold_twice_and_then_warm(tmp_path: Path) -> None:
    """Twice with an empty cache, then with what the first left there; who has no cache is run once before it counts."""
    logs = [tmp_path / "ours.log", tmp_path / "other.log"]
    ours, other = (
        contender(tmp_path, name, COMPILES.replace("LOG", repr(str(log))))
        for name, log in zip(("iszoo", "other"), logs, strict=True)
    )
    found = measure.first_use([ours, other, Contender("absent", ours.file, "peers-nowhere")], 3, lambda _: None)
    assert [log.read_text(encoding="utf-8").split() for log in logs] == [
        ["cold"] * 2 + ["warm"] * 3,
        ["cold"] + ["warm"] * 3,
    ]
    assert {name: set(seconds) for name, seconds in found.items()} == {"iszoo": {"cold", "warm"}, "other": {"warm"}}
    assert all(value > 0 for seconds in found.values() for value in seconds.values())
