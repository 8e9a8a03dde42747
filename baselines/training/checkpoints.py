"""Checkpoints of a training run: tensors and plain values, written whole, read without running anything."""

from __future__ import annotations

import io
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from iszoo.reports import write_bytes

try:
    import torch
except ImportError as error:
    raise ImportError("training needs torch: pip install 'iszoo[train]'") from error


def save_checkpoint(path: Path, value: Mapping[str, Any]) -> None:
    """Writes nested dicts and lists of arrays, tensors and plain values: whole, or not at all."""
    buffer = io.BytesIO()
    torch.save(_tensors(value), buffer)
    write_bytes(path, buffer.getvalue())


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Reads what `save_checkpoint` wrote, arrays as tensors. Raises ValueError for a file that isn't one."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{path}: there is no such file to resume") from None
    try:
        value = torch.load(io.BytesIO(data), weights_only=True)
    except Exception as error:  # torch raises many kinds, and says in them how to load without safety
        raise ValueError(f"{path}: is not a whole checkpoint ({type(error).__name__})") from None
    if not isinstance(value, dict):
        raise ValueError(f"{path}: is not a checkpoint")
    return value


def random_state() -> dict[str, Any]:
    """The state of the global generators that Stable-Baselines3 and torch draw from."""
    state = np.random.get_state(legacy=False)  # noqa: NPY002 - SB3's buffers draw from it
    assert isinstance(state, dict)
    kept = {**state, "state": {**state["state"], "key": state["state"]["key"].astype(np.int64)}}
    return {"torch": torch.get_rng_state(), "python": random.getstate(), "numpy": kept}


def set_random_state(state: Mapping[str, Any]) -> None:
    """Sets what `random_state` gave."""
    torch.set_rng_state(state["torch"])
    version, words, gauss = state["python"]
    random.setstate((version, tuple(words), gauss))
    kept = state["numpy"]
    np.random.set_state({**kept, "state": {**kept["state"], "key": kept["state"]["key"].numpy().astype(np.uint32)}})  # noqa: NPY002


def arrays(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Tensors of a checkpoint as arrays."""
    return {name: tensor.numpy() for name, tensor in tensors.items()}


def _tensors(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _tensors(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_tensors(part) for part in value]
    if isinstance(value, np.ndarray):
        return torch.as_tensor(value).clone()
    return value
