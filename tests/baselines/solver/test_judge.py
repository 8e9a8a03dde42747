"""The judge: who plays the solver's moves loses nothing, and what others lose is counted right."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from iszoo.baselines import RESULTS
from iszoo.baselines.agents import View, make_agent
from iszoo.baselines.solver.judge import facts, judge, judged, main, page, tables
from iszoo.baselines.solver.positions import WINDOWS, Endgames, load

NAMES = tuple(WINDOWS)


class Knows:
    """Plays the best action, or the worst, of positions that it was given."""

    def __init__(self, endgames: Endgames, best: bool) -> None:
        self.name = "best" if best else "worst"
        self._actions = []
        for position in endgames.positions:
            solution = position.solution
            sign = 1 if position.player == 0 else -1
            ranked = sorted(zip(solution.exact, solution.actions, strict=True), key=lambda pair: pair[0][0] * sign)
            self._actions.append(solution.best[0] if best else int(ranked[0][1]))

    def act(self, view: View) -> npt.NDArray[np.int64]:
        return np.array(self._actions)


def some(name: str, count: int) -> Endgames:
    """A few of the published positions."""
    endgames = load(name)
    chosen = endgames.positions[:count]
    assert len(chosen) == count
    return Endgames(endgames.game, endgames.options, endgames.unit, chosen)


@pytest.mark.parametrize("name", NAMES)
def test_the_best_lose_nothing_and_the_worst_the_most(name: str) -> None:
    endgames = some(name, 40)
    report = judge(endgames, [Knows(endgames, True), Knows(endgames, False), make_agent("random", endgames.game)])
    best, worst, at_random = report["judged"]
    assert best["optimal"]["share"] == best["kept"]["share"] == 1
    assert best["outcome_loss"]["mean"] == best["margin_loss"]["mean"] == 0
    assert worst["outcome_loss"]["mean"] >= at_random["outcome_loss"]["mean"] > 0
    assert worst["optimal"]["share"] < 1
    expected = np.mean([len(p.solution.best) / len(p.solution.actions) for p in endgames.positions])
    assert report["chance"] == pytest.approx(expected)
    assert at_random["optimal"]["low"] < expected < at_random["optimal"]["high"]


def test_losses_are_those_of_the_values() -> None:
    endgames = some("isis_osiris", 10)
    actions = [int(position.solution.actions[-1]) for position in endgames.positions]
    found = judged(endgames.positions, actions)
    losses = []
    for position, action in zip(endgames.positions, actions, strict=True):
        solution = position.solution
        mine = solution.outcome[:, position.player]
        losses.append(mine.max() - mine[list(solution.actions).index(action)])
    assert found["outcome_loss"]["mean"] == pytest.approx(np.mean(losses))
    assert found["kept"]["share"] == pytest.approx(np.mean(np.array(losses) < 1e-12))
    assert sum(part["count"] for part in found["by_left"].values()) == 10


def test_the_command_writes_json_and_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "isis.judged"
    main(["isis_osiris", "--agents", "greedy", "random", "--out", str(out)])
    report = json.loads(out.with_name("isis.judged.json").read_text())
    assert [entry["agent"] for entry in report["judged"]] == ["greedy", "random"]
    written = out.with_name("isis.judged.md").read_text()
    assert written == page(report)
    assert written in capsys.readouterr().out
    assert all(table in written for table in tables(report).values())
    with pytest.raises(SystemExit, match="error: isis_osiris has no agent 'nobody'"):
        main(["isis_osiris", "--agents", "nobody"])
    with pytest.raises(SystemExit, match=r"missing\.json"):
        main(["isis_osiris", "--positions", str(tmp_path / "missing.json")])


@pytest.mark.parametrize("name", NAMES)
def test_published_results_come_out_again(name: str) -> None:
    published = json.loads((RESULTS / f"{name}.judged.json").read_text())
    fast = [entry["agent"] for entry in published["judged"] if ":" not in entry["agent"]]
    assert fast == ["random", "greedy", "expert"]
    endgames = load(name)
    report = judge(endgames, [make_agent(agent, endgames.game) for agent in fast], published["seed"])
    for entry, before in zip(report["judged"], published["judged"], strict=False):
        for what in ("optimal", "kept", "outcome_loss", "margin_loss"):
            assert entry[what] == pytest.approx(before[what])
    assert str(published["positions"]) in facts(published)
