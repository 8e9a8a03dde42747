"""Matches between agents: seats rotated, each deal played from every seat."""

from __future__ import annotations

import hashlib
import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo import __version__
from iszoo import record as records
from iszoo.baselines.agents import Agent, view_of
from iszoo.envs.errors import IllegalActionError
from iszoo.envs.game import Game
from iszoo.envs.primitives import NUM_PLAYERS, ROW_HEAD, mix
from iszoo.envs.seeds import as_seed
from iszoo.envs.vec import VecEnv

Progress = Callable[[int], None]
Watch = Callable[[VecEnv, npt.NDArray[np.bool_]], None]

CHECKED_GAMES = 16
"""Of so many first games, published results hold a hash: whether rules and agents still play them like that."""

_BATCH = 512  # deals played side by side
_POSITIVE = 2**63 - 1
_Z95 = 1.959963984540054


@dataclass(frozen=True)
class Played:
    """The games of a match, in the order of their numbers, see `play`."""

    seats: npt.NDArray[np.int64]  #: (games, P): the agent (its place in the list) on each seat
    returns: npt.NDArray[np.float64]  #: (games, P): the outcome reward of each seat
    scores: npt.NDArray[np.int64]  #: (games, P): the points of each seat
    lengths: npt.NDArray[np.int64]  #: (games,): in actions
    digests: tuple[bytes, ...]  #: a hash of each game's deal and actions: equal games are equal here


@dataclass(frozen=True)
class Standing:
    """How one agent did in a match."""

    agent: str
    win_rate: float  #: wins shared among the winners of a game, as a share of the games
    low: float  #: the 95 % interval of the win rate (Wilson)
    high: float
    wins: int  #: won alone
    shared: int  #: won together with others
    mean_score: float
    mean_return: float
    win_rate_by_seat: tuple[float, ...]


@dataclass(frozen=True)
class MatchResult:
    """A whole match, as `to_json` writes it."""

    game: str
    options: Mapping[str, Any]
    agents: tuple[str, ...]
    seed: int
    games: int
    distinct_games: int
    mean_length: float
    seconds: float
    standings: tuple[Standing, ...]
    version: str = __version__

    def to_json(self) -> dict[str, Any]:
        """Plain values for a JSON file."""
        return asdict(self)


def wilson(successes: float, trials: int) -> tuple[float, float]:
    """The 95 % score interval of a share (Wilson 1927), right at 0 and 1 too; successes may be fractional."""
    if trials == 0:
        return 0.0, 1.0
    share, z2 = successes / trials, _Z95 * _Z95
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = _Z95 * math.sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials)) / (1 + z2 / trials)
    return (
        0.0 if successes == 0 else max(0.0, centre - half),
        1.0 if successes == trials else min(1.0, centre + half),
    )


def with_players(game: Game, options: Mapping[str, Any], agents: Sequence[Any]) -> dict[str, Any]:
    """The options with as many players as there are agents. Raises ValueError where the game can't have them."""
    chosen = dict(options)
    if "num_players" in game.options and len(agents) in game.players:
        chosen.setdefault("num_players", len(agents))
    players = int(game.params(chosen)[NUM_PLAYERS])
    if players != len(agents):
        raise ValueError(
            f"{len(agents)} agents for {players} players: name one agent for each seat"
            f" ({game.name} has {' or '.join(map(str, game.players))} players)"
        )
    return chosen


def play(
    game: Game,
    agents: Sequence[Agent],
    games: int,
    *,
    seed: int = 0,
    first: int = 0,
    rotate: bool = True,
    progress: Progress | None = None,
    watch: Watch | None = None,
    record: Path | None = None,
    **options: Any,
) -> Played:
    """Plays games between agents, one a seat.

    Game g plays the deal of `reset(seed=seed + g // P)`, each deal once from every rotation of the seats. Two agents
    sit on seats (k + g) % 2. It matters who sits before whom, so that with more agents the deals take turns with the
    (P - 1)! orders around the table; P! games have all seatings. The same arguments give the same games, and a game
    is the same in whichever call it is played.

    Args:
        game: the game.
        agents: one a seat.
        games: how many; with `rotate` a multiple of the number of players, P.
        seed: of the first deal.
        first: the number of the first game to play; with `rotate` a multiple of P.
        rotate: without it game g plays deal g, and agent k sits on seat k: for agents that are all the same.
        progress: called with the number of games that ended since its last call.
        record: a file to which each game is added as it ends, see iszoo.record.
        watch: called before each ply with the batch and which of its games run, bool (n,); batches one by one.
        **options: the game's own options.

    Raises:
        ValueError: a bad option, or a number of games or agents that doesn't fit the players.
        IllegalActionError: an agent answered with an illegal action; says which agent and game.
    """
    players = len(agents)
    options = with_players(game, options, agents)
    a_deal = players if rotate else 1
    if games < 1 or games % a_deal:
        raise ValueError(f"{games} games can't give each agent every seat: play a multiple of {players}")
    if first < 0 or first % a_deal:
        raise ValueError(f"the first game is a multiple of {a_deal}, not {first}")
    as_seed(seed, first + games)
    if record is not None:
        records.append(record, ())  # says now, and not after the first games, that it can't
    parts = []
    for start in range(first, first + games, _BATCH * a_deal):
        numbers = np.arange(start, min(first + games, start + _BATCH * a_deal))
        seats = seating(numbers, players, rotate)
        parts.append(
            _play_batch(game, agents, numbers, numbers // a_deal, seats, seed, options, progress, watch, record)
        )
    return Played(
        seats=np.concatenate([part.seats for part in parts]),
        returns=np.concatenate([part.returns for part in parts]),
        scores=np.concatenate([part.scores for part in parts]),
        lengths=np.concatenate([part.lengths for part in parts]),
        digests=tuple(digest for part in parts for digest in part.digests),
    )


def seating(numbers: npt.NDArray[np.int64], players: int, rotate: bool = True) -> npt.NDArray[np.int64]:
    """The agent (its place in the list) on each seat in the games of some numbers: (n, P), see `play`."""
    if not rotate:
        return np.broadcast_to(np.arange(players), (len(numbers), players))
    orders = np.array([(0, *others) for others in itertools.permutations(range(1, players))])
    place = (np.arange(players) - numbers[:, None]) % players
    seats: npt.NDArray[np.int64] = np.take_along_axis(orders[numbers // players % len(orders)], place, axis=1)
    return seats


def first_games(digests: Sequence[bytes]) -> str:
    """Two hex digits for each of the first CHECKED_GAMES games."""
    return "".join(digest.hex()[:2] for digest in digests[:CHECKED_GAMES])


def win_shares(returns: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Who won each game, (games, P): 1 for a win alone, 1 / n for each of n winners."""
    winners = returns == returns.max(axis=1, keepdims=True)
    shares: npt.NDArray[np.float64] = winners / winners.sum(axis=1, keepdims=True)
    return shares


def mean_interval(values: Any) -> tuple[float, float, float]:
    """The mean of independent values and its 95 % interval (normal approximation)."""
    given = np.asarray(values, np.float64)
    mean = float(given.mean())
    half = _Z95 * float(given.std(ddof=1)) / math.sqrt(len(given)) if len(given) > 1 else math.inf
    return mean, mean - half, mean + half


def _play_batch(
    game: Game,
    agents: Sequence[Agent],
    numbers: npt.NDArray[np.int64],
    deals: npt.NDArray[np.int64],
    seats: npt.NDArray[np.int64],
    seed: int,
    options: dict[str, Any],
    progress: Progress | None,
    watch: Watch | None,
    record: Path | None,
) -> Played:
    count = len(numbers)
    vec = VecEnv(game, count, seed=0, autoreset="disabled", **options)
    vec.reset(seed + deals)
    lengths = np.zeros(count, np.int64)
    # Without the generator: it differs by the seed where there is nothing to deal.
    hashes = [hashlib.blake2b(row.tobytes(), digest_size=16) for row in vec.rows[:, len(ROW_HEAD) :]]
    streams = np.array([mix(mix(seed) ^ int(number)) for number in numbers], np.int64)
    running = vec.player >= 0
    actions = np.zeros(count, np.int64)
    returns = np.zeros((count, len(agents)))
    played: list[list[int]] = [[] for _ in numbers]
    while running.any():
        if watch is not None:
            watch(vec, running)
        moving = seats[np.arange(count), np.maximum(vec.player, 0)]
        for k, agent in enumerate(agents):
            chosen = np.flatnonzero(running & (moving == k))
            if len(chosen) == 0:
                continue
            seeds = np.array([mix(streams[g] + lengths[g]) for g in chosen], np.int64) & _POSITIVE
            answer = np.asarray(agent.act(view_of(vec, chosen, seeds)))
            if answer.shape != chosen.shape or answer.dtype.kind not in "iu":
                raise IllegalActionError(
                    f"agent {agent.name} answered {answer.dtype} {answer.shape} for {len(chosen)} positions"
                )
            actions[chosen] = answer
        try:
            vec.step(actions, where=running)
        except IllegalActionError as error:
            names = ", ".join(agent.name for agent in agents)
            raise IllegalActionError(f"in a match of {names}: {error}") from None
        for g in np.flatnonzero(running):
            hashes[g].update(int(actions[g]).to_bytes(2, "little"))
            played[g].append(int(actions[g]))
        lengths += running
        ended = running & vec.done
        returns[ended] = vec.rewards[ended]
        running &= ~ended
        if record is not None:
            made = (
                records.make(
                    game,
                    seed=seed + int(deals[g]),
                    actions=played[g],
                    agents=[agents[k].name for k in seats[g]],
                    options=options,
                )
                for g in np.flatnonzero(ended)
            )
            records.append(record, made)
        if progress is not None and ended.any():
            progress(int(ended.sum()))
    return Played(seats, returns, vec.scores.copy(), lengths, tuple(h.digest() for h in hashes))


def match(
    game: Game,
    agents: Sequence[Agent],
    games: int,
    *,
    seed: int = 0,
    progress: Progress | None = None,
    record: Path | None = None,
    **options: Any,
) -> MatchResult:
    """`play`, and what came of it for each agent."""
    began = time.perf_counter()
    played = play(game, agents, games, seed=seed, progress=progress, record=record, **options)
    seconds = time.perf_counter() - began
    return MatchResult(
        game=game.id,
        options=game.resolve(with_players(game, options, agents)),
        agents=tuple(agent.name for agent in agents),
        seed=seed,
        games=games,
        distinct_games=len(set(played.digests)),
        mean_length=float(played.lengths.mean()),
        seconds=seconds,
        standings=tuple(_standing(played, k, agent.name) for k, agent in enumerate(agents)),
    )


def _standing(played: Played, k: int, name: str) -> Standing:
    mine = played.seats == k
    shares = win_shares(played.returns)
    won, games = float(shares[mine].sum()), len(played.seats)
    low, high = wilson(won, games)
    return Standing(
        agent=name,
        win_rate=won / games,
        low=low,
        high=high,
        wins=int((shares == 1)[mine].sum()),
        shared=int(((shares > 0) & (shares < 1))[mine].sum()),
        mean_score=float(played.scores[mine].mean()),
        mean_return=float(played.returns[mine].mean()),
        win_rate_by_seat=tuple(float(shares[mine[:, s], s].mean()) for s in range(played.seats.shape[1])),
    )
