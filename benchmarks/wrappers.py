"""Decisions a second through the adapters of a framework, beside the engine under them in the same run.

`make bench-wrappers` runs it in each framework's own environment. A run replaces what the results hold of its
framework and nothing else; a figure's ratio is to the engine of its own run, with as many games a call.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from iszoo.benchmarks.adapters import BATCH, DUMMY, FRAMEWORKS, NATIVE, PACKAGES, Adapter, clock, engine
from iszoo.benchmarks.throughput import short
from iszoo.benchmarks.timing import Task, interleaved, nothing
from iszoo.benchmarks.training import training_share
from iszoo.envs import REGISTRY
from iszoo.envs.game import Game
from iszoo.reports import machine, write_json

RESULTS = Path(__file__).parent / "results" / "wrappers.json"
QUICK_RESULTS = Path("reports") / "wrappers-quick.json"
_CALLS_BETWEEN_LOOKS = 8  # at the clock

Report = dict[str, Any]


def measure(
    framework: str, games: Iterable[Game], *, seconds: float, rounds: int, progress: Callable[[str], None]
) -> Report:
    """What a framework's adapters do with each game; plain values for a JSON file.

    Args:
        framework: one of FRAMEWORKS, which must be installed here.
        games: the games.
        seconds: how long each adapter plays in each round.
        rounds: how many rounds.
        progress: is told what is measured next.

    Raises:
        ImportError: the framework is not installed; names the extra.
    """
    found: dict[str, Any] = {}
    for game in games:
        adapters = [*engine(game), *FRAMEWORKS[framework](game)]
        tasks = {adapter.name: (nothing, _playing(adapter, seconds)) for adapter in adapters}
        rates = interleaved(tasks, rounds, lambda name, game=game: progress(f"{game.name}: {name}"), clock)  # type: ignore[misc]
        bases = {adapter.games: rates[adapter.name].median for adapter in engine(game)}
        found[game.name] = {
            "rates": {
                adapter.name: {
                    "games": adapter.games,
                    **rates[adapter.name].to_json(),
                    "of_engine": rates[adapter.name].median / bases[adapter.games],
                }
                for adapter in adapters
            }
        }
        if framework == "sb3":
            found[game.name]["native_over_dummy"] = rates[NATIVE].median / rates[DUMMY].median
            found[game.name]["training"] = []
            for num_envs in (BATCH, 4 * BATCH):
                progress(f"{game.name}: training with {num_envs} games")
                found[game.name]["training"].append(training_share(game, num_envs, rounds))
    return {"machine": machine(*PACKAGES[framework]), "seconds": seconds, "games": found}


def _playing(adapter: Adapter, seconds: float) -> Task:
    def work() -> int:
        decisions = 0
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            for _ in range(_CALLS_BETWEEN_LOOKS):
                decisions += adapter.once()
        return decisions

    return work


def load(path: Path = RESULTS) -> dict[str, Report]:
    """The results by framework, in the order of FRAMEWORKS; nothing where there is no file."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {name: known[name] for name in FRAMEWORKS if name in known}


def tables(results: Mapping[str, Report]) -> dict[str, str]:
    """The results as Markdown: `rates`, `targets` and `runs`."""
    games = list(dict.fromkeys(game for report in results.values() for game in report["games"]))
    rates = ["| | games a call | " + " | ".join(games) + " |", "|---|---:|" + "---:|" * len(games)]
    seen = set()
    for report in results.values():
        names = dict.fromkeys(name for entry in report["games"].values() for name in entry["rates"])
        for name in names:
            if name in seen:  # the engine is in every run; that of the first is shown
                continue
            seen.add(name)
            entries = [report["games"].get(game, {"rates": {}})["rates"].get(name) for game in games]
            batch = next(entry["games"] for entry in entries if entry)
            cells = [
                f"{short(entry['per_second'])} ({_percent(entry['of_engine'])})" if entry else "" for entry in entries
            ]
            rates.append(f"| {name} | {batch} | " + " | ".join(cells) + " |")
    targets = ["| | DummyVecEnv's time over LearnerVecEnv's | share of a training iteration |", "|---|---:|---|"]
    for game, entry in results.get("sb3", {"games": {}})["games"].items():
        shares = "; ".join(
            f"{_percent(one['share'])} ({_percent(one['low'])} to {_percent(one['high'])}) with {one['num_envs']} games"
            for one in entry["training"]
        )
        targets.append(f"| {game} | {entry['native_over_dummy']:.1f} | {shares} |")
    runs = []
    for name, report in results.items():
        about = report["machine"]
        versions = ", ".join(f"{package} {about[package]}" for package in (*PACKAGES[name], *_BASE))
        runs.append(
            f"- {name}: {about['cpu']}, {about['cores']} cores; Python {about['python']}, {versions}; {about['date']}."
        )
    return {"rates": "\n".join(rates), "targets": "\n".join(targets), "runs": "\n".join(runs)}


_BASE = ("gymnasium", "pettingzoo", "numpy", "numba")


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"


def main(arguments: list[str] | None = None) -> None:
    """Measures the adapters of a framework that is installed here and merges them into the results."""
    parser = argparse.ArgumentParser(prog="python -m iszoo.benchmarks.wrappers", description=__doc__)
    parser.add_argument("framework", choices=FRAMEWORKS)
    parser.add_argument("--quick", action="store_true", help=f"short and rough, into {QUICK_RESULTS}")
    parser.add_argument("--out", type=Path, help=f"the file of the results (by default {RESULTS})")
    args = parser.parse_args(arguments)
    path = args.out or (QUICK_RESULTS if args.quick else RESULTS)
    began = time.perf_counter()
    try:
        report = measure(
            args.framework,
            REGISTRY.values(),
            seconds=0.05 if args.quick else 0.4,
            rounds=1 if args.quick else 5,
            progress=lambda what: print(f"{args.framework}: {what}", file=sys.stderr),
        )
    except ImportError as error:
        sys.exit(f"error: {error}")
    results = {**load(path), args.framework: report}
    write_json(path, {name: results[name] for name in FRAMEWORKS if name in results})
    made = tables({args.framework: report})
    print("\n\n".join(made[name] for name in made if name != "targets" or args.framework == "sb3"))
    print(f"\n{time.perf_counter() - began:.0f} s; written to {path}")


if __name__ == "__main__":
    main()
