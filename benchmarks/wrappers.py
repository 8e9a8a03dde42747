"""Steps a second through every adapter that is installed here, beside the engine under them.

Run it in each framework's own environment (`make test-frameworks` makes them); results are kept by adapter in
benchmarks/results/wrappers.json, with the machine and the versions of the run that gave them.

A step is a decision of the learner (or, in the AEC form, of whoever moves); masks are asked for at each. Opponents
play at random in all of them.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from iszoo.benchmarks.files import write_json, write_text
from iszoo.benchmarks.throughput import aec_loop
from iszoo.benchmarks.timing import Task, interleaved, machine
from iszoo.envs import REGISTRY, GameEnv, VecEnv
from iszoo.envs.game import Game
from iszoo.wrappers.gymnasium import LearnerVectorEnv, SingleAgentEnv

RESULTS = Path(__file__).parent / "results"
_ENVS = 64
_STEPS = 100  # of each of the games side by side


class PlainWrapper(gymnasium.Env[Any, Any]):
    """What users write around a PettingZoo environment to train one seat of it: the yardstick for the adapters."""

    def __init__(self, game: Game) -> None:
        self.env = GameEnv(game, observation="flat")
        self.learner = self.env.possible_agents[0]
        space = self.env.observation_space(self.learner)["observation"]
        self.observation_space, self.action_space = space, self.env.action_space(self.learner)
        self._random = random.Random(0)
        self._mask = np.ones(game.num_actions, np.int8)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Deals, and lets the others play at random."""
        self.env.reset(seed=seed)
        return self._go_on()[0], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Plays, and lets the others play at random."""
        self.env.step(int(action))
        observation, reward, over = self._go_on()
        return observation, reward, over, False, {}

    def action_masks(self) -> Any:
        """The legal actions."""
        return self._mask == 1

    def _go_on(self) -> tuple[Any, float, bool]:
        reward = 0.0
        while True:
            over = any(self.env.terminations.values())
            agent = self.learner if over else self.env.agent_selection
            seen = self.env.observe(agent)
            reward += self.env.rewards[self.learner] if over else 0.0
            if agent == self.learner:
                self._mask = seen["action_mask"]
                return seen["observation"], reward, over
            legal = seen["action_mask"].nonzero()[0]
            self.env.step(int(legal[int(self._random.random() * len(legal))]))


def _nothing() -> None:
    return None


def first_legal(masks: Any) -> Any:
    """The same way of choosing for all: the first legal action."""
    return np.asarray(masks).argmax(axis=-1)


def tasks(game: Game) -> dict[str, tuple[Callable[[], Any], Task]]:
    """What can be measured with what is installed."""
    found: dict[str, tuple[Callable[[], Any], Task]] = {}
    vec = VecEnv(game, _ENVS, seed=0)

    def engine() -> int:
        for _ in range(_STEPS):
            vec.step(first_legal(vec.action_mask))
        return _ENVS * _STEPS

    found[f"engine, vec.step of {_ENVS}"] = (_nothing, engine)
    for layout in ("planes", "split", "flat"):
        env = GameEnv(game, observation=layout)
        found[f"AEC, {layout}"] = (_nothing, lambda env=env: aec_loop(env, 2_000))  # type: ignore[misc]
    single = SingleAgentEnv(game.name, seat=0)
    single.reset(seed=0)

    def alone() -> int:
        for _ in range(_STEPS * 5):
            if single.step(first_legal(single.action_masks()))[2]:
                single.reset()
        return _STEPS * 5

    found["Gymnasium Env"] = (_nothing, alone)
    many = LearnerVectorEnv(game.name, _ENVS, seat=0)
    many.reset(seed=0)

    def vector() -> int:
        for _ in range(_STEPS):
            many.step(first_legal(many.action_masks()))
        return _ENVS * _STEPS

    found[f"Gymnasium VectorEnv of {_ENVS}"] = (_nothing, vector)
    try:
        _sb3(game, found)
    except ImportError as error:
        print(f"left out: {error}", file=sys.stderr)
    return found


def _sb3(game: Game, found: dict[str, tuple[Callable[[], Any], Task]]) -> None:
    from stable_baselines3.common.vec_env import DummyVecEnv

    from iszoo.wrappers.sb3 import LearnerVecEnv

    native = LearnerVecEnv(game.name, _ENVS, seat=0, seed=0)
    dummy = DummyVecEnv([lambda: PlainWrapper(game)] * _ENVS)
    for envs in (native, dummy):
        envs.reset()

    def loop(envs: Any, steps: int) -> int:
        for _ in range(steps):
            envs.step(first_legal(np.stack(envs.env_method("action_masks"))))
        return _ENVS * steps

    found[f"SB3 LearnerVecEnv of {_ENVS}"] = (_nothing, lambda: loop(native, _STEPS))
    found[f"SB3 DummyVecEnv of {_ENVS} plain wrappers"] = (_nothing, lambda: loop(dummy, _STEPS // 10))


def training_share(game: Game, num_envs: int, steps: int = 16_384) -> dict[str, float]:
    """How much of MaskablePPO's training is env, masks and opponents; the rest is the network's."""
    import torch
    from sb3_contrib import MaskablePPO

    from iszoo.wrappers.sb3 import LearnerVecEnv

    torch.set_num_threads(1)
    spent = 0.0

    class Timed(LearnerVecEnv):
        def step_wait(self) -> Any:
            nonlocal spent
            began = time.perf_counter()
            result = super().step_wait()
            spent += time.perf_counter() - began
            return result

        def env_method(self, *args: Any, **kwargs: Any) -> Any:
            nonlocal spent
            began = time.perf_counter()
            result = super().env_method(*args, **kwargs)
            spent += time.perf_counter() - began
            return result

    envs = Timed(game.name, num_envs, seed=0, opponent=["random", "greedy"])
    model = MaskablePPO("MlpPolicy", envs, n_steps=max(16, 4096 // num_envs), batch_size=1024, n_epochs=4, seed=0)
    model.learn(4_096)  # warm-up
    spent = 0.0
    began = time.perf_counter()
    model.learn(steps)
    total = time.perf_counter() - began
    return {"num_envs": num_envs, "share": spent / total, "steps_per_second": model.num_timesteps / total}


def main() -> None:
    """Measures what is installed and merges it into the results."""
    path = RESULTS / "wrappers.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    about = machine()
    for game in REGISTRY.values():
        rates = interleaved(tasks(game), 5, lambda name: print(name, file=sys.stderr))
        entry = known.setdefault(game.name, {"rates": {}})
        for name, rate in rates.items():
            entry["rates"][name] = {**rate.to_json(), "machine": about}
        native, dummy = (rates.get(f"SB3 {kind}") for kind in _SB3_KINDS)
        if native is not None and dummy is not None:
            entry["native over DummyVecEnv"] = native.median / dummy.median
            entry["training"] = [training_share(game, n) for n in (64, 256)]
    write_json(path, known)
    write_text(RESULTS / "wrappers.md", table(known))
    print(table(known))


_SB3_KINDS = (f"LearnerVecEnv of {_ENVS}", f"DummyVecEnv of {_ENVS} plain wrappers")


def table(known: dict[str, Any]) -> str:
    """The results as Markdown."""
    names = list(dict.fromkeys(name for entry in known.values() for name in entry["rates"]))
    lines = ["| steps a second | " + " | ".join(known) + " |", "|---|" + "---:|" * len(known)]
    for name in names:
        cells = [
            f"{entry['rates'][name]['per_second']:,.0f}" if name in entry["rates"] else "" for entry in known.values()
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    lines.append("")
    for game, entry in known.items():
        if "training" in entry:
            shares = ", ".join(f"{t['share']:.1%} with {t['num_envs']} games" for t in entry["training"])
            lines.append(
                f"- {game}: the native VecEnv does {entry['native over DummyVecEnv']:.1f} times the steps of"
                f" DummyVecEnv; env, masks and opponents take {shares} of MaskablePPO's training."
            )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
