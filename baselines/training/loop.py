"""What trainers in one process share: the time spent, the imitation, the loop of self-play, and the command."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter, process_time

from iszoo.baselines.training.arguments import TrainingArguments
from iszoo.baselines.training.imitation import Imitation
from iszoo.baselines.training.run import Clock, ProgressBar, Record, Score, imitate_once, stop_gently, summary


class Trainer:
    """The base of a trainer.

    Args:
        arguments: of the run.

    Attributes:
        stopping: set it, and the run ends after the update that it is in, saved.
    """

    out: Path
    record: Record

    def __init__(self, arguments: TrainingArguments) -> None:
        self._limits = arguments
        self.stopping = False
        self.clock = Clock()
        self._before = {"seconds": 0.0, "cpu_seconds": 0.0}  # of earlier sessions
        self._began = perf_counter(), process_time()
        self.elsewhere = 0.0  # seconds of processor time that this session's workers spent
        self._play_from = 0.0  # seconds, when self-play began

    @property
    def steps(self) -> int:
        """Actions that were learnt from so far."""
        raise NotImplementedError

    def run(self) -> None:
        """Trains to the end, or until `stopping`."""
        raise NotImplementedError

    def save(self) -> None:
        """Writes OUT/checkpoint.pt."""
        raise NotImplementedError

    def load(self) -> None:
        """Takes up OUT/checkpoint.pt. Raises ValueError if there is none, or if it is another run's."""
        raise NotImplementedError

    @property
    def spent(self) -> dict[str, float]:
        """Seconds of the run so far, in all sessions: of the clock, and of processors, those of workers included."""
        passed = perf_counter() - self._began[0], process_time() - self._began[1] + self.elsewhere
        return {name: old + new for (name, old), new in zip(self._before.items(), passed, strict=True)}

    @property
    def remaining(self) -> float:
        """The share of the self-play that is still to come, by steps or by minutes, whichever is less."""
        left = 1 - self.steps / self._limits.steps
        if self._limits.minutes is not None:
            end = 60 * self._limits.minutes
            left = min(left, (end - self.spent["seconds"]) / max(end - self._play_from, 1.0))
        return max(0.0, left)

    def imitate(self, imitation: Imitation) -> None:
        """Learns from teachers to the end, for half of the minutes, or until `stopping`."""
        a = self._limits
        saved = perf_counter()
        with ProgressBar("imitation", imitation.positions) as bar:
            while not imitation.finished and not self.stopping:
                if a.minutes is not None and self.spent["seconds"] > 30 * a.minutes:
                    break  # half of the time
                imitate_once(imitation, self.clock, bar, self.spent)
                if perf_counter() - saved > 60 * a.checkpoint_minutes:
                    self.save()
                    saved = perf_counter()
        self._play_from = self.spent["seconds"]

    def play(self, learn: Callable[[], None], evaluate: Callable[[Mapping[str, float]], list[Score]]) -> None:
        """Calls `learn` to the end or until `stopping`; in between saves, and evaluates (given the seconds spent)."""
        a = self._limits
        saved = perf_counter()
        with ProgressBar("self-play", a.steps) as bar:
            while self.remaining > 0 and not self.stopping:
                evaluated = self.record.curve[-1]["steps"] if self.record.curve else -a.steps
                if self.steps - evaluated >= a.evaluate_every * a.steps:
                    spent = self.spent
                    times = f"{spent['seconds']:6.0f} s (cpu {spent['cpu_seconds']:.0f})"
                    bar.say(f"{self.steps:>11,} steps {times}  {summary(evaluate(spent))}")
                    self.save()
                    saved = perf_counter()
                learn()
                bar.move(self.steps)
                if perf_counter() - saved > 60 * a.checkpoint_minutes:
                    self.save()
                    saved = perf_counter()


def run_command(prog: str, make: Callable[[], Trainer], resume: bool) -> int:
    """Makes a trainer and trains. Returns 0, 130 when stopped, or 1 with a message on stderr."""
    try:
        trainer = make()
        if resume:
            trainer.load()
        elif (trainer.out / "checkpoint.pt").exists():
            raise ValueError(f"{trainer.out} holds a run already: add --resume, or choose another --out")
    except ValueError as error:
        print(f"{prog}: error: {error}", file=sys.stderr)
        return 1

    stop_gently(trainer)
    trainer.run()
    return 130 if trainer.stopping else 0
