"""An hour of play in every setting, with everything watched that must hold.  `python -m tests.soak --minutes 60`

It is here, beside the oracles, because they are what it holds the engine against: positions, masks, points and rewards
are worked out again by the second copy of the rules. In turns over all games and options it plays

- games followed by the oracle, of random, greedy, expert and searching agents: player, mask, observation and points at
  every ply, rewards at the end, bytes of a position and back;
- batches of random games, hundreds at a time, through many ends: pieces and tiles are conserved, observations lie in
  their spaces, a running game has a legal action and one that is over has none.

The first round over all settings is played again at the end and must show the same. Memory must be flat. It prints
its figures, writes them with --out, and exits with 1 when something did not hold (the message has what repeats it).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from iszoo.baselines.agents import Agent, make_agent, view_of
from iszoo.envs import state
from iszoo.envs.game import Game
from iszoo.envs.spaces import bare_space
from iszoo.envs.vec import VecEnv
from iszoo.reports import machine, write_json
from tests.helpers import GAMES, Setting, settings_of

AGENTS = ("random", "greedy", "expert", "mcts:20")
FOLLOWED = 4  # games side by side that oracles follow
BATCH = 256
MOST_GROWTH = 32.0  # MB after the first round, beyond which memory is not flat


def demand(holds: Any, what: str) -> None:
    """Raises AssertionError unless something holds."""
    if not np.all(holds):
        raise AssertionError(what)


# --- What must hold of rows --------------------------------------------------------------------------------


def bits(words: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """How many bits each word has."""
    return np.unpackbits(words[..., None].astype("<i8").view(np.uint8), axis=-1).sum(axis=-1, dtype=np.int64)


def isaac_pieces(rows: Any, options: Any) -> None:
    """Fifteen pieces each: unplayed, on the board, or removed; nothing is removed before a longest one is."""
    unplayed = sum((rows["unplayed"] >> (8 * k)) & 255 for k in range(5)).sum(axis=1)
    on_board = bits(rows["sets"][:, 0, -1]).sum(axis=-1)
    demand(unplayed + on_board <= 30, "isaac: there are more than 30 pieces")
    untouched = (rows["longest"] == 0).all(axis=1)
    demand((unplayed + on_board == 30)[untouched], "isaac: a piece is missing")
    demand((rows["score"] >= 0) & (rows["score"] <= 100), "isaac: a score is out of range")


def iso_tiles(rows: Any, options: Any) -> None:
    """Every tile is once an objective, in a slot, in the pile or on the table."""
    total = 14 if options["mode"] == "area_control" else 18
    piled = sum(((rows["pile"] >> (5 * k)) & 31 > 0).astype(np.int64) for k in range(12))
    shown, in_slots = bits(rows["shown"]), (rows["slot_number"] > 0).sum(axis=1)
    objectives = 0 if options["mode"] == "area_control" else shown
    demand(objectives + in_slots + piled + rows["placed"] == total, "iso: tiles are not conserved")
    won = rows["won"]
    demand((won[:, 0] & won[:, 1]) | (won[:, 0] & won[:, 2]) | (won[:, 1] & won[:, 2]) == 0, "iso: won twice")


def isis_osiris_pieces(rows: Any, options: Any) -> None:
    """Stones and tiles are in stock, in hand or on the board, one piece a cell."""
    players = options["num_players"]
    each = {2: (8, 11), 3: (6, 7), 4: (5, 5)}[players]
    stones = bits(rows["stones"])
    demand((stones + rows["stones_left"])[:, :players] == each[0], "isis_osiris: stones are not conserved")
    tiles = bits(rows["tiles"]) + (rows["hand"] != 0) + rows["tiles_left"].sum(axis=1)
    dealt = 22 if options["variant"] == "shared_stock" else players * each[1]
    demand(tiles == dealt, "isis_osiris: tiles are not conserved")
    taken = stones.sum(axis=1) + bits(rows["tiles"])
    union = bits(rows["tiles"] | np.bitwise_or.reduce(rows["stones"], axis=1))
    demand(taken == union, "isis_osiris: two pieces on one cell")


CONSERVED: dict[str, Any] = {"isaac": isaac_pieces, "iso": iso_tiles, "isis_osiris": isis_osiris_pieces}


class Watch:
    """What must hold of every batch of a setting."""

    def __init__(self, setting: Setting) -> None:
        self.game, self.options = setting.game, setting.game.resolve(setting.options)
        space: Any = bare_space(self.game, self.options, "flat")
        self.low, self.high = space.low, space.high
        self.conserved = CONSERVED.get(self.game.name)

    def look(self, vec: VecEnv) -> None:
        """Raises AssertionError for what doesn't hold."""
        running = vec.player >= 0
        demand(vec.action_mask.any(axis=1) == running, "a running game has no legal action, or a finished one has")
        demand(vec.action_mask <= 1, "a mask has something else than 0 and 1")
        demand((vec.obs >= self.low) & (vec.obs <= self.high), "an observation is outside its space")
        ended = vec.final_obs[vec.done]
        demand((ended >= self.low) & (ended <= self.high), "a last observation is outside its space")
        demand(~vec.rewards[~vec.done].any(), "a reward before the end")
        if self.conserved is not None:
            for rows in (vec.rows, vec.final_rows[vec.done]):
                self.conserved(np.ascontiguousarray(rows).view(self.game.row)[:, 0], self.options)


# --- Play --------------------------------------------------------------------------------------------------


def followed_games(setting: Setting, watch: Watch, names: Sequence[str], seed: int, seen: Any) -> int:
    """Games of agents in all seats, which oracles follow; how many plies."""
    rng = random.Random(seed)
    deals = [setting.random_deal(rng) for _ in range(FOLLOWED)]
    vec = setting.vec(FOLLOWED, autoreset="disabled", seed=seed)
    if deals[0]:
        vec.reset(deal=deals)
    agents = [_agent(name, setting.game) for name in names]
    oracles = [setting.oracle(deal) for deal in deals]
    again = setting.env()
    plies = 0
    while True:
        watch.look(vec)
        for i, oracle in enumerate(oracles):
            _compare(vec, i, oracle)
        running = np.flatnonzero(vec.player >= 0)
        if not len(running):
            break
        _there_and_back(vec, int(rng.choice(running)), again)
        actions = np.zeros(FOLLOWED, np.int64)
        chosen = np.array([rng.randrange(len(agents)) for _ in running])
        for k, agent in enumerate(agents):
            games = running[chosen == k]
            if len(games):
                seeds = np.array([rng.getrandbits(62) for _ in games], np.int64)
                actions[games] = agent.act(view_of(vec, games, seeds))
        vec.step(actions, where=vec.player >= 0)
        for i in running:
            oracles[i].step(int(actions[i]))
            demand(vec.done[i] == (oracles[i].player_to_move() < 0), f"game {i}: over or not?")
            if vec.done[i]:
                expected = oracles[i].returns("outcome")
                demand(np.isclose(vec.rewards[i], expected, atol=1e-6), f"rewards {vec.rewards[i]}, not {expected}")
        seen.update(actions.tobytes())
        plies += len(running)
    seen.update(vec.rows.tobytes())
    return plies


def _compare(vec: VecEnv, i: int, oracle: Any) -> None:
    mover = oracle.player_to_move()
    demand(vec.player[i] == mover, f"game {i}: player {vec.player[i]} moves, not {mover}")
    demand(np.flatnonzero(vec.action_mask[i]) == oracle.legal_actions(), f"game {i}: another mask than the oracle's")
    demand(vec.scores[i] == oracle.scores(), f"game {i}: points {vec.scores[i]}, not {oracle.scores()}")
    if mover >= 0:
        board, features = oracle.observe(mover)
        demand(vec.obs[i] == [*board, *features], f"game {i}: another observation than the oracle's")


def _there_and_back(vec: VecEnv, i: int, env: Any) -> None:
    """A position as bytes, in another environment, and the bytes of that."""
    kept = state.to_bytes(vec.game, vec.params, vec.rows[i])
    env.set_state(kept)
    demand(env.get_state() == kept, "a position does not come back from its bytes")
    demand(env.legal_actions() == np.flatnonzero(vec.action_mask[i]).tolist(), "other actions after set_state")
    demand(env.scores() == vec.scores[i].tolist(), "other points after set_state")


_agents: dict[tuple[str, str], Agent] = {}


def _agent(name: str, game: Game) -> Agent:
    if (name, game.name) not in _agents:
        _agents[name, game.name] = make_agent(name, game)
    return _agents[name, game.name]


def random_games(setting: Setting, watch: Watch, seed: int, seen: Any) -> tuple[int, int]:
    """A batch of random games through many ends; how many steps, and how many of them were looked at."""
    vec = setting.vec(BATCH, seed=seed)
    looked = 0
    for _ in range(setting.game.max_game_length):
        vec.random_steps(1)
        watch.look(vec)
        looked += BATCH
    steps = looked
    for _ in range(5):
        steps += vec.random_steps(400, observe=False)
        watch.look(vec)
    seen.update(vec.rows.tobytes())
    return steps, looked


# --- The hour ----------------------------------------------------------------------------------------------


def memory() -> float:
    """What this process has in memory, MB; the most that it had where the system doesn't tell more."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


class Soak:
    """All settings in turns, and the figures."""

    def __init__(self, games: Sequence[Game], agents: Sequence[str], seed: int) -> None:
        self.settings = [setting for game in games for setting in settings_of(game)]
        self.watches = [Watch(setting) for setting in self.settings]
        self.agents = agents
        self.seed = seed
        self.counts: Counter[str] = Counter()
        self.by_game: Counter[str] = Counter()

    def unit(self, number: int) -> bytes:
        """A few followed games and a batch of random ones in one setting; a hash of all that was played."""
        k = number % len(self.settings)
        setting, watch, seed = self.settings[k], self.watches[k], self.seed + 1_000 * number
        seen = hashlib.sha256()
        try:
            plies = followed_games(setting, watch, self.agents, seed, seen)
            steps, looked = random_games(setting, watch, seed, seen)
        except Exception as error:
            raise AssertionError(f"{setting!r}, unit {number} with --seed {self.seed}: {error}") from error
        self.counts.update(units=1, followed_games=FOLLOWED, followed_plies=plies, random_steps=steps, looked_at=looked)
        self.by_game.update({setting.game.name: steps + plies})
        return seen.digest()

    def run(self, seconds: float) -> dict[str, Any]:
        """Plays for so long, at least a round over all settings; the figures. Raises AssertionError."""
        began, at_start = time.monotonic(), memory()
        a_round = [self.unit(number) for number in range(len(self.settings))]
        after_warm_up = most = memory()
        number = len(self.settings)
        while time.monotonic() - began < seconds:
            self.unit(number)
            number += 1
            most = max(most, memory())
        again = [self.unit(number) for number in range(len(self.settings))]
        demand(a_round == again, f"the first round is another one when played again, with --seed {self.seed}")
        at_end = memory()
        figures = {
            "seconds": round(time.monotonic() - began, 1),
            "seed": self.seed,
            "agents": list(self.agents),
            "settings": len(self.settings),
            **self.counts,
            "steps_by_game": dict(self.by_game),
            "digest_of_the_first_round": hashlib.sha256(b"".join(a_round)).hexdigest(),
            "memory_mb": {
                "start": round(at_start, 1),
                "after_the_first_round": round(after_warm_up, 1),
                "most": round(most, 1),
                "end": round(at_end, 1),
            },
            "machine": machine(),
        }
        demand(at_end - after_warm_up < MOST_GROWTH, f"memory grew by {at_end - after_warm_up:.1f} MB: {figures}")
        return figures


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("games", nargs="*", help=f"some of {', '.join(game.name for game in GAMES)}; all by default")
    parser.add_argument("--minutes", type=float, default=60, help="for how long")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--agents", default=",".join(AGENTS), help="who plays, with commas between")
    parser.add_argument("--out", type=Path, help="where the figures are written as JSON")
    given = parser.parse_args(arguments)
    known = {game.name: game for game in GAMES}
    if unknown := set(given.games) - set(known):
        parser.error(f"there is no game {', '.join(sorted(unknown))}; the games are {', '.join(known)}")
    games = [known[name] for name in given.games] or list(GAMES)
    try:
        figures = Soak(games, given.agents.split(","), given.seed).run(60 * given.minutes)
    except AssertionError as error:
        print(f"did not hold: {error}", file=sys.stderr)
        return 1
    print(json.dumps(figures, indent=1))
    if given.out is not None:
        write_json(given.out, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
