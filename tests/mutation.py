"""How much of a kernel file do the tests hold down?  `python -m tests.mutation envs/iso.py --count 40 --seed 1`

Makes single changes (a comparison turned, a constant one up or down, an operator exchanged, a statement left out) in
a copy of the repository and runs the tests of that game on each, quickest first, until one fails. Which changes: a
sample, fixed by the seed. What survives is listed with its line. `--write` keeps it in tests/mutation.json, where a
person says of each survivor why it is the same program; tests/test_mutation.py looks at that file.

Kernels run as plain Python here (NUMBA_DISABLE_JIT): to compile every change would take a minute each. Each change is
run in a fork of one process that has imported what never changes.
"""

from __future__ import annotations

import argparse
import ast
import copy
import datetime
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
KEPT = Path(__file__).with_suffix(".json")
PAGE = ROOT / "docs" / "mutation.md"
_TABLE = re.compile(r"(<!-- from tests/mutation.json -->\n).*?(<!-- end -->)", re.DOTALL)
FILES = ("envs/isaac.py", "envs/iso.py", "envs/isis_osiris.py")
GAMES_TO_PLAY = "12"  # of the differential test, for each game

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr, ast.Div: ast.Mult,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change of a file."""

    line: int
    text: str  #: the line as it was
    before: str  #: what was there
    after: str
    source: str  #: the whole file with the change

    @property
    def change(self) -> str:
        """What a person reads."""
        return f"{self.before}  ->  {self.after}"


# --- Making changes ----------------------------------------------------------------------------------------


def changed(node: ast.AST) -> Iterator[ast.AST]:
    """Every node that may stand in the place of this one."""
    if isinstance(node, ast.Compare):
        for k, operator in enumerate(node.ops):
            twin = copy.deepcopy(node)
            twin.ops[k] = COMPARISONS[type(operator)]()
            yield twin
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield node.operand
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.AugAssign):
        yield ast.Pass()
        if type(node.op) in OPERATORS:
            yield ast.AugAssign(node.target, OPERATORS[type(node.op)](), node.value)
    elif isinstance(node, ast.stmt) and may_be_left_out(node):
        yield ast.Pass()


def may_be_left_out(node: ast.stmt) -> bool:
    """Whether a file without this statement has all its names still."""
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Subscript) for target in node.targets)
    return isinstance(node, (ast.Break, ast.Continue)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    )


def unannotated(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes that are run: annotations are not."""
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child
                yield from unannotated(child)


def mutants(source: str) -> list[Mutant]:
    """Every change of a file."""
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for text in lines:
        starts.append(starts[-1] + len(text))
    whole = source.encode()
    found = []
    for node in unannotated(ast.parse(source)):
        if not hasattr(node, "lineno"):
            continue
        at: Any = node
        begin, end = starts[at.lineno - 1] + at.col_offset, starts[at.end_lineno - 1] + at.end_col_offset
        for twin in changed(node):
            text = ast.unparse(ast.fix_missing_locations(twin))
            after = f"({text})" if isinstance(twin, (ast.BinOp, ast.BoolOp, ast.Compare)) else text
            made = (whole[:begin] + after.encode() + whole[end:]).decode()
            found.append(
                Mutant(
                    at.lineno,
                    lines[at.lineno - 1].decode().strip(),
                    " ".join(whole[begin:end].decode().split()),
                    text,
                    made,
                )
            )
    return found


def sample(source: str, count: int, seed: int) -> list[Mutant]:
    """As many changes of a file, each line as likely as it has changes; in the order of the file."""
    everything = mutants(source)
    chosen = random.Random(seed).sample(range(len(everything)), min(count, len(everything)))
    return [everything[k] for k in sorted(chosen)]


# --- Running the tests -------------------------------------------------------------------------------------


def stages(game: str) -> list[list[str]]:
    """Arguments of pytest, the quickest tests that know the game first."""
    conformance = [f"tests/conformance/test_{name}.py" for name in ("resample", "endings", "bytes", "masks")]
    return [
        ["tests/envs/test_perft.py", "tests/envs/test_record.py", "-k", f"{game} or golden_records_are_played"],
        [f"tests/envs/test_{game}.py", *(["tests/envs/test_iso_tiles.py"] if game == "iso" else [])],
        ["tests/test_differential.py", "-k", game],
        [*conformance, "tests/envs/test_registry.py", "-k", game],
    ]


def check_out(target: Path) -> Path:
    """A copy of what is, or would be, committed."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines():
        source, place = ROOT / name, target / name
        if source.is_symlink() or source.is_file():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, place, follow_symlinks=False)
    return target


def run_tests(checkout: Path, arguments: Sequence[str], limit: float) -> str:
    """Runs tests in a fork of this process; "passed", "failed", or "endless" after so many seconds."""
    child = os.fork()
    if child == 0:
        _become_pytest(checkout, arguments)
    until = time.monotonic() + limit
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return "passed" if os.waitstatus_to_exitcode(status) == 0 else "failed"
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "endless"


def _become_pytest(checkout: Path, arguments: Sequence[str]) -> None:
    """In the child: pytest in the copy, which imports iszoo and the tests from there; never returns."""
    code = 99
    try:
        for name in [name for name in sys.modules if name.partition(".")[0] in ("iszoo", "tests")]:
            del sys.modules[name]
        os.chdir(checkout)
        sys.path[:0] = [str(checkout), str(checkout / "src")]
        sys.dont_write_bytecode = True  # two changes within a second would share a .pyc
        with open(checkout / "output.txt", "w") as output:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            import pytest

            quiet = ["-x", "-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
            code = pytest.main([*quiet, *arguments])
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def caught_by(checkout: Path, game: str, limits: Sequence[float]) -> int | None:
    """The number of the first stage that doesn't pass; None when all do."""
    for k, (arguments, limit) in enumerate(zip(stages(game), limits, strict=True)):
        if run_tests(checkout, arguments, limit) != "passed":
            return k
    return None


def baseline(checkout: Path, game: str) -> list[float]:
    """How long each stage may take: ten times what it takes without a change. Raises SystemExit when one fails."""
    limits = []
    for arguments in stages(game):
        began = time.monotonic()
        if run_tests(checkout, arguments, 1800) != "passed":
            raise SystemExit(f"pytest {' '.join(arguments)} fails without a change:\n{_tail(checkout)}")
        limits.append(30 + 10 * (time.monotonic() - began))
    return limits


def _tail(checkout: Path) -> str:
    return (checkout / "output.txt").read_text()[-3000:]


def cpu_seconds() -> float:
    """Of this process and its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def examine(file: str, count: int, seed: int) -> dict[str, Any]:
    """Runs a sample of the changes of a kernel file; what came of it, for tests/mutation.json."""
    game = Path(file).stem
    began = cpu_seconds()
    with tempfile.TemporaryDirectory() as folder:
        checkout = check_out(Path(folder) / "checkout")
        source = (checkout / file).read_text(encoding="utf-8")
        limits = baseline(checkout, game)
        stage_of: list[int | None] = []
        survivors = []
        chosen = sample(source, count, seed)
        for k, mutant in enumerate(chosen):
            (checkout / file).write_text(mutant.source, encoding="utf-8")
            stage = caught_by(checkout, game, limits)
            stage_of.append(stage)
            print(
                f"{k + 1}/{len(chosen)} line {mutant.line}: {mutant.text[:70]}  [{mutant.change[:60]}]  stage {stage}",
                flush=True,
            )
            if stage is None:
                survivors.append(mutant)
    found = [{"line": one.line, "text": one.text, "change": one.change, "reason": ""} for one in survivors]
    return {
        "date": datetime.date.today().isoformat(),
        "possible": len(mutants(source)),
        "seed": seed,
        "count": len(chosen),
        "caught": len(chosen) - len(survivors),
        "caught_by_stage": [stage_of.count(k) for k in range(len(limits))],
        "cpu_minutes": round((cpu_seconds() - began) / 60, 1),
        "survivors": found,
    }


# --- What is kept ------------------------------------------------------------------------------------------


def keep(file: str, report: dict[str, Any]) -> None:
    """Writes a report into tests/mutation.json; reasons that were given for the same change stay."""
    kept: dict[str, Any] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    given = {(one["text"], one["change"]): one["reason"] for one in kept.get(file, {}).get("survivors", [])}
    for survivor in report["survivors"]:
        survivor["reason"] = given.get((survivor["text"], survivor["change"]), "")
    kept[file] = report
    KEPT.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), kept), encoding="utf-8")


def filled(page: str, kept: dict[str, Any]) -> str:
    """docs/mutation.md with the tables of what is kept."""
    lines = ["| file | changes possible | tried | caught | by stage | without those explained | CPU minutes | date |"]
    lines.append("|---|---:|---:|---:|---|---:|---:|---|")
    explained = []
    for file, report in sorted(kept.items()):
        same = [one for one in report["survivors"] if one["reason"]]
        share = report["caught"] / report["count"]
        rest = report["caught"] / (report["count"] - len(same))
        stages = ", ".join(map(str, report["caught_by_stage"]))
        cells = [f"`{file}`", report["possible"], report["count"], f"{report['caught']} ({share:.0%})", stages]
        lines.append(f"| {' | '.join(map(str, [*cells, f'{rest:.0%}', report['cpu_minutes'], report['date']]))} |")
        explained += [f"- `{file}`, line {one['line']}: `{one['change']}`. {one['reason']}" for one in same]
    text = "\n".join([*lines, *(["", "Survivors that are the same program:", "", *explained] if explained else [])])
    return _TABLE.sub(lambda found: f"{found[1]}{text}\n{found[2]}", page)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("files", nargs="*", help=f"some of {', '.join(FILES)}")
    parser.add_argument("--all", action="store_true", help="all of them")
    parser.add_argument("--count", type=int, default=40, help="how many changes of each file")
    parser.add_argument("--seed", type=int, default=1, help="which")
    parser.add_argument("--write", action="store_true", help="keep the figures in tests/mutation.json")
    given = parser.parse_args(arguments)
    files = list(FILES) if given.all else given.files
    if not files or not set(files) <= set(FILES):
        parser.error(f"name one or more of {', '.join(FILES)}, or --all")
    os.environ.update(NUMBA_DISABLE_JIT="1", ISZOO_GAMES=GAMES_TO_PLAY, OMP_NUM_THREADS="1", PYTHONPATH="")
    import gymnasium  # noqa: F401 - imported once, before the forks
    import hypothesis  # noqa: F401
    import numba  # noqa: F401
    import pettingzoo  # noqa: F401
    import pytest  # noqa: F401

    for file in files:
        report = examine(file, given.count, given.seed)
        print(json.dumps(report["survivors"], indent=1))
        print(f"{file}: {report['caught']} of {report['count']} caught ({report['caught'] / report['count']:.0%})")
        if given.write:
            keep(file, report)


if __name__ == "__main__":
    main()
