"""Agents by name: which there are, that the rest is imported only when it is asked for, and what errors say."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

import iszoo
from iszoo.baselines.agents import AGENT_FORMS, Agent, RandomAgent, ScriptedAgent, agent_names, make_agent
from iszoo.baselines.match import match
from iszoo.envs.game import Game
from iszoo.wrappers.learner import LearnerGames
from tests.helpers import run_python

GAME = iszoo.REGISTRY["isis_osiris"]


def test_every_name_of_a_game_makes_its_agent(game: Game) -> None:
    for name in agent_names(game):
        agent = make_agent(name, game)
        assert isinstance(agent, Agent)
        assert agent.name == name
        assert isinstance(agent, RandomAgent if name == "random" else ScriptedAgent)


@pytest.mark.parametrize(("prefix", "module", "function"), [
    ("mcts", "iszoo.baselines.search", "make"),
    ("policy", "iszoo.baselines.policy", "load_policy"),
])  # fmt: skip
def test_a_prefix_gets_the_text_after_it_and_the_game(
    prefix: str, module: str, function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = ModuleType(module)
    asked: list[Any] = []
    setattr(fake, function, lambda *given: (asked.append(given), RandomAgent())[1])
    monkeypatch.setitem(sys.modules, module, fake)
    assert isinstance(make_agent(f"{prefix}:C:/some where:400", GAME), RandomAgent)
    assert asked == [("C:/some where:400", GAME)]


def test_what_is_not_asked_for_is_not_imported() -> None:
    code = """
import sys, iszoo
from iszoo.baselines.agents import make_agent
make_agent("random", iszoo.REGISTRY["isis_osiris"])
rest = ("search", "policy", "custom", "models", "rating", "plots", "ladder")
print([name for name in sys.modules if name.rpartition(".")[2] in rest and name.startswith("iszoo")])
"""
    assert run_python(code) == "[]"


def test_an_unknown_name_is_answered_with_all_forms(game: Game) -> None:
    with pytest.raises(ValueError, match="has no agent 'stockfish'; its agents are random, greedy") as raised:
        make_agent("stockfish", game)
    assert all(form in str(raised.value) for form in AGENT_FORMS)


@pytest.mark.parametrize("name", ["sb3:model.zip", "rllib:checkpoint", "sb3:model.zip:sample"])
def test_no_pickle_is_loaded_without_trust(name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="there is no "):
        make_agent(name, GAME)
    (tmp_path / name.split(":")[1]).write_bytes(b"")
    with pytest.raises(ValueError, match=r"whatever code is in it.*--trust-pickle.*trust=True"):
        make_agent(name, GAME)


MODULE = """
from iszoo.baselines.agents import RandomAgent
class Mine(RandomAgent):
    name = "mine"
"""


def test_names_work_in_matches_and_as_opponents(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "agents_of_a_user.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    name = "agents_of_a_user:Mine"
    result = match(GAME, [make_agent(name, GAME), make_agent("random", GAME)], 4)
    assert result.agents == ("mine", "random")
    games = LearnerGames(GAME, 2, seed=0, seat=1, opponent=[name, "greedy"])
    assert games.action_mask.any(axis=1).all()
    env = __import__("gymnasium").make("iszoo/IsisOsiris-v0", opponent=name)
    observation, _ = env.reset(seed=0)
    assert observation["action_mask"].any()
