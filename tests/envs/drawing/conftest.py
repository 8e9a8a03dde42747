"""The settings that pictures differ in."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers import SETTINGS, Setting

DRAWN = [s for s in SETTINGS if not s.options.get("mirror") and s.options.get("tiebreak") != "shared"]


@pytest.fixture(scope="session", params=DRAWN, ids=str)
def setting(request: pytest.FixtureRequest) -> Any:
    """A game with one combination of its options, but for those that change the rules alone."""
    found: Setting = request.param
    return found
