"""Reports as Markdown: of ladders, statistics, training and search; pages of their own, and the tables of the docs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Report = Mapping[str, Any]


# --- Ladders -----------------------------------------------------------------------------------------------


def ladder_page(report: Report) -> str:
    """A ladder's report as a page."""
    tables = ladder_tables(report)
    settled = ", ".join(f"`{name}={value}`" for name, value in report["options"].items())
    parts = [f"# Ladder: `{report['game']}`", f"{settled}. {ladder_facts(report)}", tables["standings"]]
    if report["common_result"]:
        team = "a team of the agent alone" if report["players"] > 1 else "the agent"
        parts.append(f"The players have one common result, so nobody is rated: mean reward and points of {team}.")
    else:
        model = "Bradley and Terry's model" if report["players"] == 2 else "Luce's choice model, by who won"
        parts += [
            f"Ratings by {model}, `{report['anchor']}` fixed at 0, 400 points for odds of 10 to 1. To every table one"
            " game is added whose win all seats share, so that who always wins has a finite rating. Intervals: a"
            f" Bayesian bootstrap, {report['resamples']:,} resamples of the deals, a deal with all its games at all"
            " tables.",
            "Win rate, score and reward are means over the games at all tables; the columns of seats are win rates.",
            "Who wins against whom, rows against columns: of the wins of both, at tables where both sat.",
        ]
    parts += [tables[name] for name in ("versus", "teams") if name in tables]
    parts += ["\n".join(f"- {note}" for note in report["notes"])] if report["notes"] else []
    return "\n\n".join([*parts, made_by(report)]) + "\n"


def ladder_facts(report: Report) -> str:
    """How many games a ladder is made of, in a sentence."""
    rotated = ", each played from every rotation of the seats" if report["players"] > 1 else ""
    tables = len(report["tables"])
    return (
        f"{report['games']:,} games at {tables} table{'s' * (tables > 1)}, {report['distinct_games']:,} of them"
        f" distinct, {report['mean_length']:.1f} actions a game; deals from seed {report['seed']}{rotated}."
    )


def ladder_tables(report: Report) -> dict[str, str]:
    """The tables of a ladder: "standings", and "versus" (opponents) or "teams"."""
    if report["common_result"]:
        found = {"standings": _common_standings(report)}
        return {**found, "teams": _teams(report)} if report["players"] > 1 else found
    return {"standings": _rated_standings(report), "versus": _versus(report)}


def ratings(reports: Sequence[Report]) -> str:
    """The ratings of several ladders of two players beside each other, an agent a line; policies share one."""
    columns = [
        {_kind(entry["agent"]): f"{entry['elo']:+.0f}" for entry in report["agents"]} | {report["anchor"]: "0"}
        for report in reports
    ]
    mean: dict[str, list[float]] = {}
    for report in reports:
        for entry in report["agents"]:
            mean.setdefault(_kind(entry["agent"]), []).append(entry["elo"])
    names = sorted(mean, key=lambda name: -sum(mean[name]) / len(mean[name]))
    rows = [[f"`{name}`", *(column.get(name, "") for column in columns)] for name in names]
    return _table(["Elo", *(report["game"].removesuffix("_v0") for report in reports)], rows)


def _kind(agent: str) -> str:
    """An agent's name without that of its policy: policy:iso is policy:NAME, az:iso-az:64 is az:NAME:64."""
    parts = agent.split(":")
    if parts[0] in ("policy", "az"):
        parts[1] = "NAME"
    return ":".join(parts)


def _rated_standings(report: Report) -> str:
    seats = [f"seat {seat}" for seat in range(report["players"])]
    rows = []
    for rank, entry in enumerate(report["agents"], 1):
        rating = [f"{entry['elo']:+.0f}", _interval(entry["elo_low"], entry["elo_high"], "+.0f")]
        if entry["agent"] == report["anchor"]:
            rating = ["0", "fixed"]
        rows.append([
            str(rank), f"`{entry['agent']}`", *rating, f"{entry['win_rate']:.1%}", f"{entry['mean_score']:.2f}",
            f"{entry['mean_return']:+.3f}", *(f"{seat['win_rate']:.1%}" for seat in entry["by_seat"]),
        ])  # fmt: skip
    return _table(["", "agent", "Elo", "95 % interval", "win rate", "score", "reward", *seats], rows)


def _versus(report: Report) -> str:
    names = [f"`{name}`" for name in report["versus"]["agents"]]
    rows = [
        [name, *("" if share is None else f"{share:.1%}" for share in shares)]
        for name, shares in zip(names, report["versus"]["share"], strict=True)
    ]
    return _table(["", *names], rows)


def _common_standings(report: Report) -> str:
    rows = [
        [
            str(rank), f"`{entry['agent']}`", *_mean_return(entry), f"{entry['mean_score']:.2f}",
            "" if entry["mean_return_mixed"] is None else f"{entry['mean_return_mixed']:.3f}",
        ]
        for rank, entry in enumerate(report["agents"], 1)
    ]  # fmt: skip
    head = ["", "agent", "reward", "95 % interval", "score", "in mixed teams"]
    alone = report["players"] == 1
    return _table(head[:-1] if alone else head, [row[:-1] for row in rows] if alone else rows)


def _teams(report: Report) -> str:
    rows = [
        [", ".join(f"`{name}`" for name in table["agents"]), f"{table['games']:,}", *_mean_return(table["results"][0])]
        for table in report["tables"]
    ]
    return _table(["team", "games", "reward", "95 % interval"], rows)


def _mean_return(entry: Report) -> list[str]:
    return [f"{entry['mean_return']:.3f}", _interval(entry["mean_return_low"], entry["mean_return_high"], ".3f")]


# --- Statistics --------------------------------------------------------------------------------------------


def statistics_page(report: Report) -> str:
    """A game's statistics as a page."""
    tables = statistics_tables(report)
    parts = [f"# `{report['game']}` in numbers", statistics_facts(report)]
    for name, title in (("course", "Length and branching"), ("scores", "Points"), ("seats", "Seats")):
        parts += [f"## {title}", tables[name]] if name in tables else []
    return "\n\n".join([*parts, made_by(report)]) + "\n"


def statistics_facts(report: Report) -> str:
    """What games the statistics are of, in a sentence."""
    same = [
        f"{' and '.join(setting['same_games'])} to the games of {setting['label']}"
        for setting in report["settings"]
        if setting["same_games"]
    ]
    return (
        f"{report['games']:,} games of each agent in each setting, all seats played by the same agent, each game on a"
        f" deal of its own from seed {report['seed']}." + (f" Alike, move by move: {'; '.join(same)}." if same else "")
    )


def statistics_tables(report: Report) -> dict[str, str]:
    """The tables of a game's statistics: "course", "scores" and, where there are opponents, "seats"."""
    settings = report["settings"]
    found = {
        "course": _table(
            ["setting", "agent", "actions", "5 % to 95 %", "legal actions", "most", "log10 of lines"],
            _rows(settings, _course),
        ),
        "scores": _table(
            ["setting", "agent", "points", "deviation", "5 %", "median", "95 %", "lead of the best", "shared wins"],
            _rows(settings, _scores),
        ),
    }
    opposed = [setting for setting in settings if not setting["common_result"]]
    if opposed:
        most = max(setting["players"] for setting in opposed)
        head = ["setting", "agent", *(f"seat {seat}" for seat in range(most))]
        found["seats"] = _table(head, _rows(opposed, lambda entry: _seats(entry, most)))
    return found


def _rows(settings: Iterable[Report], cells: Any) -> list[list[str]]:
    return [
        [setting["label"] if k == 0 else "", f"`{entry['agent']}`", *cells(entry)]
        for setting in settings
        for k, entry in enumerate(setting["agents"])
    ]


def _course(entry: Report) -> list[str]:
    length, branching = entry["length"], entry["branching"]
    return [
        f"{length['mean']:.1f}", _interval(length["percentile_5"], length["percentile_95"], ".0f"),
        f"{branching['mean']:.1f}", str(branching["greatest"]), f"{entry['log10_lines']:.1f}",
    ]  # fmt: skip


def _scores(entry: Report) -> list[str]:
    score = entry["score"]
    opposed = [f"{entry['lead']['mean']:.2f}", f"{entry['shared_wins']:.1%}"] if "lead" in entry else ["", ""]
    return [
        f"{round(score['mean'], 2) + 0.0:.2f}",  # no -0.00
        f"{score['deviation']:.2f}",
        *(f"{score[name]:.0f}" for name in ("percentile_5", "median", "percentile_95")),
        *opposed,
    ]


def _seats(entry: Report, most: int) -> list[str]:
    shown = [
        f"{seat['win_rate']:.1%} ± {50 * (seat['win_rate_high'] - seat['win_rate_low']):.1f}" for seat in entry["seats"]
    ]
    return shown + [""] * (most - len(shown))


# --- Training ----------------------------------------------------------------------------------------------


def curves_facts(report: Report) -> str:
    """What a report on training is of, in a sentence."""
    settled = ", ".join(f"`{name}={value}`" for name, value in report["options"].items())
    seeds = ", ".join(str(run["seed"]) for run in report["runs"])
    minutes = sum(run["points"][-1]["cpu_seconds"] for run in report["runs"]) / 60 / len(report["runs"])
    if len(report["runs"]) == 1:
        runs = f"Seed {seeds}, {minutes:.0f} minutes of one core."
    else:
        shipped = f"seed {report['shipped']}, the median, is shipped"
        runs = f"Seeds {seeds}, {minutes:.0f} minutes of one core each; {shipped}."
    return f"{settled}. {runs} `{report['runs'][0]['command']}`"


def curves_tables(report: Report) -> dict[str, str]:
    """The table of the last evaluation of each seed: "runs"."""
    first = report["runs"][0]["points"][-1]["scores"]
    alone = not first[0]["opponent"]
    head = [f"against `{score['opponent']}`" for score in first] if not alone else ["mean points", "mean reward"]
    rows = []
    for run in report["runs"]:
        scores = run["points"][-1]["scores"]
        cells = [f"{score['win_rate']:.1%} ({score['low']:.1%} to {score['high']:.1%})" for score in scores]
        if alone:
            cells = [f"{scores[0]['mean_score']:.2f}", f"{scores[0]['mean_return']:+.3f}"]
        shipped = ", shipped" if run["seed"] == report["shipped"] else ""
        rows.append([f"{run['seed']}{shipped}", f"{run['steps']:,}", f"{scores[0]['games']:,}", *cells])
    return {"runs": _table(("seed", "steps", "games", *head), rows)}


# --- Strength of searches ----------------------------------------------------------------------------------


def strength_facts(report: Report) -> str:
    """What a report on the strength of search is of, in a sentence."""
    return f"Paired games, each deal from both seats, deals from seed {report['seed']}."


def strength_tables(report: Report) -> dict[str, str]:
    """The table of strength against simulations: "curve"."""
    opponents = list(dict.fromkeys(point["against"] for point in report["points"]))
    rows = []
    for simulations in dict.fromkeys(point["simulations"] for point in report["points"]):
        row = [f"{simulations:,}"]
        for name in opponents:
            cell = "-"
            for point in report["points"]:
                if (point["simulations"], point["against"]) == (simulations, name):
                    mine = point["results"][0]
                    low, high = 100 * mine["win_rate_low"], 100 * mine["win_rate_high"]
                    cell = f"{100 * mine['win_rate']:.1f}% ({low:.1f} to {high:.1f}), {point['games']} games"
            row.append(cell)
        rows.append(row)
    return {"curve": _table(("simulations", *(f"wins against `{name}`" for name in opponents)), rows)}


# --- What all share ----------------------------------------------------------------------------------------


def made_by(report: Report) -> str:
    """What made a report, in a sentence."""
    about = report["machine"]
    return (
        f"iszoo {about['iszoo']}, {about['date']}, {report['seconds']:.0f} s: {about['cpu']}, Python {about['python']},"
        f" numba {about['numba']}."
    )


def _interval(low: float, high: float, form: str) -> str:
    return f"{low:{form}} to {high:{form}}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    names = ("", "agent", "team", "setting")
    lines = [
        "| " + " | ".join(head) + " |",
        "|" + "|".join("---" if title in names else "---:" for title in head) + "|",
        *("| " + " | ".join(row) + " |" for row in rows),
    ]
    return "\n".join(lines)
