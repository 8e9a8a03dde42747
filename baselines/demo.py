"""The demo: a match in every game and the measured speed of each, as one report."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from iszoo.baselines.agents import agent_names, make_agent
from iszoo.baselines.match import match
from iszoo.benchmarks import throughput
from iszoo.benchmarks.timing import interleaved, nothing
from iszoo.envs import REGISTRY, GameEnv, VecEnv
from iszoo.envs.game import Game
from iszoo.reports import machine


def demo(games: int, tell: Callable[[str], None]) -> tuple[dict[str, Any], str]:
    """Plays the strongest scripted agent against each other one, measures speed; the report as JSON and text."""
    began = time.perf_counter()
    matches = []
    for game in REGISTRY.values():
        *others, best = agent_names(game)
        for other in others:
            tell(f"{game.name}: {best} against {other} (the first match of a game compiles it)")
            agents = [make_agent(best, game), make_agent(other, game)]
            matches.append(match(game, agents, games + games % 2))
    tell("measuring steps a second")
    rates = _rates()
    report: dict[str, Any] = {
        "machine": machine(),
        "matches": [result.to_json() for result in matches],
        "rates": {name: rate.to_json() for name, rate in rates.items()},
        "seconds": time.perf_counter() - began,
    }
    lines = ["# iszoo demo", "", "| game | agent | against | games | win rate | 95 % interval | mean score |"]
    lines.append("|---|---|---|---:|---:|---:|---:|")
    for result in matches:
        first, second = result.standings
        lines.append(
            f"| {result.game} | {first.agent} | {second.agent} | {result.games} | {first.win_rate:.1%} |"
            f" {first.low:.1%} to {first.high:.1%} | {first.mean_score:.2f} to {second.mean_score:.2f} |"
        )
    peer = rates.get("PettingZoo connect_four, AEC")
    lines += ["", "| steps a second | median | times PettingZoo's connect_four |", "|---|---:|---:|"]
    for name, rate in rates.items():
        times = f"{rate.median / peer.median:.1f}" if peer else "not installed"
        lines.append(f"| {name} | {rate.median:,.0f} | {times} |")
    about = report["machine"]
    lines += [
        "",
        "AEC: `last()`, a random legal action, `step()`, observation and mask each time; the same loop for"
        " PettingZoo's. Batch: 1,024 games, `random_steps` with observation and mask, one thread. Medians of 3.",
        f"{about['cpu']}, {about['cores']} cores, Python {about['python']}, numba {about['numba']};"
        f" {about['date']}; {report['seconds']:.0f} s in all.",
    ]
    return report, "\n".join(lines) + "\n"


def _rates() -> dict[str, Any]:
    tasks: dict[str, Any] = {}
    peer = throughput.connect_four()
    if peer is not None:
        tasks["PettingZoo connect_four, AEC"] = (nothing, lambda: throughput.aec_loop(peer, 2_000))
    for game in REGISTRY.values():
        tasks[f"{game.name}, AEC"] = (nothing, _aec(game))
        tasks[f"{game.name}, batch of 1,024"] = (nothing, _batch(game))
    return interleaved(tasks, rounds=3)


def _aec(game: Game) -> Callable[[], int]:
    env = GameEnv(game)
    return lambda: throughput.aec_loop(env, 20_000)


def _batch(game: Game) -> Callable[[], int]:
    vec = VecEnv(game, 1024, seed=0)
    return lambda: vec.random_steps(500)
