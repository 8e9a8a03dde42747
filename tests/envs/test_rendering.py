"""Render modes: what `render` gives, the window, notebooks, copies, and what is missing."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pygame
import pytest

import iszoo
from iszoo.envs import drawing
from iszoo.envs.aec import GameEnv
from iszoo.envs.drawing import raster
from iszoo.envs.rendering import RENDER_MODES
from tests.envs.drawing.svgs import marks, texts
from tests.helpers import Setting, play, run_python, scaled


def test_metadata(game: Any) -> None:
    env = iszoo.make(game.name)
    assert env.metadata["render_modes"] == list(RENDER_MODES)
    assert env.metadata["render_fps"] == 2
    assert env.render_mode is None
    env.reset(seed=0)
    assert env.render() is None
    env.close()


def test_svg(plain: Setting) -> None:
    env = plain.started(0, render_mode="svg")
    row = env._rows[0]
    assert env.render() == drawing.svg(env.game, row, env.options)
    action = env.legal_actions()[0]
    env.step(action)
    assert env.render() == drawing.svg(env.game, row, env.options, last=action)
    assert marks(env.render()) > 0
    env.set_state(env.get_state())  # bytes don't say what was played
    assert marks(env.render()) == 0
    env.reset(seed=0)
    assert marks(env.render()) == 0


def test_ansi(plain: Setting) -> None:
    env = plain.started(0, render_mode="ansi")
    assert env.render() == env.game.text(env._rows[0], env.options)


def test_pixels_have_one_size_through_a_game(plain: Setting) -> None:
    env = plain.started(0, render_mode="rgb_array")
    shapes, count = set(), 0
    while True:
        pixels = env.render()
        assert pixels.dtype == np.uint8
        shapes.add(pixels.shape)
        if not env.legal_actions():
            break
        play(env, seed=count, most=7)
        count += 1
    assert count > 1
    ((height, width, channels),) = shapes
    assert (width, channels) == (600, 3)
    assert height % 2 == 0
    assert (pixels == raster.to_rgb(env._repr_svg_() or "")).all()


def test_the_picture_after_the_end_shows_the_end(plain: Setting) -> None:
    env = play(plain.started(0, render_mode="svg"))
    end = env.render()
    assert any(word in texts(end)[0] for word in ("win", "end"))
    assert marks(end) > 0
    while env.agents:
        env.step(None)
        assert env.render() == end


def test_an_illegal_action_is_told(plain: Setting) -> None:
    env = plain.started(0, render_mode="svg", illegal="terminate")
    env.step(env.legal_actions()[0])
    marked = marks(env.render())
    env.step(-1)
    assert "played an illegal action" in texts(env.render())[0]
    assert marks(env.render()) == marked


def test_notebooks(plain: Setting) -> None:
    env = plain.env()
    assert env._repr_svg_() is None
    env.reset(seed=0)
    env.step(env.legal_actions()[0])
    assert env._repr_svg_() == drawing.svg(env.game, env._rows[0], env.options, last=env._last)


def test_rendering_changes_nothing(plain: Setting) -> None:
    one, two = plain.started(0, render_mode="svg"), plain.started(0)
    while one.legal_actions():
        before = one.get_state()
        one.render()
        assert one.get_state() == before
        action = one.legal_actions()[len(one.legal_actions()) // 2]
        one.step(action)
        two.step(action)
        for _ in range(scaled(4) // 4):
            one._repr_svg_()
    assert one.get_state() == two.get_state()
    assert one.rewards == two.rewards


# --- The window ---


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Any]]:
    """A function: the pixels in the window, uint8 (H, W, 3), or None when there is none."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")

    def pixels() -> Any:
        surface = pygame.display.get_surface() if pygame.display.get_init() else None
        return None if surface is None else pygame.surfarray.array3d(surface).swapaxes(0, 1)

    assert pixels() is None
    yield pixels
    pygame.display.quit()


def human(setting: Setting) -> GameEnv:
    env = setting.env(render_mode="human")
    env.metadata["render_fps"] = 10_000
    return env


def picture_like(env: GameEnv, pixels: Any) -> Any:
    return raster.to_rgb(env._repr_svg_() or "", width=pixels.shape[1])[: pixels.shape[0]]


def test_a_window_shows_every_reset_and_step(plain: Setting, window: Callable[[], Any]) -> None:
    env = human(plain)
    assert window() is None
    env.reset(seed=1)
    seen = [window()]
    assert (seen[0] == picture_like(env, seen[0])).mean() > 0.999
    assert pygame.display.get_caption()[0] == plain.game.title
    for _ in range(4):
        env.step(env.legal_actions()[0])
        seen.append(window())
        assert seen[-1].shape == seen[0].shape
        assert (seen[-1] != seen[-2]).any()
        assert (seen[-1] == picture_like(env, seen[-1])).mean() > 0.999
    assert env.render() is None
    env.close()
    assert window() is None
    env.close()
    env.render()
    assert window() is not None
    env.close()


def test_a_window_shows_the_end(plain: Setting, window: Callable[[], Any]) -> None:
    env = plain.started(2)
    twin = human(plain)
    twin.reset(seed=2)
    twin._shown = False  # all but the last action
    while True:
        action = env.legal_actions()[-1]
        env.step(action)
        if not env.legal_actions():
            break
        twin.step(action)
    twin._shown = True
    before = window()
    twin.step(action)
    assert (window() != before).any()
    assert (window() == picture_like(env, before)).mean() > 0.999
    twin.close()


def test_a_window_fits_the_screen(plain: Setting, window: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pygame.display, "get_desktop_sizes", lambda: [(640, 480)])
    env = human(plain)
    env.reset(seed=1)
    height, width, _ = window().shape
    assert height <= 480
    full = raster.size_of(env._repr_svg_() or "")
    assert width / height == pytest.approx(full[0] / full[1], rel=0.01)
    env.close()


def test_who_closes_the_window_is_not_shown_another(window: Callable[[], Any]) -> None:
    env = human(Setting(iszoo.REGISTRY["isis_osiris"], {}))
    env.reset(seed=1)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    env.step(0)
    assert window() is None
    env.step(1)
    assert window() is None
    env.close()
    env.render()
    assert window() is not None
    env.close()


def test_the_window_waits_for_its_turn(window: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    env = iszoo.make("isis_osiris", render_mode="human")
    env.metadata["render_fps"] = 7
    env.reset(seed=1)
    assert env._renderer is not None
    ticks: list[float] = []

    class Clock:
        def tick(self, fps: float) -> None:
            ticks.append(fps)

    monkeypatch.setattr(env._renderer._window, "_clock", Clock())
    env.step(0)
    env.step(1)
    assert ticks == [7, 7]
    env.close()


@pytest.mark.parametrize("way", [GameEnv.clone, copy.deepcopy])
def test_copies_are_not_shown(window: Callable[[], Any], way: Callable[[GameEnv], GameEnv]) -> None:
    env = human(Setting(iszoo.REGISTRY["isis_osiris"], {}))
    env.reset(seed=1)
    before = window()
    twin = way(env)
    twin.step(0)
    twin.close()
    assert (window() == before).all()
    twin.render()
    assert (window() != before).any()
    env.close()


def test_a_pickled_environment_has_a_window_of_its_own(window: Callable[[], Any]) -> None:
    env = human(Setting(iszoo.REGISTRY["isis_osiris"], {}))
    env.reset(seed=1)
    twin = pickle.loads(pickle.dumps(env))
    env.close()
    assert window() is None
    twin.step(0)
    assert (window() == picture_like(twin, window())).mean() > 0.999
    twin.close()


# --- What is missing ---

MISSING = """
import sys
sys.modules[sys.argv[1]] = None
import iszoo
for name in iszoo.REGISTRY:
    iszoo.make(name, render_mode="ansi")
    iszoo.make(name, render_mode="svg")
    try:
        iszoo.make(name, render_mode=sys.argv[2])
    except ImportError as error:
        print(error)
"""


@pytest.mark.parametrize(
    ("module", "mode"), [("resvg_py", "rgb_array"), ("PIL", "rgb_array"), ("resvg_py", "human"), ("pygame", "human")]
)
def test_a_missing_extra_is_named(module: str, mode: str) -> None:
    said = run_python(MISSING, module, mode).splitlines()
    assert len(said) == len(iszoo.REGISTRY)
    assert all("pip install 'iszoo[render]'" in line for line in said)
