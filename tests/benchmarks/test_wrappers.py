"""The measurements of the adapters measure what they say. How fast anything is, is not tested here."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo.benchmarks import adapters, wrappers
from iszoo.benchmarks.adapters import BATCH, DUMMY, FRAMEWORKS, NATIVE, PACKAGES, Chooser
from iszoo.benchmarks.plain_wrapper import PlainWrapper
from iszoo.envs import GameEnv
from iszoo.envs.game import Game
from iszoo.wrappers.gymnasium import SingleAgentEnv

GAMES = [pytest.param(game, id=game.name) for game in iszoo.REGISTRY.values()]


def measured(framework: str = "gymnasium") -> dict[str, Any]:
    return wrappers.measure(framework, iszoo.REGISTRY.values(), seconds=0.001, rounds=1, progress=lambda _: None)


def test_a_report_has_every_adapter_beside_the_engine() -> None:
    report = measured()
    json.dumps(report)
    assert set(report["games"]) == set(iszoo.REGISTRY)
    assert report["machine"]["gymnasium"]
    for entry in report["games"].values():
        rates = entry["rates"]
        assert len(rates) == 2 + 5
        for rate in rates.values():
            base = rates["engine, 1 game" if rate["games"] == 1 else f"engine, {BATCH} games"]
            assert rate["games"] in (1, BATCH)
            assert rate["per_second"] > 0
            assert rate["of_engine"] == rate["per_second"] / base["per_second"]


def test_a_run_replaces_its_own_framework_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wrappers.json"
    old = measured()
    file.write_text(json.dumps({"sb3": {"kept": 1}, "gymnasium": {"replaced": 1}}))
    monkeypatch.setattr(wrappers, "measure", lambda *_, **__: old)
    wrappers.main(["gymnasium", "--quick", "--out", str(file)])
    known = json.loads(file.read_text())
    assert list(known) == ["gymnasium", "sb3"]
    assert known["sb3"] == {"kept": 1}
    assert known["gymnasium"] == old
    assert wrappers.tables({"gymnasium": old})["rates"] in capsys.readouterr().out


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def lacking(_: Game) -> Any:
        raise ImportError("this adapter needs RLlib with torch: pip install 'iszoo[rllib]'")

    monkeypatch.setitem(FRAMEWORKS, "rllib", lacking)
    with pytest.raises(SystemExit, match=r"needs RLlib with torch: pip install 'iszoo\[rllib\]'"):
        wrappers.main(["rllib", "--out", str(tmp_path / "none.json")])
    assert not (tmp_path / "none.json").exists()
    with pytest.raises(SystemExit):
        wrappers.main(["keras"])


def test_tables_show_every_rate_and_say_what_belongs_to_what() -> None:
    report = measured()
    sb3 = json.loads(json.dumps(report))
    share = {"num_envs": 64, "share": 0.034, "low": 0.03, "high": 0.2}
    for entry in sb3["games"].values():
        for old, new in (("Gymnasium SingleAgentEnv", NATIVE), ("Gymnasium LearnerVectorEnv", DUMMY)):
            entry["rates"] = {new if name == old else name: rate for name, rate in entry["rates"].items()}
        entry.update(native_over_dummy=12.34, training=[share])
    sb3["machine"].update(dict.fromkeys(PACKAGES["sb3"], "9.9"))
    made = wrappers.tables({"gymnasium": report, "sb3": sb3})
    rows = made["rates"].splitlines()
    names = [row.split(" | ")[0].removeprefix("| ") for row in rows[2:]]
    assert names == [*report["games"]["iso"]["rates"], NATIVE, DUMMY]
    assert "| isaac | 12.3 | 3.4 % (3 % to 20 %) with 64 games |" in made["targets"]
    assert "stable-baselines3 9.9" in made["runs"]
    assert all(line.count("|") == rows[0].count("|") for line in rows)


def test_the_clock_stands_still_while_actions_are_chosen() -> None:
    class Slow:
        def __array__(self, *_: Any, **__: Any) -> Any:
            time.sleep(0.05)
            return np.eye(3, dtype=np.int8)

    chooser = Chooser()
    began, really = adapters.clock(), time.perf_counter()
    assert chooser.each(Slow()).tolist() == [0, 1, 2]
    assert chooser.one([False, True]) == 1
    assert time.perf_counter() - really >= 0.05
    assert adapters.clock() - began < 0.05


def test_choices_are_legal_and_even() -> None:
    mask = np.array([[1, 0, 1, 1], [0, 0, 0, 0]], np.int8)
    chooser = Chooser()
    both = np.array([chooser.each(mask) for _ in range(3000)])
    assert not both[:, 1].any()
    counts = np.bincount(both[:, 0], minlength=4)
    assert counts[1] == 0
    assert (abs(counts[[0, 2, 3]] - 1000) < 150).all()
    assert {chooser.one(mask[0].astype(np.bool_)) for _ in range(100)} == {0, 2, 3}


@pytest.mark.parametrize("game", GAMES)
def test_the_plain_wrapper_is_an_environment_of_the_same_games(game: Game) -> None:
    """Deals, seats that are all played, legal masks, and final rewards, as those of `SingleAgentEnv`."""
    env, ours = PlainWrapper(GameEnv(game, observation="flat")), SingleAgentEnv(game.name)
    assert env.observation_space == ours.observation_space["observation"]
    assert env.action_space == ours.action_space
    chooser, seats, outcomes = Chooser(), set(), set()
    for seed in range(40):
        observation, _ = env.reset(seed=seed)
        over, reward = False, 0.0
        while not over:
            assert env.env.agent_selection == env.learner
            assert np.array_equal(observation, env.env.observe(env.learner)["observation"])
            assert env.action_masks().tolist() == env.env.observe(env.learner)["action_mask"].astype(bool).tolist()
            assert reward == 0
            observation, reward, over, truncated, _ = env.step(chooser.one(env.action_masks()))
            assert not truncated
        assert reward == env.env.rewards[env.learner]
        seats.add(env.learner)
        outcomes.add(np.sign(reward))
    assert seats == set(env.env.possible_agents)
    assert outcomes >= {-1, 1}
