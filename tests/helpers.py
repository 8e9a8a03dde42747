"""What the tests share: games and settings, deals, random play, and pictures of all that a game shows."""

from __future__ import annotations

import importlib
import itertools
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import iszoo
from iszoo.envs.aec import GameEnv
from iszoo.envs.game import Game
from iszoo.envs.native import JIT
from iszoo.envs.spaces import state_vector
from iszoo.envs.vec import VecEnv

ROOT = Path(__file__).parents[1]
GAMES = tuple(iszoo.REGISTRY.values())

# How many random games of each game the differential test plays, over all its settings.
NUM_GAMES = int(os.environ.get("ISZOO_GAMES", 2000 if JIT else 60))


def scaled(count: int, least: int = 2) -> int:
    """A number of repetitions: itself with compiled kernels, a fortieth with interpreted ones."""
    return count if JIT else max(least, count // 40)


def oracle_module(game: Game) -> ModuleType:
    """The slow reference of a game: a class `Oracle`, `random_deal` and `deal_in`."""
    return importlib.import_module(f"tests.oracle.{game.name}")


class Setting:
    """A game with a choice of its own options."""

    def __init__(self, game: Game, options: dict[str, Any]) -> None:
        """Keeps both; nothing is checked."""
        self.game = game
        self.options = options

    def __repr__(self) -> str:
        values = (v if isinstance(v, str) else f"{name}_{v}" for name, v in self.options.items())
        return "-".join([self.game.name, *values])

    def env(self, **options: Any) -> GameEnv:
        """One game that has not begun."""
        return iszoo.make(self.game.name, **self.options, **options)

    def started(self, seed: int = 0, **options: Any) -> GameEnv:
        """One game at its beginning."""
        env = self.env(**options)
        env.reset(seed=seed)
        return env

    def vec(self, num_envs: int, **options: Any) -> VecEnv:
        """A batch of games."""
        return iszoo.make_vec(self.game.name, num_envs, **self.options, **options)

    def batch_at(self, rows: npt.NDArray[np.int64]) -> VecEnv:
        """A batch in given positions, in which games that are over stay so."""
        vec = self.vec(len(rows), autoreset="disabled")
        vec.rows[:] = rows
        vec.refresh()
        return vec

    def oracle(self, deal: Sequence[int]) -> Any:
        """The slow reference at the beginning of a deal."""
        return oracle_module(self.game).Oracle(deal, **self.options)

    def random_deal(self, rng: random.Random) -> list[int]:
        """All that can be dealt, in random order; empty for a game without chance."""
        deal: list[int] = oracle_module(self.game).random_deal(rng, **self.options)
        return deal

    @cached_property
    def params(self) -> Any:
        """The parameters of the kernels."""
        return self.game.params(self.options)

    def deal_in(self, row: npt.NDArray[np.int64]) -> list[int]:
        """The deal of a game that has just begun, from its state row."""
        game = self.game
        state = state_vector(game, game.resolve(self.options), game.table, row[None], self.params)
        deal: list[int] = oracle_module(game).deal_in(state, **self.options)
        return deal


def settings_of(game: Game) -> list[Setting]:
    """Every combination of options that a game allows; those without choices stay at their default."""
    names = [name for name, option in game.options.items() if option.choices]
    found = []
    for values in itertools.product(*(game.options[name].choices for name in names)):
        try:
            settled = game.resolve(dict(zip(names, values, strict=True)))
        except ValueError:
            continue
        options = {name: settled[name] for name in names}
        if options not in found:
            found.append(options)
    return [Setting(game, options) for options in found]


def covering(settings: list[Setting]) -> list[Setting]:
    """As few of the settings as show each value of each option."""
    missing = {pair for setting in settings for pair in setting.options.items()}
    chosen = []
    while missing:
        best = max(settings, key=lambda setting: len(missing & set(setting.options.items())))
        chosen.append(best)
        missing -= set(best.options.items())
    return chosen or settings[:1]


def settings_to_test(game: Game) -> list[Setting]:
    """All settings of a game; with interpreted kernels, which are slow, only so many as show every option."""
    return settings_of(game) if JIT else covering(settings_of(game))


SETTINGS = tuple(setting for game in GAMES for setting in settings_to_test(game))


# --- Playing ---


def plies(env: GameEnv, *followers: GameEnv, seed: int = 0) -> Iterator[int]:
    """Plays a started game to its end at random, and the same actions in other environments.

    Yields the number of each ply before it is played, and last the number of plies, at the end of the game.
    """
    rng = random.Random(seed)
    ply = 0
    while legal := env.legal_actions():
        yield ply
        action = rng.choice(legal)
        for each in (env, *followers):
            each.step(action)
        ply += 1
    yield ply


def play(env: GameEnv, seed: int = 0, most: int | None = None) -> GameEnv:
    """Plays a started game at random to its end, or for at most so many plies."""
    for ply in plies(env, seed=seed):
        if ply == most:
            break
    return env


def random_actions(vec: VecEnv, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """A random legal action for each running game of a batch; anything for the others."""
    actions: npt.NDArray[np.int64] = (vec.action_mask * rng.uniform(0.1, 1, vec.action_mask.shape)).argmax(axis=1)
    return actions


def leaning_actions(vec: VecEnv, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """The same, but a third of the games leans towards its first legal action, another towards its last.

    So games come to what uniformly random ones hardly ever show, such as a stock played to its end.
    """
    size = vec.action_mask.shape[1]
    actions = random_actions(vec, rng)
    lean = rng.random(vec.num_envs) < 0.8
    first, last = vec.action_mask.argmax(axis=1), size - 1 - vec.action_mask[:, ::-1].argmax(axis=1)
    third = np.arange(vec.num_envs) % 3
    return np.select([lean & (third == 0), lean & (third == 1)], [first, last], actions)


def too_great(chi_square: float, freedom: int) -> bool:
    """Whether a chi-square is so great that chance gives a greater one less than once in ten million times.

    P(X > f + 2 sqrt(f t) + 2 t) < exp(-t) for f degrees of freedom (Laurent and Massart 2000), here with t = 16.
    """
    return bool(chi_square > freedom + 8 * freedom**0.5 + 32)


# --- Comparing ---


def frozen(value: Any) -> Any:
    """Anything that an environment hands out, as something that `==` compares, types included.

    Arrays may be in dicts and tuples, not in lists.
    """
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return tuple((key, frozen(entry)) for key, entry in value.items())
    if isinstance(value, tuple):
        return tuple(frozen(entry) for entry in value)
    return repr(value)


@contextmanager
def refused(target: GameEnv | VecEnv, error: type[Exception], match: str | None = None) -> Iterator[None]:
    """Whatever is called in this context must raise, and leave an environment or a batch as it was."""

    def look() -> Any:
        return picture(target) if isinstance(target, GameEnv) else batch_picture(target)

    before = look()
    with pytest.raises(error, match=match):
        yield
    assert look() == before


def picture(env: GameEnv) -> Any:
    """Everything that a started environment shows to the outside."""
    shown = {
        "agents": env.agents,
        "agent_selection": env.agent_selection,
        "rewards": env.rewards,
        "cumulative rewards": env._cumulative_rewards,
        "terminations": env.terminations,
        "truncations": env.truncations,
        "infos": env.infos,
        "legal actions": env.legal_actions(),
        "scores": env.scores(),
        "position": env.get_state(),
        "state": env.state(),
        "observations": {agent: env.observe(agent) for agent in env.possible_agents},
    }
    return frozen(shown)


BUFFERS = ("obs", "action_mask", "player", "rewards", "done", "final_obs", "final_rows", "rows", "scores")


def batch_picture(vec: VecEnv) -> Any:
    """Every buffer of a batch."""
    return frozen({name: getattr(vec, name) for name in BUFFERS})


def arrays_in(value: Any) -> list[npt.NDArray[Any]]:
    """All arrays in nested dicts and tuples."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, tuple):
        return [array for entry in value for array in arrays_in(entry)]
    return []


# --- Other processes ---


def run_python(
    code: str, *arguments: str, cwd: Path = ROOT, python: str | Path = sys.executable, **environment: Any
) -> str:
    """Runs a program in a new interpreter, with all warnings as errors; what it prints.

    environment: variables that differ from those of this process.
    """
    done = subprocess.run(
        [python, "-W", "error", "-c", code, *arguments],
        cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
