"""Learning what scripted agents want, before self-play: positions without end, each seen once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.baselines.agents import ScriptedAgent, make_agent, view_of
from iszoo.baselines.scripted import SCRIPTED
from iszoo.baselines.training.arguments import SEEDS_APART, TrainingArguments
from iszoo.envs.game import Game, Options
from iszoo.envs.vec import VecEnv

try:
    import torch
    from torch import nn

    from iszoo.baselines.training.torch_networks import TorchNetwork
except ImportError as error:
    raise ImportError("training needs torch: pip install 'iszoo[train]'") from error

KINDS = ("choices", "values")
GAMES = 256  # side by side
STEPS = 16  # plies that are played in each between updates


@dataclass(frozen=True)
class Lesson:
    """So many positions with one teacher.

    Kind "choices": the policy becomes the softmax of what the teacher wants over a temperature, by cross-entropy.
    Kind "values": logits times the temperature become what the teacher wants, both centred, by mean squares; every
    legal action teaches, but all the teacher's values must mean something.
    """

    teacher: str  #: the name of a scripted agent
    kind: str
    positions: int

    @classmethod
    def parse(cls, text: str, game: Game) -> Lesson:
        """From TEACHER:KIND:POSITIONS. Raises ValueError that says what is allowed."""
        names = tuple(SCRIPTED.get(game.name, {}))
        teacher, _, rest = text.partition(":")
        kind, _, positions = rest.partition(":")
        if teacher not in names or kind not in KINDS or not positions.isdigit() or int(positions) == 0:
            raise ValueError(
                f"--imitate {text}: write TEACHER:KIND:POSITIONS, the teacher one of {', '.join(names) or 'none'},"
                f" the kind one of {', '.join(KINDS)}"
            )
        return cls(teacher, kind, int(positions))


class Imitation:
    """A network that learns from teachers, in games in which both of them move.

    Args:
        game, options: what is played.
        network: learns; its values are left alone.
        lessons: one after the other.
        seed: of the games.
        rng: draws all else.
        soften: the temperature, in the teacher's units; 0, with "choices": its choice alone.
        wander: how often the network moves by its own policy, which shows it positions that the teacher avoids.
        batch: positions of an update.
        rate: Adam's learning rate at the beginning; it falls to a fiftieth in a line, over all lessons.

    Attributes:
        seen, positions: how many positions it has seen, and will see.
        loss: the mean of the last positions.
        agreement: how often the network's best action was one of the teacher's best, among these.

    Raises ValueError for a temperature that doesn't fit.
    """

    def __init__(
        self,
        game: Game,
        options: Options,
        network: TorchNetwork,
        *,
        lessons: Sequence[Lesson],
        seed: int,
        rng: np.random.Generator,
        soften: float,
        wander: float,
        batch: int,
        rate: float,
    ) -> None:
        if soften < 0 or (soften == 0 and any(lesson.kind == "values" for lesson in lessons)):
            raise ValueError(f"soften={soften!r} is not allowed; it is above 0, or 0 where only choices are learnt")
        self._game = game
        self._network = network
        self._lessons = tuple(lessons)
        self._soften, self._wander, self._batch, self._rate = soften, wander, batch, rate
        self._rng = rng
        self.positions = sum(lesson.positions for lesson in lessons)
        self.seen = 0
        self.loss = self.agreement = 0.0
        self._optimizer = torch.optim.Adam(network.actor(), lr=rate, eps=1e-5)
        self._vec = VecEnv(game, GAMES, seed=seed, **options)
        # Every game begins at another ply, so that a batch shows all of a game.
        ahead = rng.integers(game.max_game_length, size=GAMES)
        for ply in range(game.max_game_length):
            mask = self._vec.action_mask
            self._vec.step((mask * rng.uniform(0.1, 1, mask.shape)).argmax(axis=1), where=ahead > ply)

    @classmethod
    def of(
        cls, arguments: TrainingArguments, game: Game, options: Options, network: TorchNetwork, rng: np.random.Generator
    ) -> Imitation | None:
        """What the arguments of a script ask for; None for none."""
        a = arguments
        lessons = [Lesson.parse(text, game) for text in a.imitate]
        if not lessons:
            return None
        return cls(
            game, options, network, lessons=lessons, seed=a.seed * SEEDS_APART + SEEDS_APART // 2, rng=rng,
            soften=a.soften, wander=a.wander, batch=a.imitate_batch, rate=a.imitate_rate,
        )  # fmt: skip

    @property
    def finished(self) -> bool:
        """Whether all positions were seen."""
        return self.seen >= self.positions

    def learn(self) -> str:
        """Plays some plies in each game and learns from them; says how it goes after each tenth, else nothing."""
        lesson = self._lesson()
        agent = make_agent(lesson.teacher, self._game)
        assert isinstance(agent, ScriptedAgent)
        obs, masks, wanted = self._play(agent)
        losses, agreed = [], 0
        for group in self._optimizer.param_groups:
            group["lr"] = self._rate * max(0.02, 1 - self.seen / self.positions)
        for batch in torch.randperm(len(obs)).split(self._batch):
            logits = self._network.forward_actor(obs[batch])
            legal, values = masks[batch] != 0, wanted[batch]
            loss = self._loss(lesson.kind, logits, legal, values)
            self._optimizer.zero_grad()
            loss.backward()
            self._optimizer.step()
            losses.append(loss.item())
            best = logits.masked_fill(~legal, -torch.inf).argmax(dim=1, keepdim=True)
            agreed += int((values.gather(1, best)[:, 0] >= values.amax(dim=1)).sum())
        before, self.seen = self.seen, self.seen + len(obs)
        self.loss, self.agreement = float(np.mean(losses)), agreed / len(obs)
        if self.seen * 10 // self.positions == before * 10 // self.positions:
            return ""
        return f"{lesson.teacher}'s {lesson.kind}: loss {self.loss:.3f}, the same action {self.agreement:.1%}"

    def _lesson(self) -> Lesson:
        """The lesson that is due."""
        end = 0
        for lesson in self._lessons:
            end += lesson.positions
            if self.seen < end:
                return lesson
        return self._lessons[-1]

    def _loss(self, kind: str, logits: Any, legal: Any, values: Any) -> Any:
        if kind == "choices":
            if self._soften:
                target = torch.softmax(values / self._soften, dim=1)
            else:
                best = values == values.amax(dim=1, keepdim=True)
                target = best / best.sum(dim=1, keepdim=True)
            return nn.functional.cross_entropy(logits.masked_fill(~legal, -1e8), target)
        count = legal.sum(dim=1)
        error = torch.where(legal, logits * self._soften - values, 0.0)
        error = torch.where(legal, error - error.sum(dim=1, keepdim=True) / count[:, None], 0.0)
        return (error.square().sum(dim=1) / count).mean()

    def get_state(self) -> dict[str, Any]:
        """What a checkpoint keeps; the network and the generators are not in it."""
        return {"seen": self.seen, "rows": self._vec.rows.copy(), "optimizer": self._optimizer.state_dict()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Takes up what `get_state` gave."""
        self.seen = int(state["seen"])
        self._vec.rows[:] = np.asarray(state["rows"])
        self._vec.refresh()
        self._optimizer.load_state_dict(state["optimizer"])

    def _play(self, teacher: ScriptedAgent) -> tuple[Any, Any, Any]:
        """Observations, masks, and what the teacher wants (-inf: illegal): tensors (n, D), (n, A), (n, A)."""
        vec, rng = self._vec, self._rng
        everyone = np.arange(vec.num_envs)
        obs, masks, wanted = [], [], []
        for _ in range(STEPS):
            view = view_of(vec, everyone, rng.integers(1 << 62, size=vec.num_envs))
            actions, values = teacher.weigh(view)
            obs.append(view.obs)
            masks.append(view.action_mask)
            wanted.append(values.astype(np.float32))
            own = np.flatnonzero(rng.random(vec.num_envs) < self._wander)
            with torch.no_grad():
                logits = self._network.forward_actor(torch.as_tensor(view.obs[own])).numpy()
            drawn = logits + rng.gumbel(size=logits.shape).astype(np.float32)
            actions[own] = np.where(view.action_mask[own] != 0, drawn, -np.inf).argmax(axis=1)
            vec.step(actions)
        return _tensor(obs), _tensor(masks), _tensor(wanted)


def _tensor(parts: list[npt.NDArray[Any]]) -> Any:
    return torch.as_tensor(np.concatenate(parts))
