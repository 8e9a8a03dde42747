"""The action mask is what brute force finds: an action is legal if and only if step() takes it."""

from __future__ import annotations

import pytest

import iszoo
from iszoo import IllegalActionError
from iszoo.envs.aec import GameEnv
from iszoo.envs.game import Game
from tests.helpers import Setting, picture, plies, scaled


def brute_force(env: GameEnv) -> list[int]:
    """The actions that clones of an environment accept. Refused ones must leave the clone as it was."""
    accepted = []
    before = picture(env)
    position = env.get_state()
    clone = env.clone()
    for action in range(env.game.num_actions):
        try:
            clone.step(action)
        except IllegalActionError:
            assert clone.get_state() == position
        else:
            accepted.append(action)
            assert picture(clone) != before
            clone = env.clone()
    assert picture(clone) == before
    return accepted


def test_masks_are_what_brute_force_finds(setting: Setting) -> None:
    env = setting.started(2)
    every = max(1, setting.game.max_game_length // scaled(10))
    checked = 0
    for ply in plies(env):
        if ply % every and ply > 1:
            continue
        if not env.legal_actions():
            break
        accepted = brute_force(env)
        assert accepted == env.legal_actions()
        for agent in env.possible_agents:
            mask = env.observe(agent)["action_mask"]
            assert mask.nonzero()[0].tolist() == (accepted if agent == env.agent_selection else [])
        checked += 1
    assert checked >= 2


def test_notation_names_every_action_once(game: Game) -> None:
    """Strings name actions, and every string that an action gives leads back to it."""
    env = iszoo.make(game.name)
    names = [env.action_to_string(action) for action in range(game.num_actions)]
    assert len(set(names)) == len(names)
    assert [env.string_to_action(name) for name in names] == list(range(len(names)))
    with pytest.raises(ValueError, match="'no such action'"):
        env.string_to_action("no such action")
    for action in (-1, len(names)):
        with pytest.raises(IllegalActionError, match="out of range"):
            env.action_to_string(action)
