"""The code in README and docs runs, and the tables on the games' pages are those of the code."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import iszoo
from iszoo.benchmarks.adapters import FRAMEWORKS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def is_run_elsewhere(page: Path) -> bool:
    """A framework's page runs in that framework's own environment, in its own test."""
    return (ROOT / "tests" / "frameworks" / f"test_{page.stem}.py").exists()


def blocks(page: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


CODE = [
    pytest.param(block, id=f"{page.relative_to(ROOT)}-{k}")
    for page in PAGES
    if not is_run_elsewhere(page)
    for k, block in enumerate(blocks(page))
]


@pytest.mark.parametrize("block", CODE)
def test_code_blocks_run(block: str) -> None:
    exec(compile(block, "<docs>", "exec"), {"__name__": "__main__"})


def test_the_readme_shows_both_ways_of_use() -> None:
    shown = "".join(blocks(ROOT / "README.md"))
    assert "iszoo.make(" in shown
    assert "iszoo.make_vec(" in shown


def test_tables_are_those_of_the_code() -> None:
    checked = subprocess.run(
        [sys.executable, ROOT / "docs" / "make_tables.py", "--check"], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_page_of_the_frameworks_leads_to_each_and_shows_what_was_measured() -> None:
    page = (ROOT / "docs" / "frameworks" / "index.md").read_text(encoding="utf-8")
    for name in FRAMEWORKS:
        assert f"({name}.md)" in page
    assert re.findall(r"<!-- from benchmarks/results/wrappers.json: (\w+) -->", page) == ["rates", "targets", "runs"]


@pytest.mark.parametrize("name", iszoo.REGISTRY)
def test_every_page_has_the_same_form(name: str) -> None:
    page = (ROOT / "docs" / "games" / f"{name}.md").read_text(encoding="utf-8")
    found = re.findall(r"^##+ (.*)$", page, re.MULTILINE)
    expected = [
        "The rules, in our words",
        "Options",
        "Actions",
        "Observation",
        "Planes",
        "Features",
        "Rewards and endings",
        "Perft",
        "Where sources differ, and what we chose",
        "Version history",
    ]
    assert [heading for heading in found if heading in expected] == expected
    assert re.findall(r"<!-- from the code: (\w+) -->", page) == ["options", "actions", "planes", "features"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose):
        assert target.startswith("https://") or (page.parent / target).exists(), target
