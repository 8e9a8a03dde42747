"""Gymnasium: one learner against agents, as an `Env` and as a native `VectorEnv`."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from iszoo.envs import find
from iszoo.envs.errors import ResetNeeded, check_choice
from iszoo.envs.rendering import RENDER_FPS, RENDER_MODES, Renderer, to_svg
from iszoo.envs.spaces import LAYOUTS, observation_space
from iszoo.wrappers.learner import LearnerGames, Opponents

Observation = dict[str, Any]


def _shaped(games: LearnerGames, layout: str) -> Any:
    """Copies of the learner's observations in a layout, the first axis the games'."""
    game, n = games.game, games.num_envs
    if layout == "flat":
        return games.obs.copy()
    c, h, w = game.board_shape
    board = games.obs[:, : game.board_size].reshape(n, c, h, w).copy()
    features = games.obs[:, game.board_size :].copy()
    if layout == "split":
        return {"board": board, "features": features}
    planes = np.broadcast_to(features[:, :, None, None], (*features.shape, h, w))
    return np.concatenate([board, planes], axis=1)


class SingleAgentEnv(gymnasium.Env[Observation, np.int64]):
    """One seat of a game as a Gymnasium environment; agents play the others.

    Observations are {"observation", "action_mask"}; infos hold the mask again ("action_mask", bool) and the
    learner's "seat". The reward of a step is all that the learner's seat gets until it moves again or the game
    ends, whoever ends it.

    Args:
        game: the name of the game.
        opponent: a name, an agent, or a list of them, of which one is drawn for each other seat of each game.
        seat: the learner's seat, or "random".
        observation: "flat" (the default here: Stable-Baselines3 takes a 3-D int8 box for an image), "split" or
            "planes".
        reward: "outcome" or "margin".
        illegal: "raise" an error for an illegal action, or "terminate" the game with -1.
        render_mode: None, "ansi", "svg", "rgb_array" or "human", as for `GameEnv`.
        **options: the game's own options.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}  # noqa: RUF012 - Gymnasium's own form

    def __init__(
        self,
        game: str,
        *,
        opponent: Opponents = "random",
        seat: int | str = "random",
        observation: str = "flat",
        reward: str = "outcome",
        illegal: str = "raise",
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        if render_mode is not None:
            check_choice("render_mode", render_mode, RENDER_MODES)
        check_choice("observation", observation, LAYOUTS)
        self._layout = observation
        self.games = LearnerGames(
            find(game), 1, opponent=opponent, seat=seat, reward=reward, illegal=illegal, **options
        )
        self.render_mode = render_mode
        self._renderer = Renderer(self.games.game, self.games.vec.options, render_mode) if render_mode else None
        self.observation_space = observation_space(self.games.game, self.games.vec.options, observation)
        self.action_space = spaces.Discrete(self.games.game.num_actions)
        self._started = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deals a game; the others play until it is the learner's turn."""
        super().reset(seed=seed)
        if options:
            raise ValueError(f"reset() has no options here, not {', '.join(map(repr, options))}")
        self.games.reset(seed)
        self._started = True
        if self.render_mode == "human":
            self.render()
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Plays an action, and the others on until the learner's next turn or the end.

        Raises IllegalActionError (with illegal="raise"; the game is as it was), ResetNeeded.
        """
        if not self._started or self.games.done[0]:
            raise ResetNeeded("reset() needs to be called before step()")
        reward = self.games.step([action])[0]
        if self.render_mode == "human":
            self.render()
        return self._observation(), float(reward), bool(self.games.done[0]), False, self._info()

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions, bool (A,); also before the first reset."""
        legal: npt.NDArray[np.bool_] = self.games.action_mask[0] != 0
        return legal

    def render(self) -> Any:
        """The position in the form of the render mode; None without one, and when a window shows it.

        No move is marked: the opponents' are made where they are not seen one by one.
        """
        if self._renderer is None:
            return None
        return self._renderer.render(self.games.vec.rows[0], fps=self.metadata["render_fps"])

    def _repr_svg_(self) -> str:
        """The position as a picture, which notebooks show."""
        return to_svg(self.games.game, self.games.vec.rows[0], self.games.vec.options)

    def close(self) -> None:
        """Closes the window, if there is one."""
        if self._renderer is not None:
            self._renderer.close()

    def _observation(self) -> Observation:
        shaped = _shaped(self.games, self._layout)
        one = {name: part[0] for name, part in shaped.items()} if isinstance(shaped, dict) else shaped[0]
        return {"observation": one, "action_mask": self.games.action_mask[0].copy()}

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks(), "seat": int(self.games.seats[0])}


class LearnerVectorEnv(VectorEnv[Observation, npt.NDArray[np.int64], npt.NDArray[Any]]):
    """`SingleAgentEnv` many times over, on the batched engine. All arrays that it returns are copies.

    Args:
        game: the name of the game.
        num_envs: the number of games.
        autoreset_mode: when a game that is over is dealt anew: NEXT_STEP (the next call, whose action for it is
            not looked at), SAME_STEP (the same call; the end is in infos["final_obs"]) or DISABLED
            (`reset(options={"reset_mask": ...})`).
        threads: how many threads share the games.
        **options: as for `SingleAgentEnv`.
    """

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        *,
        observation: str = "flat",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        if render_mode is not None:
            raise ValueError(f"render_mode={render_mode!r}: many games can't be drawn; make one env")
        check_choice("observation", observation, LAYOUTS)
        self._layout = observation
        self._mode = AutoresetMode(autoreset_mode)
        self.games = LearnerGames(find(game), num_envs, **options)
        self.num_envs = num_envs
        self.render_mode = None
        self.metadata = {"render_modes": [], "autoreset_mode": self._mode}
        self.single_observation_space = observation_space(self.games.game, self.games.vec.options, observation)
        self.single_action_space = spaces.Discrete(self.games.game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._started = False

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deals games: all, or those of options["reset_mask"], bool (N,). A seed: game i gets seed + i."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        unknown = set(options or {}) - {"reset_mask"}
        if unknown:
            raise ValueError(f"reset() has the option 'reset_mask', not {', '.join(map(repr, unknown))}")
        where = (options or {}).get("reset_mask")
        if isinstance(seed, list):
            raise ValueError("a seed is one whole number here: game i is dealt from seed + i")
        self.games.reset(seed, where=where)
        self._started = True
        return self._observation(), self._info()

    def step(
        self, actions: npt.NDArray[np.int64]
    ) -> tuple[Observation, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], dict[str, Any]]:
        """Plays an action in each game.

        Raises IllegalActionError with the number of the game (no game has moved then), ResetNeeded.
        """
        if not self._started:
            raise ResetNeeded("reset() needs to be called before step()")
        games = self.games
        over = games.done.copy()
        if over.any() and self._mode is not AutoresetMode.NEXT_STEP:
            raise ResetNeeded(f"game {int(over.argmax())} is over: reset(options={{'reset_mask': ...}}) deals it anew")
        rewards = games.step(actions, where=~over).astype(np.float64)
        if over.any():
            games.reset(where=over)
        terminated = games.done.copy()
        infos: dict[str, Any] = {}
        if self._mode is AutoresetMode.SAME_STEP and terminated.any():
            infos = self._final(terminated)
            games.reset(where=terminated)
        return self._observation(), rewards, terminated, np.zeros_like(terminated), {**self._info(), **infos}

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions of every game, bool (N, A)."""
        return self.games.action_mask.astype(np.bool_)

    def _observation(self) -> Observation:
        return {
            "observation": _shaped(self.games, self._layout),
            "action_mask": self.games.action_mask.copy(),
        }

    def _info(self) -> dict[str, Any]:
        everywhere = np.ones(self.num_envs, np.bool_)
        return {
            "action_mask": self.action_masks(),
            "_action_mask": everywhere,
            "seat": self.games.seats.copy(),
            "_seat": everywhere.copy(),
        }

    def _final(self, ended: npt.NDArray[np.bool_]) -> dict[str, Any]:
        """The last observations and infos of the games that end, in the form that Gymnasium's own have."""
        shown = self._observation()
        final_obs = np.full(self.num_envs, None, dtype=object)
        for i in np.flatnonzero(ended).tolist():
            final_obs[i] = {name: _one(part, i) for name, part in shown.items()}
        info = self._info()
        info["_action_mask"] = info["_seat"] = ended.copy()
        return {
            "final_obs": final_obs,
            "_final_obs": ended.copy(),
            "final_info": info,
            "_final_info": ended.copy(),
        }


def _one(part: Any, i: int) -> Any:
    return {name: value[i] for name, value in part.items()} if isinstance(part, dict) else part[i]
