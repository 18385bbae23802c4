"""A run without a result leaves the report of the one before where it was."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from chiplog.errors import UsageError
from chiplog.jobs.measure_to_report import RunRequest, run


def test_the_links_stay_with_the_last_run_that_has_a_result(tmp_path: Path) -> None:
    good = run(RunRequest(("sim:L=1us,o=1us,g=2us,G=1ns",), tmp_path, sizes="1:1KiB"))
    before = (tmp_path / "report.html").resolve()
    assert good.files and before.exists()
    bad = run(RunRequest(("sim:nosuch=1",), tmp_path))
    assert bad.failures
    assert (tmp_path / "report.html").resolve() == before
    assert (tmp_path / "latest").resolve() == before.parent
    assert bad.directory.parent == tmp_path and bad.directory != before.parent


@pytest.mark.parametrize("budget", [0.0, -1.0, math.nan])
def test_a_budget_that_is_no_time_is_refused_before_anything_is_made(
    tmp_path: Path, budget: float
) -> None:
    with pytest.raises(UsageError, match="--budget"):
        run(RunRequest(("sim:L=1us",), tmp_path / "out", budget=budget))
    assert not (tmp_path / "out").exists()
