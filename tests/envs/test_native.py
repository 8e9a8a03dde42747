"""What compiled code says of whole words at a time, against NumPy; interpreted code is tested by the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from iszoo.envs.engine import count_legal, nth_legal
from iszoo.envs.native import gather64, kernel, load8, popcount, spread64, store8, trailing_zeros

WORDS = [0, 1, -1, 2**63 - 1, -(2**63), 0x0123456789ABCDEF, -0x0123456789ABCDEF]


@kernel
def spread_at(out: Any, at: int, word: int) -> None:
    spread64(out, 0, at, word)


@kernel
def gather_at(data: Any, at: int) -> int:
    return gather64(data, 0, at)


@kernel
def copy_at(out: Any, data: Any, at: int) -> None:
    store8(out, 0, at, load8(data, 0, at))


@kernel
def counts(word: int) -> tuple[int, int]:
    return popcount(word), trailing_zeros(word)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("at", [0, 3, 8])
def test_bits_to_bytes_and_back(word: int, at: int) -> None:
    out = np.full((1, 80), 7, np.int8)
    spread_at(out, at, word)
    assert out[0, at : at + 64].tolist() == [(word >> k) & 1 for k in range(64)]
    assert (out[0, :at] == 7).all()
    assert (out[0, at + 64 :] == 7).all()
    assert gather_at(out, at) == word


def test_any_byte_but_zero_is_a_bit() -> None:
    data = np.zeros((1, 64), np.int8)
    data[0, [1, 5, 62]] = 1, -128, 64
    assert gather_at(data, 0) == (1 << 1) | (1 << 5) | (1 << 62)


def test_eight_bytes() -> None:
    data = np.arange(-8, 8, dtype=np.int8)[None]
    out = np.zeros_like(data)
    copy_at(out, data, 5)
    assert out[0].tolist() == [*[0] * 5, *data[0, 5:13].tolist(), *[0] * 3]


@pytest.mark.parametrize("word", WORDS)
def test_counts(word: int) -> None:
    bits = [k for k in range(64) if (word >> k) & 1]
    assert tuple(counts(word)) == (len(bits), bits[0] if bits else 64)


@pytest.mark.parametrize("size", [5, 8, 37, 64, 75, 200])
@pytest.mark.parametrize("density", [0.02, 0.5, 1.0])
def test_the_nth_legal_action(size: int, density: float) -> None:
    mask = (np.random.default_rng(size).random((2, size)) < density).astype(np.int8)
    expected = np.flatnonzero(mask[1]).tolist()
    assert count_legal(mask, 1) == len(expected)
    assert [nth_legal(mask, 1, n) for n in range(len(expected))] == expected
