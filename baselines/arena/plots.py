"""Plots of ladders, statistics, training and search, drawn from their reports. Needs the extra iszoo[plots].

Colours are those of Okabe and Ito (2008), which people with any kind of colour vision can tell apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from iszoo.benchmarks.plots import STYLE, svg

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator
except ImportError as error:
    raise ImportError("plots need matplotlib: pip install 'iszoo[plots]'") from error

COLOURS = {"random": "#7f7f7f", "greedy": "#e69f00", "expert": "#0072b2"}
_OTHERS = ("#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#000000")
_MOST_SHOWN = 14  # agents in the matrix with numbers in its cells


def colour_of(agent: str, agents: Sequence[str]) -> str:
    """The colour of an agent, the same in all plots for those that every game has."""
    others = [name for name in agents if name not in COLOURS]
    return COLOURS.get(agent) or _OTHERS[others.index(agent) % len(_OTHERS)]


def ladder_svg(report: Mapping[str, Any]) -> str:
    """The plot of a ladder's report: ratings with their intervals, and who wins against whom."""
    entries = report["agents"]
    names = [entry["agent"] for entry in entries]
    common = report["common_result"]
    height = 1.7 + 0.42 * len(entries)
    with mpl.rc_context(STYLE):
        if common:
            figure = Figure(figsize=(6.4, height), layout="constrained")
            left = figure.subplots()
            _ratings(left, entries, "mean_return")
            left.set_xlabel("mean reward and 95 % interval" + (", teams of one agent" * (report["players"] > 1)))
        else:
            figure = Figure(figsize=(11, max(height, 3.2)), layout="constrained")
            left, right = figure.subplots(1, 2, width_ratios=(1.35, 1))
            _ratings(left, entries, "elo")
            left.set_xlabel(f"Elo points above {report['anchor']}, 95 % interval")
            _matrix(right, names, report["versus"]["share"])
        left.set_title(f"{_title(report)}, {report['games']:,} games")
        return svg(figure, report)


def _ratings(axes: Axes, entries: Sequence[Mapping[str, Any]], measure: str) -> None:
    names = [entry["agent"] for entry in entries]
    low = min(entry[measure] for entry in entries)
    high = max(entry[measure] for entry in entries)
    room = 0.35 * (high - low or 1)  # an open interval is cut off, and has an arrow
    for y, entry in enumerate(entries):
        colour, value = colour_of(entry["agent"], names), entry[measure]
        ends = [entry[f"{measure}_low"], entry[f"{measure}_high"]]
        shown = [max(ends[0], low - room), min(ends[1], high + room)]
        axes.plot(shown, [y, y], color=colour, lw=2.5, solid_capstyle="butt", alpha=0.55)
        for end, edge, marker in zip(ends, shown, ("<", ">"), strict=True):
            if end != edge:
                axes.plot([edge], [y], marker, color=colour, ms=6)
        axes.plot([value], [y], "o", color=colour, ms=8)
        form = f"{value:.0f}" if measure == "elo" else f"{value:.3f}"
        axes.annotate(form, (value, y), (0, 8), textcoords="offset points", ha="center", va="bottom", fontsize=9)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.7)
    axes.grid(axis="y", visible=False)


def _matrix(axes: Axes, names: Sequence[str], share: Sequence[Sequence[float | None]]) -> None:
    values = np.array([[np.nan if entry is None else entry for entry in row] for row in share])
    axes.imshow(values, cmap="PuOr", vmin=-0.2, vmax=1.2)
    axes.set_facecolor("#f4f4f4")
    for i in range(len(names)) if len(names) <= _MOST_SHOWN else ():
        for j in range(len(names)):
            if not np.isnan(values[i, j]):
                dark = abs(values[i, j] - 0.5) > 0.35
                axes.text(
                    j, i, f"{100 * values[i, j]:.0f}", ha="center", va="center", fontsize=9,
                    color="white" if dark else "black",
                )  # fmt: skip
    axes.set_xticks(range(len(names)), names, rotation=35, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), names)
    axes.set_title("wins of row against column, %")
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)


def statistics_svg(report: Mapping[str, Any]) -> str:
    """The plot of a game's statistics: branching, length, scores with its first setting; seats with all."""
    setting = report["settings"][0]
    names = [entry["agent"] for entry in setting["agents"]]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(12, 7.4), layout="constrained")
        (branching, lengths), (scores, seats) = figure.subplots(2, 2)
        for width, entry in zip(_widths(names), setting["agents"], strict=True):
            colour = colour_of(entry["agent"], names)
            by_ply = entry["branching"]["by_ply"]
            plies = np.arange(len(by_ply["mean"]))
            branching.plot(plies, by_ply["mean"], color=colour, label=entry["agent"], lw=width)
            branching.fill_between(plies, by_ply["least"], by_ply["greatest"], color=colour, alpha=0.12, lw=0)
        branching.set(title="legal actions by ply: mean, least and greatest", xlabel="ply")
        branching.set_ylim(bottom=0)
        branching.legend()
        _histograms(lengths, [entry["length"]["histogram"] for entry in setting["agents"]], names)
        lengths.set(title="actions in a game", xlabel="actions", ylabel="share of games")
        _histograms(scores, [entry["score"]["histogram"] for entry in setting["agents"]], names)
        scores.set(title="points of a player at the end", xlabel="points", ylabel="share of players")
        _seats(seats, report["settings"], names)
        figure.suptitle(
            f"{report['game']}: every seat played by the same agent, {report['games']:,} games each; {_told(setting)}",
            x=0.01, ha="left", fontsize=11,
        )  # fmt: skip
        return svg(figure, report)


def _histograms(axes: Axes, histograms: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    """Shares as steps, in bins of whole numbers: as narrow as there are not more than some 40."""
    least = min(min(histogram["values"]) for histogram in histograms)
    greatest = max(max(histogram["values"]) for histogram in histograms)
    width = max(1, -(-(greatest - least + 1) // 40))
    edges = np.arange(least, greatest + width + 1, width) - 0.5
    for line_width, name, histogram in zip(_widths(names), names, histograms, strict=True):
        counts, _ = np.histogram(histogram["values"], edges, weights=histogram["counts"])
        share = counts / sum(histogram["counts"])
        colour = colour_of(name, names)
        axes.stairs(share, edges, color=colour, lw=line_width, label=name)
        axes.stairs(share, edges, color=colour, alpha=0.15, fill=True)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))


def _widths(names: Sequence[str]) -> list[float]:
    """Of lines drawn over each other: one that is covered whole still shows at the edges."""
    return [1.6 + 1.8 * (len(names) - 1 - k) / max(1, len(names) - 1) for k in range(len(names))]


def _seats(axes: Axes, settings: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    """How often each seat wins above its fair share, for each setting that has opponents."""
    shown = [setting for setting in settings if not setting["common_result"]]
    place, ticks = 0.0, []
    for setting in shown:
        players = setting["players"]
        for seat in range(players):
            for k, entry in enumerate(setting["agents"]):
                of_seat = entry["seats"][seat]
                x = place + 0.22 * (k - (len(names) - 1) / 2)
                colour = colour_of(entry["agent"], names)
                axes.plot([x, x], [of_seat["win_rate_low"], of_seat["win_rate_high"]], color=colour, lw=2, alpha=0.55)
                axes.plot([x], [of_seat["win_rate"]], "o", color=colour, ms=5)
            ticks.append((place, str(seat)))
            place += 1
        axes.hlines(1 / players, place - players - 0.5, place - 0.5, color="#555555", lw=1, ls=":")
        axes.text(
            place - players / 2 - 0.5, 1.0, _short(setting["label"]), ha="center", va="top", fontsize=7.5,
            transform=axes.get_xaxis_transform(),
        )  # fmt: skip
        place += 0.8
    axes.set_xticks([x for x, _ in ticks], [name for _, name in ticks])
    low, high = axes.get_ylim()
    axes.set_ylim(max(0, low), high + 0.3 * (high - low))
    axes.grid(axis="x", visible=False)
    axes.set(title="wins of each seat, 95 % interval; dotted: a fair share", xlabel="seat")


def _short(label: str) -> str:
    """A setting's label in narrow lines."""
    return label.replace("=True", "").replace(", ", "\n").replace("=", ":\n")


def strength_svg(report: Mapping[str, Any]) -> str:
    """The plot of a report on the strength of search: win rate against simulations, with 95 % intervals."""
    opponents = list(dict.fromkeys(point["against"] for point in report["points"]))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 3.8), layout="constrained")
        axes = figure.subplots()
        axes.axhline(50, color="#999999", lw=1, ls=":")
        for name, marker in zip(opponents, ("o", "s", "^", "D"), strict=False):
            points = [point for point in report["points"] if point["against"] == name]
            x = [point["simulations"] for point in points]
            mine = [point["results"][0] for point in points]
            rate = np.array([100 * entry["win_rate"] for entry in mine])
            low = rate - [100 * entry["win_rate_low"] for entry in mine]
            high = np.array([100 * entry["win_rate_high"] for entry in mine]) - rate
            axes.errorbar(
                x, rate, yerr=np.array([low, high]), marker=marker, capsize=3, lw=2,
                color=colour_of(name, opponents), label=f"against {name}",
            )  # fmt: skip
        axes.set_xscale("log")
        axes.set(xlabel="simulations a decision", ylabel="games won, %", ylim=(0, 103), title=_title(report))
        axes.legend(loc="lower right")
        return svg(figure, report)


def curves_svg(report: Mapping[str, Any]) -> str:
    """The plot of training: win rate (alone: mean reward) against the processor's time, a line a seed and opponent."""
    runs = report["runs"]
    opponents = [score["opponent"] for score in runs[0]["points"][0]["scores"]]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.8, 3.9), layout="constrained")
        axes = figure.subplots()
        for k, name in enumerate(opponents):
            colour = colour_of(name, opponents)
            for run in runs:
                minutes = [point["cpu_seconds"] / 60 for point in run["points"]]
                scores = [point["scores"][k] for point in run["points"]]
                y = [100 * score["win_rate"] if name else score["mean_return"] for score in scores]
                shipped = run["seed"] == report["shipped"]
                axes.plot(
                    minutes, y, color=colour, lw=2 if shipped else 1, alpha=1 if shipped else 0.55,
                    label=(f"against {name}" if name else "alone") if shipped else None,
                )  # fmt: skip
        axes.set(xlabel="minutes of one core, from the end of the imitation on", title=_title(report))
        axes.set_ylabel("games won, %" if opponents[0] else "mean reward")
        if opponents[0]:
            axes.set_ylim(0, 103)
        axes.legend(loc="best")
        return svg(figure, report)


def _title(report: Mapping[str, Any]) -> str:
    return f"{report['game']} ({_told(report)})"


def _told(setting: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in setting["options"].items() if value is not None)
