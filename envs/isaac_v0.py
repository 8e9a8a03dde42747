"""Isaac, version 0: `env()` and `raw_env()`."""

from iszoo.envs.isaac import GAME
from iszoo.envs.registry import env_makers

env, raw_env = env_makers(GAME)
