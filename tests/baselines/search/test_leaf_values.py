"""What networks and rollouts foretell: that the figures are of what they say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import iszoo
from iszoo.baselines.search import leaf_values
from iszoo.baselines.search.leaf_values import NETWORKS, REPORT, ROLLOUTS, foretold, main, tables


@pytest.mark.parametrize("name", NETWORKS)
def test_rollouts_and_networks_say_more_than_nothing(name: str) -> None:
    told = foretold(iszoo.REGISTRY[name], NETWORKS[name], seed=5, games=24)
    n = len(told["result"])
    assert told["network"].shape == (n,)
    assert told["rollouts"].shape == (ROLLOUTS, n)
    assert np.abs(told["rollouts"]).max() <= 1
    assert (told["rollouts"].std(axis=0) > 0).any()  # they differ
    for one in (told["network"], told["rollouts"].mean(axis=0)):
        assert np.corrcoef(one, told["result"])[0, 1] > 0.15
    again = foretold(iszoo.REGISTRY[name], NETWORKS[name], seed=5, games=24)
    assert all((told[key] == again[key]).all() for key in told)


def test_a_rollout_does_not_see_the_order_of_the_pile() -> None:
    """One that does foretells more than a player can know: 0.58 in place of 0.43, over 1,024 games."""
    told = foretold(iszoo.REGISTRY["isis_osiris"], NETWORKS["isis_osiris"], seed=3, games=160)
    assert 0.3 < np.corrcoef(told["rollouts"][0], told["result"])[0, 1] < 0.51


def test_shares_and_correlations() -> None:
    """Of made-up values: the result is three parts of what rollouts say and one of what the network says."""
    rng = np.random.default_rng(0)
    network, mean = rng.normal(size=(2, 4000))
    rollouts = np.tile(mean, (ROLLOUTS, 1))
    part = {"network": network, "rollouts": rollouts, "result": 0.25 * network + 0.75 * mean}
    found = leaf_values._figures([part, part])
    assert found["one_share"] == pytest.approx(0.75)
    assert found["many_mixed"] == pytest.approx(1.0)
    assert found["network"] == pytest.approx(0.25 / np.hypot(0.25, 0.75), abs=0.05)


def test_the_command_and_its_tables(tmp_path: Path) -> None:
    out = tmp_path / "values.json"
    main(["isis_osiris", "--batches", "2", "--out", str(out)])
    report = json.loads(out.read_text())
    entry = report["leaf_values"]["isis_osiris"]
    assert entry["games"] == 128
    assert all(one["low"] <= one["value"] <= one["high"] for one in entry["figures"].values())
    assert f"| `{NETWORKS['isis_osiris']}` |" in tables(report)["values"]
    for words, message in ((["chess"], "chess"), (["isaac", "--batches", "1"], "batches=1 is not allowed")):
        with pytest.raises(SystemExit, match=message):
            main(words)


def test_the_published_figures_are_of_what_ships() -> None:
    report = json.loads(REPORT.read_text(encoding="utf-8"))["leaf_values"]
    assert {name: entry["network"] for name, entry in report.items()} == NETWORKS
