"""The notebook that trains a policy runs, with PyTorch."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("sb3_contrib")
nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

from tests.frameworks.games import ROOT  # noqa: E402


def test_the_notebook_trains_a_policy_and_lets_it_play(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    notebook = nbformat.read(ROOT / "docs" / "notebooks" / "train_a_policy.ipynb", as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    printed = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))
    lines = [line.split() for line in printed.splitlines() if line.startswith("against ")]
    assert [line[1] for line in lines] == ["random", "greedy", "expert"]
    won = [float(line[2].rstrip("%")) for line in lines]
    assert won[0] > 90
    assert won[1] > 50
    assert "python -m iszoo.baselines.ppo --game isaac" in printed
