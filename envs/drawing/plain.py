"""A game without a drawing of its own: its text, and a button for every legal action."""

from __future__ import annotations

from iszoo.envs.drawing.canvas import DARK_WEIGHT, GREY, LAST, WEIGHT, Canvas, percent
from iszoo.envs.drawing.position import Position

WIDTH, MARGIN = 600, 16
_WIDE = 0.62  # of a column of text, in its height


def draw(position: Position) -> Canvas:
    """The picture. The text is the same for every seat, as a game's text board is."""
    canvas = Canvas(WIDTH, f"{position.game.title}: {_status(position)}")
    canvas.text(MARGIN, 26, _status(position), 21, fit=WIDTH - 2 * MARGIN)
    y = 52.0
    lines = position.game.text(position.row, position.options).splitlines()
    size = min(18.0, (WIDTH - 2 * MARGIN) / (_WIDE * max(map(len, lines), default=1)))
    for line in lines:
        # Each letter in its column, in whatever font.
        for k, letter in enumerate(line):
            if letter != " ":
                canvas.text(MARGIN + _WIDE * size * (k + 0.5), y + size / 2, letter, size, anchor="middle")
        y += 1.4 * size
    if position.last is not None:
        canvas.text(MARGIN, y + 18, f"last: {position.game.action_to_string(position.last)}", 18, fill=LAST)
        y += 30
    canvas.end_at(_buttons(canvas, position, y + 8) + 8)
    return canvas


def targets(position: Position) -> dict[int, tuple[str, ...]]:
    """A button each."""
    return {action: (f"action-{action}",) for action in position.legal}


def _status(position: Position) -> str:
    if position.offender is not None:
        return f"player_{position.offender} played an illegal action"
    if position.over:
        return "Won by " + ", ".join(f"player_{seat}" for seat in position.winners)
    return f"player_{position.player} to move"


def _buttons(canvas: Canvas, position: Position, y: float) -> float:
    """The legal actions in lines; returns where they end."""
    greatest = max(position.shares.values(), default=1)
    x = float(MARGIN)
    for action in position.legal:
        share = position.shares.get(action, 0)
        text = position.game.action_to_string(action) + (f" {percent(share)}" if share >= 0.01 else "")
        width = 9.5 * len(text) + 14
        if x + width > WIDTH - MARGIN and x > MARGIN:
            x, y = MARGIN, y + 32
        with canvas.group(f"action-{action}"):
            canvas.panel(x, y, width, 26, stroke=GREY)
            if share:
                canvas.rect(x, y, width, 26, radius=9, fill=WEIGHT, fill_opacity=0.6 * share / greatest)
            canvas.text(x + width / 2, y + 13, text, 15, anchor="middle", fill=DARK_WEIGHT if share else None)
        x += width + 6
    return y + (32 if position.legal else 0)
