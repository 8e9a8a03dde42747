"""Pgx: `connect_four` in JAX, compiled by XLA for the CPU."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pgx
from pgx.experimental import auto_reset

from iszoo.benchmarks.peers.worker import Setting, Task, recorded

PACKAGES = ("pgx", "jax", "jaxlib", "numpy")
FIRST_STEP = """
import jax, pgx, warnings
warnings.simplefilter("ignore")
env = pgx.make("connect_four")
state = jax.jit(env.init)(jax.random.PRNGKey(0))
jax.block_until_ready(jax.jit(env.step)(state, 3))
"""

warnings.simplefilter("ignore")  # of what Pgx itself has deprecated
ENV = pgx.make("connect_four")
Step = Callable[[Any, Any], Any]


def tasks(setting: Setting) -> dict[str, Task]:
    """See `worker.py`."""
    found = {"one: jitted step": one_game(500)}
    for n in setting.sizes:
        games = recorded(n)
        actions = [jnp.asarray(a, jnp.int32) for a in games.actions]
        keys = jax.random.split(jax.random.PRNGKey(0), n)
        start = jax.jit(jax.vmap(ENV.init))(keys)
        step = lean_step(start)
        games.check(ends(step, start, actions))
        if n > 1:
            wrapped = jax.vmap(auto_reset(ENV.step, ENV.init), in_axes=(0, 0, 0))
            by_wrapper: Step = lambda state, action, wrapped=wrapped, keys=keys: wrapped(state, action, keys)  # type: ignore[misc] # noqa: E731
            found[f"given {n}: jitted step, auto_reset"] = call_a_step(by_wrapper, start, actions, games.moves)
            found[f"given {n}: jitted step, leanest"] = call_a_step(step, start, actions, games.moves)
        found[f"inside {n}: scan, actions given"] = in_one_call(step, start, actions, games.moves)
        found[f"inside {n}: scan, actions drawn"] = drawing(step, start, n)
        found[f"inside {n}: scan, no observation"] = in_one_call(
            lambda state, action, step=step, start=start: step(state, action).replace(observation=start.observation),  # type: ignore[misc]
            start,
            actions,
            games.moves,
        )
    return found


def lean_step(start: Any) -> Step:
    """A batch's step in which games that end begin anew: against Pgx's `auto_reset` it saves keys and two `cond`."""
    step = jax.vmap(ENV.step)

    def leanest(state: Any, action: Any) -> Any:
        after = step(state.replace(terminated=jnp.zeros_like(state.terminated)), action)
        over = after.terminated

        def where_over(new: Any, old: Any) -> Any:
            return jnp.where(over.reshape(-1, *[1] * (new.ndim - 1)), new, old)

        following = jax.tree_util.tree_map(where_over, start, after)
        return following.replace(terminated=over, rewards=after.rewards)

    return leanest


def ends(step: Step, start: Any, actions: Any) -> int:
    """How many games end in these steps."""
    compiled, state, count = jax.jit(step), start, 0
    for action in actions:
        state = compiled(state, action)
        count += int(state.terminated.sum())
    return count


def one_game(steps: int) -> Task:
    """One game, actions chosen from the mask."""
    init, step = jax.jit(ENV.init), jax.jit(ENV.step)
    choose = random.Random(0).random
    key = jax.random.PRNGKey(0)
    first = state = init(key)

    def work() -> int:
        nonlocal state
        for _ in range(steps):
            np.asarray(state.observation)
            legal = np.asarray(state.legal_action_mask).nonzero()[0]
            state = step(state, legal[int(choose() * len(legal))])
            if state.terminated:
                state = first
        return steps

    return Task(work)


def call_a_step(step: Step, start: Any, actions: Any, moves: int) -> Task:
    """A call a step, each state in the memory of the one before."""
    compiled = jax.jit(step, donate_argnums=0)

    def work() -> int:
        state = jax.tree_util.tree_map(jnp.copy, start)
        for action in actions:
            state = compiled(state, action)
        jax.block_until_ready(state)
        return moves

    return Task(work)


def in_one_call(step: Step, start: Any, actions: Any, moves: int) -> Task:
    """All steps in one call. The barrier keeps XLA from leaving out what a step doesn't need of the one before."""

    def body(state: Any, action: Any) -> tuple[Any, None]:
        return jax.lax.optimization_barrier(step(state, action)), None

    compiled = jax.jit(lambda state, all_actions: jax.lax.scan(body, state, all_actions)[0])
    stacked = jnp.stack(actions)
    times = max(1, 2_000 // len(stacked[0]))

    def work() -> int:
        for _ in range(times):
            jax.block_until_ready(compiled(start, stacked))
        return times * moves

    return Task(work)


def drawing(step: Step, start: Any, n: int, steps: int = 64) -> Task:
    """The same with random legal actions, by one number a game: faster than `jax.random.categorical`."""

    def body(state: Any, key: Any) -> tuple[Any, None]:
        counts = jnp.cumsum(state.legal_action_mask, axis=1, dtype=jnp.int32)
        wanted = (jax.random.uniform(key, (n, 1)) * counts[:, -1:]).astype(jnp.int32)
        action = (counts <= wanted).sum(axis=1, dtype=jnp.int32)
        return jax.lax.optimization_barrier(step(state, action)), None

    compiled = jax.jit(lambda state, key: jax.lax.scan(body, state, jax.random.split(key, steps))[0])
    times = max(1, 2_000 // n)
    key = jax.random.PRNGKey(1)

    def work() -> int:
        for _ in range(times):
            jax.block_until_ready(compiled(start, key))
        return times * steps * n

    return Task(work)
