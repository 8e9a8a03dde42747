"""The process that stands for a contender: the same moves for everybody, and what is counted."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from iszoo.benchmarks.peers.worker import Recorded, Task, recorded, serve, timed_slice
from tests.oracle.connect_four import Oracle


@pytest.mark.parametrize("reset_steps", [False, True])
def test_recorded_moves_are_games_of_connect_four(reset_steps: bool) -> None:
    games = recorded(20, reset_steps)
    moves = ends = 0
    for place in range(20):
        oracle = Oracle()
        resets = False
        for actions in games.actions:
            if resets:
                assert actions[place] == 0
                oracle, resets = Oracle(), False
                continue
            oracle.step(int(actions[place]))
            moves += 1
            if oracle.player_to_move() < 0:
                ends += 1
                resets = reset_steps
                if not reset_steps:
                    oracle = Oracle()
    assert (games.moves, games.ends) == (moves, ends)
    assert moves < 20 * 64 if reset_steps else moves == 20 * 64
    assert ends > 20


def test_another_number_of_ends_is_another_game() -> None:
    games = Recorded([np.zeros(2, np.int64)], moves=2, ends=1)
    games.check(1)
    with pytest.raises(RuntimeError, match="2 games have ended, not 1"):
        games.check(2)


def test_a_slice_lasts_as_long_as_asked_and_is_done_at_least_once() -> None:
    calls: list[str] = []

    def work() -> int:
        calls.append("work")
        return 3

    units, seconds = timed_slice(Task(work, lambda: calls.append("prepare")), 0.0)
    assert calls == ["prepare", "work"]
    assert units == 3
    units, seconds = timed_slice(Task(work), 0.01)
    assert seconds >= 0.01
    assert units == 3 * (len(calls) - 2)


def test_tasks_are_warmed_up_before_anything_is_asked() -> None:
    log: list[str] = []
    tasks = {name: Task(lambda name=name: log.append(name) or 1) for name in "ab"}  # type: ignore[misc]
    answers = []
    serve(tasks, io.StringIO('{"task": "b", "seconds": 0}\n'), lambda answer: answers.append((list(log), answer)), {})
    assert answers[0] == (["a", "b"], {"tasks": ["a", "b"], "versions": {}})
    assert answers[1][0] == ["a", "b", "b"]
    assert answers[1][1]["units"] == 1
    json.dumps(answers)
