"""Conformance checks for any masked AEC environment, stricter than PettingZoo's own.

    from iszoo.testing import check_env
    check_env(my_env_v0.env)

or, one test for each check, in pytest: `pytest -p iszoo.pytest_plugin --iszoo-env my_package.my_env_v0:env`.
"""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Factory = Callable[[], Any]
"""Makes a new environment, the same one every time."""

_GAMES = 3
_MAX_STEPS = 1_000


class ConformanceError(AssertionError):
    """What an environment does wrong, a line a check."""


@dataclass(frozen=True)
class Check:
    """One thing that an environment must get right."""

    name: str
    run: Callable[[Factory], None]

    @property
    def about(self) -> str:
        """What is checked, in a sentence."""
        return (self.run.__doc__ or "").strip().splitlines()[0]


def check_env(factory: Factory) -> None:
    """Runs every check on environments that `factory()` makes.

    Raises ConformanceError that lists each check that failed, and how.
    """
    failed = [f"{name}: {message}" for name, message in findings(factory)]
    if failed:
        raise ConformanceError("\n".join([f"{len(failed)} of {len(CHECKS)} checks failed", *failed]))


def findings(factory: Factory) -> Iterator[tuple[str, str]]:
    """The checks that fail, as (name, message)."""
    for check in CHECKS:
        try:
            check.run(factory)
        except Exception as error:
            yield check.name, f"{type(error).__name__}: {error}".strip()


# --- Playing ---


def _mask(env: Any, agent: str, observation: Any) -> Any:
    if isinstance(observation, dict) and "action_mask" in observation:
        return observation["action_mask"]
    mask = env.infos.get(agent, {}).get("action_mask")
    assert mask is not None, f"no action mask for {agent}, neither in its observation nor in its info"
    return mask


def _choose(env: Any, rng: random.Random) -> Any:
    """A random legal action of the agent to move, None for one whose game is over."""
    agent = env.agent_selection
    if env.terminations[agent] or env.truncations[agent]:
        return None
    legal = np.flatnonzero(np.asarray(_mask(env, agent, env.observe(agent))))
    assert len(legal), f"{agent} is to move and has no legal action"
    return int(rng.choice(legal.tolist()))


def _plies(factory: Factory, games: int = _GAMES) -> Iterator[tuple[Any, Any]]:
    """Plays random games; yields the environment and the action that is about to be played."""
    for seed in range(games):
        env = factory()
        env.reset(seed=seed)
        rng = random.Random(seed)
        for _ in range(_MAX_STEPS):
            if not env.agents:
                break
            action = _choose(env, rng)
            yield env, action
            env.step(action)


def _same(one: Any, two: Any) -> bool:
    if isinstance(one, dict) or isinstance(two, dict):
        return (
            isinstance(one, dict)
            and isinstance(two, dict)
            and one.keys() == two.keys()
            and all(_same(one[key], two[key]) for key in one)
        )
    return bool(np.array_equal(np.asarray(one), np.asarray(two)))


def _arrays(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for part in value.values():
            yield from _arrays(part)
    elif isinstance(value, np.ndarray):
        yield value


def _shown(env: Any) -> dict[str, Any]:
    """All that can be seen of an environment from outside, copied."""
    return copy.deepcopy(
        {
            "agents": list(env.agents),
            "agent_selection": env.agent_selection if env.agents else None,
            "rewards": dict(env.rewards),
            "terminations": dict(env.terminations),
            "truncations": dict(env.truncations),
            "observations": {agent: env.observe(agent) for agent in env.agents},
        }
    )


def _assert_shown_alike(one: Any, two: Any, when: str) -> None:
    first, second = _shown(one), _shown(two)
    for name in first:
        if name == "observations":
            for agent in first[name]:
                assert _same(first[name][agent], second[name].get(agent)), f"{when}: {agent} observes something else"
        else:
            assert first[name] == second[name], f"{when}: {name} is {second[name]}, not {first[name]}"


# --- The checks ---


def _spaces(factory: Factory) -> None:
    """Every observation of every agent at every ply lies in its space, which is the same object at every call."""
    for env, _ in _plies(factory):
        for agent in env.agents:
            space = env.observation_space(agent)
            assert space is env.observation_space(agent), f"observation_space({agent!r}) is a new object at each call"
            assert env.action_space(agent) is env.action_space(agent), f"action_space({agent!r}) is a new object"
            assert space.contains(env.observe(agent)), f"{agent}'s observation is not in its space"


def _masks(factory: Factory) -> None:
    """Masks are int8 arrays of zeros and ones, as long as the action space, which `sample` accepts."""
    for env, action in _plies(factory):
        agent = env.agent_selection
        mask = _mask(env, agent, env.observe(agent))
        assert isinstance(mask, np.ndarray), f"a mask is a {type(mask).__name__}, not an array"
        assert mask.dtype == np.int8, f"a mask is {mask.dtype}, not int8, which Discrete.sample needs"
        assert mask.shape == (env.action_space(agent).n,), f"a mask has shape {mask.shape}"
        assert set(np.unique(mask).tolist()) <= {0, 1}, "a mask has other values than 0 and 1"
        if action is not None:
            assert mask[env.action_space(agent).sample(mask)] == 1


def _over(factory: Factory) -> None:
    """When the game is over nobody has a legal action."""
    for env, action in _plies(factory):
        if action is None:
            for agent in env.agents:
                if env.terminations[agent] or env.truncations[agent]:
                    mask = np.asarray(_mask(env, agent, env.observe(agent)))
                    assert not mask.any(), f"{agent}'s game is over, and its mask has {int(mask.sum())} actions"


def _waiting(factory: Factory) -> None:
    """An agent that does not move has no legal action."""
    for env, action in _plies(factory):
        for agent in env.agents:
            if action is not None and agent != env.agent_selection:
                mask = np.asarray(_mask(env, agent, env.observe(agent)))
                assert not mask.any(), f"{agent} waits, and its mask has {int(mask.sum())} actions"


def _pure(factory: Factory) -> None:
    """To observe, any agent at any time, changes nothing: neither the next observations nor the game."""
    quiet, curious = factory(), factory()
    for env in (quiet, curious):
        env.reset(seed=1)
    rng = random.Random(1)
    for _ in range(_MAX_STEPS):
        if not quiet.agents:
            break
        for agent in [*curious.agents, *reversed(curious.agents)]:
            assert _same(curious.observe(agent), curious.observe(agent)), f"{agent} observes two things in a row"
            curious.last()
        _assert_shown_alike(quiet, curious, "after more looks")
        action = _choose(quiet, rng)
        quiet.step(action)
        curious.step(action)


def _fresh(factory: Factory) -> None:
    """What was observed stays true when the game goes on, and may be changed without harm."""
    kept: list[tuple[Any, Any]] = []
    for env, _ in _plies(factory, 1):
        for agent in env.agents:
            seen = env.observe(agent)
            kept.append((seen, copy.deepcopy(seen)))
    for seen, then in kept:
        assert _same(seen, then), "an observation changed after it was given"
    for env, _ in _plies(factory, 1):
        for agent in env.agents:
            before = copy.deepcopy(env.observe(agent))
            for array in _arrays(env.observe(agent)):
                if array.flags.writeable:
                    array[...] = 1 - array.astype(np.int64) if array.dtype != np.bool_ else ~array
            assert _same(env.observe(agent), before), f"{agent}'s observation is part of the environment itself"


def _seeds(factory: Factory) -> None:
    """The same seed gives the same game, to its end, and in a second episode too."""
    one, two = factory(), factory()
    rng = random.Random(5)
    for env in (one, two):
        env.reset(seed=99)
    for episode in range(2):
        for _ in range(_MAX_STEPS):
            _assert_shown_alike(one, two, f"episode {episode + 1}")
            if not one.agents:
                break
            action = _choose(one, rng)
            one.step(action)
            two.step(action)
        for env in (one, two):
            env.reset(seed=99)


def _global(factory: Factory) -> None:
    """The global generators of random and numpy are not touched."""
    before, numpy_before = random.getstate(), np.random.get_state()  # noqa: NPY002 - it is about that one
    for _ in _plies(factory, 1):
        pass
    assert random.getstate() == before, "the generator of `random` was used"
    assert _same(dict(enumerate(np.random.get_state())), dict(enumerate(numpy_before))), (  # noqa: NPY002
        "NumPy's global generator was used"
    )


def _copies_by(make: Callable[[Any], Any]) -> Callable[[Factory], None]:
    def run(factory: Factory) -> None:
        rng = random.Random(2)
        for ply, (env, action) in enumerate(_plies(factory, 1)):
            twin = make(env)
            _assert_shown_alike(env, twin, f"copied at ply {ply}")
            shown = _shown(env)
            twin.step(action)
            if twin.agents:
                twin.step(_choose(twin, rng))
            assert _same(shown["observations"], _shown(env)["observations"]), (
                f"at ply {ply} playing the copy moved the original"
            )
            if action is not None:
                again = make(env)
                again.step(action)
                third = make(env)
                third.step(action)
                _assert_shown_alike(again, third, f"two copies of ply {ply} after the same action")

    return run


def _deepcopies(factory: Factory) -> None:
    """A deepcopy in mid-game is the same position, and independent of the original."""
    _copies_by(copy.deepcopy)(factory)


def _pickles(factory: Factory) -> None:
    """A pickled and loaded environment is the same position, and independent of the original."""
    _copies_by(lambda env: pickle.loads(pickle.dumps(env)))(factory)


def _rewards(factory: Factory) -> None:
    """`last()` gives all rewards since the agent's last action, also to agents that don't act last."""
    for seed in range(_GAMES):
        env = factory()
        env.reset(seed=seed)
        rng = random.Random(seed)
        owed = dict.fromkeys(env.possible_agents, 0.0)
        for _ in range(_MAX_STEPS):
            if not env.agents:
                break
            agent = env.agent_selection
            given = env.last()[1]
            assert given == owed[agent], f"{agent} is given {given}, not {owed[agent]}"
            owed[agent] = 0.0
            env.step(_choose(env, rng))
            for other, reward in env.rewards.items():
                owed[other] += reward


def _bookkeeping(factory: Factory) -> None:
    """rewards, terminations, truncations and infos have the agents that are left as keys; flags are bools."""
    for env, _ in _plies(factory):
        for name in ("rewards", "terminations", "truncations", "infos"):
            keys = set(getattr(env, name))
            assert keys == set(env.agents), f"{name} has the keys {sorted(keys)}, not {sorted(env.agents)}"
        for agent in env.agents:
            assert type(env.terminations[agent]) is bool, "a termination is no Python bool"
            assert type(env.truncations[agent]) is bool, "a truncation is no Python bool"


def _again(factory: Factory) -> None:
    """After a game, and in the middle of one, reset() starts a whole new one."""
    env = factory()
    first = None
    for stop in (_MAX_STEPS, 3, _MAX_STEPS):
        env.reset(seed=3)
        shown = _shown(env)
        assert shown["agents"] == list(env.possible_agents), "reset() does not bring every agent back"
        assert not any(shown["rewards"].values()), "there are rewards after reset()"
        assert not any(shown["terminations"].values()), "an agent is terminated after reset()"
        if first is None:
            first = shown
        assert _same(shown["observations"], first["observations"]), "the same seed starts another game later on"
        rng = random.Random(3)
        for _ in range(stop):
            if not env.agents:
                break
            env.step(_choose(env, rng))


CHECKS: tuple[Check, ...] = (
    Check("spaces", _spaces),
    Check("masks", _masks),
    Check("masks when the game is over", _over),
    Check("masks of waiting agents", _waiting),
    Check("observe is pure", _pure),
    Check("observations are fresh", _fresh),
    Check("seeds", _seeds),
    Check("global generators", _global),
    Check("deepcopy", _deepcopies),
    Check("pickle", _pickles),
    Check("rewards", _rewards),
    Check("bookkeeping", _bookkeeping),
    Check("reset", _again),
)
"""What `check_env` checks, in order."""
