"""What `render()` of an environment gives, in each render mode. The drawing and a window are loaded when needed."""

from __future__ import annotations

from typing import Any

from iszoo.envs.errors import check_choice
from iszoo.envs.game import Game, Options, Rows

RENDER_MODES = ("human", "rgb_array", "svg", "ansi")
RENDER_FPS = 2


class Renderer:
    """Positions of one game, rendered. They show everything, also what is hidden from the players.

    Args:
        game: the game.
        options: all its options.
        mode: "ansi" (text), "svg" (SVG text), "rgb_array" (uint8 (H, W, 3), all of one size) or "human" (a window).

    Raises:
        ValueError: another mode.
        ImportError: what the mode needs is not installed; it names the extra.
    """

    def __init__(self, game: Game, options: Options, mode: str) -> None:
        check_choice("render_mode", mode, RENDER_MODES)
        self._game = game
        self._options = options
        self._mode = mode
        self._window: Any = None
        if mode == "rgb_array":
            from iszoo.envs.drawing import raster  # noqa: F401 - what is missing is said at once
        elif mode == "human":
            from iszoo.envs import window  # noqa: F401

    def render(self, row: Rows, last: int | None = None, fps: float = RENDER_FPS) -> Any:
        """A position in the mode's form; None when it was shown in a window.

        Args:
            row: int64 (S,), the position.
            last: the action that was played last.
            fps: how many positions a second a window shows at most.
        """
        if self._mode == "ansi":
            return self._game.text(row, self._options)
        picture = to_svg(self._game, row, self._options, last)
        if self._mode == "svg":
            return picture
        if self._mode == "rgb_array":
            from iszoo.envs.drawing import raster

            return raster.to_rgb(picture)
        if self._window is None:
            from iszoo.envs.window import Window

            self._window = Window(self._game.title)
        self._window.show(picture, fps)
        return None

    def close(self) -> None:
        """Closes the window, if there is one. The next `render` opens it again."""
        if self._window is not None:
            self._window.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_window": None}  # a window is nobody else's


def to_svg(game: Game, row: Rows, options: Options, last: int | None = None) -> str:
    """A position as `iszoo.envs.drawing.svg` draws it for somebody who sees everything."""
    from iszoo.envs import drawing

    return drawing.svg(game, row, options, last=last)
