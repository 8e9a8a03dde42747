"""Real, short trainings with RLlib."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray")
pytest.importorskip("tyro")
torch = pytest.importorskip("torch")

os.environ.setdefault("RAY_AUTH_MODE", "disabled")

import ray  # noqa: E402
from ray.rllib.core.columns import Columns  # noqa: E402

import iszoo  # noqa: E402
from iszoo.baselines import rllib_ppo  # noqa: E402
from iszoo.baselines.agents import view_of  # noqa: E402
from iszoo.baselines.policy import load_card, load_policy  # noqa: E402
from iszoo.wrappers.rllib import POLICY  # noqa: E402
from tests.frameworks.games import LENIENT  # noqa: E402

pytestmark = LENIENT

SHORT = """
    --seed 3 --batch 128 --minibatch 64 --envs-per-runner 2 --env-runners 0 --epochs 1 --games 4 --steps 400
    --remember-every 1 --pool 2 --evaluate-every 0.5 --value-hidden 8 --profile
""".split()  # noqa: SIM905 - as it is typed


@pytest.fixture(autouse=True)
def no_ray_left() -> Iterator[None]:
    ray.shutdown()  # what tests of other files in the same process left
    yield
    ray.shutdown()


def trainer(out: Path, game: str, *more: str) -> rllib_ppo.Trainer:
    hidden = ("8", "8") if game == "iso" else ("16",)
    words = ["--game", game, *SHORT, "--hidden", *hidden, "--out", str(out), *more]
    return rllib_ppo.Trainer(rllib_ppo.parse(rllib_ppo.Arguments, rllib_ppo.MODULE, words))


@pytest.mark.parametrize("name", ["isis_osiris", "iso"])
def test_the_exported_policy_is_the_module(name: str, tmp_path: Path) -> None:
    run = trainer(tmp_path, name, "--imitate", "none")
    before = run._weights()
    run.run()
    game = iszoo.REGISTRY[name]
    policy = load_policy(str(tmp_path / "policy.safetensors"), game)
    after = run._weights()
    assert any(not np.array_equal(before[key], after[key]) for key in before)
    assert all(np.array_equal(policy.network._weights[key], np.float16(after[key]).astype(np.float32)) for key in after)
    # The module that plays: its logits are those of the policy's network, illegal actions masked.
    vec = iszoo.make_vec(name, 32, seed=5)
    vec.random_steps(4)
    view = view_of(vec, np.arange(32), np.arange(32))
    module: Any = run.algo.get_module(POLICY)
    seen = {"observation": torch.as_tensor(view.obs), "action_mask": torch.as_tensor(view.action_mask)}
    out = module.forward_train({Columns.OBS: seen})
    logits = out[Columns.ACTION_DIST_INPUTS].detach().numpy()
    legal = view.action_mask != 0
    assert np.allclose(logits[legal], policy.network.logits(view.obs)[legal], atol=0.02)
    assert (logits[~legal] < -1e30).all()
    values = module.compute_values({Columns.OBS: seen}, out[Columns.EMBEDDINGS])
    assert np.allclose(values.detach().numpy(), policy.values(view), atol=0.05)
    run.close()
    card = load_card(tmp_path / "policy.safetensors")
    assert card.steps >= 400
    assert card.training["algorithm"] == "RLlib PPO"
    assert card.command.startswith(f"python -m iszoo.baselines.rllib_ppo --game {name} --seed 3 ")
    assert json.loads((tmp_path / "profile.json").read_text())["steps_per_second"] > 0


def test_a_run_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    run = trainer(tmp_path, "isis_osiris", "--imitate", "expert:choices:4096")
    learn = run._learn

    def once() -> None:
        learn()
        run.stopping = True

    run._learn = once  # type: ignore[method-assign]
    run.run()
    weights, steps = run._weights(), run.steps
    past = run.algo.learner_group.get_weights(["past_0"])["past_0"]
    assert np.array_equal(past["network.weights.action_bias"], weights["action.bias"])
    run.close()
    assert 0 < steps < 400
    assert [path.name for path in tmp_path.glob("checkpoint-*")] == ["checkpoint-000001"]

    run = trainer(tmp_path, "isis_osiris", "--imitate", "expert:choices:4096")
    run.load()
    assert (run.steps, run.updates, run.remembered) == (steps, 1, 1)
    assert all(np.array_equal(run._weights()[key], weights[key]) for key in weights)
    kept = run.algo.learner_group.get_weights(["past_0"])["past_0"]
    assert all(np.array_equal(kept[key], past[key]) for key in past)
    run.run()
    assert run.steps >= 400
    assert [point["steps"] for point in run.record.curve] == sorted({point["steps"] for point in run.record.curve})
    digest = hashlib.sha256((tmp_path / "policy.safetensors").read_bytes()).hexdigest()
    assert load_card(tmp_path / "policy.safetensors").sha256 == digest
    run.close()


def test_past_selves_have_all_seats_but_one_in_their_share_of_the_games() -> None:
    seats = rllib_ppo.Seats(players=3, past=4, share=0.5)
    games, modules = Counter[int](), Counter[str]()
    for game in range(2000):
        episode = SimpleNamespace(id_=f"game {game}")
        playing = [seats(f"player_{seat}", episode) for seat in range(3)]
        assert playing == [seats(f"player_{seat}", episode) for seat in range(3)]
        games[playing.count(POLICY)] += 1
        modules.update(playing)
    assert set(games) == {1, 3}
    assert 900 < games[1] < 1100
    assert all(400 < modules[f"past_{k}"] < 600 for k in range(4))
    assert rllib_ppo.Seats(players=1, past=0, share=0.5)("player_0", SimpleNamespace(id_="x")) == POLICY


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--game go", "there is no game 'go'; the games are"),
        ("--game iso --option mode=chess", "mode='chess' is not allowed; choose one of"),
        ("--game iso --env-runners 0 --imitate none --resume", "there is no such file to resume"),
    ],
)
def test_bad_arguments(words: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rllib_ppo.main([*words.split(), "--out", str(tmp_path)]) == 1
    assert told in capsys.readouterr().err
