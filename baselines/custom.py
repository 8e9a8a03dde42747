"""The user's own agent, named `module:attribute`.

The module is an installed one, or a file (or package) of the current directory. The attribute is
- an agent: an object with `act(view)`, see `Agent`; its `name` is optional here;
- a class or function that makes one, called with the `Game` or with nothing: a class, a function without
  parameters, or one whose parameter is called `game`;
- any other function of one parameter: it is `act(view)` itself.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.baselines.agents import Agent, View
from iszoo.envs.game import Game

_MUST_HAVE = "an agent has a method act(view) that returns one legal action for each position: int64 (n,)"


class FunctionAgent:
    """A function `act(view)` with a name."""

    def __init__(self, name: str, act: Callable[[View], Any]) -> None:
        self.name = name
        self._act = act

    def act(self, view: View) -> npt.NDArray[np.int64]:
        """See `Agent.act`."""
        actions: npt.NDArray[np.int64] = np.asarray(self._act(view))
        return actions


def load_custom(spec: str, game: Game) -> Agent:
    """The agent that `module:attribute` names. Raises ValueError that says what was tried and what is missing."""
    module_name, _, attribute = spec.partition(":")
    if not attribute or not all(part.isidentifier() for part in (*module_name.split("."), *attribute.split("."))):
        raise ValueError(f"agent {spec!r}: write module:attribute, such as my_agents:Mine, or the name of an agent")
    found: Any = _module(spec, module_name)
    for part in attribute.split("."):
        if not hasattr(found, part):
            public = [name for name in vars(found) if not name.startswith("_")] if hasattr(found, "__dict__") else []
            raise ValueError(
                f"agent {spec!r}: {module_name} has no {attribute!r}; it has {', '.join(public) or 'none'}"
            )
        found = getattr(found, part)
    if not inspect.isclass(found):
        if hasattr(found, "act"):
            return _checked(spec, found, found.act)
        if not callable(found):
            raise ValueError(f"agent {spec!r} is {_kind(found)} without act(view); {_MUST_HAVE}")
        if not _makes_agents(found):
            return _checked(spec, FunctionAgent(spec, found), found)
    made = _made(spec, found, game)
    if not callable(getattr(made, "act", None)):
        raise ValueError(f"agent {spec!r} made {_kind(made)} without act(view); {_MUST_HAVE}")
    return _checked(spec, made, made.act)


def _module(spec: str, name: str) -> ModuleType:
    """Imports a module, if it isn't installed from the current directory, which then stays on sys.path."""
    try:
        return importlib.import_module(name)
    except Exception as error:
        if not _is_missing(error, name):
            raise _broken(spec, name, error) from error
    here = os.getcwd()
    if here not in sys.path:
        sys.path.append(here)  # last: no file here comes before an installed module
    importlib.invalidate_caches()
    try:
        return importlib.import_module(name)
    except Exception as error:
        if not _is_missing(error, name):
            raise _broken(spec, name, error) from error
        raise ValueError(
            f"agent {spec!r}: there is no module {name!r}, neither installed nor in {here}; and no agent of iszoo's"
            " own begins like that"
        ) from error


def _is_missing(error: Exception, name: str) -> bool:
    """Whether it is the module itself that wasn't found, and not one that it imports."""
    return isinstance(error, ModuleNotFoundError) and error.name is not None and f"{name}.".startswith(f"{error.name}.")


def _broken(spec: str, name: str, error: Exception) -> ValueError:
    return ValueError(f"agent {spec!r}: importing {name} failed with {type(error).__name__}: {error}")


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters that must be given by place, as far as they can be told."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):  # some functions written in C
        return []
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p for p in parameters if p.kind in by_place and p.default is inspect.Parameter.empty]


def _takes_game(function: Callable[..., Any]) -> bool:
    try:
        return "game" in inspect.signature(function).parameters
    except (ValueError, TypeError):
        return False


def _makes_agents(function: Callable[..., Any]) -> bool:
    return _takes_game(function) or not _parameters(function)


def _made(spec: str, factory: Callable[..., Any], game: Game) -> Any:
    """What a class or factory makes, given the game or nothing."""
    needed = _parameters(factory)
    if len(needed) > 1:
        names = ", ".join(parameter.name for parameter in needed)
        raise ValueError(f"agent {spec!r} can't be made: it is called with the game or with nothing, and needs {names}")
    try:
        return factory(game) if needed else factory(game=game) if _takes_game(factory) else factory()
    except Exception as error:
        raise ValueError(f"agent {spec!r}: making it failed with {type(error).__name__}: {error}") from error


def _checked(spec: str, agent: Any, act: Any) -> Agent:
    """The agent, once its `act` was found to take one view; with the text that named it if it has no name."""
    try:
        inspect.signature(act).bind(None)
    except TypeError:
        raise ValueError(f"agent {spec!r}: act{inspect.signature(act)} doesn't take one view; {_MUST_HAVE}") from None
    except ValueError:
        pass
    if not isinstance(getattr(agent, "name", None), str):
        return FunctionAgent(spec, act)
    found: Agent = agent
    return found


def _kind(value: Any) -> str:
    return f"an object of {type(value).__name__}"
