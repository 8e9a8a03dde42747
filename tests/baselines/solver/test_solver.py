"""The solver: against plain recursion, with and without its table, in positions that can be worked out by hand."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo import record
from iszoo.baselines.solver import Solution, Solver, Unsolved, solve_record, tree
from iszoo.baselines.solver.positions import load, played
from iszoo.benchmarks.yardstick.connect_four import GAME as CONNECT_FOUR
from iszoo.envs import isaac
from iszoo.envs.aec import GameEnv
from iszoo.envs.game import Game
from tests.baselines.solver import brute_force
from tests.baselines.solver.brute_force import Played
from tests.helpers import GAMES, Setting

ISAAC, ISIS_OSIRIS, ISO = (iszoo.REGISTRY[name] for name in ("isaac", "isis_osiris", "iso"))


def fractions(solution: Solution) -> dict[int, tuple[Fraction, Fraction]]:
    return {
        int(action): (Fraction(outcome, solution.orders), Fraction(margin, solution.orders))
        for action, (outcome, margin) in zip(solution.actions, solution.exact, strict=True)
    }


def best_of(values: dict[int, Any], player: int, common: bool = False) -> tuple[int, ...]:
    best = max(values.values()) if player == 0 or common else min(values.values())
    return tuple(action for action, value in values.items() if value == best)


def endings(setting: Setting, left: int, games: int, seed: int = 0) -> list[tuple[GameEnv, Any]]:
    """The last positions of random games with so much left to play, each with the oracle of the same game."""
    found: list[tuple[GameEnv, Any]] = []
    solver = Solver(setting.game, setting.options)
    rng = random.Random(seed)
    while len(found) < games:
        env = setting.started(rng.randrange(1 << 20))
        oracle = setting.oracle(setting.deal_in(env._rows[0]))
        there = None
        while legal := env.legal_actions():
            if solver.left(env._rows[0]) == left:
                there = env.clone(), oracle.copy()
            action = rng.choice(legal)
            env.step(action)
            oracle.step(action)
        if there is not None:
            found.append(there)
    return found


ORACLE, ENVIRONMENT = 300, 3000  # positions that plain recursion may visit, in the one and in the other
SMALL = [
    (Setting(ISAAC, {}), 2, 3, 1000),
    (Setting(ISAAC, {}), 1, 2, ORACLE),
    (Setting(ISAAC, {"pieces": "table", "tiebreak": "shared"}), 2, 2, 1000),
    (Setting(ISIS_OSIRIS, {}), 2, 6, ORACLE),
    (Setting(ISIS_OSIRIS, {"variant": "shared_stock"}), 3, 4, ORACLE),
    (Setting(ISO, {}), 1, 2, ENVIRONMENT),
    (Setting(ISO, {}), 2, 1, 4 * ENVIRONMENT),
    (Setting(ISO, {"mode": "area_control"}), 1, 2, ENVIRONMENT),
    (Setting(ISO, {"mode": "coop"}), 1, 2, ENVIRONMENT),
    (Setting(ISO, {"mode": "solo"}), 1, 2, ENVIRONMENT),
]


@pytest.mark.parametrize(("setting", "left", "games", "most"), SMALL, ids=repr)
def test_values_are_those_of_plain_recursion(setting: Setting, left: int, games: int, most: int) -> None:
    solver, plain = Solver(setting.game, setting.options), Solver(setting.game, setting.options, entries=0)
    common = setting.options.get("mode") in ("coop", "solo")
    compared = 0
    for env, oracle in endings(setting, left, 4 * games):
        row = env._rows[0].copy()
        solution = solver.solve(env._rows[0])
        assert (env._rows[0] == row).all()
        again = plain.solve(env._rows[0])
        assert (again.exact, again.best) == (solution.exact, solution.best)
        # The margin is of opponents, or everybody's.
        seats = (1, 1 if common else -1)[: solver.num_players]
        assert (solution.margin == solution.margin[:, :1] * seats).all()
        if again.nodes > most or compared == games:
            continue
        expected = brute_force.values(oracle if most == ORACLE else Played(env), common)
        assert fractions(solution) == expected
        assert solution.best == best_of(expected, solution.player, common)
        compared += 1
    assert compared == games


@pytest.mark.parametrize(
    ("game", "left"), [(ISAAC, 4), (ISIS_OSIRIS, 4), (ISO, 2)], ids=("isaac", "isis_osiris", "iso")
)
def test_neither_the_table_nor_the_order_of_actions_changes_a_value(game: Game, left: int) -> None:
    solvers = [
        Solver(game),
        Solver(game, entries=0),
        Solver(game, entries=2),  # whatever is found there was just written
        Solver(game, entries=1 << 10, order="expert"),
        Solver(game, order=""),
    ]
    compared = 0
    for number in range(8):
        rows = [row for _, _, row in played(game, 5, number) if solvers[0].left(row) == left]
        if rows:
            solutions = [solver.solve(rows[0]) for solver in solvers]
            assert len({(solution.exact, solution.best, solution.orders) for solution in solutions}) == 1
            assert solutions[0].nodes <= solutions[1].nodes
            compared += 1
    assert compared >= 2


def test_the_hash_is_not_trusted() -> None:
    keys = np.array([[1, 2, 0], [1, 3, 0], [1, 2, 0]])
    entries = np.zeros((2, tree.KEY_AT + 2), np.int64)  # every key has the same two places
    assert tree._find(entries, keys, 0, 1, 1) == -1
    tree._store(entries, keys, 0, 1, 70, tree.EXACT, 5, 10)
    assert entries[tree._find(entries, keys, 2, 1, 1), tree.VALUE] == 70
    assert tree._find(entries, keys, 1, 1, 1) == -1
    assert tree._find(entries, keys, 2, 1, 2) == -1  # of another solve
    tree._store(entries, keys, 1, 1, 90, tree.EXACT, 5, 10)
    assert [entries[tree._find(entries, keys, k, 1, 1), tree.VALUE] for k in range(3)] == [70, 90, 70]


# --- By hand ---


def scoring(pieces: list[tuple[int, int]], scores: tuple[int, int], player: int) -> Any:
    """A position of Isaac's scoring phase: pieces as (owner, slot in the owner's frame)."""
    rows = np.zeros((1, isaac.ROW_SIZE), np.int64)
    for owner, slot in pieces:
        isaac._flip(rows, 0, owner, slot, ISAAC.params({}))
    rows[0, isaac.PHASE], rows[0, isaac.PLAYER] = isaac.REMOVE, player
    rows[0, isaac.SCORE : isaac.SCORE + 2] = scores
    return rows[0]


def slot(value: int, column: bool, cell: int) -> int:
    return 200 * isaac.VALUES.index(value) + 100 * column + cell


def test_isaac_a_win_that_a_single_point_decides() -> None:
    # Dark's piece of value 3 lies along the row 20-24, Light's of value 1 crosses it from (Dark's) 18 to 38: it gains
    # 3. Light's piece has nothing left on its column afterwards.
    row = scoring([(0, slot(3, False, 20)), (1, slot(1, True, 99 - 38))], (43, 45), 0)
    solver = Solver(ISAAC)
    solution = solver.solve(row)
    assert [ISAAC.action_to_string(action) for action in solution.best] == ["3r20"]
    assert [value.tolist() for value in solution.value] == [[1, -1], [1, -1]]
    rows = row[None].copy()
    ISAAC.kernels.step(rows, 0, solution.best[0], solver.params)
    targets = solver.solve(rows[0])
    named = {ISAAC.action_to_string(int(a)): v for a, v in zip(targets.actions, targets.exact, strict=True)}
    # At 45 all is equal, and Dark wins (tiebreak="dark"): but 46 is a point more.
    assert named == {"43": (-1, -2), "44": (-1, -1), "45": (1, 0), "46": (1, 1)}
    assert [ISAAC.action_to_string(action) for action in targets.best] == ["46"]
    assert targets.loss(1043) == (2, 3)
    assert targets.loss(1045) == (0, 1)
    assert [targets.keeps(a) for a in (1043, 1044, 1045, 1046)] == [False, False, True, True]
    with pytest.raises(ValueError, match="1047 is not legal"):
        targets.loss(1047)


def test_isaac_hundred_is_forced() -> None:
    # Both counters stand on row 6, at 60 and (Light's 31) 68; Light's pieces on columns 8 and 9 cross it: 2 x 6 x 4
    # is 48, and 60 + 48 is enough.
    pieces = [(0, slot(6, False, 61)), (1, slot(1, True, 99 - 68)), (1, slot(1, True, 99 - 69))]
    row = scoring(pieces, (60, 31), 0)
    solver = Solver(ISAAC)
    solution = solver.solve(row)
    assert solution.exact == ((1, 69),)
    rows = row[None].copy()
    ISAAC.kernels.step(rows, 0, solution.best[0], solver.params)
    targets = solver.solve(rows[0])
    assert [ISAAC.action_to_string(action) for action in targets.best] == ["100"]
    assert targets.exact == solver_free_values(rows[0])


def solver_free_values(row: Any) -> tuple[tuple[int, int], ...]:
    env = Setting(ISAAC, {}).started()
    env._rows[0] = row
    env._begin()
    found = brute_force.values(Played(env))
    return tuple((int(outcome), int(margin)) for outcome, margin in found.values())


def one_tile_to_come(seed: int) -> tuple[GameEnv, list[int]]:
    """Isis & Osiris with cell 34 free, which touches two stones of seat 0 and one of seat 1; seat 1 has tiles alone.

    Also the three tiles not seen yet.
    """
    deal = Setting(ISIS_OSIRIS, {}).random_deal(random.Random(seed))
    env = iszoo.make("isis_osiris").unwrapped
    env.reset(seed=0, options={"deal": deal})
    cells = [*range(34), 35]
    tiles = [10, 9]
    for k, cell in enumerate(cells):
        if tiles[k % 2]:
            tiles[k % 2] -= 1
            env.step(36)
        env.step(cell)
    assert env.legal_actions() == [36]
    return env, [deal[10], *deal[20:]]


def test_isis_osiris_an_expectation_by_hand() -> None:
    solver = Solver(ISIS_OSIRIS)
    undecided = 0
    for seed in range(40):
        env, unseen = one_tile_to_come(seed)
        lead = env.scores()[0] - env.scores()[1]
        # Beside 34 lie stones of seat 0 on 28 and 35, of seat 1 on 33: a tile counts once for seat 0.
        ends = [lead + value for value in unseen]
        solution = solver.solve(env._rows[0])
        assert solution.orders == 6
        assert solution.exact == ((2 * int(np.sign(ends).sum()), 2 * sum(ends)),)
        assert solution.value[0][0] == pytest.approx(np.sign(ends).mean())
        assert solution.value[1][1] == pytest.approx(-np.mean(ends))
        undecided += len(set(np.sign(ends))) > 1
    assert undecided >= 3


def test_isis_osiris_does_not_look_at_the_stock() -> None:
    solver = Solver(ISIS_OSIRIS)
    rows = [row for _, _, row in played(ISIS_OSIRIS, 3, 1) if solver.left(row) == 5]
    expected = solver.solve(rows[0]).exact
    for seed in range(5):
        other = rows[:1]
        other = np.stack(other)
        ISIS_OSIRIS.kernels.resample(other, 0, 0, seed, solver.params)
        assert solver.solve(other[0]).exact == expected


def test_a_game_without_an_entry_is_solved_by_its_rows() -> None:
    rng = random.Random(1)
    plies = 0
    while plies != 34:  # some games end before
        env = GameEnv(CONNECT_FOUR)
        env.reset(seed=0)
        plies = 0
        while plies < 34 and (legal := env.legal_actions()):
            env.step(rng.choice(legal))
            plies += 1
        plies -= not env.legal_actions()
    solver = Solver(CONNECT_FOUR)
    solution = solver.solve(env._rows[0], nodes=5_000_000)
    assert fractions(solution) == brute_force.values(Played(env))
    assert solution.nodes < Solver(CONNECT_FOUR, entries=0).solve(env._rows[0]).nodes


# --- What it refuses ---


def test_a_budget_that_is_used_up() -> None:
    solver = Solver(ISIS_OSIRIS)
    row = next(row for _, _, row in played(ISIS_OSIRIS, 2, 0) if solver.left(row) == 5)
    solution = solver.solve(row)
    with pytest.raises(Unsolved, match=r"not solved within 50 nodes"):
        solver.solve(row, nodes=50)
    assert solver.solve(row, nodes=solution.nodes).exact == solution.exact
    with pytest.raises(Unsolved):
        solver.solve(row, nodes=solution.nodes - 1)
    with pytest.raises(ValueError, match="nodes=0"):
        solver.solve(row, nodes=0)


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_what_is_too_large_or_over(game: Game) -> None:
    env = Setting(game, {}).started(1)
    with pytest.raises(Unsolved, match=r"scoring phase|tiles are unseen|within 1,000 nodes"):
        Solver(game).solve(env._rows[0], nodes=1000)
    while legal := env.legal_actions():
        env.step(legal[-1])
    with pytest.raises(ValueError, match="the game is over"):
        Solver(game).solve(env._rows[0])


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="3 players can't be solved"):
        Solver(ISO, {"num_players": 3})
    with pytest.raises(ValueError, match="entries=3"):
        Solver(ISO, entries=3)
    with pytest.raises(ValueError, match="order='nobody' is not allowed; iso has 'greedy', 'expert'"):
        Solver(ISO, order="nobody")


def test_a_record_is_solved_at_a_ply() -> None:
    deal, actions, row = list(played(ISIS_OSIRIS, 4, 0))[-4]
    found = record.make(ISIS_OSIRIS, seed=deal, actions=actions)
    assert solve_record(found, len(actions)).exact == Solver(ISIS_OSIRIS).solve(row).exact
    with pytest.raises(ValueError, match=f"ply {len(actions) + 1} is out of range"):
        solve_record(found, len(actions) + 1)


def test_published_positions_are_solved_alike() -> None:
    for game in GAMES:
        endgames = load(game.name)
        solver = Solver(game, endgames.options)
        easy = sorted(endgames.positions, key=lambda position: position.solution.nodes)
        for position in easy[:: len(easy) // 12][:8]:
            solution = solver.solve(position.row)
            published = position.solution
            assert (solution.exact, solution.best) == (published.exact, published.best)
            assert (solution.player, solution.orders) == (published.player, published.orders)
            assert len(solution.best) < len(solution.actions)
