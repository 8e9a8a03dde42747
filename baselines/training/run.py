"""What the training scripts share: a pool of past selves, evaluation against fixed agents, curves."""

from __future__ import annotations

import json
import os
import platform
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from iszoo.baselines.agents import Agent, View, agent_names, make_agent
from iszoo.baselines.match import match
from iszoo.baselines.networks import Network, Weights
from iszoo.baselines.policy import Card, Policy, save_policy
from iszoo.envs.game import Game, Options
from iszoo.envs.primitives import NUM_PLAYERS
from iszoo.reports import write_text

if TYPE_CHECKING:
    from iszoo.baselines.training.imitation import Imitation  # needs torch

SELF, PAST = "self", "past"
EVALUATION_SEED = 1_000_000_007  # on the way; the deals of the end are others
FINAL_SEED = 1_500_000_001


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


class Record:
    """What a run leaves in its folder: the curve, the policy as it is, and as it was when it did best.

    Args:
        game, options, architecture: of the policy.
        out: the folder.
        about: facts for the cards (see `Card`): command, seed, training.
        clock: gets the seconds that evaluation takes.
        agent: what plays by a network in an evaluation; by default the policy alone.
        opponents: whom it plays; by default the game's own agents.
    """

    def __init__(
        self,
        game: Game,
        options: Options,
        architecture: Mapping[str, Any],
        out: Path,
        about: Mapping[str, Any],
        clock: Clock,
        agent: Callable[[Network], Agent] = Policy,
        opponents: Sequence[str] = (),
    ) -> None:
        self._game, self._options, self._architecture = game, options, architecture
        self._out, self._about, self._clock = out, about, clock
        self._agent, self._opponents = agent, list(opponents) or agent_names(game)
        self.curve: list[dict[str, Any]] = []
        self.best = -1.0

    def add(self, weights: Weights, steps: int, spent: Mapping[str, float], games: int) -> list[Score]:
        """Evaluates, adds a point to the curve, writes the policy, and the best one if this is it."""
        scores = self._scores(weights, games, EVALUATION_SEED)
        self._add_point(steps, spent, scores)
        if strength(scores) >= self.best:
            self.best = strength(scores)
            self._write("best", weights, steps, spent, scores)
        self._write("policy", weights, steps, spent, scores)
        return scores

    def finish(self, weights: Weights, steps: int, spent: Mapping[str, float], games: int) -> list[Score]:
        """Evaluates the policy of the end on deals that chose nothing, writes it, and ends the curve."""
        scores = self._scores(weights, games, FINAL_SEED)
        self._add_point(steps, spent, scores)
        self._write("policy", weights, steps, spent, scores)
        return scores

    def _add_point(self, steps: int, spent: Mapping[str, float], scores: Sequence[Score]) -> None:
        seconds = {name: round(value, 1) for name, value in spent.items()}
        self.curve.append({"steps": steps, **seconds, "scores": [asdict(score) for score in scores]})
        write_text(self._out / "curve.jsonl", "".join(json.dumps(point) + "\n" for point in self.curve))

    def _scores(self, weights: Weights, games: int, seed: int) -> list[Score]:
        """Plays the fixed agents by what the policy's file holds."""
        began = perf_counter()
        rounded = {name: value.astype(np.float16).astype(np.float32) for name, value in weights.items()}
        agent = self._agent(Network(self._game, self._options, self._architecture, rounded))
        scores = evaluate(self._game, self._options, agent, self._opponents, games, seed)
        self._clock.add("evaluation", began)
        return scores

    def _write(
        self, name: str, weights: Weights, steps: int, spent: Mapping[str, float], scores: Sequence[Score]
    ) -> None:
        facts = dict(self._about)
        training = {**facts.pop("training"), **{kind: round(seconds, 1) for kind, seconds in spent.items()}}
        card = Card(
            game=self._game.id, options=self._options, architecture=self._architecture, steps=steps,
            evaluation=tuple(asdict(score) for score in scores), training=training, **facts,
        )  # fmt: skip
        save_policy(self._out / f"{name}.safetensors", weights, card)


def machine() -> dict[str, Any]:
    """What the figures of a card depend on, besides its arguments."""
    import torch

    return {"python": platform.python_version(), "torch": str(torch.__version__), "processor": platform.machine()}


def stop_gently(trainer: Any) -> None:
    """From now on Ctrl-C, or a request to end, sets `trainer.stopping`; a second one ends the process at once."""

    def stop(*_: Any) -> None:
        if trainer.stopping:  # the last checkpoint stands
            os._exit(130)
        trainer.stopping = True
        print("Finishing this update, then saving; again to stop at once", file=sys.stderr)

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)


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


def imitate_once(imitation: Imitation, clock: Clock, bar: ProgressBar, spent: Mapping[str, float]) -> None:
    """One update of an imitation, on the clock and the bar. spent: the seconds of the run before it."""
    began = perf_counter()
    told = imitation.learn()
    clock.add("imitation", began)
    bar.move(imitation.seen)
    if told:
        seconds = spent["seconds"] + perf_counter() - began
        bar.say(f"{imitation.seen:>11,} imitated {seconds:6.0f} s  {told}")
