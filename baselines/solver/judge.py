"""How agents do in the published endgame positions, whose exact values are known.

    python -m iszoo.baselines.solver.judge isaac --agents random greedy expert mcts:2000 policy:isaac

writes baselines/results/GAME.judged.json and GAME.judged.md. Every agent is asked once at each position. An action is
*optimal* if none is better, in outcome or, outcomes being equal, in points; it *keeps the outcome* if none has a
better expected outcome reward. What an agent gives away is in outcome reward (a win turned into a loss is 2), and in
points where it kept the outcome.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from iszoo.baselines import RESULTS
from iszoo.baselines.agents import Agent, make_agent, view_of
from iszoo.baselines.match import mean_interval, wilson
from iszoo.baselines.solver.positions import Endgame, Endgames, load, path_of
from iszoo.envs import find
from iszoo.envs.primitives import mix
from iszoo.envs.vec import VecEnv
from iszoo.reports import machine, write_json, write_text

AGENTS = ("random", "greedy", "expert", "mcts:200", "mcts:2000")

_POSITIVE = 2**63 - 1


def judge(
    endgames: Endgames, agents: Sequence[Agent], seed: int = 0, tell: Callable[[str], None] | None = None
) -> dict[str, Any]:
    """What each agent plays in all positions, and what it gives away by that; plain values.

    Args:
        endgames: the positions.
        agents: who is judged.
        seed: of the agents' chance.
        tell: is told each agent before it plays.

    Raises ValueError for an agent's illegal action.
    """
    positions = endgames.positions
    vec = VecEnv(endgames.game, len(positions), seed=0, autoreset="disabled", **endgames.options)
    vec.rows[:] = [position.row for position in positions]
    vec.refresh()
    seeds = np.array([mix(mix(seed) ^ k) for k in range(len(positions))], np.int64) & _POSITIVE
    entries = []
    for agent in agents:
        if tell is not None:
            tell(agent.name)
        began = time.perf_counter()
        actions = np.asarray(agent.act(view_of(vec, np.arange(len(positions)), seeds)))
        seconds = time.perf_counter() - began
        entries.append({"agent": agent.name, "seconds": seconds, **judged(positions, actions.tolist())})
    return {"seed": seed, "positions": len(positions), "chance": _chance(positions), "judged": entries}


def judged(positions: Sequence[Endgame], actions: Sequence[int]) -> dict[str, Any]:
    """What actions come to, one for each position: shares with Wilson's interval, means with the normal one."""
    losses = [position.solution.loss(action) for position, action in zip(positions, actions, strict=True)]
    optimal = np.array([action in position.solution.best for position, action in zip(positions, actions, strict=True)])
    kept = np.array([position.solution.keeps(action) for position, action in zip(positions, actions, strict=True)])
    points = [loss[1] for loss, keeps in zip(losses, kept, strict=True) if keeps]
    left = np.array([position.left for position in positions])
    return {
        "optimal": _share(optimal),
        "kept": _share(kept),
        "outcome_loss": _mean([loss[0] for loss in losses]),
        "margin_loss": _mean(points) if points else None,
        "by_left": {int(n): _share(optimal[left == n]) for n in np.unique(left)},
    }


def _share(hits: Any) -> dict[str, float]:
    low, high = wilson(int(hits.sum()), len(hits))
    return {"share": float(hits.mean()), "low": low, "high": high, "count": len(hits)}


def _mean(values: Sequence[float]) -> dict[str, float]:
    mean, low, high = mean_interval(values)
    return {"mean": mean, "low": low, "high": high, "count": len(values)}


def _chance(positions: Sequence[Endgame]) -> float:
    """The share of optimal actions among the legal ones: what playing at random comes to in the long run."""
    return float(np.mean([len(position.solution.best) / len(position.solution.actions) for position in positions]))


# --- Pages -------------------------------------------------------------------------------------------------


def facts(report: dict[str, Any]) -> str:
    """What was asked, in a sentence."""
    return (
        f"Each agent asked once at each of {report['positions']} positions; of the legal actions"
        f" {100 * report['chance']:.1f}% are optimal, on average."
    )


def tables(report: dict[str, Any]) -> dict[str, str]:
    """The results as Markdown: "agents", and "left", by what is left to play."""
    agents = [
        "| agent | optimal actions | kept the outcome | outcome reward given away | points given away |",
        "|---|---:|---:|---:|---:|",
    ]
    sizes = [int(left) for left in report["judged"][0]["by_left"]]
    by_left = [
        f"| {report['unit']} | " + " | ".join(map(str, sizes)) + " |",
        "|---|" + "---:|" * len(sizes),
        "| positions | " + " | ".join(str(entry["count"]) for entry in report["judged"][0]["by_left"].values()) + " |",
    ]
    for entry in report["judged"]:
        cells = [
            _percent(entry["optimal"]), _percent(entry["kept"]), _loss(entry["outcome_loss"], 3),
            _loss(entry["margin_loss"], 2),
        ]  # fmt: skip
        agents.append(f"| `{entry['agent']}` | " + " | ".join(cells) + " |")
        shares = [f"{100 * part['share']:.0f}%" for part in entry["by_left"].values()]
        by_left.append(f"| `{entry['agent']}` | " + " | ".join(shares) + " |")
    return {"agents": "\n".join(agents), "left": "\n".join(by_left)}


def _percent(part: dict[str, float]) -> str:
    return f"{100 * part['share']:.1f}% ({100 * part['low']:.1f} to {100 * part['high']:.1f})"


def _loss(part: dict[str, float] | None, digits: int) -> str:
    if part is None:
        return ""
    return f"{part['mean']:.{digits}f} ({part['low']:.{digits}f} to {part['high']:.{digits}f})"


def page(report: dict[str, Any]) -> str:
    """The report as Markdown."""
    made = tables(report)
    return f"# {report['title']}: agents in endgames\n\n{facts(report)}\n\n{made['agents']}\n\n{made['left']}\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m iszoo.baselines.solver.judge", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("game")
    parser.add_argument("--agents", nargs="+", default=AGENTS)
    parser.add_argument("--seed", type=int, default=0, help="of the agents' chance")
    parser.add_argument("--positions", type=Path, help="by default baselines/results/GAME.endgames.json")
    parser.add_argument("--out", type=Path, help="without ending; by default baselines/results/GAME.judged")
    given = parser.parse_args(arguments)
    began = time.perf_counter()
    try:
        game = find(given.game)
        file = given.positions or path_of(game.name)
        endgames = load(game.name, file)
        agents = [make_agent(name, game) for name in given.agents]
        found = judge(endgames, agents, given.seed, lambda name: print(name, file=sys.stderr, flush=True))
    except (ValueError, ImportError, OSError) as error:
        sys.exit(f"error: {error}")
    report = {
        "game": game.id, "title": game.title, "options": endgames.options, "unit": endgames.unit,
        "endgames": hashlib.sha256(file.read_bytes()).hexdigest()[:16], **found,
        "seconds": time.perf_counter() - began, "machine": machine(),
    }  # fmt: skip
    out = given.out or RESULTS / f"{game.name}.judged"
    write_json(out.with_name(f"{out.name}.json"), report)
    write_text(out.with_name(f"{out.name}.md"), page(report))
    print(page(report))


if __name__ == "__main__":
    main()
