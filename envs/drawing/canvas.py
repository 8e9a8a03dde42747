"""A picture in the making: SVG elements by way of the standard library, so that it is well-formed XML.

Nothing in a picture refers to anything outside it or to an id, so that many of them can stand in one page. What
can be clicked has the attribute `data-target`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any
from xml.etree import ElementTree

Point = tuple[float, float]

# The palette of Okabe and Ito (2008), which the common kinds of colour blindness tell apart.
ORANGE, GREEN, YELLOW = "#E69F00", "#009E73", "#F0E442"
BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
INK, PAPER, PANEL, FAINT, GREY = "#1C2026", "#FAF7F0", "#F0EADC", "#CFC6B4", "#6F6A60"
WHITE = "#FFFFFF"
LAST, WEIGHT, DARK_WEIGHT = VERMILLION, GREEN, "#00563F"  # the last move; an overlay, and words about it

TIMES = "\N{MULTIPLICATION SIGN}"

# Metrics of these are alike. Bold, because the rasteriser's own font is.
_WIDEST = 0.7  # of a letter on average, in the size of the widest font that browsers fall back to (DejaVu Sans)
FONTS = "Helvetica, Arial, 'Liberation Sans', FreeSans, sans-serif"


class Canvas:
    """SVG elements in a frame of its own units; y runs down.

    Keyword arguments are SVG attributes: `stroke_width` is stroke-width, and None leaves one out.
    """

    def __init__(self, width: float, label: str) -> None:
        self.width = width
        self.height = 0.0
        self.label = label
        self._root = ElementTree.Element("svg")
        self._inside = [self._root]
        self.rect(0, 0, width, 0, fill=PAPER)

    def end_at(self, height: float) -> None:
        """Makes the picture as high as what was found to be in it."""
        self.height = height
        self._root[0].set("height", number(height))

    def add(self, tag: str, /, text: str | None = None, **attributes: Any) -> ElementTree.Element:
        """Any element."""
        given = {name.replace("_", "-"): written(value) for name, value in attributes.items() if value is not None}
        element = ElementTree.SubElement(self._inside[-1], tag, given)
        element.text = text
        return element

    def group(self, target: str | None = None, **attributes: Any) -> _Group:
        """A context: what is drawn in it belongs together. target: what is clicked there."""
        return _Group(self._inside, self.add("g", data_target=target, **attributes))

    def rect(
        self, x: float, y: float, width: float, height: float, *, radius: float | None = None, **attributes: Any
    ) -> None:
        """A rectangle, its corners rounded with a radius."""
        self.add("rect", x=x, y=y, width=width, height=height, rx=radius, **attributes)

    def circle(self, x: float, y: float, radius: float, **attributes: Any) -> None:
        """A disc or a ring."""
        self.add("circle", cx=x, cy=y, r=radius, **attributes)

    def line(self, x1: float, y1: float, x2: float, y2: float, **attributes: Any) -> None:
        """A line."""
        self.add("line", x1=x1, y1=y1, x2=x2, y2=y2, **attributes)

    def polygon(self, points: Iterable[Point], **attributes: Any) -> None:
        """A closed polygon."""
        self.add("polygon", points=" ".join(f"{number(x)},{number(y)}" for x, y in points), **attributes)

    def path(self, data: str, **attributes: Any) -> None:
        """A path."""
        self.add("path", d=data, **attributes)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float,
        *,
        anchor: str = "start",
        fit: float | None = None,
        **attributes: Any,
    ) -> None:
        """A line of text; y is its middle, half of a capital letter's height above the baseline.

        fit: what it may be wide; in the widest of the usual fonts it gets smaller for that.
        """
        if fit is not None:
            size = min(size, fit / (_WIDEST * max(1, len(text))))
        anchored = None if anchor == "start" else anchor
        self.add("text", text, x=x, y=y + 0.36 * size, font_size=size, text_anchor=anchored, **attributes)

    def star(self, x: float, y: float, radius: float, **attributes: Any) -> None:
        """A five-pointed star."""
        self.polygon([around(x, y, radius * (0.45 if k % 2 else 1), 90 + 36 * k) for k in range(10)], **attributes)

    def hit(self, target: str, x: float, y: float, width: float, height: float) -> None:
        """A rectangle that isn't seen, but is clicked."""
        self.rect(x, y, width, height, fill="none", pointer_events="all", data_target=target)

    def panel(
        self, x: float, y: float, width: float, height: float, *, active: bool = False, **attributes: Any
    ) -> None:
        """The ground of what belongs together; active: of who is to move."""
        style: dict[str, object] = {"fill": PANEL, "stroke": FAINT, "stroke_width": 1.5}
        if active:
            style = {"fill": WHITE, "stroke": INK, "stroke_width": 3.5}
        self.rect(x, y, width, height, radius=9, **{**style, **attributes})

    def mark(self, x: float, y: float, width: float, height: float, radius: float, **attributes: Any) -> None:
        """A frame round what the last move was; its white edges set it off where colours are not told apart."""
        for colour, stroke in ((WHITE, 9), (LAST, 5)):
            self.rect(x, y, width, height, radius=radius, fill="none", stroke=colour, stroke_width=stroke, **attributes)

    def badge(self, x: float, y: float, share: float) -> None:
        """A share of an overlay, in percents, round a point."""
        text = percent(share)
        width = 12 * len(text) + 6
        self.rect(x - width / 2, y - 12, width, 24, radius=6, fill=WHITE, fill_opacity=0.92)
        self.text(x, y, text, 19, anchor="middle", fill=DARK_WEIGHT)

    def to_svg(self, size: float) -> str:
        """The picture, `size` pixels wide."""
        root = self._root
        root.attrib = {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {number(self.width)} {number(self.height)}",
            "width": number(size),
            "height": number(round(size * self.height / self.width)),
            "font-family": FONTS,
            "font-weight": "bold",
            "fill": INK,
            "role": "group",
            "aria-label": self.label,
        }
        return ElementTree.tostring(root, encoding="unicode")


class _Group:
    def __init__(self, inside: list[ElementTree.Element], element: ElementTree.Element) -> None:
        self._inside = inside
        self._element = element

    def __enter__(self) -> None:
        self._inside.append(self._element)

    def __exit__(self, *error: object) -> None:
        self._inside.pop()


def written(value: object) -> str:
    """An attribute as text."""
    return number(value) if isinstance(value, (int, float)) else str(value)


def number(value: float) -> str:
    """A length, to a hundredth: the same text everywhere."""
    short = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if short == "-0" else short


def around(x: float, y: float, radius: float, degrees: float) -> Point:
    """The point at a distance from another; degrees run counter-clockwise from the right."""
    return x + radius * math.cos(math.radians(degrees)), y - radius * math.sin(math.radians(degrees))


def signed(value: int) -> str:
    """A number with its sign, in the typographer's minus."""
    return f"{value:+d}".replace("-", "\N{MINUS SIGN}")


def percent(share: float) -> str:
    """A share in whole percents."""
    return f"{100 * share:.0f}%"


def listed(words: Sequence[str]) -> str:
    """Words as a list in a sentence."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
