"""One game as one line of JSON: the fields of a record, and what is wrong with a line that isn't one."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from iszoo._version import __version__
from iszoo.envs.seeds import SEED_LIMIT

FORMAT = 1
MAGIC = "iszoo_record"
START = f'{{"{MAGIC}": '.encode()
"""What every line begins with."""
LONGEST_NAME = 200
_LARGEST = 2**63 - 1


class RecordError(ValueError):
    """A record that is damaged, cut off, foreign, or not what the rules say. Names the line and the field."""


@dataclass(frozen=True)
class Record:
    """One game, as `make` and `read` of iszoo.record give it; the fields are explained there."""

    game: str
    options: Mapping[str, Any]
    seed: int
    deal: tuple[int, ...] | None
    agents: tuple[str, ...]
    actions: tuple[int, ...]
    moves: tuple[str, ...]
    over: bool
    offender: int | None
    returns: tuple[float, ...]
    scores: tuple[int, ...]
    rules: str
    trace: str
    iszoo: str = __version__
    source: str = field(default="record", compare=False)  #: where it was read, for errors: "games.jsonl, line 3"


def dumps(record: Record) -> str:
    """The line of a record, without its end."""
    body = {
        MAGIC: FORMAT,
        "game": record.game,
        "options": dict(record.options),
        "seed": record.seed,
        "deal": None if record.deal is None else list(record.deal),
        "agents": list(record.agents),
        "actions": list(record.actions),
        "moves": list(record.moves),
        "result": {name: getattr(record, name) for name in _RESULT},
        "rules": record.rules,
        "trace": record.trace,
        "iszoo": record.iszoo,
    }
    return json.dumps({**body, "checksum": _checksum(body)})


def loads(line: str | bytes, source: str = "record") -> Record:
    """The record in a line; `source` is what errors call it.

    The line is looked at by itself. Whether the game has such options and was played like that, `verify` of
    iszoo.record finds out.

    Raises RecordError that names the field.
    """
    body = _parsed(line, source)
    if not isinstance(body, dict) or MAGIC not in body:
        wrong(source, MAGIC, "missing; this is no record of iszoo")
    if type(body[MAGIC]) is not int or body[MAGIC] != FORMAT:
        wrong(source, MAGIC, f"format {_shown(body[MAGIC])}; this version of iszoo reads format {FORMAT}")
    try:
        _fields(body, "", {MAGIC: _any, **_FIELDS, "checksum": _text})
    except _Wrong as error:
        wrong(source, *error.args)
    right = _checksum({name: value for name, value in body.items() if name != "checksum"})
    if body["checksum"] != right:
        problem = f"{_shown(body['checksum'])}, but the line gives {right!r}: it was changed after it was written"
        wrong(source, "checksum", problem)
    fields = {name: body[name] for name in _FIELDS if name != "result"} | body["result"]
    fields["returns"] = [float(value) for value in fields["returns"]]
    lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    return Record(**{**fields, **lists}, source=source)


def wrong(source: str, name: str, problem: str) -> NoReturn:
    """Raises the error about a field."""
    raise RecordError(f"{source}: {name}: {problem}")


# --- JSON --------------------------------------------------------------------------------------------------


def _parsed(line: str | bytes, source: str) -> Any:
    if isinstance(line, bytes):
        try:
            line = line.decode()
        except UnicodeDecodeError as error:
            field = _last_field(error.object[: error.start].decode())
            wrong(source, field, f"damaged: no UTF-8 text at byte {error.start + 1} of the line")
    try:
        return json.loads(line, object_pairs_hook=_once_each, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        rest = line[error.pos :].strip()  # of a word or a number, perhaps
        begun = re.fullmatch(r"[\w.+-]*", rest) is not None and (error.pos > 0 or not rest)
        cut = begun or error.msg.startswith("Unterminated")
        problem = f"{'cut off' if cut else 'damaged'} at character {error.pos + 1} of the line: {error.msg}"
        wrong(source, _last_field(line[: error.pos]), problem)
    except (_Wrong, RecursionError) as error:
        raise RecordError(f"{source}: {': '.join(map(str, error.args))}") from None
    except ValueError as error:  # a number of thousands of digits
        raise RecordError(f"{source}: {MAGIC}: damaged: {error}") from None


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise _Wrong(name, "there twice")
    return dict(pairs)


def _no_constant(name: str) -> NoReturn:
    raise _Wrong(MAGIC, f"damaged: {name} is not JSON")


def _last_field(text: str) -> str:
    """The name of the last field that a piece of JSON begins."""
    names = [piece.rpartition('"')[2] for piece in text.split('":')[:-1]]
    return names[-1] if names else MAGIC


def _checksum(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# --- Fields ------------------------------------------------------------------------------------------------


class _Wrong(Exception):
    """The name of a field, and what is wrong with it."""


_Check = Callable[[Any, str], None]


def _any(value: Any, name: str) -> None:
    pass


def _text(value: Any, name: str) -> None:
    if not isinstance(value, str):
        raise _Wrong(name, f"{_shown(value)} is no text")


def _agent(value: Any, name: str) -> None:
    _text(value, name)
    if not 0 < len(value) <= LONGEST_NAME:
        raise _Wrong(name, f"a name has 1 to {LONGEST_NAME} characters, not {len(value)}")


def _object(value: Any, name: str) -> None:
    if not isinstance(value, dict):
        raise _Wrong(name, f"{_shown(value)} is no object")


def _flag(value: Any, name: str) -> None:
    if not isinstance(value, bool):
        raise _Wrong(name, f"{_shown(value)} is neither true nor false")


def _number(value: Any, name: str) -> None:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise _Wrong(name, f"{_shown(value)} is no number")


def _whole(least: int, most: int) -> _Check:
    def check(value: Any, name: str) -> None:
        if type(value) is not int or not least <= value <= most:
            raise _Wrong(name, f"{_shown(value)} is no whole number from {least} to {most}")

    return check


def _each(check: _Check) -> _Check:
    def check_all(values: Any, name: str) -> None:
        if not isinstance(values, list):
            raise _Wrong(name, f"{_shown(values)} is no list")
        for k, value in enumerate(values):
            check(value, f"{name}[{k}]")

    return check_all


def _or_null(check: _Check) -> _Check:
    return lambda value, name: None if value is None else check(value, name)


def _result(value: Any, name: str) -> None:
    _object(value, name)
    _fields(value, f"{name}.", _RESULT)


def _fields(body: Mapping[str, Any], prefix: str, checks: Mapping[str, _Check]) -> None:
    """Neither fewer nor more fields than these, and all of them right."""
    for name in body:
        if name not in checks:
            raise _Wrong(prefix + name, f"unknown; the fields are {', '.join(checks)}")
    for name, check in checks.items():
        if name not in body:
            raise _Wrong(prefix + name, "missing")
        check(body[name], prefix + name)


_RESULT: dict[str, _Check] = {
    "over": _flag,
    "offender": _or_null(_whole(0, 99)),
    "returns": _each(_number),
    "scores": _each(_whole(-_LARGEST, _LARGEST)),
}
_FIELDS: dict[str, _Check] = {
    "game": _text,
    "options": _object,
    "seed": _whole(0, SEED_LIMIT - 1),
    "deal": _or_null(_each(_whole(-_LARGEST, _LARGEST))),
    "agents": _each(_agent),
    "actions": _each(_whole(0, _LARGEST)),
    "moves": _each(_text),
    "result": _result,
    "rules": _text,
    "trace": _text,
    "iszoo": _text,
}


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def check_agents(agents: Sequence[str], players: int) -> None:
    """Raises ValueError unless there is a name for each seat."""
    if len(agents) != players:
        raise ValueError(f"{len(agents)} agents for {players} players: name one for each seat")
    for k, name in enumerate(agents):
        try:
            _agent(name, f"agents[{k}]")
        except _Wrong as error:
            raise ValueError(": ".join(error.args)) from None
