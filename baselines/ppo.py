"""MaskablePPO in self-play: trains a policy for a game. Extra: iszoo[train].

    python -m iszoo.baselines.ppo --game isaac --seed 1 --out runs/isaac-1

One learner on a random seat of many games plays itself, its past selves and scripted agents, which answer in
batches. All that the run needs is in OUT/checkpoint.pt: after a kill, the same command with --resume goes on as if
nothing had happened, and Ctrl-C saves first. With the same seed and steps a run gives the same weights on the same
machine and threads. OUT/policy.safetensors and .json are the policy and its card; OUT/curve.jsonl what it won.
"""

from __future__ import annotations

import io
import os
import platform
import random
import shlex
import signal
import sys
import warnings
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from time import perf_counter, process_time
from typing import Annotated, Any

import numpy as np

from iszoo.baselines.agents import ScriptedAgent, agent_names, make_agent, view_of
from iszoo.baselines.policy import Card, Policy, save_policy
from iszoo.baselines.networks import KINDS, Network
from iszoo.baselines.scripted import SCRIPTED
from iszoo.baselines.training import PAST, SELF, Clock, Opponent, Pool, Score, evaluate, write_curve
from iszoo.benchmarks.files import write_bytes, write_json
from iszoo.envs import REGISTRY, find
from iszoo.envs.game import Game
from iszoo.envs.vec import VecEnv

try:
    import rich.console
    import rich.progress
    import torch
    import tyro
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
    from stable_baselines3.common.logger import configure
    from torch import nn

    from iszoo.baselines.torch_networks import TorchNetwork
    from iszoo.wrappers.sb3 import LearnerVecEnv
except ImportError as error:
    raise ImportError(f"training needs the extra train: pip install 'iszoo[train]' ({error})") from error


@dataclass(frozen=True)
class Arguments:
    """Trains a policy by self-play with MaskablePPO."""

    game: str
    """The game; the defaults below are this game's."""
    out: Path | None = None
    """The folder of the run; runs/GAME-SEED by default."""
    option: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """An option of the game as NAME=VALUE; may be given several times."""
    seed: int = 0
    """Of everything: deals, weights, choices."""
    steps: int = 2_000_000
    """Actions of the learner in all."""
    minutes: float | None = None
    """Stop after so many minutes, whatever the steps; such a run is not repeatable to the bit."""
    resume: bool = False
    """Go on from the checkpoint in OUT."""

    num_envs: int = 512
    """Games side by side."""
    n_steps: int = 32
    """Actions in each game between updates."""
    batch_size: int = 1024
    """Of an update."""
    epochs: int = 3
    """Passes over what was played."""
    learning_rate: float = 5e-4
    """At the beginning; falls to a twentieth in a line."""
    entropy: float = 0.01
    """What entropy counts at the beginning; falls to a tenth in a line."""
    clip: float = 0.2
    """How far a ratio of probabilities counts."""
    gae_lambda: float = 0.95
    """Of the advantage estimates; rewards are not discounted."""
    value: float = 0.5
    """What the loss of the values counts."""
    margin: float = 0.0
    """The share of the steps, from the beginning, with the margin as reward; then the outcome."""
    mix: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ("greedy=1", "expert=1", "self=3", "past=3")
    """Opponents as NAME=SHARE: agents of the game, self, past (selves)."""
    pool: int = 8
    """The most past selves."""
    remember_every: int = 20
    """Updates from one past self to the next."""

    imitate: int = 0
    """First learns from so many positions what a scripted agent plays in them; they don't count as steps."""
    teacher: str = "expert"
    """Whom it imitates."""
    soften: float = 0.0
    """Imitating: it learns all that the teacher wants, as the softmax over this temperature; 0: the best action alone."""
    wander: float = 0.2
    """Imitating: how often the policy itself moves, so that it sees positions that the teacher would avoid."""
    imitate_batch: int = 256
    """Imitating: positions of an update."""
    imitate_rate: float = 1e-3
    """The learning rate of imitation, at the beginning; falls to a tenth in a line."""
    settle: int = 5
    """The first updates of the self-play that teach the values alone."""

    kind: str = "mlp"
    """The network, see networks.py."""
    hidden: tuple[int, ...] = (256, 256)
    """The hidden layers of the policy."""
    value_hidden: tuple[int, ...] = (128, 128)
    """The hidden layers of the value."""
    reach: int = 3
    """Kind walls: how far a cell is seen."""
    wall: int = 16
    """Kind walls: how many numbers tell of a wall."""

    evaluate_every: float = 0.05
    """The share of the steps between evaluations."""
    games: int = 200
    """Of an evaluation, against each agent; 2,000 at the end."""
    checkpoint_minutes: float = 2.0
    """The most minutes that a kill can cost."""
    threads: int = 1
    """Of torch."""
    profile: bool = False
    """Also write OUT/profile.json: where the time went."""


PRESETS: dict[str, dict[str, Any]] = {
    "isaac": {"steps": 1_500_000, "imitate": 2_000_000, "soften": 0.5, "hidden": (160, 160), "value_hidden": (32, 32)},
    "iso": {
        "steps": 400_000, "imitate": 400_000, "soften": 0.3, "num_envs": 256,
        "kind": "walls", "hidden": (128, 64), "wall": 8, "value_hidden": (64,),
    },
    "isis_osiris": {"steps": 6_000_000, "imitate": 6_000_000, "soften": 0.25, "value_hidden": (128, 128)},
}  # fmt: skip
"""What differs from the defaults, by game."""


class NetworkPolicy(MaskableActorCriticPolicy):  # type: ignore[misc, unused-ignore]
    """Stable-Baselines3's policy around a `TorchNetwork`, which makes logits and values by itself."""

    def __init__(self, *args: Any, game: Game, options: dict[str, Any], architecture: dict[str, Any], **kwargs: Any) -> None:
        self._network = (game, options, architecture)
        super().__init__(*args, **kwargs)

    def _build(self, lr_schedule: Any) -> None:
        self.mlp_extractor = TorchNetwork(*self._network)
        self.action_net = nn.Identity()
        self.value_net = nn.Identity()
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def extract_features(self, obs: Any, features_extractor: Any = None) -> Any:
        """The observation as it is: the network scales it."""
        return obs


class Trainer:
    """One run: everything that a checkpoint keeps, and the loop."""

    def __init__(self, arguments: Arguments) -> None:
        self.arguments = a = arguments
        self.game = find(a.game)
        self.options = self.game.resolve(parse_options(self.game, a.option))
        self.out = a.out or Path("runs") / f"{a.game}-{a.seed}"
        self.clock = Clock()
        self.curve: list[dict[str, Any]] = []
        self.updates = 0
        self.spent = self.cpu = 0.0  # seconds of earlier sessions, and of the processor
        self.began = perf_counter()
        self.best = -1.0
        self.stopping = False
        self.rng = np.random.default_rng(a.seed)
        if a.kind not in KINDS:
            raise ValueError(f"kind={a.kind!r} is not allowed; choose one of {', '.join(KINDS)}")
        self.architecture: dict[str, Any] = {"kind": a.kind}
        for name in KINDS[a.kind]:
            value = getattr(a, name)
            self.architecture[name] = list(value) if isinstance(value, tuple) else value
        self.pool = Pool(self.game, self.options, self.architecture, parse_mix(self.game, a.mix), a.pool, self.clock)
        torch.set_num_threads(a.threads)
        torch.distributions.Distribution.set_default_validate_args(False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a batch size that does not divide the rollout
            self.model = _TimedPPO(
                NetworkPolicy, self._envs("margin" if a.margin > 0 else "outcome"),
                n_steps=a.n_steps, batch_size=a.batch_size, n_epochs=a.epochs, gamma=1.0, gae_lambda=a.gae_lambda,
                learning_rate=lambda _: a.learning_rate * (0.05 + 0.95 * self.remaining), clip_range=a.clip,
                ent_coef=a.entropy, vf_coef=a.value, seed=a.seed, device="cpu",
                policy_kwargs={"game": self.game, "options": self.options, "architecture": self.architecture},
            )  # fmt: skip
        self.model.clock = self.clock
        self.model.set_logger(configure(str(self.out / "tensorboard"), ["tensorboard"]))
        self.pool.refresh(self.network.export())
        self.envs.set_opponents(self.pool.opponents())
        self.envs.seed(a.seed * 1_000_003)
        self.model._last_obs = None
        self.imitation = Imitation(self) if a.imitate else None

    @property
    def network(self) -> TorchNetwork:
        """The network that is trained."""
        network: TorchNetwork = self.model.policy.mlp_extractor
        return network

    @property
    def envs(self) -> Any:
        """The games."""
        return self.model.env

    @property
    def remaining(self) -> float:
        """The share of the steps that is still to come."""
        return max(0.0, 1 - self.model.num_timesteps / self.arguments.steps) if hasattr(self, "model") else 1.0

    @property
    def seconds(self) -> float:
        """Of training so far, in all sessions."""
        return self.spent + perf_counter() - self.began

    def _envs(self, reward: str) -> Any:
        """Games against nobody in particular: whoever asks for them gives them opponents, or a state."""
        return _TimedEnvs(self.game.name, self.arguments.num_envs, clock=self.clock, seed=self.arguments.seed,
                          opponent=self.pool.anybody, reward=reward, **self.options)  # fmt: skip

    def run(self) -> None:
        """Trains to the end, or until it is told to stop."""
        a = self.arguments
        if self.imitation is not None and not self.imitation.finished:
            self.imitation.run()
        rollout = a.num_envs * a.n_steps
        saved = perf_counter()
        evaluated = self.curve[-1]["steps"] if self.curve else -a.steps
        with _bar(a.steps) as bar:
            while self.model.num_timesteps < a.steps and not self.stopping:
                if a.minutes is not None and self.seconds > 60 * a.minutes:
                    break
                if self.model.num_timesteps - evaluated >= a.evaluate_every * a.steps:
                    evaluated = self.model.num_timesteps
                    bar.say(self._evaluate(a.games))
                    self.save()
                    saved = perf_counter()
                self._update_reward()
                self.model.ent_coef = a.entropy * (0.1 + 0.9 * self.remaining)
                for weight in self.network.actor():
                    weight.requires_grad_(self.updates >= a.settle)
                self.model.learn(rollout, reset_num_timesteps=False)
                self.updates += 1
                weights = self.network.export()
                self.pool.refresh(weights)
                if self.updates % a.remember_every == 0:
                    self.pool.remember(weights, self.rng)
                    self.envs.set_opponents(self.pool.opponents())
                bar.move(self.model.num_timesteps)
                if perf_counter() - saved > 60 * a.checkpoint_minutes:
                    self.save()
                    saved = perf_counter()
        self.save()
        if self.stopping:
            print(f"Stopped and saved; go on with --resume --out {self.out}", file=sys.stderr)
            return
        print(self._evaluate(2_000), file=sys.stderr)
        self.save()

    def say(self, line: str) -> None:
        """Tells of the run on stderr."""
        print(line, file=sys.stderr, flush=True)

    def _update_reward(self) -> None:
        """Changes from margin to outcome when it is time; the games go on."""
        wanted = "margin" if 1 - self.remaining < self.arguments.margin else "outcome"
        games = self.envs.games
        if games.vec.reward_kind != wanted:
            envs = self._envs(wanted)
            envs.games.set_state(games.get_state())
            self.model.set_env(envs, force_reset=False)

    def _evaluate(self, games: int) -> str:
        """Plays the fixed agents by what the policy file would hold, adds to the curve, keeps the best; a line."""
        began = perf_counter()
        weights = {name: value.astype(np.float16) for name, value in self.network.export().items()}
        agent = Policy(Network(self.game, self.options, self.architecture, weights), "ppo")
        opponents = agent_names(self.game)
        scores = evaluate(self.game, self.options, agent, opponents, games, seed=1_000_000_007)
        self.clock.add("evaluation", began)
        point = {
            "steps": self.model.num_timesteps, "seconds": round(self.seconds, 1),
            "cpu_seconds": round(self.cpu + process_time(), 1),
            "scores": [asdict(score) for score in scores],
        }  # fmt: skip
        self.curve.append(point)
        for score in scores:
            self.model.logger.record(f"evaluation/{score.opponent or 'alone'}", score.win_rate if score.opponent else score.mean_score)
        self.model.logger.dump(self.model.num_timesteps)
        strength = sum(score.win_rate if score.opponent else score.mean_return for score in scores) / len(scores)
        if strength >= self.best:
            self.best = strength
            self._export("best", scores)
        self._export("policy", scores)
        write_curve(self.out / "curve.jsonl", self.curve)
        if self.arguments.profile:
            write_json(self.out / "profile.json", self.profile())
        parts = [f"{s.opponent} {s.win_rate:.1%}" if s.opponent else f"score {s.mean_score:.2f}" for s in scores]
        return f"{self.model.num_timesteps:>10,} steps {self.seconds:5.0f} s (cpu {point['cpu_seconds']:.0f})  " + "  ".join(parts)

    def _export(self, name: str, scores: list[Score]) -> None:
        a = self.arguments
        card = Card(
            game=self.game.id, options=self.options, architecture=self.architecture, command=command(a), seed=a.seed,
            steps=self.model.num_timesteps, evaluation=tuple(asdict(score) for score in scores),
            training={**_plain(asdict(a)), "algorithm": "MaskablePPO", "seconds": round(self.seconds, 1), **_machine()},
        )  # fmt: skip
        save_policy(self.out / f"{name}.safetensors", self.network.export(), card)

    def profile(self) -> dict[str, Any]:
        """Env steps a second, and the seconds that each part took."""
        spent = self.clock.seconds
        total = sum(spent.get(name, 0.0) for name in ("rollout", "update"))
        return {
            "game": self.game.id, "script": "ppo", "steps": self.model.num_timesteps,
            "steps_per_second": self.model.num_timesteps / total if total else 0.0,
            "seconds": {
                "environment": spent.get("step", 0.0) - spent.get("opponents", 0.0),
                "opponents": spent.get("opponents", 0.0),
                "policy": spent.get("rollout", 0.0) - spent.get("step", 0.0),
                "update": spent.get("update", 0.0),
                "evaluation": spent.get("evaluation", 0.0),
            },
            **_machine(),
        }  # fmt: skip

    # --- Checkpoints ---

    def save(self) -> None:
        """Writes OUT/checkpoint.pt: whole or not at all. Tensors and plain values only, nothing that runs."""
        state = self.envs.games.get_state()
        agents: list[Opponent] = state.pop("agents")
        kind, keys, position, has_gauss, cached = np.random.get_state(legacy=True)
        weights = {agent.name: _tensors(agent.weights) for agent in [*agents, *self.pool.past] if agent.weights}
        value = {
            "arguments": _plain(asdict(self.arguments)),
            "policy": self.model.policy.state_dict(), "optimizer": self.model.policy.optimizer.state_dict(),
            "steps": self.model.num_timesteps, "updates": self.updates, "n_updates": self.model._n_updates,
            "seconds": self.seconds, "clock": dict(self.clock.seconds), "best": self.best, "curve": self.curve,
            "reward": self.envs.games.vec.reward_kind,
            "games": {name: torch.as_tensor(part) for name, part in state.items()},
            "agents": [agent.name for agent in agents], "past": [agent.name for agent in self.pool.past],
            "weights": weights, "choices": torch.as_tensor(self.envs.games.vec._choices),
            "last_obs": None if self.model._last_obs is None else torch.as_tensor(self.model._last_obs),
            "starts": None if self.model._last_obs is None else torch.as_tensor(self.model._last_episode_starts),
            "torch": torch.get_rng_state(), "python": _plain(random.getstate()),
            "numpy": [kind, torch.as_tensor(keys.astype(np.int64)), position, has_gauss, cached],
            "rng": self.rng.bit_generator.state,
        }  # fmt: skip
        buffer = io.BytesIO()
        torch.save(value, buffer)
        write_bytes(self.out / "checkpoint.pt", buffer.getvalue())

    def load(self) -> None:
        """Takes up OUT/checkpoint.pt. Raises ValueError if there is none, or it is another run's."""
        path = self.out / "checkpoint.pt"
        if not path.exists():
            raise ValueError(f"{path}: there is no such file to resume")
        kept = torch.load(io.BytesIO(path.read_bytes()), weights_only=True)
        free = {"out", "minutes", "resume", "checkpoint_minutes", "games", "profile", "evaluate_every"}
        mine = _plain(asdict(self.arguments))
        differ = sorted(name for name in mine if name not in free and mine[name] != kept["arguments"].get(name))
        if differ:
            told = ", ".join(f"{name} {kept['arguments'].get(name)!r}, not {mine[name]!r}" for name in differ)
            raise ValueError(f"{path} is of another run: {told}")
        self.model.policy.load_state_dict(kept["policy"])
        self.model.policy.optimizer.load_state_dict(kept["optimizer"])
        self.model.num_timesteps, self.model._n_updates = kept["steps"], kept["n_updates"]
        self.updates, self.spent, self.best, self.curve = (kept[n] for n in ("updates", "seconds", "best", "curve"))
        self.clock.seconds.update(kept["clock"])
        self.pool.refresh(self.network.export())
        past = {key: self.pool.past_self(key, _arrays(weights)) for key, weights in kept["weights"].items()}
        self.pool.past = [past[key] for key in kept["past"]]
        known = {self.pool.anybody.name: self.pool.anybody, **self.pool.scripted, SELF: self.pool.current, **past}
        state = {name: part.numpy() if name != "drawn_from" else part.tolist() for name, part in kept["games"].items()}
        if self.envs.games.vec.reward_kind != kept["reward"]:
            self.model.set_env(self._envs(kept["reward"]), force_reset=False)
        self.envs.games.set_state({**state, "agents": [known[key] for key in kept["agents"]]})
        self.envs.games.vec._choices[:] = kept["choices"].numpy()
        if kept["last_obs"] is not None:
            self.model._last_obs = kept["last_obs"].numpy()
            self.model._last_episode_starts = kept["starts"].numpy()
        torch.set_rng_state(kept["torch"])
        version, words, gauss = kept["python"]
        random.setstate((version, tuple(words), gauss))
        kind, keys, *rest = kept["numpy"]
        np.random.set_state((kind, keys.numpy().astype(np.uint32), *rest))
        self.rng.bit_generator.state = kept["rng"]


class Imitation:
    """Learning what a scripted agent plays, from positions each of which is seen once."""

    def __init__(self, trainer: Trainer) -> None:
        a = trainer.arguments
        self.trainer = trainer
        self.done = 0
        self.vec = VecEnv(trainer.game, a.num_envs, seed=a.seed * 1_000_003 + 500_000, **trainer.options)
        # Every game begins at another ply, so that a batch shows all of a game.
        ahead = trainer.rng.integers(trainer.game.max_game_length, size=a.num_envs)
        for ply in range(trainer.game.max_game_length):
            self.vec.step(self._random(), where=ahead > ply)
        teacher = make_agent(a.teacher, trainer.game)
        if not isinstance(teacher, ScriptedAgent):
            raise ValueError(f"teacher={a.teacher!r} is not allowed; it is a scripted agent: {', '.join(SCRIPTED[a.game])}")
        self.teacher = teacher
        self.optimizer = torch.optim.Adam(trainer.network.actor(), eps=1e-5)

    @property
    def finished(self) -> bool:
        """Whether all positions were seen."""
        return self.done >= self.trainer.arguments.imitate

    def run(self) -> None:
        """Plays and learns in turn."""
        trainer, a = self.trainer, self.trainer.arguments
        say = trainer.say
        saved = perf_counter()
        lines = 0
        while not self.finished and not trainer.stopping:
            began = perf_counter()
            loss, agreed = self._learn(*self._play(16))
            trainer.clock.add("imitation", began)
            if self.done * 10 // a.imitate > lines:
                lines = self.done * 10 // a.imitate
                say(f"imitated {self.done:,} in {trainer.seconds:.0f} s: loss {loss:.3f}, the same action {agreed:.1%}")
            if perf_counter() - saved > 60 * a.checkpoint_minutes:
                trainer.save()
                saved = perf_counter()
        trainer.pool.refresh(trainer.network.export())

    def _random(self) -> Any:
        """A random legal action in each game."""
        mask = self.vec.action_mask
        return np.asarray((mask * self.trainer.rng.uniform(0.1, 1, mask.shape)).argmax(axis=1))

    def _play(self, steps: int) -> tuple[Any, Any, Any]:
        """Observations, masks, and how likely each action should be."""
        vec, rng = self.vec, self.trainer.rng
        everyone = np.arange(vec.num_envs)
        soften = self.trainer.arguments.soften
        obs, masks, targets = [], [], []
        for _ in range(steps):
            view = view_of(vec, everyone, rng.integers(1 << 62, size=vec.num_envs))
            taught, wanted = self.teacher.weigh(view)
            if soften:
                wanted = np.exp((wanted - wanted.max(axis=1, keepdims=True)) / soften)
                wanted /= wanted.sum(axis=1, keepdims=True)
            else:
                wanted = np.eye(wanted.shape[1])[taught]
            obs.append(view.obs)
            masks.append(view.action_mask)
            targets.append(wanted.astype(np.float32))
            with torch.no_grad():
                logits = self.trainer.network.forward_actor(torch.as_tensor(view.obs)).numpy()
            noise = rng.gumbel(size=logits.shape).astype(np.float32)
            own = np.where(view.action_mask != 0, logits + noise, -np.inf).argmax(axis=1)
            vec.step(np.where(rng.random(vec.num_envs) < self.trainer.arguments.wander, own, taught))
        return tuple(torch.as_tensor(np.concatenate(parts)) for parts in (obs, masks, targets))  # type: ignore[return-value]

    def _learn(self, obs: Any, masks: Any, targets: Any) -> tuple[float, float]:
        """One pass; the mean loss and how often the best action is one of the teacher's best."""
        a = self.trainer.arguments
        losses, agreed = [], 0
        for group in self.optimizer.param_groups:
            group["lr"] = a.imitate_rate * (1 - 0.9 * self.done / a.imitate)
        for batch in torch.randperm(len(obs)).split(a.imitate_batch):
            logits = self.trainer.network.forward_actor(obs[batch])
            logits = logits.masked_fill(masks[batch] == 0, -1e8)
            loss = nn.functional.cross_entropy(logits, targets[batch])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
            best = targets[batch].gather(1, logits.argmax(dim=1, keepdim=True))[:, 0]
            agreed += int((best >= 0.999 * targets[batch].amax(dim=1)).sum())
        self.done += len(obs)
        return float(np.mean(losses)), agreed / len(obs)


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

    def step_wait(self) -> Any:
        began = perf_counter()
        result = super().step_wait()
        self._clock.add("step", began)
        return result


class _bar:
    """Progress on stderr: a bar in a terminal, else a line for each evaluation."""

    def __init__(self, total: int) -> None:
        console = rich.console.Console(stderr=True)
        self._live = console.is_terminal
        columns = (*rich.progress.Progress.get_default_columns(), rich.progress.TextColumn("{task.fields[rate]}"))
        self._progress = rich.progress.Progress(*columns, console=console, disable=not self._live)
        self._task = self._progress.add_task("training", total=total, rate="")

    def __enter__(self) -> _bar:
        self._progress.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._progress.stop()

    def move(self, steps: int) -> None:
        speed = self._progress.tasks[0].speed or 0.0
        self._progress.update(self._task, completed=steps, rate=f"{speed:,.0f} steps/s")

    def say(self, line: str) -> None:
        if self._live:
            self._progress.console.print(line, highlight=False)
        else:
            print(line, file=sys.stderr, flush=True)


def parse_options(game: Game, given: tuple[str, ...]) -> dict[str, Any]:
    """NAME=VALUE texts as options of a game. Raises ValueError that lists what is allowed."""
    from iszoo.__main__ import _game_options

    return _game_options(game, given)


def parse_mix(game: Game, given: tuple[str, ...]) -> dict[str, int]:
    """NAME=SHARE texts. Raises ValueError that lists what is allowed."""
    allowed = [*agent_names(game), SELF, PAST]
    shares: dict[str, int] = {}
    for text in given:
        name, equals, share = text.partition("=")
        if not equals or not share.isdigit() or name not in allowed:
            raise ValueError(f"--mix {text}: write NAME=SHARE, a whole number, of {', '.join(allowed)}")
        shares[name] = int(share)
    if not any(shares.values()):
        raise ValueError("--mix: give at least one opponent a share")
    return shares


def command(arguments: Arguments) -> str:
    """What trains this policy anew: every argument that differs from the game's defaults."""
    usual = defaults(arguments.game)
    words = ["python", "-m", "iszoo.baselines.ppo", "--game", arguments.game]
    for one in fields(Arguments):
        value = getattr(arguments, one.name)
        if one.name in ("game", "out", "resume", "profile") or value == getattr(usual, one.name):
            continue
        flag = f"--{one.name.replace('_', '-')}"
        if one.name in ("option", "mix"):
            words += [word for entry in value for word in (flag, entry)]
        elif isinstance(value, bool):
            words.append(flag)
        else:
            words += [flag, *(str(part) for part in (value if isinstance(value, tuple) else (value,)))]
    return shlex.join(words)


def defaults(game: str) -> Arguments:
    """The arguments of a game."""
    return Arguments(game=game, **PRESETS.get(game, {}))


def _tensors(weights: Any) -> dict[str, Any]:
    return {name: torch.as_tensor(value) for name, value in weights.items()}


def _arrays(weights: Any) -> dict[str, Any]:
    return {name: value.numpy() for name, value in weights.items()}


def _plain(value: Any) -> Any:
    """Tuples as lists and paths as texts, so that JSON and weights_only take it."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return str(value) if isinstance(value, Path) else value


def _machine() -> dict[str, Any]:
    return {"python": platform.python_version(), "torch": torch.__version__, "machine": platform.processor() or platform.machine()}


def main(argv: list[str] | None = None) -> int:
    """Trains. Returns 0, or 1 with a message on stderr."""
    words = list(sys.argv[1:] if argv is None else argv)
    # The defaults are the game's, so that it is looked for first.
    named = [after for word, after in zip(words, words[1:], strict=False) if word == "--game"]
    named += [word.partition("=")[2] for word in words if word.startswith("--game=")]
    usual = defaults(named[-1]) if named and named[-1] in REGISTRY else None
    arguments = tyro.cli(Arguments, args=words, prog="python -m iszoo.baselines.ppo", **({"default": usual} if usual else {}))
    try:
        trainer = Trainer(arguments)
        if arguments.resume:
            trainer.load()
        elif (trainer.out / "checkpoint.pt").exists():
            raise ValueError(f"{trainer.out} holds a run already: add --resume, or choose another --out")
        signal.signal(signal.SIGINT, lambda *_: _stop(trainer))
        signal.signal(signal.SIGTERM, lambda *_: _stop(trainer))
        trainer.run()
    except ValueError as error:
        print(f"ppo: error: {error}", file=sys.stderr)
        return 1
    return 0


def _stop(trainer: Trainer) -> None:
    if trainer.stopping:  # asked twice: the last checkpoint stands
        os._exit(130)
    trainer.stopping = True
    print("Finishing this update, then saving; again to stop at once", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
