"""Threads of the parallel loops: how many a call gets, and what two calls at once or a forked child must not do.

threads=1 never enters a parallel loop.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import numba

_parallel_lock = threading.Lock()
_forked = False


def _after_fork() -> None:
    """A forked child whose parent ran a parallel loop dies in one of its own: it goes on serially."""
    global _forked, _parallel_lock
    _forked = True
    _parallel_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def is_serial(threads: int) -> bool:
    """Whether a batch of so many threads is to be played by a serial loop."""
    return threads == 1 or _forked


GAMES_A_THREAD = 128
"""Fewer games are not worth a thread in `step`: 64 of Isis & Osiris took 1.5 times as long on two threads as on one,
256 of them 0.9 times, 256 of Isaac 0.7 times."""


def step_threads(threads: int, games: int) -> int:
    """How many threads a step in so many games is worth, of those that it may have."""
    return max(1, min(threads, games // GAMES_A_THREAD))


def max_threads() -> int:
    """The most threads that numba can use in this process (its NUMBA_NUM_THREADS, by default the cores)."""
    config: Any = numba.config  # pyright: ignore[reportPrivateImportUsage]
    return int(config.NUMBA_NUM_THREADS)


_MOST_THREADS = max_threads()


def in_parallel(threads: int, driver: Any, *arguments: Any) -> int:
    """Calls a parallel driver with numba's thread count at `threads`; two at once would abort the process."""
    with _parallel_lock:
        if threads == _MOST_THREADS:  # no need of numba's count, which takes 1 us to read
            return driver(threads, *arguments)  # type: ignore[no-any-return]
        before = numba.get_num_threads()
        numba.set_num_threads(threads)
        try:
            return driver(threads, *arguments)  # type: ignore[no-any-return]
        finally:
            numba.set_num_threads(before)
