"""What commands share: kinds of arguments, and how results are shown and written."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import rich.console
import rich.progress
import rich.table
from tyro.conf import UseAppendAction, arg

JsonFile = Annotated[Path | None, arg(name="json", help="also write the result there as JSON; - for stdout")]
GameOptions = Annotated[
    UseAppendAction[tuple[str, ...]],
    arg(name="option", help="an option of the game as NAME=VALUE; may be given several times"),
]

TrustPickle = Annotated[
    bool, arg(name="trust-pickle", help="let agents sb3:ZIP and rllib:CHECKPOINT load files, which runs code in them")
]


def give_out(value: Any, file: Path | None, show: Any) -> None:
    """Shows a result to a person, or writes it for a machine, or both."""
    if file == Path("-"):
        print(json.dumps(value, indent=1))
        return
    show()
    if file is not None:
        from iszoo.reports import write_json

        write_json(file, value)
        print(f"Written: {file}", file=sys.stderr)


def write_out(out: Path, report: dict[str, Any], page: str, plot: str, file: Path | None) -> None:
    """Shows a report's page and writes all its forms; without matplotlib, all but the plot."""
    from iszoo.reports import write_json, write_text

    written = [out.with_name(f"{out.name}{ending}") for ending in (".json", ".md", ".svg")]
    write_json(written[0], report)
    write_text(written[1], page)
    try:
        from iszoo.baselines.arena import plots

        write_text(written[2], getattr(plots, plot)(report))
    except ImportError as error:
        tell(f"no plot: {written.pop().name} {error}")
    give_out(report, file, lambda: print(page))
    tell(f"Written: {', '.join(map(str, written))}")


def tell(line: str) -> None:
    """A line on stderr."""
    print(line, file=sys.stderr, flush=True)


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on stdout."""
    table = rich.table.Table(box=None, pad_edge=False, header_style="bold")
    for name in head:
        table.add_column(name)
    for row in rows:
        table.add_row(*row)
    console = rich.console.Console()
    if not console.is_terminal:
        console = rich.console.Console(width=200)
    console.print(table)


@contextmanager
def progress(title: str, total: int) -> Iterator[Any]:
    """A bar on stderr, where that is a terminal."""
    console = rich.console.Console(stderr=True)
    with rich.progress.Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=total)
        yield lambda count: bar.advance(task, count)


@contextmanager
def progress_to(title: str) -> Iterator[Any]:
    """The same, told how much is done and how much there is in all."""
    console = rich.console.Console(stderr=True)
    with rich.progress.Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def status(first: str) -> Iterator[Any]:
    """What is being done, on stderr: a live line in a terminal, else a line each."""
    console = rich.console.Console(stderr=True)
    if not console.is_terminal:
        yield lambda what: print(what, file=sys.stderr, flush=True)
        return
    with console.status(first) as status:
        yield status.update
