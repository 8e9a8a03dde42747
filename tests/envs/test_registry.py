"""Every game of the registry is complete: code, oracle, counts, tests, page, and its names elsewhere."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import pettingzoo
import pytest

import iszoo
from iszoo.envs import registry
from iszoo.envs.game import Game
from tests.helpers import ROOT, Setting, batch_picture, oracle_module, picture, plies, settings_of

FILES = (
    "envs/{name}.py",
    "envs/{name}_v{version}.py",
    "docs/games/{name}.md",
    "tests/envs/test_{name}.py",
    "tests/oracle/{name}.py",
    "tests/oracle/test_{name}_oracle.py",
    "tests/perft/{name}.txt",
)


@pytest.mark.parametrize("file", FILES)
def test_a_game_has_its_files(game: Game, file: str) -> None:
    path = ROOT / file.format(name=game.name, version=game.version)
    assert len(path.read_text(encoding="utf-8").splitlines()) >= 5, f"{path} has hardly anything in it"


@pytest.mark.parametrize("file", [file for file in FILES if "test_" in file])
def test_files_of_tests_have_tests(game: Game, file: str) -> None:
    source = (ROOT / file.format(name=game.name)).read_text(encoding="utf-8")
    assert len(re.findall(r"^def test_", source, re.MULTILINE)) >= 5


def test_oracles_use_nothing_of_iszoo(game: Game) -> None:
    """An oracle that imported what it checks would confirm it."""
    source = (ROOT / "tests" / "oracle" / f"{game.name}.py").read_text(encoding="utf-8")
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    modules = [getattr(node, "module", None) or node.names[0].name for node in imports]
    assert "__future__" in modules
    assert not {module.partition(".")[0] for module in modules} & {"iszoo", "envs", "numpy", "numba"}
    assert {"Oracle", "random_deal", "deal_in"} <= vars(oracle_module(game)).keys()


# --- What a game says of itself ---


def test_the_fact_sheet(game: Game) -> None:
    assert game.name == game.name.lower() == game.name.strip("_")
    assert game.id == f"{game.name}_v{game.version}"
    assert all([game.title, game.gym_name, game.credits, game.options])
    assert all(option.about for option in game.options.values())
    assert (game.deal is not None) == bool(game.deal_about)
    for names in (game.planes, game.features):
        assert len(set(names)) == len(names)
    settings = settings_of(game)
    assert {len(setting.env().possible_agents) for setting in settings} == set(game.players)


def test_groups_name_every_action(game: Game) -> None:
    named = [id for ids, _ in game.action_groups for id in range(*bounds_of(ids))]
    assert named == list(range(game.num_actions))


def bounds_of(ids: str) -> tuple[int, int]:
    """First and after last of "0..35" or "36"."""
    first, _, last = ids.partition("..")
    return int(first), int(last or first) + 1


def test_no_game_is_longer_than_it_says(setting: Setting) -> None:
    vec = setting.vec(200, seed=0, autoreset="disabled")
    vec.random_steps(setting.game.max_game_length)
    assert (vec.player == -1).all()


# --- Its names elsewhere ---


def made_by_module(game: Game, name: str) -> Callable[..., Any]:
    """`env` or `raw_env` of the game's module."""
    maker: Callable[..., Any] = getattr(importlib.import_module(f"iszoo.envs.{game.id}"), name)
    return maker


def made_by_pettingzoo(game: Game, **options: Any) -> Any:
    """From PettingZoo's registry, which it has from 1.27 on; before that, by the module that it documents."""
    if not hasattr(pettingzoo, "make"):
        return made_by_module(game, "env")(**options)
    return pettingzoo.make("aec", f"iszoo/{game.name}-v{game.version}", **options)


def test_every_way_to_make_it_makes_the_same(setting: Setting) -> None:
    game = setting.game
    made = [
        iszoo.make(game.name, **setting.options),
        made_by_module(game, "env")(**setting.options),
        made_by_module(game, "raw_env")(**setting.options),
        made_by_pettingzoo(game, **setting.options).unwrapped,
    ]
    for env in made:
        assert env.metadata["name"] == game.id
        env.reset(seed=4)
    for _ in plies(*made):
        assert len({picture(env) for env in made}) == 1


def test_it_is_in_gymnasiums_registry(game: Game) -> None:
    spec = gymnasium.spec(f"iszoo/{game.gym_name}-v{game.version}")
    assert spec.kwargs["game"] == game.name


# --- Games from outside ---


@pytest.fixture
def toy(game: Game) -> Iterator[Game]:
    """A game from outside the package: the rules of another under a name of its own."""
    yield dataclasses.replace(game, name="toy", version=3)
    registry._games.pop("toy", None)


def test_a_game_from_outside(game: Game, toy: Game) -> None:
    with pytest.raises(ValueError, match="there is no game 'toy'"):
        iszoo.make("toy")
    iszoo.register(toy)
    iszoo.register(toy)  # the same again is no other
    assert iszoo.REGISTRY["toy"] is toy
    env, known = Setting(toy, {}).started(1), Setting(game, {}).started(1)
    for _ in plies(env, known):
        assert env.state().tolist() == known.state().tolist()
    assert env.rewards == known.rewards
    assert picture(pickle.loads(pickle.dumps(env))) == picture(env)
    assert env.metadata["name"] == "toy_v3"
    with pytest.raises(ValueError, match=f"a state of {game.id}, not of toy_v3"):
        env.set_state(known.get_state())
    vec, known_vec = iszoo.make_vec("toy", 3, seed=1), iszoo.make_vec(game.name, 3, seed=1)
    vec.random_steps(50)
    known_vec.random_steps(50)
    assert batch_picture(vec) == batch_picture(known_vec)


def constantly(parameters: list[int]) -> Callable[[Any], list[int]]:
    """A `pack` that gives these parameters whatever the options."""
    return lambda options: parameters


def test_what_cannot_be_registered(game: Game, toy: Game) -> None:
    iszoo.register(toy)
    for taken in (game, toy):
        with pytest.raises(ValueError, match=f"a game '{taken.name}' is registered already"):
            iszoo.register(dataclasses.replace(taken))
    for parameters in ([], [99, 0], [game.players[0]]):
        other = dataclasses.replace(game, name="other", pack=constantly(parameters))
        with pytest.raises(ValueError, match="other"):
            iszoo.register(other)
    assert "other" not in iszoo.REGISTRY
    with pytest.raises(TypeError):
        iszoo.REGISTRY["other"] = game  # type: ignore[index]


def test_games_that_contradict_themselves(game: Game) -> None:
    with pytest.raises(ValueError, match="plane names"):
        dataclasses.replace(game, planes=game.planes[:-1])
    with pytest.raises(ValueError, match="ROW_HEAD"):
        dataclasses.replace(game, row=game.row[list(game.row.names or ())[1:]])
    with pytest.raises(dataclasses.FrozenInstanceError):
        game.version = 7  # type: ignore[misc]
