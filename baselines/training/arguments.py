"""The arguments of the training scripts: what they share, each game's defaults, and how they become a command."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

from iszoo.baselines.networks import KINDS
from iszoo.envs import REGISTRY

try:
    import tyro
except ImportError as error:
    raise ImportError("training needs tyro and rich: pip install 'iszoo[cli]'") from error

Texts = Annotated[tuple[str, ...], tyro.conf.UseAppendAction]

NO_TEXTS = "none"  # on the command line

SEEDS_APART = 1_000_003  # between the deals of runs whose seeds follow one another

# What may be changed when a run goes on, and is in no command.
FREE = ("out", "resume", "checkpoint_minutes", "profile")


@dataclass(frozen=True)
class TrainingArguments:
    """What every training script can be told."""

    game: str
    """The game; the defaults below are this game's."""
    out: Path | None = None
    """The folder of the run; runs/GAME-SEED by default."""
    option: Texts = ()
    """An option of the game as NAME=VALUE; may be given several times."""
    seed: int = 0
    """Of everything: deals, weights, choices."""
    steps: int = 2_000_000
    """Actions of the learner in self-play."""
    minutes: float | None = None
    """End after so many minutes if the steps take longer; such a run can't be repeated to the bit."""
    resume: bool = False
    """Go on from the checkpoint in OUT."""

    imitate: Texts = ()
    """First learns from scripted agents: TEACHER:KIND:POSITIONS, see `Lesson`, may be given several times; the
    positions don't count as steps. "none": it does not."""
    soften: float = 0.25
    """Imitating: the temperature over what the teacher wants; 0: its choice alone."""
    wander: float = 0.2
    """Imitating: how often the policy itself moves, which shows it positions that the teacher avoids."""
    imitate_batch: int = 256
    """Imitating: positions of an update."""
    imitate_rate: float = 1e-3
    """Imitating: the learning rate at the beginning; falls to a fiftieth in a line."""

    learning_rate: float = 5e-4
    """At the beginning; falls to a twentieth in a line."""

    kind: str = "mlp"
    """The network, see networks.py."""
    hidden: tuple[int, ...] = (256, 256)
    """The hidden layers of the policy."""
    value_hidden: tuple[int, ...] = (128, 128)
    """The hidden layers of the value."""
    reach: int = 3
    """Kind walls: how far a cell sees."""
    wall: int = 16
    """Kind walls: how many numbers tell of a wall."""
    greatest: bool = False
    """Kind walls: the value is read from the greatest of what cells say too, not from the means alone."""
    slot: int = 16
    """Kind lines: how many numbers tell of a piece in its place."""

    evaluate_every: float = 0.05
    """The share of the steps between evaluations."""
    games: int = 200
    """Of an evaluation, against each agent; ten times as many at the end."""
    checkpoint_minutes: float = 2.0
    """The most minutes that a kill can cost."""
    threads: int = 1
    """Of torch."""
    profile: bool = False
    """Also write OUT/profile.json: where the time went."""


@dataclass(frozen=True)
class Arguments(TrainingArguments):
    """What those that train by PPO can be told, too."""

    epochs: int = 3
    """Passes over what was played."""
    entropy: float = 0.01
    """What entropy counts at the beginning; falls to a tenth in a line."""
    clip: float = 0.2
    """How far a ratio of probabilities counts."""
    gae_lambda: float = 0.95
    """Of the advantage estimates; rewards are not discounted."""
    value: float = 0.5
    """What the loss of the values counts."""
    pool: int = 8
    """The most past selves."""
    remember_every: int = 20
    """Updates from one past self to the next."""


Some = TypeVar("Some", bound=TrainingArguments)

NETWORKS: dict[str, dict[str, Any]] = {
    "isaac": {"kind": "lines", "hidden": (48, 48), "slot": 16, "value_hidden": (64,)},
    "iso": {"kind": "walls", "hidden": (96, 64), "wall": 12, "value_hidden": (64,)},
    "isis_osiris": {"kind": "cells", "hidden": (48, 48, 48), "value_hidden": (64,)},
}
"""The network of each game, whatever trains it."""

PRESETS: dict[str, dict[str, Any]] = {
    "isaac": {
        "steps": 500_000, "imitate": ("expert:choices:600000",), "soften": 0.5, "imitate_rate": 3e-3,
        **NETWORKS["isaac"],
    },
    "iso": {
        "steps": 300_000, "imitate": ("greedy:values:250000", "expert:choices:200000"), "soften": 0.3,
        "imitate_batch": 32, "imitate_rate": 5e-3, "num_envs": 256, "batch_size": 256, "entropy": 0.003,
        **NETWORKS["iso"],
    },
    "isis_osiris": {
        "steps": 1_000_000, "imitate": ("expert:choices:1000000",), "imitate_batch": 512, "imitate_rate": 2e-3,
        **NETWORKS["isis_osiris"],
    },
}  # fmt: skip
"""What differs from the defaults, by game."""


def parse(kind: type[Some], module: str, words: list[str], presets: Mapping[str, Mapping[str, Any]] = PRESETS) -> Some:
    """The arguments of a command line; the defaults are those of the game that it names.

    Among texts "none" stands for no text, whatever the game's default is.
    """
    prog = f"python -m {module}"
    named = [after for word, after in itertools.pairwise(words) if word == "--game"]
    named += [word.partition("=")[2] for word in words if word.startswith("--game=")]
    if not named or named[-1] not in REGISTRY:
        return _without_none(tyro.cli(kind, args=words, prog=prog))
    known = {one.name for one in fields(kind)}
    preset = {name: value for name, value in presets.get(named[-1], {}).items() if name in known}
    for one in fields(kind):  # texts that are given replace the default, where tyro would add to it
        if one.type == "Texts" and any(word == f"--{one.name}" or word.startswith(f"--{one.name}=") for word in words):
            preset[one.name] = ()
    return _without_none(tyro.cli(kind, args=words, prog=prog, default=kind(game=named[-1], **preset)))


def _without_none(given: Some) -> Some:
    texts: dict[str, Any] = {one.name: getattr(given, one.name) for one in fields(given) if one.type == "Texts"}
    some: dict[str, Any] = {name: tuple(text for text in texts[name] if text != NO_TEXTS) for name in texts}
    return replace(given, **some)


def command(module: str, arguments: TrainingArguments, free: tuple[str, ...] = FREE) -> str:
    """What trains this policy anew: every argument by name, so that it stays true when defaults and presets change."""
    words = ["python", "-m", module]
    for one in fields(arguments):
        value = getattr(arguments, one.name)
        if one.name in free or value is None or (one.name == "option" and value == ()):  # options are in no preset
            continue
        flag = f"--{'no-' if value is False else ''}{one.name.replace('_', '-')}"
        if isinstance(value, bool):
            words.append(flag)
        elif one.type == "Texts":
            words += [word for entry in value or (NO_TEXTS,) for word in (flag, entry)]
        else:
            words += [flag, *(str(part) for part in (value if isinstance(value, tuple) else (value,)))]
    return shlex.join(words)


def architecture(arguments: TrainingArguments) -> dict[str, Any]:
    """The network that the arguments ask for. Raises ValueError for a kind that isn't known."""
    if arguments.kind not in KINDS:
        raise ValueError(f"kind={arguments.kind!r} is not allowed; choose one of {', '.join(KINDS)}")
    found = {"kind": arguments.kind, **{name: plain(getattr(arguments, name)) for name in KINDS[arguments.kind]}}
    return {**found, "greatest": True} if arguments.greatest else found


def plain(value: Any) -> Any:
    """Tuples as lists and paths as texts: what comes back from JSON is equal."""
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return str(value) if isinstance(value, Path) else value


def check_same_run(
    path: Path, kept: Mapping[str, Any], arguments: TrainingArguments, free: tuple[str, ...] = ()
) -> None:
    """Raises ValueError that says how the arguments differ from those of a checkpoint; some may."""
    mine = plain(asdict(arguments))
    differ = [name for name in mine if name not in (*FREE, "minutes", *free) and mine[name] != kept.get(name)]
    if differ:
        told = ", ".join(f"{name} is {kept.get(name)!r}, not {mine[name]!r}" for name in differ)
        raise ValueError(f"{path} is of another run: there {told}")
