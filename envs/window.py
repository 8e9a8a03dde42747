"""A window that shows pictures of `iszoo.envs.drawing`, by pygame. Extra: iszoo[render]."""

from __future__ import annotations

from iszoo.envs.drawing import raster

try:
    import pygame
except ImportError as error:
    raise ImportError("render_mode='human' needs pygame: pip install 'iszoo[render]'") from error

_WIDTH = 600
_OF_SCREEN = 0.88  # how much of the screen's height a window takes at most


class Window:
    """One window, opened by the first picture. Who closes it by its button sees no more pictures until `close`.

    Args:
        title: what stands over it.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._clock = pygame.time.Clock()
        self._screen: pygame.Surface | None = None
        self._dismissed = False

    def show(self, svg: str, fps: float) -> None:
        """Shows a picture, as large as the screen allows; waits so that there are `fps` in a second at most."""
        if self._dismissed:
            return
        if self._screen is None:
            pygame.display.init()
            pygame.display.set_caption(self._title)
        size = _size_for(svg)
        if self._screen is None or self._screen.get_size() != size:
            self._screen = pygame.display.set_mode(size)
        pixels = raster.to_rgb(svg, width=size[0])
        self._screen.fill("white")
        self._screen.blit(pygame.image.frombuffer(pixels.tobytes(), pixels.shape[1::-1], "RGB"), (0, 0))
        pygame.display.flip()
        if pygame.event.get(pygame.QUIT):
            self.close()
            self._dismissed = True
            return
        self._clock.tick(fps)

    def close(self) -> None:
        """Closes the window; safe at any time."""
        self._dismissed = False
        if self._screen is not None:
            self._screen = None
            pygame.display.quit()


def _size_for(svg: str) -> tuple[int, int]:
    """Width and height in pixels: no higher than the screen."""
    width, height = raster.size_of(svg)
    most = _OF_SCREEN * max((size[1] for size in pygame.display.get_desktop_sizes()), default=height)
    scale = min(_WIDTH / width, most / height)
    return max(1, round(scale * width)), max(1, round(scale * height))
