"""Has anything become slower? Compares the ratios of a short run with the published ones: `make bench-check`.

Ratios only: steps against the memory-write limit, what is done in Python against PettingZoo's loop in the same run.
They say something about the code, where times alone say more about the machine and its day. They are compared with
those in benchmarks/results/throughput.json, which must come from the same kind of machine. A ratio that is too low is
measured again, twice at most. Run it on a machine that has nothing else to do.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iszoo.benchmarks import throughput
from iszoo.envs import REGISTRY
from iszoo.reports import machine

PUBLISHED = Path(__file__).resolve().parent / "results" / "throughput.json"
SIZES = (1, 1024)
ALIKE = ("cpu", "cores", "system")  # what makes machines of one kind
PYTHON = "aec connect_four"  # PettingZoo's loop
TRIES = 3

Ratios = Mapping[str, float]


@dataclass(frozen=True)
class Finding:
    """A ratio that has become worse."""

    game: str
    ratio: str
    published: float
    measured: float

    def __str__(self) -> str:
        return (
            f"{self.game}, {self.ratio}: {self.measured:.3g}, published {self.published:.3g}"
            f" ({self.measured / self.published - 1:+.0%})"
        )


def differs(published: Mapping[str, Any], here: Mapping[str, Any]) -> str | None:
    """What sets two machines apart, or None if figures of one may be compared with those of the other."""
    unlike = [
        f"{key}: {published.get(key)!r}, here {here.get(key)!r}" for key in ALIKE if published.get(key) != here.get(key)
    ]
    return "; ".join(unlike) or None


def ratios(rates: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Every rate of a game's entry in the report of throughput.py, as a ratio to what it depends on beside the code."""
    found = {}
    for name, rate in rates.items():
        size = next((word for word in name.split() if word.isdigit()), "")
        base = f"limit {size}" if size else PYTHON
        # A game alone is no work for two threads.
        if name != base and base in rates and not name.endswith(" 1 x2"):
            found[f"{name} / {base}"] = rate["per_second"] / rates[base]["per_second"]
    return found


def worse(game: str, published: Ratios, measured: Ratios, tolerance: float) -> list[Finding]:
    """The ratios that both runs have and that have fallen by more than the tolerance, a share."""
    return [
        Finding(game, name, published[name], measured[name])
        for name in published
        if name in measured and measured[name] < published[name] * (1 - tolerance)
    ]


def check_game(game: str, published: Ratios, measure: Callable[[], Ratios], tolerance: float) -> list[Finding]:
    """Measures until nothing is worse, TRIES times at most; the best value of each ratio counts.

    Raises ValueError if the two have no ratio in common.
    """
    best: dict[str, float] = {}
    found: list[Finding] = []
    for _ in range(TRIES):
        for name, value in measure().items():
            best[name] = max(value, best.get(name, value))
        if not published.keys() & best.keys():
            raise ValueError(f"{game}: what is published has none of the ratios that are measured")
        found = worse(game, published, best, tolerance)
        if not found:
            break
    return found


def main() -> int:
    """Returns 0 if nothing is worse, 1 if something is, 2 if there is nothing to compare with."""
    parser = argparse.ArgumentParser(prog="python -m iszoo.benchmarks.check", description=__doc__)
    parser.add_argument("--against", type=Path, default=PUBLISHED, help="the JSON of `make bench`")
    parser.add_argument("--tolerance", type=float, default=0.2, help="how much a ratio may fall, as a share")
    given = parser.parse_args()
    if not 0 <= given.tolerance < 1:
        parser.error(f"--tolerance {given.tolerance} is not allowed; it is a share from 0 to 1")
    try:
        published = json.loads(given.against.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        print(f"no published figures: {error}", file=sys.stderr)
        return 2
    unlike = differs(published["machine"], machine())
    if unlike:
        print(
            f"{given.against.name} is of another kind of machine ({unlike}). Measure the commit before yours here with"
            " `make bench`, keep its throughput.json, and give it with --against.",
            file=sys.stderr,
        )
        return 2
    findings: list[Finding] = []
    for name, entry in published["games"].items():
        if name not in REGISTRY:
            continue
        print(f"{name} ...", file=sys.stderr)

        def measure(name: str = name) -> Ratios:
            report = throughput.measure(
                [REGISTRY[name]], sizes=SIZES, rounds=3, aec_steps=10_000, with_first_use=False
            )  # fmt: skip
            return ratios(report["games"][name]["rates"])

        findings += check_game(name, ratios(entry["rates"]), measure, given.tolerance)
    for finding in findings:
        print(finding)
    print(f"{len(findings)} ratios are more than {given.tolerance:.0%} below what is published")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
