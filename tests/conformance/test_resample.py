"""`resample`: redraws what a player can't know, for search, and nothing that the player can."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations, islice
from typing import Any

import numpy as np

from iszoo.envs import engine
from iszoo.envs.aec import GameEnv
from tests.helpers import Setting, frozen, picture, plies, scaled


def resampled(env: GameEnv, seat: int, seed: int) -> GameEnv:
    """A clone in which what a seat can't know was drawn anew."""
    twin = env.clone()
    engine.resample_batch(env.game.table, twin._rows, np.array([seat]), np.array([seed]), env._params)
    return twin


def known_to(env: GameEnv, seat: int) -> Any:
    """What a seat is shown, and what everybody knows."""
    public = env.agent_selection, env.legal_actions(), env.scores(), env.rewards, env.terminations
    return frozen((env.observe(env.possible_agents[seat]), public))


def test_the_player_notices_nothing(setting: Setting) -> None:
    env = setting.started(3)
    for ply in plies(env):
        for seat in range(len(env.possible_agents)):
            twin = resampled(env, seat, ply)
            twin.set_state(twin.get_state())  # works out mask and player from the position
            assert known_to(twin, seat) == known_to(env, seat)


def test_games_go_on_by_the_rules(setting: Setting) -> None:
    """The oracle, dealt what a resampled start holds, plays the same game to its end."""
    rng = random.Random(0)
    for seed in range(scaled(5)):
        env = resampled(setting.started(seed, observation="flat"), 0, seed)
        oracle = setting.oracle(setting.deal_in(env._rows[0]))
        while legal := env.legal_actions():
            assert legal == oracle.legal_actions()
            action = rng.choice(legal)
            env.step(action)
            oracle.step(action)
            for seat, agent in enumerate(env.possible_agents):
                board, features = oracle.observe(seat)
                assert env.observe(agent)["observation"].tolist() == board + features
        assert oracle.player_to_move() == -1


def deals_like(deal: list[int], rng: random.Random) -> Iterator[list[int]]:
    """A deal, then with its end shuffled from each place on, then with any two of its entries exchanged."""
    yield deal
    for kept in range(len(deal)):
        yield deal[:kept] + rng.sample(deal[kept:], len(deal) - kept)
    for i, j in combinations(range(len(deal)), 2):
        other = deal.copy()
        other[i], other[j] = deal[j], deal[i]
        yield other


def test_only_knowledge_and_seed_count(setting: Setting) -> None:
    """Deals that a player has not been able to tell apart give the same draw, and so does a resampled one."""
    rng = random.Random(1)
    deal = setting.random_deal(rng)
    envs = one, two = setting.env(), setting.env()
    compared = 0
    for seed, other in enumerate(islice(deals_like(deal, rng), scaled(300, least=40))):
        for env, dealt in zip(envs, (deal, other), strict=True):
            env.reset(seed=seed, options={"deal": dealt or None})
        seat = rng.randrange(len(one.possible_agents))
        for ply in plies(*envs, seed=seed):
            if ply == 8 or known_to(one, seat) != known_to(two, seat):
                break
            draw = resampled(one, seat, seed).get_state()
            assert resampled(two, seat, seed).get_state() == draw
            assert resampled(resampled(one, seat, seed + 1), seat, seed).get_state() == draw
            compared += ply > 0
    assert compared > len(deal)


def test_seeds_give_different_draws(setting: Setting) -> None:
    env = setting.started(1)
    draws = [resampled(env, 0, seed) for seed in range(30)]
    assert all(picture(resampled(env, 0, seed)) == picture(draw) for seed, draw in enumerate(draws))
    positions = {tuple(draw.state().tolist()) for draw in draws}
    assert len(positions) == (1 if setting.game.deal is None else 30)
