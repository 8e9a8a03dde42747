"""Pages and plots of reports: what they show is what the reports say."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

import iszoo
from iszoo.baselines.arena import pages, plots
from iszoo.baselines.arena.statistics import statistics
from iszoo.baselines.ladder import ladder
from iszoo.reports import hash_in, report_hash
from tests.helpers import run_python

LADDERS: dict[str, tuple[str, dict[str, Any]]] = {
    "two players": ("isaac", {}),
    "three players": ("isis_osiris", {"num_players": 3}),
    "solo": ("iso", {"mode": "solo"}),
    "team": ("iso", {"mode": "coop"}),
}


@pytest.fixture(scope="module", params=LADDERS)
def report(request: pytest.FixtureRequest) -> Any:
    """A ladder's report."""
    name, options = LADDERS[request.param]
    return ladder(iszoo.REGISTRY[name], ["greedy"], 12, resamples=20, **options)


@pytest.fixture(scope="module", params=["isaac", "iso"])
def numbers(request: pytest.FixtureRequest) -> Any:
    """A game's statistics."""
    return statistics(iszoo.REGISTRY[request.param], 4)


def cells(table: str) -> list[list[str]]:
    """The cells of a Markdown table, its head first."""
    lines = [line.strip("|").split("|") for line in table.split("\n")]
    rows = [[cell.strip() for cell in line] for line in lines]
    assert len({len(row) for row in rows}) == 1
    return [rows[0], *rows[2:]]


def test_standings_show_every_agent_in_order(report: dict[str, Any]) -> None:
    head, *rows = cells(pages.ladder_tables(report)["standings"])
    assert [row[:2] for row in rows] == [["1", "`greedy`"], ["2", "`random`"]]
    measure, form = ("mean_return", "{:.3f}") if report["common_result"] else ("elo", "{:+.0f}")
    assert rows[0][2] == form.format(report["agents"][0][measure])
    if not report["common_result"]:
        assert rows[1][2:4] == ["0", "fixed"]
        assert head[-report["players"] :] == [f"seat {seat}" for seat in range(report["players"])]
        assert rows[0][-1] == f"{report['agents'][0]['by_seat'][-1]['win_rate']:.1%}"


def test_the_other_table_of_a_ladder(report: dict[str, Any]) -> None:
    tables = pages.ladder_tables(report)
    if report["common_result"]:
        assert ("teams" in tables) == (report["players"] > 1)
        assert "versus" not in tables
    else:
        _, first, second = cells(tables["versus"])
        share = report["versus"]["share"][0][1]
        assert first == ["`greedy`", "", f"{share:.1%}"]
        assert second == ["`random`", f"{1 - share:.1%}", ""]


def test_a_ladders_page_says_how_it_was_made(report: dict[str, Any]) -> None:
    page = pages.ladder_page(report)
    assert page.startswith(f"# Ladder: `{report['game']}`")
    assert all(f"`{name}={value}`" in page for name, value in report["options"].items())
    assert f"{report['distinct_games']} of them distinct" in page
    assert report["machine"]["cpu"] in page
    assert ("nobody is rated" in page) == report["common_result"]
    assert ("one game is added" in page.replace("\n", " ")) == (not report["common_result"])
    assert all(note in page for note in report["notes"])


def test_the_ratings_of_ladders_stand_beside_each_other() -> None:
    def of(game: str, **elo: float) -> dict[str, Any]:
        return {"game": game, "anchor": "random", "agents": [{"agent": k, "elo": v} for k, v in elo.items()]}

    one = of("a_v0", **{"random": 0.0, "mcts:20": 12.4, "policy:a": -3.0})
    two = of("b_v0", **{"random": 0.0, "policy:b": 50.0, "az:b-az:64": 40.2})
    assert cells(pages.ratings([one, two])) == [
        ["Elo", "a", "b"],
        ["`az:NAME:64`", "", "+40"],
        ["`policy:NAME`", "-3", "+50"],
        ["`mcts:20`", "+12", ""],
        ["`random`", "0", "0"],
    ]


def test_statistics_tables_have_every_setting_and_agent(numbers: dict[str, Any]) -> None:
    tables = pages.statistics_tables(numbers)
    for name, table in tables.items():
        _, *rows = cells(table)
        shown = [s for s in numbers["settings"] if name != "seats" or not s["common_result"]]
        assert [row[0] for row in rows if row[0]] == [setting["label"] for setting in shown]
        assert [row[1] for row in rows] == [f"`{entry['agent']}`" for s in shown for entry in s["agents"]]
        assert "-0.00" not in table
    first = numbers["settings"][0]["agents"][0]
    assert cells(tables["course"])[1][2] == f"{first['length']['mean']:.1f}"
    assert cells(tables["course"])[1][5] == str(first["branching"]["greatest"])
    assert cells(tables["scores"])[1][2] == f"{first['score']['mean']:.2f}"
    assert cells(tables["seats"])[1][2].startswith(f"{first['seats'][0]['win_rate']:.1%} ± ")
    page = pages.statistics_page(numbers)
    assert all(table in page for table in tables.values())


def texts(svg: str) -> str:
    """The words of a plot: matplotlib draws them as shapes, each after a comment with its text."""
    return "\n".join(re.findall(r"<!-- (.*?) -->", svg))


def test_a_ladders_plot(report: dict[str, Any]) -> None:
    svg = plots.ladder_svg(report)
    ElementTree.fromstring(svg)
    assert hash_in(svg) == report_hash(report) != report_hash({**report, "seed": 1})
    shown = texts(svg)
    for entry in report["agents"]:
        assert entry["agent"] in shown
        value = f"{entry['mean_return']:.3f}" if report["common_result"] else f"{entry['elo']:.0f}"
        assert value in shown
    assert svg == plots.ladder_svg(report)


def test_an_interval_that_is_open_upwards_has_an_arrow() -> None:
    """And it doesn't squeeze the rest of the plot."""
    report = ladder(iszoo.REGISTRY["isis_osiris"], ["greedy"], 40, resamples=50)
    assert report["agents"][0]["elo_high"] > 1.5 * report["agents"][0]["elo"]
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    plots._ratings(axes, report["agents"], "elo")
    assert axes.get_xlim()[1] < 1.5 * report["agents"][0]["elo"]
    assert ">" in {line.get_marker() for line in axes.lines}


def test_the_plot_of_statistics(numbers: dict[str, Any]) -> None:
    svg = plots.statistics_svg(numbers)
    ElementTree.fromstring(svg)
    assert hash_in(svg) == report_hash(numbers)
    assert all(entry["agent"] in texts(svg) for entry in numbers["settings"][0]["agents"])
    assert svg == plots.statistics_svg(numbers)


def test_colours_tell_agents_apart() -> None:
    names = ["expert", "mcts:100", "greedy", "mcts:500", "random", "policy:x"]
    assert len({plots.colour_of(name, names) for name in names}) == len(names)
    assert plots.colour_of("expert", names) == plots.colour_of("expert", ["expert"])


def test_a_plot_that_was_not_drawn_from_a_report() -> None:
    assert hash_in("<svg/>") is None


def test_without_matplotlib_the_error_names_the_extra() -> None:
    code = """
import sys
sys.modules["matplotlib"] = None
try:
    import iszoo.baselines.arena.plots
except ImportError as error:
    print(error)
"""
    assert "iszoo[plots]" in run_python(code)
