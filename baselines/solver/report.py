"""What `iszoo solve` says: a position of a recorded game with its exact values, as plain values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from iszoo import record
from iszoo.baselines.solver.solver import DEFAULT_NODES, Solver, position_of


def of_file(file: Path, number: int, ply: int, nodes: int = DEFAULT_NODES) -> dict[str, Any]:
    """The values at a ply of game `number` (from 1) of a file of records; the best actions first.

    Raises ValueError for a file, a game or a ply that isn't there and for what `Solver` refuses; RecordError for a
    record that is not what the rules say.
    """
    try:
        games = list(record.read(file))
    except OSError as error:
        raise ValueError(f"{file} can't be read: {error.strerror}") from None
    if not 1 <= number <= len(games):
        raise ValueError(f"--game {number}: {file} has games 1 to {len(games)}")
    if nodes < 1:
        raise ValueError(f"--nodes {nodes} is not allowed; it is a whole number from 1")
    found = games[number - 1]
    position = position_of(found, ply)
    game = record.game_of(found)
    solver = Solver(game, found.options)
    solution = solver.solve(position.row, nodes)
    seat = solution.player
    outcome, margin = solution.value
    actions: list[dict[str, Any]] = [
        {
            "action": int(action),
            "move": game.action_to_string(int(action)),
            "outcome": float(solution.outcome[k, seat]),
            "margin": float(solution.margin[k, seat]),
            "best": int(action) in solution.best,
        }
        for k, action in enumerate(solution.actions)
    ]
    actions.sort(key=lambda entry: (-entry["outcome"], -entry["margin"], entry["action"]))
    return {
        "game": game.id, "options": dict(found.options), "ply": ply, "player": seat,
        "left": solver.left(position.row), "unit": solver.ending.unit, "knowledge": solver.ending.knowledge,
        "outcome": outcome.tolist(), "margin": margin.tolist(), "actions": actions,
        "nodes": solution.nodes, "seconds": solution.seconds,
    }  # fmt: skip
