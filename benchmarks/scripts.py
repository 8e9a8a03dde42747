"""Throughput of the training scripts: env steps a second, and where the time goes. `make bench-training`.

    python -m iszoo.benchmarks.scripts [SCRIPT ...] [--game GAME] [--steps N]

Each script trains for a little while in every game, from nothing, with the defaults of the game, in the environment of
its framework (`.venvs/NAME`, which `make` sets up); what it says with `--profile` is kept. Writes
benchmarks/results/scripts.json; scripts and games that were not asked for keep the figures that are there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iszoo.benchmarks.throughput import short
from iszoo.envs import REGISTRY
from iszoo.reports import machine, write_json

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).resolve().parent / "results" / "scripts.json"


@dataclass(frozen=True)
class Script:
    """A training script, and how it is run here."""

    venv: str  #: the folder in .venvs
    steps: int  #: actions of the learner
    arguments: tuple[str, ...] = ()


_FEW_GAMES = ("--imitate", "none", "--games", "2", "--evaluate-every", "1")
_OWN_GAMES = ("--start", "", "--settle", "0", "--opponents", "random")

SCRIPTS: Mapping[str, Script] = {
    "ppo": Script("sb3", 100_000, _FEW_GAMES),
    "rllib_ppo": Script("rllib", 30_000, _FEW_GAMES),
    "alphazero": Script("sb3", 10_000, (*_FEW_GAMES, *_OWN_GAMES)),
}


def profile(name: str, game: str, steps: int | None = None) -> dict[str, Any]:
    """Runs a script; what it says of itself.

    Raises RuntimeError if its environment is missing or if it fails.
    """
    script = SCRIPTS[name]
    python = ROOT / ".venvs" / script.venv / "bin" / "python"
    if not python.exists():
        raise RuntimeError(f"{name} needs {python}: make .venvs/{script.venv}/.installed")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        command = [
            str(python), "-m", f"iszoo.baselines.{name}", "--game", game, "--seed", "1", "--profile", "--out", str(out),
            "--steps", str(steps or script.steps), *script.arguments,
        ]  # fmt: skip
        done = subprocess.run(
            command, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
        found: dict[str, Any] = json.loads((out / "profile.json").read_text(encoding="utf-8"))
    return found


def tables(results: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The table of the docs: "scripts"; and "facts", what made it."""
    machines = {
        f"{about['cpu']}, {about['cores']} cores; Python {about['python']}; {about['date'][:10]}"
        for about in (of_script["machine"] for of_script in results.values())
    }
    lines = ["| script | game | env steps a second | where the time goes |", "|---|---|---:|---|"]
    for name, of_script in results.items():
        for game, found in of_script["games"].items():
            seconds = {part: spent for part, spent in found["seconds"].items() if part not in _BESIDE and spent > 0}
            total = sum(seconds.values())
            shares = ", ".join(f"{part} {spent / total:.0%}" for part, spent in seconds.items())
            lines.append(f"| `{name}` | {game} | {short(found['steps_per_second'])} | {shares} |")
    return {"scripts": "\n".join(lines), "facts": f"{'; '.join(sorted(machines))}. By `make bench-training`."}


_BESIDE = ("imitation", "evaluation")  # are no part of the steps


def main(words: Sequence[str] | None = None) -> int:
    """Returns 1 if a script could not be measured."""
    parser = argparse.ArgumentParser(prog="python -m iszoo.benchmarks.scripts", description=__doc__)
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT", help=f"of {', '.join(SCRIPTS)}; all by default")
    parser.add_argument("--game", action="append", choices=list(REGISTRY), help="all by default; may be repeated")
    parser.add_argument("--steps", type=int, help="actions of the learner in place of each script's own number")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the JSON file")
    given = parser.parse_args(words)
    unknown = set(given.scripts) - set(SCRIPTS)
    if unknown:
        parser.error(f"there is no script {', '.join(sorted(unknown))}; there are {', '.join(SCRIPTS)}")
    results = json.loads(given.out.read_text(encoding="utf-8")) if given.out.exists() else {}
    began = time.perf_counter()
    for name in given.scripts or SCRIPTS:
        before = results[name]["games"] if given.game and name in results else {}
        games = dict(before)
        for game in given.game or REGISTRY:
            print(f"{time.perf_counter() - began:5.0f} s  {name}, {game}", file=sys.stderr)
            try:
                games[game] = profile(name, game, given.steps)
            except RuntimeError as error:
                print(error, file=sys.stderr)
                return 1
        results[name] = {"machine": machine(), "games": {game: games[game] for game in REGISTRY if game in games}}
    write_json(given.out, {name: results[name] for name in SCRIPTS if name in results})
    print("\n\n".join(tables(results).values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
