"""Game records, see `iszoo.envs.record`: `from iszoo import record`."""

from iszoo.envs.record import (
    Position,
    Record,
    RecordError,
    append,
    dumps,
    game_of,
    loads,
    make,
    read,
    replay,
    verify,
)

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
