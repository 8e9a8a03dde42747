"""What the training scripts share: a pool of past selves, evaluation against fixed agents, curves."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.baselines.agents import Agent, View, agent_names, make_agent
from iszoo.baselines.match import match
from iszoo.baselines.networks import Network, Weights
from iszoo.baselines.policy import Policy
from iszoo.benchmarks.files import write_text
from iszoo.envs.game import Game, Options
from iszoo.envs.primitives import NUM_PLAYERS

SELF, PAST = "self", "past"


class Clock:
    """Seconds spent, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def add(self, name: str, began: float) -> None:
        """Adds the time since `began` (perf_counter)."""
        self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - began


class Opponent:
    """An agent of the pool: named by a key that tells how to make it again, and timed."""

    def __init__(self, key: str, agent: Agent, clock: Clock, weights: Weights | None = None) -> None:
        self.name = key
        self.agent = agent
        self.weights = weights
        self._clock = clock

    def act(self, view: View) -> npt.NDArray[np.int64]:
        """See `Agent.act`."""
        began = perf_counter()
        actions = self.agent.act(view)
        self._clock.add("opponents", began)
        return actions


class Pool:
    """Whom a learner plays: scripted agents, itself as it is, and past selves.

    Args:
        game, options, architecture: of the networks.
        mix: how often each is drawn, as whole numbers: agents by name, "self", "past" (any of the past selves).
        size: the most past selves; then one of the older half goes, so that some of every age stay.
        clock: gets the seconds that opponents take.
    """

    def __init__(
        self,
        game: Game,
        options: Options,
        architecture: Mapping[str, Any],
        mix: Mapping[str, int],
        size: int,
        clock: Clock,
    ) -> None:
        self._game, self._options, self._architecture = game, options, architecture
        self._clock = clock
        self.size = size
        self.mix = {name: share for name, share in mix.items() if share}
        self.scripted = {
            name: Opponent(name, make_agent(name, game), clock) for name in self.mix if name not in (SELF, PAST)
        }
        self.anybody = Opponent("random", make_agent("random", game), clock)
        self.current: Opponent | None = None
        self.past: list[Opponent] = []
        self._count = 0

    def refresh(self, weights: Weights) -> None:
        """Lets "self" play by new weights, in the games that run too."""
        agent = self._policy(weights)
        if self.current is None:
            self.current = Opponent(SELF, agent, self._clock)
        self.current.agent = agent

    def remember(self, weights: Weights, rng: np.random.Generator) -> None:
        """Adds a past self."""
        self._count += 1
        self.past.append(self.past_self(f"{PAST}:{self._count}", weights))
        if len(self.past) > self.size:
            del self.past[int(rng.integers(len(self.past) // 2))]

    def past_self(self, key: str, weights: Weights) -> Opponent:
        """A past self of a key."""
        self._count = max(self._count, int(key.partition(":")[2]))
        return Opponent(key, self._policy(weights), self._clock, weights)

    def opponents(self) -> list[Opponent]:
        """The list that opponents are drawn from, each as often as the mix says."""
        drawn: list[Opponent] = []
        assert self.current is not None
        ages = len(self.past)
        for name, share in self.mix.items():
            if name == PAST and ages:
                drawn += self.past * share
            else:  # as many entries as the past selves have together; before there are any, itself stands for them
                drawn += [self.scripted.get(name, self.current)] * (share * max(ages, 1))
        return drawn

    def _policy(self, weights: Weights) -> Policy:
        return Policy(Network(self._game, self._options, self._architecture, weights), temperature=1.0)


@dataclass(frozen=True)
class Score:
    """How a policy does against one fixed agent on every other seat; alone, how it does by itself."""

    opponent: str
    games: int
    win_rate: float
    low: float
    high: float
    mean_score: float
    mean_return: float


def evaluate(
    game: Game, options: Options, agent: Agent, opponents: Sequence[str], games: int, seed: int
) -> list[Score]:
    """Plays `games` (rounded up to a multiple of the seats), seats rotated, against each of the opponents in turn."""
    players = int(game.params(options)[NUM_PLAYERS])
    games += -games % players
    scores = []
    for name in opponents if players > 1 else [""]:
        others = [make_agent(name, game) for _ in range(players - 1)]
        result = match(game, [agent, *others], games, seed=seed, **options)
        mine = result.standings[0]
        scores.append(
            Score(name, games, mine.win_rate, mine.low, mine.high, mine.mean_score, mine.mean_return)
        )  # fmt: skip
    return scores


def parse_mix(game: Game, given: Sequence[str]) -> dict[str, int]:
    """NAME=SHARE texts as `Pool` takes them. Raises ValueError that lists what is allowed."""
    allowed = [*agent_names(game), SELF, PAST]
    shares: dict[str, int] = {}
    for text in given:
        name, equals, share = text.partition("=")
        if not equals or not share.isdigit() or name not in allowed:
            raise ValueError(f"--mix {text}: write NAME=SHARE, the share a whole number, of {', '.join(allowed)}")
        shares[name] = int(share)
    if not any(shares.values()):
        raise ValueError("--mix: give at least one opponent a share")
    return shares


def summary(scores: Sequence[Score]) -> str:
    """An evaluation in a line."""
    return "  ".join(
        f"{one.opponent} {one.win_rate:.1%}" if one.opponent else f"score {one.mean_score:.2f}" for one in scores
    )


def strength(scores: Sequence[Score]) -> float:
    """What the best policy of a run is chosen by: the mean win rate; alone, the mean reward."""
    return sum(one.win_rate if one.opponent else one.mean_return for one in scores) / len(scores)


def write_curve(path: Path, curve: Sequence[Mapping[str, Any]]) -> None:
    """Writes a learning curve, a JSON object a line."""
    write_text(path, "".join(json.dumps(point) + "\n" for point in curve))


class ProgressBar:
    """Progress on stderr: a bar where that is a terminal, and lines; a context manager."""

    def __init__(self, what: str, total: int) -> None:
        import rich.console
        import rich.progress

        console = rich.console.Console(stderr=True)
        self._live = console.is_terminal
        columns = (*rich.progress.Progress.get_default_columns(), rich.progress.TextColumn("{task.fields[rate]}"))
        self._progress = rich.progress.Progress(*columns, console=console, disable=not self._live)
        self._task = self._progress.add_task(what, total=total, rate="")

    def __enter__(self) -> ProgressBar:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def move(self, done: int) -> None:
        """So much of the total is done."""
        speed = self._progress.tasks[0].speed or 0.0
        self._progress.update(self._task, completed=done, rate=f"{speed:,.0f}/s")

    def say(self, line: str) -> None:
        """A line that stays."""
        if self._live:
            self._progress.console.print(line, highlight=False)
        else:
            print(line, file=sys.stderr, flush=True)
