"""What runs in a contender's own environment: loads the contender's file, warms its tasks up, then waits to be asked.

    python worker.py pgx_connect_four.py '{"cores": [0], ...}'

It needs nothing but the standard library and NumPy, for iszoo isn't installed beside the other libraries. Requests
and answers are lines of JSON on standard input and output; whatever else is printed goes to standard error.

A contender's file has `PACKAGES`, whose versions are reported, `tasks(setting)`, which returns its tasks by "row: how",
where rows are those of `rows.py`, and, if its first use is to be timed, `FIRST_STEP`: a program that `measure.py` runs.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Setting:
    """What the contenders of a run have in common."""

    sizes: tuple[int, ...]  #: numbers of games side by side
    cores: int  #: how many cores the process may use
    simulations: int  #: of a search
    games_in_training: int  #: side by side


@dataclass(frozen=True)
class Task:
    """Something that can be timed again and again."""

    work: Callable[[], int]  #: does it, and returns how many units were done
    prepare: Callable[[], Any] = lambda: None  #: called before each `work`, not timed


# --- The same moves for everybody ---


@dataclass(frozen=True)
class Recorded:
    """Random games of connect four from the first move on, one after the other in each of so many places."""

    actions: list[npt.NDArray[np.int64]]  #: (games,) for each step
    moves: int  #: how many of the actions are moves, in all
    ends: int  #: how many games come to their end

    def check(self, ends: int) -> None:
        """Raises RuntimeError if a contender that played these saw another number of games end."""
        if ends != self.ends:
            raise RuntimeError(f"{ends} games have ended, not {self.ends}: what was played is not the same game")


@functools.cache
def recorded(games: int, reset_steps: bool = False, steps: int = 64) -> Recorded:
    """The same moves for everybody. reset_steps: an end is followed by a step that only begins the next game."""
    choose = random.Random(games).random
    actions = np.zeros((steps, games), np.int64)
    moves = ends = 0
    for i in range(games):
        play = _random_games(choose)
        resets = False
        for k in range(steps):
            if resets:
                resets = False
                continue
            actions[k, i], over = next(play)
            moves += 1
            ends += over
            resets = over and reset_steps
    return Recorded(list(actions), moves, ends)


def _random_games(choose: Callable[[], float]) -> Iterator[tuple[int, bool]]:
    """The columns of random games, and whether each move ends one."""
    while True:
        heights, stones, seat, over = [0] * 7, [0, 0], 0, False
        while not over:
            free = [column for column in range(7) if heights[column] < 6]
            column = free[int(choose() * len(free))]
            stones[seat] |= 1 << (7 * column + heights[column])  # columns of six cells and a gap
            heights[column] += 1
            over = _has_four(stones[seat]) or sum(heights) == 42
            seat = 1 - seat
            yield column, over


def _has_four(stones: int) -> bool:
    pairs = ((stones & (stones >> shift), shift) for shift in (1, 6, 7, 8))
    return any(pair & (pair >> (2 * shift)) for pair, shift in pairs)


# --- Answering ---


def load(path: Path) -> Any:
    """A contender's file as a module. Its folder is not on the path: it may have the name of what it imports."""
    spec = importlib.util.spec_from_file_location(f"contender_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def timed_slice(task: Task, seconds: float) -> tuple[int, float]:
    """Does a task, at least once, until it was at work for so long: units done, seconds at work."""
    units, spent = 0, 0.0
    while True:
        task.prepare()
        began = time.perf_counter()
        units += task.work()
        spent += time.perf_counter() - began
        if spent >= seconds:
            return units, spent


def serve(tasks: Mapping[str, Task], asked: IO[str], tell: Callable[[Any], None], versions: dict[str, str]) -> None:
    """Warms every task up, says so, and does what is asked for until nothing more is asked."""
    for task in tasks.values():
        timed_slice(task, 0.0)
    tell({"tasks": list(tasks), "versions": versions})
    for line in asked:
        request = json.loads(line)
        units, spent = timed_slice(tasks[request["task"]], request["seconds"])
        tell({"units": units, "seconds": spent})


def main() -> None:
    """Serves the contender of a file, in the setting that follows it as JSON."""
    path, given = Path(sys.argv[1]), json.loads(sys.argv[2])
    cores = given.pop("cores")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)  # before anything counts the cores that it may use
    setting = Setting(sizes=tuple(given.pop("sizes")), cores=len(cores), **given)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(__file__).resolve().parent]
    sys.modules["iszoo.benchmarks.peers.worker"] = sys.modules[__name__]  # contenders import it where iszoo isn't

    def tell(answer: Any) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    contender = load(path)
    versions = {package: metadata.version(package) for package in contender.PACKAGES}
    serve(contender.tasks(setting), sys.stdin, tell, versions)


if __name__ == "__main__":
    main()
