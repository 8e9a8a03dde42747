from __future__ import annotations

import pickle
from collections import deque
from typing import Any

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")
from open_spiel.python import rl_environment  # noqa: E402
from open_spiel.python.algorithms import mcts, tabular_qlearner  # noqa: E402
from open_spiel.python.observation import make_observation  # noqa: E402

import iszoo  # noqa: E402
from iszoo.envs import state as state_bytes  # noqa: E402
from iszoo.envs.errors import IllegalActionError  # noqa: E402
from iszoo.wrappers.openspiel import PREFIX, register_with_openspiel  # noqa: E402
from tests.frameworks.games import LENIENT, NAMES, play_measured, run_example  # noqa: E402

pytestmark = LENIENT

SETTINGS = [
    "isaac", "isaac(tiebreak=shared)", "iso", "iso(mode=coop)", "iso(mode=solo)",
    "iso(mode=area_control,num_players=3)", "isis_osiris", "isis_osiris(memory=hidden,num_players=3)",
    "isis_osiris(num_players=4,variant=shared_stock)",
]  # fmt: skip


def load(setting: str) -> Any:
    return pyspiel.load_game(PREFIX + setting)


def chance(state: Any, rng: np.random.RandomState) -> None:
    while state.is_chance_node():
        numbers, chances = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(rng.choice(numbers, p=chances))


def plain(state: Any) -> iszoo.envs.aec.GameEnv:
    """The same position in a plain AEC environment."""
    rules = state._rules
    env = iszoo.make(rules.game.name, observation="flat", **rules.one.options)
    env.reset(seed=0)
    env.set_state(state_bytes.to_bytes(rules.game, rules.one.params, state._row))
    return env


def test_every_game_is_registered_once() -> None:
    assert register_with_openspiel() == [PREFIX + name for name in iszoo.REGISTRY]
    assert set(register_with_openspiel()) <= set(pyspiel.registered_names())


@pytest.mark.parametrize("setting", SETTINGS)
def test_openspiels_own_test(setting: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Random games with serialisation, clones, legality, observations and sums of utilities."""
    pyspiel.random_sim_test(load(setting), 2, True, False)
    capfd.readouterr()


@pytest.mark.parametrize("setting", SETTINGS)
def test_play_is_that_of_the_plain_environment(setting: str) -> None:
    """Masks, players, what each sees, and the final rewards of every seat, whoever moved last."""
    game = load(setting)
    observation = make_observation(game)
    winners_last = set()
    for seed in range(12):
        rng = np.random.RandomState(seed)
        state = game.new_initial_state()
        chance(state, rng)
        while not state.is_terminal():
            env, mover = plain(state), state.current_player()
            assert env.agent_selection == f"player_{mover}"
            assert state.legal_actions() == env.legal_actions()
            for seat, agent in enumerate(env.possible_agents):
                assert (state.legal_actions(seat) == []) == (seat != mover)
                if seed == 0:
                    observation.set_from(state, seat)
                    assert observation.tensor.tolist() == env.observe(agent)["observation"].tolist()
            action = int(rng.choice(state.legal_actions()))
            assert state.returns() == [0] * game.num_players()
            state.apply_action(action)
            env.step(action)
            chance(state, rng)
        assert state.returns() == pytest.approx([env.rewards[agent] for agent in env.possible_agents])
        winners_last.add(np.sign(state.returns()[mover]))
    if game.num_players() == 2 and game.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM:
        assert winners_last >= {1, -1}


@pytest.mark.parametrize("name", NAMES)
def test_illegal_actions_are_refused(name: str) -> None:
    state = load(name).new_initial_state()
    chance(state, np.random.RandomState(0))
    wrong = int(np.argmin(state._mask)) if not state._mask.all() else len(state._mask)
    with pytest.raises(IllegalActionError, match="game 0: action"):
        state.apply_action(wrong)


@pytest.mark.parametrize("setting", SETTINGS)
def test_copies_and_serialisation(setting: str) -> None:
    game, rng = load(setting), np.random.RandomState(0)
    state = game.new_initial_state()
    for ply in range(20):
        if state.is_terminal():
            break
        copies = [state.clone(), game.deserialize_state(state.serialize()), pickle.loads(pickle.dumps(state))]
        legal = state.legal_actions()
        action = int(rng.choice(legal))
        before = str(state), state.history()
        for copy in copies:
            assert (str(copy), copy.history(), copy.legal_actions()) == (*before, legal)
            copy.apply_action(action)
        assert (str(state), state.history()) == before, ply
        state.apply_action(action)
        assert {str(copy) for copy in copies} == {str(state)}


@pytest.mark.parametrize("memory", ["open", "hidden"])
def test_what_is_hidden_can_not_be_searched(memory: str) -> None:
    """A reveal of Isis & Osiris is a chance node over all values that were not seen, at their frequencies."""
    state = load(f"isis_osiris(memory={memory},chance_samples=4000)").new_initial_state()
    counts = {1: 2, 2: 6, 3: 2, 4: 1, -1: 2, -2: 6, -3: 2, -4: 1}
    for draw in range(4):
        state.apply_action(36)
        found = {}
        for number, probability in state.chance_outcomes():
            features = state.child(number).observation_tensor(0)[-21:]
            found[int(features[17])] = probability
        total = sum(counts.values())
        assert found == pytest.approx({value: n / total for value, n in counts.items() if n}, abs=0.03)
        state.apply_action(state.chance_outcomes()[draw][0])
        counts[int(state.observation_tensor(0)[-21:][17])] -= 1
        state.apply_action(state.legal_actions()[draw])


def value(state: Any, player: int) -> float:
    """What a player gets with best play, worked out where there are few moves; otherwise 0."""
    if state.is_terminal():
        return float(state.returns()[player])
    if state.is_chance_node():
        return sum(p * value(state.child(number), player) for number, p in state.chance_outcomes())
    legal = state.legal_actions()
    if len(legal) > 4:
        return 0.0
    values = [value(state.child(action), player) for action in legal]
    return max(values) if state.current_player() == player else min(values)


@pytest.mark.parametrize("name", NAMES)
def test_their_mcts_takes_a_win(name: str) -> None:
    """Close to the end, where some moves are sure to win and others aren't."""
    game = load(f"{name}(chance_samples=8)" if iszoo.REGISTRY[name].deal else name)
    for seed in range(200):
        rng = np.random.RandomState(seed)
        state, near_the_end = game.new_initial_state(), deque(maxlen=3)
        while not state.is_terminal():
            chance(state, rng)
            near_the_end.append(state.clone())
            state.apply_action(int(rng.choice(state.legal_actions())))
            chance(state, rng)
        for state in near_the_end:
            legal, mover = state.legal_actions(), state.current_player()
            values = [value(state.child(action), mover) for action in legal]
            if max(values) == 1 and set(values) != {1} and len(legal) <= 100:
                bot = mcts.MCTSBot(game, 1.4, 100 * len(legal), mcts.RandomRolloutEvaluator(1, rng), random_state=rng)
                assert values[legal.index(bot.step(state))] == 1
                return
    raise AssertionError(f"no such position of {name}")


@pytest.mark.parametrize("name", NAMES)
def test_a_tabular_learner_trains_in_their_rl_environment(name: str) -> None:
    env = rl_environment.Environment(load(name))
    players = [tabular_qlearner.QLearner(seat, env.game.num_distinct_actions()) for seat in range(2)]
    for _ in range(3):
        step = env.reset()
        while not step.last():
            mover = step.observations["current_player"]
            action = players[mover].step(step).action
            assert action in step.observations["legal_actions"][mover]
            step = env.step([action])
        for player in players:
            player.step(step)
        assert sum(step.rewards) == pytest.approx(0)
    assert any(player._q_values for player in players)


def test_bad_parameters_are_named() -> None:
    with pytest.raises(Exception, match="mode='chess' is not allowed; choose one of 'competitive'"):
        load("iso(mode=chess)")
    with pytest.raises(ValueError, match="chance_samples=0 is not allowed"):
        load("iso(chance_samples=0)")


def test_the_example_plays_a_game() -> None:
    names: Any = run_example("openspiel")
    assert names["state"].is_terminal()
    assert sum(names["state"].returns()) == pytest.approx(0)


def test_what_is_measured_plays_on() -> None:
    play_measured("openspiel")
