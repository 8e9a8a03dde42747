"""The errors of the environments.

They are AssertionErrors too, because that is what PettingZoo's own wrappers raise in these cases: code that
catches those keeps working.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import gymnasium.error

_SHOWN = 12


class IllegalActionError(ValueError, AssertionError):
    """An action that is not one of the legal ones. The game is as it was before."""


class ResetNeeded(gymnasium.error.ResetNeeded, AssertionError):
    """A call that needs a running game, before the first reset() or after the end."""


def as_action(action: Any) -> int:
    """A whole number of any library as a Python int.

    Raises IllegalActionError for anything else: None, booleans, floats, arrays of one or more dimensions.
    """
    if action is None:
        raise IllegalActionError("the action is None, but the player to move is still in the game")
    if not isinstance(action, bool) and getattr(action, "shape", ()) == ():
        try:
            return operator.index(action)
        except TypeError:
            pass
    raise IllegalActionError(f"an action is a whole number, not {action!r} of type {type(action).__name__}")


def illegal_action(action: int, num_actions: int, legal: list[int], where: str) -> IllegalActionError:
    """The error for a whole number that isn't legal: what was wrong, and what is allowed."""
    if not 0 <= action < num_actions:
        problem = f"action {action} is out of range: actions are 0 to {num_actions - 1}"
    else:
        problem = f"action {action} is not legal here"
    if not legal:
        return IllegalActionError(f"{where}{problem}; the game is over")
    more = f", ... ({len(legal)} in all)" if len(legal) > _SHOWN else ""
    allowed = ", ".join(map(str, legal[:_SHOWN]))
    return IllegalActionError(f"{where}{problem}; legal actions: {allowed}{more}")


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """Raises ValueError that lists the choices, unless a value is one of them."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} is not allowed; choose one of {', '.join(map(repr, choices))}")
