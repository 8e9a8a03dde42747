"""OpenSpiel: importing this registers every game with pyspiel, as "iszoo_<name>". Extra: iszoo[openspiel].

What nobody can know is never dealt ahead: a state holds what was shown so far, and an action that shows more is
followed by a chance node. So a search that clones states, as OpenSpiel's do, can't look into the stock.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.envs import REGISTRY, engine
from iszoo.envs.game import Game, Option
from iszoo.envs.vec import VecEnv

try:
    import pyspiel
except ImportError as error:
    raise ImportError("this adapter needs OpenSpiel: pip install 'iszoo[openspiel]'") from error

PREFIX = "iszoo_"
CHANCE_SAMPLES = 128
_PROBES = 32  # games that are played to see what kind of rewards a setting gives


class Rules:
    """A setting of a game, and the batches in which its positions are advanced; states share it."""

    def __init__(self, game: Game, options: Mapping[str, Any], samples: int) -> None:
        self.game = game
        self.one = VecEnv(game, 1, autoreset="disabled", seed=0, **options)
        self.many = VecEnv(game, samples, autoreset="disabled", seed=0, **options) if game.deal else self.one
        self.samples = samples

    def __deepcopy__(self, memo: Any) -> Rules:
        return self

    def starts(self) -> Outcomes:
        """What can be seen at the beginning of a game."""
        self.many.reset(seed=0)
        return self._outcomes()

    def outcomes(self, row: npt.NDArray[np.int64], player: int, action: int, ply: int) -> Outcomes:
        """The positions that an action can lead to, each with its probability; one if it shows nothing new.

        Raises IllegalActionError.
        """
        vec = self.many
        vec.rows[:] = row
        if vec is not self.one:
            # All that is hidden in these games is hidden from every player alike.
            seats = np.full(vec.num_envs, player, np.int64)
            seeds = ply * vec.num_envs + np.arange(vec.num_envs, dtype=np.int64)
            engine.resample_batch(self.game.table, vec.rows, seats, seeds, vec.params)
        vec.refresh()
        vec.step(np.full(vec.num_envs, action, np.int64))
        return self._outcomes()

    def _outcomes(self) -> Outcomes:
        """The positions of the batch, those that no player can tell apart taken together."""
        vec = self.many
        views = [vec.observe(seat) for seat in range(vec.num_players)]
        first: dict[Any, int] = {}
        counts: dict[int, int] = {}
        if all((view == view[0]).all() for view in views) and (vec.player == vec.player[0]).all():
            counts[0] = vec.num_envs
        else:
            for k in range(vec.num_envs):
                look = (int(vec.player[k]), *(view[k].tobytes() for view in views))
                same = first.setdefault(look, k)
                counts[same] = counts.get(same, 0) + 1
        found: Outcomes = {}
        for k, count in counts.items():
            row, player = vec.rows[k].copy(), int(vec.player[k])
            rewards = self.returns(row[None])[0].tolist() if player < 0 else [0.0] * vec.num_players
            found[k] = count / vec.num_envs, row, player, vec.action_mask[k].copy(), rewards
        return found

    def returns(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """The rewards of positions in which the game is over, float64 (n, P): OpenSpiel checks their sum."""
        found = np.zeros((len(rows), self.one.num_players))
        for i in range(len(rows)):
            engine.write_returns(self.game.table, rows, i, found, self.one.params)
        return found

    def utility(self) -> tuple[Any, float | None]:
        """What kind of rewards the players get, as random games show."""
        vec = VecEnv(self.game, _PROBES, autoreset="disabled", seed=0, **self.one.options)
        vec.random_steps(self.game.max_game_length)
        returns = self.returns(vec.rows)
        if np.allclose(returns.sum(axis=1), 0):
            return pyspiel.GameType.Utility.ZERO_SUM, 0.0
        if vec.num_players > 1 and (returns == returns[:, :1]).all():
            return pyspiel.GameType.Utility.IDENTICAL, None
        return pyspiel.GameType.Utility.GENERAL_SUM, None


# By number: probability, row, player to move, mask, rewards.
Outcomes = dict[int, tuple[float, npt.NDArray[np.int64], int, npt.NDArray[np.int8], list[float]]]


class State(pyspiel.State):  # type: ignore[misc, unused-ignore]
    """A position, or a chance node between an action and what it shows."""

    def __init__(self, game: Any, rules: Rules) -> None:
        super().__init__(game)
        self._rules = rules
        self._row: npt.NDArray[np.int64] | None = None
        self._player = 0
        self._mask = np.zeros(rules.game.num_actions, np.int8)
        self._rewards = [0.0] * rules.one.num_players
        self._ply = 0
        self._chance: Outcomes = {}
        self._go_on(rules.starts())

    def current_player(self) -> int:
        """The seat to move, or OpenSpiel's numbers for chance and the end."""
        if self._chance:
            return int(pyspiel.PlayerId.CHANCE)
        return self._player if self._player >= 0 else int(pyspiel.PlayerId.TERMINAL)

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return not self._chance and self._player < 0

    def returns(self) -> list[float]:
        """The rewards of every seat; zeros while the game runs."""
        return list(self._rewards)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Numbers of what can be shown, with probabilities as samples give them."""
        return [(k, outcome[0]) for k, outcome in self._chance.items()]

    def _legal_actions(self, player: int) -> list[int]:
        mine = not self._chance and player == self._player
        return self._mask.nonzero()[0].tolist() if mine else []

    def _apply_action(self, action: int) -> None:
        if self._chance:
            chosen = self._chance[action]
            self._chance = {}
            self._become(chosen)
        else:
            assert self._row is not None
            self._ply += 1
            self._go_on(self._rules.outcomes(self._row, self._player, action, self._ply))

    def _go_on(self, outcomes: Outcomes) -> None:
        if len(outcomes) > 1:
            self._chance = outcomes
        else:
            self._become(next(iter(outcomes.values())))

    def _become(self, outcome: Any) -> None:
        _, self._row, self._player, self._mask, self._rewards = outcome

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"chance:{action}"
        return self._rules.game.action_to_string(action)

    def __str__(self) -> str:
        if self._row is None:
            return "before the deal"
        text = self._rules.game.text(self._row, self._rules.one.options)
        return f"{text}\nchance" if self._chance else text

    def observed_by(self, player: int) -> npt.NDArray[np.int8]:
        """The position as a player sees it, flat; at a chance node that before the action, zeros before the deal."""
        game = self._rules.game
        seen = np.zeros(game.obs_size, np.int8)
        if self._row is not None:
            params = self._rules.one.params
            engine.observe_one(game.table, self._row[None], player, seen, 0, len(game.features), params)
        return seen


class Observer:
    """Board and features as float32; with perfect recall the string is the history, which everybody knows."""

    def __init__(self, game: Game, obs_type: Any, params: Any) -> None:
        if params:
            raise ValueError(f"observers have no parameters, not {params}")
        self._recall = bool(obs_type.perfect_recall)
        self.tensor = None if self._recall else np.zeros(game.obs_size, np.float32)
        self.dict = {}
        if self.tensor is not None:
            self.dict = {
                "board": self.tensor[: game.board_size].reshape(game.board_shape),
                "features": self.tensor[game.board_size :],
            }

    def set_from(self, state: State, player: int) -> None:
        """Writes what a player sees."""
        if self.tensor is not None:
            self.tensor[:] = state.observed_by(player)

    def string_from(self, state: State, player: int) -> str:
        """What a player sees, or all that it has seen, as text."""
        if self._recall:
            return f"{player} {state.history_str()}"
        return f"{player} {' '.join(map(str, state.observed_by(player).tolist()))}"


def register_with_openspiel() -> list[str]:
    """Registers the games of the registry that pyspiel doesn't know yet; returns the names of all."""
    known = set(pyspiel.registered_names())
    for game in REGISTRY.values():
        if PREFIX + game.name not in known:
            pyspiel.register_game(_game_type(game), _game_class(game))
    return [PREFIX + name for name in REGISTRY]


def _game_type(game: Game, utility: Any = None) -> Any:
    kind = pyspiel.GameType
    chance = kind.ChanceMode.EXPLICIT_STOCHASTIC if game.deal else kind.ChanceMode.DETERMINISTIC
    return kind(
        short_name=PREFIX + game.name,
        long_name=game.title,
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=chance,
        information=kind.Information.PERFECT_INFORMATION,
        utility=kind.Utility.GENERAL_SUM if utility is None else utility,
        reward_model=kind.RewardModel.TERMINAL,
        max_num_players=max(game.players),
        min_num_players=min(game.players),
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=_defaults(game),
    )


def _defaults(game: Game) -> dict[str, Any]:
    """The parameters of a game in pyspiel: its options with choices, "" or 0 for None."""
    found = {name: _unset(option) for name, option in game.options.items() if option.choices}
    for name in found:
        if game.options[name].default is not None:
            found[name] = game.options[name].default
    if game.deal:
        found["chance_samples"] = CHANCE_SAMPLES
    return found


def _unset(option: Option) -> Any:
    """What stands for None in a parameter, which has a type."""
    return type(next(choice for choice in option.choices if choice is not None))()


def _game_class(game: Game) -> type:
    class IszooGame(pyspiel.Game):  # type: ignore[misc, unused-ignore]
        """One game of iszoo as OpenSpiel knows it."""

        def __init__(self, params: dict[str, Any] | None = None) -> None:
            given = {**_defaults(game), **(params or {})}
            samples = given.pop("chance_samples", 1)
            if samples < 1:
                raise ValueError(f"chance_samples={samples} is not allowed; it is a whole number from 1")
            options = {
                name: None if game.options[name].default is None and value == _unset(game.options[name]) else value
                for name, value in given.items()
            }
            self.rules = Rules(game, game.resolve(options), samples)
            utility, utility_sum = self.rules.utility()
            info = pyspiel.GameInfo(
                num_distinct_actions=game.num_actions,
                max_chance_outcomes=samples if game.deal else 0,
                num_players=self.rules.one.num_players,
                min_utility=-1.0,
                max_utility=1.0,
                utility_sum=utility_sum,
                max_game_length=game.max_game_length,
            )
            super().__init__(_game_type(game, utility), info, params or {})

        def new_initial_state(self) -> State:
            """A game at its beginning, or at the chance node before it."""
            return State(self, self.rules)

        def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
            """What pyspiel asks observations and information states of."""
            default = pyspiel.IIGObservationType(perfect_recall=False)
            return Observer(game, iig_obs_type or default, params)

    return IszooGame


register_with_openspiel()
