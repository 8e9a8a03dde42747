"""What the tests share: games and settings, deals, random play, and pictures of all that a game shows."""

from __future__ import annotations

import importlib
import itertools
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

import iszoo
from iszoo.envs.aec import GameEnv
from iszoo.envs.game import Game
from iszoo.envs.native import JIT
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


@dataclass(frozen=True)
class Setting:
    """A game with a choice of its own options."""

    game: Game
    options: dict[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
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

    def oracle(self, deal: Sequence[int]) -> Any:
        """The slow reference at the beginning of a deal."""
        return oracle_module(self.game).Oracle(deal, **self.options)

    def random_deal(self, rng: random.Random) -> list[int]:
        """All that can be dealt, in random order; empty for a game without chance."""
        deal: list[int] = oracle_module(self.game).random_deal(rng, **self.options)
        return deal

    def deal_in(self, row: npt.NDArray[np.int64]) -> list[int]:
        """The deal of a game that has just begun, from its state row."""
        hidden = self.game.hidden(row, self.game.resolve(self.options))
        deal: list[int] = oracle_module(self.game).deal_in(hidden, **self.options)
        return deal


def settings_of(game: Game) -> list[Setting]:
    """Every combination of the options of a game that it allows; those without choices stay at their default."""
    names = [name for name, option in game.options.items() if option.choices]
    found = []
    for values in itertools.product(*(game.options[name].choices for name in names)):
        options = dict(zip(names, values, strict=True))
        try:
            game.resolve(options)
        except ValueError:
            continue
        found.append(Setting(game, options))
    return found


SETTINGS = tuple(setting for game in GAMES for setting in settings_of(game))


# --- Playing ---


def random_action(env: GameEnv, rng: random.Random) -> int:
    """A legal action."""
    return rng.choice(env.legal_actions())


def plies(env: GameEnv, seed: int = 0) -> Iterator[int]:
    """Plays a started game to its end at random, yielding the number of each ply before it is played.

    The last ply that it yields is that of the finished game.
    """
    rng = random.Random(seed)
    ply = 0
    while env.legal_actions():
        yield ply
        env.step(random_action(env, rng))
        ply += 1
    yield ply


def play(env: GameEnv, seed: int = 0, most: int | None = None) -> GameEnv:
    """Plays a started game at random to its end, or for at most so many plies."""
    for ply in plies(env, seed):
        if ply == most:
            break
    return env


def clear(env: GameEnv) -> None:
    """Steps the agents of a finished game out of it."""
    while env.agents:
        env.step(None)


def first_legal(mask: npt.NDArray[np.int8], rng: np.random.Generator | None = None) -> npt.NDArray[np.int64]:
    """A legal action of each game of a batch: the first, or with a generator a random one."""
    keys = mask if rng is None else mask * rng.random(mask.shape)
    return keys.argmax(axis=1)


# --- Comparing ---


def frozen(value: Any) -> Any:
    """Anything that an environment hands out, as something that `==` compares and nobody can change."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return tuple((key, frozen(entry)) for key, entry in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(frozen(entry) for entry in value)
    return type(value), value


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
    """All arrays in nested dicts, tuples and lists."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [array for entry in value for array in arrays_in(entry)]
    return []


def flat_observation(observation: Any, game: Game) -> npt.NDArray[np.int8]:
    """An observation of any layout as a flat one: the board in C order, then the features."""
    if isinstance(observation, dict):
        return np.concatenate([observation["board"].ravel(), observation["features"]])
    if observation.ndim == 1:
        return observation
    return np.concatenate(
        [observation[: game.board_shape[0]].ravel(), observation[game.board_shape[0] :, 0, 0]]
    )


# --- Other processes ---


def run_python(code: str, *arguments: str, cwd: Path = ROOT, **environment: str) -> str:
    """Runs a program in a new interpreter, with all warnings as errors; what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


Check = Callable[[GameEnv], Any]
