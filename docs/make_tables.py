"""Fills in the tables of the docs and the README: from the code, and from results that were measured.

A block between `<!-- from the code: TABLE -->` and `<!-- end -->` on a game's page is a table of its fact sheet. One
after `<!-- from the results: FILE TABLE -->`, on any page, comes from baselines/results/FILE.json, whose plot is drawn
to docs/plots/FILE.svg. One after `<!-- from benchmarks/results/FILE.json: TABLE -->` is made by iszoo.benchmarks.FILE,
which may have a plot there too. With --check: says what is out of date instead.
"""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from iszoo.baselines.arena import pages
from iszoo.baselines.search import leaf_values
from iszoo.baselines.solver import judge, positions
from iszoo.benchmarks import deciding, profile, scaling, scripts, self_play, solving, throughput, wrappers
from iszoo.benchmarks.peers import report as peers
from iszoo.envs import REGISTRY
from iszoo.envs.facts import tables
from iszoo.reports import hash_in, report_hash

DOCS = Path(__file__).parent
PLOTS = DOCS / "plots"
RESULTS = DOCS.parent / "baselines" / "results"
BENCHMARKS = DOCS.parent / "benchmarks" / "results"
TABLES = {
    module.__name__.split(".")[2]: module.tables
    for module in (deciding, peers, profile, scaling, scripts, self_play, solving, throughput, wrappers)
}
PLOTTED = ("peers", "scaling")  # of the benchmarks
_CODE = re.compile(r"(<!-- from the code: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_BENCHMARKS = re.compile(r"(<!-- from benchmarks/results/(\w+)\.json: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_RESULTS = re.compile(r"(<!-- from the results: (\S+) (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


@cache
def result(file: str) -> Any:
    """The report baselines/results/FILE.json, or that of a benchmark."""
    folder = BENCHMARKS if file in TABLES else RESULTS
    return json.loads((folder / f"{file}.json").read_text(encoding="utf-8"))


@cache
def made(file: str) -> dict[str, str]:
    """The tables that a report gives, and "facts": what games it is of, and what made it.

    Of several ladders, FILE+FILE+..., the "ratings".
    """
    if "+" in file:
        return {"ratings": pages.ratings([result(one) for one in file.split("+")])}
    report = result(file)
    if "settings" in report:
        return {"facts": f"{pages.statistics_facts(report)} {pages.made_by(report)}", **pages.statistics_tables(report)}
    if "leaf_values" in report:
        return leaf_values.tables(report)
    if "runs" in report:
        return {"facts": pages.curves_facts(report), **pages.curves_tables(report)}
    if "endgames" in report and "judged" in report:
        return {"facts": f"{judge.facts(report)} {pages.made_by(report)}", **judge.tables(report)}
    if "endgames" in report:
        return {"facts": f"{positions.facts(report)} {pages.made_by(report)}", **positions.tables(report)}
    if "points" in report:
        return {"facts": f"{pages.strength_facts(report)} {pages.made_by(report)}", **pages.strength_tables(report)}
    notes = "".join(f"\n\n{note}" for note in report["notes"])
    return {"facts": f"{pages.ladder_facts(report)} {pages.made_by(report)}{notes}", **pages.ladder_tables(report)}


@cache
def measured(file: str) -> dict[str, str]:
    """The tables of benchmarks/results/FILE.json."""
    return dict(TABLES[file](result(file)))


def filled(path: Path) -> str:
    """A page with all of its tables as they are now."""
    page = path.read_text(encoding="utf-8")
    if path.stem in REGISTRY and path.parent.name == "games":
        of_game = tables(REGISTRY[path.stem])
        page = _CODE.sub(lambda found: f"{found[1]}{of_game[found[2]]}\n{found[3]}", page)
    page = _BENCHMARKS.sub(lambda found: f"{found[1]}{measured(found[2])[found[3]]}\n{found[4]}", page)
    return _RESULTS.sub(lambda found: f"{found[1]}{made(found[2])[found[3]]}\n{found[4]}", page)


def stale_pages() -> dict[Path, str]:
    """Page -> what it should be, of those that differ; the README is one."""
    found = {path: filled(path) for path in (DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md")))}
    return {path: page for path, page in found.items() if page != path.read_text(encoding="utf-8")}


def plotted() -> list[str]:
    """The results that have a plot."""
    kinds = ("*.statistics.json", "*.ladder.json", "*.strength.json", "*.curves.json")
    return sorted([*PLOTTED, *(path.stem for kind in kinds for path in RESULTS.glob(kind))])


def stale_plots() -> list[str]:
    """The results whose plot was drawn from others, or not at all."""
    stale = []
    for name in plotted():
        plot = PLOTS / f"{name}.svg"
        drawn_from = hash_in(plot.read_text(encoding="utf-8")) if plot.exists() else None
        if drawn_from != report_hash(result(name)):
            stale.append(name)
    return stale


def main() -> int:
    """Returns how much was out of date, with --check; else writes it anew and returns 0."""
    check = "--check" in sys.argv
    old_pages, old_plots = stale_pages(), stale_plots()
    for path in [*old_pages, *(PLOTS / f"{name}.svg" for name in old_plots)]:
        print(f"{path}: {'out of date' if check else 'written'}")
    if check:
        return len(old_pages) + len(old_plots)
    for path, page in old_pages.items():
        path.write_text(page, encoding="utf-8")
    if old_plots:
        from iszoo.baselines.arena import plots
        from iszoo.benchmarks import plots as speed

        PLOTS.mkdir(exist_ok=True)
        for name in old_plots:
            draw = getattr(speed if name in PLOTTED else plots, f"{name.rpartition('.')[2]}_svg")
            (PLOTS / f"{name}.svg").write_text(draw(result(name)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
