"""The notebooks of the site run, and show what they showed when their outputs were committed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.helpers import ROOT

FOLDER = ROOT / "docs" / "notebooks"
NAMES = ("first_steps", "search_tree", "analyse_a_ladder")  # train_a_policy: tests/frameworks/test_sb3_notebook.py
PLAIN = ("stream", "execute_result")


def printed(notebook: Any) -> list[str]:
    """What the cells wrote as text, without pictures."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    texts = [o.get("text") or o.get("data", {}).get("text/plain", "") for o in outputs if o.output_type in PLAIN]
    return [line for text in texts for line in text.splitlines()]


def pictures(notebook: Any) -> list[tuple[int, str]]:
    """Which cells show pictures, and of which kind."""
    shown = [(k, output) for k, cell in enumerate(notebook.cells) for output in cell.get("outputs", [])]
    return [(k, kind) for k, output in shown for kind in output.get("data", {}) if kind.startswith("image/")]


@pytest.mark.filterwarnings("ignore")  # Jupyter's own
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_and_shows_what_it_showed(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    committed = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    again = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    NotebookClient(again, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert printed(again) == printed(committed)
    assert pictures(again) == pictures(committed)
    assert pictures(again)


def test_every_notebook_is_run_and_shown() -> None:
    there = {path.stem for path in FOLDER.glob("*.ipynb")}
    assert there == {*NAMES, "train_a_policy"}
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for name in there:
        assert f"notebooks/{name}.ipynb" in menu
        notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
        nbformat.validate(notebook)
        assert all(cell.get("outputs") or cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
        assert not [o for cell in notebook.cells for o in cell.get("outputs", []) if o.get("name") == "stderr"]
