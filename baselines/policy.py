"""Trained policies: two files, played by numpy alone.

`NAME.safetensors` holds the weights, float16 or float32, and nothing that could run; `NAME.json`, the card beside
it, says what they are: game, options, architecture, how they were trained, the sha256 of the weights' file. Needs
the extra iszoo[policies].
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo import __version__
from iszoo.baselines import POLICIES, networks
from iszoo.baselines.agents import View
from iszoo.baselines.networks import Network
from iszoo.envs.game import Game
from iszoo.envs.native import kernel
from iszoo.envs.primitives import mix
from iszoo.reports import write_bytes, write_json

try:
    import safetensors
    import safetensors.numpy
except ImportError as error:
    raise ImportError("policy files need safetensors: pip install 'iszoo[policies]'") from error

FORMAT = 1  # of the card; a reader refuses one that it doesn't know
_DTYPES = ("float16", "float32")


class PolicyError(ValueError):
    """A policy's files can't be used; says which file, what is wrong, and what is allowed."""


@dataclass(frozen=True)
class Card:
    """What is known of a policy, as JSON beside its weights."""

    game: str  #: the id with its version: "isaac_v0"
    options: Mapping[str, Any]  #: all options of the game
    architecture: Mapping[str, Any]  #: see `networks`
    version: str = __version__  #: of iszoo, when it was trained
    command: str = ""  #: what trains it anew
    seed: int | None = None
    steps: int = 0  #: of training: actions of the learner
    training: Mapping[str, Any] = field(default_factory=dict)  #: all arguments, machine, seconds
    evaluation: tuple[Mapping[str, Any], ...] = ()  #: matches, as `MatchResult.to_json` gives them
    margin: float = 0.0  #: the share of the margin reward in what its values mean; the rest is the outcome
    sha256: str = ""  #: of the file of weights; written by `save_policy`


@kernel
def _uniform(seeds: Any, out: Any) -> None:
    for k in range(seeds.shape[0]):
        out[k] = (mix(seeds[k]) & 0x1FFFFFFFFFFFFF) / 9007199254740992.0


class Policy:
    """An agent that plays by a network.

    It plays the legal action with the greatest logit; or, with a temperature, one drawn from the softmax of the
    logits over it, by the seeds of the view alone.

    Args:
        network: the network.
        name: how tables call it.
        temperature: 0 for the best action; 1 as the policy was trained.
    """

    def __init__(self, network: Network, name: str = "policy", *, temperature: float = 0.0) -> None:
        if not 0 <= temperature < float("inf"):
            raise ValueError(f"temperature={temperature!r} is not allowed; it is a number from 0")
        self.network = network
        self.name = name
        self.temperature = temperature

    def act(self, view: View) -> npt.NDArray[np.int64]:
        """See `Agent.act`."""
        logits = self.network.logits(view.obs)
        logits = np.where(view.action_mask != 0, logits, np.float32(-np.inf))
        if self.temperature == 0:
            return np.asarray(logits.argmax(axis=1), np.int64)
        weights = np.exp((logits - logits.max(axis=1, keepdims=True)) / self.temperature, dtype=np.float64)
        below = np.cumsum(weights, axis=1)
        drawn = np.empty(len(logits))
        _uniform(view.seeds, drawn)
        chosen = (below > (drawn * below[:, -1])[:, None]).argmax(axis=1)
        return np.asarray(chosen, np.int64)

    def values(self, view: View) -> npt.NDArray[np.float32]:
        """What the player to move can expect in each position, float32 (n,): of the reward it was trained on."""
        return self.network.values(view.obs)


def save_policy(path: str | Path, weights: networks.Weights, card: Card, *, dtype: str = "float16") -> Card:
    """Writes PATH (NAME.safetensors) and NAME.json, each whole or not at all; returns the card with its hash.

    Raises PolicyError for weights that don't fit the card or aren't finite.
    """
    path = _checked_path(path)
    if dtype not in _DTYPES:
        raise ValueError(f"dtype={dtype!r} is not allowed; choose one of {', '.join(_DTYPES)}")
    with np.errstate(over="ignore"):
        kept = {name: np.ascontiguousarray(value, dtype) for name, value in weights.items()}
    game = _game_of(card, path)
    _check_weights(path, kept, networks.shapes(card.architecture, game))
    data = safetensors.numpy.save(kept, {"game": card.game})  # with more than one entry their order is chance
    card = Card(**{**card.__dict__, "sha256": hashlib.sha256(data).hexdigest()})
    # The card last: a kill in between leaves a card whose hash does not fit, which is refused, not played.
    write_bytes(path, data)
    write_json(path.with_suffix(".json"), {"format": FORMAT, **card.__dict__})
    return card


def load_card(path: str | Path) -> Card:
    """Reads the card beside a file of weights. Raises PolicyError."""
    path = _checked_path(path).with_suffix(".json")
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise PolicyError(
            f"{path}: there is no such file; a policy is NAME.safetensors with NAME.json beside it"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(f"{path}: can't be read: {error}") from None
    try:
        given = json.loads(text)
    except ValueError as error:
        raise PolicyError(f"{path}: is not JSON, or cut off: {error}") from None
    if not isinstance(given, dict) or given.get("format") != FORMAT:
        raise PolicyError(f"{path}: is not a card of format {FORMAT}, the one that iszoo {__version__} reads")
    del given["format"]
    known = Card.__dataclass_fields__
    missing = {"game", "options", "architecture", "sha256"} - set(given)
    if missing or set(given) - set(known):
        raise PolicyError(f"{path}: missing {sorted(missing)}, unknown {sorted(set(given) - set(known))}")
    kinds: dict[str, type] = {
        "game": str,
        "sha256": str,
        "options": dict,
        "architecture": dict,
        "evaluation": list,
        "training": dict,
        "margin": float,
    }
    for name, kind in kinds.items():
        if name in given and not isinstance(given[name], kind):
            raise PolicyError(f"{path}: {name} is {given[name]!r}, not a {kind.__name__}")
    given["evaluation"] = tuple(given.get("evaluation", ()))
    return Card(**given)


def load_policy(path: str, game: Game, *, temperature: float = 0.0) -> Policy:
    """The agent of a file of weights and its card; `policy:FILE` in `make_agent`.

    Raises PolicyError, a ValueError, that says which file and what is wrong: missing, cut off, changed, for another
    game, of other shapes, not finite.
    """
    file = _checked_path(path)
    card = load_card(file)
    if card.game != game.id:
        raise PolicyError(f"{file}: was trained for {card.game}, not for {game.id}")
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        raise PolicyError(f"{file}: there is no such file") from None
    except OSError as error:
        raise PolicyError(f"{file}: can't be read: {error}") from None
    try:
        wanted = networks.shapes(card.architecture, game)
        options = game.resolve(card.options)
    except ValueError as error:
        raise PolicyError(f"{file.with_suffix('.json')}: {error}") from None
    if hashlib.sha256(data).hexdigest() != card.sha256:
        raise PolicyError(f"{file}: is not the file that its card describes (sha256 differs): cut off, or changed")
    try:
        weights = safetensors.numpy.load(data)
    except safetensors.SafetensorError as error:
        raise PolicyError(f"{file}: is not a whole safetensors file: {error}") from None
    _check_weights(file, weights, wanted)
    return Policy(Network(game, options, card.architecture, weights), f"policy:{file.stem}", temperature=temperature)


def _game_of(card: Card, path: Path) -> Game:
    from iszoo.envs import REGISTRY

    for game in REGISTRY.values():
        if game.id == card.game:
            return game
    raise PolicyError(f"{path}: no game {card.game!r}; the games are {', '.join(g.id for g in REGISTRY.values())}")


def _checked_path(path: str | Path) -> Path:
    path = Path(path)
    if path.suffix == "" and path.parent == Path():  # one of those that ship
        shipped = sorted(file.stem for file in POLICIES.glob("*.safetensors"))
        if path.name not in shipped:
            raise PolicyError(f"no policy {path} ships with iszoo; those that do are {', '.join(shipped)}")
        return POLICIES / f"{path.name}.safetensors"
    if path.suffix != ".safetensors":
        raise PolicyError(f"{path}: name the file of weights, NAME.safetensors, or a policy that ships")
    return path


def _check_weights(path: Path, weights: Mapping[str, npt.NDArray[Any]], wanted: Mapping[str, tuple[int, ...]]) -> None:
    missing, unknown = sorted(set(wanted) - set(weights)), sorted(set(weights) - set(wanted))
    if missing or unknown:
        raise PolicyError(f"{path}: weights missing: {missing}, unknown: {unknown}")
    for name, value in weights.items():
        if value.shape != wanted[name]:
            raise PolicyError(f"{path}: {name} has shape {value.shape}, its architecture wants {wanted[name]}")
        if value.dtype.name not in _DTYPES:
            raise PolicyError(f"{path}: {name} is {value.dtype.name}; weights are {' or '.join(_DTYPES)}")
        if not np.isfinite(value).all():
            raise PolicyError(f"{path}: {name} has values that are not finite")
