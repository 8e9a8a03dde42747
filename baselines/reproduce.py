"""Whether the published ladders come out again: the same tables, played here, entry by entry.

Deals and chance come from seeds, so that the first games of a table should be the very same; win rates and mean
rewards should agree within their 95 % intervals even where they are not (another processor may round a network's
numbers otherwise, which decides near ties).
"""

from __future__ import annotations

import json
import math
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from iszoo.baselines import POLICIES, RESULTS
from iszoo.baselines.agents import make_agent
from iszoo.baselines.ladder import ladder
from iszoo.envs.game import Game
from iszoo.reports import machine

_DEALS = 3_000_000_019  # the first deal that a retrained policy is judged on: none that training looks at

Report = dict[str, Any]


def published(game: Game, name: str | None = None) -> dict[str, Report]:
    """The published ladders of a game by name ("iso", "iso-solo"); one of them, if named.

    Raises ValueError that lists the names.
    """
    found = {}
    for path in sorted(RESULTS.glob("*.ladder.json")):
        report = json.loads(path.read_text(encoding="utf-8"))
        if report["game"] == game.id:
            found[path.name.removesuffix(".ladder.json")] = report
    if not found:
        raise ValueError(f"no ladder of {game.name} was published")
    if name is not None and name not in found:
        raise ValueError(f"{game.name} has no published ladder {name!r}; it has {', '.join(found)}")
    return found if name is None else {name: found[name]}


def reproduce(
    game: Game,
    games: int = 100,
    *,
    name: str | None = None,
    without: Sequence[str] = (),
    workers: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Plays the published ladders of a game again, and compares every entry of every table.

    Args:
        game: the game.
        games: games at each table, at most as many as were published.
        name: one ladder; all by default.
        without: agents to leave out, for instance a search that takes long.
        workers: processes that play.
        progress: see `ladder`.

    Returns plain values: "entries", of which each says whether it "agrees", and whether "all_agree".

    Raises:
        ValueError: a bad name, or what `ladder` raises.
    """
    if games < 1:
        raise ValueError(f"{games} games a table: play at least one")
    entries = []
    for label, report in published(game, name).items():
        agents = [entry["agent"] for entry in report["agents"] if entry["agent"] not in without]
        if len(agents) < min(2, report["players"]):
            raise ValueError(f"{label}: nobody is left to play without {', '.join(without)}")
        count = min(games, min(table["games"] for table in report["tables"]))
        again = ladder(
            game, agents, count, seed=report["seed"], workers=workers, progress=progress, resamples=10,
            **report["options"],
        )  # fmt: skip
        entries += compare(label, report["tables"], again["tables"])
    return {
        "game": game.id,
        "entries": entries,
        "all_agree": _all(entries),
        "machine": machine(),
    }


def compare(label: str, before: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]) -> list[Report]:
    """Each agent at each table of `now` beside what was published for the same table."""
    known = {tuple(table["agents"]): table for table in before}
    entries = []
    for table in now:
        old = known[tuple(table["agents"])]
        compared = min(len(old["first_games"]), len(table["first_games"]))
        # A table of fewer games has seatings in the same order, but not as many rounds of them.
        same = old["first_games"][:compared] == table["first_games"][:compared] and compared > 0
        for then, result in zip(old["results"], table["results"], strict=True):
            value = "win_rate" if "win_rate" in then else "mean_return"
            entries.append({
                "ladder": label,
                "table": list(table["agents"]),
                "agent": result["agent"],
                "what": value,
                "published": [then[value], then[f"{value}_low"], then[f"{value}_high"]],
                "here": [result[value], result[f"{value}_low"], result[f"{value}_high"]],
                "games": table["games"],
                "same_games": same,
                "agrees": agrees(_interval(then, value), _interval(result, value)),
            })  # fmt: skip
    return entries


def _interval(result: Mapping[str, Any], value: str) -> tuple[float, float, float]:
    return result[value], result[f"{value}_low"], result[f"{value}_high"]


def agrees(one: tuple[float, float, float], other: tuple[float, float, float]) -> bool:
    """Whether two means, each with its 95 % interval (mean, low, high), differ by no more than chance explains.

    The difference is compared with both half widths on the sides that face each other, as for independent samples.
    """
    below, above = sorted((one, other))
    reach = math.hypot(below[2] - below[0], above[0] - above[1])
    return above[0] - below[0] <= reach + 1e-12


def train(game: Game, name: str, out: Path, games: int = 400) -> Report:
    """Trains a published policy from scratch by its card's command, and plays the card's matches again.

    What `alphazero.py` trained plays by search, as in its evaluations.

    Args:
        game: the game.
        name: of the policy: "isaac", "iso-solo".
        out: the folder of the run.
        games: games in each match.

    Raises:
        ValueError: no such policy, one that another script trained, or its training failed.
        ImportError: an extra is missing.
    """
    from iszoo.baselines.policy import load_card
    from iszoo.baselines.training.run import evaluate

    file = POLICIES / f"{name}.safetensors"
    if not file.exists() or load_card(file).game != game.id:
        cards = {path.stem: load_card(path) for path in sorted(POLICIES.glob("*.safetensors"))}
        names = [stem for stem, card in cards.items() if card.game == game.id]
        raise ValueError(f"{game.name} has no published policy {name!r}; it has {', '.join(names) or 'none'}")
    card = load_card(file)
    words = shlex.split(card.command)
    policy = out / "policy.safetensors"
    agent_of = {"python -m iszoo.baselines.ppo": f"policy:{policy}"}
    if simulations := card.training.get("arguments", {}).get("evaluate_simulations"):
        agent_of["python -m iszoo.baselines.alphazero"] = f"az:{policy}:{simulations}"
    script = " ".join(words[:3])
    if script not in agent_of:
        raise ValueError(f"{name} can't be trained again here, but by its card's own command: {card.command!r}")
    if subprocess.run([sys.executable, *words[1:], "--out", str(out)]).returncode:
        raise ValueError(f"training failed: {shlex.join(words)} --out {out}")
    agent = make_agent(agent_of[script], game)
    opponents = [then["opponent"] for then in card.evaluation]
    scores = evaluate(game, card.options, agent, opponents, games, _DEALS)
    entries = []
    for then, score in zip(card.evaluation, scores, strict=True):
        if then["opponent"]:
            what = "win_rate"
            before, here = ((x["win_rate"], x["low"], x["high"]) for x in (then, asdict(score)))
        else:
            what = "mean_return"  # alone there are no wins; rewards are in [-1, 1], so that 1 bounds their deviation
            before, here = (
                (mean, mean - 1.96 / math.sqrt(count), mean + 1.96 / math.sqrt(count))
                for mean, count in ((then["mean_return"], then["games"]), (score.mean_return, score.games))
            )
        entries.append({
            "ladder": name, "table": [agent.name, then["opponent"]], "agent": agent.name, "what": what,
            "published": list(before), "here": list(here), "games": score.games, "same_games": False,
            "agrees": agrees(before, here),
        })  # fmt: skip
    return {"game": game.id, "entries": entries, "all_agree": _all(entries), "machine": machine()}


def _all(entries: Sequence[Report]) -> bool:
    return all(entry["agrees"] for entry in entries)
