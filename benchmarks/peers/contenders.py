"""The contenders, each in its own environment, and the process that stands for one during a run."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@dataclass(frozen=True)
class Contender:
    """A library, or several in one environment."""

    name: str
    file: Path  #: what `worker.py` loads
    venv: str | None = None  #: under .venvs; None: the environment of this process

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        return Path(sys.executable) if self.venv is None else ROOT / ".venvs" / self.venv / "bin" / "python"


CONTENDERS = (
    Contender("iszoo", HERE / "iszoo_connect_four.py"),
    Contender("PettingZoo", HERE / "pettingzoo_connect_four.py", "peers-pettingzoo"),
    Contender("OpenSpiel", HERE / "openspiel_connect_four.py", "peers-openspiel"),
    Contender("Pgx", HERE / "pgx_connect_four.py", "peers-pgx"),
    Contender("EnvPool", HERE / "envpool_connect_four.py", "peers-envpool"),
    Contender("MaskablePPO", HERE / "sb3_connect_four.py", "peers-sb3"),
)


class Worker:
    """A contender's process, warmed up. Close it, or use it in a `with`.

    Raises RuntimeError, with what the process wrote to standard error, if it ends before it is closed.
    """

    def __init__(self, contender: Contender, setting: dict[str, Any]) -> None:
        self.contender = contender
        # Not the pool of threads that a library may start at import, but the cores decide.
        environment = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
        if contender.venv is None:
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  # closed in close()
        try:
            self._process = subprocess.Popen(
                [contender.python, HERE / "worker.py", contender.file, json.dumps(setting)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, env=environment,
            )  # fmt: skip
        except OSError:
            self._errors.close()
            raise
        try:
            ready = self._answer()
        except BaseException:
            self.close()
            raise
        self.tasks: list[str] = ready["tasks"]
        self.versions: dict[str, str] = ready["versions"]

    def ask(self, task: str, seconds: float) -> tuple[int, float]:
        """Units done and seconds at work in a slice of a task."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"task": task, "seconds": seconds}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # `_answer` says what it died of
        answer = self._answer()
        return answer["units"], answer["seconds"]

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line:
            return json.loads(line)
        self._errors.seek(0)
        wrote = self._errors.read().strip() or "nothing on standard error"
        raise RuntimeError(f"{self.contender.name} has ended: {wrote[-2000:]}")

    def close(self) -> None:
        """Ends the process."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None and not pipe.closed:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
