"""AlphaZero: trains a network by the search that it guides. Extra: iszoo[train].

    python -m iszoo.baselines.alphazero --game iso --seed 1 --out runs/iso-az-1

The network begins as a policy that is there already (`--start`), by imitating scripted agents (`--imitate`), or from
nothing. Then, round by round, it plays games against itself by search (`az:`), and learns from the newest of them: the
policy from what the search found better than it thought, the value from how games ended and what the search expected.
The network that plays is always the newest one. Games are played by `--workers` processes, or on a Ray cluster
(`--ray ADDRESS`), with the same results: what a task gives depends on its seed and the weights alone.

All that the run needs is in OUT/checkpoint.pt: after a kill the same command with --resume goes on as if nothing had
happened, and Ctrl-C saves first. OUT/policy.safetensors and .json are the network and its card, best.* those of the
evaluation that went best, curve.jsonl what was won on the way, tensorboard/ the losses.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from iszoo.baselines.arena.workers import standing
from iszoo.baselines.networks import Weights
from iszoo.baselines.options import parse_options
from iszoo.baselines.policy import load_policy
from iszoo.baselines.search.network_search import DEFAULTS, NetworkSearchAgent, NetworkSearchOptions
from iszoo.baselines.training.arguments import (
    FREE,
    NETWORKS,
    SEEDS_APART,
    Texts,
    TrainingArguments,
    architecture,
    check_same_run,
    command,
    parse,
    plain,
)
from iszoo.baselines.training.checkpoints import load_checkpoint, random_state, save_checkpoint, set_random_state
from iszoo.baselines.training.run import Record, Score, machine, summary
from iszoo.baselines.training.self_play import Positions, Replay, Task, play_timed
from iszoo.envs import find
from iszoo.envs.primitives import NUM_PLAYERS
from iszoo.reports import write_json
from iszoo.wrappers.symmetry import augment, symmetries

try:
    import torch
    from torch import nn
    from torch.utils.tensorboard import SummaryWriter

    from iszoo.baselines.training import loop
    from iszoo.baselines.training.imitation import Imitation
    from iszoo.baselines.training.loop import run_command
    from iszoo.baselines.training.torch_networks import TorchNetwork
except ImportError as error:
    raise ImportError(f"training needs the extra train: pip install 'iszoo[train]' ({error})") from error

MODULE = "iszoo.baselines.alphazero"

PRESETS: dict[str, dict[str, Any]] = {
    "isaac": {
        **NETWORKS["isaac"], "steps": 160_000, "start": "isaac", "settle": 0, "learning_rate": 7e-4, "margin": 0.8,
        "rollout_share": 0.5, "evaluate_every": 0.25, "games": 40, "evaluate_simulations": 64,
        "opponents": ("mcts:200",),
    },
    "iso": {
        **NETWORKS["iso"], "greatest": True, "value_hidden": (128,), "steps": 500_000, "start": "iso", "settle": 250,
        "learning_rate": 7e-4, "reuse": 3.0, "explore": 0.2, "margin": 0.7, "value_weight": 5.0, "augment": False,
        "rollout_share": 0.0, "evaluate_every": 0.1, "games": 100, "opponents": ("expert", "mcts:20"),
    },
    "isis_osiris": {
        **NETWORKS["isis_osiris"], "hidden": (64, 64, 64), "value_hidden": (128,), "steps": 1_200_000,
        "imitate": ("expert:choices:800000",), "imitate_batch": 512, "imitate_rate": 2e-3, "settle": 100, "reuse": 3.0,
        "margin": 0.8, "value_weight": 10.0, "augment": False, "rollout_share": 0.0, "evaluate_every": 0.1,
        "opponents": ("expert", "mcts:200"),
    },
}  # fmt: skip
"""What differs from the defaults, by game."""

_NEVER = -1e8  # the logit of what is illegal

# Where it is done changes nothing.
_PLACES = ("workers", "ray")


@dataclass(frozen=True)
class Arguments(TrainingArguments):
    """Trains a network by the search that it guides."""

    start: str = ""
    """A policy to begin with: one that ships, or a .safetensors file, with the same `hidden` layers; kinds "lines" and
    "cells" may have more of the last one's size."""
    learning_rate: float = 1e-3
    """At the beginning; falls to a twentieth in a line."""
    simulations: int = 32
    """Of the search, a decision."""
    games_a_task: int = 128
    """Games that are played side by side, by one worker."""
    tasks: int = 1
    """Of a round: the same number for any number of workers, or the results differ."""
    replay: int = 200_000
    """The newest positions to learn from."""
    reuse: float = 4.0
    """How often each position is learnt from, in the mean."""
    batch_size: int = 512
    """Positions of a gradient step."""
    settle: int = 60
    """The first rounds play without a search, and teach the values of the policy that is there; it stays as it is."""
    noise: float = 0.25
    """The share of Dirichlet noise in what the network thinks at the roots."""
    alpha: float = 10.0
    """Of the noise, divided by the number of actions."""
    explore: float = 0.3
    """The share of the longest game in which actions are drawn by their visits."""
    improve: float = 2.0
    """How far the policy goes towards what the search found better, in 1 over standard deviations of the results."""
    bootstrap: float = 0.5
    """The share of the search's value in what a position is worth."""
    margin: float = 0.5
    """The share of the margin reward in what a game is worth; the rest is the outcome."""
    value_weight: float = 1.0
    """What the loss of the values counts."""
    decay: float = 1e-4
    """Of the weights (AdamW)."""
    augment: bool = True
    """Learn from positions under the game's symmetries, too."""
    rollout_share: float = 0.0
    """Of rollouts in what a leaf is worth, in self-play; in evaluations it is that of `az:` in this game."""
    evaluate_simulations: int = 32
    """Of the search in an evaluation."""
    opponents: Texts = ()
    """Whom it plays in an evaluation; the game's own agents by default."""
    workers: int = 1
    """Processes that play."""
    ray: str | None = None
    """Play on Ray: "local", or the address of a cluster."""


class Trainer(loop.Trainer):
    """One run: everything that a checkpoint keeps, and the loop.

    Args:
        arguments: of the run.

    Attributes:
        stopping: set it, and the run ends after the round that it is in, saved.

    Raises ValueError for bad arguments.
    """

    def __init__(self, arguments: Arguments) -> None:
        super().__init__(arguments)
        self.arguments = a = arguments
        _check(a)
        self.game = find(a.game)
        self.options = self.game.resolve(parse_options(self.game, a.option))
        self.out = a.out or Path("runs") / f"{a.game}-az-{a.seed}"
        self.players = int(self.game.params(self.options)[NUM_PLAYERS])
        self.architecture = architecture(a)
        if self.players > 2 or self.options.get("mode") == "coop":
            self.architecture["seats"] = self.players
        self.agent_search = replace(DEFAULTS.get(self.game.name, NetworkSearchOptions()), margin=a.margin)
        self.search = replace(self.agent_search, rollout_share=a.rollout_share)
        self.rng = np.random.default_rng(a.seed)
        self.rounds = 0
        self._before_search: TorchNetwork | None = None  # while games are played without a search
        self._steps = 0
        torch.set_num_threads(a.threads)
        torch.manual_seed(a.seed)
        self.network = TorchNetwork(self.game, self.options, self.architecture)
        self.network.values_teach = True
        if a.start:
            self._take(a.start)
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(), lr=a.learning_rate, eps=1e-5, weight_decay=a.decay
        )
        self.replay = Replay(self.game, self.options, a.replay, self.search.width)
        self.symmetries = symmetries(self.game) if a.augment else []
        about = {
            "command": command(MODULE, a, free=(*FREE, *_PLACES)), "seed": a.seed, "margin": float(a.margin),
            "training": {"algorithm": "AlphaZero", "arguments": plain(asdict(a)), **machine()},
        }  # fmt: skip
        self.record = Record(
            self.game, self.options, self.architecture, self.out, about, self.clock, self._agent, a.opponents
        )  # fmt: skip
        self.imitation = Imitation.of(a, self.game, self.options, self.network, self.rng)
        self.writer = SummaryWriter(str(self.out / "tensorboard"))

    def _take(self, start: str) -> None:
        """Takes the weights of a policy; of its value only if they fit, for that can be learnt anew."""
        mine = self.network.export()
        given = _deepened(load_policy(start, self.game).network.weights, mine)
        for of_value in (False, True):
            names = {name for name in {*given, *mine} if name.startswith("value.") == of_value}
            if all(name in given and name in mine and given[name].shape == mine[name].shape for name in names):
                self.network.load({name: given[name] for name in names})
            elif not of_value:
                raise ValueError(
                    f"--start {start}: its policy doesn't fit this network; give it the same layers, or more of"
                    " the last one's size"
                )

    def _agent(self, network: Any) -> NetworkSearchAgent:
        return NetworkSearchAgent(
            self.game, network, self.arguments.evaluate_simulations, "az", self.agent_search
        )  # fmt: skip

    @property
    def steps(self) -> int:
        """Positions that were learnt from so far."""
        return self._steps

    # --- The loop ---

    def run(self) -> None:
        """Trains to the end, or until `stopping`."""
        if self.imitation is not None and not self.imitation.finished:
            self.imitate(self.imitation)
        a = self.arguments
        with ExitStack() as stack:
            timed = stack.enter_context(standing(play_timed, a.workers, a.ray))

            def do(tasks: list[Task]) -> list[Positions]:
                found = timed(tasks)
                if a.workers > 1 or a.ray is not None:
                    self.elsewhere += sum(seconds for _, seconds in found)
                return [positions for positions, _ in found]

            self.play(lambda: self._round(do), self._evaluate)
        self.save()
        self.writer.flush()
        if self.stopping:
            print(f"Saved; go on with the same command and --resume (--out {self.out})", file=sys.stderr)
            return
        scores = self.record.finish(self.network.export(), self.steps, self.spent, self.arguments.games)
        print(f"{self.steps:>11,} steps  {summary(scores)}", file=sys.stderr)
        if self.arguments.profile:
            write_json(self.out / "profile.json", self.profile())

    def profile(self) -> dict[str, Any]:
        """Positions a second (self-play and learning, without imitation and evaluation), and where it goes."""
        spent = self.clock.seconds
        self_play, learning = (spent.get(part, 0.0) for part in ("self-play", "learning"))
        return {
            "script": "alphazero", "game": self.game.id, "options": self.options, "steps": self.steps,
            "simulations": self.arguments.simulations,
            "steps_per_second": self.steps / (self_play + learning) if self_play else 0.0,
            "imitated": self.imitation.seen if self.imitation else 0,
            "seconds": {
                "self-play": self_play, "learning": learning,
                "imitation": spent.get("imitation", 0.0), "evaluation": spent.get("evaluation", 0.0),
            },
            **machine(),
        }  # fmt: skip

    def _round(self, do: Callable[[list[Task]], list[Positions]]) -> None:
        """Plays some games and learns from the newest ones."""
        a = self.arguments
        began = perf_counter()
        settling = self.rounds < a.settle
        weights = self.network.export()
        first = a.seed * SEEDS_APART * 1000 + self.rounds * a.tasks * a.games_a_task
        tasks = [
            Task(
                game=self.game.name, options=self.options, architecture=self.architecture, weights=weights,
                games=a.games_a_task, seed=first + k * a.games_a_task, simulations=0 if settling else a.simulations,
                search=self.search, noise=a.noise, alpha=a.alpha,
                explore=round(a.explore * self.game.max_game_length), improve=a.improve, bootstrap=a.bootstrap,
            )
            for k in range(a.tasks)
        ]  # fmt: skip
        if settling and self._before_search is None:
            self._before_search = copy.deepcopy(self.network)
        if self.rounds == a.settle:
            self.replay.clear()  # games without a search teach the policy nothing
            self._before_search = None
        new = 0
        for positions in do(tasks):
            self.replay.add(positions)
            new += len(positions)
        self.clock.add("self-play", began)
        began = perf_counter()
        reuse = min(1.0, a.reuse) if settling else a.reuse  # there, games cost less than learning
        losses = self._learn(max(1, round(new * reuse / a.batch_size)))
        self.clock.add("learning", began)
        self.rounds += 1
        self._steps += new
        for name, value in losses.items():
            self.writer.add_scalar(f"loss/{name}", value, self.steps)

    def _learn(self, updates: int) -> dict[str, float]:
        """Takes gradient steps; returns the mean losses.

        Without a search the policy learns to stay what it was, for the values teach the layers that both share.
        """
        a = self.arguments
        for group in self.optimizer.param_groups:
            group["lr"] = a.learning_rate * (0.05 + 0.95 * self.remaining)
        seats = self.architecture.get("seats", 1)
        sums = np.zeros(2)
        for _ in range(updates):
            obs, mask, policy, values = self.replay.draw(self.rng, a.batch_size)
            if len(self.symmetries) > 1:
                obs, mask, policy = augment(self.symmetries, self.rng, obs, mask, policy)
            seen, illegal = torch.as_tensor(obs), torch.as_tensor(mask) == 0
            logits, told = self.network(seen)
            logits = logits.masked_fill(illegal, _NEVER)
            if self._before_search is None:
                of_policy = _cross_entropy(logits, torch.as_tensor(policy))
            else:
                with torch.no_grad():
                    kept = self._before_search.forward_actor(seen).masked_fill(illegal, _NEVER)
                of_policy = nn.functional.cross_entropy(logits, kept.softmax(1))
            of_value = nn.functional.mse_loss(told, torch.as_tensor(values[:, :seats]))
            loss = of_policy + a.value_weight * of_value
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.network.parameters(), 2.0)
            self.optimizer.step()
            sums += of_policy.item(), of_value.item()
        return dict(zip(("policy", "value"), (sums / updates).tolist(), strict=True))

    def _evaluate(self, spent: Mapping[str, float]) -> list[Score]:
        """Adds a point to the curve."""
        scores = self.record.add(self.network.export(), self.steps, spent, self.arguments.games)
        for one in scores:
            name, value = (one.opponent, one.win_rate) if one.opponent else ("score", one.mean_score)
            self.writer.add_scalar(f"evaluation/{name}", value, self.steps)
        return scores

    # --- Checkpoints ---

    def save(self) -> None:
        """Writes OUT/checkpoint.pt."""
        save_checkpoint(
            self.out / "checkpoint.pt",
            {
                "arguments": plain(asdict(self.arguments)),
                "imitation": self.imitation.get_state() if self.imitation else None,
                "weights": self.network.export(), "optimizer": self.optimizer.state_dict(),
                "replay": self.replay.get_state(), "counts": [self.rounds, self.steps],
                "spent": self.spent, "play_from": self._play_from, "clock": self.clock.seconds,
                "before_search": self._before_search.export() if self._before_search else None,
                "best": self.record.best, "curve": self.record.curve,
                "rng": self.rng.bit_generator.state, "random": random_state(),
            },
        )  # fmt: skip

    def load(self) -> None:
        """Takes up OUT/checkpoint.pt. Raises ValueError if there is none, or if it is another run's."""
        path = self.out / "checkpoint.pt"
        kept = load_checkpoint(path)
        check_same_run(path, kept["arguments"], self.arguments, free=_PLACES)
        self.network.load(kept["weights"])
        self.optimizer.load_state_dict(kept["optimizer"])
        self.replay.set_state(kept["replay"])
        self.rounds, self._steps = kept["counts"]
        if kept["before_search"] is not None:
            self._before_search = copy.deepcopy(self.network)
            self._before_search.load(kept["before_search"])
        if self.imitation is not None:
            self.imitation.set_state(kept["imitation"])
        self._before, self._play_from = kept["spent"], kept["play_from"]
        self.clock.seconds.update(kept["clock"])
        self.record.best, self.record.curve = kept["best"], kept["curve"]
        self.rng.bit_generator.state = kept["rng"]
        set_random_state(kept["random"])


def _deepened(given: Weights, mine: Weights) -> dict[str, Any]:
    """The weights of a network, and for layers over the cells that it lacks such as change nothing.

    A layer after ReLU that shows each cell itself is the identity (Chen et al. 2016, "Net2Net").
    """
    found = dict(given)
    for name in mine:
        if name.startswith("cell.") and name not in given:
            out, *inputs = mine[name].shape
            found[name] = np.eye(out, *inputs, dtype=np.float32) if inputs else np.zeros(out, np.float32)
    return found


def _cross_entropy(logits: Any, policy: Any) -> Any:
    """Of the policy that search found, the mean of a batch; what its shares leave belongs to all others together."""
    told = logits.log_softmax(1)
    of_others = told.masked_fill(policy > 0, _NEVER).logsumexp(1).clamp(min=-30)
    rest = (1 - policy.sum(1)).clamp(min=0)
    return -((policy * told.clamp(min=-100)).sum(1) + rest * of_others).mean()


def _check(a: Arguments) -> None:
    """Raises ValueError for numbers that can't be."""
    for name in ("simulations", "games_a_task", "tasks", "replay", "batch_size", "evaluate_simulations"):
        if getattr(a, name) < 1:
            raise ValueError(f"{name}={getattr(a, name)!r} is not allowed; it is a whole number from 1")
    for name in ("noise", "explore", "bootstrap", "margin", "rollout_share"):
        if not 0 <= getattr(a, name) <= 1:
            raise ValueError(f"{name}={getattr(a, name)!r} is not allowed; it is a share, from 0 to 1")
    if a.settle < 0:
        raise ValueError(f"settle={a.settle!r} is not allowed; it is a number of rounds, from 0")
    if not a.alpha > 0 or not a.reuse > 0 or not a.improve > 0:
        raise ValueError(f"alpha={a.alpha!r}, reuse={a.reuse!r}, improve={a.improve!r}: each is above 0")


def main(words: list[str] | None = None) -> int:
    """Trains. Returns 0, or 1 with a message on stderr; usage errors exit with 2."""
    arguments = parse(Arguments, MODULE, list(sys.argv[1:] if words is None else words), PRESETS)
    return run_command("alphazero", lambda: Trainer(arguments), arguments.resume)


if __name__ == "__main__":
    sys.exit(main())
