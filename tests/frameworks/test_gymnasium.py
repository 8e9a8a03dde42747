"""Gymnasium: the single-agent environment and the vector environment, with legal play and the right rewards."""

import re
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import iszoo
from iszoo.envs.game import Game
from iszoo.wrappers.gymnasium import LearnerVectorEnv, SingleAgentEnv
from tests.frameworks.games import DECIDED, ROOT, Replay, decided, play_measured

GAMES = [pytest.param(game, id=game.name) for game in iszoo.REGISTRY.values()]
LAYOUTS = ("flat", "split", "planes")


def registered(game: Game) -> str:
    return f"iszoo/{game.gym_name}-v{game.version}"


def choose(mask: Any, rng: np.random.Generator) -> Any:
    return (rng.random(mask.shape) * mask).argmax(axis=-1)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_gymnasiums_checker(game: Game, layout: str) -> None:
    with warnings.catch_warnings():
        # A constant feature, such as the number of players, has equal bounds; and a board is no image.
        warnings.filterwarnings("ignore", message=".*(maximum and minimum values are equal|image|infinity).*")
        env = gymnasium.make(registered(game), opponent="random", observation=layout, illegal="terminate").unwrapped
        check_env(env, skip_render_check=True)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_learner_plays_legal_games(game: Game, layout: str) -> None:
    env = SingleAgentEnv(game.name, opponent=["random", "random"], observation=layout)
    rng = np.random.default_rng(0)
    before = env.action_masks()
    assert before.dtype == np.bool_
    assert before.any()
    for seed in range(5):
        observation, info = env.reset(seed=seed)
        rewards = []
        while True:
            assert env.observation_space.contains(observation)
            np.testing.assert_array_equal(observation["action_mask"], env.action_masks())
            np.testing.assert_array_equal(info["action_mask"], env.action_masks())
            kept = observation["action_mask"].copy()
            observation_before = observation
            observation, reward, terminated, truncated, info = env.step(choose(observation["action_mask"], rng))
            np.testing.assert_array_equal(observation_before["action_mask"], kept)
            rewards.append(reward)
            assert not truncated
            if terminated:
                break
        assert not observation["action_mask"].any()
        assert set(rewards[:-1]) <= {0.0}
        assert rewards[-1] == pytest.approx(_outcome(env)[info["seat"]])
        with pytest.raises(iszoo.ResetNeeded):
            env.step(0)


def _outcome(env: SingleAgentEnv) -> list[float]:
    plain = iszoo.make(env.games.game.name, **env.games.vec.options)
    plain.reset()
    plain._rows[0] = env.games.vec.rows[0]
    plain.set_state(plain.get_state())
    return list(plain.rewards.values())


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("game", GAMES)
def test_autoreset_modes(game: Game, mode: AutoresetMode) -> None:
    """The same games in every mode: they differ in when the next one is shown."""
    envs = LearnerVectorEnv(game.name, 6, seat=0, autoreset_mode=mode)
    assert envs.metadata["autoreset_mode"] is mode
    single = [SingleAgentEnv(game.name, seat=0) for _ in range(6)]
    shown, info = envs.reset(seed=40)
    for i, env in enumerate(single):
        expected, _ = env.reset(seed=40 + i)
        _assert_same(shown, i, expected)
    rng = np.random.default_rng(0)
    over = np.zeros(6, np.bool_)
    ends = 0
    for _ in range(150):
        actions = choose(info["action_mask"], rng)
        shown, rewards, terminated, truncated, info = envs.step(actions)
        assert envs.observation_space.contains(shown)
        assert not truncated.any()
        for i, env in enumerate(single):
            if over[i] and mode is AutoresetMode.NEXT_STEP:
                expected, _ = env.reset()
                reward, done = 0.0, False
            else:
                expected, reward, done, _, _ = env.step(actions[i])
            assert rewards[i] == pytest.approx(reward)
            assert terminated[i] == done
            if done and mode is AutoresetMode.SAME_STEP:
                assert info["_final_obs"][i]
                final = info["final_obs"][i]
                np.testing.assert_array_equal(final["observation"], expected["observation"])
                assert not final["action_mask"].any()
                expected, _ = env.reset()
            _assert_same(shown, i, expected)
        ends += int(terminated.sum())
        over = terminated.copy()
        if mode is AutoresetMode.DISABLED and over.any():
            with pytest.raises(iszoo.ResetNeeded, match="reset_mask"):
                envs.step(actions)
            shown, info = envs.reset(options={"reset_mask": over})
            for i in np.flatnonzero(over):
                expected, _ = single[i].reset()
                _assert_same(shown, int(i), expected)
    assert ends > 6


def _assert_same(shown: Any, i: int, expected: Any) -> None:
    np.testing.assert_array_equal(shown["observation"][i], expected["observation"])
    np.testing.assert_array_equal(shown["action_mask"][i], expected["action_mask"])


@pytest.mark.parametrize("game", GAMES)
def test_final_observations_stay_true(game: Game) -> None:
    envs = LearnerVectorEnv(game.name, 4, autoreset_mode=AutoresetMode.SAME_STEP)
    _, info = envs.reset(seed=0)
    rng = np.random.default_rng(0)
    kept: list[tuple[Any, Any]] = []
    for _ in range(150):
        _, _, _, _, info = envs.step(choose(info["action_mask"], rng))
        for final in info.get("final_obs", []):
            if final is not None:
                kept.append((final["observation"], final["observation"].copy()))
    assert kept
    for later, then in kept:
        np.testing.assert_array_equal(later, then)


@pytest.mark.parametrize("game", GAMES)
def test_make_vec_of_gymnasium(game: Game) -> None:
    envs = gymnasium.make_vec(registered(game), num_envs=3, vectorization_mode="vector_entry_point")
    assert isinstance(envs.unwrapped, LearnerVectorEnv)
    assert envs.num_envs == 3
    shown, _ = envs.reset(seed=1)
    assert envs.observation_space.contains(shown)


def test_record_episode_statistics_accepts_it() -> None:
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(
        LearnerVectorEnv("isis_osiris", 4, autoreset_mode=AutoresetMode.SAME_STEP)
    )
    _, info = envs.reset(seed=0)
    rng = np.random.default_rng(0)
    episodes = 0
    for _ in range(60):
        _, _, _, _, info = envs.step(choose(info["action_mask"], rng))
        episodes += int(info["_episode"].sum()) if "_episode" in info else 0
    assert episodes > 0


@DECIDED
def test_who_wins_gets_plus_one_and_who_loses_minus_one(game: tuple[str, int, bool]) -> None:
    """On every seat, whoever makes the last move."""
    record = decided(*game)
    for seat, (agent, reward) in enumerate(record.rewards.items()):
        env = SingleAgentEnv(record.name, seat=seat, **record.game_options)
        env.games.set_opponents(Replay(record, agent))
        env.reset(seed=record.seed)
        own = [action for action, mover in zip(record.actions, record.movers, strict=True) if mover == agent]
        steps = [env.step(action) for action in own]
        assert [step[1] for step in steps] == pytest.approx([0.0] * (len(own) - 1) + [reward])
        assert [step[2] for step in steps] == [False] * (len(own) - 1) + [True]


def trained(name: str, num_envs: int, steps: int, features: int | None = None) -> tuple[list[float], Any]:
    """Trains a linear policy by REINFORCE; the margins of the games, in order, and the weights.

    features: how many random combinations of the observation it sees; by default the observation itself.
    """
    envs = LearnerVectorEnv(name, num_envs, reward="margin", autoreset_mode=AutoresetMode.SAME_STEP)
    shown, _ = envs.reset(seed=0)
    rng = np.random.default_rng(0)
    size, actions = shown["observation"].shape[1], shown["action_mask"].shape[1]
    seen = np.eye(size) / 4 if features is None else rng.normal(0, size**-0.5, (size, features))
    weights = np.zeros((seen.shape[1], actions))
    gradients = np.zeros((num_envs, *weights.shape))
    margins: list[float] = []
    for _ in range(steps):
        inputs = shown["observation"] @ seen
        logits = np.where(shown["action_mask"], inputs @ weights, -np.inf)
        chances = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        chosen = (chances.cumsum(axis=1) > rng.random((num_envs, 1))).argmax(axis=1)
        gradients += inputs[:, :, None] * (np.eye(actions)[chosen] - chances)[:, None, :]
        shown, rewards, over, _, _ = envs.step(chosen)
        if over.any():
            margins += rewards[over].tolist()
            advantages = rewards[over] - np.mean(margins[-500:])
            weights += 5 / num_envs * np.einsum("n,nda->da", advantages, gradients[over])
            gradients[over] = 0
    return margins, weights


@pytest.mark.parametrize("game", GAMES)
def test_a_policy_trains(game: Game) -> None:
    """illegal="raise", the default, would stop it."""
    margins, weights = trained(game.name, 8, 3 * game.max_game_length, features=4)
    assert len(margins) >= 8
    assert np.isfinite(weights).all()
    assert weights.any()


def test_it_learns_to_beat_random() -> None:
    margins, _ = trained("isis_osiris", 64, 2000)
    assert np.mean(margins[-400:]) > np.mean(margins[:400]) + 0.1


def test_the_page_of_the_docs() -> None:
    page = (ROOT / "docs" / "frameworks" / "gymnasium.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, "gymnasium.md", "exec"), {"__name__": "__main__"})


def test_what_is_measured_plays_on() -> None:
    play_measured("gymnasium")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"observation": "pixels"}, "'planes', 'split', 'flat'"),
        ({"render_mode": "hologram"}, "'ansi'"),
        ({"opponent": "stockfish"}, "random, greedy, expert"),
        ({"num_players": 9}, "2, 3, 4"),
        ({"illegal": "ignore"}, "'raise', 'terminate'"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SingleAgentEnv("isis_osiris", **arguments)


def test_calls_before_reset() -> None:
    with pytest.raises(iszoo.ResetNeeded):
        SingleAgentEnv("isis_osiris").step(0)
    with pytest.raises(iszoo.ResetNeeded):
        LearnerVectorEnv("isis_osiris", 2).step(np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="no options"):
        SingleAgentEnv("isis_osiris").reset(options={"deal": []})
    with pytest.raises(ValueError, match="reset_mask"):
        LearnerVectorEnv("isis_osiris", 2).reset(options={"mask": []})
