"""Real, short trainings by search."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("tyro")
torch = pytest.importorskip("torch")
pytest.importorskip("tensorboard")

import iszoo  # noqa: E402
from iszoo.baselines import POLICIES, alphazero, networks, ppo  # noqa: E402
from iszoo.baselines.agents import make_agent  # noqa: E402
from iszoo.baselines.match import match  # noqa: E402
from iszoo.baselines.networks import Network  # noqa: E402
from iszoo.baselines.policy import load_card  # noqa: E402
from iszoo.baselines.search.network_search import NetworkSearchAgent, NetworkSearchOptions  # noqa: E402
from iszoo.baselines.training.arguments import FREE, PRESETS, command, parse, plain  # noqa: E402
from iszoo.baselines.training.self_play import Positions, Replay, Task, improved, play  # noqa: E402
from iszoo.baselines.training.torch_networks import TorchNetwork  # noqa: E402
from iszoo.envs.primitives import OUTCOME  # noqa: E402
from tests.frameworks.games import LENIENT, NAMES, ROOT  # noqa: E402

pytestmark = LENIENT

SHORT = """
    --seed 3 --simulations 6 --games-a-task 6 --steps 900 --games 2 --replay 1000 --batch-size 64
    --evaluate-every 0.4 --evaluate-simulations 3 --value-hidden 8 --opponents random --imitate none --settle 0
""".split()  # noqa: SIM905 - as it is typed


def arguments(out: Path, game: str = "isis_osiris", *more: str) -> alphazero.Arguments:
    hidden = ("16",) if game == "isaac" else ("8", "8")
    words = ["--game", game, *SHORT, "--start", "", "--hidden", *hidden, "--out", str(out), *more]
    return alphazero.parse(alphazero.Arguments, alphazero.MODULE, words, alphazero.PRESETS)


def trained(*words: Any) -> alphazero.Trainer:
    trainer = alphazero.Trainer(arguments(*words))
    trainer.run()
    return trainer


def digest(folder: Path) -> str:
    return hashlib.sha256((folder / "policy.safetensors").read_bytes()).hexdigest()


def curve(folder: Path) -> list[dict[str, Any]]:
    """The learning curve, without the seconds."""
    points = [json.loads(line) for line in (folder / "curve.jsonl").read_text().splitlines()]
    return [{name: value for name, value in point.items() if "seconds" not in name} for point in points]


def a_task(name: str, **changes: Any) -> Task:
    game = iszoo.REGISTRY[name]
    options = game.resolve(changes.pop("options", {}))
    architecture = {"kind": "mlp", "hidden": [8], "value_hidden": [8]}
    torch.manual_seed(0)
    weights = TorchNetwork(game, options, architecture).export()
    given: dict[str, Any] = {
        "game": name, "options": options, "architecture": architecture, "weights": weights, "games": 5, "seed": 7,
        "simulations": 8, "search": NetworkSearchOptions(margin=0.5), "noise": 0.25, "alpha": 10.0, "explore": 5,
        "bootstrap": 0.0,
    }  # fmt: skip
    return Task(**{**given, **changes})


@pytest.mark.parametrize("name", NAMES)
def test_self_play_teaches_policies_and_results_as_the_mover_sees_them(name: str) -> None:
    task = a_task(name)
    positions = play(task)
    again = play(task)
    assert all((value == again.arrays()[key]).all() for key, value in positions.arrays().items())
    game = iszoo.REGISTRY[name]
    replay = Replay(game, task.options, 4096, task.search.width)
    replay.add(positions)
    rng = np.random.default_rng(0)
    obs, mask, policy, values = replay.draw(rng, 300)
    assert (policy.sum(axis=1) < 1 + 1e-5).all()
    assert (policy.sum(axis=1) > 0.02).all()  # Isaac opens with 600 actions, of which the search considers 32
    assert (policy[mask == 0] == 0).all()
    assert (mask.sum(axis=1) > 1).all()  # forced actions teach nothing
    assert np.allclose(values.sum(axis=1), 0, atol=1e-5)
    assert np.abs(values).max() <= 1
    assert len(np.unique(np.abs(values[:, 0]).round(5))) > 1  # the margin is in it
    assert obs.any(axis=1).all()
    # Who moved last in a game that was decided by the outcome alone sees it with the sign of its own seat.
    last = play(a_task(name, games=1, search=NetworkSearchOptions()))
    vec = iszoo.make_vec(name, 1, autoreset="disabled")
    vec.rows[:] = last.rows[-1:]
    vec.refresh()
    signs = set()
    for k in range(len(last)):
        vec.rows[:] = last.rows[k : k + 1]
        vec.refresh()
        signs.add(float(last.values[k, 0]) * (1 if vec.player[0] == 0 else -1))
    assert len(signs) == 1
    assert OUTCOME == 0


def test_what_the_search_expects_is_in_the_values() -> None:
    outcome, mixed = (play(a_task("isis_osiris", bootstrap=share)) for share in (0.0, 0.5))
    assert (outcome.rows == mixed.rows).all()
    assert len(np.unique(mixed.values)) > 5 * len(np.unique(outcome.values))


def test_the_buffer_keeps_the_newest() -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    replay = Replay(game, {}, 10, 4)
    for k in range(4):
        rows = np.full((4, game.row_size), k)
        replay.add(Positions(rows, np.zeros((4, 4), np.int16), np.ones((4, 4), np.float32), np.zeros((4, 2))))
    assert sorted(replay.kept.rows[:, 0].tolist()) == [1, 1, 2, 2, 2, 2, 3, 3, 3, 3]
    twin = Replay(game, {}, 10, 4)
    twin.set_state(replay.get_state())
    assert (twin.kept.rows == replay.kept.rows).all()
    assert len(twin) == len(replay) == 10


@pytest.mark.parametrize("name", NAMES)
def test_a_run_that_stops_anywhere_and_goes_on_ends_in_the_same_weights(name: str, tmp_path: Path) -> None:
    more: tuple[str, ...] = ("--steps", "300", "--batch-size", "16")
    if name == "isis_osiris":
        more = ("--imitate", "greedy:choices:4096", "--settle", "2")
    trained(tmp_path / "whole", name, *more)
    sessions, stopped = 0, True
    while stopped:
        trainer = alphazero.Trainer(arguments(tmp_path / "parts", name, *more))
        if sessions:
            trainer.load()
        step = trainer._round

        def once(do: Any, trainer: Any = trainer, step: Any = step) -> None:
            step(do)
            trainer.stopping = True

        trainer._round = once  # type: ignore[method-assign]
        trainer.run()
        sessions, stopped = sessions + 1, trainer.stopping and trainer.remaining > 0
    trainer.stopping = False
    trainer.run()
    assert sessions >= 2
    assert digest(tmp_path / "whole") == digest(tmp_path / "parts")
    assert curve(tmp_path / "whole") == curve(tmp_path / "parts")
    card = load_card(tmp_path / "whole" / "policy.safetensors")
    margin = {"isaac": 0.8, "iso": 0.7, "isis_osiris": 0.8}[name]
    assert (card.seed, card.margin, card.training["algorithm"]) == (3, margin, "AlphaZero")
    assert card.steps >= 300
    assert "iszoo.baselines.alphazero" in card.command
    assert "--workers" not in card.command
    assert any((tmp_path / "whole" / "tensorboard").iterdir())
    game = iszoo.REGISTRY[name]
    agent = make_agent(f"az:{tmp_path / 'whole' / 'policy.safetensors'}:4", game)
    assert match(game, [agent, make_agent("random", game)], 2).games == 2


def test_workers_change_nothing(tmp_path: Path) -> None:
    for workers in ("1", "2"):
        words = ("--tasks", "2", "--games-a-task", "3", "--workers", workers)
        trainer = trained(tmp_path / workers, "isis_osiris", *words)
        # The processor time of workers is in that of the run.
        assert (trainer.elsewhere > 0.1) == (workers == "2")
        assert trainer.spent["cpu_seconds"] > trainer.elsewhere
    assert digest(tmp_path / "1") == digest(tmp_path / "2")


def test_a_value_for_each_of_three_players(tmp_path: Path) -> None:
    trained(tmp_path, "isis_osiris", "--option", "num_players=3", "--steps", "200")
    assert load_card(tmp_path / "policy.safetensors").architecture["seats"] == 3
    game = iszoo.REGISTRY["isis_osiris"]
    agent = make_agent(f"az:{tmp_path / 'policy.safetensors'}:4", game)
    others = [make_agent("random", game)] * 2
    assert match(game, [agent, *others], 3, num_players=3).games == 3


@pytest.mark.parametrize("name", NAMES)
def test_the_default_networks_fit_in_a_megabyte_and_torch_and_numpy_search_alike(name: str) -> None:
    given = alphazero.parse(alphazero.Arguments, alphazero.MODULE, ["--game", name], alphazero.PRESETS)
    game = iszoo.REGISTRY[name]
    options = game.resolve({})
    architecture = alphazero.architecture(given)
    assert 2 * sum(np.prod(shape) for shape in networks.shapes(architecture, game).values()) < 999_000
    torch.manual_seed(0)
    network = TorchNetwork(game, options, architecture)
    with torch.no_grad():
        network.weights["action_weight"] *= 100  # as if it had learnt: nearly all actions are alike at first
    twin = Network(game, options, architecture, network.export())
    vec = iszoo.make_vec(name, 16, seed=1)
    vec.random_steps(5)
    for mine, theirs in zip(network.evaluate(vec.obs), twin.evaluate(vec.obs), strict=True):
        assert np.allclose(mine, theirs, atol=1e-3)
    agents = [NetworkSearchAgent(game, one, 8) for one in (network, twin)]
    from iszoo.baselines.agents import view_of

    view = view_of(vec, np.arange(16), np.arange(16))
    same = agents[0].act(view) == agents[1].act(view)
    assert same.mean() >= 0.9


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("more", "of_alphazero"),
    [
        ((), ()),
        (("--minutes", "3", "--option", "a=b"), ("--no-augment", "--opponents", "random")),
        (("--imitate", "none"), ("--opponents", "none")),
    ],
)
def test_the_command_of_a_card_gives_the_arguments(
    name: str, more: tuple[str, ...], of_alphazero: tuple[str, ...]
) -> None:
    for module in (alphazero, ppo):
        words = [*more, *(of_alphazero if module is alphazero else ())]
        presets = getattr(module, "PRESETS", PRESETS)
        given = parse(module.Arguments, module.MODULE, ["--game", name, *words], presets)
        python, flag, script, *again = shlex.split(command(module.MODULE, given))
        assert (python, flag, script) == ("python", "-m", module.MODULE)
        assert parse(module.Arguments, module.MODULE, again, {}) == given
        assert parse(module.Arguments, module.MODULE, again, presets) == given


@pytest.mark.parametrize("file", sorted(POLICIES.glob("*.json")), ids=lambda file: file.stem)
def test_the_commands_that_ship_still_mean_what_they_meant(file: Path) -> None:
    """Whatever became of defaults and presets: the commands of the cards give the arguments of then."""
    card = load_card(str(file.with_suffix(".safetensors")))
    module = {one.MODULE: one for one in (alphazero, ppo)}[shlex.split(card.command)[2]]
    words = shlex.split(card.command)[3:]
    given = plain(asdict(parse(module.Arguments, module.MODULE, words, getattr(module, "PRESETS", PRESETS))))
    kept = card.training["arguments"]
    assert {name for name in kept if given[name] != kept[name]} <= {*FREE}
    if module is alphazero:
        assert given["rollout_share"] is not None


def test_a_policy_is_improved_by_what_the_search_found() -> None:
    priors = np.array([[0.5, 0.25, 0.05]])
    found = improved(priors, np.array([[3, 1, 0]]), np.array([[0.2, -0.1, np.nan]]), np.array([[0.1]]), improve=4.0)
    # Advantages of 0.1 after three visits, -0.2 after one; the third was not visited, 0.2 belongs to all others.
    weights = np.array([0.5 * np.exp(4 * 0.1 * 3 / 4), 0.25 * np.exp(4 * -0.2 / 2), 0.05, 0.2])
    assert found[0] == pytest.approx(weights[:3] / weights.sum())


def test_self_play_teaches_more_of_what_won_more() -> None:
    task = a_task("isis_osiris", simulations=30, search=NetworkSearchOptions(margin=0.5, prior_power=0.5))
    gentle, strong = (play(replace(task, improve=much)) for much in (1e-6, 3.0))
    assert (gentle.rows == strong.rows).all()
    game = iszoo.REGISTRY["isis_osiris"]
    network = Network(game, task.options, task.architecture, task.weights)
    vec = iszoo.make_vec("isis_osiris", len(gentle), autoreset="disabled")
    vec.rows[:] = gentle.rows
    vec.refresh()
    weights = np.exp(network.logits(vec.obs)) * (vec.action_mask != 0)
    own = np.take_along_axis(weights / weights.sum(axis=1, keepdims=True), np.maximum(gentle.actions, 0), axis=1)
    own[gentle.actions < 0] = 0
    assert np.allclose(gentle.policy, own, atol=1e-4)  # what the network thought, whatever the power in the search
    assert np.abs(strong.policy - own).max() > 0.1


def test_what_a_policy_leaves_to_others_keeps_their_shares() -> None:
    """The loss moves the others as one: what they are to each other stays."""
    logits = torch.tensor([[1.0, 0.0, 2.0, -1.0]], requires_grad=True)
    alphazero._cross_entropy(logits, torch.tensor([[0.3, 0.2, 0.0, 0.0]])).backward()
    told = logits.detach().softmax(1)[0]
    wanted = told - torch.tensor([0.3, 0.2, *(0.5 * told[2:] / told[2:].sum())])
    assert torch.allclose(logits.grad[0], wanted, atol=1e-6)
    whole = torch.zeros((1, 2), requires_grad=True)  # no others are legal
    alphazero._cross_entropy(whole, torch.tensor([[0.75, 0.25]])).backward()
    assert torch.allclose(whole.grad, torch.tensor([[-0.25, 0.25]]), atol=1e-6)


def test_games_without_a_search_are_forgotten_when_the_search_begins(tmp_path: Path) -> None:
    positions = play(a_task("isis_osiris", simulations=0))
    assert len(positions) > 50
    assert not positions.policy.any()
    assert positions.values.any()
    trainer = alphazero.Trainer(arguments(tmp_path, "isis_osiris", "--settle", "2"))
    lengths = []
    for _ in range(3):
        trainer._round(lambda tasks: [play(task) for task in tasks])
        lengths.append(len(trainer.replay))
    assert lengths[0] < lengths[1] > lengths[2] > 0
    assert (trainer.replay.kept.policy[: lengths[2]].sum(axis=1) > 0.5).all()


def test_the_first_rounds_teach_values_and_the_policy_stays(tmp_path: Path) -> None:
    """Though both share layers, which the values change."""
    words = ("--settle", "40", "--steps", "20000", "--start", "isis_osiris", "--hidden", "48", "48", "48")
    trainer = alphazero.Trainer(arguments(tmp_path, "isis_osiris", *words, "--learning-rate", "1e-3"))
    vec = iszoo.make_vec("isis_osiris", 256, seed=1)
    vec.random_steps(20)

    def first_layer_and_choices() -> tuple[Any, Any]:
        logits = np.where(vec.action_mask != 0, trainer.network.evaluate(vec.obs)[0], -np.inf)
        return trainer.network.export()["cell.0.weight"], logits.argmax(axis=1)

    losses: list[float] = []
    learn = trainer._learn

    def noting(updates: int) -> dict[str, float]:
        found = learn(updates)
        losses.append(found["value"])
        return found

    trainer._learn = noting  # type: ignore[method-assign]
    layer, choices = first_layer_and_choices()
    for _ in range(40):
        trainer._round(lambda tasks: [play(task) for task in tasks])
    changed, same = first_layer_and_choices()
    assert (changed != layer).any()
    assert (choices == same).mean() > 0.9
    assert np.mean(losses[-5:]) < 0.7 * losses[0]


@pytest.mark.parametrize("more", [{}, {"greatest": True}], ids=["means", "greatest"])
def test_the_value_teaches_what_it_shares_only_if_told_to(more: dict[str, bool]) -> None:
    game = iszoo.REGISTRY["iso"]
    architecture = {"kind": "walls", "reach": 2, "hidden": [8, 8], "wall": 4, "value_hidden": [8], **more}
    vec = iszoo.make_vec("iso", 4, seed=1)
    vec.random_steps(5)
    for teaches in (False, True):
        network = TorchNetwork(game, game.resolve({}), architecture)
        network.values_teach = teaches
        network(torch.as_tensor(vec.obs))[1].sum().backward()
        gradient = network.weights["wall_0_weight"].grad
        assert (gradient is not None and bool(gradient.any())) == teaches


def test_a_finished_game_has_no_greatest() -> None:
    game = iszoo.REGISTRY["iso"]
    architecture = {"kind": "walls", "reach": 2, "hidden": [8, 8], "wall": 4, "value_hidden": [8], "greatest": True}
    network = TorchNetwork(game, game.resolve({}), architecture)
    twin = Network(game, game.resolve({}), architecture, network.export())
    vec = iszoo.make_vec("iso", 2, seed=1, autoreset="disabled")
    vec.random_steps(game.max_game_length)
    vec.rows[:1] = iszoo.make_vec("iso", 1, seed=2).rows
    vec.refresh()
    assert vec.player[0] >= 0 > vec.player[1]
    assert np.allclose(network.evaluate(vec.obs)[1], twin.evaluate(vec.obs)[1], atol=1e-4)


def test_a_start_is_taken(tmp_path: Path) -> None:
    given = alphazero.parse(
        alphazero.Arguments, alphazero.MODULE, ["--game", "isaac", "--out", str(tmp_path)], alphazero.PRESETS
    )
    trainer = alphazero.Trainer(given)
    shipped = make_agent("policy:isaac", iszoo.REGISTRY["isaac"]).network.weights  # type: ignore[attr-defined]
    assert all((value == shipped[key]).all() for key, value in trainer.network.export().items())
    with pytest.raises(ValueError, match="its policy doesn't fit this network"):
        alphazero.Trainer(arguments(tmp_path, "isaac", "--start", "isaac", "--hidden", "7"))
    new_value = alphazero.Trainer(arguments(tmp_path, "isaac", "--start", "isaac", "--hidden", "48", "48"))
    kept = new_value.network.export()
    assert kept["value.0.weight"].shape == (8, 48 + 20)
    assert all((kept[key] == shipped[key]).all() for key in kept if key.startswith("action"))


@pytest.mark.parametrize(("name", "size"), [("isaac", "48"), ("isis_osiris", "48")])
def test_a_start_may_have_fewer_layers(tmp_path: Path, name: str, size: str) -> None:
    """Layers that it lacks change nothing at first: what the deeper network says is what the other says."""
    hidden = (size,) * (4 if name == "isis_osiris" else 3)
    value = ("--value-hidden", "64")
    deeper = alphazero.Trainer(arguments(tmp_path, name, "--start", name, "--hidden", *hidden, *value)).network
    obs = iszoo.make_vec(name, 16, seed=1).obs
    policy = make_agent(f"policy:{name}", iszoo.REGISTRY[name]).network  # type: ignore[attr-defined]
    for told, meant in zip(deeper.evaluate(obs), policy.evaluate(obs), strict=True):
        assert np.abs(told - meant).max() < 1e-4
        assert np.abs(meant).max() > 0.01
    with pytest.raises(ValueError, match="its policy doesn't fit this network"):
        alphazero.Trainer(arguments(tmp_path, name, "--start", name, "--hidden", *hidden[:-1], "7"))


def test_bad_arguments_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, message in (
        (("--simulations", "0"), "simulations=0 is not allowed"),
        (("--settle", "-1"), "settle=-1 is not allowed; it is a number of rounds, from 0"),
        (("--margin", "2"), "margin=2.0 is not allowed; it is a share"),
        (("--rollout-share", "2"), "rollout_share=2.0 is not allowed; it is a share"),
        (("--start", "nobody"), "no policy nobody ships"),
        (("--kind", "walls"), "kind walls is for iso"),
        (("--resume",), "there is no such file to resume"),
    ):
        given = ["--game", "isis_osiris", *SHORT, "--start", "", "--out", str(tmp_path / "none"), *words]
        assert alphazero.main(given) == 1
        assert message in capsys.readouterr().err


def test_a_kill_loses_nothing_that_was_saved(tmp_path: Path) -> None:
    words = ["--game", "isis_osiris", *SHORT, "--start", "", "--hidden", "16", "--steps", "2500", "--out"]
    again = [*words, str(tmp_path), "--checkpoint-minutes", "0"]
    command = [sys.executable, "-m", "iszoo.baselines.alphazero"]
    process = subprocess.Popen([*command, *again], cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"})
    end = time.monotonic() + 60
    while not (tmp_path / "checkpoint.pt").exists() and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert (tmp_path / "checkpoint.pt").exists()
    assert alphazero.main([*again, "--resume"]) == 0
    assert alphazero.main([*words, str(tmp_path / "whole")]) == 0
    assert digest(tmp_path) == digest(tmp_path / "whole")
