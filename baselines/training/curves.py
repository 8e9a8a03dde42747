"""Publishes training runs: the learning curves of all seeds, and the policy of the median one.

    python -m iszoo.baselines.training.curves isaac runs/isaac-1 runs/isaac-2 runs/isaac-3

writes results/isaac.curves.json and policies/isaac.safetensors with its card. The runs are ranked by the mean of their
last evaluation over all opponents; of an even number the lower of the middle two is taken.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iszoo.baselines import POLICIES, RESULTS
from iszoo.baselines.policy import load_card, load_policy
from iszoo.envs import REGISTRY
from iszoo.reports import write_bytes, write_json


def curves(runs: Sequence[Path]) -> tuple[dict[str, Any], Path]:
    """The report of some runs of one command with several seeds, and the median run.

    Args:
        runs: folders that training wrote.

    Raises ValueError for runs that don't belong together, or that have not ended.
    """
    cards = [load_card(run / "policy.safetensors") for run in runs]
    settings = {(card.game, json.dumps(card.options, sort_keys=True)) for card in cards}
    if len(settings) != 1:
        raise ValueError(f"runs of different games or options: {', '.join(map(str, runs))}")
    if len({card.seed for card in cards}) < len(cards):
        raise ValueError("two runs have the same seed")
    reports: list[dict[str, Any]] = []
    for run, card in zip(runs, cards, strict=True):
        lines = (run / "curve.jsonl").read_text(encoding="utf-8").splitlines()
        points = [json.loads(line) for line in lines]
        if points[-1]["scores"] != [dict(score) for score in card.evaluation]:
            raise ValueError(f"{run}: the policy is not the one at the end of the curve; let the run end")
        reports.append({"seed": card.seed, "command": card.command, "steps": card.steps, "points": points})
    ranked = sorted(range(len(runs)), key=lambda k: _strength(reports[k]["points"][-1]))
    median = ranked[(len(ranked) - 1) // 2]
    about = cards[median].training
    report = {
        "game": cards[0].game,
        "options": cards[0].options,
        "shipped": reports[median]["seed"],
        "runs": reports,
        "training": {key: value for key, value in about.items() if key not in ("out", "resume")},
    }
    return report, runs[median]


def _strength(point: dict[str, Any]) -> float:
    returns = [float(score["mean_return"]) for score in point["scores"]]
    return sum(returns) / len(returns)


def publish(name: str, runs: Sequence[Path]) -> str:
    """Writes the report of some runs and the median policy under a name; returns a line about it."""
    report, median = curves(runs)
    file = median / "policy.safetensors"
    game = next(game for game in REGISTRY.values() if game.id == report["game"])
    load_policy(str(file), game)  # whole, and of this game
    card = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    write_json(RESULTS / f"{name}.curves.json", report)
    write_bytes(POLICIES / f"{name}.safetensors", file.read_bytes())
    write_json(POLICIES / f"{name}.json", card)
    size = file.stat().st_size
    return f"{name}: seed {report['shipped']} of {len(runs)} runs, {size:,} bytes"


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m iszoo.baselines.training.curves", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("name", help="of the policy: isaac, iso-solo")
    parser.add_argument("runs", nargs="+", type=Path, help="folders that training wrote")
    given = parser.parse_args(arguments)
    try:
        print(publish(given.name, given.runs))
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
