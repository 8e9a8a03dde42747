"""The networks of `networks.py` as torch modules, with the same names and shapes of weights, to train them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.baselines import networks
from iszoo.baselines.networks import Architecture
from iszoo.envs.game import Game, Options

try:
    import torch
    from torch import nn
except ImportError as error:
    raise ImportError("training needs torch: pip install 'iszoo[train]'") from error


class TorchNetwork(nn.Module):  # type: ignore[misc, unused-ignore]
    """A network of an architecture; the same sums as `networks.Network`, with gradients.

    Weights are orthogonal, with gain sqrt 2, 0.01 where logits are made, and 1 where the value is; biases are zero.
    """

    def __init__(self, game: Game, options: Options, architecture: Architecture) -> None:
        super().__init__()
        self.game = game
        self.values_teach = False
        self.architecture = architecture
        self.weights = nn.ParameterDict()
        shapes = networks.shapes(architecture, game)
        last = {name for name in ("action", "value") if f"{name}.weight" in shapes}
        last |= {f"{name}.{max(int(key.split('.')[1]) for key in shapes if key.startswith(name + '.'))}"
                 for name in ("action", "value") if f"{name}.weight" not in shapes}  # fmt: skip
        for key, shape in shapes.items():
            layer = key.rpartition(".")[0]
            weight = torch.zeros(shape)
            if key.endswith("weight"):
                gain = 2**0.5 if layer not in last else 0.01 if layer.startswith("action") else 1.0
                if key in ("near.weight", "same.weight") and architecture["kind"] == "walls":
                    nn.init.normal_(weight, std=0.4)  # about six of the inputs are there at a time
                else:
                    nn.init.orthogonal_(weight, gain)
            self.weights[key.replace(".", "_")] = nn.Parameter(weight)
        self.register_buffer("scales", torch.as_tensor(networks.scales(game, options)), persistent=False)
        if architecture["kind"] == "lines":
            self._lengths = networks.piece_lengths(game, options)
        if architecture["kind"] == "walls":
            near = networks.perspective(architecture["reach"]) + 256 * np.arange(3)[:, None, None]
            self.register_buffer("near", torch.as_tensor(near.transpose(1, 0, 2).copy()), persistent=False)
            self.register_buffer("turns", torch.as_tensor(networks.turns(architecture["reach"])), persistent=False)
            self.register_buffer("code", torch.as_tensor(networks.WALL_CODE), persistent=False)

    def export(self) -> dict[str, npt.NDArray[np.float32]]:
        """Copies of the weights, for `networks.Network`."""
        keys = networks.shapes(self.architecture, self.game)
        return {key: self.weights[key.replace(".", "_")].detach().cpu().numpy().copy() for key in keys}

    def load(self, weights: networks.Weights) -> None:
        """Takes the weights of `export`."""
        with torch.no_grad():
            for key, value in weights.items():
                self.weights[key.replace(".", "_")].copy_(torch.as_tensor(np.asarray(value)))

    def forward(self, obs: Any) -> tuple[Any, Any]:
        """Flat observations (n, D) to logits (n, A) and values (n, 1), or (n, `seats`).

        Where both share layers, the values learn from what these show, and teach them only if `values_teach`.
        """
        if self.architecture["kind"] == "mlp":
            x = obs.float() * self.scales
            return self._dense("action", x), self._dense("value", x)
        look = {"cells": self._cells, "lines": self._lines, "walls": self._walls}[self.architecture["kind"]]
        return look(obs)

    def evaluate(self, obs: npt.NDArray[np.int8]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """As `networks.Network.evaluate`."""
        with torch.no_grad():
            logits, values = self.forward(torch.as_tensor(obs))
        return logits.numpy(), values.numpy()

    def forward_actor(self, obs: Any) -> Any:
        """The logits alone."""
        if self.architecture["kind"] == "mlp":
            return self._dense("action", obs.float() * self.scales)
        return self.forward(obs)[0]

    def forward_critic(self, obs: Any) -> Any:
        """The values alone."""
        if self.architecture["kind"] == "mlp":
            return self._dense("value", obs.float() * self.scales)
        return self.forward(obs)[1]

    def actor(self) -> list[Any]:
        """The weights that the logits follow from."""
        return [weight for name, weight in self.weights.items() if not name.startswith("value_")]

    def _layer(self, name: str, x: Any) -> Any:
        return nn.functional.linear(x, self.weights[f"{name}_weight"], self.weights.get(f"{name}_bias"))

    def _dense(self, name: str, x: Any) -> Any:
        if f"{name}_weight" in self.weights:
            return self._layer(name, x)
        k = 0
        while f"{name}_{k + 1}_weight" in self.weights:
            x = torch.relu(self._layer(f"{name}_{k}", x))
            k += 1
        return self._layer(f"{name}_{k}", x)

    def _cells(self, obs: Any) -> tuple[Any, Any]:
        n, board = len(obs), self.game.board_size
        scaled = obs.float() * self.scales
        features = scaled[:, board:]
        planes, height, width = self.game.board_shape
        x = scaled[:, :board].reshape(n, planes, height * width).transpose(1, 2)
        for k in range(len(self.architecture["hidden"])):
            here = x.reshape(n, height, width, -1)
            padded = nn.functional.pad(here, (0, 0, 1, 1, 1, 1))
            beside = padded[:, :-2, 1:-1] + padded[:, 2:, 1:-1] + padded[:, 1:-1, :-2] + padded[:, 1:-1, 2:]
            x = self._layer(f"cell_{k}", torch.cat([here, beside], dim=3).flatten(1, 2))
            if k == 0:
                x = x + (features @ self.weights["context_weight"].T)[:, None]
            x = torch.relu(x)
        means = x.mean(dim=1)
        whole = torch.cat([features, means], dim=1)
        logits = torch.cat([self._layer("action", x)[:, :, 0], self._layer("other", whole)], dim=1)
        if not self.values_teach:
            whole = torch.cat([features, means.detach()], dim=1)
        return logits, self._dense("value", whole)

    def _lines(self, obs: Any) -> tuple[Any, Any]:
        n, board = len(obs), self.game.board_size
        scaled = obs.float() * self.scales
        features = scaled[:, board:]
        planes, height, width = self.game.board_shape
        x = scaled[:, :board].reshape(n, planes, height, width).permute(0, 2, 3, 1)
        for k in range(len(self.architecture["hidden"])):
            here, row, column = self.weights[f"cell_{k}_weight"].chunk(3, dim=1)
            told = x @ here.T + (x.mean(dim=2) @ row.T + self.weights[f"cell_{k}_bias"])[:, :, None]
            told = told + (x.mean(dim=1) @ column.T)[:, None]
            if k == 0:
                told = told + self.weights["place_weight"].view(height, width, -1)
                told = told + (features @ self.weights["context_weight"].T)[:, None, None]
            x = torch.relu(told)
        size = self.architecture["slot"]
        slots = []
        for o in range(2):
            some = slice(o * size, (o + 1) * size)
            turned = x if o == 0 else x.transpose(1, 2)
            lines = turned.mean(dim=2) @ self.weights["line_weight"][some].T
            sums = nn.functional.pad((turned @ self.weights["cover_weight"][some].T).cumsum(dim=2), (0, 0, 1, 0))
            for k, length in enumerate(self._lengths):
                kind = 2 * k + o
                seen = (sums[:, :, length:] - sums[:, :, :-length]) / length
                seen = torch.relu(seen + (lines + self.weights["type_weight"][kind])[:, :, None])
                told = seen @ self.weights["action_weight"][kind] + self.weights["action_bias"][kind]
                told = nn.functional.pad(told, (0, length - 1))
                slots.append(told if o == 0 else told.transpose(1, 2))
        half = len(slots) // 2
        kinds = [slots[o * half + k] for k in range(half) for o in range(2)]
        cells = x.flatten(1, 2)
        means = cells.mean(dim=1)
        whole = torch.cat([features, means], dim=1)
        logits = torch.cat(
            [torch.stack(kinds, dim=1).flatten(1), self._layer("target", cells)[:, :, 0], self._layer("other", whole)],
            dim=1,
        )
        if not self.values_teach:
            whole = torch.cat([features, means.detach()], dim=1)
        return logits, self._dense("value", whole)

    def _walls(self, obs: Any) -> tuple[Any, Any]:
        n = len(obs)
        size, board = self.architecture["wall"], self.game.board_size
        features = obs[:, board:].float() * self.scales[board:]
        position, cell = torch.nonzero(obs[:, 18 * 256 : 19 * 256], as_tuple=True)
        codes = torch.einsum("p,napc->nac", self.code, obs[:, : 18 * 256].reshape(n, 3, 6, 256).float()).int()
        seen = codes.reshape(-1)[(self.near[cell] + 768 * position[:, None, None])].view(-1, self.near.shape[2])
        rows, places = torch.nonzero(seen, as_tuple=True)
        # Bags of the walls that are there (most cells are empty), under the weights in each of the four turns. Weights
        # are by place, colour and indicator of the wall there, and colour of the wall in the cell.
        wide = self.architecture["hidden"][0]
        same = torch.einsum("pih,ck->pcikh", self.weights["same_weight"].view(-1, 3, wide), torch.eye(3))
        weight = self.weights["near_weight"].view(-1, 3, 3, 1, wide) + same
        weight = torch.stack([weight[turn] for turn in self.turns], dim=3).view(9 * len(weight), -1)
        chosen = 9 * places + (seen[rows, places] - 1)
        first = torch.searchsorted(rows, torch.arange(3 * len(cell)))
        bags = nn.functional.embedding_bag(chosen, weight, first, mode="sum")
        context = self._layer("context", features).view(n, 1, 1, 3, wide)
        hidden = torch.relu_(bags.view(len(cell), 3, 4, 3, wide) + context[position]).sum(dim=2)
        layers = len(self.architecture["hidden"]) - 1
        for k in range(layers):
            hidden = torch.relu_(self._layer(f"wall_{k}", hidden))
        told = self._layer(f"wall_{layers}", hidden).reshape(-1, 27, size)
        shown = features[:, :54].reshape(-1, 3, 3, 2, 3)
        tiles = (shown[..., 0, :, None] * shown[..., 1, None, :]).reshape(-1, 3, 3, 9)
        turned = torch.stack([tiles.roll(turn, dims=2) for turn in range(3)], dim=2).reshape(n, 9, 27)
        slots = self._layer("tile", tiles.reshape(n, 3, 27)) + self._layer("slot", features)[:, None]
        sums = torch.relu(torch.bmm(turned[position], told) + slots.repeat_interleave(3, dim=1)[position])
        places = (position[:, None] * 9 + torch.arange(9)) * 256 + cell[:, None]
        of_cells = self._layer("action", sums)[:, :, 0]
        logits = torch.zeros(n * 9 * 256).index_put((places,), of_cells).view(n, -1)
        count = torch.bincount(position, minlength=n).clamp(min=1).float()
        means = torch.cat([hidden.mean(dim=(1, 2)), sums.mean(dim=1)], dim=1)
        if not self.values_teach:
            means = means.detach()
        pooled = torch.zeros((n, hidden.shape[3] + size)).index_add(0, position, means)
        seen_by_value = [features, pooled / count[:, None]]
        if "greatest" in self.architecture:
            greatest = torch.cat([sums.amax(dim=1), of_cells.view(-1, 3, 3).amax(dim=2)], dim=1)
            if not self.values_teach:
                greatest = greatest.detach()
            index = position[:, None].expand(-1, size + 3)
            tops = torch.zeros((n, size + 3)).scatter_reduce(0, index, greatest, "amax", include_self=False)
            seen_by_value.append(tops)
        values = self._dense("value", torch.cat(seen_by_value, dim=1))
        return logits, values
