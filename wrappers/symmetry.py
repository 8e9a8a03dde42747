"""The exact symmetries of each game, as permutations of observation and actions, and augmentation by them.

A symmetry g turns every position s into one that the rules treat the same way: legal(g s) = g legal(s) and
step(g s, g a) = g step(s, a). It is given by what it does to a flat observation and to an action id.

- Isis & Osiris: the 8 of the square.
- ISO: the 3 rotations of the axes, each with or without the point reflection (a sixth of a turn only inverts the
  cubes); and from the first tile on, which the rules pin to one cell, every shift of the torus. No mirror image: it
  would turn a tile's walls the other way round, even with `mirror=True`.
- Isaac: none but the identity. The board alone has more, but a counter's cell is its score, and no other numbering
  of the cells has the scores in order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.envs.game import Game


@dataclass(frozen=True)
class Symmetry:
    """One symmetry g.

    Attributes:
        name: what it does.
        observation: int64 (D,): the flat observation of g s is `obs[..., g.observation]`.
        action: int64 (A,): g turns action a into `g.action[a]`.
        holds_from_start: whether it holds in the first position too, or only from the first action on.
    """

    name: str
    observation: npt.NDArray[np.int64]
    action: npt.NDArray[np.int64]
    holds_from_start: bool = True

    def observe(self, obs: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Flat observations (..., D) of the same positions under g."""
        return obs[..., self.observation]

    def per_action(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Masks or policies (..., A) of the same positions under g."""
        turned = np.empty_like(values)
        turned[..., self.action] = values
        return turned


def symmetries(game: Game, *, shifts: bool = False) -> list[Symmetry]:
    """The symmetries of a game, the identity first.

    Args:
        game: the game.
        shifts: with ISO's 256 shifts of the torus too, each with each of the others.

    Raises ValueError for a game whose symmetries are not written down here.
    """
    if game.name not in _GROUPS:
        raise ValueError(f"the symmetries of {game.name!r} are not known; known are {', '.join(_GROUPS)}")
    return _GROUPS[game.name](game, shifts)


def augment(
    group: list[Symmetry],
    rng: np.random.Generator,
    obs: npt.NDArray[Any],
    *per_action: npt.NDArray[Any],
    actions: npt.NDArray[Any] | None = None,
) -> tuple[npt.NDArray[Any], ...]:
    """A batch under a symmetry drawn anew for each of its positions.

    Args:
        group: what to draw from; `holds_from_start` is the caller's to mind.
        rng: draws.
        obs: flat observations (N, D).
        *per_action: masks, policies (N, A).
        actions: action ids (N,).

    Returns new arrays: the observations, then each of `per_action`, then the actions if given.
    """
    drawn = rng.integers(len(group), size=len(obs))
    results = [np.empty_like(part) for part in (obs, *per_action)]
    turned = None if actions is None else np.empty_like(actions)
    for k in np.unique(drawn).tolist():
        chosen = drawn == k
        results[0][chosen] = group[k].observe(obs[chosen])
        for result, part in zip(results[1:], per_action, strict=True):
            result[chosen] = group[k].per_action(part[chosen])
        if turned is not None and actions is not None:
            turned[chosen] = group[k].action[actions[chosen]]
    return (*results, turned) if turned is not None else tuple(results)


def _from_board(
    game: Game, name: str, board: npt.NDArray[np.int64], action: npt.NDArray[np.int64], holds: bool = True
) -> Symmetry:
    """A symmetry that leaves the features alone; board: where each entry of the new board comes from."""
    features = np.arange(game.board_size, game.obs_size)
    return Symmetry(name, np.concatenate([board.ravel(), features]), action, holds)


def _identity(game: Game, shifts: bool) -> list[Symmetry]:
    return [Symmetry("identity", np.arange(game.obs_size), np.arange(game.num_actions))]


def _square(game: Game, shifts: bool) -> list[Symmetry]:
    """The rotations and reflections of a square board; actions are its cells, and others that stay."""
    _, h, w = game.board_shape
    board = np.arange(game.board_size).reshape(game.board_shape)
    cells = np.arange(h * w).reshape(h, w)
    group = []
    for mirrored in (False, True):
        for turns in range(4):

            def turn(x: Any, turns: int = turns, mirrored: bool = mirrored) -> Any:
                turned = np.rot90(x, turns, axes=(-2, -1))
                return turned[..., ::-1] if mirrored else turned

            action = np.arange(game.num_actions)
            action[turn(cells).ravel()] = cells.ravel()
            name = f"{90 * turns} degrees{', mirrored' if mirrored else ''}"
            group.append(_from_board(game, name, turn(board), action))
    return group


def _lattice(game: Game, shifts: bool) -> list[Symmetry]:
    """Rotations of ISO's axes about (8, 8), point reflection, shifts."""
    size = game.board_shape[1]
    planes = game.board_shape[0]
    moves = [(dx, dy) for dx in range(size) for dy in range(size)] if shifts else [(0, 0)]
    x, y = np.meshgrid(np.arange(size), np.arange(size), indexing="ij")
    group = []
    for turns in range(3):
        for sign in (1, -1):
            # A turn takes e_x to e_y, e_y to e_z = (-1, -1), e_z to e_x: (x, y) to (-y, x - y).
            tx, ty = x - 8, y - 8
            for _ in range(turns):
                tx, ty = -ty, tx - ty
            for dx, dy in moves:
                cell = (sign * tx + 8 + dx) % size * size + (sign * ty + 8 + dy) % size  # of (x, y) under g
                board = np.empty((planes, size * size), np.int64)
                for plane in range(planes):
                    # Planes 6 a .. 6 a + 5 belong to axis a, which becomes axis a + turns.
                    target = (plane + 6 * turns) % 18 if plane < 18 else plane
                    board[target, cell.ravel()] = plane * size * size + np.arange(size * size)
                action = np.arange(game.num_actions).reshape(-1, 3, size * size)
                slot = np.arange(len(action))[:, None, None]
                rotation = (np.arange(3)[None, :, None] + turns) % 3
                action = (slot * 3 + rotation) * size * size + cell.ravel()[None, None, :]
                name = f"{120 * turns} degrees{', reflected' if sign < 0 else ''}"
                if shifts:
                    name += f", shifted by ({dx}, {dy})"
                group.append(_from_board(game, name, board, action.ravel(), (dx, dy) == (0, 0)))
    return group


_GROUPS: dict[str, Callable[[Game, bool], list[Symmetry]]] = {
    "isaac": _identity,
    "iso": _lattice,
    "isis_osiris": _square,
}
