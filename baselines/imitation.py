"""Learning what a scripted agent plays, before self-play: positions without end, each seen once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.baselines.agents import ScriptedAgent, make_agent, view_of
from iszoo.baselines.scripted import SCRIPTED
from iszoo.envs.game import Game, Options
from iszoo.envs.vec import VecEnv

try:
    import torch
    from torch import nn

    from iszoo.baselines.torch_networks import TorchNetwork
except ImportError as error:
    raise ImportError("training needs torch: pip install 'iszoo[train]'") from error

STEPS = 16  # plies that are played between updates


class Imitation:
    """A network that learns from a teacher, in games in which both of them move.

    Args:
        game, options: what is played.
        network: learns; its values are left alone.
        positions: how many it sees in all.
        teacher: the name of a scripted agent.
        num_envs: games side by side.
        seed: of the games.
        rng: draws all else.
        soften: the targets are the softmax of what the teacher wants over this temperature; 0: its choice alone.
        wander: how often the network moves by its own policy, which shows it positions that the teacher avoids.
        batch: positions of an update.
        rate: Adam's learning rate at the beginning; it falls to a tenth in a line.

    Raises ValueError for a teacher that isn't a scripted agent of the game.
    """

    def __init__(
        self,
        game: Game,
        options: Options,
        network: TorchNetwork,
        *,
        positions: int,
        teacher: str,
        num_envs: int,
        seed: int,
        rng: np.random.Generator,
        soften: float,
        wander: float,
        batch: int,
        rate: float,
    ) -> None:
        names = SCRIPTED.get(game.name, {})
        if teacher not in names:
            raise ValueError(f"teacher={teacher!r} is not allowed; choose one of {', '.join(names)}")
        agent = make_agent(teacher, game)
        assert isinstance(agent, ScriptedAgent)
        self._teacher = agent
        self._network = network
        self._positions = positions
        self._soften, self._wander, self._batch, self._rate = soften, wander, batch, rate
        self._rng = rng
        self.seen = 0
        self._optimizer = torch.optim.Adam(network.actor(), lr=rate, eps=1e-5)
        self._vec = VecEnv(game, num_envs, seed=seed, **options)
        # Every game begins at another ply, so that a batch shows all of a game.
        ahead = rng.integers(game.max_game_length, size=num_envs)
        for ply in range(game.max_game_length):
            mask = self._vec.action_mask
            self._vec.step((mask * rng.uniform(0.1, 1, mask.shape)).argmax(axis=1), where=ahead > ply)

    @property
    def finished(self) -> bool:
        """Whether all positions were seen."""
        return self.seen >= self._positions

    def learn(self) -> tuple[float, float]:
        """Plays some plies in each game and learns from them.

        Returns the mean loss (cross-entropy, nats) and how often the network's best action is one of the teacher's.
        """
        obs, masks, targets = self._play()
        losses, agreed = [], 0
        for group in self._optimizer.param_groups:
            group["lr"] = self._rate * max(0.1, 1 - 0.9 * self.seen / self._positions)
        for batch in torch.randperm(len(obs)).split(self._batch):
            logits = self._network.forward_actor(obs[batch]).masked_fill(masks[batch] == 0, -1e8)
            loss = nn.functional.cross_entropy(logits, targets[batch])
            self._optimizer.zero_grad()
            loss.backward()
            self._optimizer.step()
            losses.append(loss.item())
            best = targets[batch].gather(1, logits.argmax(dim=1, keepdim=True))[:, 0]
            agreed += int((best >= 0.999 * targets[batch].amax(dim=1)).sum())
        self.seen += len(obs)
        return float(np.mean(losses)), agreed / len(obs)

    def get_state(self) -> dict[str, Any]:
        """What a checkpoint keeps; the network and the generators are not in it."""
        return {"seen": self.seen, "rows": self._vec.rows.copy(), "optimizer": self._optimizer.state_dict()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Takes up what `get_state` gave."""
        self.seen = int(state["seen"])
        self._vec.rows[:] = np.asarray(state["rows"])
        self._vec.refresh()
        self._optimizer.load_state_dict(state["optimizer"])

    def _play(self) -> tuple[Any, Any, Any]:
        """Observations, masks, and how likely each action should be: tensors (n, D), (n, A), (n, A)."""
        vec, rng = self._vec, self._rng
        everyone = np.arange(vec.num_envs)
        obs, masks, targets = [], [], []
        for _ in range(STEPS):
            view = view_of(vec, everyone, rng.integers(1 << 62, size=vec.num_envs))
            chosen, wanted = self._teacher.weigh(view)
            obs.append(view.obs)
            masks.append(view.action_mask)
            targets.append(self._target(chosen, wanted))
            with torch.no_grad():
                logits = self._network.forward_actor(torch.as_tensor(view.obs)).numpy()
            drawn = logits + rng.gumbel(size=logits.shape).astype(np.float32)
            own = np.where(view.action_mask != 0, drawn, -np.inf).argmax(axis=1)
            vec.step(np.where(rng.random(vec.num_envs) < self._wander, own, chosen))
        return _tensor(obs), _tensor(masks), _tensor(targets)

    def _target(self, chosen: npt.NDArray[np.int64], wanted: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
        if self._soften == 0:
            target = np.zeros(wanted.shape, np.float32)
            target[np.arange(len(chosen)), chosen] = 1
            return target
        weights = np.exp((wanted - wanted.max(axis=1, keepdims=True)) / self._soften)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True), np.float32)


def _tensor(parts: list[npt.NDArray[Any]]) -> Any:
    return torch.as_tensor(np.concatenate(parts))
