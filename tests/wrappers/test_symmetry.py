"""Symmetries are proved by playing: legal(g s) = g legal(s), step(g s, g a) = g step(s, a), for every seat's view."""

from typing import Any

import numpy as np
import pytest

import iszoo
from iszoo.envs.game import Game
from iszoo.wrappers.symmetry import Symmetry, augment, symmetries
from tests.helpers import settings_of
from tests.oracle.iso import Oracle as IsoOracle

GAMES = [pytest.param(game, id=game.name) for game in iszoo.REGISTRY.values()]
ORDER = {"isaac": 1, "isis_osiris": 8, "iso": 6}


@pytest.mark.parametrize("game", GAMES)
def test_playing_the_turned_actions_gives_the_turned_game(game: Game) -> None:
    rng = np.random.default_rng(0)
    for setting in settings_of(game):
        for g in symmetries(game):
            plain, turned = (iszoo.make(game.name, observation="flat", **setting.options) for _ in range(2))
            plain.reset(seed=4)
            turned.reset(seed=4)
            while True:
                assert plain.agent_selection == turned.agent_selection
                for agent in plain.possible_agents:
                    one, two = plain.observe(agent), turned.observe(agent)
                    np.testing.assert_array_equal(g.observe(one["observation"]), two["observation"])
                    np.testing.assert_array_equal(g.per_action(one["action_mask"]), two["action_mask"])
                if plain.terminations[plain.agent_selection]:
                    break
                action = int(rng.choice(plain.legal_actions()))
                plain.step(action)
                turned.step(int(g.action[action]))
            assert plain.rewards == turned.rewards
            assert plain.scores() == turned.scores()


@pytest.mark.parametrize("game", GAMES)
def test_they_are_a_group(game: Game) -> None:
    group = symmetries(game)
    assert len(group) == ORDER[game.name]
    np.testing.assert_array_equal(group[0].observation, np.arange(game.obs_size))
    np.testing.assert_array_equal(group[0].action, np.arange(game.num_actions))
    known = {(g.observation.tobytes(), g.action.tobytes()) for g in group}
    assert len(known) == len(group)
    for g in group:
        assert g.holds_from_start
        for h in group:
            both = g.observation[h.observation], h.action[g.action]
            assert (both[0].tobytes(), both[1].tobytes()) in known


def test_shifts_of_iso_hold_from_the_first_tile_on() -> None:
    """On the oracle's unbounded table, where a shifted position can be set up."""
    game = iszoo.REGISTRY["iso"]
    rng = np.random.default_rng(1)
    shifted = symmetries(game, shifts=True)
    assert len(shifted) == 6 * 256
    for g in [shifted[int(k)] for k in rng.choice(len(shifted), 12, replace=False)]:
        deal = rng.permutation(np.arange(1, 19)).tolist()
        plain = IsoOracle(deal)
        plain.step(int(rng.choice(plain.legal_actions())))
        turned = _turned(plain, g)
        while plain.player_to_move() >= 0:
            for seat in range(2):
                one, two = (np.concatenate(o.observe(seat)) for o in (plain, turned))
                np.testing.assert_array_equal(g.observe(one), two)
            assert sorted(g.action[plain.legal_actions()].tolist()) == turned.legal_actions()
            action = int(rng.choice(plain.legal_actions()))
            plain.step(action)
            turned.step(int(g.action[action]))
        assert plain.returns() == turned.returns()


def _turned(oracle: IsoOracle, g: Symmetry) -> IsoOracle:
    """A copy of a position with one tile, which stands where g puts it."""
    twin = oracle.copy()
    ((cell, (number, rotation)),) = twin.table.items()
    action = int(g.action[rotation * 256 + cell[0] * 16 + cell[1]])
    rotation, place = action // 256, divmod(action % 256, 16)
    twin.table = {place: (number, rotation)}
    twin.last = place
    return twin


@pytest.mark.parametrize("game", GAMES)
def test_augmentation_turns_all_parts_of_a_batch_alike(game: Game) -> None:
    vec = iszoo.make_vec(game.name, 64, seed=0)
    vec.random_steps(6)
    rng = np.random.default_rng(0)
    actions = (rng.random(vec.action_mask.shape) * vec.action_mask).argmax(axis=1)
    policy = np.zeros(vec.action_mask.shape, np.float32)
    policy[np.arange(64), actions] = 1
    group = symmetries(game)
    before = vec.obs.copy()
    obs, mask, turned, chosen = augment(group, rng, vec.obs, vec.action_mask, policy, actions=actions)
    np.testing.assert_array_equal(vec.obs, before)
    assert (mask[np.arange(64), chosen] == 1).all()
    np.testing.assert_array_equal(turned.argmax(axis=1), chosen)
    for i in range(64):
        assert any(np.array_equal(g.observe(vec.obs[i]), obs[i]) and g.action[actions[i]] == chosen[i] for g in group)
    if len(group) > 1:
        assert (obs != vec.obs).any()


def test_unknown_games() -> None:
    import dataclasses

    stranger: Any = dataclasses.replace(iszoo.REGISTRY["isaac"], name="chess")
    with pytest.raises(ValueError, match="isaac, iso, isis_osiris"):
        symmetries(stranger)
