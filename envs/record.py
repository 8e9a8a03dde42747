"""Game records: one game is one line of JSON, which says all that is needed to play it again and to check it.

    from iszoo import record

    game = record.make("isis_osiris", seed=1, actions=[36, 14, 20], agents=["expert", "greedy"])
    record.append("games.jsonl", [game])
    for game in record.read("games.jsonl"):
        for position in record.replay(game):
            print(position.ply, position.player, position.action)

A line is an object with these fields:

    iszoo_record  the version of this format, 1
    game          the game and its version, "isis_osiris_v0"
    options       all options of the game
    seed, deal    what `reset` was given; deal is null where the seed dealt
    agents        who played, by seat
    actions       the ids, in order
    moves         the same in notation
    result        over: whether the game ended; offender: the seat whose illegal action ended it, or null;
                  returns: the outcome rewards by seat (zero while running); scores: the points by seat
    rules         a hash of the options and tables that the kernels read (`Game.fingerprint`)
    trace         a hash of all that was seen: at each action the player to move, their observation and mask, at
                  the end every seat's observation and the scores
    iszoo         the version of the package that wrote it
    checksum      of the line: SHA-256 of the other fields as JSON with sorted keys and no spaces, 16 digits

The trace pins the rules and not how they are computed: it stays the same as long as the game's version does.
A file of records is text, UTF-8, a line a game. `append` adds to it; nothing is ever written over.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from iszoo.envs import engine
from iszoo.envs.game import Game, Params, Rows
from iszoo.envs.primitives import NUM_PLAYERS, OFFENDER
from iszoo.envs.record_file import append, read
from iszoo.envs.record_line import Record, RecordError, check_agents, dumps, loads, wrong
from iszoo.envs.registry import REGISTRY, find
from iszoo.envs.seeds import as_seed

__all__ = [
    "Position",
    "Record",
    "RecordError",
    "append",
    "dumps",
    "game_of",
    "loads",
    "make",
    "read",
    "replay",
    "verify",
]

_ONE = np.ones(1, np.bool_)
_NONE = np.zeros(1, np.bool_)


class Position(NamedTuple):
    """A position of a replayed game, and the action that was played there."""

    ply: int  #: how many actions led to it
    row: Rows  #: int64 (S,)
    player: int  #: the seat to move, -1 when the game is over
    legal: npt.NDArray[np.int64]  #: the legal actions, ascending
    scores: tuple[int, ...]  #: the points as they stand, by seat
    action: int | None  #: what was played; None at the last position


def make(
    game: str | Game,
    *,
    seed: int,
    actions: Sequence[int],
    agents: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    deal: Sequence[int] | None = None,
    offended: bool = False,
) -> Record:
    """The record of a game that began with `reset(seed=seed, options={"deal": deal})`.

    All but the arguments comes from playing it again. The game need not be over.

    Args:
        game: the game, or its name.
        seed: of the deal.
        actions: all of them, in order.
        agents: who played, by seat; left out: "?" for everybody.
        options: of the game; those left out have their defaults.
        deal: what fixed the chance, if anything did.
        offended: whether the player to move ended the game by an illegal action (illegal="terminate").

    Raises ValueError for bad options, seed, deal or names, and for an action that is not legal.
    """
    chosen = find(game) if isinstance(game, str) else game
    settled = chosen.resolve(options or {})
    for name, value in settled.items():
        if value is not None and not isinstance(value, (bool, int, float, str)):
            raise ValueError(f"option {name}={value!r} can't be written into a record")
    params = _params(chosen, settled)
    names = tuple(agents) or ("?",) * int(params[NUM_PLAYERS])
    check_agents(names, int(params[NUM_PLAYERS]))
    dealt = None if deal is None else chosen.check_deal(deal, settled)
    ids = tuple(int(action) for action in actions)
    replayed = _Replay(chosen, params, as_seed(seed), dealt, ids, offended)
    for _ in replayed:
        pass
    return Record(
        game=chosen.id,
        options=settled,
        seed=as_seed(seed),
        deal=None if dealt is None else tuple(dealt.tolist()),
        agents=names,
        actions=ids,
        moves=tuple(map(chosen.action_to_string, ids)),
        rules=chosen.fingerprint(params).hex(),
        **replayed.found,
    )


def replay(record: Record) -> list[Position]:
    """Every position of a game, start and end included, played again and compared with the record.

    Raises RecordError for whatever differs: an illegal action, notation, result, or what was seen on the way.
    """
    return list(_checked(record))


def verify(record: Record) -> None:
    """Plays a game again and raises RecordError if anything differs, see `replay`."""
    for _ in _checked(record):
        pass


def game_of(record: Record) -> Game:
    """The game that a record is of. Raises RecordError where this version of iszoo doesn't have it."""
    for game in REGISTRY.values():
        if game.id == record.game:
            return game
    known = ", ".join(game.id for game in REGISTRY.values())
    wrong(record.source, "game", f"{record.game!r} is not known; this version of iszoo plays {known}")


def _checked(record: Record) -> Iterator[Position]:
    game, source = game_of(record), record.source
    try:
        settled = game.resolve(record.options)
        params = _params(game, settled)
    except ValueError as error:
        wrong(source, "options", str(error))
    try:
        deal = None if record.deal is None else game.check_deal(record.deal, settled)
    except ValueError as error:
        wrong(source, "deal", str(error))
    players = int(params[NUM_PLAYERS])
    by_seat = {"agents": record.agents, "result.returns": record.returns, "result.scores": record.scores}
    for name, values in by_seat.items():
        if len(values) != players:
            wrong(source, name, f"{len(values)} of them for {players} players")
    # Tables that are laid out otherwise, as in a faster version, are no fault while they play the same game.
    rules = game.fingerprint(params).hex()
    why = "" if rules == record.rules else f" (rules: {record.rules!r}, here {rules!r}: made with other tables)"
    replayed = _Replay(game, params, record.seed, deal, record.actions, record.offender is not None)
    try:
        yield from replayed
    except RecordError as error:
        raise RecordError(f"{source}: {error}{why}") from None
    moves = tuple(map(game.action_to_string, record.actions))
    if len(moves) != len(record.moves):
        wrong(source, "moves", f"{len(record.moves)} of them for {len(moves)} actions")
    for k, (move, written) in enumerate(zip(moves, record.moves, strict=True)):
        if move != written:
            wrong(source, f"moves[{k}]", f"{written!r}, but action {record.actions[k]} is {move!r}")
    for name, value in replayed.found.items():
        if getattr(record, name) != value:
            shown = name if name == "trace" else f"result.{name}"
            wrong(source, shown, f"{getattr(record, name)!r}, but the game gives {value!r}{why}")


class _Replay:
    """Plays given actions and yields each `Position`; `found` is there afterwards: the result and the trace."""

    def __init__(
        self,
        game: Game,
        params: Params,
        seed: int,
        deal: npt.NDArray[np.int64] | None,
        actions: Sequence[int],
        offended: bool,
    ) -> None:
        self._game, self._params, self._actions, self._offended = game, params, actions, offended
        self._players = int(params[NUM_PLAYERS])
        self._rows = np.zeros((1, game.row_size), np.int64)
        self._mask = np.zeros((1, game.num_actions), np.int8)
        self._obs = np.zeros(game.obs_size, np.int8)
        self._scores = np.zeros((1, self._players), np.int64)
        self._trace = hashlib.blake2b(digest_size=8)
        deals = np.empty((1, 0), np.int64) if deal is None else deal[None]
        engine.init_batch(game.table, self._rows, _ONE, np.array([seed]), deals, params)
        self._player = self._to_move()
        engine.write_mask(game.table, self._rows, 0, self._mask, params)
        self.found: dict[str, Any] = {}

    def __iter__(self) -> Iterator[Position]:
        game, rows, params = self._game, self._rows, self._params
        for ply, action in enumerate(self._actions):
            name = f"actions[{ply}]"
            if self._player < 0:
                raise RecordError(f"{name}: the game is over after {ply} actions")
            self._trace.update(bytes([self._player]))
            self._see(self._player)
            self._trace.update(self._mask.tobytes())
            if not 0 <= action < game.num_actions:
                raise RecordError(f"{name}: {action} is out of range: actions are 0 to {game.num_actions - 1}")
            if not self._mask[0, action]:
                raise RecordError(f"{name}: {action} ({game.action_to_string(action)}) is not legal there")
            yield self._position(ply, action)
            self._player = int(engine.step_one(game.table, rows, action, False, self._mask, params))
        offender = self._player if self._offended else None
        if offender is not None:
            if offender < 0:
                raise RecordError("result.offender: the game ended without an illegal action")
            rows[0, OFFENDER] = offender + 1
            self._player = self._to_move()
            self._mask[:] = 0
        last = self._position(len(self._actions), None)
        returns = np.zeros((1, self._players))
        engine.write_returns(game.table, rows, 0, returns, params)
        for seat in range(self._players):
            self._see(seat)
        self._trace.update(repr(last.scores).encode())
        self.found = {
            "over": self._player < 0,
            "offender": offender,
            "returns": tuple(returns[0].tolist()),
            "scores": last.scores,
            "trace": self._trace.hexdigest(),
        }
        yield last

    def _to_move(self) -> int:
        return int(engine.to_move(self._game.table, self._rows, 0, self._params))

    def _see(self, seat: int) -> None:
        engine.observe_one(self._game.table, self._rows, seat, self._obs, 0, 0, self._params)
        self._trace.update(self._obs.tobytes())

    def _position(self, ply: int, action: int | None) -> Position:
        engine.scores_batch(self._game.table, self._rows, self._rows, _NONE, self._scores, self._params)
        scores = tuple(self._scores[0].tolist())
        return Position(ply, self._rows[0].copy(), self._player, np.flatnonzero(self._mask[0]), scores, action)


def _params(game: Game, options: Mapping[str, Any]) -> Params:
    """Parameters, kept: to make ISO's takes longer than to play a game. Not those of a file, which may change."""
    if any(not game.options[name].choices and value is not None for name, value in options.items()):
        return game.params(options)
    return _kept_params(game.name, tuple(options.items()))


@functools.lru_cache(maxsize=64)
def _kept_params(name: str, options: tuple[tuple[str, Any], ...]) -> Params:
    return REGISTRY[name].params(dict(options))
