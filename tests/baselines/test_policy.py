from __future__ import annotations

import hashlib
import json
import pickle
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
import threadpoolctl

import iszoo
from iszoo.baselines import networks
from iszoo.baselines.agents import View, make_agent, view_of
from iszoo.baselines.match import match
from iszoo.baselines.networks import Network
from iszoo.baselines.policy import Card, Policy, PolicyError, load_card, load_policy, save_policy
from iszoo.envs.game import Game
from iszoo.wrappers.symmetry import symmetries
from tests.helpers import GAMES, run_python

ISO = iszoo.REGISTRY["iso"]
WALLS = {"kind": "walls", "reach": 2, "hidden": [8, 8], "wall": 4, "value_hidden": [4]}
CELLS = {"kind": "cells", "hidden": [8, 8], "value_hidden": [4]}
LINES = {"kind": "lines", "hidden": [8, 8], "slot": 4, "value_hidden": [4]}
NETWORKS = [(game, {"kind": "mlp", "hidden": [12, 8], "value_hidden": [4]}) for game in GAMES]
NETWORKS += [(ISO, WALLS), (iszoo.REGISTRY["isis_osiris"], CELLS), (iszoo.REGISTRY["isaac"], LINES)]
EACH = pytest.mark.parametrize(
    ("game", "architecture"), NETWORKS, ids=[f"{game.name}-{architecture['kind']}" for game, architecture in NETWORKS]
)
SMALL = iszoo.REGISTRY["isis_osiris"], {"kind": "mlp", "hidden": [6], "value_hidden": [3]}


def random_weights(game: Game, architecture: dict[str, Any], seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    shapes = networks.shapes(architecture, game)
    return {name: rng.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}


def card_of(game: Game, architecture: dict[str, Any], **facts: Any) -> Card:
    return Card(game=game.id, options=game.resolve({}), architecture=architecture, **facts)


def saved(folder: Path, game: Game, architecture: dict[str, Any], **options: Any) -> Path:
    path = folder / "some.safetensors"
    save_policy(path, random_weights(game, architecture), card_of(game, architecture), **options)
    return path


def view(game: Game, n: int = 64, plies: int = 6) -> View:
    vec = iszoo.make_vec(game.name, n, seed=3)
    vec.random_steps(plies)
    return view_of(vec, np.arange(n), np.arange(n) * 7 + 1)


@EACH
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_what_was_saved_plays_the_same(game: Game, architecture: dict[str, Any], dtype: str, tmp_path: Path) -> None:
    weights = random_weights(game, architecture)
    path = tmp_path / "some.safetensors"
    save_policy(path, weights, card_of(game, architecture), dtype=dtype)
    rounded = {name: value.astype(dtype).astype(np.float32) for name, value in weights.items()}
    network = Network(game, game.resolve({}), architecture, rounded)
    loaded = load_policy(str(path), game)
    position = view(game)
    assert np.array_equal(loaded.network.logits(position.obs), network.logits(position.obs))
    assert np.array_equal(loaded.values(position), network.values(position.obs))
    assert loaded.values(position).shape == (64,)
    assert loaded.values(position).dtype == np.float32
    assert len(np.unique(loaded.values(position))) > 1


@EACH
def test_it_plays_the_best_legal_action(game: Game, architecture: dict[str, Any]) -> None:
    weights = random_weights(game, architecture)
    if "action.bias" in weights:
        weights["action.bias"] -= 100  # below the illegal ones, which are 0 with "walls"
    network = Network(game, game.resolve({}), architecture, weights)
    position = view(game)
    logits = network.logits(position.obs)
    assert logits.shape == position.action_mask.shape
    actions = Policy(network).act(position)
    assert actions.dtype == np.int64
    for k, action in enumerate(actions):
        legal = np.flatnonzero(position.action_mask[k])
        assert action in legal
        assert logits[k, action] == logits[k, legal].max()
    # Somewhere an illegal action has a greater logit.
    assert (logits.max(axis=1) > logits[np.arange(64), actions]).any()


@EACH
def test_a_position_is_judged_alike_alone_and_in_a_batch(game: Game, architecture: dict[str, Any]) -> None:
    network = Network(game, game.resolve({}), architecture, random_weights(game, architecture))
    obs = view(game).obs
    alone = np.concatenate([network.logits(obs[k : k + 1]) for k in range(len(obs))])
    assert np.allclose(alone, network.logits(obs), atol=1e-5)
    assert network.logits(obs[:0]).shape == (0, game.num_actions)


def test_a_temperature_draws_by_the_seeds_of_the_view_alone() -> None:
    game, architecture = SMALL
    network = Network(game, game.resolve({}), architecture, random_weights(game, architecture))
    policy = Policy(network, temperature=0.7)
    n = 4000
    vec = iszoo.make_vec(game.name, 1, seed=5)
    vec.random_steps(9)
    position = view_of(vec, np.zeros(n, np.int64), np.arange(n))
    actions = policy.act(position)
    assert np.array_equal(actions, policy.act(position))
    half = replace(position, obs=position.obs[::2], action_mask=position.action_mask[::2], seeds=position.seeds[::2])
    assert np.array_equal(policy.act(half), actions[::2])
    logits = network.logits(position.obs[:1])[0].astype(np.float64) / 0.7
    likely = np.where(position.action_mask[0] != 0, np.exp(logits - logits.max()), 0)
    likely /= likely.sum()
    counts = np.bincount(actions, minlength=game.num_actions)
    assert (counts[likely == 0] == 0).all()
    wanted = n * likely[likely > 0]
    chi_square = float(((counts[likely > 0] - wanted) ** 2 / wanted).sum())
    freedom = len(wanted) - 1
    assert chi_square < freedom + 8 * freedom**0.5 + 32
    with pytest.raises(ValueError, match="temperature=-1 is not allowed; it is a number from 0"):
        Policy(network, temperature=-1)


@pytest.mark.parametrize("architecture", [WALLS, {**WALLS, "greatest": True}], ids=["means", "greatest"])
def test_the_walls_network_has_the_symmetries_of_iso(architecture: dict[str, Any]) -> None:
    """The turns of the axes, the point reflection and the shifts, once a tile lies on the table."""
    network = Network(ISO, ISO.resolve({}), architecture, random_weights(ISO, architecture))
    obs = view(ISO, 16).obs
    logits, values = network.logits(obs), network.values(obs)
    group = symmetries(ISO, shifts=True)
    for g in [*symmetries(ISO), *np.random.default_rng(0).choice(np.array(group, object), 10)]:
        assert np.allclose(network.logits(g.observe(obs)), g.per_action(logits), atol=1e-4), g.name
        assert np.allclose(network.values(g.observe(obs)), values, atol=1e-4), g.name
    assert np.ptp(logits) > 0.1


def test_the_greatest_of_the_walls_are_what_the_value_is_read_from() -> None:
    """A value that is nothing but the logits of the best places of the three slots."""
    architecture = {**WALLS, "greatest": True, "value_hidden": [3]}
    weights = random_weights(ISO, architecture)
    weights["value.0.weight"][:] = 0
    weights["value.0.weight"][:, -3:] = np.eye(3)
    weights["value.0.bias"][:] = 1000  # that no logit is below 0
    weights["value.1.weight"][:], weights["value.1.bias"][:] = [[1, 0.5, 0.25]], -1750
    network = Network(ISO, ISO.resolve({}), architecture, weights)
    position = view(ISO, 16)
    logits, values = network.evaluate(position.obs)
    places = position.obs[:, 18 * 256 : 19 * 256] != 0
    best = np.where(places[:, None, None], logits.reshape(16, 3, 3, 256), -np.inf).max(axis=(2, 3))
    assert values[:, 0] == pytest.approx(best @ [1, 0.5, 0.25], abs=0.01)
    over = iszoo.make_vec("iso", 1, seed=0, autoreset="disabled")
    over.random_steps(ISO.max_game_length)
    assert network.evaluate(over.obs)[1] == pytest.approx(np.zeros((1, 1)), abs=0.01)


def test_the_cells_network_has_the_symmetries_of_the_square() -> None:
    game = iszoo.REGISTRY["isis_osiris"]
    architecture = {"kind": "cells", "hidden": [8, 8], "value_hidden": [8], "seats": 3}
    network = Network(game, game.resolve({}), architecture, random_weights(game, architecture))
    obs = view(game, 16).obs
    logits, values = network.evaluate(obs)
    assert values.shape == (16, 3)
    assert len(symmetries(game)) == 8
    for g in symmetries(game):
        turned, same = network.evaluate(g.observe(obs))
        assert np.allclose(turned, g.per_action(logits), atol=1e-3), g.name
        assert np.allclose(same, values, atol=1e-3), g.name
    assert np.ptp(logits[:, :36]) > 0.1


@pytest.mark.parametrize("name", ["isaac", "iso"])
def test_the_number_of_threads_changes_no_digit(name: str) -> None:
    """With two, on two cores, OpenBLAS adds these two networks' sums up in another order."""
    game = iszoo.REGISTRY[name]
    network = load_policy(name, game).network
    obs = view(game, 64).obs
    found = []
    for threads in (1, 2):
        with threadpoolctl.threadpool_limits(limits=threads, user_api="blas"):
            logits, values = network.evaluate(obs)
            found.append(
                (logits.tobytes(), values.tobytes(), network.logits(obs).tobytes(), network.values(obs).tobytes())
            )
    assert found[0] == found[1]


def test_the_name_policy_makes_the_agent(tmp_path: Path) -> None:
    game, architecture = SMALL
    path = saved(tmp_path, game, architecture)
    agent = make_agent(f"policy:{path}", game)
    assert agent.name == "policy:some"
    result = match(game, [agent, make_agent("random", game)], 4)
    assert result.agents == ("policy:some", "random")
    with pytest.raises(ValueError, match="agent 'police:x': there is no module 'police'"):
        make_agent("police:x", game)


def test_the_card_says_all_that_it_was_given(tmp_path: Path) -> None:
    game, architecture = SMALL
    facts = {"command": "train it", "seed": 3, "steps": 17, "training": {"lr": 0.1}, "evaluation": ({"games": 2},)}
    facts["margin"] = 0.5
    weights = random_weights(game, architecture)
    card = save_policy(tmp_path / "a.safetensors", weights, card_of(game, architecture, **facts))
    assert load_card(tmp_path / "a.safetensors") == card
    assert asdict(card) == {
        **facts, "game": "isis_osiris_v0", "options": game.resolve({}), "architecture": architecture,
        "version": iszoo.__version__, "sha256": hashlib.sha256((tmp_path / "a.safetensors").read_bytes()).hexdigest(),
    }  # fmt: skip


def test_the_same_weights_make_the_same_file(tmp_path: Path) -> None:
    game, architecture = SMALL
    weights, card = random_weights(game, architecture), card_of(game, architecture)
    hashes = {save_policy(tmp_path / f"{k}.safetensors", weights, card).sha256 for k in range(8)}
    assert len(hashes) == 1


# --- Bad files ---


def forge(path: Path, data: bytes, **facts: Any) -> None:
    """A file of weights and a card whose hash fits it."""
    path.write_bytes(data)
    card = json.loads(path.with_suffix(".json").read_text())
    card.update(facts, sha256=hashlib.sha256(data).hexdigest())
    path.with_suffix(".json").write_text(json.dumps(card))


def weights_with(path: Path, **changed: np.ndarray | None) -> bytes:
    weights = {**safetensors.numpy.load(path.read_bytes()), **changed}
    return safetensors.numpy.save({name: value for name, value in weights.items() if value is not None})


def test_files_that_are_missing(tmp_path: Path) -> None:
    game, architecture = SMALL
    path = saved(tmp_path, game, architecture)
    with pytest.raises(PolicyError, match=r"name the file of weights, NAME\.safetensors"):
        load_policy(str(path.with_suffix(".json")), game)
    card = path.with_suffix(".json").read_text()
    path.with_suffix(".json").unlink()
    with pytest.raises(PolicyError, match=r"some\.json: there is no such file; a policy is NAME\.safetensors with"):
        load_policy(str(path), game)
    path.with_suffix(".json").write_text(card)
    path.unlink()
    with pytest.raises(PolicyError, match=r"some\.safetensors: there is no such file"):
        load_policy(str(path), game)


def test_weights_that_were_cut_off_or_changed(tmp_path: Path) -> None:
    game, architecture = SMALL
    path = saved(tmp_path, game, architecture)
    data = path.read_bytes()
    for wrong in (data[:-1], data[:20], b"", data[:-1] + bytes([data[-1] ^ 1])):
        path.write_bytes(wrong)
        with pytest.raises(PolicyError, match=r"sha256 differs\): cut off, or changed"):
            load_policy(str(path), game)
    for wrong in (data[:-1], data[:20], b""):
        forge(path, wrong)
        with pytest.raises(PolicyError, match="is not a whole safetensors file"):
            load_policy(str(path), game)


def test_another_game(tmp_path: Path) -> None:
    game, architecture = SMALL
    path = saved(tmp_path, game, architecture)
    with pytest.raises(PolicyError, match="was trained for isis_osiris_v0, not for iso_v0"):
        load_policy(str(path), ISO)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("action.0.weight", np.zeros((6, 5), np.float16), r"action\.0\.weight has shape \(6, 5\), its architecture"),
        ("action.0.bias", None, r"weights missing: \['action\.0\.bias'\], unknown: \[\]"),
        ("extra", np.zeros(1, np.float16), r"unknown: \['extra'\]"),
        ("action.0.bias", np.full(6, np.nan, np.float16), r"action\.0\.bias has values that are not finite"),
        ("action.0.bias", np.full(6, np.inf, np.float32), r"action\.0\.bias has values that are not finite"),
        ("action.0.bias", np.zeros(6, np.float64), r"action\.0\.bias is float64; weights are float16 or float32"),
    ],
)  # fmt: skip
def test_weights_that_dont_fit(name: str, value: np.ndarray | None, told: str, tmp_path: Path) -> None:
    game, architecture = SMALL
    path = saved(tmp_path, game, architecture)
    forge(path, weights_with(path, **{name: value}))
    with pytest.raises(PolicyError, match=told):
        load_policy(str(path), game)


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"format": 2}, "is not a card of format 1"),
        ({"architecture": {"kind": "cnn"}}, "architecture kind 'cnn' is not known; known are mlp, walls"),
        ({"architecture": {"kind": "mlp", "hidden": [6]}}, "an architecture of kind mlp has hidden, value_hidden"),
        ({"architecture": {"kind": "mlp", "hidden": [-6], "value_hidden": [3]}}, r"hidden=\[-6\] is not allowed"),
        ({"architecture": WALLS}, "kind walls is for iso"),
        ({"architecture": {**SMALL[1], "greatest": True}}, "greatest is true or absent, and for kind walls"),
        ({"architecture": [1]}, r"architecture is \[1\], not a dict"),
        ({"options": {"num_players": 9}}, "num_players=9 is not allowed; choose one of 2, 3, 4"),
        ({"options": "none"}, "options is 'none', not a dict"),
        ({"surprise": 1}, r"unknown \['surprise'\]"),
    ],
)
def test_cards_that_dont_fit(facts: dict[str, Any], told: str, tmp_path: Path) -> None:
    game, architecture = SMALL
    path = saved(tmp_path, game, architecture)
    forge(path, path.read_bytes(), **facts)
    with pytest.raises(PolicyError, match=told):
        load_policy(str(path), game)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', "\x00"])
def test_cards_that_are_none(text: str, tmp_path: Path) -> None:
    game, architecture = SMALL
    path = saved(tmp_path, game, architecture)
    path.with_suffix(".json").write_text(text)
    with pytest.raises(PolicyError, match=r"some\.json: (is not|missing)"):
        load_policy(str(path), game)
    path.with_suffix(".json").write_bytes(b"\xff\xfe")
    with pytest.raises(PolicyError, match=r"some\.json: can't be read"):
        load_policy(str(path), game)


class _Trap:
    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (Path("sprung"),))


def test_nothing_is_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    game, architecture = SMALL
    path = saved(tmp_path, game, architecture)
    forge(path, pickle.dumps(_Trap()))
    with pytest.raises(PolicyError, match="is not a whole safetensors file"):
        load_policy(str(path), game)
    assert not Path("sprung").exists()


def test_a_bad_policy_is_not_saved_and_replaces_nothing(tmp_path: Path) -> None:
    game, architecture = SMALL
    path = saved(tmp_path, game, architecture)
    before = path.read_bytes(), path.with_suffix(".json").read_bytes()
    weights = random_weights(game, architecture, seed=1)
    weights["action.0.bias"][0] = 1e30  # beyond float16
    with pytest.raises(PolicyError, match=r"action\.0\.bias has values that are not finite"):
        save_policy(path, weights, card_of(game, architecture))
    with pytest.raises(PolicyError, match="has shape"):
        save_policy(path, {**weights, "action.0.bias": np.zeros(1)}, card_of(game, architecture))
    with pytest.raises(PolicyError, match="no game 'go_v0'; the games are "):
        save_policy(path, weights, replace(card_of(game, architecture), game="go_v0"))
    with pytest.raises(ValueError, match="dtype='int8' is not allowed; choose one of float16, float32"):
        save_policy(path, weights, card_of(game, architecture), dtype="int8")
    assert (path.read_bytes(), path.with_suffix(".json").read_bytes()) == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["some.json", "some.safetensors"]
    save_policy(path, weights, card_of(game, architecture), dtype="float32")
    load_policy(str(path), game)


def test_agents_need_no_safetensors_and_policies_say_which_extra() -> None:
    told = run_python(
        "import sys; sys.modules['safetensors'] = None\n"
        "import iszoo\n"
        "from iszoo.baselines.agents import make_agent\n"
        "game = iszoo.REGISTRY['isaac']; make_agent('random', game)\n"
        "try: make_agent('policy:x.safetensors', game)\n"
        "except ImportError as error: print(error)"
    )
    assert told == "policy files need safetensors: pip install 'iszoo[policies]'"
