"""OpenSpiel: `connect_four` in C++, through its Python bindings and its rl_environment."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python import rl_environment
from open_spiel.python.observation import make_observation

from iszoo.benchmarks.peers.worker import Setting, Task, recorded

PACKAGES = ("open_spiel", "numpy")
FIRST_STEP = """
import numpy, pyspiel
state = pyspiel.load_game("connect_four").new_initial_state()
state.apply_action(3)
numpy.array(state.observation_tensor()), numpy.array(state.legal_actions_mask())
"""

GAME = pyspiel.load_game("connect_four")


def tasks(setting: Setting) -> dict[str, Task]:
    """See `worker.py`."""
    env, kept = rl_environment.Environment(GAME), GAME.new_initial_state()
    for k in range(10):
        kept.apply_action(k % 3)
    found = {
        "one: State, observation_tensor": Task(lambda: with_tensors(5_000)),
        "one: State, Observation": Task(lambda: with_observation(5_000)),
        "one: rl_environment": Task(lambda: with_environment(env, 2_000)),
        "clone: State.clone()": Task(lambda: sum(kept.clone() is not kept for _ in range(10_000))),
        "restore: State.clone()": Task(lambda: sum(kept.clone() is not kept for _ in range(10_000))),
        "search: MCTSBot": search(setting.simulations, solve=False),
        "search: MCTSBot, solve": search(setting.simulations, solve=True),
    }
    for n in setting.sizes:
        if 1 < n <= 1024:  # a loop over states: no faster with more of them
            found[f"given {n}: a loop over states"] = given(n)
    return found


def with_tensors(steps: int) -> int:
    """Observation and mask as lists of the state, made arrays."""
    choose = random.Random(0).random
    done = 0
    while done < steps:
        state = GAME.new_initial_state()
        while not state.is_terminal():
            np.array(state.observation_tensor(), np.float32)
            mask = np.array(state.legal_actions_mask(), np.int8)
            legal = mask.nonzero()[0]
            state.apply_action(legal[int(choose() * len(legal))])
            done += 1
    return done


def with_observation(steps: int) -> int:
    """The observation written into one array by C++, as OpenSpiel's Python code does where it is to be fast."""
    choose = random.Random(0).random
    observation: Any = make_observation(GAME)
    done = 0
    while done < steps:
        state = GAME.new_initial_state()
        while not state.is_terminal():
            observation.set_from(state, state.current_player())
            mask = np.array(state.legal_actions_mask(), np.int8)
            legal = mask.nonzero()[0]
            state.apply_action(legal[int(choose() * len(legal))])
            done += 1
    return done


def with_environment(env: Any, steps: int) -> int:
    """The time steps of `rl_environment`."""
    choose = random.Random(0).random
    done = 0
    while done < steps:
        step = env.reset()
        while not step.last():
            seat = step.current_player()
            np.array(step.observations["info_state"][seat], np.float32)
            legal = step.observations["legal_actions"][seat]
            mask = np.zeros(7, np.int8)
            mask[legal] = 1
            step = env.step([legal[int(choose() * len(legal))]])
            done += 1
    return done


def given(n: int) -> Task:
    """A batch as a loop over states that writes the rows of two arrays."""
    games = recorded(n)
    states = [GAME.new_initial_state() for _ in range(n)]
    observation: Any = make_observation(GAME)
    seen, masks = np.zeros((n, len(observation.tensor)), np.float32), np.zeros((n, 7), np.int8)
    ends = 0

    def begin() -> None:
        states[:] = [GAME.new_initial_state() for _ in range(n)]

    def work() -> int:
        nonlocal ends
        for actions in games.actions:
            for i, action in enumerate(actions.tolist()):
                state = states[i]
                state.apply_action(action)
                if state.is_terminal():
                    state = states[i] = GAME.new_initial_state()
                    ends += 1
                observation.set_from(state, state.current_player())
                seen[i] = observation.tensor
                masks[i] = state.legal_actions_mask()
        return games.moves

    work()
    games.check(ends)
    return Task(work, begin)


def search(simulations: int, solve: bool) -> Task:
    """A search from the empty board, by the bot that OpenSpiel has in C++."""
    evaluator = pyspiel.RandomRolloutEvaluator(1, 0)
    bot = pyspiel.MCTSBot(GAME, evaluator, 2.0, simulations, 1_000, solve, 0, False)
    state = GAME.new_initial_state()

    def work() -> int:
        bot.restart_at(state)
        bot.step(state)
        return simulations

    return Task(work)
