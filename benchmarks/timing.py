"""How things are timed here: tasks interleaved, medians over rounds, and what machine it was."""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib import metadata
from typing import Any

from iszoo import __version__

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


def machine(*more: str) -> dict[str, Any]:
    """The machine and the versions that a figure belongs to, those of `more` packages too."""
    packages = ("numpy", "numba", "llvmlite", "gymnasium", "pettingzoo", *more)
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": sys.version.split()[0],
        "iszoo": __version__,
        **{name: metadata.version(name) for name in packages},
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
    }


def _cpu() -> str:
    try:
        with open("/proc/cpuinfo") as info:
            names = {line.partition(":")[2].strip() for line in info if line.startswith("model name")}
        return ", ".join(sorted(names))
    except OSError:
        return platform.processor()
