"""Commands that measure."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from iszoo.commands.shared import JsonFile, give_out, status
from iszoo.envs import REGISTRY, find


@dataclass(frozen=True)
class Bench:
    """Env steps a second: AEC and batch, beside PettingZoo's connect four and the memory-write limit."""

    games: Positional[tuple[str, ...]] = ()
    """The games; all by default."""
    quick: bool = False
    """Fewer rounds and sizes: a look, not figures to publish."""
    json: JsonFile = None

    def run(self) -> None:
        """Measures and prints tables."""
        from iszoo.benchmarks import throughput

        games = [find(name) for name in self.games] or list(REGISTRY.values())
        sizes = (1, 1024) if self.quick else throughput.SIZES
        with status("warming up") as tell:
            report = throughput.measure(
                games,
                sizes=sizes,
                rounds=3 if self.quick else 5,
                with_first_use=not self.quick,
                progress=tell,
            )
        give_out(report, self.json, lambda: print(throughput.markdown(report)))


@dataclass(frozen=True)
class Demo:
    """A match in every game, and the steps a second beside PettingZoo's connect four; writes a report."""

    out: Path = Path("reports")
    """The folder for the report."""
    games: int = 200
    """Games a match."""
    json: JsonFile = None

    def run(self) -> None:
        """Plays, measures, prints, writes."""
        from iszoo.baselines.demo import demo

        with status("starting") as tell:
            report, text = demo(self.games, tell)
        from iszoo.reports import write_json, write_text

        write_json(self.out / "demo.json", report)
        write_text(self.out / "demo.md", text)
        give_out(report, self.json, lambda: print(text))
        print(f"Report: {self.out / 'demo.md'} and {self.out / 'demo.json'}", file=sys.stderr)
