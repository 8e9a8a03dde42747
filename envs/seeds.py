"""Seeds: what is accepted as one, and where one comes from when none is given."""

from __future__ import annotations

import operator
import secrets
from typing import Any

SEED_LIMIT = 2**63


def as_seed(seed: Any, count: int = 1) -> int:
    """A seed as a Python int, with room for count - 1 seeds after it. Raises ValueError."""
    if not isinstance(seed, bool):
        try:
            value = operator.index(seed)
        except TypeError:
            value = -1
        if 0 <= value <= SEED_LIMIT - count:
            return value
    raise ValueError(f"a seed is a whole number from 0 to 2**63 - {count}, not {seed!r}")


def fresh_seed() -> int:
    """A seed from the operating system. Leaves room for a batch of any size after it."""
    return secrets.randbits(62)
