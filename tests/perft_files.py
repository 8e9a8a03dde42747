"""The files of perft counts: `python -m tests.perft_files` writes tests/perft/<game>.txt for every game."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from iszoo.envs.game import Game
from iszoo.envs.perft import perft
from tests.helpers import GAMES, ROOT, Setting, settings_of

# Sequences that are played out for a count; those of the last depth are only counted.
MOST_PLAYED, MOST_PLAYED_BY_DEFAULT = 2_000_000, 60_000_000
HEAD = "# Written by `python -m tests.perft_files`. options; deal, or - without chance; depth; action sequences"


class Count(NamedTuple):
    """A line of a file."""

    setting: Setting
    deal: list[int]
    depth: int
    sequences: int

    @property
    def name(self) -> str:
        """The options, as written in the file: it names the setting."""
        return " ".join(f"{name}={value}" for name, value in self.setting.options.items()) or "-"

    @property
    def line(self) -> str:
        """As written in the file."""
        deal = " ".join(map(str, self.deal)) or "-"
        return f"{self.name}; {deal}; {self.depth}; {self.sequences}"


def path_of(game: Game) -> Path:
    """The file of a game."""
    return ROOT / "tests" / "perft" / f"{game.name}.txt"


def counts(game: Game) -> Iterator[Count]:
    """For a random deal of every setting the counts of every depth that is quickly found."""
    most = MOST_PLAYED_BY_DEFAULT
    for setting in settings_of(game):
        deal = setting.random_deal(random.Random(str(setting)))
        depth, sequences = 0, 1
        while sequences <= most:
            depth += 1
            sequences = perft(game, depth, deal=deal or None, **setting.options)
            yield Count(setting, deal, depth, sequences)
        most = MOST_PLAYED


def read(game: Game) -> list[Count]:
    """The file of a game. Raises KeyError for options that the game doesn't have."""
    by_name = {Count(setting, [], 0, 0).name: setting for setting in settings_of(game)}
    found = []
    for line in path_of(game).read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, deal, depth, sequences = line.split("; ")
            numbers = [] if deal == "-" else [int(number) for number in deal.split()]
            found.append(Count(by_name[name], numbers, int(depth), int(sequences)))
    return found


def main() -> None:
    """Writes all files anew."""
    for game in GAMES:
        lines = [HEAD, *(count.line for count in counts(game))]
        path_of(game).write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{path_of(game).relative_to(ROOT)}: {len(lines) - 1} counts")


if __name__ == "__main__":
    main()
