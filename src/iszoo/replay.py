"""Recorded games to look at: one page that needs nothing else, a GIF, a PNG. `iszoo replay`."""

from __future__ import annotations

import io
import json
import re
import time
from html import escape
from pathlib import Path
from typing import Any

from iszoo import record
from iszoo.baselines.agents import Agent, make_agent
from iszoo.envs import drawing
from iszoo.session import policy

STATIC = Path(__file__).with_name("static")
_TAG = re.compile(r"[^>]*>")


def data_of(
    found: record.Record, agent: Agent | None = None, *, samples: int = 64, seconds: float | None = None
) -> dict[str, Any]:
    """All that a page needs to step through a game, as plain values; the game is verified.

    Pictures are lists of numbers of pieces of SVG text, which most of them share: some ten times smaller.

    Args:
        found: the record.
        agent: whose policy is laid over the pictures.
        samples: how many of the agent's answers make its policy.
        seconds: after so long the policy of the rest is left out.

    Raises RecordError.
    """
    game = record.game_of(found)
    positions = record.replay(found)
    pieces: dict[str, int] = {}
    plies, began = [], time.monotonic()
    for position, move in zip(positions, [*found.moves, None], strict=True):
        last = found.actions[position.ply - 1] if position.ply else None
        weights: dict[int, float] = {}
        if agent is not None and position.player >= 0 and (seconds is None or time.monotonic() - began < seconds):
            weights = policy(agent, game, found.options, position.row, seed=position.ply, samples=samples)
        ply: dict[str, Any] = {
            "player": position.player,
            "scores": position.scores,
            "move": move,
            "picture": _packed(drawing.svg(game, position.row, found.options, last=last), pieces),
        }
        if weights:
            overlaid = drawing.svg(game, position.row, found.options, last=last, overlay=weights)
            ply["overlaid"] = _packed(overlaid, pieces)
            greatest = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))
            ply["policy"] = [[game.action_to_string(action), share] for action, share in greatest[:8]]
        plies.append(ply)
    return {
        "game": game.name,
        "title": game.title,
        "options": dict(found.options),
        "seed": found.seed,
        "agents": found.agents,
        "over": found.over,
        "offender": found.offender,
        "returns": found.returns,
        "version": found.iszoo,
        "policy_of": agent.name if agent is not None else None,
        "plies": plies,
        "pieces": list(pieces),
    }


def _packed(svg: str, pieces: dict[str, int]) -> list[int]:
    """A text as the numbers of its pieces; new ones are added."""
    return [pieces.setdefault(piece, len(pieces)) for piece in _TAG.findall(svg)]


def page(data: dict[str, Any]) -> str:
    """A page with everything in it: style, script and game. It loads nothing and sends nothing."""
    who = " - ".join(data["agents"])
    title = escape(f"{data['title']}: {who}")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; \
style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>
{_static("style.css")}
</style>
</head>
<body>
<main id="replay"></main>
<script type="application/json" id="game">{_for_script(data)}</script>
<script type="module">
{_static("replay.js")}
showReplay(document.getElementById("replay"), JSON.parse(document.getElementById("game").textContent));
</script>
</body>
</html>
"""


def png_of(found: record.Record, ply: int, width: int = 800) -> bytes:
    """The position after `ply` actions as a PNG file. Needs the extra iszoo[render].

    Raises ValueError for a ply that the game doesn't have, RecordError.
    """
    from iszoo.envs.drawing.raster import to_png

    if not 0 <= ply <= len(found.actions):
        raise ValueError(f"ply {ply}: the game has plies 0 to {len(found.actions)}")
    return to_png(_pictures(found)[ply], width)


def gif_of(found: record.Record, seconds: float = 1.0, width: int = 480) -> bytes:
    """The whole game as an animated GIF that stays longer at its end. Needs the extra iszoo[render].

    Raises RecordError.
    """
    from PIL import Image

    from iszoo.envs.drawing.raster import to_rgb

    frames = [Image.fromarray(to_rgb(picture, width)) for picture in _pictures(found)]
    high = max(frame.height for frame in frames)  # a picture may grow with what it shows
    same = [Image.new("RGB", (width, high), "#FAF7F0") for _ in frames]
    for whole, frame in zip(same, frames, strict=True):
        whole.paste(frame)
    times = [int(1000 * seconds)] * (len(frames) - 1) + [int(5000 * seconds)]
    file = io.BytesIO()
    same[0].save(file, "GIF", save_all=True, append_images=same[1:], duration=times, loop=0, optimize=True)
    return file.getvalue()


def _pictures(found: record.Record) -> list[str]:
    game, before = record.game_of(found), [None, *found.actions]
    positions = record.replay(found)
    return [drawing.svg(game, at.row, found.options, last=last) for at, last in zip(positions, before, strict=True)]


def _static(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


def _for_script(data: Any) -> str:
    """JSON that can't end the script element which it stands in."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def run(file: Path, number: int, *, html: Path | None, overlay: str | None, gif: Path | None, png: int | None) -> None:
    """The command: writes what was asked for of a game of a file, or says what is in the file.

    Raises ValueError, with the line and the field of a record that is damaged.
    """
    from iszoo.reports import write_bytes, write_text

    try:
        games = list(record.read(file))
    except OSError as error:
        raise ValueError(f"{file} can't be read: {error.strerror}") from None
    if html is None and gif is None and png is None:
        for k, each in enumerate(games, 1):
            print(f"{k}: {each.game}, {' - '.join(each.agents)}, {len(each.moves)} actions, {_outcome(each)}")
        return
    if not 1 <= number <= len(games):
        raise ValueError(f"--game {number}: {file} has games 1 to {len(games)}")
    found = games[number - 1]
    if html is not None:
        agent = make_agent(overlay, record.game_of(found)) if overlay else None
        write_text(html, page(data_of(found, agent)))
        print(f"Written: {html}")
    try:
        if gif is not None:
            write_bytes(gif, gif_of(found))
            print(f"Written: {gif}")
        if png is not None:
            path = Path(f"{file.stem}-{number}-{png}.png")
            write_bytes(path, png_of(found, png))
            print(f"Written: {path}")
    except ImportError as error:
        raise ValueError(str(error)) from None


def _outcome(found: record.Record) -> str:
    if not found.over:
        return "not over"
    return "points " + ", ".join(map(str, found.scores))
