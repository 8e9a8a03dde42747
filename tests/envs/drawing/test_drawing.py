"""Every drawing: the XML, what a seat may know, what is clicked, what is marked, what is refused."""

from __future__ import annotations

import dataclasses
import random
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

import iszoo
from iszoo.envs import drawing
from iszoo.envs.aec import GameEnv
from iszoo.envs.game import Game
from iszoo.envs.native import JIT
from tests.conformance.test_resample import deals_like, known_to, resampled
from tests.envs.drawing.svgs import SVG, clickable, drawn, marks, parsed, targets, texts
from tests.helpers import ROOT, Setting, play, plies, run_python, scaled

EVERY = 3 if JIT else 8  # how many plies apart positions are looked at


def positions(setting: Setting, seed: int = 0, every: int = EVERY) -> Iterator[tuple[GameEnv, int | None]]:
    """Positions of a random game, its beginning and its end among them, with the action played last."""
    env = setting.started(seed)
    rng = random.Random(seed)
    last = None
    for ply in range(setting.game.max_game_length):
        legal = env.legal_actions()
        if not legal:
            break
        if ply % every == 0:
            yield env, last
        last = rng.choice(legal)
        env.step(last)
    yield env, last


# --- The XML ---


def test_it_is_self_contained_xml_of_one_size(setting: Setting) -> None:
    boxes = set()
    for env, last in positions(setting):
        root = parsed(drawn(env, last=last, size=300))
        assert root.tag == f"{SVG}svg"
        boxes.add((root.attrib["viewBox"], root.attrib["width"], root.attrib["height"]))
        assert root.attrib["aria-label"].startswith(f"{setting.game.title}: ")
        for element in root.iter():
            assert element.tag.startswith(SVG)
            assert element.tag[len(SVG) :] not in ("script", "style", "image", "use", "foreignObject", "a")
            for name, value in element.attrib.items():
                assert "href" not in name
                assert name not in ("id", "class", "style")
                assert not name.startswith("on")
                assert "url(" not in value
    ((view_box, width, height),) = boxes
    x, y, box_width, box_height = map(float, view_box.split())
    assert (x, y, box_width, int(width)) == (0, 0, 600, 300)
    assert int(height) == pytest.approx(300 * box_height / box_width, abs=1)
    assert box_height % 2 == 0  # what encoders of video ask for


def test_everything_is_inside(setting: Setting) -> None:
    """Texts and rectangles that aren't in a group with coordinates of its own."""
    env = play(setting.started(2), most=20)
    root = parsed(drawn(env))
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    for element in root.iter(f"{SVG}text"):
        assert 0 < float(element.attrib["x"]) < width
        assert 0 < float(element.attrib["y"]) < height


def test_the_same_position_is_the_same_text(setting: Setting) -> None:
    env = play(setting.started(1), most=10)
    picture = drawn(env, overlay=dict.fromkeys(env.legal_actions(), 1.0))
    assert drawn(env.clone(), overlay=dict.fromkeys(reversed(env.legal_actions()), 7)) == picture
    before = env.get_state()
    drawn(env, seat=0)
    assert env.get_state() == before


def test_every_ply_changes_the_picture(setting: Setting) -> None:
    env = play(setting.started(1), most=2)
    seen = [drawn(env)]
    for _ in range(3):
        env.step(env.legal_actions()[-1])
        seen.append(drawn(env))
    assert len(set(seen)) == len(seen)


# --- What a seat may know ---


def test_a_seat_sees_only_what_it_knows(setting: Setting) -> None:
    """What `resample` redraws is not in a seat's picture."""
    all_alike = True
    for ply, (env, last) in enumerate(positions(setting, seed=3)):
        seat = ply % len(env.possible_agents)
        twin = resampled(env, seat, ply)
        overlay = dict.fromkeys(env.legal_actions()[:4], 1.0)
        picture = drawn(env, seat=seat, last=last, overlay=overlay)
        assert drawn(twin, seat=seat, last=last, overlay=overlay) == picture
        all_alike &= drawn(twin) == drawn(env)
    # Who sees all sees that another order was drawn, in games where there is one.
    assert all_alike == (setting.game.deal is None)


def test_what_looks_alike_to_a_seat_is_drawn_alike(setting: Setting) -> None:
    """Games from different deals, as long as the seat is shown the same; values forgotten by then included."""
    if setting.game.deal is None:
        pytest.skip("no chance")
    rng = random.Random(2)
    deal = setting.random_deal(rng)
    one, two = setting.env(), setting.env()
    compared = 0
    for seed, other in enumerate(islice(deals_like(deal, rng), 8, 8 + scaled(12, least=6))):
        one.reset(seed=seed, options={"deal": deal})
        two.reset(seed=seed, options={"deal": other})
        seat = rng.randrange(len(one.possible_agents))
        for ply in plies(one, two, seed=seed):
            if one.legal_actions() != two.legal_actions():
                break
            if ply % 5 == 1 and one.legal_actions() and _shown(one, seat) == _shown(two, seat):
                compared += 1
                assert drawn(one, seat=seat) == drawn(two, seat=seat)
    assert compared >= scaled(6, least=1)


def _shown(env: GameEnv, seat: int) -> Any:
    """What a seat is shown. With memory="hidden" points are not told before the end, else they are."""
    if env.options.get("memory") == "hidden":
        observation = env.observe(env.possible_agents[seat])["observation"]
        return observation.tobytes(), env.agent_selection
    return known_to(env, seat)


# --- What is clicked ---


def test_every_legal_action_has_targets(setting: Setting) -> None:
    for env, last in positions(setting, seed=4):
        found = targets(env)
        assert sorted(found) == env.legal_actions()
        begun = {names[:k] for names in found.values() for k in range(len(names))}
        assert len(set(found.values())) == len(found)
        assert begun.isdisjoint(found.values())
        named = {name for names in found.values() for name in names}
        for seat in (None, *range(len(env.possible_agents))):
            assert named <= clickable(drawn(env, seat=seat, last=last))
    assert targets(env) == {}


# --- What is marked ---


def test_the_last_action_is_marked(setting: Setting) -> None:
    for env, last in positions(setting, seed=5, every=1 if JIT else EVERY):
        assert marks(drawn(env)) == 0
        assert (marks(drawn(env, last=last)) > 0) == (last is not None)


def test_an_overlay_shows_shares(setting: Setting) -> None:
    env = setting.started(6)
    rng = random.Random(6)
    compared = 0
    while legal := env.legal_actions():
        if len(legal) > 3:
            first, second = legal[0], legal[-1]
            picture = drawn(env, overlay={first: 6, second: 2, legal[1]: 0})
            assert {"75%", "25%"} <= {text.split()[-1] for text in texts(picture) if "%" in text}
            assert not any("%" in text for text in texts(drawn(env, overlay={first: 0})))
            compared += 1
        for _ in range(1 + EVERY):
            if env.legal_actions():
                env.step(rng.choice(env.legal_actions()))
    assert compared > 1


# --- What it says ---


def test_it_says_how_the_game_ended(setting: Setting) -> None:
    env = play(setting.started(7))
    said = texts(drawn(env))[0]
    assert any(word in said for word in ("win", "end"))
    env = setting.started(7, illegal="terminate")
    env.step(env.game.num_actions)
    assert "played an illegal action" in texts(drawn(env))[0]
    assert targets(env) == {}


def test_who_looks_is_told(setting: Setting) -> None:
    env = setting.started(0)
    if len(env.possible_agents) > 1 and env.options.get("mode") != "coop":
        assert sum("you" in text.split() for text in texts(drawn(env, seat=1))) == 1
    assert not any("you" in text.split() for text in texts(drawn(env)))


# --- Games without a drawing, and with one from outside ---


@pytest.fixture
def toy(game: Game) -> Iterator[Game]:
    """A game from outside the package."""
    yield dataclasses.replace(game, name="toy")
    drawing._drawings.pop("toy", None)


def test_a_game_without_a_drawing_is_drawn_as_text(toy: Game, plain: Setting) -> None:
    for env, last in positions(plain, seed=8, every=15):
        row, legal = env._rows[0], env.legal_actions()
        overlay = {legal[-1]: 1.0} if legal else None
        picture = drawing.svg(toy, row, env.options, last=last, overlay=overlay)
        found = drawing.targets(toy, row, env.options)
        assert sorted(found) == legal
        assert {name for names in found.values() for name in names} == clickable(picture)
        letters = "".join(texts(picture))
        assert "".join(toy.text(row, env.options).split()) in letters
        for action in legal:
            assert toy.action_to_string(action) in letters
        assert (marks(picture) > 0) == (last is not None)
        assert ("100%" in letters) == bool(legal)


def test_a_drawing_from_outside(toy: Game, plain: Setting) -> None:
    def draw(position: drawing.Position) -> drawing.Canvas:
        canvas = drawing.Canvas(50, "a toy")
        canvas.text(5, 5, f"{position.player} & <{position.seat}>", 8)
        canvas.end_at(20)
        return canvas

    def nothing(position: drawing.Position) -> dict[int, tuple[str, ...]]:
        return {}

    drawing.register("toy", draw, nothing)
    drawing.register("toy", draw, nothing)  # the same again is no other
    env = plain.started(0)
    picture = drawing.svg(toy, env._rows[0], {}, seat=1, size=100)
    assert texts(picture) == ["0 & <1>"]
    assert parsed(picture).attrib["height"] == "40"
    assert drawing.targets(toy, env._rows[0], {}) == {}
    assert texts(drawn(env)) != ["0 & <1>"]
    with pytest.raises(ValueError, match="'toy' has a drawing already"):
        drawing.register("toy", nothing, nothing)  # type: ignore[arg-type]


# --- What is refused, what is loaded, what is up to date ---


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"seat": 7}, "seat=7 is not allowed; it is None or 0 to"),
        ({"seat": True}, "seat=True"),
        ({"seat": -1}, "seat=-1"),
        ({"last": -1}, "last=-1"),
        ({"last": 10**6}, "last=1000000"),
        ({"last": 0.5}, "last=0.5"),
        ({"size": 0}, "size=0"),
        ({"size": "300"}, "size='300'"),
        ({"overlay": {10**6: 1.0}}, "action 1000000 is not legal here"),
        ({"overlay": {"a": 1.0}}, "action a is not legal here"),
    ],
)
def test_bad_arguments(plain: Setting, options: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        drawn(plain.started(0), **options)


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_bad_weights(plain: Setting, weight: float) -> None:
    env = plain.started(0)
    action = env.legal_actions()[0]
    with pytest.raises(ValueError, match=rf"a weight is 0 or more, not {weight} \(action {action}\)"):
        drawn(env, overlay={action: weight})


def test_bad_rows_and_options(game: Game, plain: Setting) -> None:
    row = plain.started(0)._rows[0]
    with pytest.raises(ValueError, match=rf"a row of shape \({game.row_size},\), not \({game.row_size - 1},\)"):
        drawing.svg(game, row[1:], {})
    with pytest.raises(ValueError, match="has no option 'colour'"):
        drawing.targets(game, row, {"colour": "red"})


def test_importing_iszoo_draws_nothing() -> None:
    loaded = run_python(
        "import sys, iszoo, iszoo.wrappers.gymnasium\n"
        "for name in iszoo.REGISTRY:\n"
        "    env = iszoo.make(name, render_mode='ansi')\n"
        "    env.reset()\n"
        "    env.render()\n"
        "print([name for name in sys.modules if name in ('iszoo.envs.drawing', 'pygame', 'resvg_py', 'PIL')])"
    )
    assert loaded == "[]"


def test_a_drawing_needs_no_extra_and_no_window() -> None:
    loaded = run_python(
        "import sys\n"
        "for name in ('pygame', 'resvg_py', 'PIL'):\n"
        "    sys.modules[name] = None\n"
        "import iszoo\n"
        "env = iszoo.make('isaac', render_mode='svg')\n"
        "env.reset()\n"
        "print(env.render()[:4], env._repr_svg_()[:4])"
    )
    assert loaded == "<svg <svg"


def test_the_pictures_in_the_docs_are_those_of_the_code() -> None:
    """In a process of its own, so that the order of hashes differs."""
    checked = subprocess.run(
        [sys.executable, ROOT / "docs" / "make_pictures.py", "--check"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert {path.stem for path in (ROOT / "docs" / "pictures").iterdir()} == set(iszoo.REGISTRY)
