"""Builds what is released, from a tree that is what its tag will say.  `make release`; docs/releasing.md is the list.

It refuses a working tree that differs from its commit, a version that is tagged already, and one that CHANGELOG.md
says nothing of. It builds `dist/` anew, from what is committed alone, and checks what it built; it tags and uploads
nothing.
"""

from __future__ import annotations

import argparse
import datetime
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_BYTES = 8_000_000


def git(root: Path, *arguments: str) -> str:
    """What a git command prints. Raises SystemExit when it fails."""
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def version_of(root: Path) -> str:
    """The version, from the one place where it is."""
    found = re.search(r'^__version__ = "([^"]+)"$', (root / "src/iszoo/_version.py").read_text(), re.MULTILINE)
    if found is None:
        raise SystemExit("src/iszoo/_version.py has no line __version__ = ...")
    return found[1]


def objections(root: Path, today: datetime.date) -> list[str]:
    """All that stands against a release of what is in a checkout; none, if nothing does."""
    version = version_of(root)
    found = []
    if changed := git(root, "status", "--porcelain").splitlines():
        listed = ", ".join(line[3:] for line in changed[:5])
        found.append(f"the working tree differs from its commit in {len(changed)} places ({listed})")
    if git(root, "tag", "--list", f"v{version}").strip():
        found.append(f"v{version} is tagged already: raise the version in src/iszoo/_version.py")
    log = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = re.search(rf"^## \[{re.escape(version)}\](?: - (\S+))?$", log, re.MULTILINE)
    if heading is None:
        found.append(f"CHANGELOG.md has no heading '## [{version}] - {today}'")
    elif heading[1] is None or not re.fullmatch(r"\d{4}-\d\d-\d\d", heading[1]):
        found.append(f"the heading of {version} in CHANGELOG.md has no date: '## [{version}] - {today}'")
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    if not re.search(rf"^version: {re.escape(version)}$", citation, re.MULTILINE):
        found.append(f"CITATION.cff is not of version {version}")
    return found


def build(root: Path) -> list[Path]:
    """The sdist and the wheel made from it, in `dist/`, from what is committed."""
    dist = root / "dist"
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder) / "checkout"
        git(root, "clone", "--quiet", "--no-hardlinks", str(root), str(checkout))
        subprocess.run([sys.executable, "-m", "build", "--outdir", Path(folder) / "dist"], cwd=checkout, check=True)
        shutil.rmtree(dist, ignore_errors=True)
        shutil.copytree(Path(folder) / "dist", dist)
    return sorted(dist.iterdir())


def complaints(file: Path, version: str) -> list[str]:
    """What is wrong with a wheel or an sdist: its name, its size, what must be in it."""
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    else:
        with tarfile.open(file) as archive:
            names = archive.getnames()
    found = []
    if not file.name.startswith(f"iszoo-{version}"):
        found.append(f"{file.name} is not of version {version}")
    if file.stat().st_size > MOST_BYTES:
        found.append(f"{file.name} has {file.stat().st_size:,} bytes; at most {MOST_BYTES:,} are wanted")
    needed = ("LICENSE", "NOTICE", "envs/isaac.py", "baselines/policies/isaac.safetensors")
    found += [f"{file.name} lacks {name}" for name in needed if not any(each.endswith(name) for each in names)]
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 when something stands against it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="only say whether anything stands against a release")
    only_check = parser.parse_args(arguments).check
    version = version_of(ROOT)
    if against := objections(ROOT, datetime.date.today()):
        print(f"no release of {version}:", *against, sep="\n- ", file=sys.stderr)
        return 1
    if only_check:
        print(f"nothing stands against {version}")
        return 0
    files = build(ROOT)
    if wrong := [line for file in files for line in complaints(file, version)]:
        print(f"not fit for a release of {version}:", *wrong, sep="\n- ", file=sys.stderr)
        return 1
    for file in files:
        print(f"{file.relative_to(ROOT)}  {file.stat().st_size:,} bytes")
    print(f"next: git tag -a v{version} -m 'iszoo {version}', and what follows in docs/releasing.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
