"""What is measured: for each row what exactly is compared, and what is not alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    name: str  #: as in a task's name, "name: how"
    unit: str
    compared: str
    unlike: str


_ARRAYS = (
    "Ours is int8 (2, 6, 7) as the mover sees it, in buffers that the next call overwrites (AEC: fresh arrays)."
    " OpenSpiel's is float32 (3, 6, 7) by seat, the third plane the free cells. Pgx's is bool (6, 7, 2). EnvPool's"
    " is bool (6, 7, 2) for both seats, and it gives the board too. PettingZoo's is int8 (6, 7, 2)."
)


def rows(sizes: Sequence[int]) -> list[Row]:
    """The rows of a run with these numbers of games side by side."""
    batches = [n for n in sizes if n > 1]
    return [
        Row(
            "aec",
            "steps",
            "The same loop over PettingZoo's API: reset(), then last(), a random legal action, step(), until over.",
            "Both make fresh arrays. `env()` of PettingZoo has its wrappers around it, `raw_env()` has not; ours checks"
            " order and legality in both.",
        ),
        Row(
            "one",
            "steps",
            "One game in a loop in Python: observation and mask of the mover as NumPy arrays at every step, a random"
            " legal action from the mask, a new game after each end.",
            _ARRAYS + " Pgx and EnvPool are made for batches, and pay here for being called at all.",
        ),
        *(
            Row(
                f"given {n}",
                "steps",
                f"{n:,} games side by side, the recorded actions of 64 steps given from Python, a call a step. After"
                " each, observation and mask of the mover; a game that ends begins anew.",
                _ARRAYS + " OpenSpiel has no batches in Python: a loop over states that writes two arrays. Pgx's calls"
                " run on asynchronously and are waited for once in 64; its arrays stay in JAX. EnvPool's next game"
                " begins with a step of its own, which doesn't count as one here.",
            )
            for n in batches
        ),
        *(
            Row(
                f"inside {n}",
                "steps",
                f"{n:,} games side by side, 64 steps in one call, all inside compiled code; observation and mask are"
                " written at each.",
                "Ours draws the actions, and plays 64 steps of a game before it turns to the next one. Pgx steps all"
                " games at once in a `lax.scan`, with the recorded actions, or drawing them. The row without the"
                " observation shows that XLA doesn't leave it out of the others.",
            )
            for n in sizes
        ),
        Row(
            "clone",
            "clones",
            "A second, independent copy of a position ten moves into a game.",
            "Rows of a batch are copied 1,024 at a time, without observation and mask. `env.clone()` and deepcopy give"
            " a whole environment. A state of Pgx is immutable: it needs no copy, and has no row here.",
        ),
        Row(
            "restore",
            "positions",
            "Back to a position that was kept, so that it can be played on from.",
            "Ours: 1,024 rows put back, and observation and mask written anew; or one environment from bytes"
            " (`set_state`). OpenSpiel: a clone of the kept state, with nothing written. PettingZoo: a deep copy.",
        ),
        Row(
            "search",
            "simulations",
            "UCT from the empty board, random rollouts, no prior, exploration 2, 20,000 simulations a search, the tree"
            " made anew for each.",
            "OpenSpiel's MCTSBot is C++ on its own C++ game, and allocates its tree as it grows; ours has one array."
            " With `solve` theirs also backs up proven results.",
        ),
        Row(
            "training",
            "steps",
            "An iteration of sb3-contrib's MaskablePPO: 64 games, 64 decisions of the learner in each, then 4 epochs"
            " of batches of 1,024 with the default MlpPolicy; the opponent plays at random.",
            "Ours is LearnerVecEnv; PettingZoo's connect four is played through one wrapper a game in SB3's"
            " DummyVecEnv, as its tutorials do. Most of the time is the network's.",
        ),
    ]
