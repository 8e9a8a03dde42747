"""The golden records: `python -m tests.golden_records` writes tests/records/<game>.jsonl for every game.

They pin the rules of today: a change that plays one of them differently is a change of the game's version. Written
anew only when that, or the format, changes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from iszoo import record
from iszoo.baselines.agents import agent_names, make_agent
from iszoo.baselines.match import play
from iszoo.envs.game import Game
from iszoo.envs.primitives import NUM_PLAYERS
from tests.helpers import GAMES, ROOT, Setting, covering, settings_of

SCRATCH = ROOT / "tests" / "records" / ".scratch"


def path_of(game: Game) -> Path:
    """The file of a game."""
    return ROOT / "tests" / "records" / f"{game.name}.jsonl"


def golden(game: Game) -> Iterator[record.Record]:
    """Games between agents, games at random with a given deal, one broken off, and one ended by an illegal action."""
    for k, setting in enumerate(covering(settings_of(game))):
        players = int(setting.params[NUM_PLAYERS])
        names = [agent_names(game)[-1 - (seat + k) % 2] for seat in range(players)]
        SCRATCH.unlink(missing_ok=True)
        play(game, [make_agent(name, game) for name in names], players, seed=k, record=SCRATCH, **setting.options)
        yield next(record.read(SCRATCH))
        yield at_random(setting, k)
    yield at_random(Setting(game, {}), 100, most=7)
    yield at_random(Setting(game, {}), 101, most=5, offended=True)
    SCRATCH.unlink()


def at_random(setting: Setting, seed: int, most: int | None = None, offended: bool = False) -> record.Record:
    """A game with random actions, on a given deal where there is chance."""
    env = setting.env()
    deal = setting.random_deal(random.Random(seed)) or None
    env.reset(seed=seed, options={"deal": deal})
    rng = random.Random(seed)
    actions: list[int] = []
    while (legal := env.legal_actions()) and len(actions) != most:
        actions.append(rng.choice(legal))
        env.step(actions[-1])
    return record.make(
        setting.game, seed=seed, actions=actions, agents=["random"] * len(env.possible_agents),
        options=setting.options, deal=deal, offended=offended,
    )  # fmt: skip


def main() -> None:
    """Writes all files anew."""
    for game in GAMES:
        path_of(game).unlink(missing_ok=True)
        record.append(path_of(game), golden(game))
        print(f"{path_of(game).relative_to(ROOT)}: {len(path_of(game).read_text().splitlines())} games")


if __name__ == "__main__":
    main()
