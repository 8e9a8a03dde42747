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
import shutil
import sys
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from iszoo.baselines.options import parse_options
from iszoo.baselines.training.arguments import Arguments as SharedArguments
from iszoo.baselines.training.arguments import architecture, check_same_run, command, parse, plain
from iszoo.baselines.training.run import Clock, ProgressBar, Record, imitate_once, machine, stop_gently, summary
from iszoo.envs import find
from iszoo.envs.primitives import NUM_PLAYERS
from iszoo.reports import write_json

try:
    import ray
    import torch
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
    from ray.rllib.core.rl_module.rl_module import RLModuleSpec

    from iszoo.baselines.training.imitation import Imitation
    from iszoo.baselines.training.torch_networks import TorchNetwork
    from iszoo.wrappers.rllib import POLICY, MaskedModule, check_cluster, ppo_config
except ImportError as error:
    raise ImportError(f"this script needs RLlib: pip install 'iszoo[rllib,cli,policies]' ({error})") from error

MODULE = "iszoo.baselines.rllib_ppo"
WHERE = ("address", "env_runners", "envs_per_runner", "learners")  # may change when a run goes on, elsewhere


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
            "training": {"algorithm": "RLlib PPO", "ray": ray.__version__, "arguments": plain(asdict(a)), **machine()},
        }  # fmt: skip
        self.record = Record(self.game, self.options, self.architecture, self.out, about, self.clock)
        torch.manual_seed(a.seed)
        torch.set_num_threads(a.threads)
        self.network = TorchNetwork(self.game, self.options, self.architecture)  # a copy of what the learners have
        self.imitation = Imitation.of(a, self.game, self.options, self.network, np.random.default_rng(a.seed))
        self._guest = ray.is_initialized()  # of a session, perhaps in a notebook, that has its own
        if self._guest:
            pass
        elif a.address:
            ray.init(address=a.address, log_to_driver=False)
        else:
            ray.init(num_cpus=a.env_runners + a.learners + 1, include_dashboard=False, log_to_driver=False)
        check_cluster({"game": a.game, **self.options})
        self.algo = self._config().build_algo()
        self._set_weights(POLICY)

    def _config(self) -> Any:
        a = self.arguments
        players = int(self.game.params(self.options)[NUM_PLAYERS])
        past = [f"past_{k}" for k in range(a.pool)] if players > 1 else []
        spec = RLModuleSpec(
            module_class=NetworkModule,
            model_config={"game": a.game, "options": self.options, "architecture": self.architecture},
        )
        rate = [[0, a.learning_rate], [a.steps, a.learning_rate / 20]]
        entropy = [[0, a.entropy], [a.steps, a.entropy / 10]]
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

    @property
    def spent(self) -> dict[str, float]:
        """Seconds of the run so far, in all sessions."""
        return {"seconds": self._before + perf_counter() - self._began}

    # --- The loop ---

    def run(self) -> None:
        """Trains to the end, or until `stopping`."""
        a = self.arguments
        if self.imitation is not None and not self.imitation.finished:
            self._imitate(self.imitation)
        if self.stopping:
            print("Stopped while it imitated: start it anew", file=sys.stderr)
            return
        saved = perf_counter()
        with ProgressBar("self-play", a.steps) as bar:
            while self.steps < a.steps and not self.stopping:
                if a.minutes is not None and self.spent["seconds"] > 60 * a.minutes:
                    break
                evaluated = self.record.curve[-1]["steps"] if self.record.curve else -a.steps
                if self.steps - evaluated >= a.evaluate_every * a.steps:
                    scores = self.record.add(self._weights(), self.steps, self.spent, a.games)
                    bar.say(f"{self.steps:>11,} steps {self.spent['seconds']:6.0f} s  {summary(scores)}")
                    self.save()
                    saved = perf_counter()
                self._learn()
                bar.move(self.steps)
                if perf_counter() - saved > 60 * a.checkpoint_minutes:
                    self.save()
                    saved = perf_counter()
        self.save()
        if self.stopping:
            print(f"Saved; go on with the same command and --resume (--out {self.out})", file=sys.stderr)
            return
        scores = self.record.finish(self._weights(), self.steps, self.spent, 10 * a.games)
        print(f"{self.steps:>11,} steps  {summary(scores)}", file=sys.stderr)
        if a.profile:
            write_json(self.out / "profile.json", self.profile())

    def _imitate(self, imitation: Imitation) -> None:
        """In this process, which takes minutes; a kill here starts it anew."""
        with ProgressBar("imitation", imitation.positions) as bar:
            while not imitation.finished and not self.stopping:
                imitate_once(imitation, self.clock, bar, self.spent)
        self._set_weights(POLICY)

    def _learn(self) -> None:
        """Plays `batch` actions, learns from them, and may keep a past self."""
        began = perf_counter()
        result = self.algo.train()
        self.clock.add("iteration", began)
        for name, timer in (("sampling", "env_runner_sampling_timer"), ("update", "learner_update_timer")):
            seconds = self.clock.seconds
            seconds[name] = seconds.get(name, 0.0) + float(result["timers"][timer])
        self.steps += int(result["env_runners"]["num_module_steps_sampled"][POLICY])
        self.updates += 1
        if self.arguments.pool and self.updates % self.arguments.remember_every == 0:
            self._weights()
            self._set_weights(f"past_{self.remembered % self.arguments.pool}")
            self.remembered += 1

    def _weights(self) -> dict[str, Any]:
        """The policy's weights, from the learners by way of `network`."""
        state = self.algo.learner_group.get_weights([POLICY])[POLICY]
        prefix = "network."
        self.network.load_state_dict(
            {name.removeprefix(prefix): torch.as_tensor(np.asarray(value)) for name, value in state.items()}
        )
        return self.network.export()

    def _set_weights(self, module: str) -> None:
        """Gives a module the weights of `network`, with the learners and with all who play."""
        state = {f"network.{name}": value.numpy() for name, value in self.network.state_dict().items()}
        self.algo.learner_group.set_weights({module: state})
        self.algo.env_runner_group.sync_weights(
            policies=[module], from_worker_or_learner_group=self.algo.learner_group, inference_only=True
        )

    def profile(self) -> dict[str, Any]:
        """Env steps a second in self-play, and the seconds of each part: sampling is environment and policy."""
        spent = self.clock.seconds
        parts = ("sampling", "update", "imitation", "evaluation")
        return {
            "script": "rllib_ppo", "game": self.game.id, "options": self.options, "steps": self.steps,
            "steps_per_second": self.steps / spent["iteration"] if "iteration" in spent else 0.0,
            "imitated": self.imitation.seen if self.imitation else 0,
            "seconds": {name: spent.get(name, 0.0) for name in parts},
            "env_runners": self.arguments.env_runners, "learners": self.arguments.learners, **machine(),
        }  # fmt: skip

    # --- Checkpoints ---

    def save(self) -> None:
        """Writes a new folder, then OUT/checkpoint.json that names it, then removes the one before."""
        if self.imitation is not None and not self.imitation.finished:
            return
        folder = self.out / f"checkpoint-{self.updates:06d}"
        old = [path for path in self.out.glob("checkpoint-*") if path != folder]
        self.algo.save_to_path(str(folder.absolute()))
        write_json(
            self.out / "checkpoint.json",
            {
                "folder": folder.name, "arguments": plain(asdict(self.arguments)), "steps": self.steps,
                "updates": self.updates, "remembered": self.remembered, "seconds": self.spent["seconds"],
                "clock": self.clock.seconds, "curve": self.record.curve, "best": self.record.best,
            },
        )  # fmt: skip
        for path in old:
            shutil.rmtree(path, ignore_errors=True)

    def load(self) -> None:
        """Takes up the last checkpoint. Raises ValueError if there is none, or if it is another run's."""
        path = self.out / "checkpoint.json"
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ValueError(f"{path}: there is no such file to resume") from None
        except ValueError as error:
            raise ValueError(f"{path}: is not a checkpoint: {error}") from None
        check_same_run(path, kept["arguments"], self.arguments, WHERE)
        self.algo.restore_from_path(str((self.out / kept["folder"]).absolute()))
        self.steps, self.updates, self.remembered = kept["steps"], kept["updates"], kept["remembered"]
        self._before, self.record.curve, self.record.best = kept["seconds"], kept["curve"], kept["best"]
        self.clock.seconds.update(kept["clock"])
        if self.imitation is not None:
            self.imitation.seen = self.imitation.positions
        self._weights()

    def close(self) -> None:
        """Stops the processes that play and learn."""
        self.algo.stop()
        if not self._guest:
            ray.shutdown()


def main(words: list[str] | None = None) -> int:
    """Trains. Returns 0, or 1 with a message on stderr; usage errors exit with 2."""
    arguments = parse(Arguments, MODULE, list(sys.argv[1:] if words is None else words))
    try:
        trainer = Trainer(arguments)
    except (ValueError, RuntimeError) as error:
        print(f"rllib_ppo: error: {error}", file=sys.stderr)
        ray.shutdown()
        return 1
    try:
        if arguments.resume:
            trainer.load()
        elif (trainer.out / "checkpoint.json").exists():
            raise ValueError(f"{trainer.out} holds a run already: add --resume, or choose another --out")
    except ValueError as error:
        print(f"rllib_ppo: error: {error}", file=sys.stderr)
        trainer.close()
        return 1
    stop_gently(trainer)
    try:
        trainer.run()
    finally:
        trainer.close()
    return 130 if trainer.stopping else 0


if __name__ == "__main__":
    sys.exit(main())
