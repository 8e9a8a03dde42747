"""Records: what is written is read and played again, and whatever is wrong is named by line and field."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import iszoo
from iszoo import record
from iszoo.envs.game import Game
from tests.golden_records import at_random, path_of
from tests.helpers import GAMES, ROOT, Setting, scaled

GOLDEN = [
    pytest.param(line, id=f"{game.name}-{number}")
    for game in GAMES
    for number, line in enumerate(path_of(game).read_text(encoding="utf-8").splitlines(), 1)
]


def one_of(name: str = "isis_osiris") -> record.Record:
    """A short golden record."""
    return min(record.read(path_of(iszoo.REGISTRY[name])), key=lambda found: len(found.actions))


# --- Golden records ---


@pytest.mark.parametrize("line", GOLDEN)
def test_golden_records_are_played_today_as_then(line: str) -> None:
    found = record.loads(line)
    record.verify(found)
    assert record.dumps(found) == line
    again = record.make(
        record.game_of(found), seed=found.seed, actions=found.actions, agents=found.agents, options=found.options,
        deal=found.deal, offended=found.offender is not None,
    )  # fmt: skip
    assert dataclasses.replace(again, iszoo=found.iszoo) == found


@pytest.mark.parametrize("line", GOLDEN)
def test_the_oracle_plays_golden_records_too(line: str) -> None:
    found = record.loads(line)
    positions = record.replay(found)
    setting = Setting(record.game_of(found), {k: v for k, v in found.options.items() if v is not None})
    oracle = setting.oracle(setting.deal_in(positions[0].row))
    for position in positions:
        offended = position.player < 0 and found.offender is not None
        assert position.legal.tolist() == ([] if offended else oracle.legal_actions())
        assert list(position.scores) == list(oracle.scores())
        if position.action is not None:
            oracle.step(position.action)


def test_golden_records_show_every_option_and_ending(game: Game) -> None:
    found = list(record.read(path_of(game)))
    for name, option in game.options.items():
        # None stands for the number of players that the mode asks for
        missing = set(option.choices) - {each.options[name] for each in found} - {None}
        assert not missing, (name, missing)
    assert {each.over for each in found} == {True, False}
    assert any(each.offender is not None for each in found)
    assert game.deal is None or {each.deal is None for each in found} == {True, False}


# --- Making and replaying ---


def test_positions_are_those_of_the_environment(setting: Setting) -> None:
    made = at_random(setting, 3)
    env = setting.env()
    env.reset(seed=3, options={"deal": list(made.deal) if made.deal else None})
    positions = record.replay(made)
    assert [position.action for position in positions] == [*made.actions, None]
    for ply, position in enumerate(positions):
        assert position.ply == ply
        assert position.legal.tolist() == env.legal_actions()
        assert list(position.scores) == env.scores()
        assert position.player == (env.possible_agents.index(env.agent_selection) if env.legal_actions() else -1)
        if position.action is not None:
            env.step(position.action)
    assert list(made.returns) == list(env.rewards.values())
    assert made.over
    assert made.moves == tuple(map(setting.game.action_to_string, made.actions))


def test_a_game_that_goes_on_and_one_that_was_ended_by_an_illegal_action(plain: Setting) -> None:
    running = at_random(plain, 1, most=5)
    assert not running.over
    assert running.offender is None
    assert set(running.returns) == {0.0}
    ended = at_random(plain, 1, most=5, offended=True)
    assert ended.over
    mover = record.replay(running)[-1].player
    assert ended.offender == mover
    assert ended.returns[mover] == -1.0
    assert sum(ended.returns) == pytest.approx(0)
    assert record.replay(ended)[-1].legal.tolist() == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"game": "chess"}, "'isis_osiris'"),
        ({"seed": -1}, "whole number from 0"),
        ({"options": {"memory": "maybe"}}, "'open', 'hidden'"),
        ({"deal": [1, 2]}, "22 tile values"),
        ({"agents": ["a", "b", "c"]}, "3 agents for 2 players"),
        ({"agents": ["a", ""]}, "1 to 200 characters"),
        ({"actions": [99]}, r"actions\[0\]: 99 is out of range"),
        ({"actions": [3, 3]}, r"actions\[1\]: 3 \(d1\) is not legal"),
    ],
)
def test_what_can_not_be_made(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        record.make(**{"game": "isis_osiris", "seed": 0, "actions": [], **arguments})


def test_actions_after_the_end() -> None:
    whole = at_random(Setting(iszoo.REGISTRY["isaac"], {}), 0)
    with pytest.raises(ValueError, match=rf"actions\[{len(whole.actions)}\]: the game is over after"):
        record.make("isaac", seed=0, actions=[*whole.actions, 0])
    with pytest.raises(ValueError, match="ended without an illegal action"):
        record.make("isaac", seed=0, actions=whole.actions, offended=True)


def test_a_position_is_a_copy() -> None:
    first, second, *_ = record.replay(one_of())
    first.row[:] = -1
    assert not np.array_equal(first.row, second.row)
    assert record.replay(one_of())[0].row[0] != -1


def test_tables_laid_out_otherwise_are_no_fault_but_are_named_beside_one() -> None:
    found = dataclasses.replace(one_of(), rules="0123456789abcdef")
    record.verify(found)
    with pytest.raises(record.RecordError, match=r"result\.scores: .*rules: '0123456789abcdef', here"):
        record.verify(dataclasses.replace(found, scores=(99, 99)))


def test_the_public_name() -> None:
    import iszoo.record as public

    assert public.make is record.make
    assert iszoo.record is public
    assert all(hasattr(public, name) for name in public.__all__)


def test_options_of_a_file_of_tiles_are_played_from_that_file(tmp_path: Path) -> None:
    """And where it is another one now, the record says so."""
    path = tmp_path / "tiles.toml"
    text = (ROOT / "envs" / "iso_tiles.toml").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    made = at_random(Setting(iszoo.REGISTRY["iso"], {"tiles": str(path)}), 0)
    record.verify(made)
    path.unlink()
    with pytest.raises(record.RecordError, match=r"options: tiles: .* can't be read"):
        record.verify(made)


# --- One line: each field that is wrong is named ---

FIELDS = list(json.loads(record.dumps(one_of())))
WRONG = {
    "iszoo_record": 2,
    "game": "chess_v0",
    "options": {"colour": "red"},
    "seed": -1,
    "deal": [1, 2, 3],
    "agents": ["only one"],
    "actions": [99],
    "moves": [],
    "rules": 7,
    "trace": "0" * 16,
    "iszoo": None,
}
WRONG_RESULT = {"over": False, "offender": 0, "returns": [1.0, 1.0], "scores": [0, 99]}


def test_the_fields_are_all_looked_at() -> None:
    assert set(FIELDS) == {*WRONG, "result", "checksum"}


@pytest.mark.parametrize("name", FIELDS)
def test_a_missing_field(name: str) -> None:
    body = json.loads(record.dumps(one_of()))
    del body[name]
    with pytest.raises(record.RecordError, match=rf"^line 4: {name}: missing"):
        record.loads(json.dumps(body), "line 4")


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_field(name: str) -> None:
    whole = next(found for found in record.read(path_of(iszoo.REGISTRY["isis_osiris"])) if found.over)
    line = resealed(json.loads(record.dumps(whole)) | {name: WRONG[name]})
    with pytest.raises(record.RecordError, match=rf"^line 4: {name}"):
        record.verify(record.loads(line, "line 4"))


@pytest.mark.parametrize("name", WRONG_RESULT)
def test_a_wrong_field_of_the_result(name: str) -> None:
    whole = next(found for found in record.read(path_of(iszoo.REGISTRY["isis_osiris"])) if found.over)
    body = json.loads(record.dumps(whole))
    body["result"][name] = WRONG_RESULT[name]
    with pytest.raises(record.RecordError, match=rf"^line 4: result\.{name}: "):
        record.verify(record.loads(resealed(body), "line 4"))


def resealed(body: dict[str, Any]) -> str:
    """The line of an object, with the checksum that it should have."""
    sealed = {name: value for name, value in body.items() if name != "checksum"}
    wanted = json.dumps({**sealed, "checksum": ""})
    with pytest.raises(record.RecordError) as caught:
        record.loads(wanted)
    found = str(caught.value)
    if "but the line gives '" not in found:  # it is refused before the checksum is looked at
        return wanted
    return json.dumps({**sealed, "checksum": found.partition("but the line gives '")[2][:16]})


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("seed", True, "no whole number"),
        ("seed", 1.0, "no whole number"),
        ("seed", 2**63, "no whole number"),
        ("actions", [3, "4"], "'4' is no whole number"),
        ("actions", {"0": 3}, "is no list"),
        ("moves", [["a1"]], "is no text"),
        ("agents", ["a" * 201, "b"], "1 to 200 characters"),
        ("result", [], "is no object"),
        ("result", {"over": 1, "offender": None, "returns": [], "scores": []}, "neither true nor false"),
        ("result", {"over": True}, "missing"),
        ("options", [], "is no object"),
        ("iszoo_record", True, "reads format 1"),
        ("iszoo_record", "1", "reads format 1"),
        ("winner", "me", "unknown; the fields are iszoo_record, game"),
    ],
)
def test_a_field_of_another_kind(name: str, value: Any, problem: str) -> None:
    body = json.loads(record.dumps(one_of())) | {name: value}
    with pytest.raises(record.RecordError, match=rf"^line 4: {name}.*{problem}"):
        record.loads(json.dumps(body), "line 4")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "iszoo_record: cut off"),
        ("hello", "iszoo_record: damaged"),
        ("[1, 2]", "iszoo_record: missing; this is no record"),
        ('{"game": "isaac_v0"}', "iszoo_record: missing; this is no record"),
        ('{"iszoo_record": 1, "seed": NaN}', "NaN is not JSON"),
        ('{"iszoo_record": 1, "seed": 1, "seed": 2}', "seed: there twice"),
        (f'{{"iszoo_record": 1, "seed": {"9" * 5000}}}', "damaged"),
        ("[" * 100_000, ""),
        (b'{"iszoo_record": 1, "agents": ["\xff"]}', "agents: damaged: no UTF-8"),
        ('{"iszoo_record": 1, "seed": 1e999}', "seed: inf is no whole number|game: missing"),
    ],
)
def test_lines_of_something_else(line: str | bytes, message: str) -> None:
    with pytest.raises(record.RecordError, match=f"^line 4: .*({message})"):
        record.loads(line, "line 4")


def test_a_line_that_was_cut_off_names_the_field() -> None:
    line = record.dumps(one_of())
    for end in range(len(line)):
        with pytest.raises(record.RecordError, match=r"^line 4: ") as caught:
            record.loads(line[:end], "line 4")
        name, _, problem = str(caught.value).removeprefix("line 4: ").partition(": ")
        assert name in {*FIELDS, *WRONG_RESULT, *one_of().options}, (end, name)
        assert problem.startswith("cut off"), (end, problem)


@hypothesis.given(st.data())
@hypothesis.settings(max_examples=scaled(150, least=20))
def test_a_changed_byte_never_gives_another_game(data: Any) -> None:
    line = record.dumps(one_of()).encode()
    at = data.draw(st.integers(0, len(line) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != line[at]))
    try:
        found = record.loads(line[:at] + bytes([byte]) + line[at + 1 :])
    except record.RecordError:
        return
    assert found == one_of()  # a space that became a tab


def test_a_change_that_fits_is_found_by_the_checksum() -> None:
    line = record.dumps(one_of())
    body = json.loads(line)
    body["agents"][0] = "somebody else"
    with pytest.raises(record.RecordError, match=r"^record: checksum: .* changed after it was written"):
        record.loads(json.dumps(body))
