"""Programs that tests run in other processes."""

from __future__ import annotations

from tests.helpers import GAMES

QUICKEST = min(GAMES, key=lambda game: game.num_actions).name  # to compile

# Plays games alone and in batches, and prints a hash of all that was seen, by name.
PLAY = """
import hashlib, json, sys
import iszoo

def play(name):
    seen = hashlib.sha256()
    env = iszoo.make(name, observation="flat")
    env.reset(seed=3)
    while legal := env.legal_actions():
        for agent in env.agents:
            shown = env.observe(agent)
            seen.update(shown["observation"].tobytes() + shown["action_mask"].tobytes())
        env.step(legal[len(legal) // 2])
    seen.update(repr((env.rewards, env.scores(), env.get_state())).encode())
    vec = iszoo.make_vec(name, 3, seed=5)
    vec.random_steps(env.game.max_game_length + 5)
    vec.step(vec.action_mask.argmax(axis=1))
    for buffer in (vec.rows, vec.obs, vec.action_mask, vec.final_obs, vec.scores, vec.rewards):
        seen.update(buffer.tobytes())
    return seen.hexdigest()

print(json.dumps({name: play(name) for name in sys.argv[1:]}))
"""
