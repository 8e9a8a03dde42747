"""Does the wheel install and play on every supported Python, with what the registry gives?  `make test-pythons`

Builds the wheel, installs it with nothing pinned into an environment a version (`.venvs/py3.12`, ...), plays, and
writes what was there, with the date, into docs/installing.md. A version without an interpreter here is left as it was.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "installing.md"
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
SHOWN = ("numpy", "numba", "gymnasium", "pettingzoo")
_ROWS = re.compile(r"(<!-- from make test-pythons -->\n).*?(<!-- end -->)", re.DOTALL)

# Plays 100 steps of each game alone and 200 in each of 64 games; prints the versions that did it.
SMOKE = f"""
import importlib.metadata, json, platform, random
import iszoo

for name in iszoo.REGISTRY:
    env = iszoo.make(name)
    env.reset(seed=0)
    choose, steps, games = random.Random(0), 0, 0
    while steps < 100:
        legal = env.legal_actions()
        if not legal:
            assert any(env.terminations.values()) and not env.last()[0]["action_mask"].any()
            env.reset()
            games += 1
            continue
        observation = env.last()[0]
        assert env.observation_space(env.agent_selection).contains(observation)
        env.step(choose.choice(legal))
        steps += 1
    assert games > 0
    vec = iszoo.make_vec(name, 64, seed=0)
    for _ in range(100):
        vec.step(vec.action_mask.argmax(axis=1))
    assert vec.random_steps(100) == 6400
print(json.dumps({{"python": platform.python_version(),
                  **{{name: importlib.metadata.version(name) for name in {SHOWN!r}}}}}))
"""


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    """Runs a command; what it prints. Raises SystemExit with what went wrong."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command[:4]))} ...\n{done.stdout}{done.stderr}")
    return done.stdout


def interpreter(version: str) -> str | None:
    """A Python of this version: on the path, or one that pyenv has."""
    places = [shutil.which(f"python{version}"), *map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))]
    for place in filter(None, places):
        asked = subprocess.run([place, "-c", "import sys; print(*sys.version_info[:2], sep='.')"], capture_output=True)
        if asked.returncode == 0 and asked.stdout.decode().strip() == version:
            return place
    return None


def try_version(version: str, wheel: Path) -> dict[str, str] | None:
    """The versions with which the wheel played; None without an interpreter."""
    python = interpreter(version)
    if python is None:
        return None
    folder = ROOT / ".venvs" / f"py{version}"
    shutil.rmtree(folder, ignore_errors=True)
    run(python, "-m", "venv", folder)
    inside = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run(inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    with tempfile.TemporaryDirectory() as nowhere:
        played: dict[str, str] = json.loads(run(inside, "-W", "error", "-c", SMOKE, cwd=Path(nowhere)))
    return played


def row(played: dict[str, str]) -> str:
    """A line of the table."""
    cells = [played["python"], *(played[name] for name in SHOWN), f"{platform.system()} {platform.machine()}"]
    return f"| {' | '.join([*cells, datetime.date.today().isoformat()])} |"


def updated(page: str, rows: dict[str, str]) -> str:
    """The page with new rows in place of the old ones of the same Python; the others stay."""
    found = _ROWS.search(page)
    if found is None:
        raise SystemExit(f"{PAGE} has no table of tried installations")
    head = [f"| Python | {' | '.join(SHOWN)} | system | tried on |", "|---" * (len(SHOWN) + 3) + "|"]
    kept = {".".join(line.split()[1].split(".")[:2]): line for line in found[0].splitlines() if line.startswith("| 3")}
    lines = {**kept, **rows}
    table = "\n".join([*head, *(lines[v] for v in sorted(lines, key=lambda v: int(v.split(".")[1])))])
    return page[: found.start()] + found[1] + table + "\n" + found[2] + page[found.end() :]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 when no version could be tried."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("versions", nargs="*", default=VERSIONS, help="which; all that are supported by default")
    versions = parser.parse_args(arguments).versions
    rows: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "build", "--wheel", "--outdir", folder)
        (wheel,) = Path(folder).glob("*.whl")
        for version in versions:
            played = try_version(version, wheel)
            if played is None:
                print(f"{version}: no interpreter here", flush=True)
                continue
            rows[version] = row(played)
            print(rows[version], flush=True)
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
