"""Pixels of a picture: their size, their colours, and letters on machines without fonts."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import iszoo
from iszoo.envs.drawing import isis_osiris, raster
from iszoo.envs.drawing.canvas import PAPER, Canvas
from tests.envs.drawing.svgs import drawn
from tests.helpers import Setting, run_python

WORDS = Canvas(200, "words")
WORDS.text(100, 20, "Dark to move", 24, anchor="middle")
WORDS.end_at(40)
RED_BOX = Canvas(20, "a box")
RED_BOX.rect(0, 0, 10, 10, fill="#FF0000")
RED_BOX.end_at(10)


def rgb(colour: str) -> list[int]:
    return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]


@pytest.mark.parametrize("width", [None, 300, 800])
def test_size(plain: Setting, width: int | None) -> None:
    picture = drawn(plain.started(0))
    pixels = raster.to_rgb(picture, width)
    assert pixels.dtype == np.uint8
    w, h = raster.size_of(picture)
    assert pixels.shape[1:] == (width or w, 3)
    assert 0 <= pixels.shape[0] - h * (width or w) / w < 1
    with Image.open(io.BytesIO(raster.to_png(picture, width))) as image:
        assert image.format == "PNG"
        assert image.size == (pixels.shape[1], pixels.shape[0])


def test_pixels() -> None:
    pixels = raster.to_rgb(RED_BOX.to_svg(20))
    assert pixels.shape == (10, 20, 3)
    assert pixels[5, 5].tolist() == [255, 0, 0]
    assert pixels[5, 15].tolist() == rgb(PAPER)
    assert pixels.flags.writeable


def test_letters_are_drawn() -> None:
    pixels = raster.to_rgb(WORDS.to_svg(200)).astype(int)
    dark = (pixels.sum(axis=2) < 200).mean()
    assert 0.05 < dark < 0.4


def test_letters_are_the_same_without_fonts_of_the_system() -> None:
    """The font comes with pygame; where that is missing, the system's are better than nothing."""
    assert raster._fonts()["skip_system_fonts"]
    fallback = run_python(
        "import sys, importlib.util as util\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name, *more: None if name == 'pygame' else find(name, *more)\n"
        "from iszoo.envs.drawing import raster\n"
        "print(raster._fonts())"
    )
    assert fallback == "{'sans_serif_family': 'DejaVu Sans'}"


def test_a_position_is_recognised_by_its_pixels() -> None:
    """The tile eye up on the button of Isis & Osiris, and the +2 in hand after it was clicked."""
    env = iszoo.make("isis_osiris")
    env.reset(options={"deal": [2] * 6 + [1, 1, 3, 3, 4, -1, -1] + [-2] * 6 + [-3, -3, -4]})
    eye = rgb(isis_osiris.EYE)
    before = raster.to_rgb(drawn(env, seat=0))
    assert (before[:60, 400:] == eye).all(axis=2).any()
    env.step(36)
    after = raster.to_rgb(drawn(env, seat=0))
    assert not (after[:60, 400:] == eye).all(axis=2).any()
    assert (after[:60, 400:] == rgb(isis_osiris.SUN)).all(axis=2).any()
