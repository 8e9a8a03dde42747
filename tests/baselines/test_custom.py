"""The user's own agent as `module:attribute`: every form of it, where it is looked for, and what errors say."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import iszoo
from iszoo.baselines.agents import Agent, RandomAgent, make_agent
from iszoo.baselines.match import play

GAME = iszoo.REGISTRY["isis_osiris"]

AGENTS = """
import functools

class First:
    name = "first"
    def act(self, view):
        return view.action_mask.argmax(axis=1)

class OfGame(First):
    def __init__(self, game):
        self.name = "of " + game.name

class OfGameByName(First):
    def __init__(self, depth=2, *, game):
        self.name = "of " + game.name

class WithDefaults(First):
    def __init__(self, depth=3):
        self.name = f"depth {depth}"

class Nameless:
    def act(self, view):
        return view.action_mask.argmax(axis=1)

class Several:
    inner = First()

instance = First()
nameless = Nameless()

def act(view):
    return view.action_mask.argmax(axis=1)

def lists(view):
    return act(view).tolist()

def with_option(view, depth=1):
    return act(view)

partial = functools.partial(lambda depth, view: act(view), 3)

def make(game):
    return OfGame(game)

def make_without():
    return First()

text = "no agent"
class Empty: pass
class Needs:
    def __init__(self, game, depth): pass
class Fails:
    def __init__(self): raise KeyError("weights")
class TwoArguments:
    def act(self, view, mask): pass
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current directory, with a module of agents in it."""
    (tmp_path / "a_users_agents.py").write_text(AGENTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        del sys.modules[name]


FORMS = {
    "First": "first",
    "OfGame": "of isis_osiris",
    "OfGameByName": "of isis_osiris",
    "WithDefaults": "depth 3",
    "Nameless": "a_users_agents:Nameless",
    "Several.inner": "first",
    "instance": "first",
    "nameless": "a_users_agents:nameless",
    "act": "a_users_agents:act",
    "lists": "a_users_agents:lists",
    "with_option": "a_users_agents:with_option",
    "partial": "a_users_agents:partial",
    "make": "of isis_osiris",
    "make_without": "first",
}


@pytest.mark.parametrize("attribute", FORMS)
def test_every_form_plays_the_same_games(attribute: str, here: Path) -> None:
    agent = make_agent(f"a_users_agents:{attribute}", GAME)
    assert isinstance(agent, Agent)
    assert agent.name == FORMS[attribute]

    class First:
        name = "first"

        def act(self, view: Any) -> Any:
            return view.action_mask.argmax(axis=1)

    expected = play(GAME, [First(), RandomAgent()], 4)
    assert play(GAME, [agent, RandomAgent()], 4).digests == expected.digests


@pytest.mark.parametrize(("attribute", "message"), [
    ("text", r"is an object of str without act\(view\); an agent has a method act"),
    ("Empty", r"made an object of Empty without act\(view\); an agent has a method act"),
    ("Needs", "called with the game or with nothing, and needs game, depth"),
    ("Fails", "making it failed with KeyError: 'weights'"),
    ("TwoArguments", r"act\(view, mask\) doesn't take one view; an agent has a method act"),
    ("Nothing", "a_users_agents has no 'Nothing'; it has functools, First, "),
])  # fmt: skip
def test_what_is_wrong_is_said(attribute: str, message: str, here: Path) -> None:
    with pytest.raises(ValueError, match=message) as raised:
        make_agent(f"a_users_agents:{attribute}", GAME)
    assert f"agent 'a_users_agents:{attribute}'" in str(raised.value)


@pytest.mark.parametrize("name", ["agents/mine.py:Mine", ":Mine", "mine:", "my agents:Mine"])
def test_what_is_no_name_of_a_module(name: str) -> None:
    with pytest.raises(ValueError, match="write module:attribute"):
        make_agent(name, GAME)


def test_a_module_that_is_nowhere(here: Path) -> None:
    with pytest.raises(ValueError, match="no module 'nowhere', neither installed nor in") as raised:
        make_agent("nowhere:Mine", GAME)
    assert str(here) in str(raised.value)
    with pytest.raises(ValueError, match=r"no module 'json\.nowhere'"):
        make_agent("json.nowhere:Mine", GAME)


@pytest.mark.parametrize(("text", "message"), [
    ("import a_module_that_is_missing", "failed with ModuleNotFoundError: No module named 'a_module_that_is_missing'"),
    ("def act(view", "failed with SyntaxError"),
    ("1 / 0", "failed with ZeroDivisionError"),
])  # fmt: skip
def test_a_module_that_cant_be_imported_says_why(text: str, message: str, here: Path) -> None:
    (here / "broken_agents.py").write_text(text)
    with pytest.raises(ValueError, match=f"importing broken_agents {message}"):
        make_agent("broken_agents:act", GAME)


def test_an_installed_module_comes_before_a_file_of_the_same_name(here: Path) -> None:
    (here / "fractions.py").write_text("def act(view): return view.action_mask.argmax(axis=1)")
    with pytest.raises(ValueError, match="fractions has no 'act'"):
        make_agent("fractions:act", GAME)


def test_an_illegal_answer_names_the_agent(here: Path) -> None:
    (here / "bad_agents.py").write_text("import numpy as np\ndef act(view): return np.full(len(view.seeds), 99)")
    agent = make_agent("bad_agents:act", GAME)
    with pytest.raises(iszoo.IllegalActionError, match="bad_agents:act, random"):
        play(GAME, [agent, RandomAgent()], 2)
    (here / "odd_agents.py").write_text("def act(view): return None")
    with pytest.raises(iszoo.IllegalActionError, match=r"odd_agents:act answered object \(\) for 2 positions"):
        play(GAME, [make_agent("odd_agents:act", GAME), RandomAgent()], 4)
