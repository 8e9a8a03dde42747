"""The networks of the trained policies, as numpy runs them; `training/torch_networks.py` has the same ones to train.

A network is an architecture (plain values, kept in a policy's card) and weights (a dict of float32 arrays; a layer
is `NAME.weight` (out, in) and `NAME.bias` (out,), applied as x W^T + b). Its input are flat observations, scaled
by the bounds of their space; its output a logit for every action, legal or not, and a value: what the player to
move can expect of the reward it was trained on. With `seats` P in the architecture there are P values: those of the
player to move, of the next seat, and so on.

kind "mlp": dense layers. `hidden` leads to the logits, `value_hidden`, a net of its own, to the value.

kind "walls", for ISO: what a tile does in a cell follows from what each of its three walls does there, as seen along
that wall's axis. The three perspectives play by the same rules, figures count in any quarter turn, and white walls
are alike in every colour. So one net reads, for each cell where a tile may be placed, each axis and each colour that
the wall there could have, the walls up to `reach` cells away (`near`, and `same` for those of that colour) and the
features (`context`). It does so in four turns, adds these up, and tells by `wall` numbers what a wall of that colour
and each indicator would do there (`wall.*`). Those of a tile's three walls are added to what `tile` and `slot` say of
the tile itself, and from that follows the logit of (slot, rotation, cell). The value is read from the means; with
`greatest` in the architecture also from the greatest of these numbers, and of the logits of each slot.

kind "lines", for Isaac: each layer of `hidden` sees a cell and the means of its row and of its column, alike in
every cell; what the place itself is (`place`), for counters run over the board, and the features (`context`) are added
in the first. What a piece does that lies somewhere is told by `slot` numbers: of the cells that it would cover, in the
mean (`cover`), of its whole line (`line`) and of its type (`type`); from these follows its logit. That of a target of
the counter follows from the cell there (`target`), and the value from the features and the mean over all cells.

kind "cells", for Isis & Osiris: each layer of `hidden` sees a cell and the sum of those beside it, alike in every
cell, so that it has the symmetries of the square; the features (`context`) are added in the first. From the last
follow the logit of each cell and, with the features and the mean over all cells, those of the other actions (`other`)
and the value.
"""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.baselines import grids, walls
from iszoo.envs import isaac
from iszoo.envs.game import Game, Options
from iszoo.envs.spaces import bare_space

Weights = Mapping[str, npt.NDArray[np.float32]]
Architecture = Mapping[str, Any]

KINDS: dict[str, tuple[str, ...]] = {
    "mlp": ("hidden", "value_hidden"),
    "walls": ("reach", "hidden", "wall", "value_hidden"),
    "cells": ("hidden", "value_hidden"),
    "lines": ("hidden", "slot", "value_hidden"),
}


def shapes(architecture: Architecture, game: Game) -> dict[str, tuple[int, ...]]:
    """The names and shapes of the weights of a network. Raises ValueError for an unknown architecture."""
    check(architecture, game)
    found: dict[str, tuple[int, ...]] = {}

    def dense(name: str, *sizes: int) -> None:
        for k, (inputs, outputs) in enumerate(itertools.pairwise(sizes)):
            layer = f"{name}.{k}" if len(sizes) > 2 else name
            found[f"{layer}.weight"] = (outputs, inputs)
            found[f"{layer}.bias"] = (outputs,)

    hidden, value_hidden = architecture["hidden"], architecture["value_hidden"]
    seats = architecture.get("seats", 1)
    if architecture["kind"] == "mlp":
        dense("action", game.obs_size, *hidden, game.num_actions)
        dense("value", game.obs_size, *value_hidden, seats)
    elif architecture["kind"] == "cells":
        planes, height, width = game.board_shape
        context = len(game.features)
        for k, (inputs, outputs) in enumerate(itertools.pairwise((planes, *hidden))):
            found[f"cell.{k}.weight"] = (outputs, 2 * inputs)
            found[f"cell.{k}.bias"] = (outputs,)
        found["context.weight"] = (hidden[0], context)
        dense("action", hidden[-1], 1)
        dense("other", context + hidden[-1], game.num_actions - height * width)
        dense("value", context + hidden[-1], *value_hidden, seats)
    elif architecture["kind"] == "lines":
        planes, height, width = game.board_shape
        size, context, types = architecture["slot"], len(game.features), 2 * isaac.TYPES
        for k, (inputs, outputs) in enumerate(itertools.pairwise((planes, *hidden))):
            found[f"cell.{k}.weight"] = (outputs, 3 * inputs)
            found[f"cell.{k}.bias"] = (outputs,)
        found["place.weight"] = (height * width, hidden[0])
        found["context.weight"] = (hidden[0], context)
        found["cover.weight"] = found["line.weight"] = (2 * size, hidden[-1])
        found["type.weight"] = (types, size)
        found["action.weight"] = (types, size)
        found["action.bias"] = (types,)
        dense("target", hidden[-1], 1)
        dense("other", context + hidden[-1], 1)
        dense("value", context + hidden[-1], *value_hidden, seats)
    else:
        size, context = architecture["wall"], len(game.features)
        places = len(_ways(architecture["reach"]))
        found["near.weight"] = (9 * places, hidden[0])
        found["same.weight"] = (3 * places, hidden[0])
        dense("context", context, 3 * hidden[0])
        dense("wall", *hidden, 3 * size)
        found["tile.weight"] = (size, 27)
        dense("slot", context, size)
        dense("action", size, 1)
        greatest = size + 3 if "greatest" in architecture else 0
        dense("value", context + hidden[-1] + size + greatest, *value_hidden, seats)
    return found


def check(architecture: Architecture, game: Game) -> None:
    """Raises ValueError unless the architecture is one of KINDS, whole, and fits the game."""
    kind = architecture.get("kind")
    if kind not in KINDS:
        raise ValueError(f"architecture kind {kind!r} is not known; known are {', '.join(KINDS)}")
    if set(architecture) - {"seats", "greatest"} != {"kind", *KINDS[kind]}:
        raise ValueError(f"an architecture of kind {kind} has {', '.join(KINDS[kind])}, not {sorted(architecture)}")
    for name in KINDS[kind]:
        given = architecture[name]
        sizes = given if name.endswith("hidden") else [given]
        if not isinstance(sizes, (list, tuple)) or not all(type(size) is int and 0 < size <= 4096 for size in sizes):
            raise ValueError(f"architecture {name}={given!r} is not allowed; sizes are whole numbers from 1 to 4096")
    seats = architecture.get("seats", 1)
    if seats != 1 and seats not in game.players:
        raise ValueError(f"architecture seats={seats!r} is not allowed; it is 1 or a number of players of {game.name}")
    if "greatest" in architecture and (kind != "walls" or architecture["greatest"] is not True):
        raise ValueError("architecture greatest is true or absent, and for kind walls")
    if kind == "cells" and game.name != "isis_osiris":
        raise ValueError("kind cells is for isis_osiris")
    if kind == "lines" and game.name != "isaac":
        raise ValueError("kind lines is for isaac")
    if kind == "walls" and (game.name != "iso" or len(architecture["hidden"]) < 2):
        raise ValueError("kind walls is for iso, with two hidden layers or more")


def scales(game: Game, options: Options) -> npt.NDArray[np.float32]:
    """What each entry of a flat observation is multiplied by, (D,): 1 over its greatest absolute value."""
    space: Any = bare_space(game, options, "flat")
    greatest = np.maximum(np.abs(space.low.astype(np.float32)), np.abs(space.high.astype(np.float32)))
    return np.asarray(1 / np.maximum(greatest, 1), np.float32)


def turns(reach: int) -> npt.NDArray[np.int64]:
    """ISO: where each of the K cells in reach is after 0, 1, 2, 3 quarters of a turn: int64 (4, K)."""
    ways = _ways(reach)
    found = []
    for _ in range(4):
        found.append([_ways(reach).index(way) for way in ways])
        ways = [(-v, u) for u, v in ways]
    return np.array(found)


def _ways(reach: int) -> list[tuple[int, int]]:
    """The cells in reach, as steps (u, v) along the two directions that an axis sees."""
    steps = range(-reach, reach + 1)
    return [(u, v) for u in steps for v in steps if 0 < abs(u) + abs(v) <= reach]


def perspective(reach: int) -> npt.NDArray[np.int64]:
    """ISO: which cells are in reach of a cell, by axis: int64 (3, 256, K), in the order in which each axis sees them.

    Looked at along an axis, the cells are a square grid: along x its steps are e_y and e_z = (-1, -1), and a third of
    a turn takes x to y to z. In reach are the cells at most `reach` steps away.
    """
    units = [(1, 0), (0, 1), (-1, -1)]
    x, y = np.divmod(np.arange(256), 16)
    axes = []
    for axis in range(3):
        (ax, ay), (bx, by) = units[(axis + 1) % 3], units[(axis + 2) % 3]
        ways = [(u * ax + v * bx, u * ay + v * by) for u, v in _ways(reach)]
        axes.append(np.stack([(x + dx) % 16 * 16 + (y + dy) % 16 for dx, dy in ways], axis=1))
    return np.stack(axes)


def piece_lengths(game: Game, options: Options) -> list[int]:
    """Isaac: the cells of a piece of each type."""
    return [int(cells) for cells in game.params(options)[isaac.CELLS_OF : isaac.CELLS_OF + isaac.TYPES]]


class _OneThread:
    """While any thread is in it, NumPy's products of matrices take one: with more, their last digits vary."""

    def __init__(self) -> None:
        try:
            from threadpoolctl import ThreadpoolController
        except ImportError as error:
            raise ImportError("policies need threadpoolctl: pip install 'iszoo[policies]'") from error
        self._blas = ThreadpoolController().select(user_api="blas")
        self._lock, self._inside = threading.Lock(), 0

    def __enter__(self) -> None:
        with self._lock:  # the limit is the process's: the first sets it, the last takes it away
            if self._inside == 0:
                self._limit = self._blas.limit(limits=1)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


_one_thread = functools.cache(_OneThread)


_IN_CACHE = 32  # positions whose layers stay in the cache of a core

# What planes of an axis add to the code of the wall that it shows: 0 without one, else 1 + 3 * colour + indicator.
WALL_CODE = np.array([1, 4, 7, 0, 1, 2], np.float32)


class Network:
    """A network that numpy runs.

    Args:
        game: the game.
        options: the game's options.
        architecture: see the module.
        weights: float32 arrays of `shapes(architecture, game)`.
    """

    def __init__(self, game: Game, options: Options, architecture: Architecture, weights: Weights) -> None:
        check(architecture, game)
        self._game = game
        self._architecture = architecture
        self._weights = {name: np.ascontiguousarray(value, np.float32) for name, value in weights.items()}
        self._scales = scales(game, options)
        if architecture["kind"] == "walls":
            self._near, self._turns = perspective(architecture["reach"]), turns(architecture["reach"])
            self._table = self._near_table()
        if architecture["kind"] == "lines":
            self._lengths = np.array(piece_lengths(game, options))
        if architecture["kind"] in ("lines", "cells"):
            # As matrices that are applied from the right.
            parts = 3 if architecture["kind"] == "lines" else 2
            layers = (self._weights[f"cell.{k}.weight"] for k in range(len(architecture["hidden"])))
            split = [[np.ascontiguousarray(part.T) for part in np.split(layer, parts, axis=1)] for layer in layers]
            self._parts: list[Any] = split if parts == 3 else [np.concatenate(both, axis=1) for both in split]

    @property
    def weights(self) -> Weights:
        """The weights by name, float32."""
        return self._weights

    def logits(self, obs: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
        """Flat observations (n, D) to logits (n, A)."""
        if self._architecture["kind"] == "mlp":
            with _one_thread():
                return self._dense("action", obs * self._scales)
        return self.evaluate(obs)[0]

    def values(self, obs: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
        """Flat observations (n, D) to values (n,)."""
        if self._architecture["kind"] == "mlp":
            with _one_thread():
                return self._dense("value", obs * self._scales)[:, 0]
        return self.evaluate(obs)[1][:, 0]

    def evaluate(self, obs: npt.NDArray[np.int8]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Flat observations (n, D) to logits (n, A) and values, (n, 1) or (n, `seats`).

        By one thread, whatever is set for NumPy: the same numbers on the same processor.
        """
        with _one_thread():
            return self._evaluate(obs)

    def _evaluate(self, obs: npt.NDArray[np.int8]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        if self._architecture["kind"] == "mlp":
            x = obs * self._scales
            return self._dense("action", x), self._dense("value", x)
        if self._architecture["kind"] == "walls":
            return self._walls(obs)
        look = self._cells if self._architecture["kind"] == "cells" else self._lines
        if len(obs) <= _IN_CACHE:
            return look(obs)
        parts = [look(obs[first : first + _IN_CACHE]) for first in range(0, len(obs), _IN_CACHE)]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])

    def _layer(self, name: str, x: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        out = x @ self._weights[f"{name}.weight"].T
        bias = self._weights.get(f"{name}.bias")
        if bias is not None:
            out += bias
        return out

    def _dense(self, name: str, x: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Layers NAME.0, NAME.1, ... with ReLU between them; or the one layer NAME."""
        if f"{name}.weight" in self._weights:
            return self._layer(name, x)
        k = 0
        while f"{name}.{k + 1}.weight" in self._weights:
            x = np.maximum(self._layer(f"{name}.{k}", x), 0)
            k += 1
        return self._layer(f"{name}.{k}", x)

    def _board_and_features(self, obs: npt.NDArray[np.int8]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """What flat observations show, scaled: the planes of each cell (n, height, width, planes), and the features."""
        board = self._game.board_size
        scaled = obs * self._scales
        planes = scaled[:, :board].reshape(len(obs), *self._game.board_shape)
        return np.ascontiguousarray(planes.transpose(0, 2, 3, 1)), scaled[:, board:]

    def _cells(self, obs: npt.NDArray[np.int8]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        n, weights = len(obs), self._weights
        _, height, width = self._game.board_shape
        x, features = self._board_and_features(obs)
        context = features @ weights["context.weight"].T
        for k, both in enumerate(self._parts):
            told = (x.reshape(-1, x.shape[3]) @ both).reshape(n, height, width, both.shape[1])
            x = np.empty((n, height, width, both.shape[1] // 2), np.float32)
            grids.add_beside(told, context, weights[f"cell.{k}.bias"], x)
            context = context[:0]
        cells = x.reshape(n, height * width, x.shape[3])
        whole = np.concatenate([features, cells.mean(axis=1)], axis=1)
        of_cells = self._layer("action", cells.reshape(-1, x.shape[3])).reshape(n, height * width)
        logits = np.concatenate([of_cells, self._layer("other", whole)], axis=1)
        return logits, self._dense("value", whole)

    def _lines(self, obs: npt.NDArray[np.int8]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        n, weights = len(obs), self._weights
        _, height, width = self._game.board_shape
        x, features = self._board_and_features(obs)
        rows, columns = x.mean(axis=2), x.mean(axis=1)
        place = weights["place.weight"].reshape(height, width, -1)
        context = features @ weights["context.weight"].T
        for k in range(len(self._architecture["hidden"])):
            here, of_row, of_column = self._parts[k]
            told = (x.reshape(-1, x.shape[3]) @ here).reshape(n, height, width, here.shape[1])
            along = rows @ of_row + weights[f"cell.{k}.bias"]
            across = columns @ of_column
            rows, columns = np.empty_like(along), np.empty_like(across)
            grids.add_lines(told, along, across, context, place, rows, columns)
            context, place = context[:0], place[:0]
            x = told
        size = self._architecture["slot"]
        of_lines = weights["line.weight"]
        logits = np.zeros((n, self._game.num_actions), np.float32)
        many = 2 * isaac.TYPES * height * width
        cells = x.reshape(n, height * width, x.shape[3])
        covered = (cells.reshape(-1, x.shape[3]) @ weights["cover.weight"].T).reshape(n, height, width, 2 * size)
        grids.tell_slots(
            covered, rows @ of_lines[:size].T, columns @ of_lines[size:].T, weights["type.weight"],
            weights["action.weight"], weights["action.bias"], self._lengths, np.empty((width + 1, size), np.float32),
            logits,
        )  # fmt: skip
        whole = np.concatenate([features, rows.mean(axis=1)], axis=1)
        logits[:, many : many + height * width] = self._layer("target", cells)[..., 0]
        logits[:, -1:] = self._layer("other", whole)
        return logits, self._dense("value", whole)

    def _near_table(self) -> npt.NDArray[np.float32]:
        """What a wall adds to the first layer: by place, colour and indicator of the wall; for each colour there."""
        near, same = self._weights["near.weight"], self._weights["same.weight"]
        size = near.shape[1]
        table = np.repeat(near.reshape(-1, 3, 3, 1, size), 3, axis=3)
        for colour in range(3):
            table[:, colour, :, colour] += same.reshape(-1, 3, size)
        return np.ascontiguousarray(table.reshape(-1, 3 * size))

    def _walls(self, obs: npt.NDArray[np.int8]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        n = len(obs)
        size, wide = self._architecture["wall"], self._architecture["hidden"][0]
        features = obs[:, self._game.board_size :] * self._scales[self._game.board_size :]
        position, cell = np.nonzero(obs[:, 18 * 256 : 19 * 256])
        m = len(cell)
        codes = np.empty((n, 3, 256), np.int8)
        walls.write_codes(obs, codes)
        first = np.empty((m, 3, 3 * wide), np.float32)
        walls.add_near(
            position, cell, codes, self._near, self._turns, self._table, self._layer("context", features),
            np.empty(self._near.shape[2], np.int64), np.empty(3 * wide, np.float32), first,
        )  # fmt: skip
        hidden = first.reshape(9 * m, wide)  # (m, axis, colour), .
        layers = len(self._architecture["hidden"]) - 1
        for k in range(layers):
            hidden = np.maximum(self._layer(f"wall.{k}", hidden), 0)
        told = self._layer(f"wall.{layers}", hidden).reshape(m, 27, size)  # of each cell: axis and kind of wall
        tiles = tile_walls(features)
        kinds = np.where(tiles.any(axis=3), tiles.argmax(axis=3), -1)
        slots = self._layer("tile", tiles.reshape(n, 3, 27)) + self._layer("slot", features)[:, None]
        weight = np.append(self._weights["action.weight"][0], self._weights["action.bias"])
        logits = np.zeros((n, 9 * 256), np.float32)
        means = np.empty((m, size), np.float32)
        greatest = np.full((n, size + 3), -np.inf, np.float32)
        walls.add_tiles(position, cell, kinds, told, slots, weight, logits, means, greatest)

        starts = np.searchsorted(position, np.arange(n))
        pooled = np.zeros((n, hidden.shape[1] + size), np.float32)
        some = np.flatnonzero(np.bincount(position, minlength=n))
        if len(some):
            both = np.concatenate([hidden.reshape(m, 9, -1).mean(axis=1), means], axis=1)
            pooled[some] = np.add.reduceat(both, starts[some])
        count = np.maximum(np.bincount(position, minlength=n), 1).astype(np.float32)
        seen = [features, pooled / count[:, None]]
        if "greatest" in self._architecture:
            seen.append(np.where(np.isfinite(greatest), greatest, 0))  # nowhere to place: the game is over
        values = self._dense("value", np.concatenate(seen, axis=1))
        return logits, values


def tile_walls(features: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """ISO: the kind of wall that the tile of each slot shows on each axis, one-hot: float32 (n, 3, 3, 9)."""
    shown = features[:, :54].reshape(-1, 3, 3, 2, 3)
    return (shown[..., 0, :, None] * shown[..., 1, None, :]).reshape(-1, 3, 3, 9)
