"""How things are timed here: tasks interleaved, medians over rounds."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Task = Callable[[], int]
"""Does some work and returns how many units it did."""


def nothing() -> None:
    """What is set up for a task that needs nothing."""


@dataclass(frozen=True)
class Rate:
    """Units a second over the rounds of one run."""

    median: float
    low: float
    high: float
    rounds: int

    def to_json(self) -> dict[str, float]:
        """Plain values for a JSON file."""
        return {"per_second": self.median, "low": self.low, "high": self.high, "rounds": self.rounds}


def interleaved(
    tasks: Mapping[str, tuple[Callable[[], Any], Task]],
    rounds: int = 5,
    progress: Callable[[str], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Rate]:
    """Times every task once a round, round after round, so that a slow spell of the machine hits them all.

    A task is a pair: what is set up before each timing, untimed, and the work. One round is played before the
    first that counts: it compiles and fills caches.
    """
    rates: dict[str, list[float]] = {name: [] for name in tasks}
    for round_ in range(rounds + 1):
        for name, (set_up, work) in tasks.items():
            if progress is not None:
                progress(name)
            set_up()
            began = clock()
            count = work()
            seconds = clock() - began
            if round_:
                rates[name].append(count / seconds)
    return {name: Rate(statistics.median(r), min(r), max(r), rounds) for name, r in rates.items()}
