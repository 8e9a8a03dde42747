"""The one list of games, and how environments are made from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from iszoo.envs.aec import GameEnv
from iszoo.envs.game import Game, check_params
from iszoo.envs.isaac import GAME as ISAAC
from iszoo.envs.isis_osiris import GAME as ISIS_OSIRIS
from iszoo.envs.iso import GAME as ISO
from iszoo.envs.observation import Observation, SplitObservation
from iszoo.envs.vec import VecEnv

_Joined = Literal["planes", "flat"]
_Text = Literal["ansi", "svg"]
_Rgb = npt.NDArray[np.uint8]

_games: dict[str, Game] = {game.name: game for game in (ISAAC, ISIS_OSIRIS, ISO)}

REGISTRY: Mapping[str, Game] = MappingProxyType(_games)
"""Name -> `Game`. `register` adds to it."""


def register(game: Game) -> None:
    """Adds a game from outside the package: `make`, `make_vec` and the command line know it from then on.

    Raises ValueError if another game has its name, or if its parameters don't begin as they must.
    """
    known = _games.get(game.name, game)
    if known is not game:
        raise ValueError(f"a game {game.name!r} is registered already")
    check_params(game, game.pack(game.resolve({})))
    _games[game.name] = game


def find(name: str) -> Game:
    """The game of a name. Raises ValueError that lists the games."""
    if not isinstance(name, str) or name not in _games:
        raise ValueError(f"there is no game {name!r}; the games are {', '.join(map(repr, _games))}")
    return _games[name]


# What `observe` and `render` give depends on two options.
@overload
def make(
    name: str, *, observation: _Joined = ..., render_mode: Literal["human"] | None = ..., **options: Any
) -> GameEnv[Observation, None]: ...
@overload
def make(name: str, *, observation: _Joined = ..., render_mode: _Text, **options: Any) -> GameEnv[Observation, str]: ...
@overload
def make(
    name: str, *, observation: _Joined = ..., render_mode: Literal["rgb_array"], **options: Any
) -> GameEnv[Observation, _Rgb]: ...
@overload
def make(
    name: str, *, observation: Literal["split"], render_mode: Literal["human"] | None = ..., **options: Any
) -> GameEnv[SplitObservation, None]: ...
@overload
def make(
    name: str, *, observation: Literal["split"], render_mode: _Text, **options: Any
) -> GameEnv[SplitObservation, str]: ...
@overload
def make(
    name: str, *, observation: Literal["split"], render_mode: Literal["rgb_array"], **options: Any
) -> GameEnv[SplitObservation, _Rgb]: ...
@overload
def make(name: str, **options: Any) -> GameEnv[Any, Any]: ...
def make(name: str, **options: Any) -> GameEnv[Any, Any]:
    """One game as a PettingZoo AEC environment. See `GameEnv` for the options and the errors."""
    return GameEnv(find(name), **options)


def make_vec(name: str, num_envs: int = 1, **options: Any) -> VecEnv:
    """Many games advanced by one call. See `VecEnv` for the options and the errors."""
    return VecEnv(find(name), num_envs, **options)


def env_makers(game: Game) -> tuple[Callable[..., GameEnv], Callable[..., GameEnv]]:
    """The two functions that a PettingZoo module has: env() with all checks, raw_env() without."""

    def env(**options: Any) -> GameEnv:
        return GameEnv(game, **options)

    def raw_env(**options: Any) -> GameEnv:
        return GameEnv(game, check=False, **options)

    env.__doc__ = f"{game.title} as a PettingZoo AEC environment. See `GameEnv` for options and errors."
    raw_env.__doc__ = f"{game.title} without the checks of order and legality that env() makes."
    return env, raw_env
