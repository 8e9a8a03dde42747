"""Parts of a run that are kept in a file: what is found again, what is left aside, what a cut-off line costs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from iszoo.baselines.arena import kept


def test_parts_are_found_again_by_their_keys(tmp_path: Path) -> None:
    file = tmp_path / "new" / "parts.jsonl"
    assert kept.read(file) == {}
    kept.add(file, "a", {"games": [1, 2]})
    kept.add(file, "b", {"games": []})
    assert kept.read(file) == {"a": {"games": [1, 2]}, "b": {"games": []}}


@pytest.mark.parametrize("cut", ['{"key":"c","ga', "{", '{"key":"c"}'])
def test_a_line_that_was_cut_off_is_left_out_and_replaced(cut: str, tmp_path: Path) -> None:
    file = tmp_path / "parts.jsonl"
    kept.add(file, "a", {"games": [1]})
    with open(file, "a") as stream:
        stream.write(cut)
    assert kept.read(file)["a"] == {"games": [1]}
    kept.add(file, "b", {"games": [2]})
    assert kept.read(file) == {"a": {"games": [1]}, "b": {"games": [2]}}
    assert file.read_text().endswith("}\n")


def test_a_first_line_that_was_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "parts.jsonl"
    file.write_text('{"key":')
    assert kept.read(file) == {}
    kept.add(file, "a", {})
    assert kept.read(file) == {"a": {}}


@pytest.mark.parametrize(
    "text", ["# A page\n", '{"a": 1}\n', '["key"]\n', "3\n", '{"key":"a"}\nnonsense\n{"key":"b"}\n']
)
def test_another_kind_of_file_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "page.md"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"page.md, line \d: this is no file of kept parts"):
        kept.read(file)
    assert file.read_text() == text


def test_keys_tell_everything_apart() -> None:
    keys = [kept.key_of(*parts) for parts in (("a", 1), ("a", 2), ("a1",), ("a", "1"), ("a", [1]), ("a", 1, None))]
    assert len(set(keys)) == len(keys)
    assert kept.key_of({"a": 1, "b": 2}) == kept.key_of({"b": 2, "a": 1})


def test_an_agents_stamp_changes_with_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept.file_stamp("random") == kept.file_stamp("mcts:200") == ""
    policy, folder = tmp_path / "policy.npz", tmp_path / "checkpoint"
    policy.write_bytes(b"1")
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "weights").write_bytes(b"1")
    for name, changed in ((f"policy:{policy}", policy), (f"rllib:{folder}", folder / "inner" / "weights")):
        before = kept.file_stamp(name)
        assert before
        assert kept.file_stamp(f"{name}:sample") == before
        changed.write_bytes(b"2")
        assert kept.file_stamp(name) != before
    (tmp_path / "a_stamped_module.py").write_text("x = 1")
    monkeypatch.syspath_prepend(tmp_path)
    __import__("a_stamped_module")
    before = kept.file_stamp("a_stamped_module:Agent")
    (tmp_path / "a_stamped_module.py").write_text("x = 2")
    assert kept.file_stamp("a_stamped_module:Agent") != before != ""
    del sys.modules["a_stamped_module"]


def test_the_stamp_of_the_code_changes_with_rules_and_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import iszoo.baselines
    import iszoo.envs

    for package in (iszoo.envs, iszoo.baselines):
        (tmp_path / package.__name__).mkdir()
        (tmp_path / package.__name__ / "rules.py").write_text("1")
        monkeypatch.setattr(package, "__path__", [str(tmp_path / package.__name__)])
    stamps = {kept.code_stamp.__wrapped__()}
    for name in ("rules.py", "more.py", "tiles.toml"):
        for package in (iszoo.envs, iszoo.baselines):
            (tmp_path / package.__name__ / name).write_text(f"{len(stamps)} {name}")
            stamps.add(kept.code_stamp.__wrapped__())
    assert len(stamps) == 7
