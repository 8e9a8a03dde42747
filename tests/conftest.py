"""A test with an argument `game` runs for every game of the registry, one with `setting` for every setting."""

from __future__ import annotations

from typing import Any

import pytest

from iszoo.envs.game import Game
from tests.helpers import GAMES, SETTINGS, Setting


@pytest.fixture(scope="session", params=GAMES, ids=lambda game: game.name)
def game(request: pytest.FixtureRequest) -> Any:
    """A game of the registry."""
    found: Game = request.param
    return found


@pytest.fixture(scope="session", params=SETTINGS, ids=str)
def setting(request: pytest.FixtureRequest) -> Any:
    """A game with one combination of its options."""
    found: Setting = request.param
    return found
