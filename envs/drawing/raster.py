"""SVG to pixels, by resvg. Extra: iszoo[render]."""

from __future__ import annotations

import io
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt

try:
    import resvg_py
    from PIL import Image
except ImportError as error:
    raise ImportError("pixels need resvg and Pillow: pip install 'iszoo[render]'") from error

_FAMILY = "FreeSans"


@cache
def _fonts() -> dict[str, Any]:
    """The font that comes with pygame: the same pixels everywhere, on machines without fonts too."""
    spec = find_spec("pygame")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / "freesansbold.ttf"
        if path.exists():
            return {"font_files": [str(path)], "skip_system_fonts": True, "sans_serif_family": _FAMILY}
    return {"sans_serif_family": "DejaVu Sans"}


def size_of(svg: str) -> tuple[int, int]:
    """Width and height that a picture asks for, in pixels."""
    root = ElementTree.fromstring(svg)
    return int(root.attrib["width"]), int(root.attrib["height"])


def to_png(svg: str, width: int | None = None) -> bytes:
    """A picture of `iszoo.envs.drawing.svg` as a PNG file, as wide as it says or `width` pixels."""
    return resvg_py.svg_to_bytes(svg_string=svg, width=width, **_fonts())


def to_rgb(svg: str, width: int | None = None) -> npt.NDArray[np.uint8]:
    """The same as an array, uint8 (H, W, 3)."""
    with Image.open(io.BytesIO(to_png(svg, width))) as image:
        return np.array(image.convert("RGB"))
