"""The games that a test runs for: all of the registry, whatever is in it.

A test that takes `game` or `plain` runs for every game, one that takes `setting` for every setting.
"""

from __future__ import annotations

from typing import Any

import hypothesis
import pytest

from iszoo.envs import threads
from iszoo.envs.game import Game
from tests.helpers import GAMES, SETTINGS, Setting, scaled


@pytest.fixture(scope="session", params=GAMES, ids=lambda game: game.name)
def game(request: pytest.FixtureRequest) -> Any:
    """A game of the registry."""
    found: Game = request.param
    return found


@pytest.fixture(scope="session")
def plain(game: Game) -> Setting:
    """A game with its default options, for tests of what the options have nothing to do with."""
    return Setting(game, {})


@pytest.fixture(scope="session", params=SETTINGS, ids=str)
def setting(request: pytest.FixtureRequest) -> Any:
    """A game with one combination of its options."""
    found: Setting = request.param
    return found


@pytest.fixture(autouse=True)
def _threads_for_few_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small batches are stepped on two threads too, where a test asks for two: the parallel loop is to be tested."""
    monkeypatch.setattr(threads, "GAMES_A_THREAD", 1)


hypothesis.settings.register_profile(
    "suite",
    deadline=None,  # the first call compiles
    derandomize=True,
    database=None,
    max_examples=scaled(30, least=8),
)
hypothesis.settings.load_profile("suite")
