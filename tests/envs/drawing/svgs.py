"""What the tests of the drawings share: reading a picture."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

from iszoo.envs import drawing
from iszoo.envs.aec import GameEnv
from iszoo.envs.drawing.canvas import LAST

SVG = "{http://www.w3.org/2000/svg}"


def drawn(env: GameEnv, **options: Any) -> str:
    """The picture of an environment's position."""
    return drawing.svg(env.game, env._rows[0], env.options, **options)


def targets(env: GameEnv) -> dict[int, tuple[str, ...]]:
    """What is clicked for each legal action of an environment."""
    return drawing.targets(env.game, env._rows[0], env.options)


def parsed(picture: str) -> ElementTree.Element:
    """The root element."""
    return ElementTree.fromstring(picture)


def texts(picture: str) -> list[str]:
    """All lines of text."""
    return [element.text or "" for element in parsed(picture).iter(f"{SVG}text")]


def clickable(picture: str) -> set[str]:
    """All names that can be clicked."""
    return {element.attrib["data-target"] for element in parsed(picture).iter() if "data-target" in element.attrib}


def marks(picture: str) -> int:
    """How many elements have the colour of the last move."""
    return sum(LAST in element.attrib.values() for element in parsed(picture).iter())
