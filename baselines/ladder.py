"""The ladder: everybody meets everybody, on the same deals and from every seat, and is rated.

A table is a choice of agents, one a seat: for two players every pair, for three and four every such group (with too
few agents for that, groups in which an agent has several seats). All tables play the same deals, each deal once from
every rotation of the seats; with three and four players the deals take turns with the orders around the table. Games
are played in chunks of a few deals, by processes or on a Ray cluster; what a chunk gives depends on its place alone,
so that neither the number of workers nor an interruption changes a result.

Where the players have one common result (solo, cooperative) there is nothing to rate: the mean result is reported,
of teams of one agent alone and of mixed teams. `iszoo.baselines.arena.rating` says how ratings are made.
"""

from __future__ import annotations

import itertools
import math
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from iszoo.baselines.agents import Agent, make_agent
from iszoo.baselines.arena import kept
from iszoo.baselines.arena.kept import code_stamp
from iszoo.baselines.arena.standings import TableGames, standings
from iszoo.baselines.arena.workers import run
from iszoo.baselines.match import play
from iszoo.envs import find
from iszoo.envs.game import Game
from iszoo.envs.primitives import NUM_PLAYERS
from iszoo.envs.seeds import as_seed
from iszoo.envs.vec import VecEnv
from iszoo.reports import machine

ANCHOR = "random"
"""Always on the ladder: the zero of the ratings."""

CHUNK_DEALS = 8
"""Deals a chunk: what an interruption loses, at most, of each worker's games."""


@dataclass(frozen=True)
class Chunk:
    """Some deals of a table: what one worker plays at a time."""

    game: str
    options: dict[str, Any]
    agents: tuple[str | Agent, ...]  #: one a seat
    seed: int
    first_deal: int
    deals: int
    trust: bool
    stamp: str = field(default_factory=code_stamp)  #: of the code: who plays the chunk must have the same


def play_chunk(chunk: Chunk) -> dict[str, Any]:
    """Plays a chunk; its games by seat as plain values, a line of the file of games.

    Raises ValueError where the code isn't the one that made the chunk, or an agent can't be made.
    """
    if chunk.stamp != code_stamp():
        raise ValueError(f"iszoo on {socket.gethostname()} is another version, or was edited: install the same there")
    game, a_deal = find(chunk.game), games_a_deal(chunk.agents)
    # Made anew for every chunk: what an agent remembers must not go from one chunk to another.
    agents = [make_agent(a, game, trust=chunk.trust) if isinstance(a, str) else a for a in chunk.agents]
    played = play(
        game, agents, chunk.deals * a_deal, seed=chunk.seed, first=chunk.first_deal * a_deal, rotate=a_deal > 1,
        **chunk.options,
    )  # fmt: skip
    return {
        "returns": played.returns.tolist(),
        "scores": played.scores.tolist(),
        "lengths": played.lengths.tolist(),
        "digests": [digest.hex() for digest in played.digests],
    }


def name_of(agent: str | Agent) -> str:
    """The name by which an agent is on the ladder."""
    return agent if isinstance(agent, str) else agent.name


def games_a_deal(agents: Sequence[str | Agent]) -> int:
    """A table plays each deal from every rotation of its seats, see `match.play`; once, if one agent has them all."""
    return len(agents) if len(set(map(name_of, agents))) > 1 else 1


def seatings(agents: int, players: int, common_result: bool) -> list[tuple[int, ...]]:
    """The tables of a ladder, as places in the list of agents: sorted, so that a table has one form only.

    With a common result all teams, those of one agent too. Else all choices of different agents; with fewer agents
    than seats, all tables at which everybody sits.
    """
    everything = list(itertools.combinations_with_replacement(range(agents), players))
    if common_result:
        return everything
    return [table for table in everything if len(set(table)) == min(agents, players)]


def has_common_result(game: Game, options: dict[str, Any]) -> bool:
    """Whether the players win and lose together: solo, cooperative.

    Seen from random games, as every game has them: rewards of opponents add up to zero, a common result doesn't.
    """
    vec = VecEnv(game, 64, seed=0, autoreset="disabled", **options)
    vec.random_steps(game.max_game_length)
    return vec.num_players == 1 or bool((abs(vec.rewards.sum(axis=1)) > 1e-6).any())


def ladder(
    game: Game,
    agents: Sequence[str | Agent],
    games: int,
    *,
    seed: int = 0,
    workers: int = 1,
    ray: str | None = None,
    trust: bool = False,
    keep: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    tell: Callable[[str], None] | None = None,
    resamples: int = 1000,
    **options: Any,
) -> dict[str, Any]:
    """Plays a ladder; the report as plain values for a JSON file. `pages.ladder_page` makes a page of it.

    Args:
        game: the game.
        agents: names, see `make_agent`, or agents; "random" is added if it isn't there.
        games: games at each table, rounded up so that every seating comes up equally often.
        seed: of the first deal. The same arguments give the same games and ratings, whoever plays them.
        workers: processes that play, see `workers.run`.
        ray: play on Ray, see `workers.run`. Its nodes need the same iszoo, and the agents' files at the same paths.
        trust: let agents run code of the files that they are loaded from, see `make_agent`.
        keep: a file of games. What is there is not played again, if it comes from the same code, agents' files,
            options and seed; what is played is added at once. Of agents given by name.
        progress: called with the games that are done and the games in all.
        tell: called with a line about what was found in `keep`.
        resamples: of the deals, for the intervals of ratings.
        **options: the game's own options.

    Raises:
        ValueError: a bad argument, an agent that can't be made, an illegal action.
        ImportError: an extra is missing.
        ChildProcessError: a worker died.
    """
    began = time.perf_counter()
    settled = game.resolve(options)
    params = game.params(settled)
    players = int(params[NUM_PLAYERS])
    entrants = _entrants(game, agents, trust)
    common = has_common_result(game, settled)
    if len(entrants) == 1 and not common:
        raise ValueError(f"name an agent beside {ANCHOR}: a ladder compares agents")
    if not common and find_spec("scipy") is None:  # better before the games than after them
        raise ImportError("ratings need scipy: pip install 'iszoo[ladder]'")
    if games < 1:
        raise ValueError(f"{games} games a table: play at least one")
    as_seed(seed, games)
    tables = seatings(len(entrants), players, common)
    chunks = []
    for table in tables:
        seated = tuple(entrants[k] for k in table)
        a_deal = games_a_deal(seated)
        round_ = math.factorial(a_deal)  # the games that have every seating once
        deals = -(-games // round_) * round_ // a_deal
        starts = range(0, deals, CHUNK_DEALS)
        chunks.append([
            Chunk(game.name, settled, seated, seed, first, min(CHUNK_DEALS, deals - first), trust) for first in starts
        ])  # fmt: skip
    parts = play_chunks([*itertools.chain(*chunks)], game.fingerprint(params), workers, ray, keep, progress, tell)
    played = [
        TableGames.joined(table, [next(parts) for _ in of_table])
        for table, of_table in zip(tables, chunks, strict=True)
    ]
    return {
        "game": game.id,
        "options": settled,
        "seed": seed,
        **standings([*map(name_of, entrants)], played, ANCHOR, common, resamples, seed),
        "seconds": time.perf_counter() - began,
        "machine": machine(),
    }


def _entrants(game: Game, agents: Sequence[str | Agent], trust: bool) -> list[str | Agent]:
    """The agents of the ladder by name, so that their order changes nothing; each made once to see that it can be.

    Raises ValueError.
    """
    entrants = [*agents]
    if ANCHOR not in map(name_of, entrants):
        entrants.append(ANCHOR)
    entrants.sort(key=name_of)
    names = [name_of(agent) for agent in entrants]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two agents are called {name!r}: each agent is on the ladder once")
    for agent in entrants:
        if isinstance(agent, str):
            make_agent(agent, game, trust=trust)
    return entrants


def play_chunks(
    chunks: list[Chunk],
    rules: bytes,
    workers: int,
    ray: str | None,
    keep: Path | None,
    progress: Callable[[int, int], None] | None,
    tell: Callable[[str], None] | None,
) -> Iterator[dict[str, Any]]:
    """What each chunk gives, in their order: kept from before, or played now."""
    named = {agent for chunk in chunks for agent in chunk.agents if isinstance(agent, str)}
    stamps = {agent: kept.file_stamp(agent) for agent in named}
    keys = [_key(chunk, rules, stamps) for chunk in chunks]
    kept_parts = kept.read(keep) if keep is not None else {}
    parts = {k: kept_parts[key] for k, key in enumerate(keys) if key in kept_parts}
    if tell is not None and kept_parts:
        unused = len(kept_parts) - len(parts)
        others = f"; {unused} in it are of other agents, options, games or code" if unused else ""
        tell(f"{keep}: {len(parts)} of {len(chunks)} parts are played already{others}")
    total = sum(map(_games_in, chunks))
    played = sum(_games_in(chunks[k]) for k in parts)
    missing = [k for k in range(len(chunks)) if k not in parts]
    for place, part in run(play_chunk, [chunks[k] for k in missing], workers=workers, ray=ray):
        k = missing[place]
        parts[k] = part
        if keep is not None and keys[k]:
            kept.add(keep, keys[k], part)
        played += _games_in(chunks[k])
        if progress is not None:
            progress(played, total)
    return iter([parts[k] for k in range(len(chunks))])


def _games_in(chunk: Chunk) -> int:
    return chunk.deals * games_a_deal(chunk.agents)


def _key(chunk: Chunk, rules: bytes, stamps: Mapping[str, str]) -> str:
    """All that a chunk's games depend on; empty where that isn't known."""
    agents = [(agent, stamps[agent]) for agent in chunk.agents if isinstance(agent, str)]
    if len(agents) < len(chunk.agents):
        return ""
    return kept.key_of(chunk.game, rules.hex(), agents, chunk.seed, chunk.first_deal, chunk.deals, chunk.stamp)
