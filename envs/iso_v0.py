"""ISO, version 0: `env()` and `raw_env()`."""

from iszoo.envs.iso import GAME
from iszoo.envs.registry import env_makers

env, raw_env = env_makers(GAME)
