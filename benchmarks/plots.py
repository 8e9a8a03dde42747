"""The plots of what was measured about speed, and the look of all plots. Extra: iszoo[plots].

A plot holds the hash of the report that it was drawn from, so that one that is out of date can be found.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from iszoo.reports import report_hash

try:
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure
except ImportError as error:
    raise ImportError("plots need matplotlib: pip install 'iszoo[plots]'") from error

# The colours of Okabe and Ito (2008), which people with any kind of colour vision can tell apart.
COLOURS = {
    "iszoo": "#0072b2",
    "Pgx": "#d55e00",
    "EnvPool": "#009e73",
    "OpenSpiel": "#cc79a7",
    "PettingZoo": "#000000",
}
STYLE: Any = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#555555",
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.hashsalt": "iszoo",  # the same plot is the same file
}


def svg(figure: Figure, report: Mapping[str, Any]) -> str:
    """A figure as the text of an SVG file: no date, and the hash of what it was drawn from."""
    FigureCanvasSVG(figure)
    stream = io.StringIO()
    about: Any = {"Date": None, "Creator": "iszoo", "Description": f"report {report_hash(report)}"}
    figure.savefig(stream, format="svg", metadata=about)
    return stream.getvalue()


def peers_svg(report: Mapping[str, Any]) -> str:
    """Both settings of cores beside each other; full lines: a call a step, broken: all in one call."""
    with mpl.rc_context(STYLE):
        settings = list(report["rates"])
        figure = Figure(figsize=(5.6 * len(settings), 4.4), layout="constrained")
        for axes, cores in zip(figure.subplots(1, len(settings), sharey=True, squeeze=False)[0], settings, strict=True):
            for (who, how), points in _curves(report["rates"][cores]).items():
                sizes = sorted(points)
                style = "--" if how == "inside" else "-"
                label = f"{who}, {'all in one call' if how == 'inside' else 'a call a step'}"
                axes.loglog(
                    sizes, [points[n] for n in sizes], style, color=COLOURS[who], marker="o", ms=4, label=label
                )  # fmt: skip
            axes.set_title(f"connect four on {cores} core{'s' * (cores != '1')}")
            axes.set_xlabel("games side by side")
        axes = figure.axes[0]
        axes.set_ylabel("env steps a second, with observation and mask")
        figure.legend(*axes.get_legend_handles_labels(), loc="outside right center")
        return svg(figure, report)


def _curves(rates: Mapping[str, Any]) -> dict[tuple[str, str], dict[int, float]]:
    """(contender, "given" or "inside") -> games -> the best median."""
    curves: dict[tuple[str, str], dict[int, float]] = {}
    for row, found in rates.items():
        how, _, games = row.partition(" ")
        if row == "one":
            how, games = "given", "1"
        if how not in ("given", "inside"):
            continue
        for label, rate in found.items():
            who = label.partition(", ")[0]
            if who in COLOURS and "no observation" not in label:
                points = curves.setdefault((who, how), {})
                points[int(games)] = max(points.get(int(games), 0.0), rate["per_second"])
    return curves


def scaling_svg(report: Mapping[str, Any]) -> str:
    """A panel a game: steps a second by games side by side, beside the limit; and one for processes."""
    games = report["games"]
    styles = {"step": "-", "random": "--", "limit": ":"}
    colours = {"x1": "#0072b2", "x2": "#d55e00", "limit": "#7f7f7f"}
    with mpl.rc_context(STYLE):
        rows = (len(games) + 3) // 3  # of three panels, the last one for the processes
        figure = Figure(figsize=(12.6, 3.8 * rows), layout="constrained")
        every = figure.subplots(rows, 3).ravel()
        panels, spare = every[: len(games) + 1], every[len(games) + 1 :]
        for axes in spare:
            axes.axis("off")
        for axes, (name, entry) in zip(panels, games.items(), strict=False):
            for label, rates in entry["rates"].items():
                kind, _, threads = label.partition(" ")
                sizes = sorted(map(int, rates))
                points = [rates[str(n)]["per_second"] for n in sizes]
                colour = colours[threads or "limit"]
                axes.loglog(sizes, points, styles[kind], color=colour, marker="o", ms=3, label=_NAMES[label])
            axes.set_title(f"{name}: {entry['bytes']:,} bytes a step")
            axes.set_xlabel("games side by side")
        counts: list[int] = []
        for name, entry in games.items():
            counts = sorted(map(int, entry["processes"]))
            alone = entry["processes"][str(counts[0])]["per_second"]
            gains = [entry["processes"][str(n)]["per_second"] / alone for n in counts]
            panels[-1].plot(counts, gains, marker="o", ms=4, label=name)
        panels[-1].set_title(f"processes, on {report['machine']['cores']} cores")
        panels[-1].set_xlabel("processes of 1,024 games")
        panels[-1].set_xticks(counts)
        panels[-1].set_ylabel("steps a second, times one process")
        panels[-1].legend()
        panels[0].set_ylabel("env steps a second")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
        return svg(figure, report)


_NAMES = {
    "step x1": "vec.step, 1 thread",
    "step x2": "vec.step, 2 threads",
    "random x1": "random_steps, 1 thread",
    "random x2": "random_steps, 2 threads",
    "limit": "memory-write limit, 1 thread",
}
