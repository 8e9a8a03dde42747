"""The mutation check makes real changes, and what is published of it is good enough and explained."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from tests import mutation

SOURCE = '''
def f(a: int = 1, b: bool = True) -> int:
    """Text with 1 < 2."""
    rows[a] = 3
    if a < b and not b:
        a += 2
    call(a)
    return a << 1
'''


def test_each_kind_of_change_is_made_once() -> None:
    changes = {mutant.change for mutant in mutation.mutants(SOURCE)}
    assert {
        "rows[a] = 3  ->  pass", "a < b  ->  a <= b", "a < b and not b  ->  a < b or not b", "not b  ->  b",
        "a += 2  ->  pass", "a += 2  ->  a -= 2", "call(a)  ->  pass", "a << 1  ->  a >> 1", "3  ->  4", "3  ->  2",
        "1  ->  2", "1  ->  0", "2  ->  3", "2  ->  1", "True  ->  False",
    } == changes  # fmt: skip


@pytest.mark.parametrize("file", mutation.FILES)
def test_every_change_of_a_kernel_file_is_another_program(file: str) -> None:
    source = (mutation.ROOT / file).read_text(encoding="utf-8")
    before = ast.dump(ast.parse(source))
    chosen = mutation.sample(source, 25, seed=3)
    assert len(chosen) == 25
    assert [one.source for one in chosen] == [one.source for one in mutation.sample(source, 25, seed=3)]
    for mutant in chosen:
        assert ast.dump(ast.parse(mutant.source)) != before
        assert mutant.text == source.splitlines()[mutant.line - 1].strip()


@pytest.mark.parametrize(("body", "result"), [("assert True", "passed"), ("assert False", "failed")])
def test_a_copy_is_tested_by_itself(tmp_path: Path, body: str, result: str) -> None:
    (tmp_path / "test_it.py").write_text(f"def test_it():\n    {body}\n")
    assert mutation.run_tests(tmp_path, ["test_it.py"], limit=60) == result


def test_a_change_that_never_ends_is_caught(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it():\n    while True:\n        pass\n")
    assert mutation.run_tests(tmp_path, ["test_it.py"], limit=1) == "endless"


def test_what_is_published_is_good_enough_and_on_its_page() -> None:
    kept = json.loads(mutation.KEPT.read_text(encoding="utf-8"))
    assert kept
    for file, report in kept.items():
        assert file in mutation.FILES
        assert report["count"] == report["caught"] + len(report["survivors"])
        unexplained = [one for one in report["survivors"] if not one["reason"]]
        assert len(unexplained) <= 0.05 * report["count"], f"{file}: {unexplained}"
    page = mutation.PAGE.read_text(encoding="utf-8")
    assert mutation.filled(page, kept) == page
