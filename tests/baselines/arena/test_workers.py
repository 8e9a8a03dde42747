"""Work in other processes: every result once, errors as they are, and nobody left behind."""

from __future__ import annotations

import multiprocessing
import os
import time

import pytest

from iszoo.baselines.arena.workers import cores, run


def square(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def fail(number: int) -> int:
    if number == 2:
        raise ValueError(f"no {number}")
    return number


def die(_: int) -> None:
    os._exit(3)


@pytest.mark.parametrize("workers", [1, 2])
def test_every_task_is_done_once(workers: int) -> None:
    done = dict(run(square, [5, 3, 3], workers=workers))
    assert {k: result for k, (result, _) in done.items()} == {0: 25, 1: 9, 2: 9}
    assert (os.getpid() in {pid for _, pid in done.values()}) == (workers == 1)
    assert list(run(square, [], workers=workers)) == []
    assert list(run(square, [4], workers=workers)) == [(0, (16, os.getpid()))]


def test_cores() -> None:
    assert 1 <= cores() <= (os.cpu_count() or 1)


def all_ended(seconds: float = 10) -> bool:
    """Whether no worker is left; one that the pool's own thread waits for is listed for a moment longer."""
    end = time.monotonic() + seconds
    while multiprocessing.active_children() and time.monotonic() < end:
        time.sleep(0.01)
    return not multiprocessing.active_children()


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_comes_as_it_is_and_ends_the_work(workers: int) -> None:
    with pytest.raises(ValueError, match="no 2"):
        list(run(fail, [1, 2, 3, 4], workers=workers))
    assert all_ended()


def test_a_worker_that_dies_is_told() -> None:
    with pytest.raises(ChildProcessError, match="a worker process died"):
        list(run(die, [1, 2], workers=2))


def test_who_stops_listening_stops_the_work() -> None:
    results = run(square, list(range(50)), workers=2)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert all_ended()


@pytest.mark.parametrize("workers", [0, -1, True, 1.5, "2"])
def test_bad_numbers_of_workers(workers: int) -> None:
    with pytest.raises(ValueError, match="whole number from 1"):
        run(square, [1], workers=workers)


def test_without_ray_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"iszoo\[ray\]"):
        list(run(square, [1], ray="local"))
