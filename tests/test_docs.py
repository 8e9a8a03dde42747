"""The code in README and docs runs, and the tables on the games' pages are those of the code."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

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


@pytest.fixture
def make_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """docs/make_tables.py with a copy of the docs and the results, which a test may change."""
    spec = importlib.util.spec_from_file_location("make_tables", ROOT / "docs" / "make_tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, source in (("DOCS", "docs"), ("RESULTS", "baselines/results")):
        monkeypatch.setattr(module, name, shutil.copytree(ROOT / source, tmp_path / source))
    shutil.copy(ROOT / "README.md", tmp_path)
    monkeypatch.setattr(module, "PLOTS", tmp_path / "docs" / "plots")
    monkeypatch.setattr(sys, "argv", ["make_tables.py"])
    return module


def test_a_result_that_changes_changes_its_tables_and_its_plot(make_tables: ModuleType) -> None:
    name = "isaac.ladder"
    file, page = make_tables.RESULTS / f"{name}.json", make_tables.DOCS / "ladder.md"
    report = json.loads(file.read_text())
    report["agents"][0]["elo"] = 1234.0
    file.write_text(json.dumps(report))
    readme = make_tables.DOCS.parent / "README.md"
    assert list(make_tables.stale_pages()) == [readme, page]
    assert make_tables.stale_plots() == [name]
    assert make_tables.main() == 0
    assert "| +1234 |" in page.read_text()
    assert "| +1234 |" in readme.read_text()
    assert make_tables.stale_pages() == {}
    assert make_tables.stale_plots() == []
    (make_tables.PLOTS / f"{name}.svg").unlink()
    assert make_tables.stale_plots() == [name]


def test_every_published_result_is_on_a_page(make_tables: ModuleType) -> None:
    shown = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert {f"{name}.statistics" for name in iszoo.REGISTRY} <= set(make_tables.plotted())
    for name in make_tables.plotted():
        assert f"plots/{name}.svg" in shown
        assert f"<!-- from the results: {name} " in shown or f"<!-- from benchmarks/results/{name}.json: " in shown


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
