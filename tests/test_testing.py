"""`iszoo.testing` passes our environments and finds the faults that it is made for."""

import importlib
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo.envs import GameEnv
from iszoo.testing import CHECKS, ConformanceError, check_env, findings

GAME = iszoo.REGISTRY["isis_osiris"]


@pytest.mark.parametrize("kind", ["env", "raw_env"])
@pytest.mark.parametrize("name", iszoo.REGISTRY)
def test_our_environments_pass(name: str, kind: str) -> None:
    check_env(getattr(importlib.import_module(f"iszoo.envs.{iszoo.REGISTRY[name].id}"), kind))


class ForgetsMask(GameEnv):
    def observe(self, agent: str) -> dict[str, Any]:
        seen = super().observe(agent)
        if self._player == -1:
            seen["action_mask"][:] = 1
        return seen


class ShowsMasksToAll(GameEnv):
    def observe(self, agent: str) -> dict[str, Any]:
        return {**super().observe(agent), "action_mask": self._legal[0].copy()}


class BooleanMasks(GameEnv):
    def observe(self, agent: str) -> dict[str, Any]:
        seen = super().observe(agent)
        return {**seen, "action_mask": seen["action_mask"].astype(np.bool_)}


class OneBuffer(GameEnv):
    def observe(self, agent: str) -> dict[str, Any]:
        seen = super().observe(agent)
        buffer = self.__dict__.setdefault("_buffer", seen["observation"].copy())
        buffer[...] = seen["observation"]
        return {**seen, "observation": buffer}


class LookingPlays(GameEnv):
    def observe(self, agent: str) -> dict[str, Any]:
        self._looks = getattr(self, "_looks", 0) + 1
        seen = super().observe(agent)
        seen["observation"][0, 0, 0] = self._looks % 2
        return seen


class IgnoresSeeds(GameEnv):
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed=None, options=options)


class GlobalGenerator(GameEnv):
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed=seed, options=options)
        random.random()


class CopiesRestart(GameEnv):
    def clone(self) -> GameEnv:
        twin = super().clone()
        if self._player is not None:
            twin.reset(seed=0)
        return twin


class OtherSeed(GameEnv):
    def __setstate__(self, kept: dict[str, Any]) -> None:
        super().__setstate__(kept)
        self.reset(seed=0)


class LosesRewards(GameEnv):
    def _end(self) -> None:
        super()._end()
        self._cumulative_rewards["player_1"] = 0.0


class LosesAnAgent(GameEnv):
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        second = self._player is not None
        super().reset(seed=seed, options=options)
        if second:
            self.agents = self.agents[:-1]


class NumpyFlags(GameEnv):
    def _begin(self) -> None:
        super()._begin()
        self.terminations = {agent: np.bool_(False) for agent in self.agents}


class OutOfBounds(GameEnv):
    def observe(self, agent: str) -> dict[str, Any]:
        seen = super().observe(agent)
        seen["observation"][0, 0, 0] = 100
        return seen


FAULTS: list[tuple[type[GameEnv], str]] = [
    (ForgetsMask, "masks when the game is over"),
    (ShowsMasksToAll, "masks of waiting agents"),
    (BooleanMasks, "masks"),
    (OneBuffer, "observations are fresh"),
    (LookingPlays, "observe is pure"),
    (IgnoresSeeds, "seeds"),
    (GlobalGenerator, "global generators"),
    (CopiesRestart, "deepcopy"),
    (OtherSeed, "pickle"),
    (LosesRewards, "rewards"),
    (LosesAnAgent, "reset"),
    (NumpyFlags, "bookkeeping"),
    (OutOfBounds, "spaces"),
]


@pytest.mark.parametrize(("kind", "check"), FAULTS, ids=lambda value: getattr(value, "__name__", value))
def test_a_planted_fault_is_found(kind: type[GameEnv], check: str) -> None:
    factory: Callable[[], GameEnv] = lambda: kind(GAME)  # noqa: E731
    assert check in dict(findings(factory))
    with pytest.raises(ConformanceError, match=f"(?m)^{check}: "):
        check_env(factory)


def test_every_check_has_a_fault_that_shows_it_can_fail() -> None:
    assert {check for _, check in FAULTS} == {check.name for check in CHECKS}


def test_pettingzoos_connect_four() -> None:
    from pettingzoo.classic.connect_four import connect_four

    found = dict(findings(connect_four.env))
    assert set(found) == {"masks when the game is over", "deepcopy", "pickle"}


def test_the_pytest_plugin_runs_a_test_for_each_check() -> None:
    def run(target: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "iszoo.pytest_plugin", "-p", "no:cacheprovider"]
        return subprocess.run(
            [*command, "--iszoo-env", target, "tests/test_testing.py", "-k", target.partition(":")[0]],
            capture_output=True,
            text=True,
        )

    good = run("iszoo.envs.isis_osiris_v0:env")
    assert f"{len(CHECKS)} passed" in good.stdout, good.stdout
    wrong = run("nonsense")
    assert wrong.returncode != 0
    assert "write MODULE:FACTORY" in wrong.stdout + wrong.stderr
