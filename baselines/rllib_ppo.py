"""PPO in self-play on Ray's RLlib, from one machine to a cluster. Extra: iszoo[rllib,cli,policies].

    python -m iszoo.baselines.rllib_ppo --game isis_osiris --seed 1 --out runs/rllib-1
    python -m iszoo.baselines.rllib_ppo --game isis_osiris --address head:6379 --env-runners 64 --learners 4

The same networks, imitation, evaluation and files as `ppo.py`. One policy plays every seat; in a share of the games
it has one seat, and past selves have the others. Env runners play whole games in processes of their own, on any node.
OUT/checkpoint.json names the folder of the last whole checkpoint, from which the same command with --resume goes on;
the games that were being played are dealt anew. RLlib's checkpoints are pickles, load only your own; the policy's
files are not.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from iszoo.baselines.arguments import FREE, architecture, command, parse
from iszoo.baselines.arguments import Arguments as SharedArguments
from iszoo.baselines.options import parse_options
from iszoo.baselines.training import Clock, ProgressBar, Record, machine, summary
from iszoo.benchmarks.files import write_json
from iszoo.envs import find

try:
    import ray
    import torch
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec

    from iszoo.baselines.imitation import Imitation
    from iszoo.baselines.torch_networks import TorchNetwork
    from iszoo.wrappers.rllib import POLICY, MaskedModule, check_cluster, ppo_config
except ImportError as error:
    raise ImportError(f"this script needs RLlib: pip install 'iszoo[rllib,cli,policies]' ({error})") from error

MODULE = "iszoo.baselines.rllib_ppo"


@dataclass(frozen=True)
class Arguments(SharedArguments):
    """Trains a policy by self-play with PPO on Ray; first it may imitate a scripted agent."""

    address: str | None = None
    """Of a Ray cluster (host:6379); by default one is started on this machine."""
    env_runners: int = 1
    """Processes that play; 0: this one does."""
    envs_per_runner: int = 32
    """Games side by side in each of them."""
    learners: int = 0
    """Processes that learn, each with its share of the batch; 0: this one does."""
    batch: int = 8192
    """Actions that are played between updates, by all env runners."""
    minibatch: int = 512
    """Of a gradient step, for each learner."""
    past_share: float = 0.5
    """The share of games that are played against past selves."""


class NetworkModule(MaskedModule):
    """`MaskedModule` with a `TorchNetwork` in place of its own net; reads flat observations.

    `model_config`: {"game", "options", "architecture"}.
    """

    def setup(self) -> None:
        """Builds the network."""
        config = self.model_config
        self.network = TorchNetwork(find(config["game"]), config["options"], config["architecture"])

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        logits, _values = self._both(batch)
        return {Columns.ACTION_DIST_INPUTS: logits}

    def _forward_train(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        logits, values = self._both(batch)
        return {Columns.ACTION_DIST_INPUTS: logits, Columns.EMBEDDINGS: values}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        """The value of each position for the agent that sees it."""
        return self._both(batch)[1] if embeddings is None else embeddings

    def _both(self, batch: dict[str, Any]) -> tuple[Any, Any]:
        seen, mask = batch[Columns.OBS]["observation"], batch[Columns.OBS]["action_mask"]
        logits, values = self.network(seen.reshape(-1, seen.shape[-1]))
        logits = logits.reshape(mask.shape).masked_fill(mask == 0, torch.finfo(logits.dtype).min)
        return logits, values.reshape(mask.shape[:-1])


class Seats:
    """Who plays which seat of a game: by the game's id alone, so that every process agrees.

    Args:
        players: how many.
        past: how many past selves there are.
        share: of the games that are played against past selves.
    """

    def __init__(self, players: int, past: int, share: float) -> None:
        self.players, self.past, self.share = players, past, share

    def __call__(self, agent: str, episode: Any, **_: Any) -> str:
        """The module of a seat."""
        draw = np.random.default_rng(zlib.crc32(str(episode.id_).encode()))
        seat = int(agent.rpartition("_")[2])
        if self.players < 2 or not self.past or draw.random() >= self.share or draw.integers(self.players) == seat:
            return POLICY
        return f"past_{draw.integers(self.past, size=self.players)[seat]}"


class Trainer:
    """One run.

    Args:
        arguments: of the run.

    Attributes:
        stopping: set it, and the run ends after the update that it is in, saved.

    Raises ValueError for bad arguments, RuntimeError for a node of the cluster that can't play.
    """

    def __init__(self, arguments: Arguments) -> None:
        self.arguments = a = arguments
        self.game = find(a.game)
        self.options = self.game.resolve(parse_options(self.game, a.option))
        self.out = a.out or Path("runs") / f"{a.game}-rllib-{a.seed}"
        self.architecture = architecture(a)
        self.clock = Clock()
        self.stopping = False
        self.steps = self.updates = self.remembered = 0
        self._before, self._began = 0.0, perf_counter()
        about = {
            "command": command(MODULE, a), "seed": a.seed,
            "training": {"algorithm": "RLlib PPO", "ray": ray.__version__, "arguments": _plain(a), **machine()},
        }  # fmt: skip
        self.record = Record(self.game, self.options, self.architecture, self.out, about, self.clock)
        torch.manual_seed(a.seed)
        torch.set_num_threads(a.threads)
        self.network = TorchNetwork(self.game, self.options, self.architecture)  # a copy of what the learners have
        self.imitation = a.imitate > 0
        # RLlib itself starts Ray with its own defaults.
        if a.address:
            ray.init(address=a.address, log_to_driver=False)
        else:
            ray.init(num_cpus=a.env_runners + a.learners + 1, include_dashboard=False, log_to_driver=False)
        check_cluster({"game": a.game, **self.options})
        self.algo = self._config().build_algo()

    def _config(self) -> Any:
        a = self.arguments
        players = len(self.game.players) and self._players()
        past = [f"past_{k}" for k in range(a.pool)] if players > 1 else []
        spec = RLModuleSpec(
            module_class=NetworkModule,
            model_config={"game": a.game, "options": self.options, "architecture": self.architecture},
        )
        updates = max(1, a.steps // a.batch)
        rate = [[0, a.learning_rate], [updates * a.batch, a.learning_rate / 20]]
        entropy = [[0, a.entropy], [updates * a.batch, a.entropy / 10]]
        return (
            ppo_config(a.game, **self.options)
            .env_runners(
                num_env_runners=a.env_runners, num_envs_per_env_runner=a.envs_per_runner,
                batch_mode="complete_episodes",
            )
            .learners(num_learners=a.learners)
            .multi_agent(
                policies={POLICY, *past}, policies_to_train=[POLICY],
                policy_mapping_fn=Seats(players, len(past), a.past_share),
            )
            .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=dict.fromkeys((POLICY, *past), spec)))
            .training(
                train_batch_size_per_learner=a.batch // max(1, a.learners), minibatch_size=a.minibatch,
                num_epochs=a.epochs, lr=rate, entropy_coeff=entropy, clip_param=a.clip, lambda_=a.gae_lambda,
                vf_loss_coeff=a.value, use_kl_loss=False,
            )
            .debugging(seed=a.seed)
        )  # fmt: skip
