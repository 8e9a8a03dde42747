"""ISO's own rules: positions drawn by hand, the torus, the modes, and what a player can't know."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import iszoo
from iszoo.envs import iso, iso_text, state
from iszoo.envs.aec import GameEnv
from iszoo.envs.errors import IllegalActionError
from iszoo.envs.iso import GAME
from iszoo.envs.native import JIT
from tests.helpers import play, scaled
from tests.oracle.iso import NEIGHBOURS, Oracle, cell_id, random_deal, square_of
from tests.oracle.test_iso_oracle import ALLOCATIONS, COMPLETE, INCOMPLETE, cell_at, lay, read, turned

AXES = (0, 1, 2)
SIX = NEIGHBOURS
# Three objectives that a row of tiles in one rotation never completes, then the others.
QUIET_DEAL = [18, 17, 16, *range(1, 16)]


def action(slot: int, rotation: int, cell: tuple[int, int]) -> int:
    return slot * 768 + rotation * 256 + cell_id(cell)


def env_in(game: Oracle, reward: str = "outcome") -> GameEnv:
    """An environment in the position of an oracle, however it came about."""
    options = {"mode": game.mode, "num_players": game.num_players, "mirror": game.mirror}
    env = iszoo.make("iso", observation="flat", reward=reward, **options)
    params = GAME.params(env.options)
    rows = np.zeros((1, GAME.row_size), np.int64)
    for cell, (number, rotation) in game.table.items():
        face = params[iso.FACES + number]
        iso.place_tile(rows, 0, cell_id(cell), int(iso.TURNED[rotation, face]))
    fields = rows.view(GAME.row)[0, 0]
    fields["player"] = game.player
    fields["display"] = bits(number for number in game.display if number is not None)
    fields["shown"] = fields["display"] | bits(number for number, _ in game.claimed)
    for seat in range(1 if game.mode in ("solo", "coop") else game.num_players):
        fields["won"][seat] = bits(game.held(seat))
        fields["stars"][seat] = game.stars(seat)
    for slot, number in enumerate(game.choices()):
        fields["slot_number"][slot] = number or 0
        fields["slot_face"][slot] = params[iso.FACES + (number or 0)]
    fields["pile"] = sum(number << (5 * k) for k, number in enumerate(game.pile[1:]))
    if not game.table:
        fields["free"][iso.FIRST_CELL // 32] = 1 << (iso.FIRST_CELL % 32)
    if game.is_over():
        fields["free"] = 0
    env.set_state(state.to_bytes(GAME, params, rows[0]))
    return env


def bits(numbers: Any) -> int:
    return sum(1 << (number - 1) for number in numbers)


def compare(env: GameEnv, game: Oracle) -> None:
    """All that both say of a position."""
    assert env.legal_actions() == game.legal_actions()
    assert env.scores() == game.scores()
    for seat, agent in enumerate(env.possible_agents):
        board, features = game.observe(seat)
        assert np.array_equal(env.observe(agent)["observation"], [*board, *features])
    assert all(env.terminations.values()) == game.is_over()
    assert list(env.rewards.values()) == pytest.approx(game.returns(env.reward_kind))


# --- The start and the geometry ---


@pytest.mark.parametrize("mode", iso.PLAYERS)
def test_first_and_second_turn(mode: str) -> None:
    env = iszoo.make("iso", mode=mode)
    env.reset(seed=0)
    assert env.legal_actions() == [action(slot, rotation, (8, 8)) for slot in range(3) for rotation in range(3)]
    env.step(env.legal_actions()[0])
    cells = sorted(cell_id((8 + dx, 8 + dy)) for dx, dy in SIX)
    assert env.legal_actions() == [
        768 * slot + 256 * rotation + cell for slot, rotation, cell in itertools.product(range(3), range(3), cells)
    ]


@pytest.mark.parametrize("step", SIX)
def test_neighbours_are_orthogonal_in_exactly_two_perspectives(step: tuple[int, int]) -> None:
    """Tiles 1 and 13 show the same colours, so that they are in one group wherever they are united."""
    env = iszoo.make("iso")
    env.reset(options={"deal": [18, 17, 16, 1, 13, *range(2, 13), 14, 15]})
    env.step(action(0, 0, (8, 8)))
    env.step(action(1, 0, (8 + step[0], 8 + step[1])))
    united = [axis for axis in AXES if iso.group_of(env._rows, 0, axis, 1) == 0b11]
    assert united == [axis for axis in AXES if step not in (SIX[axis], SIX[axis + 3])]
    assert len(united) == 2


def test_neighbours_on_the_torus_are_those_on_the_plane() -> None:
    """Fifteen connected tiles are at most 14 apart, and none of these ways is taken for a step."""
    for x, y in itertools.product(range(-14, 15), repeat=2):
        way = iso.way_to(cell_id((8, 8)), cell_id((8 + x, 8 + y)))
        assert way == cell_id((x, y))
        assert (iso._SIDES[way] != 0) == ((x, y) in SIX)
        for axis in AXES:
            u, v = square_of((x, y), axis)
            assert (iso.UNITED[way] >> (15 * axis)) & 1 == (abs(u) + abs(v) == 1)


def test_squares_that_a_figure_reaches() -> None:
    """A wall far away may stand for one near by, but not in a figure, whose walls are neighbours one by one."""
    for x, y, axis in itertools.product(range(-8, 8), range(-8, 8), AXES):
        u, v = square_of((x, y), axis)
        seen = 1 << iso._PLACES.index((u, v)) if abs(u) + abs(v) <= 4 else 0
        assert iso.DIAMOND[axis, cell_id((x, y))] == seen


@pytest.mark.parametrize("step", SIX)
def test_the_longest_straight_game(step: tuple[int, int]) -> None:
    """Fifteen tiles in a row leave a gap of one cell on the torus, in which nothing may be seen twice."""
    env, game = iszoo.make("iso", observation="flat"), Oracle(QUIET_DEAL)
    env.reset(options={"deal": QUIET_DEAL})
    for k in range(15):
        slot = next(slot for slot in (2, 0, 1) if game.choices()[slot] is not None)
        move = action(slot, 0, (8 + k * step[0], 8 + k * step[1]))
        for each in (env, game):
            each.step(move)
        compare(env, game)
    assert game.is_over()
    assert len(game.table) == 15


def stretched(mode: str, rng: random.Random) -> Iterator[tuple[GameEnv, Oracle]]:
    """A random game that grows away from where it began, in the environment and on the unbounded lattice."""
    deal = random_deal(rng, mode=mode)
    env, game = iszoo.make("iso", mode=mode, observation="flat"), Oracle(deal, mode=mode)
    env.reset(options={"deal": deal})
    direction = rng.choice(SIX)
    while not game.is_over():
        far = max(game.free_cells(), key=lambda c: (c[0] * direction[0] + c[1] * direction[1], rng.random()))
        at = cell_id(far) if rng.random() < 0.9 else cell_id(rng.choice(game.free_cells()))
        move = rng.choice([a for a in game.legal_actions() if a % 256 == at])
        for each in (env, game):
            each.step(move)
        yield env, game


@pytest.mark.parametrize("mode", ["competitive", "area_control"])
def test_games_across_the_edge_of_the_torus(mode: str) -> None:
    rng = random.Random(mode)
    widths, claims = set(), 0
    for _ in range(scaled(100, 6)):
        for env, game in stretched(mode, rng):
            compare(env, game)
        for k in range(2):
            widths.add(len({cell[k] for cell in game.table}))
        claims += any(not 0 <= at < 16 for at in game.last or ()) and len(game.claimed) > 0
    assert max(widths) >= 13
    assert claims > 0


def test_eighteen_tiles_are_objectives_shown_and_tiles_placed() -> None:
    for mode, shown_at_the_end, length in [("competitive", None, 15), ("area_control", 4, 14)]:
        vec = iszoo.make_vec("iso", scaled(300), seed=0, mode=mode, autoreset="disabled")
        vec.random_steps(15)
        fields = vec.rows.view(GAME.row)[:, 0]
        shown = np.array([int(word).bit_count() for word in fields["shown"]])
        assert (fields["placed"] == 18 - shown).all()
        assert fields["placed"].max() == length
        assert shown_at_the_end is None or (shown == shown_at_the_end).all()


# --- Objectives, as they are drawn for the oracle ---


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", [*COMPLETE, *INCOMPLETE])
def test_drawn_objectives(name: str, axis: int) -> None:
    number, seat, drawing = {**COMPLETE, **INCOMPLETE}[name]
    drawn, placed = read(drawing)
    tile, rotation = turned(*drawn.pop(placed), axis)
    spare = [n for n in range(1, 19) if n not in {number, tile, *(used for used, _ in drawn.values())}]
    game = Oracle.from_position(
        table=lay(drawn, axis), display=[None, number] if number != tile else [None], slots=(tile, None),
        pile=spare[:2], player=seat, num_players=3,
    )  # fmt: skip
    env = env_in(game)
    compare(env, game)
    for each in (env, game):
        each.step(action(0, rotation, cell_at(placed, axis)))
    compare(env, game)
    assert (number in dict(game.claimed)) == (name in COMPLETE and number != tile)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", ALLOCATIONS)
def test_drawn_allocations(name: str, axis: int) -> None:
    num_players, expected, drawing = ALLOCATIONS[name]
    drawn, placed = read(drawing)
    tile, rotation = turned(*drawn.pop(placed), axis)
    game = Oracle.from_position(
        table=lay(drawn, axis), slots=(tile, None), mode="area_control", num_players=num_players
    )
    for reward in ("outcome", "margin"):
        env, played = env_in(game, reward), game.copy()
        compare(env, played)
        for each in (env, played):
            each.step(action(0, rotation, cell_at(placed, axis)))
        compare(env, played)
        won = [iso_text.numbers(int(word)) for word in env._rows.view(GAME.row)[0, 0]["won"]]
        assert {number: seat for seat, numbers in enumerate(won) for number in numbers} == expected


# --- Modes ---


@pytest.mark.parametrize(
    ("mode", "default", "good", "bad"),
    [("competitive", 2, (2, 3), (1,)), ("solo", 1, (1,), (2, 3)), ("coop", 2, (2, 3), (1,)),
     ("area_control", 2, (2, 3), (1,))],
)  # fmt: skip
def test_numbers_of_players(mode: str, default: int, good: tuple[int, ...], bad: tuple[int, ...]) -> None:
    assert iszoo.make("iso", mode=mode).options["num_players"] == default
    for number in good:
        assert len(iszoo.make("iso", mode=mode, num_players=number).possible_agents) == number
    for number in bad:
        with pytest.raises(ValueError, match=f"num_players={number} is not allowed with mode='{mode}'"):
            iszoo.make("iso", mode=mode, num_players=number)


@pytest.mark.parametrize(
    ("total", "band"),
    [(0, "0-5"), (5, "0-5"), (6, "6-12"), (12, "6-12"), (13, "13-19"), (19, "13-19"), (20, "20-26"),
     (26, "20-26"), (27, "26+"), (44, "26+")],
)  # fmt: skip
def test_bands(total: int, band: str) -> None:
    assert iso_text.band(total) == band


@pytest.mark.parametrize(("mode", "num_players"), [("solo", 1), ("coop", 2), ("coop", 3)])
@pytest.mark.parametrize("reward", ["outcome", "margin"])
def test_a_group_gets_its_total(mode: str, num_players: int, reward: str) -> None:
    """28 stars: a reward above 1, the same for everybody, with either kind of reward."""
    claimed = dict.fromkeys([18, 17, 16, 15, 14, 13, 3, 4, 5], 0)
    game = Oracle.from_position(
        table={(8, 8): (1, 0)}, slots=(2, None), claimed=claimed, mode=mode, num_players=num_players
    )
    env = env_in(game, reward)
    assert env.scores() == [28] * num_players
    assert "band 26+" in GAME.text(env._rows[0], env.options)
    for each in (env, game):
        each.step(action(0, 0, (9, 8)))
    compare(env, game)
    assert list(env.rewards.values()) == pytest.approx([28 / 26] * num_players)


def test_coop_claims_with_the_indicator_of_the_player_who_placed() -> None:
    number, _, drawing = COMPLETE["conditioned 14"]
    drawn, placed = read(drawing)
    tile, rotation = turned(*drawn.pop(placed), 2)
    for player in range(3):
        game = Oracle.from_position(
            table=lay(drawn, 2), display=[number], slots=(tile, None), player=player, mode="coop", num_players=3
        )
        env = env_in(game)
        for each in (env, game):
            each.step(action(0, rotation, cell_at(placed, 2)))
        compare(env, game)
        assert env.scores() == ([3] * 3 if player == 0 else [0] * 3)


def test_bounds_of_what_can_be_won() -> None:
    """Stars and objectives, see `_most_won`."""
    stars, objectives = 90, 93
    for options, most in [
        ({"num_players": 2}, (28, 9)),
        ({"num_players": 3}, (28, 9)),
        ({"mode": "solo"}, (34, 12)),
        ({"mode": "coop"}, (34, 12)),
        ({"mode": "area_control"}, (9, 4)),
    ]:
        high = GAME.bounds(GAME.resolve(options)).features_high
        assert (high[stars], high[objectives]) == most


def test_nothing_may_be_placed_once_an_illegal_action_ended_the_game() -> None:
    env = iszoo.make("iso", illegal="terminate", observation="split")
    env.reset(seed=0)
    assert env.observe("player_1")["observation"]["board"][18].sum() == 1
    env.step(0)
    assert env.observe("player_1")["observation"]["board"][18].sum() == 0


def test_illegal_actions_of_raw_env_stay_inside_the_table() -> None:
    raw = iszoo.make("iso", check=False)
    raw.reset(seed=0)
    for _ in range(15):
        raw.step(2 * 768 + 5)  # the pile's top, onto one and the same cell
    before = raw.get_state()
    for _ in range(100):
        raw.step(2 * 768 + 5)  # there is no top any more
    assert raw.get_state() == before
    assert raw._rows.view(GAME.row)[0, 0]["placed"] <= iso.MOST_TILES


# --- What a player can't know ---


def resampled(row: npt.NDArray[np.int64], seed: int, params: Any, player: int = 0) -> npt.NDArray[np.int64]:
    rows = row[None].copy()
    iso.resample(rows, 0, player, seed, params)
    return rows[0]  # type: ignore[no-any-return]


def hidden(row: npt.NDArray[np.int64]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The numbers behind the slots, and those of the pile in its order."""
    fields = row.view(GAME.row)[0]
    return tuple(fields["slot_number"].tolist()), tuple(iso._pile(fields))


def looks(face: int) -> int:
    return int(iso.LOOKS[face])


def worlds(row: npt.NDArray[np.int64], params: Any) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Every (slots, pile) that agrees with what was seen, by trying all."""
    fields = row.view(GAME.row)[0]
    unseen = [n for n in range(1, 19) if not int(fields["shown"]) >> (n - 1) & 1]
    look = {n: looks(params[iso.FACES + n]) for n in unseen}
    table = Counter(looks(tile >> 8 & 63) for tile in fields["tiles"][: fields["placed"]].tolist())
    slots = [looks(face) for face in fields["slot_face"][fields["slot_number"] > 0].tolist()]
    found = []
    for numbers in itertools.permutations(unseen, len(slots)):
        if [look[number] for number in numbers] != slots:
            continue
        rest = [number for number in unseen if number not in numbers]
        for pile in itertools.permutations(rest, len(iso._pile(fields))):
            if Counter(look[number] for number in rest if number not in pile) == table:
                found.append((numbers, pile))
    held = iter(range(len(slots)))
    at = [next(held) if number else None for number in fields["slot_number"].tolist()]
    return [(tuple(0 if k is None else numbers[k] for k in at), pile) for numbers, pile in found]


@pytest.mark.parametrize("mode", iso.PLAYERS)
def test_resampling_keeps_all_that_was_seen(mode: str) -> None:
    rng = random.Random(mode)
    for seed in range(scaled(60)):
        env = iszoo.make("iso", mode=mode, observation="flat")
        env.reset(seed=seed)
        play(env, seed=seed, most=rng.randrange(15))
        params = GAME.params(env.options)
        seen = [env.observe(agent)["observation"] for agent in env.possible_agents]
        twin = env.clone()
        twin._rows[0] = resampled(env._rows[0], seed, params)
        twin._begin()
        for agent, observation in zip(env.possible_agents, seen, strict=True):
            assert np.array_equal(twin.observe(agent)["observation"], observation)
        assert twin.legal_actions() == env.legal_actions()
        fields, before = (each._rows.view(GAME.row)[0, 0] for each in (twin, env))
        for name in GAME.row.names or ():
            if name not in ("generator", "slot_number", "pile"):
                assert np.array_equal(fields[name], before[name]), name
        # The number behind each slot fits its face, and no number is in two places or was shown.
        slots, pile = hidden(twin._rows[0])
        for number, face in zip(slots, fields["slot_face"].tolist(), strict=True):
            assert number == 0 or looks(params[iso.FACES + number]) == looks(face)
        numbers = [number for number in (*slots, *pile) if number] + iso_text.numbers(int(fields["shown"]))
        assert len(numbers) == len(set(numbers)) == 18 - fields["placed"]
        play(twin, seed=seed)  # and it can be played to its end


@pytest.mark.parametrize("mode", iso.PLAYERS)
def test_positions_that_look_the_same_are_resampled_to_the_same(mode: str) -> None:
    for seed in range(scaled(60)):
        env = iszoo.make("iso", mode=mode)
        env.reset(seed=seed)
        play(env, seed=seed, most=seed % 14)
        params = GAME.params(env.options)
        for player in range(len(env.possible_agents)):
            expected = resampled(env._rows[0], 7, params, player)
            for other in range(5):
                look_alike = resampled(env._rows[0], other, params)
                assert np.array_equal(resampled(look_alike, 7, params, player), expected)


def test_the_same_game_with_twins_exchanged_is_resampled_to_the_same() -> None:
    """Tiles with twins, unlike those on display, stand for one another until their objective is shown."""
    twins = [(1, 13), (3, 15), (5, 17), (8, 14), (10, 16), (12, 18)]
    rng = random.Random(0)
    differed = 0
    for seed in range(scaled(100)):
        deal = [2, 4, 6, *rng.sample([n for n in range(1, 19) if n not in (2, 4, 6)], 15)]
        exchange = {n: n for n in range(1, 19)}
        for one, other in twins:
            if rng.random() < 0.5:
                exchange[one], exchange[other] = other, one
        length = rng.randrange(8)
        look_alike = [exchange[n] for n in deal]
        below = 3 + 3 + length  # what nobody has seen yet
        look_alike[below:] = rng.sample(look_alike[below:], len(deal) - below)
        rows = []
        for order in (deal, look_alike):
            env = iszoo.make("iso")
            env.reset(seed=1, options={"deal": order})
            for ply in range(length):
                env.step(random.Random(100 * seed + ply).choice(env.legal_actions()))
            rows.append(env._rows[0])
        if not any(row.view(GAME.row)[0]["won"].any() for row in rows):  # else the display was refilled
            params = GAME.params({})
            assert np.array_equal(resampled(rows[0], 3, params), resampled(rows[1], 3, params))
            differed += hidden(rows[0]) != hidden(rows[1])
    assert differed > 0


@pytest.mark.parametrize(
    ("mode", "most", "seed"),
    [("competitive", 10, 1), ("competitive", 12, 2), ("solo", 10, 3), ("area_control", 9, 4)],
)
def test_every_world_turns_up_equally_often(mode: str, most: int, seed: int) -> None:
    env = iszoo.make("iso", mode=mode)
    env.reset(seed=seed)
    play(env, seed=seed, most=most)
    params = GAME.params(env.options)
    possible = worlds(env._rows[0], params)
    assert hidden(env._rows[0]) in possible
    assert len(possible) == len(set(possible)) > 3
    mean = 400
    counts = Counter(hidden(resampled(env._rows[0], s, params)) for s in range(scaled(mean * len(possible))))
    assert set(counts) <= set(possible)
    if JIT:
        assert set(counts) == set(possible)
        # Chi-squared: as many degrees of freedom as worlds, less one; this is some eight standard deviations.
        spread = sum((count - mean) ** 2 for count in counts.values()) / mean
        assert spread < len(possible) + 12 * len(possible) ** 0.5


def test_resampling_depends_on_the_seed_alone_and_sets_the_generator() -> None:
    env = iszoo.make("iso")
    env.reset(seed=0)
    params = GAME.params({})
    one, other = resampled(env._rows[0], 1, params), resampled(env._rows[0], 2, params)
    assert hidden(one)[1] != hidden(other)[1]
    env._rows[0, 0] += 1
    assert np.array_equal(resampled(env._rows[0], 1, params), one)


# --- Notation and text ---


def test_notation() -> None:
    assert GAME.action_to_string(1 * 768 + 2 * 256 + 16 * 8 + 9) == "1.2@8,9"
    names = [GAME.action_to_string(a) for a in range(GAME.num_actions)]
    assert len(set(names)) == GAME.num_actions
    for a in (0, 136, 767, 768, 2303):
        assert GAME.string_to_action(names[a]) == a
    for text in ("", "3.0@0,0", "0.3@0,0", "0.0@16,0", "0.0@00,0", "0.0@0,0 ", "8,9"):
        with pytest.raises(ValueError, match=r"slot\.rotation@x,y"):
            GAME.string_to_action(text)


TEXT = """\
       8,10      9,10
  7,9     [BoP#Y.]    9,9
       7,8      P#YoB.     9,8
            7,7       8,7

walls on x, y, z: P pink, Y yellow, B blue; # black, o white, . void
slot 0: PoY#B.
slot 1: PoY.B#
slot 2: P.Y#Bo on 10 more
display: 16 (conditioned of 4, 4*), 17 (conditioned of 4, 4*), 18 (conditioned of 4, 5*)
player_0 (black): 0*
player_1 (white): 0*
player_0 (black) to move"""


def test_text() -> None:
    env = iszoo.make("iso", render_mode="ansi")
    env.reset(options={"deal": QUIET_DEAL})
    env.step(action(0, 0, (8, 8)))
    env.step(action(1, 1, (8, 9)))
    assert env.render() == TEXT
    play(env)
    assert (env.render() or "").splitlines()[-1] == "the game is over"


@pytest.mark.parametrize("step", SIX)
def test_the_text_of_a_table_across_the_edge(step: tuple[int, int]) -> None:
    env = iszoo.make("iso", render_mode="ansi")
    env.reset(options={"deal": QUIET_DEAL})
    for k in range(15):
        slots = env._rows.view(GAME.row)[0, 0]["slot_number"]
        slot = next(slot for slot in (2, 0, 1) if slots[slot])
        env.step(action(slot, 0, (8 + k * step[0], 8 + k * step[1])))
        board = (env.render() or "").split("\n\n")[0]
        assert board.count("P") == board.count("Y") == board.count("B") == k + 1
        rows = 1 + k * abs(step[1]) + (2 if k < 14 else 0)
        assert len(board.splitlines()) == rows


def test_bad_deals() -> None:
    env = iszoo.make("iso")
    for deal, match in [
        (range(1, 18), "18 tile numbers, not 17"),
        ([1, *range(1, 18)], "tile 18 is missing"),
        ([*range(1, 18), 19], "tile 18 is missing"),
    ]:
        with pytest.raises(ValueError, match=match):
            env.reset(options={"deal": list(deal)})
    area = iszoo.make("iso", mode="area_control")
    with pytest.raises(ValueError, match="14 tile numbers, not 18"):
        area.reset(options={"deal": list(range(1, 19))})
    with pytest.raises(ValueError, match="tile 14 is missing"):
        area.reset(options={"deal": [*range(1, 14), 15]})


def test_an_occupied_or_distant_cell_is_illegal() -> None:
    env = iszoo.make("iso")
    env.reset(seed=0)
    env.step(action(0, 0, (8, 8)))
    for cell in [(8, 8), (7, 9), (9, 7), (0, 0)]:
        with pytest.raises(IllegalActionError):
            env.step(action(0, 0, cell))
