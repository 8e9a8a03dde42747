"""What stands against a release, the papers that go with it, and the table of what was tried."""

from __future__ import annotations

import datetime
import importlib.util
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
import yaml

import iszoo
from tests.helpers import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TODAY = datetime.date(2026, 11, 30)


def script(name: str) -> ModuleType:
    """A script of the repository as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


release, try_pythons = script("release"), script("try_pythons")


def git(root: Path, *arguments: str) -> None:
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *author, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository from which version 1.2.3 can be released."""
    files = {
        "src/iszoo/_version.py": '__version__ = "1.2.3"\n',
        "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-11-30\n",
        "CITATION.cff": "version: 1.2.3\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "--message", "all")
    return tmp_path


def change(tree: Path, name: str, old: str, new: str) -> None:
    """Changes a committed file, and commits that."""
    text = (tree / name).read_text()
    assert old in text
    (tree / name).write_text(text.replace(old, new))
    git(tree, "commit", "--quiet", "--all", "--message", "changed")


def test_nothing_stands_against_a_clean_tree(tree: Path) -> None:
    assert release.objections(tree, TODAY) == []


@pytest.mark.parametrize("name", ["CHANGELOG.md", "new.txt"])
def test_a_dirty_tree_is_refused(tree: Path, name: str) -> None:
    (tree / name).write_text("## [1.2.3] - 2026-11-30\n")
    (found,) = release.objections(tree, TODAY)
    assert name in found


def test_a_tagged_version_is_refused(tree: Path) -> None:
    git(tree, "tag", "v1.2.2")
    assert release.objections(tree, TODAY) == []
    git(tree, "tag", "v1.2.3")
    (found,) = release.objections(tree, TODAY)
    assert "v1.2.3 is tagged already" in found


@pytest.mark.parametrize(
    ("name", "old", "new", "says"),
    [
        ("CHANGELOG.md", "[1.2.3]", "[1.2.30]", "no heading"),
        ("CHANGELOG.md", "[1.2.3]", "[1x2.3]", "no heading"),
        ("CHANGELOG.md", " - 2026-11-30", "", "no date"),
        ("CHANGELOG.md", "2026-11-30", "soon", "no date"),
        ("CITATION.cff", "1.2.3", "1.2.2", "CITATION.cff"),
    ],
)
def test_papers_of_another_version_are_refused(tree: Path, name: str, old: str, new: str, says: str) -> None:
    change(tree, name, old, new)
    (found,) = release.objections(tree, TODAY)
    assert says in found


def test_the_command_refuses_with_all_its_reasons(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(release, "ROOT", tree)
    assert release.main(["--check"]) == 0
    git(tree, "tag", "v1.2.3")
    (tree / "new.txt").touch()
    assert release.main([]) == 1
    said = capsys.readouterr().err
    assert "new.txt" in said
    assert "tagged" in said
    assert not (tree / "dist").exists()


def test_what_was_built_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel, sdist = tmp_path / "iszoo-1.2.3-py3-none-any.whl", tmp_path / "iszoo-1.2.3.tar.gz"
    needed = ("envs/isaac.py", "baselines/policies/isaac.safetensors", "LICENSE", "NOTICE")
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in needed:
            archive.writestr(f"iszoo/{name}", "")
    assert release.complaints(wheel, "1.2.3") == []
    assert len(release.complaints(wheel, "1.2.4")) == 1
    with tarfile.open(sdist, "w:gz"):
        pass
    assert len(release.complaints(sdist, "1.2.3")) == len(needed)
    monkeypatch.setattr(release, "MOST_BYTES", wheel.stat().st_size - 1)
    assert len(release.complaints(wheel, "1.2.3")) == 1


# --- Papers ---


def test_the_citation_has_what_the_format_asks_for() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation.keys() >= {"cff-version", "message", "title", "authors"}
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert citation["version"] == iszoo.__version__
    assert all(author.keys() & {"name", "family-names"} for author in citation["authors"])
    assert citation["license"] == "MIT"
    known = {"abstract", "contact", "date-released", "doi", "identifiers", "keywords", "repository-code", "url"}
    assert citation.keys() <= known | {"cff-version", "message", "title", "authors", "type", "version", "license"}


def test_the_notice_names_everybody_whose_game_it_is() -> None:
    notice = " ".join((ROOT / "NOTICE").read_text(encoding="utf-8").split())
    for game in iszoo.REGISTRY.values():
        assert f"- {game.title}, by {game.credits.partition(',')[0]}" in notice
        _, comma, publisher = game.credits.partition(", ")
        if comma:
            house, _, year = publisher.rpartition(" ")
            assert f"published by {house} ({year})" in notice


def test_the_licence_is_that_of_the_metadata() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["license"] == "MIT"
    assert project["license-files"] == ["LICENSE", "NOTICE"]
    assert (ROOT / "LICENSE").read_text().startswith("MIT License\n\nCopyright (c) ")
    assert "without restriction, including without limitation" in (ROOT / "LICENSE").read_text()


def test_the_changelog_keeps_its_form() -> None:
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (.*)$", log, re.MULTILINE)
    assert versions[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", version) for version in versions[1:])
    kinds = re.findall(r"^### (.*)$", log, re.MULTILINE)
    assert set(kinds) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


# --- What is supported ---


def test_every_python_of_the_metadata_was_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {found[1] for line in project["classifiers"] if (found := re.search(r":: (3\.\d+)$", line))}
    assert set(try_pythons.VERSIONS) == named
    page = try_pythons.PAGE.read_text(encoding="utf-8")
    tried = re.findall(r"^\| (3\.\d+)\.\d+ \|.*\| \d{4}-\d\d-\d\d \|$", page, re.MULTILINE)
    assert tried == list(try_pythons.VERSIONS)
    assert project["requires-python"] == f">={try_pythons.VERSIONS[0]}"


def test_every_extra_is_on_the_page() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    table = try_pythons.PAGE.read_text(encoding="utf-8").partition("## Extras")[2]
    listed = set(re.findall(r"`([\w-]+)`", "".join(re.findall(r"^\|([^|]*)\|", table, re.MULTILINE))))
    assert listed == set(project["optional-dependencies"])


def test_a_row_takes_the_place_of_the_one_of_its_python() -> None:
    page = "before\n<!-- from make test-pythons -->\n| 3.9.1 | a |\n| 3.10.1 | b |\n<!-- end -->\nafter\n"
    lines = try_pythons.updated(page, {"3.10": "| 3.10.2 | c |", "3.11": "| 3.11.7 | d |"}).splitlines()
    assert lines[0] == "before"
    assert lines[4:] == ["| 3.9.1 | a |", "| 3.10.2 | c |", "| 3.11.7 | d |", "<!-- end -->", "after"]
