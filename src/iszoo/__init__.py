"""iszoo: reinforcement-learning environments for the board games Isaac, ISO and Isis & Osiris."""

from iszoo import record
from iszoo._version import __version__
from iszoo.envs import REGISTRY, make, make_vec, register
from iszoo.envs.errors import IllegalActionError, ResetNeeded

__all__ = ["REGISTRY", "IllegalActionError", "ResetNeeded", "__version__", "make", "make_vec", "record", "register"]
