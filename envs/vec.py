"""`VecEnv`: many games advanced by one call."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.envs import engine, stepping
from iszoo.envs.errors import IllegalActionError, check_choice, illegal_action
from iszoo.envs.game import Game
from iszoo.envs.primitives import NUM_PLAYERS, mix
from iszoo.envs.seeds import as_seed, fresh_seed
from iszoo.envs.threads import max_threads, step_threads

AUTORESETS = ("same_step", "disabled")
ILLEGAL_MODES = ("raise", "terminate")
_ANY_DEAL = np.empty((1, 0), np.int64)
_INT64 = np.dtype(np.int64)
_CHOICES = 0x69737A6F6F  # sets the stream of random choices apart from that of the deals


class VecEnv:
    """N games of one kind in step, in buffers that belong to it and are overwritten by every call.

    Take a copy of what must stay. Games are over at different times; with autoreset="same_step" a game that
    ends is dealt anew in the same call.

    Args:
        game: the game.
        num_envs: the number of games, N.
        seed: game i starts as `env.reset(seed=seed + i)` would start it. None: from the operating system.
        threads: the most threads that share the games: all of them in `random_steps`; in `step` one for every 128
            games, as fewer games take longer on two threads than on one. The results don't depend on it.
        autoreset: "same_step", or "disabled": games that are over stay so until `reset(where=...)`.
        reward: "outcome" or "margin".
        illegal: "raise" an error and move no game, or "terminate" the games with illegal actions.
        **options: the game's own options.

    Attributes:
        obs: int8 (N, C * H * W + F). Board and features as the player to move sees them. A game that is over
            (autoreset="disabled") is shown as who moved last sees it.
        board, features: views of `obs`, int8 (N, C, H, W) and (N, F).
        action_mask: int8 (N, A). Zero when the game is over.
        player: int8 (N,). The seat to move; -1 when the game is over.
        rewards: float32 (N, P). Each seat's reward for the last call, nonzero only where `done`.
        done: bool (N,). Whether the game ended in the last call.
        final_obs: int8, like `obs`. Where `done`: the end, as who moved last sees it.
        final_rows: int64 (N, S). Where `done`: the rows at the end, for `observe` and `scores`.
        rows: int64 (N, S). The positions. After writing into it, call `refresh`.
        buffers: all of these as one argument, for compiled loops of one's own (`iszoo.envs.stepping.unbundle_buffers`).

    Raises:
        ValueError: a bad argument or option.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int = 1,
        *,
        seed: int | None = None,
        threads: int = 1,
        autoreset: str = "same_step",
        reward: str = "outcome",
        illegal: str = "raise",
        **options: Any,
    ) -> None:
        if isinstance(num_envs, bool) or not isinstance(num_envs, int) or num_envs < 1:
            raise ValueError(f"num_envs={num_envs!r} is not allowed; it is a whole number from 1")
        most = max_threads()
        if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= most:
            raise ValueError(f"threads={threads!r} is not allowed; this process can use 1 to {most}")
        check_choice("autoreset", autoreset, AUTORESETS)
        check_choice("illegal", illegal, ILLEGAL_MODES)
        self.game = game
        self.num_envs = num_envs
        self.threads = threads
        self.autoreset = autoreset
        self.illegal = illegal
        self.options = game.resolve(options)
        self.reward_kind = reward
        self._bind()
        self.num_players = players = int(self.params[NUM_PLAYERS])
        n = num_envs
        self.rows = np.zeros((n, game.row_size), np.int64)
        self.obs = np.zeros((n, game.obs_size), np.int8)
        self.action_mask = np.zeros((n, game.num_actions), np.int8)
        self.player = np.zeros(n, np.int8)
        self.rewards = np.zeros((n, players), np.float32)
        self.done = np.zeros(n, np.bool_)
        self.final_obs = np.zeros_like(self.obs)
        self.final_rows = np.zeros_like(self.rows)
        self._scores = np.zeros((n, players), np.int64)
        self._returns = np.zeros((n, players))
        self._choices = np.zeros((n, 1), np.int64)
        self._everywhere = np.ones(n, np.bool_)
        self._collect()
        self.reset(fresh_seed() if seed is None else seed)

    def _bind(self) -> None:
        self._table = self.game.table
        self.params = self.game.params(self.options, self.reward_kind)

    def _collect(self) -> None:
        """What the loops over the games are given."""
        self._same_step = self.autoreset == "same_step"
        self._step_threads = step_threads(self.threads, self.num_envs)
        self._few = self._step_threads == 1 and self.num_envs <= stepping.FEW and self.illegal == "raise"
        self._shape = (self.num_envs,)
        self.buffers = stepping.bind_buffers(
            self._table, self.rows, self.obs, self.action_mask, self.player, self._returns, self.rewards, self.done,
            self.final_obs, self.final_rows, self._choices, _ANY_DEAL[0], self.params, self._everywhere,
        )  # fmt: skip

    @property
    def board(self) -> npt.NDArray[np.int8]:
        """A view of `obs`: int8 (N, C, H, W)."""
        return self.obs[:, : self.game.board_size].reshape(-1, *self.game.board_shape)

    @property
    def features(self) -> npt.NDArray[np.int8]:
        """A view of `obs`: int8 (N, F)."""
        return self.obs[:, self.game.board_size :]

    @property
    def scores(self) -> npt.NDArray[np.int64]:
        """The points of each seat as they stand, int64 (N, P); where `done`, those the game ended with.

        Computed when asked for, into one buffer.
        """
        engine.scores_batch(self._table, self.rows, self.final_rows, self.done, self._scores, self.params)
        return self._scores

    def reset(self, seed: Any = None, where: Any = None, deal: Any = None) -> None:
        """Deals games anew: those of the boolean `where` (N,), or all.

        Args:
            seed: game i is dealt as `env.reset(seed=seed + i)` would deal it; or a seed for each game (N,).
                None: each game goes on with its own generator.
            where: bool (N,).
            deal: fixes the chance, as `env.reset(options={"deal": ...})` does: one deal, or one a game (N, L).

        Raises ValueError for a bad argument; no game has changed then.
        """
        games = self._where(where)
        deals = self._deals(deal)
        seeds = np.full(self.num_envs, -1, np.int64)
        if seed is not None:
            seeds = self._seeds(seed)
            for i in np.flatnonzero(games):
                self._choices[i, 0] = mix(mix(seeds[i]) ^ _CHOICES)
        engine.init_batch(self._table, self.rows, games, seeds, deals, self.params)
        self.rewards[games] = 0
        self.done[games] = False
        self.refresh(games)

    def step(self, actions: Any, where: Any = None) -> None:
        """Plays one action a game, in all games or in those of the boolean `where` (N,).

        Args:
            actions: whole numbers (N,); those of games that don't move are not looked at.
            where: bool (N,). In the other games `rewards` becomes zero and `done` False.

        Raises:
            IllegalActionError: with the number of the first game whose action is illegal; no game has moved.
                A game that is over has no legal action: reset it, or leave it out with `where`.
            ValueError: a wrong shape or dtype.
        """
        if not (
            type(actions) is np.ndarray
            and actions.dtype == _INT64
            and actions.shape == self._shape
            and actions.flags.c_contiguous
        ):
            actions = self._as_actions(actions)
        if self._few and where is None:
            wrong = stepping.step_few(self.buffers, actions, self._same_step)
        else:
            games = self._everywhere if where is None else self._where(where)
            mark = self.illegal == "terminate"
            if mark:
                over = games & (self.player < 0)
                if over.any():
                    raise self._illegal(int(over.argmax()), actions)
                actions = actions.copy()
            wrong = stepping.step_batch(self._step_threads, self.buffers, games, actions, mark, self._same_step)
        if wrong >= 0:
            raise self._illegal(wrong, actions)

    def random_steps(self, k: int, observe: bool = True) -> int:
        """Plays k uniformly random legal actions in each game; returns how many were played in all.

        With `observe`, observation and mask are written after each of them, as `step` does; otherwise once at
        the end. With autoreset="disabled" games that are over stay so. The choices come from a stream of their
        own, set by the seed of `reset`: they change no deal.
        """
        if isinstance(k, bool) or not isinstance(k, int) or k < 0:
            raise ValueError(f"k={k!r} is not allowed; it is a whole number from 0")
        count = stepping.random_batch(self.threads, self.buffers, k, observe, self._same_step)
        if not observe:
            over = self.player < 0
            self.obs[over] = self.final_obs[over]
            self.refresh(~over)
        return count

    def observe(
        self,
        seats: Any,
        *,
        where: Any = None,
        final: bool = False,
        out: npt.NDArray[np.int8] | None = None,
    ) -> npt.NDArray[np.int8]:
        """Every game as seats[i] sees it (an int: the same seat everywhere), int8 like `obs`.

        where: only these games, bool (N,); the others' rows of the result are left as they were.
        final: the ends of the games that are `done` in place of the present positions.
        out: the array to write into, else a new one.
        """
        given = np.asarray(seats)
        fits = given.dtype.kind in "iu" and given.shape in ((), (self.num_envs,))
        if not fits or ((given < 0) | (given >= self.num_players)).any():
            last = self.num_players - 1
            raise ValueError(f"seats are whole numbers 0 to {last}, one or ({self.num_envs},), not {seats!r}")
        chosen = np.broadcast_to(given, (self.num_envs,)).astype(np.int64)
        target = np.zeros_like(self.obs) if out is None else out
        if type(target) is not np.ndarray or target.dtype != np.int8 or target.shape != self.obs.shape:
            raise ValueError(f"out is an int8 array of shape {self.obs.shape}")
        if not (target.flags.c_contiguous and target.flags.writeable):
            raise ValueError("out is C-contiguous and can be written to")
        rows = self.final_rows if final else self.rows
        games = self._where(where)
        engine.observe_batch(self._table, rows, games, chosen, target, self.params)
        return target

    def refresh(self, where: Any = None) -> None:
        """Writes observation, mask and player anew after `rows` was changed from outside."""
        games = self._where(where)
        engine.refresh_batch(self._table, self.rows, games, self.obs, self.action_mask, self.player, self.params)
        over = games & (self.player < 0)
        if over.any():
            self.final_rows[over] = self.rows[over]
            self.final_obs[over] = self.obs[over]

    def __getstate__(self) -> dict[str, Any]:
        kept = self.__dict__.copy()
        for name in ("_table", "params", "buffers"):
            del kept[name]
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._bind()
        self._collect()

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"<{self.num_envs} x {self.game.id} {options}>"

    # --- Arguments ---

    def _where(self, where: Any) -> npt.NDArray[np.bool_]:
        if where is None:
            return self._everywhere
        games = np.ascontiguousarray(where)
        if games.dtype != np.bool_ or games.shape != (self.num_envs,):
            raise ValueError(f"where is a boolean array of shape ({self.num_envs},), not {games.dtype} {games.shape}")
        return games

    def _seeds(self, seed: Any) -> npt.NDArray[np.int64]:
        if np.ndim(seed) == 0:
            return as_seed(seed, self.num_envs) + np.arange(self.num_envs, dtype=np.int64)
        if len(seed) != self.num_envs:
            raise ValueError(f"a seed for each game: {self.num_envs} seeds, not {len(seed)}")
        return np.array([as_seed(one) for one in seed], np.int64)

    def _deals(self, deal: Any) -> npt.NDArray[np.int64]:
        if deal is None:
            return _ANY_DEAL
        if np.ndim(deal) != 2:
            return self.game.check_deal(deal, self.options)[None]
        if len(deal) != self.num_envs:
            raise ValueError(f"a deal for each game: {self.num_envs} deals, not {len(deal)}")
        return np.stack([self.game.check_deal(one, self.options) for one in deal])

    def _as_actions(self, actions: Any) -> npt.NDArray[np.int64]:
        try:
            given = np.asarray(actions)
        except (ValueError, TypeError) as error:
            raise IllegalActionError(f"actions are whole numbers of shape ({self.num_envs},): {error}") from None
        if given.dtype.kind not in "iu" or given.shape != (self.num_envs,):
            raise IllegalActionError(
                f"actions are whole numbers of shape ({self.num_envs},), not {given.dtype} {given.shape}"
            )
        if given.dtype.kind == "u":
            given = np.minimum(given, np.iinfo(np.int64).max)
        return np.ascontiguousarray(given, np.int64)

    def _illegal(self, i: int, actions: Any) -> IllegalActionError:
        legal = np.flatnonzero(self.action_mask[i]).tolist()
        return illegal_action(int(actions[i]), self.game.num_actions, legal, f"game {i}: ")
