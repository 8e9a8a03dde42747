"""The published endgame positions: made by a seeded command, kept as games to be played again, with exact values.

    python -m iszoo.baselines.solver.positions isaac --seed 1 --count 300

Each position is of another game, between scripted agents and `random`, each of which plays some of its actions at
random. How much is left to play is drawn evenly from `WINDOWS`. Positions in which every legal action is as good as
any are left out, and those that take more than `MOST_NODES` to solve.

baselines/results/GAME.endgames.json has a line for each:

    seed, actions   the game: `reset(seed=seed)`, then these actions, with the options of the file
    row             a hash of the position that they lead to
    left            how much is left to play, in the unit of the file
    orders          what the values are multiplied by, so that they are whole numbers; 1 without chance
    values          the actions by what they are worth, best first: [outcome, margin, [actions]], for seat 0; the
                    largest group is without its actions: it has all legal actions that no other has
    nodes           that the solve took
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from iszoo import record
from iszoo.baselines import RESULTS
from iszoo.baselines.agents import Agent, agent_names, make_agent, view_of
from iszoo.baselines.solver.solver import Solution, Solver, Unsolved
from iszoo.envs import find
from iszoo.envs.game import Game, Rows
from iszoo.envs.primitives import ROW_HEAD
from iszoo.envs.vec import VecEnv
from iszoo.reports import machine, write_text

WINDOWS = {"isaac": (2, 11), "iso": (2, 4), "isis_osiris": (3, 7)}
"""Game -> the least and the greatest of what is left to play, see `Ending.left`."""

MOST_NODES = 5_000_000
NOISE = (0.0, 0.15, 0.4)
"""How often a player of the games plays at random instead."""

_TRIES = 50  # games in a row that give no position before that is an error


@dataclass(frozen=True)
class Endgame:
    """A published position, played again from its game."""

    row: Rows  #: int64 (S,)
    player: int  #: the seat to move
    left: int
    solution: Solution  #: as it was published: nothing is solved again


@dataclass(frozen=True)
class Endgames:
    """The published positions of a game."""

    game: Game
    options: dict[str, Any]
    unit: str  #: what `left` counts
    positions: tuple[Endgame, ...]


# --- Making ------------------------------------------------------------------------------------------------


def played(game: Game, seed: int, number: int) -> Iterator[tuple[int, list[int], Rows]]:
    """Game `number` of a seed: its deal's seed, the actions so far and the row, at every decision."""
    rng = np.random.default_rng([seed, number])
    deal = int(rng.integers(1 << 31))
    vec = VecEnv(game, 1, seed=deal, autoreset="disabled")
    agents: list[Agent] = [make_agent(str(rng.choice(agent_names(game))), game) for _ in range(vec.num_players)]
    noise = rng.choice(NOISE, vec.num_players)
    actions: list[int] = []
    while vec.player[0] >= 0:
        yield deal, actions.copy(), vec.rows[0].copy()
        player = int(vec.player[0])
        legal = np.flatnonzero(vec.action_mask[0])
        chosen = int(agents[player].act(view_of(vec, np.zeros(1, np.intp), rng.integers(1 << 31, size=1)))[0])
        if rng.random() < noise[player]:
            chosen = int(rng.choice(legal))
        actions.append(chosen)
        vec.step(np.array([chosen]))


def make(
    game: Game, seed: int, count: int, *, nodes: int = MOST_NODES, progress: Callable[[int], None] | None = None
) -> dict[str, Any]:
    """The report of `count` positions, as plain values. The same arguments give the same positions.

    Raises ValueError for a game without a window or a bad count; RuntimeError if games give no positions.
    """
    if game.name not in WINDOWS:
        raise ValueError(f"{game.name} has no endgames: WINDOWS has {', '.join(WINDOWS)}")
    if count < 1:
        raise ValueError(f"{count} positions: make at least one")
    began = time.perf_counter()
    solver = Solver(game)
    least, greatest = WINDOWS[game.name]
    positions: list[dict[str, Any]] = []
    number = last = 0
    while len(positions) < count:
        rng = np.random.default_rng([seed, number, 1])
        left = int(rng.integers(least, greatest + 1))
        there = [entry for entry in played(game, seed, number) if solver.left(entry[2]) == left]
        number += 1
        if there:
            deal, actions, row = there[int(rng.integers(len(there)))]
            entry = _solved(solver, row, nodes)
            if entry is not None:
                positions.append({"seed": deal, "actions": actions, "row": row_hash(row), "left": left, **entry})
                last = number
                if progress is not None:
                    progress(len(positions))
        if number - last > _TRIES:
            raise RuntimeError(f"{_TRIES} games of {game.name} in a row gave no position")
    return {
        "game": game.id, "options": solver.options, "rules": game.fingerprint(solver.params).hex(), "seed": seed,
        "games": number, "unit": solver.ending.unit, "knowledge": solver.ending.knowledge, "most_nodes": nodes,
        "seconds": time.perf_counter() - began, "machine": machine(), "endgames": positions,
    }  # fmt: skip


def _solved(solver: Solver, row: Rows, nodes: int) -> dict[str, Any] | None:
    """What is published of a position, or None if it is too large or nothing is to be decided there."""
    try:
        solution = solver.solve(row, nodes)
    except Unsolved:
        return None
    if solution.decided:
        return None
    groups: dict[tuple[int, int], list[int]] = {}
    for action, value in zip(solution.actions.tolist(), solution.exact, strict=True):
        groups.setdefault(value, []).append(action)
    wanted = sorted(groups, reverse=solution.player == 0)
    rest = max(wanted, key=lambda value: len(groups[value]))
    values = [[*value] if value == rest else [*value, groups[value]] for value in wanted]
    return {"orders": solution.orders, "nodes": solution.nodes, "values": values}


def row_hash(row: Rows) -> str:
    """Eight hex digits of a position, its generator left out."""
    return hashlib.blake2b(row[len(ROW_HEAD) :].astype("<i8").tobytes(), digest_size=4).hexdigest()


def write(path: Path, report: dict[str, Any]) -> None:
    """Writes a report, a line for each position."""
    head = {name: value for name, value in report.items() if name != "endgames"}
    lines = ",\n  ".join(json.dumps(entry, separators=(",", ":")) for entry in report["endgames"])
    write_text(path, json.dumps({**head, "endgames": []}, indent=1)[:-4] + f"[\n  {lines}\n ]\n}}\n")


# --- Reading -----------------------------------------------------------------------------------------------


def path_of(name: str) -> Path:
    """The published file of a game."""
    return RESULTS / f"{name}.endgames.json"


def load(name: str, path: Path | None = None) -> Endgames:
    """The published positions of a game, every one played again by the rules.

    Raises ValueError if a game doesn't lead to its position any more, or the values don't cover the legal actions.
    """
    file = path or path_of(name)
    report = json.loads(file.read_text(encoding="utf-8"))
    game = find(name)
    if report["game"] != game.id:
        raise ValueError(f"{file}: of {report['game']}, not {game.id}")
    found = tuple(_endgame(game, report["options"], entry, f"{file}: position {k}")
                  for k, entry in enumerate(report["endgames"]))  # fmt: skip
    return Endgames(game, report["options"], report["unit"], found)


def _endgame(game: Game, options: dict[str, Any], entry: dict[str, Any], where: str) -> Endgame:
    try:
        game_so_far = record.make(game, seed=entry["seed"], actions=entry["actions"], options=options)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    position = record.replay(game_so_far)[-1]
    if row_hash(position.row) != entry["row"]:
        raise ValueError(f"{where}: its game leads elsewhere: other rules, or another deal")
    named = {action: (group[0], group[1]) for group in entry["values"] if len(group) == 3 for action in group[2]}
    rest = [(group[0], group[1]) for group in entry["values"] if len(group) == 2]
    legal = position.legal.tolist()
    if len(rest) != 1 or not named.keys() < set(legal):
        raise ValueError(f"{where}: its values don't cover the legal actions")
    exact = tuple(named.get(action, rest[0]) for action in legal)
    solution = Solution.of(position.player, position.legal, exact, entry["orders"], entry["nodes"])
    return Endgame(position.row, position.player, entry["left"], solution)


# --- What is in it -----------------------------------------------------------------------------------------


def facts(report: dict[str, Any]) -> str:
    """Where the positions come from, in a sentence or two."""
    return (
        f"{len(report['endgames'])} positions of {report['games']} games, seed {report['seed']}; both players know"
        f" {report['knowledge']}."
    )


def tables(report: dict[str, Any]) -> dict[str, str]:
    """The table of the positions by what is left to play: "sizes"."""
    rows = [
        f"| {report['unit']} | positions | nodes, median | nodes, most | values, mean |",
        "|---:|---:|---:|---:|---:|",
    ]
    for left in sorted({entry["left"] for entry in report["endgames"]}):
        entries = [entry for entry in report["endgames"] if entry["left"] == left]
        nodes = np.array([entry["nodes"] for entry in entries])
        values = np.mean([len(entry["values"]) for entry in entries])
        rows.append(f"| {left} | {len(entries)} | {np.median(nodes):,.0f} | {nodes.max():,} | {values:.1f} |")
    return {"sizes": "\n".join(rows)}


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m iszoo.baselines.solver.positions", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("game")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--out", type=Path, help="by default baselines/results/GAME.endgames.json")
    given = parser.parse_args(arguments)
    try:
        game = find(given.game)
        report = make(
            game, given.seed, given.count,
            progress=lambda done: print(f"\r{done} of {given.count}", end="", file=sys.stderr, flush=True),
        )  # fmt: skip
    except ValueError as error:
        sys.exit(f"error: {error}")
    out = given.out or path_of(game.name)
    write(out, report)
    print(f"\n{facts(report)}\n\n{tables(report)['sizes']}\n\n{report['seconds']:.0f} s; written to {out}")


if __name__ == "__main__":
    main()
