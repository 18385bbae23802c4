"""The notebooks run as they are, show what they say, and are kept without outputs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "site"))
NOTEBOOKS = sorted((ROOT / "docs").rglob("*.ipynb"))


def test_there_is_a_notebook() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda file: file.name)
def test_a_notebook_is_kept_without_outputs(notebook: Path) -> None:
    for cell in json.loads(notebook.read_text())["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None, cell["source"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda file: file.name)
def test_a_notebook_runs_and_what_it_shows_is_short(notebook: Path) -> None:
    from notebooks import executed

    outputs = [one for cell in executed(notebook)["cells"] for one in cell.get("outputs", ())]
    texts = ["".join(one.get("text") or one["data"]["text/plain"]) for one in outputs]
    shown = "\n".join(texts)
    assert "between 8192 B and 8193 B" in shown
    assert "slower" in shown and "fastest" in shown and "Simulation of 4 ranks" in shown
    assert any("image/png" in one.get("data", {}) for one in outputs)
    assert not any(one.get("name") == "stderr" for one in outputs)
    assert all(len(text.splitlines()) <= 30 for text in texts)


def test_a_cell_that_fails_is_an_error_with_its_traceback(tmp_path: Path) -> None:
    from notebooks import executed

    notebook = json.loads(NOTEBOOKS[0].read_text())
    notebook["cells"] = [one for one in notebook["cells"] if one["cell_type"] == "code"][:1]
    notebook["cells"][0]["source"] = "1 / 0"
    (tmp_path / "broken.ipynb").write_text(json.dumps(notebook))
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        executed(tmp_path / "broken.ipynb")
