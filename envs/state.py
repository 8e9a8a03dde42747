"""A position as bytes: a head that says what it is of, a checksum, and the row."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

from iszoo.envs.game import Game, Options, Params, Rows

_MAGIC = b"iszoo"
_FORMAT = 1
_HEAD = struct.Struct("<5sB24s8sI")  # magic, format, game id, fingerprint of the parameters, CRC-32 of the rest


def to_bytes(game: Game, params: Params, row: Rows) -> bytes:
    """A row with its head."""
    body = row.astype("<i8").tobytes()
    head = (game.id.encode(), game.fingerprint(params))
    return _HEAD.pack(_MAGIC, _FORMAT, *head, _checksum(*head, body)) + body


def from_bytes(game: Game, params: Params, options: Options, data: Any) -> Rows:
    """The row in bytes of `to_bytes`. Raises ValueError for all that can't be a position of this game."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise ValueError(f"a state is bytes from get_state(), not {type(data).__name__}")
    data = bytes(data)
    if len(data) < _HEAD.size or data[: len(_MAGIC)] != _MAGIC:
        raise ValueError(f"these {len(data)} bytes are not a state of iszoo")
    _, version, name, fingerprint, checksum = _HEAD.unpack_from(data)
    if version != _FORMAT:
        raise ValueError(f"this state has format {version}; this version of iszoo reads format {_FORMAT}")
    name = name.rstrip(b"\0")
    if name != game.id.encode():
        raise ValueError(f"this is a state of {name.decode(errors='replace')}, not of {game.id}")
    body = data[_HEAD.size :]
    if len(body) != 8 * game.row_size and fingerprint == game.fingerprint(params):
        raise ValueError(f"this state is {len(body)} bytes long after its head, not {8 * game.row_size}")
    if checksum != _checksum(name, fingerprint, body):
        raise ValueError("this state is damaged: its checksum is wrong")
    if fingerprint != game.fingerprint(params):
        settled = ", ".join(f"{key}={value!r}" for key, value in options.items())
        raise ValueError(f"this state is of {game.id} with other options or tables than {settled}")
    return np.frombuffer(body, "<i8").astype(np.int64)


def _checksum(name: bytes, fingerprint: bytes, body: bytes) -> int:
    return zlib.crc32(name + fingerprint + body)
