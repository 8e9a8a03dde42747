"""`python -m iszoo.benchmarks.peers`: measures, and writes benchmarks/results/peers.json, peers.md and peers.svg."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from iszoo.benchmarks.peers.contenders import CONTENDERS
from iszoo.benchmarks.peers.measure import QUICK, Plan, core_sets, first_use, memory, race, to_json
from iszoo.benchmarks.peers.report import markdown, targets
from iszoo.benchmarks.yardstick.connect_four import GAME
from iszoo.envs import REGISTRY
from iszoo.reports import machine, write_json, write_text

RESULTS = Path(__file__).resolve().parents[1] / "results"


def main() -> int:
    """Returns 1 if a contender could not be measured."""
    parser = argparse.ArgumentParser(prog="python -m iszoo.benchmarks.peers", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short round: rough figures, in some two minutes")
    parser.add_argument("--only", nargs="+", metavar="NAME", help=f"of {', '.join(c.name for c in CONTENDERS)}")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the folder for the results")
    given = parser.parse_args()
    unknown = set(given.only or ()) - {contender.name for contender in CONTENDERS}
    if unknown:
        parser.error(f"there is no contender {', '.join(sorted(unknown))}")
    from iszoo.benchmarks.plots import peers_svg  # before the work: it may be missing

    chosen = [contender for contender in CONTENDERS if given.only is None or contender.name in given.only]
    plan = QUICK if given.quick else Plan()
    began = time.perf_counter()

    def progress(what: str) -> None:
        print(f"{time.perf_counter() - began:5.0f} s  {what}", file=sys.stderr)

    report: dict[str, Any] = {"machine": machine(), "plan": to_json(plan), "versions": {}, "missing": {}, "rates": {}}
    for cores in core_sets():
        rates, versions, missing = race(chosen, cores, plan, progress)
        report["rates"][str(len(cores))] = {
            row: {label: rate.to_json() for label, rate in found.items()} for row, found in rates.items()
        }
        report["versions"].update(versions)
        report["missing"].update(missing)
    report["first_use"] = first_use(chosen, plan.rounds, progress)
    report["memory"] = memory([GAME, *REGISTRY.values()])
    report["targets"] = targets(report)
    write_json(given.out / "peers.json", report)
    write_text(given.out / "peers.md", markdown(report))
    write_text(given.out / "peers.svg", peers_svg(report))
    print(f"{markdown(report)}\n{time.perf_counter() - began:.0f} s; written to {given.out}")
    for name, reason in report["missing"].items():
        print(f"{name} was left out: {reason}", file=sys.stderr)
    return 1 if report["missing"] else 0


if __name__ == "__main__":
    sys.exit(main())
