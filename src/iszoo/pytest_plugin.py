"""pytest: `pytest -p iszoo.pytest_plugin --iszoo-env MODULE:FACTORY` adds a test for each check of `iszoo.testing`.

Not loaded by itself, as an installed plugin would be: every pytest run of every project would import iszoo.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

import pytest

from iszoo.testing import CHECKS


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option."""
    parser.getgroup("iszoo").addoption(
        "--iszoo-env",
        action="append",
        default=[],
        metavar="MODULE:FACTORY",
        help="check the masked AEC environment that this makes; may be given several times",
    )


def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Adds the tests."""
    for target in config.getoption("--iszoo-env") or ():
        items.extend(_items(session, target))


def _items(session: pytest.Session, target: str) -> Iterable[pytest.Item]:
    module, colon, name = target.partition(":")
    if not colon:
        raise pytest.UsageError(f"--iszoo-env {target}: write MODULE:FACTORY, e.g. pettingzoo.classic.chess_v6:env")
    try:
        factory = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise pytest.UsageError(f"--iszoo-env {target}: {error}") from None
    for check in CHECKS:
        yield CheckItem.from_parent(session, name=f"{target}[{check.name}]", check=check, factory=factory)


class CheckItem(pytest.Item):
    """One check of one environment."""

    def __init__(self, *, check: Any, factory: Any, **rest: Any) -> None:
        super().__init__(**rest)
        self._check, self._factory = check, factory

    def runtest(self) -> None:
        """Runs the check."""
        self._check.run(self._factory)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        """What went wrong, without a traceback through the check."""
        return f"{self._check.about}\n{excinfo.typename}: {excinfo.value}"

    def reportinfo(self) -> tuple[str, int | None, str]:
        """Where it stands in the report."""
        return "iszoo-env", None, self.name
