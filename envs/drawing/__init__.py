"""Positions as pictures: one drawing a game, from a state row to SVG text. All pictures of iszoo are made here.

```python
import iszoo
from iszoo.envs import drawing

vec = iszoo.make_vec("isaac", 1, seed=0)
picture = drawing.svg(vec.game, vec.rows[0], vec.options, size=300)
```

A picture is well-formed XML with a viewBox, and has no scripts, no styles and no references, inside or outside:
any number of them can stand in one page. It is the same text for the same arguments, everywhere.

**What can be clicked** has the attribute `data-target`, and `targets` says for every legal action which of these
names one clicks, one after the other, to play it. Two actions never have the same names, nor does one begin with
all of another's: the action is settled as soon as its last name is clicked. A page can so, after each click, light
up what may come next. Several elements may have one name (a tile and its stock, say), and elements may lie within
others: look for the closest ancestor with the attribute (`event.target.closest("[data-target]")`).

Isaac, placing: `reserve-K`, `cell-C`, `cell-C`
    The unplayed piece of type K (0 to 4), its lowest cell for who places it, its other end.
Isaac, placing a piece of one cell: `reserve-K`, `cell-C`, `row-T` or `column-U`
    Last the number of its line, at the border.
Isaac, removing: `piece-C`
    The piece whose lowest cell is C.
Isaac, the counter: `cell-C` or `win`
    The cell that it goes to; 100 or more.
Isis & Osiris: `cell-C` or `reveal`
    Where the stone goes, or the tile in hand; the next tile.
ISO: `slot-S-R`, `cell-C`
    The tile of slot S as it looks after R thirds of a turn, then its place.
Others: `action-A`
    A button.

Cells are those of the action ids; in Isaac those of Dark's frame, whoever plays or looks.

**A game from outside** gets a drawing with `register`; until then it is drawn as its text, with a button for every
legal action. Nothing here opens a window or needs an extra; `raster` (the extra iszoo[render]) makes pixels of the
text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from iszoo.envs.drawing import isaac, isis_osiris, iso, plain
from iszoo.envs.drawing.canvas import Canvas
from iszoo.envs.drawing.position import Position
from iszoo.envs.game import Game

__all__ = ["Canvas", "Drawing", "Position", "register", "svg", "targets"]


class Drawing(NamedTuple):
    """How one game is drawn."""

    draw: Callable[[Position], Canvas]  #: the picture of a position, everything but its size in pixels
    targets: Callable[[Position], dict[int, tuple[str, ...]]]  #: see `iszoo.envs.drawing.targets`


_PLAIN = Drawing(plain.draw, plain.targets)
_drawings: dict[str, Drawing] = {
    "isaac": Drawing(isaac.draw, isaac.targets),
    "isis_osiris": Drawing(isis_osiris.draw, isis_osiris.targets),
    "iso": Drawing(iso.draw, iso.targets),
}


def register(
    name: str,
    draw: Callable[[Position], Canvas],
    targets: Callable[[Position], dict[int, tuple[str, ...]]],
) -> None:
    """Gives a game from outside the package a drawing.

    Args:
        name: the game's name in the registry of games.
        draw: makes the picture of a position on a `Canvas`. It must look only at what `position.seat` may know.
        targets: names what is clicked for each legal action, as the function `targets` promises.

    Raises ValueError if the game has another drawing already.
    """
    given = Drawing(draw, targets)
    if _drawings.get(name, given) != given:
        raise ValueError(f"the game {name!r} has a drawing already")
    _drawings[name] = given


def svg(
    game: Game,
    row: Any,
    options: Mapping[str, Any],
    *,
    seat: int | None = None,
    last: int | None = None,
    overlay: Mapping[int, float] | None = None,
    size: int = 600,
) -> str:
    """A position as SVG text.

    Args:
        game: the game.
        row: int64 (S,), the position; it is only read.
        options: the game's options, those that aren't given at their defaults.
        seat: who looks: what that seat can't know (the order of a stock or a pile; values of tiles face down with
            memory="hidden") is not drawn, and the board lies as it does before that seat. None: somebody who sees
            everything.
        last: the id of the action that was played last, which is marked.
        overlay: weights of legal actions by their ids, such as a policy or visit counts; drawn as shares of their
            sum.
        size: the width in pixels.

    Raises ValueError for a row, a seat, an action, a weight or a size that is not allowed.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ValueError(f"size={size!r} is not allowed; it is the width in pixels, 1 or more")
    position = Position(game, row, options, seat, last, overlay)
    return _drawings.get(game.name, _PLAIN).draw(position).to_svg(size)


def targets(game: Game, row: Any, options: Mapping[str, Any]) -> dict[int, tuple[str, ...]]:
    """What one clicks to play each legal action: names that are `data-target` in `svg` of the same position.

    Every legal action has a sequence of its own, which is no beginning of another's. Empty when the game is over.

    Args:
        game: the game.
        row: int64 (S,), the position.
        options: the game's options.
    """
    return _drawings.get(game.name, _PLAIN).targets(Position(game, row, options))
