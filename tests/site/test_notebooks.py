"""The notebooks run as they are, show what they say, and are kept without outputs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "site"))
NOTEBOOKS = sorted((ROOT / "docs").rglob("*.ipynb"))
pytestmark = [
    # These are of the packages that execute notebooks.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def test_there_is_a_notebook() -> None:
    assert NOTEBOOKS


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda file: file.name)
def test_a_notebook_is_kept_without_outputs(notebook: Path) -> None:
    for cell in json.loads(notebook.read_text())["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None, cell["source"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda file: file.name)
def test_a_notebook_runs_and_what_it_shows_is_short(notebook: Path) -> None:
    from notebooks import executed

    outputs = [one for cell in executed(notebook).cells for one in cell.get("outputs", ())]
    shown = "".join(
        one.get("text", "") + one.get("data", {}).get("text/plain", "") for one in outputs
    )
    assert "between 8192 B and 8193 B" in shown
    assert "slower" in shown and "fastest" in shown and "Simulation of 4 ranks" in shown
    assert any("image/png" in one.get("data", {}) for one in outputs)
    assert not any(one.get("name") == "stderr" for one in outputs)
    assert all(len(one.get("data", {}).get("text/plain", "").splitlines()) <= 30 for one in outputs)
