"""How strong a search is for its simulations: `mcts:N` for growing N against fixed agents, on the same deals.

    python -m iszoo.baselines.arena.strength isaac 20:200 200:200 2000:40

plays 200 games at 20 simulations a decision, and so on, and writes OUT.json and OUT.svg. Games are kept in
OUT.games.jsonl as they are played: the same command goes on where it was interrupted.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from iszoo.baselines.arena.standings import TableGames, table_report
from iszoo.baselines.arena.workers import cores
from iszoo.baselines.ladder import Chunk, play_chunks
from iszoo.envs import find
from iszoo.envs.game import Game
from iszoo.envs.primitives import NUM_PLAYERS
from iszoo.reports import machine, write_json, write_text

AGAINST = ("greedy", "expert")


def strength(
    game: Game,
    points: Sequence[tuple[int, int]],
    *,
    against: Sequence[str] = AGAINST,
    seed: int = 0,
    workers: int = 1,
    keep: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Plays paired games for each number of simulations and each opponent; the report as plain values.

    Args:
        game: a game of two players, with these options.
        points: simulations a decision, and games (even).
        against: names of the opponents.
        seed: of the first deal.
        workers: processes that play.
        keep: a file of games, see `ladder`.
        progress: called with the games that are done and the games in all.
        **options: the game's own options.

    Raises ValueError for numbers that are not allowed.
    """
    began = time.perf_counter()
    settled = game.resolve(options)
    params = game.params(settled)
    if params[NUM_PLAYERS] != 2:
        raise ValueError(f"{params[NUM_PLAYERS]} players: strength is measured in games of two")
    for simulations, games in points:
        if simulations < 1 or games < 2 or games % 2:
            raise ValueError(f"{simulations}:{games} is not allowed: simulations from 1, an even number of games")
    tables = [(f"mcts:{simulations}", name, games) for simulations, games in points for name in against]
    chunks = [
        [Chunk(game.name, settled, (agent, name), seed, deal, 1, False) for deal in range(games // 2)]
        for agent, name, games in tables
    ]
    everything = [chunk for of_table in chunks for chunk in of_table]
    parts = play_chunks(everything, game.fingerprint(params), workers, None, keep, progress, None)
    found = []
    for (agent, name, _), of_table in zip(tables, chunks, strict=True):
        played = TableGames.joined((0, 1), [next(parts) for _ in of_table])
        result = table_report((agent, name), played, common=False)
        found.append({"simulations": int(agent.removeprefix("mcts:")), "against": name, **result})
    return {
        "game": game.id, "options": settled, "seed": seed, "points": found,
        "seconds": time.perf_counter() - began, "machine": machine(),
    }  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        prog="python -m iszoo.baselines.arena.strength", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("game")
    parser.add_argument("points", nargs="+", metavar="SIMULATIONS:GAMES")
    parser.add_argument("--against", nargs="+", default=AGAINST)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=cores())
    parser.add_argument("--out", type=Path, help="without ending; reports/GAME.strength by default")
    given = parser.parse_args(arguments)
    out = given.out or Path("reports") / f"{given.game}.strength"
    try:
        game = find(given.game)
        points = [(int(s), int(g)) for s, _, g in (point.partition(":") for point in given.points)]
        report = strength(
            game, points, against=given.against, seed=given.seed, workers=given.workers,
            keep=out.with_name(f"{out.name}.games.jsonl"),
            progress=lambda done, total: print(f"\r{done:,} of {total:,} games", end="", file=sys.stderr),
        )  # fmt: skip
    except ValueError as error:
        sys.exit(f"error: {error}")
    write_json(out.with_name(f"{out.name}.json"), report)
    from iszoo.baselines.arena import plots
    from iszoo.baselines.arena.pages import strength_tables

    write_text(out.with_name(f"{out.name}.svg"), plots.strength_svg(report))
    print(f"\n{strength_tables(report)['curve']}")


if __name__ == "__main__":
    main()
