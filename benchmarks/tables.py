"""How responsive `iszoo serve` stays with many tables of agents: `python -m iszoo.benchmarks.tables`.

The server runs in a process of its own. At each table two agents play, at the greatest pace that a page can set, and a
browser waits for every position and gets its picture. Beside them a person plays against an agent: measured is how
long each of their requests takes.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iszoo.envs.registry import REGISTRY
from iszoo.reports import write_json
from iszoo.serve.checks import PACES


class Client:
    """One connection to the server."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The JSON of an answer. Raises RuntimeError for one that is no success."""
        sent = json.dumps(body or {}).encode() if method == "POST" else None
        self._connection.request(method, path, sent, {"Content-Type": "application/json", **headers})
        answer = self._connection.getresponse()
        value = json.loads(answer.read())
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {value}")
        return value

    def close(self) -> None:
        """Ends it."""
        self._connection.close()


class Watcher(threading.Thread):
    """A browser that waits for each position of a table; a game that is over is followed by another one."""

    def __init__(self, port: int, game: str, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.client, self.game, self._stop_asked = Client(port), game, stop
        self.positions = self.games = 0

    def run(self) -> None:
        """Watches until it is told to stop."""
        while not self._stop_asked.is_set():
            table, seen = make_agents_play(self.client, self.game), None
            self.games += 1
            while not self._stop_asked.is_set():
                query = "" if seen is None else f"?version={seen['version']}"
                found = self.client.ask("GET", f"/api/tables/{table}{query}")
                self.positions += seen is None or found["version"] != seen["version"]
                seen = found
                if found["over"]:
                    break
        self.client.close()


def make_agents_play(client: Client, game: str) -> str:
    """A new table of two greedy agents, as fast as a page can set them; its id."""
    body = {"game": game, "options": {}, "seats": ["greedy", "greedy"], "pace": PACES[0]}
    return str(client.ask("POST", "/api/tables", body)["id"])


@contextlib.contextmanager
def server(most_tables: int) -> Iterator[int]:
    """`iszoo serve` on a free port."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable, "-m", "iszoo", "serve", "--port", "0", "--file", str(Path(folder) / "tables.sqlite"),
            "--most-tables", str(most_tables),
        ]  # fmt: skip
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            found = re.search(r":(\d+)/", process.stdout.readline())
            if found is None:
                raise RuntimeError("the server did not start")
            yield int(found[1])
        finally:
            process.terminate()
            process.wait(20)
            assert process.stdout is not None
            process.stdout.close()


def measure(tables: int = 50, seconds: float = 20.0) -> dict[str, Any]:
    """Plain values: what a person waits for, in milliseconds, and what was played beside them."""
    with server(4 * tables + 50) as port:
        stop = threading.Event()
        names = list(REGISTRY)
        watchers = [Watcher(port, names[k % len(names)], stop) for k in range(tables)]
        for watcher in watchers:
            watcher.start()
        time.sleep(min(2.0, seconds / 4))
        before, began = sum(watcher.positions for watcher in watchers), time.perf_counter()
        times: dict[str, list[float]] = {"list of games": [], "own position": [], "own action": []}
        person, played = Client(port), 0
        while time.perf_counter() - began < seconds:
            played += play_a_game(person, names[played % len(names)], times, began + seconds)
        elapsed = time.perf_counter() - began
        positions = sum(watcher.positions for watcher in watchers) - before
        stop.set()
        person.close()
        for watcher in watchers:
            watcher.join(30)
    return {
        "tables": tables,
        "seconds": elapsed,
        "positions_per_second": positions / elapsed,
        "milliseconds": {name: quantiles(found) for name, found in times.items() if found},
    }


def play_a_game(client: Client, game: str, times: dict[str, list[float]], end: float) -> int:
    """Plays the first legal action against an agent until the game or the time is over."""
    body = {"game": game, "options": {}, "seats": ["you", "random"], "pace": PACES[0]}
    made = client.ask("POST", "/api/tables", body)
    where, headers = f"/api/tables/{made['id']}", {"Authorization": f"Bearer {made['seats']['0']}"}

    def timed(name: str, *request: Any, **more: str) -> Any:
        began = time.perf_counter()
        found = client.ask(*request, **more)
        times[name].append(1000 * (time.perf_counter() - began))
        return found

    while time.perf_counter() < end:
        timed("list of games", "GET", "/api/games")
        mine = timed("own position", "GET", where, **headers)
        if mine["over"]:
            break
        if mine["legal"]:
            action = {"action": int(next(iter(mine["legal"]))), "ply": mine["plies"]}
            timed("own action", "POST", f"{where}/actions", action, **headers)
        else:
            time.sleep(0.05)
    return 1


def quantiles(values: list[float]) -> dict[str, float]:
    """The middle, what 95 of 100 stay below, and the longest."""
    ordered = sorted(values)
    return {
        "count": len(ordered),
        "median": statistics.median(ordered),
        "p95": ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))],
        "longest": ordered[-1],
    }


def table(report: dict[str, Any]) -> str:
    """The report as Markdown."""
    lines = [
        f"{report['tables']} tables of agents, {report['positions_per_second']:.0f} positions a second drawn and sent"
        f" to their watchers, for {report['seconds']:.0f} s. A person beside them waits, in milliseconds:",
        "",
        "| request | how many | median | 95 of 100 below | longest |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, found in report["milliseconds"].items():
        numbers = f"{found['median']:.1f} | {found['p95']:.1f} | {found['longest']:.1f}"
        lines.append(f"| {name} | {found['count']} | {numbers} |")
    return "\n".join(lines)


def main() -> None:
    """Measures and prints; writes JSON with --json."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    report = measure(arguments.tables, arguments.seconds)
    print(table(report))
    if arguments.json is not None:
        write_json(arguments.json, report)


if __name__ == "__main__":
    main()
