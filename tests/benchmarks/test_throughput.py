"""The measurements measure what they say. How fast anything is, is not tested here."""

import json

import iszoo
from iszoo.benchmarks import throughput
from iszoo.benchmarks.timing import interleaved


def test_a_report_of_every_game() -> None:
    games = list(iszoo.REGISTRY.values())
    report = throughput.measure(games, sizes=(1, 8), rounds=1, aec_steps=200, with_first_use=False)
    json.dumps(report)
    assert set(report["games"]) == set(iszoo.REGISTRY)
    for name, entry in report["games"].items():
        game = iszoo.REGISTRY[name]
        assert entry["bytes_per_step"] == game.obs_size + game.num_actions
        for kind in ("aec planes", "aec connect_four", "step 8 x1", "random 8 x1", "limit 8", "clone env"):
            rate = entry["rates"][kind]
            assert 0 < rate["low"] <= rate["per_second"] <= rate["high"]
    text = throughput.markdown(report)
    assert report["machine"]["cpu"] in text
    assert all(f"## {name}" in text for name in report["games"])


def test_the_aec_loop_counts_its_steps() -> None:
    env = iszoo.make("isis_osiris")
    calls = []
    step = env.step

    def counting(action: int) -> None:
        calls.append(action)
        step(action)

    env.step = counting  # type: ignore[method-assign]
    assert throughput.aec_loop(env, 100) == len(calls) >= 100


def test_tasks_take_turns_and_the_first_round_does_not_count() -> None:
    order: list[str] = []

    def task(name: str) -> int:
        order.append(name)
        return 10

    rates = interleaved({n: (lambda: None, lambda n=n: task(n)) for n in "ab"}, rounds=3)  # type: ignore[misc]
    assert order == ["a", "b"] * 4
    assert rates["a"].rounds == 3
    assert rates["a"].low <= rates["a"].median <= rates["a"].high
