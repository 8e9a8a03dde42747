"""MaskablePPO in self-play: trains a policy for a game. Extra: iszoo[train].

    python -m iszoo.baselines.ppo --game isaac --seed 1 --out runs/isaac-1

First the network imitates scripted agents (`--imitate none`: it doesn't). Then one learner on a random seat of many
games plays itself, its past selves and scripted agents, which answer in batches. All that the run needs is in
OUT/checkpoint.pt: after a kill the same command with --resume goes on as if nothing had happened, and Ctrl-C saves
first. The same seed, steps and code give the same weights on the same machine.

OUT/policy.safetensors and .json are the policy and its card, best.* those of the evaluation that went best,
curve.jsonl what was won on the way, tensorboard/ the losses, profile.json where the time went (with --profile).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from iszoo.baselines.options import parse_options
from iszoo.baselines.training.arguments import SEEDS_APART, Texts, architecture, check_same_run, command, parse, plain
from iszoo.baselines.training.arguments import Arguments as SharedArguments
from iszoo.baselines.training.checkpoints import (
    arrays,
    load_checkpoint,
    random_state,
    save_checkpoint,
    set_random_state,
)
from iszoo.baselines.training.run import (
    SELF,
    Clock,
    Pool,
    Record,
    Score,
    machine,
    parse_mix,
    summary,
)
from iszoo.envs import find
from iszoo.reports import write_json

try:
    import torch
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.logger import configure
    from torch import nn

    from iszoo.baselines.training import loop
    from iszoo.baselines.training.imitation import Imitation
    from iszoo.baselines.training.loop import run_command
    from iszoo.baselines.training.torch_networks import TorchNetwork
    from iszoo.wrappers.sb3 import LearnerVecEnv
except ImportError as error:
    raise ImportError(f"training needs the extra train: pip install 'iszoo[train]' ({error})") from error

MODULE = "iszoo.baselines.ppo"


@dataclass(frozen=True)
class Arguments(SharedArguments):
    """Trains a policy by self-play with MaskablePPO; first it may imitate scripted agents."""

    num_envs: int = 512
    """Games side by side."""
    n_steps: int = 32
    """Actions in each game between updates."""
    batch_size: int = 1024
    """Positions of a gradient step."""
    settle: int = 5
    """The first updates of the self-play after an imitation teach the values alone."""
    margin: float = 0.0
    """The share of the steps, from the beginning, with the margin as reward; then the outcome."""
    mix: Texts = ("greedy=1", "expert=1", "self=3", "past=3")
    """Opponents as NAME=SHARE: agents of the game, self, past (selves); naming some replaces these."""


class NetworkPolicy(MaskableActorCriticPolicy):  # type: ignore[misc, unused-ignore]
    """Stable-Baselines3's policy around a `TorchNetwork`, which makes logits and values by itself."""

    def __init__(self, *args: Any, network: dict[str, Any], **kwargs: Any) -> None:
        self._network = network
        super().__init__(*args, **kwargs)

    def _build(self, lr_schedule: Any) -> None:
        self.mlp_extractor = TorchNetwork(**self._network)
        self.action_net = nn.Identity()
        self.value_net = nn.Identity()
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def extract_features(self, obs: Any, features_extractor: Any = None) -> Any:
        """The observation as it is: the network scales it."""
        return obs


class Trainer(loop.Trainer):
    """One run: everything that a checkpoint keeps, and the loop.

    Args:
        arguments: of the run.

    Attributes:
        stopping: set it, and the run ends after the update that it is in, saved.

    Raises ValueError for bad arguments.
    """

    def __init__(self, arguments: Arguments) -> None:
        super().__init__(arguments)
        self.arguments = a = arguments
        self.game = find(a.game)
        self.options = self.game.resolve(parse_options(self.game, a.option))
        self.out = a.out or Path("runs") / f"{a.game}-{a.seed}"
        self.architecture = architecture(a)
        self.rng = np.random.default_rng(a.seed)
        self.updates = 0
        about = {
            "command": command(MODULE, a), "seed": a.seed,
            "training": {"algorithm": "MaskablePPO", "arguments": plain(asdict(a)), **machine()},
        }  # fmt: skip
        self.record = Record(self.game, self.options, self.architecture, self.out, about, self.clock)
        self.pool = Pool(self.game, self.options, self.architecture, parse_mix(self.game, a.mix), a.pool, self.clock)
        torch.set_num_threads(a.threads)
        torch.distributions.Distribution.set_default_validate_args(False)  # several passes over all logits
        self.model = self._model()
        self.pool.refresh(self.network.export())
        self.envs.set_opponents(self.pool.opponents())
        self.envs.seed(a.seed * SEEDS_APART)  # deals anew when learning begins
        self.imitation = Imitation.of(a, self.game, self.options, self.network, self.rng)
        self.clock.seconds.clear()

    def _model(self) -> _TimedPPO:
        a = self.arguments
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a batch size that doesn't divide what is played
            model = _TimedPPO(
                NetworkPolicy, self._games("margin" if a.margin > 0 else "outcome"), n_steps=a.n_steps,
                batch_size=a.batch_size, n_epochs=a.epochs, gamma=1.0, gae_lambda=a.gae_lambda, clip_range=a.clip,
                learning_rate=lambda _: a.learning_rate * (0.05 + 0.95 * self.remaining), vf_coef=a.value,
                seed=a.seed, device="cpu",
                policy_kwargs={
                    "network": {"game": self.game, "options": self.options, "architecture": self.architecture}
                },
            )  # fmt: skip
        model.clock = self.clock
        model.set_logger(configure(str(self.out / "tensorboard"), ["tensorboard"]))
        return model

    @property
    def network(self) -> TorchNetwork:
        """The network that is trained."""
        network: TorchNetwork = self.model.policy.mlp_extractor
        return network

    @property
    def envs(self) -> LearnerVecEnv:
        """The games."""
        envs: LearnerVecEnv = self.model.env
        return envs

    @property
    def steps(self) -> int:
        """Actions of the learner so far."""
        return int(self.model.num_timesteps)

    @property
    def remaining(self) -> float:
        """See `loop.Trainer`; 1 while the model, which asks for it, is being made."""
        return super().remaining if hasattr(self, "model") else 1.0

    def _games(self, reward: str) -> LearnerVecEnv:
        """Games against nobody in particular: they get opponents, or a state, next."""
        a = self.arguments
        return _TimedEnvs(
            a.game, a.num_envs, clock=self.clock, seed=a.seed, opponent=self.pool.anybody, reward=reward, **self.options
        )

    # --- The loop ---

    def run(self) -> None:
        """Trains to the end, or until `stopping`."""
        if self.imitation is not None and not self.imitation.finished:
            self.imitate(self.imitation)
            self.pool.refresh(self.network.export())
        if not self.stopping:
            self.play(self._learn, self._evaluate)
        self.save()
        if self.stopping:
            print(f"Saved; go on with the same command and --resume (--out {self.out})", file=sys.stderr)
            return
        scores = self.record.finish(self.network.export(), self.steps, self.spent, 10 * self.arguments.games)
        print(f"{self.steps:>11,} steps  {summary(scores)}", file=sys.stderr)
        if self.arguments.profile:
            write_json(self.out / "profile.json", self.profile())

    def _learn(self) -> None:
        """Plays n_steps in each game, learns from them, and lets the opponents know."""
        a = self.arguments
        wanted = "margin" if 1 - self.remaining < a.margin else "outcome"
        if self.envs.games.vec.reward_kind != wanted:  # the games go on
            envs = self._games(wanted)
            envs.games.set_state(self.envs.games.get_state())
            self.model.set_env(envs, force_reset=False)
        self.model.ent_coef = a.entropy * (0.1 + 0.9 * self.remaining)
        for weight in self.network.actor():
            weight.requires_grad_(self.imitation is None or self.updates >= a.settle)
        self.model.learn(a.num_envs * a.n_steps, reset_num_timesteps=False)
        self.updates += 1
        weights = self.network.export()
        self.pool.refresh(weights)
        if self.updates % a.remember_every == 0:
            self.pool.remember(weights, self.rng)
            self.envs.set_opponents(self.pool.opponents())

    def _evaluate(self, spent: Mapping[str, float]) -> list[Score]:
        """Adds a point to the curve."""
        scores = self.record.add(self.network.export(), self.steps, spent, self.arguments.games)
        for one in scores:
            name, value = (one.opponent, one.win_rate) if one.opponent else ("score", one.mean_score)
            self.model.logger.record(f"evaluation/{name}", value)
        self.model.logger.dump(self.steps)
        return scores

    def profile(self) -> dict[str, Any]:
        """Env steps a second (rollouts and updates, without imitation and evaluation), and the seconds of each part."""
        spent = self.clock.seconds
        rollout, update, step, opponents = (spent.get(n, 0.0) for n in ("rollout", "update", "step", "opponents"))
        return {
            "script": "ppo", "game": self.game.id, "options": self.options, "steps": self.steps,
            "steps_per_second": self.steps / (rollout + update) if rollout else 0.0,
            "imitated": self.imitation.seen if self.imitation else 0,
            "seconds": {
                "environment": step - opponents, "opponents": opponents, "policy": rollout - step, "update": update,
                "imitation": spent.get("imitation", 0.0), "evaluation": spent.get("evaluation", 0.0),
            },
            **machine(),
        }  # fmt: skip

    # --- Checkpoints ---

    def save(self) -> None:
        """Writes OUT/checkpoint.pt."""
        games = self.envs.games.get_state()
        agents = games.pop("agents")
        started = self.model._last_obs is not None
        save_checkpoint(
            self.out / "checkpoint.pt",
            {
                "arguments": plain(asdict(self.arguments)),
                "imitation": self.imitation.get_state() if self.imitation else None,
                "policy": self.model.policy.state_dict(),
                "optimizer": self.model.policy.optimizer.state_dict(),
                "counts": [self.model.num_timesteps, self.model._n_updates, self.updates],
                "spent": self.spent, "play_from": self._play_from, "clock": self.clock.seconds,
                "best": self.record.best, "curve": self.record.curve,
                "reward": self.envs.games.vec.reward_kind, "games": games,
                "last_obs": self.model._last_obs if started else None,
                "starts": self.model._last_episode_starts if started else None,
                "agents": [agent.name for agent in agents], "past": [agent.name for agent in self.pool.past],
                "weights": {one.name: one.weights for one in [*agents, *self.pool.past] if one.weights is not None},
                "rng": self.rng.bit_generator.state, "random": random_state(),
            },
        )  # fmt: skip

    def load(self) -> None:
        """Takes up OUT/checkpoint.pt. Raises ValueError if there is none, or if it is another run's."""
        path = self.out / "checkpoint.pt"
        kept = load_checkpoint(path)
        check_same_run(path, kept["arguments"], self.arguments)
        self.model.policy.load_state_dict(kept["policy"])
        self.model.policy.optimizer.load_state_dict(kept["optimizer"])
        self.model.num_timesteps, self.model._n_updates, self.updates = kept["counts"]
        if self.imitation is not None:
            self.imitation.set_state(kept["imitation"])
        self._before, self._play_from = kept["spent"], kept["play_from"]
        self.record.best, self.record.curve = kept["best"], kept["curve"]
        self.clock.seconds.update(kept["clock"])
        self.pool.refresh(self.network.export())
        past = {key: self.pool.past_self(key, arrays(weights)) for key, weights in kept["weights"].items()}
        self.pool.past = [past[key] for key in kept["past"]]
        if self.envs.games.vec.reward_kind != kept["reward"]:
            self.model.set_env(self._games(kept["reward"]), force_reset=False)
        if kept["last_obs"] is not None:
            known = {self.pool.anybody.name: self.pool.anybody, **self.pool.scripted, SELF: self.pool.current, **past}
            self.envs.games.set_state({**kept["games"], "agents": [known[key] for key in kept["agents"]]})
            self.model._last_obs = kept["last_obs"].numpy()
            self.model._last_episode_starts = kept["starts"].numpy()
        self.rng.bit_generator.state = kept["rng"]
        set_random_state(kept["random"])


class _TimedPPO(MaskablePPO):  # type: ignore[misc, unused-ignore]
    """MaskablePPO with a clock."""

    clock: Clock

    def collect_rollouts(self, *args: Any, **kwargs: Any) -> bool:
        began = perf_counter()
        going_on: bool = super().collect_rollouts(*args, **kwargs)
        self.clock.add("rollout", began)
        return going_on

    def train(self) -> None:
        began = perf_counter()
        super().train()
        self.clock.add("update", began)


class _TimedEnvs(LearnerVecEnv):
    """The games with a clock."""

    def __init__(self, *args: Any, clock: Clock, **kwargs: Any) -> None:
        self._clock = clock
        super().__init__(*args, **kwargs)

    def reset(self) -> Any:
        began = perf_counter()
        result = super().reset()
        self._clock.add("step", began)
        return result

    def step_wait(self) -> Any:
        began = perf_counter()
        result = super().step_wait()
        self._clock.add("step", began)
        return result


def main(words: list[str] | None = None) -> int:
    """Trains. Returns 0, or 1 with a message on stderr; usage errors exit with 2."""
    arguments = parse(Arguments, MODULE, list(sys.argv[1:] if words is None else words))
    return run_command("ppo", lambda: Trainer(arguments), arguments.resume)


if __name__ == "__main__":
    sys.exit(main())
