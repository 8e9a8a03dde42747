"""What users install: the wheel and the sdist hold everything and play, from a checkout without symlinks too."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import iszoo
from iszoo import REGISTRY
from tests.helpers import ROOT, run_python
from tests.programs import PLAY, QUICKEST

FOLDERS = ("envs", "wrappers", "baselines", "benchmarks")


def run(*command: str | Path, cwd: Path) -> str:
    """Runs a command; what it prints."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files_of_the_checkout() -> list[str]:
    """All that is, or would be, committed."""
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT).splitlines()
    return [name for name in listed if (ROOT / name).is_symlink() or (ROOT / name).is_file()]


def check_out(target: Path, symlinks: bool) -> Path:
    """A copy of the working tree; without symlinks, git writes a text file with the link's target in its place."""
    for name in files_of_the_checkout():
        source, copy = ROOT / name, target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink() and not symlinks:
            copy.write_text(os.readlink(source))
        else:
            shutil.copy2(source, copy, follow_symlinks=False)
    return target


def build(checkout: Path, *what: str) -> Path:
    """The folder in which a build of a checkout left its files."""
    run(sys.executable, "-m", "build", *what, checkout, cwd=checkout)
    return checkout / "dist"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and, built from it, the wheel."""
    return build(check_out(tmp_path_factory.mktemp("checkout"), symlinks=True))


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    """The wheel built from the sdist."""
    (found,) = built.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def wheel_without_symlinks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel built from a checkout without symlinks."""
    (found,) = build(check_out(tmp_path_factory.mktemp("windows"), symlinks=False), "--wheel").glob("*.whl")
    return found


def files_in_wheel(wheel: Path) -> dict[str, int]:
    """The names of its files, with their checksums."""
    with zipfile.ZipFile(wheel) as archive:
        return {file.filename: file.CRC for file in archive.infolist()}


def files_in_sdist(built: Path) -> set[str]:
    """Without the folder that they are all in."""
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        return {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_module_is_in_wheel_and_sdist(built: Path, wheel: Path, folder: str) -> None:
    modules = {name for name in files_of_the_checkout() if name.startswith(f"{folder}/") and name.endswith(".py")}
    assert f"{folder}/__init__.py" in modules
    assert {name for name in files_in_sdist(built) if name.startswith(f"{folder}/")} >= modules
    assert files_in_wheel(wheel).keys() >= {f"iszoo/{name}" for name in modules}


def test_data_and_types_are_in_the_wheel(wheel: Path) -> None:
    names = files_of_the_checkout()
    data = {f"iszoo/{name}" for name in names if name.startswith("envs/") and ".toml" in name}
    pages = {name.removeprefix("src/") for name in names if name.startswith("src/iszoo/static/")}
    rules = {f"iszoo/docs/{Path(name).name}" for name in names if name.startswith("docs/games/")}
    assert data
    assert pages >= {f"iszoo/static/{name}" for name in ("index.html", "table.html", "replay.html", "style.css")}
    assert rules >= {f"iszoo/docs/{name}.md" for name in REGISTRY}
    data |= pages | rules
    assert files_in_wheel(wheel).keys() >= data | {"iszoo/py.typed", "iszoo/__init__.py"}


def test_nothing_else_is_installed(wheel: Path) -> None:
    """No tests, and no second copy of the kernels at the top level."""
    roots = {name.partition("/")[0] for name in files_in_wheel(wheel)}
    assert {root for root in roots if not root.endswith(".dist-info")} == {"iszoo"}


def test_both_stay_small_with_all_the_weights(built: Path, wheel: Path) -> None:
    weights = {name for name in files_of_the_checkout() if name.endswith(".safetensors")}
    assert weights
    assert files_in_wheel(wheel).keys() >= {f"iszoo/{name}" for name in weights}
    assert files_in_sdist(built) >= weights
    for file in built.iterdir():
        assert 100_000 < file.stat().st_size < 8_000_000, file.name


def test_the_sdist_has_what_a_packager_needs(built: Path) -> None:
    names = {name for name in files_of_the_checkout() if not name.startswith("src/iszoo/") and "/" in name}
    folders = ("tests/", "docs/", "scripts/", "benchmarks/", "baselines/")
    wanted = {name for name in names if name.startswith(folders)}
    papers = {"LICENSE", "NOTICE", "README.md", "CHANGELOG.md", "CITATION.cff", "Makefile", "pyproject.toml"}
    assert files_in_sdist(built) >= wanted | papers
    assert not {name for name in files_in_sdist(built) if "__pycache__" in name or name.startswith((".git", "site/"))}


def test_the_papers_are_installed(wheel: Path) -> None:
    names = {name.partition("/")[2] for name in files_in_wheel(wheel)}
    assert names >= {"licenses/LICENSE", "licenses/NOTICE", "METADATA"}
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        text = archive.read(metadata).decode()
    assert f"\nVersion: {iszoo.__version__}\n" in text
    assert "\nLicense-Expression: MIT\n" in text


def test_symlinks_make_no_difference(wheel: Path, wheel_without_symlinks: Path) -> None:
    assert files_in_wheel(wheel_without_symlinks) == files_in_wheel(wheel)


def install(wheel: Path, folder: Path) -> Path:
    """The interpreter of a new environment with the wheel in it.

    What iszoo depends on comes from the environment of the tests by a .pth file; it finds the checkout by a .pth file
    of its own, and those of a folder that a .pth file names are not read.
    """
    venv.create(folder, symlinks=os.name != "nt")
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--quiet", wheel, cwd=folder)
    (site,) = folder.glob("**/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return python


WHERE = """
import sys
files = [module.__file__ for name, module in sys.modules.items() if name.partition(".")[0] == "iszoo"]
assert files and all(file.startswith(sys.prefix) for file in files), files
"""


def plays_as_the_checkout(python: Path, *names: str, disable_jit: str) -> None:
    """An environment that imports iszoo from nowhere but itself shows the same games as the checkout."""
    folder = python.parents[1]
    shown = run_python(PLAY + WHERE, *names, cwd=folder, python=python, PYTHONPATH="", NUMBA_DISABLE_JIT=disable_jit)
    assert shown == run_python(PLAY, *names, NUMBA_DISABLE_JIT=disable_jit)


def test_the_installed_wheel_plays(wheel: Path, tmp_path: Path) -> None:
    python = install(wheel, tmp_path / "venv")
    plays_as_the_checkout(python, QUICKEST, disable_jit="0")
    plays_as_the_checkout(python, *REGISTRY, disable_jit="1")
    listed = run(python.with_name("iszoo"), "list", cwd=tmp_path)
    assert all(name in listed for name in REGISTRY)
    code = "from iszoo.rules import rules_text; from iszoo import REGISTRY; print(*map(rules_text, REGISTRY.values()))"
    assert run_python(code, cwd=tmp_path, python=python, PYTHONPATH="").count("## ") == 0


@pytest.fixture(scope="module")
def user(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The interpreter of a user who has the wheel, and a file of theirs."""
    folder = tmp_path_factory.mktemp("user")
    python = install(wheel, folder / "venv")
    shutil.copy(ROOT / "tests" / "typed_user.py", folder / "mine.py")
    return python, folder / "mine.py"


CHECKERS = {
    "mypy": lambda python: ["mypy", "--strict", "--cache-dir", ".mypy_cache", "--python-executable", python],
    "pyright": lambda python: ["pyright", "--pythonpath", python],
}


def check_types(checker: str, python: Path, file: Path) -> subprocess.CompletedProcess[str]:
    """A type checker on a user's file, which finds iszoo where it is installed and nowhere else."""
    (file.parent / "pyproject.toml").write_text('[tool.pyright]\ntypeCheckingMode = "standard"\n')
    environment = {**os.environ, "PYTHONPATH": "", "MYPYPATH": ""}
    command = [sys.executable, "-m", *map(str, CHECKERS[checker](python)), file]
    return subprocess.run(
        command, cwd=file.parent, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.mark.parametrize("checker", CHECKERS)
def test_types_hold_for_a_users_file(user: tuple[Path, Path], checker: str) -> None:
    python, file = user
    checked = check_types(checker, python, file)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    wrong = file.with_name("wrong.py")
    wrong.write_text(
        'import iszoo\n\nenv = iszoo.make("iso", render_mode="ansi")\nenv.render().no_such()\nenv.scores(1)\n'
    )
    found = check_types(checker, python, wrong)
    assert found.returncode == 1, found.stdout + found.stderr
    assert ":4:" in found.stdout
    assert ":5:" in found.stdout


def test_a_users_file_runs(user: tuple[Path, Path]) -> None:
    python, file = user
    code = f"import runpy; runpy.run_path({str(file)!r}, run_name='__main__')"
    assert run_python(code, cwd=file.parent, python=python, PYTHONPATH="", NUMBA_DISABLE_JIT="1").endswith("4 True")


def test_a_wheel_built_without_symlinks_plays(wheel_without_symlinks: Path, tmp_path: Path) -> None:
    plays_as_the_checkout(install(wheel_without_symlinks, tmp_path / "venv"), *REGISTRY, disable_jit="1")
