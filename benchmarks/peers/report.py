"""What a run found: the targets, and the whole of it as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from iszoo.benchmarks.peers.rows import rows
from iszoo.benchmarks.throughput import short

Rated = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Row -> "contender, how" -> {"per_second": ...}, as in the JSON."""


def best(rates: Rated, row: str, who: str, how: str = "") -> float | None:
    """The highest median of a contender in a row, of those ways to play that have `how` in their name."""
    found = [
        rate["per_second"]
        for label, rate in rates.get(row, {}).items()
        if label.startswith(f"{who}, ") and how in label and "no observation" not in label
    ]
    return max(found, default=None)


def targets(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What was aimed at, and what was measured: ratios of medians of one run. None: not measured."""
    one: Rated = report["rates"].get("1", {})
    two: Rated = report["rates"].get("2", {})

    def times(row: str, peer: str, how: str = "", ours: str = "") -> float | None:
        return _ratio(best(one, row, "iszoo", ours), best(one, row, peer, how))

    def gain(row: str, how: str) -> float | None:
        return _ratio(best(two, row, "iszoo", how), best(one, row, "iszoo", how))

    aims: list[tuple[str, float, float | None]] = [
        ("1,024 games, a call a step: times Pgx", 5, times("given 1024", "Pgx")),
        ("1,024 games, all in one call: times Pgx", 5, times("inside 1024", "Pgx")),
        ("1,024 games, a call a step: times OpenSpiel's loop over states", 40, times("given 1024", "OpenSpiel")),
        ("AEC loop, env(): times PettingZoo's", 8, times("aec", "PettingZoo", " env()", " env()")),
        ("AEC loop, raw_env(): times PettingZoo's", 8, times("aec", "PettingZoo", "raw_env()", "raw_env()")),
        ("one game: times OpenSpiel's Python loop", 2, times("one", "OpenSpiel")),
        ("clone of a row: times OpenSpiel's State.clone()", 5, times("clone", "OpenSpiel", "", "row")),
        ("search: times OpenSpiel's MCTSBot", 3, times("search", "OpenSpiel")),
        ("random_steps, 1,024 games: two threads, times one", 1.7, gain("inside 1024", "of its own file")),
        ("vec.step, 1,024 games: two threads, times one", 1.7, gain("given 1024", "vec.step")),
        ("vec.step, 4,096 games: two threads, times one", 1.7, gain("given 4096", "vec.step")),
    ]
    found = [
        {"what": what, "at_least": aim, "measured": value, "holds": None if value is None else value >= aim}
        for what, aim, value in aims
    ]
    for game, entry in report["memory"].items():
        what = f"memory of a batch of 4,096, {game}: times its buffers"
        found.append({"what": what, "at_most": 1.2, "measured": entry["ratio"], "holds": entry["ratio"] <= 1.2})
    return found


def _ratio(ours: float | None, theirs: float | None) -> float | None:
    return None if ours is None or theirs is None else ours / theirs


def tables(report: Mapping[str, Any]) -> dict[str, str]:
    """The parts of the report, for the docs: "facts", "headline", "targets", "one", "two", "first_use", ..."""
    about, plan = report["machine"], report["plan"]
    found = {
        "facts": f"{about['cpu']}, {about['cores']} cores; Python {about['python']}; {about['date']}. Medians of"
        f" {plan['rounds']} rounds of slices of {plan['seconds']} s, in each of which every contender had its turn."
        f" Made by `make bench-peers`{'' if plan['rounds'] > 1 else ' in its quick form: rough figures'}.",
        "headline": _headline(report["rates"]["1"]),
        "versions": _versions(report),
        "targets": _targets(report["targets"]),
        "first_use": _first_use(report["first_use"]),
        "compared": _compared(plan["sizes"]),
    }
    for cores, name in (("1", "one"), ("2", "two")):
        if cores in report["rates"]:
            found[name] = _rates(report["rates"][cores], plan["sizes"])
    return found


def markdown(report: Mapping[str, Any]) -> str:
    """The whole report."""
    heads = {
        "facts": "# Connect four beside other libraries",
        "versions": "## Versions",
        "targets": "## Targets",
        "one": "## On one core",
        "two": "## On two cores",
        "first_use": "## First use\n\nSeconds of a new process that imports the library and plays one step; cold: with"
        " an empty cache of compiled code.",
        "compared": "## What is compared",
    }
    made = tables(report)
    return "\n\n".join(f"{head}\n\n{made[name]}" for name, head in heads.items() if name in made) + "\n"


# Row -> how the README calls it, and the contenders' way that is like ours.
_HEADLINE = {
    "aec": ("one game through PettingZoo's interface: env steps", " env()"),
    "one": ("one game, observation and mask as NumPy arrays: env steps", ""),
    "given 1024": ("1,024 games, a call a step: env steps", ""),
    "inside 1024": ("1,024 games, all in one call: env steps", ""),
    "clone": ("copies of a position (ours: rows of a batch)", ""),
    "search": ("UCT with random rollouts: simulations", ""),
}


def _headline(rates: Rated) -> str:
    """Ours beside the fastest of the others, a second on one core."""
    lines = ["| a second, on one core | iszoo | fastest other | ours is |", "|---|---:|---:|---:|"]
    for row, (what, how) in _HEADLINE.items():
        ours = best(rates, row, "iszoo", how)
        others = {label.partition(", ")[0] for label in rates.get(row, {})} - {"iszoo"}
        found = {who: rate for who in others if (rate := best(rates, row, who, how)) is not None}
        if ours is None or not found:
            continue
        who = max(found, key=lambda name: found[name])
        lines.append(f"| {what} | {short(ours)} | {short(found[who])} ({who}) | {ours / found[who]:.3g} x |")
    return "\n".join(lines)


def _versions(report: Mapping[str, Any]) -> str:
    lines = ["| contender | versions |", "|---|---|"]
    for name, versions in report["versions"].items():
        lines.append(f"| {name} | " + ", ".join(f"{package} {version}" for package, version in versions.items()) + " |")
    for name, reason in report["missing"].items():
        lines.append(f"| {name} | left out: {' '.join(reason.split()).replace('|', '/')[-200:]} |")
    return "\n".join(lines)


def _targets(found: Sequence[Mapping[str, Any]]) -> str:
    lines = ["| what | aim | measured | |", "|---|---:|---:|---|"]
    for entry in found:
        aim = f"≥ {entry['at_least']:g}" if "at_least" in entry else f"≤ {entry['at_most']:g}"
        value = "not measured" if entry["measured"] is None else f"{entry['measured']:.3g}"
        lines.append(f"| {entry['what']} | {aim} | {value} | {_verdict(entry['holds'])} |")
    return "\n".join(lines)


def _compared(sizes: Sequence[int]) -> str:
    lines = ["| row | what | what is not alike |", "|---|---|---|"]
    return "\n".join(lines + [f"| {row.name} | {row.compared} | {row.unlike} |" for row in rows(sizes)])


def _verdict(holds: bool | None) -> str:
    return {True: "holds", False: "**missed**", None: ""}[holds]


def _rates(rates: Rated, sizes: Sequence[int]) -> str:
    lines = [
        "| row | contender, how | a second | lowest | highest | one takes | ours is |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows(sizes):
        found = sorted(rates.get(row.name, {}).items(), key=_speed, reverse=True)
        ours = best(rates, row.name, "iszoo")
        for k, (label, rate) in enumerate(found):
            figures = (short(rate[key]) for key in ("per_second", "low", "high"))
            times = "" if ours is None or label.startswith("iszoo") else f"{ours / rate['per_second']:.3g} x"
            name = f"**{row.name}**, {row.unit}" if k == 0 else ""
            takes = _duration(1 / rate["per_second"])
            lines.append(f"| {name} | {label} | {' | '.join(figures)} | {takes} | {times} |")
    return "\n".join(lines)


_speed: Callable[[tuple[str, Mapping[str, float]]], float] = lambda entry: entry[1]["per_second"]  # noqa: E731


def _duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _first_use(found: Mapping[str, Mapping[str, float]]) -> str:
    lines = ["| contender | cold | warm |", "|---|---:|---:|"]
    for name, seconds in found.items():
        cold = f"{seconds['cold']:.2f}" if "cold" in seconds else "no cache"
        lines.append(f"| {name} | {cold} | {seconds['warm']:.2f} |")
    return "\n".join(lines)
