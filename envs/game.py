"""`Game`: the fact sheet of a game and its kernels, from which everything else about it is made."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from iszoo.envs import native, signatures
from iszoo.envs.errors import check_choice
from iszoo.envs.primitives import MARGIN, OUTCOME, PARAMS_HEAD, REWARD

Rows = npt.NDArray[np.int64]
Params = npt.NDArray[np.int64]
Options = Mapping[str, Any]

REWARDS = ("outcome", "margin")


def words(row: np.dtype[Any], *names: str) -> Iterator[int]:
    """Where fields begin in a row, in int64 words: the offsets that kernels use."""
    fields: Any = row.fields
    assert fields is not None
    return (int(fields[name][1]) // 8 for name in names)


class Kernels(NamedTuple):
    """The rules of a game as functions over a batch `rows` of int64, shape (N, S), C-contiguous.

    `params` is the read-only int64 vector of `Game.params`. Nothing is checked: callers pass what fits.
    """

    init: Any  #: (rows, i, seed, deal, params): writes all of rows[i]. Seed < 0: go on. Deal empty: shuffle
    legal: Any  #: (rows, i, mask, params): writes all of mask[i], zeros when over; returns how many are legal
    step: Any  #: (rows, i, action, params): plays a legal action
    observe: Any  #: (rows, i, player, obs, params): writes the board, then the features, as player sees them
    scores: Any  #: (rows, i, out, params): writes out[i] (int64), the points of each player as they stand
    returns: Any  #: (rows, i, out, params): writes out[i] (float64), the final rewards; zero while running
    status: Any  #: (rows, i, params): the player to move, or -1 when the game is over
    resample: Any  #: (rows, i, player, seed, params): redraws what that player can't know


INIT, LEGAL, STEP, OBSERVE, SCORES, RETURNS, STATUS, RESAMPLE = range(len(Kernels._fields))


@dataclass(frozen=True)
class Option:
    """An option of a game: its default, its allowed values (empty: see `about`), and what it does."""

    default: Any
    choices: tuple[Any, ...]
    about: str


class Bounds(NamedTuple):
    """The true least and greatest value of each plane and of each feature, as int8 vectors."""

    board_low: npt.NDArray[np.int8]
    board_high: npt.NDArray[np.int8]
    features_low: npt.NDArray[np.int8]
    features_high: npt.NDArray[np.int8]


@dataclass(frozen=True)
class Game:
    """Everything about one game. Immutable; one instance a game, in the registry."""

    name: str  #: the name in the registry: "isis_osiris"
    title: str  #: the name of the game in print: "Isis & Osiris"
    gym_name: str  #: the name in Gymnasium's registry: "IsisOsiris"
    version: int  #: changes only when the rules, the spaces or the rewards change
    credits: str  #: author, publisher, year
    players: tuple[int, ...]  #: the numbers of players that some setting of the options gives
    row: np.dtype[Any]  #: the fields of a state row; each is int64, or an array of int64
    num_actions: int
    board_shape: tuple[int, int, int]
    planes: tuple[str, ...]  #: what each plane of the board shows, in order
    features: tuple[str, ...]  #: what each feature says, in order
    action_groups: tuple[tuple[str, str], ...]  #: ranges of action ids and what they do, for the docs
    max_game_length: int  #: in actions
    margin_scale: int  #: what the margin reward is divided by
    options: Mapping[str, Option]
    kernels: Kernels
    pack: Callable[[Options], Sequence[int]]  #: the number of players, 0, then the game's own parameters
    bounds: Callable[[Options], Bounds]
    deal: Callable[[Options, Sequence[int]], None] | None  #: raises ValueError for a bad deal; None: no chance
    deal_about: str  #: what a deal lists
    hidden: Callable[[Rows, Options], Sequence[int]]  #: what no observation shows, for `state()`
    hidden_bounds: Callable[[Options], tuple[int, int, int]]  #: length, least, greatest value of `hidden`
    text: Callable[[Rows, Options], str]  #: the position as a text board
    action_to_string: Callable[[int], str]
    string_to_action: Callable[[str], int]  #: raises ValueError
    check: Callable[[Options], Mapping[str, Any]] = field(default=dict)
    """Settles options that depend on each other; raises ValueError where they can't go together."""

    def __post_init__(self) -> None:
        if len(self.planes) != self.board_shape[0]:
            raise ValueError(f"{self.name}: {len(self.planes)} plane names for board {self.board_shape}")
        if self.row.itemsize % 8 or tuple(self.row.names or ())[:2] != ("generator", "offender"):
            raise ValueError(f"{self.name}: a row is int64 words and begins with ROW_HEAD of primitives.py")

    def __reduce__(self) -> tuple[Callable[[str], Game], tuple[str]]:
        """Pickled by its name: what is loaded is the game that the other process has in its registry."""
        return _registered, (self.name,)

    def __copy__(self) -> Game:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Game:
        return self

    @property
    def id(self) -> str:
        """The module under `iszoo.envs`, and the id without its namespace: "isis_osiris_v0"."""
        return f"{self.name}_v{self.version}"

    @property
    def row_size(self) -> int:
        """Int64 words in a state row, S."""
        return self.row.itemsize // 8

    @property
    def board_size(self) -> int:
        """Bytes of a board, C * H * W."""
        c, h, w = self.board_shape
        return c * h * w

    @property
    def obs_size(self) -> int:
        """Bytes of a flat observation, C * H * W + F."""
        return self.board_size + len(self.features)

    @property
    def table(self) -> Any:
        """The addresses of the kernels, compiled and bound at first use, once a process."""
        with _binding:
            table = _tables.get(self.kernels)
            if table is None:
                table = _tables[self.kernels] = native.bind(self.kernels, signatures.ALL)
        return table

    def resolve(self, options: Options) -> dict[str, Any]:
        """All options of a game, the given ones checked and the others at their defaults.

        Raises ValueError for an unknown option or a value that isn't allowed, naming what is.
        """
        settled = {name: option.default for name, option in self.options.items()}
        for name, value in options.items():
            option = self.options.get(name)
            if option is None:
                raise ValueError(f"{self.name} has no option {name!r}; its options are {_listed(self.options)}")
            if option.choices and not any(type(value) is type(choice) and value == choice for choice in option.choices):
                raise ValueError(f"{name}={value!r} is not allowed; choose one of {_listed(option.choices)}")
            settled[name] = value
        settled.update(self.check(settled))
        return settled

    def params(self, options: Options, reward: str = "outcome") -> Params:
        """The parameters that the kernels read: options and tables as one read-only int64 vector.

        Raises ValueError for an unknown option, or a value that isn't allowed.
        """
        check_choice("reward", reward, REWARDS)
        params = np.array(self.pack(self.resolve(options)), np.int64)
        params[REWARD] = OUTCOME if reward == "outcome" else MARGIN
        params.setflags(write=False)
        return params

    def fingerprint(self, params: Params) -> bytes:
        """Eight bytes that tell whether two sets of parameters play the same game (rewards aside)."""
        rules = params.copy()
        rules[REWARD] = 0
        head = f"{self.id}:{self.row_size}:".encode()
        return hashlib.sha256(head + rules.astype("<i8").tobytes()).digest()[:8]

    def check_deal(self, deal: Any, options: Options) -> npt.NDArray[np.int64]:
        """A deal as the kernels take it. Raises ValueError that says what is wrong with it."""
        if self.deal is None:
            raise ValueError(f"{self.name} has no chance: it takes no deal")
        if not _is_list(deal) or any(not _is_whole(value) for value in deal):
            raise ValueError(f"a deal is a list of whole numbers ({self.deal_about}), not {deal!r}")
        given = [int(value) for value in deal]
        self.deal(options, given)
        return np.array(given, np.int64)


def _registered(name: str) -> Game:
    from iszoo.envs.registry import find

    return find(name)


def check_params(game: Game, params: Sequence[int]) -> None:
    """Raises ValueError unless parameters begin as PARAMS_HEAD of primitives.py says."""
    if len(params) < PARAMS_HEAD or params[0] not in game.players:
        raise ValueError(f"{game.name}: parameters begin with the number of players and the reward")


def _is_list(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 1
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _listed(values: Any) -> str:
    return ", ".join(repr(value) for value in values) or "none"


_tables: dict[Kernels, Any] = {}
_binding = threading.Lock()
