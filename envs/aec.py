"""`GameEnv`: any game as a PettingZoo AEC environment.

It checks order, range and legality itself, in `step`, in place of PettingZoo's stack of wrappers, which costs
some forty times the loop that it guards.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from typing import Any, Generic, Literal, overload

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from pettingzoo import AECEnv

from iszoo.envs import engine, state
from iszoo.envs import spaces as game_spaces
from iszoo.envs.errors import IllegalActionError, ResetNeeded, as_action, check_choice, illegal_action
from iszoo.envs.game import Game
from iszoo.envs.observation import Picture, Seen
from iszoo.envs.primitives import NUM_PLAYERS, OFFENDER
from iszoo.envs.rendering import RENDER_FPS, RENDER_MODES, Renderer, to_svg
from iszoo.envs.seeds import as_seed, fresh_seed
from iszoo.envs.vec import ILLEGAL_MODES

_ANY_DEAL = np.empty((1, 0), np.int64)
_ONE = np.ones(1, np.bool_)
_AFTER_RESET = frozenset(("agents", "num_agents", "rewards", "terminations", "truncations", "infos", "agent_selection"))


class GameEnv(AECEnv, Generic[Seen, Picture]):  # type: ignore[misc]  # PettingZoo is not typed
    """One game as a PettingZoo AEC environment; agents are "player_0", "player_1", ... in seat order.

    Observations are {"observation": ..., "action_mask": int8 (A,)}; the mask is zero for an agent that
    doesn't move. They are fresh arrays at every call. Rewards come at the end of the game only.

    For type checkers it is generic in what `observe` and `render` give; `iszoo.make` knows both from its options.

    Args:
        game: the game.
        observation: "planes" (int8 (C + F, H, W): the board, then each feature filling a plane), "split" (a
            dict of `board` int8 (C, H, W) and `features` int8 (F,)) or "flat" (int8 (C * H * W + F,)).
        reward: "outcome" (zero-sum, by who won) or "margin" (by how much, in [-1, 1]).
        illegal: what an illegal action does: "raise" IllegalActionError and leave the game as it was, or
            "terminate" the game, -1 for who played it and 1 / (n - 1) for the others.
        render_mode: what `render` gives: None, "ansi" (text), "svg" (SVG text), "rgb_array" (uint8 (H, W, 3)) or
            "human" (a window that shows the position after every reset and step, `metadata["render_fps"]` times a
            second). Pictures show everything, also what is hidden from the players.
        check: whether order and legality are checked. Without it, what a wrong call does is not defined.
        **options: the game's own options, see `game.options`.

    Raises:
        ValueError: an option that the game doesn't have, or a value that is not allowed.
        ImportError: what the render mode needs is not installed (the extra iszoo[render]).
    """

    def __init__(
        self,
        game: Game,
        *,
        observation: str = "planes",
        reward: str = "outcome",
        illegal: str = "raise",
        render_mode: str | None = None,
        check: bool = True,
        **options: Any,
    ) -> None:
        super().__init__()
        check_choice("observation", observation, game_spaces.LAYOUTS)
        check_choice("illegal", illegal, ILLEGAL_MODES)
        self.game = game
        self.options = game.resolve(options)
        self._renderer = None if render_mode is None else Renderer(game, self.options, render_mode)
        self.observation_layout = observation
        self.reward_kind = reward
        self.illegal = illegal
        self.render_mode = render_mode
        self.metadata: dict[str, Any] = {
            "name": game.id,
            "render_modes": list(RENDER_MODES),
            "render_fps": RENDER_FPS,
            "is_parallelizable": False,
        }
        self._check = check
        self._shown = render_mode == "human"
        self._last: int | None = None  # the action played last, None at the beginning or when it isn't known
        self._rows = np.zeros((1, game.row_size), np.int64)
        self._legal = np.zeros((1, game.num_actions), np.int8)
        self._player: int | None = None  # seat to move, -1 when over, None before the first reset
        self._forget_observation()
        self._spaces: dict[str, tuple[spaces.Dict, spaces.Discrete[np.int64]]] = {}
        self._state_space: spaces.Box | None = None
        self._bind()
        self.possible_agents = [f"player_{seat}" for seat in range(int(self._params[NUM_PLAYERS]))]
        self._seat = {agent: seat for seat, agent in enumerate(self.possible_agents)}

    def _bind(self) -> None:
        """What is cheap to make anew and belongs to this process, or holds numba to its types."""
        game = self.game
        self._table = game.table
        self._params = game.params(self.options, self.reward_kind)
        planes = self.observation_layout == "planes"
        self._plane_size = game.board_shape[1] * game.board_shape[2] if planes else 0
        self._num_features = len(game.features)
        self._num_actions = game.num_actions
        self._obs_size = game.board_size + self._num_features * max(1, self._plane_size)
        c, h, w = game.board_shape
        layouts: dict[str, tuple[int, ...]] = {
            "planes": (c + self._num_features, h, w),
            "split": (c, h, w),
            "flat": (self._obs_size,),
        }
        self._shape = layouts[self.observation_layout]
        self._position: Any = None  # bound at the first step: a clone that is only looked at needs none
        self._split_at = game.board_size if self.observation_layout == "split" else 0

    # --- Spaces ---

    def observation_space(self, agent: str) -> spaces.Dict:
        """Dict of `observation` (as the layout says) and `action_mask`; the same object at every call."""
        return self._spaces_of(agent)[0]

    def action_space(self, agent: str) -> spaces.Discrete[np.int64]:
        """Discrete(A); the same object at every call."""
        return self._spaces_of(agent)[1]

    def _spaces_of(self, agent: str) -> tuple[spaces.Dict, spaces.Discrete[np.int64]]:
        if agent not in self._spaces:
            self._seat_of(agent)
            self._spaces[agent] = (
                game_spaces.observation_space(self.game, self.options, self.observation_layout),
                spaces.Discrete(self.game.num_actions),
            )
        return self._spaces[agent]

    @property
    def observation_spaces(self) -> dict[str, spaces.Dict]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The observation space of every possible agent."""
        return {agent: self.observation_space(agent) for agent in self.possible_agents}

    @property
    def action_spaces(  # pyright: ignore[reportIncompatibleVariableOverride]
        self,
    ) -> dict[str, spaces.Discrete[np.int64]]:
        """The action space of every possible agent."""
        return {agent: self.action_space(agent) for agent in self.possible_agents}

    @property
    def state_space(self) -> spaces.Box:
        """The space of `state()`."""
        if self._state_space is None:
            self._state_space = game_spaces.state_space(self.game, self.options)
        return self._state_space

    # --- Playing ---

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Starts a game.

        Args:
            seed: fixes this deal and those of the resets without a seed that follow. None: go on with the
                generator of the game before, or, the first time, start it from the operating system.
            options: {"deal": [...]} fixes the chance, see `game.deal_about`. Other keys are warned of and passed
                over: PettingZoo's `api_test` gives one.

        Raises:
            ValueError: a bad seed, a bad deal. The game is as it was before.
        """
        deals = _ANY_DEAL
        for key, value in (options or {}).items():
            if key != "deal":
                warnings.warn(f"reset() has no option {key!r}; it has 'deal'", stacklevel=2)
            elif value is not None:
                deals = self.game.check_deal(value, self.options)[None]
        if seed is not None:
            seed = as_seed(seed)
        else:
            seed = fresh_seed() if self._player is None else -1
        engine.init_batch(self._table, self._rows, _ONE, np.array([seed], np.int64), deals, self._params)
        self._begin()
        if self._shown:
            self.render()

    def _begin(self) -> None:
        """Sets everything that follows from the row, as after a reset."""
        self.agents = self.possible_agents.copy()
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        self._updated = True
        self._last = None
        engine.write_mask(self._table, self._rows, 0, self._legal, self._params)
        self._forget_observation()
        self._player = int(engine.to_move(self._table, self._rows, 0, self._params))
        self.agent_selection = self.possible_agents[max(self._player, 0)]
        if self._player < 0:
            self._end()

    def step(self, action: Any) -> None:
        """Plays an action of the agent to move; None for an agent whose game is over.

        Raises:
            IllegalActionError: not a whole number, out of range, or not legal (with illegal="raise"). The
                game is as it was before.
            ResetNeeded: before the first reset, or when every agent is done.
        """
        player = self._player
        if player is None or player < 0:
            self._step_dead(action)
            return
        if type(action) is not int:
            action = as_action(action)
        if 0 <= action < self._num_actions:
            # The next observation is written at once, into arrays that `observe` then hands out: one call into
            # compiled code in place of three, and no copy.
            obs = np.empty(self._obs_size, np.int8)
            mask = np.empty(self._num_actions, np.int8)
            if self._position is None:
                self._position, self._settings = engine.bind_one(
                    self._table, self._rows, self._legal, self._params, self._check, self._plane_size,
                    self._num_features,
                )  # fmt: skip
            player = engine.step_observe_one(self._position, action, obs, mask)
        else:  # not even a number that compiled code could be given, perhaps
            player = engine.ILLEGAL
        if player >= 0:
            self._player = self._observed = player
            self._obs, self._mask = obs, mask  # pyright: ignore[reportPossiblyUnboundVariable]
            self.agent_selection = self.possible_agents[player]
            self._updated = True
            self._last = action
            if self._shown:
                self.render()
            return
        if player == engine.ILLEGAL:
            if self.illegal == "raise":
                where = f"{self.agent_selection}: "
                raise illegal_action(action, self.game.num_actions, self.legal_actions(), where)
            self._rows[0, OFFENDER] = self._seat[self.agent_selection] + 1
            self._legal[:] = 0
        else:
            self._last = action
        self._updated = True
        self._player = -1
        self._forget_observation()
        self._end()
        if self._shown:
            self.render()

    def _end(self) -> None:
        returns = np.zeros((1, len(self.possible_agents)))
        engine.write_returns(self._table, self._rows, 0, returns, self._params)
        self.rewards = dict(zip(self.possible_agents, returns[0].tolist(), strict=True))
        self._accumulate_rewards()
        self.terminations = dict.fromkeys(self.agents, True)
        self._deads_step_first()

    def _step_dead(self, action: Any) -> None:
        if self._player is None:
            raise ResetNeeded("reset() needs to be called before step()")
        if not self.agents:
            raise ResetNeeded("the game is over and every agent has left it: call reset() before step()")
        self._was_dead_step(action)
        self._updated = True

    # --- Seeing ---

    def observe(self, agent: str) -> Seen:
        """The position as an agent sees it, at any time, whoever moves; fresh arrays.

        Raises ResetNeeded before the first reset, ValueError for an unknown agent.
        """
        seat = self._seat.get(agent)
        if seat is None or self._player is None:
            seat = self._seat_of(agent)
            raise ResetNeeded("reset() needs to be called before observe()")
        if seat == self._observed:
            obs, mask = self._obs, self._mask
            self._observed, self._obs, self._mask = -1, _NOTHING, _NOTHING  # from now on they are the caller's
        else:
            obs = np.empty(self._obs_size, np.int8)
            engine.observe_one(self._table, self._rows, seat, obs, self._plane_size, self._num_features, self._params)
            mask = self._legal[0].copy() if seat == self._player else np.zeros_like(self._legal[0])
        if self._split_at:
            board = obs[: self._split_at].reshape(self._shape)
            seen: Any = {"observation": {"board": board, "features": obs[self._split_at :]}, "action_mask": mask}
        else:
            seen = {"observation": obs.reshape(self._shape), "action_mask": mask}
        return seen  # type: ignore[no-any-return]

    def _forget_observation(self) -> None:
        """Arrays that were handed out, or belong to an earlier position, are not handed out again."""
        self._observed = -1
        self._obs = self._mask = _NOTHING

    @overload
    def last(self, observe: Literal[True] = True) -> tuple[Seen, float, bool, bool, dict[str, Any]]: ...

    @overload
    def last(self, observe: bool) -> tuple[Seen | None, float, bool, bool, dict[str, Any]]: ...

    def last(self, observe: bool = True) -> tuple[Seen | None, float, bool, bool, dict[str, Any]]:
        """Observation, reward since its last action, termination, truncation and info of the agent to move."""
        if self._player is None:
            raise ResetNeeded("reset() needs to be called before last()")
        agent = self.agent_selection
        if agent not in self.infos:
            raise ResetNeeded("the game is over and every agent has left it: call reset() before last()")
        return (
            self.observe(agent) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def state(self) -> npt.NDArray[np.int16]:
        """The whole position, what is hidden included, for centralised critics: int16.

        The flat observation of player_0, the seat to move (-1 when over), then `game.hidden`.
        """
        if self._player is None:
            raise ResetNeeded("reset() needs to be called before state()")
        return game_spaces.state_vector(self.game, self.options, self._table, self._rows, self._params)

    def agent_iter(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, max_iter: int = 2**63
    ) -> Iterator[str]:
        """Yields the agent to move until the game is over; step() must be called in between."""
        if self._player is None:
            raise ResetNeeded("reset() needs to be called before agent_iter()")
        return self._agent_iter(max_iter)

    def _agent_iter(self, max_iter: int) -> Iterator[str]:
        count = 0
        while self.agents and count < max_iter:
            if not self._updated:
                raise ResetNeeded("need to call step() or reset() in a loop over agent_iter()")
            self._updated = False
            count += 1
            yield self.agent_selection

    def render(self) -> Picture:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The position in the form of the render mode; None without one, and when a window shows it."""
        if self._player is None:
            raise ResetNeeded("reset() needs to be called before render()")
        picture: Any = None
        if self._renderer is not None:
            picture = self._renderer.render(self._rows[0], self._last, self.metadata["render_fps"])
        return picture  # type: ignore[no-any-return]

    def _repr_svg_(self) -> str | None:
        """The position as a picture, which notebooks show; None before the first reset."""
        return None if self._player is None else to_svg(self.game, self._rows[0], self.options, self._last)

    def close(self) -> None:
        """Closes the window, if there is one."""
        if self._renderer is not None:
            self._renderer.close()

    # --- The position ---

    def scores(self) -> list[int]:
        """The points of each player as they stand, in seat order."""
        self._need_reset("scores")
        out = np.zeros((1, len(self.possible_agents)), np.int64)
        engine.scores_batch(self._table, self._rows, self._rows, np.zeros(1, np.bool_), out, self._params)
        return out[0].tolist()  # type: ignore[no-any-return]

    def legal_actions(self) -> list[int]:
        """The legal actions of the agent to move, ascending; empty when the game is over."""
        self._need_reset("legal_actions")
        return self._legal[0].nonzero()[0].tolist()  # type: ignore[no-any-return]

    def action_to_string(self, action: int) -> str:
        """An action in notation. Raises IllegalActionError for what is out of range."""
        number = as_action(action)
        if not 0 <= number < self.game.num_actions:
            raise IllegalActionError(f"action {number} is out of range: actions are 0 to {self.game.num_actions - 1}")
        return self.game.action_to_string(number)

    def string_to_action(self, text: str) -> int:
        """The action that a notation names. Raises ValueError."""
        return self.game.string_to_action(text)

    def get_state(self) -> bytes:
        """The position as bytes that `set_state` of an environment with the same game and options takes."""
        self._need_reset("get_state")
        return state.to_bytes(self.game, self._params, self._rows[0])

    def set_state(self, data: bytes) -> None:
        """Puts the environment into a position, with no reward pending.

        Raises ValueError for bytes that are damaged, or of another game, version or options; the game is as
        it was before.
        """
        self._rows[0] = state.from_bytes(self.game, self._params, self.options, data)
        self._begin()

    def clone(self) -> GameEnv[Seen, Picture]:
        """An independent copy in the same position, shown in no window by itself. Its spaces are new, not seeded."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._rows = self._rows.copy()
        twin._legal = self._legal.copy()
        twin._spaces = {}
        twin.options = self.options.copy()
        twin.metadata = self.metadata.copy()
        twin._renderer = copy.copy(self._renderer)
        twin._shown = False
        twin._position = None
        twin._forget_observation()
        if self._player is not None:
            twin.agents = self.agents.copy()
            twin.rewards = self.rewards.copy()
            twin._cumulative_rewards = self._cumulative_rewards.copy()
            twin.terminations = self.terminations.copy()
            twin.truncations = self.truncations.copy()
            twin.infos = {agent: info.copy() for agent, info in self.infos.items()}
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> GameEnv[Seen, Picture]:
        twin = self.clone()
        twin._spaces = copy.deepcopy(self._spaces, memo)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        kept = self.__dict__.copy()
        for name in ("_table", "_params", "_obs", "_mask", "_observed", "_position"):
            del kept[name]
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._forget_observation()
        self._bind()

    # --- Misuse ---

    def __getattr__(self, name: str) -> Any:
        if name in _AFTER_RESET:
            raise AttributeError(f"{name} cannot be accessed before reset()")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _need_reset(self, call: str) -> None:
        if self._player is None:
            raise ResetNeeded(f"reset() needs to be called before {call}()")

    def _seat_of(self, agent: str) -> int:
        seat = self._seat.get(agent)
        if seat is None:
            raise ValueError(f"there is no agent {agent!r}; the agents are {', '.join(self.possible_agents)}")
        return seat

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"<{self.game.id} {options}>"


_NOTHING = np.empty(0, np.int8)
