"""A game's statistics: against games played one by one, and those published against the code as it is."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo.baselines.agents import agent_names, make_agent
from iszoo.baselines.arena.statistics import Task, label, measure, settings, statistics
from iszoo.baselines.match import CHECKED_GAMES, first_games, play
from iszoo.envs.game import Game
from tests.helpers import ROOT

RESULTS = ROOT / "baselines" / "results"


class First:
    """Plays the first legal action."""

    name = "first"

    def act(self, view: Any) -> Any:
        return view.action_mask.argmax(axis=1)


def test_settings_show_every_value_of_every_option(game: Game) -> None:
    found = settings(game)
    assert found[0] == game.resolve({})
    assert len({label(game, setting) for setting in found}) == len(found)
    for name, option in game.options.items():
        shown = {setting[name] for setting in found}
        assert shown >= {value for value in option.choices if value is not None}
    assert {int(game.params(setting)[0]) for setting in found} == set(game.players)


def test_figures_are_those_of_games_played_one_by_one(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same games in the AEC environment."""
    monkeypatch.setattr("iszoo.baselines.arena.statistics.make_agent", lambda *_, **__: First())
    games, seed = 6, 20
    entry = measure(Task(game.name, game.resolve({}), "first", games, seed, False))
    lengths, logs, scores, leads, wins = [], [], [], [], np.zeros(2)
    by_ply: dict[int, list[int]] = {}
    env = iszoo.make(game.name)
    for g in range(games):
        env.reset(seed=seed + g)
        counts: list[int] = []
        while legal := env.legal_actions():
            by_ply.setdefault(len(counts), []).append(len(legal))
            counts.append(len(legal))
            env.step(min(legal))
        lengths.append(len(counts))
        logs.append(np.log10(counts).sum())
        points = env.scores()
        scores += points
        leads.append(abs(points[0] - points[1]))
        rewards = np.array([env.rewards[agent] for agent in env.possible_agents])
        wins += (rewards == rewards.max()) / (rewards == rewards.max()).sum()
    assert entry["length"]["mean"] == pytest.approx(np.mean(lengths))
    assert (entry["length"]["least"], entry["length"]["greatest"]) == (min(lengths), max(lengths))
    assert _counter(entry["length"]["histogram"]) == Counter(lengths)
    assert _counter(entry["score"]["histogram"]) == Counter(scores)
    assert _counter(entry["lead"]["histogram"]) == Counter(leads)
    assert entry["score"]["deviation"] == pytest.approx(np.std(scores))
    assert entry["log10_lines"] == pytest.approx(np.mean(logs))
    counts = [count for ply in by_ply.values() for count in ply]
    assert entry["branching"]["mean"] == pytest.approx(np.mean(counts))
    assert entry["branching"]["greatest"] == max(counts)
    shown = entry["branching"]["by_ply"]
    assert shown["games"] == [len(ply) for ply in by_ply.values()]
    assert shown["mean"] == pytest.approx([np.mean(ply) for ply in by_ply.values()])
    assert shown["least"] == [min(ply) for ply in by_ply.values()]
    assert shown["greatest"] == [max(ply) for ply in by_ply.values()]
    assert [seat["win_rate"] for seat in entry["seats"]] == pytest.approx(wins / games)


def _counter(histogram: Any) -> Counter[int]:
    return Counter(dict(zip(histogram["values"], histogram["counts"], strict=True)))


def test_more_games_than_a_batch_are_counted_once() -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    entry = measure(Task(game.name, game.resolve({}), "random", 1100, 0, False))
    assert entry["branching"]["by_ply"]["games"][:2] == [1100, 1100]
    assert sum(entry["length"]["histogram"]["counts"]) == 1100
    assert entry["branching"]["by_ply"]["mean"][0] == 37
    assert 30 < entry["log10_lines"] < 60


def test_solo_and_coop_have_no_winners() -> None:
    game = iszoo.REGISTRY["iso"]
    for mode, players in (("solo", 1), ("coop", 2)):
        report = statistics(game, 20, agents=["random"], mode=mode)
        (setting,) = report["settings"]
        assert setting["common_result"]
        assert setting["players"] == players
        assert len(setting["agents"][0]["seats"]) == players
        assert "lead" not in setting["agents"][0]
        assert "win_rate" not in setting["agents"][0]["seats"][0]


def test_settings_with_the_same_games_are_reported_once() -> None:
    """The memory option of Isis & Osiris changes what is seen; the variant what is played."""
    game = iszoo.REGISTRY["isis_osiris"]
    report = statistics(game, 10, agents=["random"], seed=3)
    labels = [setting["label"] for setting in report["settings"]]
    assert labels[:3] == ["2 players", "3 players", "4 players"]
    assert "2 players, variant=shared_stock" in labels
    assert report["settings"][0]["same_games"] == ["2 players, memory=hidden"]
    assert not any("memory" in name for name in labels)


def test_the_same_seed_gives_the_same_figures() -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    one, two, other = (statistics(game, 8, seed=seed, num_players=3) for seed in (1, 1, 2))
    assert one["settings"] == two["settings"] != other["settings"]


@pytest.mark.parametrize(("arguments", "message"), [
    ({"games": 1}, "at least two"),
    ({"agents": ["stockfish"]}, "has no agent 'stockfish'"),
    ({"variant": "none"}, "'standard', 'shared_stock'"),
])  # fmt: skip
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        statistics(iszoo.REGISTRY["isis_osiris"], **{"games": 8, **arguments})


# --- What is published -------------------------------------------------------------------------------------

AGAIN = "rules, agents or generators have changed: make it anew, as docs/statistics.md and docs/ladder.md say"


def test_published_statistics_are_of_the_games_that_are_played_now(game: Game) -> None:
    report = json.loads((RESULTS / f"{game.name}.statistics.json").read_text(encoding="utf-8"))
    assert report["game"] == game.id
    assert report["games"] >= 1000
    assert report["settings"][0]["label"] == label(game, game.resolve({}))
    for setting in report["settings"]:
        assert [entry["agent"] for entry in setting["agents"]] == agent_names(game)
        for entry in setting["agents"]:
            agents = [make_agent(entry["agent"], game) for _ in range(setting["players"])]
            played = play(game, agents, CHECKED_GAMES, seed=report["seed"], rotate=False, **setting["options"])
            assert entry["first_games"] == first_games(played.digests), f"{setting['label']}, {entry['agent']}: {AGAIN}"


def _ladders() -> list[Path]:
    return sorted(RESULTS.glob("*.ladder.json"))


@pytest.mark.parametrize("path", _ladders(), ids=lambda path: path.stem)
def test_published_ladders_are_of_the_games_that_are_played_now(path: Path) -> None:
    """Of the tables at which only scripted agents sit: search and networks take longer."""
    report = json.loads(path.read_text(encoding="utf-8"))
    game = next(game for game in iszoo.REGISTRY.values() if game.id == report["game"])
    quick = [table for table in report["tables"] if set(table["agents"]) <= set(agent_names(game))]
    assert quick
    for table in quick:
        agents = [make_agent(name, game) for name in table["agents"]]
        rotate = len(set(table["agents"])) > 1
        games = -(-CHECKED_GAMES // len(agents)) * len(agents)
        played = play(game, agents, games, seed=report["seed"], rotate=rotate, **report["options"])
        assert table["first_games"] == first_games(played.digests), f"{table['agents']}: {AGAIN}"
