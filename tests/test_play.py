"""Play in the terminal: whole games, what can be typed, and that nothing that was played is lost."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import iszoo
from iszoo import record
from iszoo.__main__ import main
from iszoo.baselines.agents import agent_names, make_agent
from iszoo.envs.game import Game
from iszoo.play import Terminal, in_columns, in_groups, notes_on, seats_of
from iszoo.session import Session
from tests.helpers import ROOT, Setting

Told = list[str]


def played(game: Game, lines: list[str]) -> tuple[Terminal, bool, str]:
    """A game against greedy with what a person types: the terminal, whether it came to the end, what it showed."""
    told: Told = []
    settled, agents = seats_of(game, {}, ["greedy"], 0)
    typed = iter(lines)

    def ask(prompt: str) -> str:
        told.append(prompt)
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    terminal = Terminal(Session(game, settled, 0), agents, ask, told.append)
    return terminal, terminal.run(), "\n".join(told)


def test_a_whole_game(setting: Setting) -> None:
    players = len(setting.env().possible_agents)
    settled, agents = seats_of(setting.game, setting.options, ["random"] if players > 1 else [], players - 1)
    told: Told = []
    terminal = Terminal(Session(setting.game, settled, 5), agents, lambda prompt: "#1", told.append)
    assert terminal.run()
    session = terminal.session
    assert session.over
    for score in session.scores:
        assert str(score) in told[-1]
    assert ("won" in told[-1]) == (players > 1 and len({*session.returns}) > 1)
    if settled.get("memory") == "hidden":  # the points would tell what must be remembered
        assert not any("(+" in line or "(-" in line for line in told)


def test_moves_by_notation_by_number_and_by_beginning() -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    terminal, ended, shown = played(game, ["a1", "r", "#1", "zz", "b", "#99", "b9"])
    assert not ended
    own = [a for a, seat in zip(terminal.session.actions, terminal.session.movers, strict=True) if seat == 0]
    assert own[0] == game.string_to_action("a1")
    assert own[1] == game.string_to_action("reveal")
    assert len(own) == 3
    assert "'zz' is no legal move here" in shown
    assert "legal moves begin with b:" in shown
    assert "The moves are #1 to #" in shown
    assert "The input ended." in shown


def test_the_beginning_of_one_move_is_that_move_and_of_many_is_a_list() -> None:
    terminal, _, shown = played(iszoo.REGISTRY["isaac"], ["3c", "3c4", "3c41", "quit"])
    assert terminal.session.moves[0] == "3c41"
    assert "60 legal moves begin with 3c:" in shown
    assert "10 legal moves begin with 3c4:" in shown


def test_six_hundred_moves_are_listed_in_groups() -> None:
    _, _, shown = played(iszoo.REGISTRY["isaac"], ["quit"])
    assert "600 legal moves:" in shown
    assert "1r... 80" in shown
    assert len(shown.splitlines()) < 40


def test_moves_are_annotated_with_what_they_do() -> None:
    """Every note of a whole game against the points before and after."""
    for game in iszoo.REGISTRY.values():
        session = Session(game, {}, seed=2)
        noted = 0
        while not session.over:
            notes, before, mover = notes_on(session), session.scores, session.player
            k = max(range(len(notes)), key=lambda k: len(notes[k]))
            session.play(session.legal[k])
            change = session.scores[mover] - before[mover]
            if change:
                assert notes[k].startswith(f"({change:+d}")
                noted += 1
            elif session.scores == before and game.name == "isaac":
                gain = int(session.row.view(game.row)[0]["gain"])
                assert notes[k] == (f"(gain {gain})" if gain else "")
        assert noted > 1, game.name


def test_taking_back_and_hints() -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    terminal, _, shown = played(
        game, ["undo", "a1", "b", "hint", "hint random", "hint stockfish", "undo", "b2", "quit"]
    )
    assert "There is no move of yours to take back." in shown
    assert "greedy would play " in shown
    assert "random would play " in shown
    assert f"its agents are {', '.join(agent_names(game))}" in shown
    assert terminal.session.moves[0] == "b2"
    assert "a1" not in terminal.session.moves[:1]


def test_help_board_and_rules() -> None:
    game = iszoo.REGISTRY["iso"]
    _, _, shown = played(game, ["help", "board", "rules", "moves", "moves 1", "moves xyz", "", "q"])
    assert "takes your last move back" in shown
    assert all(about in shown for _, about in game.action_groups)
    assert shown.count(game.text(Session(game, {}, 0).row, game.resolve({}))) == 2
    assert "A tile's block side shows a cube" in shown
    assert "No legal move begins with 'xyz'." in shown


def test_two_people_at_one_keyboard() -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    settled, agents = seats_of(game, {}, ["human"], 0)
    assert agents == [None, None]
    terminal = Terminal(Session(game, settled, 0), agents, lambda prompt: "#1", lambda text: None)
    assert terminal.run()
    assert terminal.names == ["human", "human"]


@pytest.mark.parametrize(
    ("name", "options", "against", "seat", "expected"),
    [
        ("isis_osiris", {}, ["random", "greedy"], 1, ["random", None, "greedy"]),
        ("isis_osiris", {"num_players": 4}, ["random"], 3, ["random", "random", "random", None]),
        ("iso", {"mode": "solo"}, [], 0, [None]),
        ("iso", {"mode": "solo"}, ["greedy"], 0, [None]),
        ("iso", {"mode": "coop"}, ["greedy", "greedy"], 2, ["greedy", "greedy", None]),
        ("isaac", {}, ["expert"], 1, ["expert", None]),
    ],
)
def test_who_sits_where(
    name: str, options: dict[str, object], against: list[str], seat: int, expected: list[str | None]
) -> None:
    _, agents = seats_of(iszoo.REGISTRY[name], options, against, seat)
    assert [agent and agent.name for agent in agents] == expected


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["chess"], "'isis_osiris'"),
        (["isaac", "--seat", "2"], "the seats are 0 to 1"),
        (["isaac", "--against", "stockfish"], "random, greedy, expert"),
        (["isaac", "--against", "random", "random"], "one for each, or one name"),
        (["isaac", "--seed", "-1"], "whole number"),
        (["isaac", "--record", str(ROOT / "README.md")], "left as it is"),
    ],
)
def test_errors_say_what_is_allowed(command: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", *command]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", iszoo.REGISTRY)
def test_the_command_with_piped_input(name: str, tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    command = [sys.executable, "-m", "iszoo", "play", name, "--against", "expert", "--seed", "9", "--record", str(file)]
    done = subprocess.run(command, input="#1\n" * 100, capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stderr
    assert f"Recorded: {file}" in done.stdout
    assert "> #1\n" in done.stdout
    (found,) = record.read(file)
    record.verify(found)
    assert found.over
    assert found.agents == ("human", "expert")


def leave(monkeypatch: pytest.MonkeyPatch, how: Callable[[], str]) -> None:
    """Whatever is asked for next, this happens."""
    monkeypatch.setattr("iszoo.play._read", lambda prompt: how())


def test_leaving_early_keeps_the_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "games.jsonl"
    for typed in ("a1\nquit\n", "a1\n", "a1\na1\n#2\n"):
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        assert main(["play", "isis_osiris", "--seed", "1", "--record", str(file)]) == 0
    lines = iter(["a1", KeyboardInterrupt()])

    def interrupted() -> str:
        line = next(lines)
        if isinstance(line, BaseException):
            raise line
        return line

    leave(monkeypatch, interrupted)
    assert main(["play", "isis_osiris", "--seed", "1", "--record", str(file)]) == 130
    found = list(record.read(file))
    assert len(found) == 4
    assert all(each.moves[0] == "a1" and not each.over for each in found)
    for each in found:
        record.verify(each)


def test_an_agent_that_fails_loses_no_game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = iszoo.REGISTRY["isaac"]

    class Fails:
        name = "fails"

        def act(self, view: object) -> None:
            raise ValueError("the agent is tired")

    monkeypatch.setattr("iszoo.play.make_agent", lambda name, game: Fails())
    monkeypatch.setattr(sys, "stdin", io.StringIO("#1\n"))
    file = tmp_path / "games.jsonl"
    assert main(["play", "isaac", "--record", str(file)]) == 1
    (found,) = record.read(file)
    assert len(found.actions) == 1
    assert make_agent("random", game)


def test_groups_and_columns() -> None:
    assert in_groups(["a1"]) == [("a1", 1)]
    assert in_groups(["a1", "a2", "b"]) == [("a1", 1), ("a2", 1), ("b", 1)]
    many = [f"{x}{y}" for x in "abcdef" for y in range(10)]
    assert in_groups(many) == [(x, 10) for x in "abcdef"]
    alike = [f"same{k:03}" for k in range(100)]
    assert sum(count for _, count in in_groups(alike)) == 100
    assert len(in_groups(alike)) <= 24
    assert in_columns(["a"] * 3).strip() == "a   a   a"
