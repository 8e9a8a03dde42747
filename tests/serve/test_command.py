"""The command: what it says, what it refuses, and that it stops."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from iszoo.__main__ import main
from iszoo.benchmarks.tables import measure, table
from iszoo.serve.command import default_file
from tests.helpers import ROOT


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--port", "70000"], "0 to 65535"),
        (["--port", "-1"], "0 to 65535"),
        (["--host", "no such host"], "can't listen at"),
        (["--most-tables", "0"], "at least one"),
        (["--file", str(ROOT / "README.md")], "is no file of tables"),
        (["--record", str(ROOT / "README.md"), "--file", "{folder}/tables.sqlite"], "left as it is"),
    ],
)
def test_errors_say_what_is_allowed(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [argument.replace("{folder}", str(tmp_path)) for argument in arguments]
    assert main(["serve", *(["--port", "0"] if "--port" not in given else []), *given]) == 1
    assert message in capsys.readouterr().err


def test_a_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        assert main(["serve", "--port", str(other.getsockname()[1])]) == 1
    assert "--port 0 takes a free one" in capsys.readouterr().err


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_it_serves_and_stops(host: str, tmp_path: Path) -> None:
    file = tmp_path / "tables.sqlite"
    command = [sys.executable, "-m", "iszoo", "serve", "--host", host, "--port", "0", "--file", str(file)]
    if host == "::1" and not _has_ipv6():
        pytest.skip("this machine has no IPv6")
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        found = re.search(r"http://\S+/", process.stdout.readline())
        assert found is not None
        assert str(file) in process.stdout.readline()
        with urllib.request.urlopen(found[0]) as answer:
            assert b"<title>iszoo</title>" in answer.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr.read() in ("", "Compiling the games; the next start is quicker.\n")


def _has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def test_tables_are_kept_in_the_folder_for_data() -> None:
    assert default_file().name == "tables.sqlite"
    assert default_file().parent.name == "iszoo"


def test_without_the_extra_the_error_names_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "iszoo.serve.command")
    assert main(["serve"]) == 1
    assert "iszoo[serve]" in capsys.readouterr().err


def test_responsiveness_can_be_measured() -> None:
    """The measurement itself; what it finds depends on the machine."""
    report = measure(tables=2, seconds=2)
    assert report["positions_per_second"] > 0
    for found in report["milliseconds"].values():
        assert 0 < found["median"] <= found["p95"] <= found["longest"]
    assert "| own action |" in table(report)
