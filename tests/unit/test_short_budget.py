"""What `chiplog run` does with a budget that does not suffice for everything."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest

from chiplog.jobs import measure_to_report as run_module
from chiplog.jobs.measure_to_report import RunRequest, run
from chiplog.measurement import start as start_module
from chiplog.measurement import time_budget as limits_module
from chiplog.measurement.time_budget import Limits


@pytest.mark.alone
def test_where_the_budget_is_over_two_ranks_alone_are_measured_and_the_rest_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "latest_end", lambda *_: math.inf)
    began = time.monotonic() - 100.0
    result = run(RunRequest(["shm"], tmp_path / "report", budget=1.0, sizes="1:64", began=began))
    (target,) = result.report.targets
    assert (target.one_to_many, target.pairs) == (None, None)
    reasons = [one.sentence for one in target.left_out if "--budget" in one.reason]
    assert [sentence.partition(":")[0] for sentence in reasons] == ["Model logfp", "Model max-rate"]
    assert result.failures == ()


@pytest.mark.parametrize(
    ("left", "least", "expected"), [(5.0, 0.5, 5.0), (0.1, 0.5, 0.5), (-3.0, 0.5, 0.5)]
)
def test_a_late_start_leaves_the_least_time_for_measuring(
    monkeypatch: pytest.MonkeyPatch, left: float, least: float, expected: float
) -> None:
    monkeypatch.setattr(limits_module.time, "monotonic", lambda: 100.0)
    limits = Limits(100.0 + left, 100.0 + left, 100.0 + left, least).after_start(7.0)
    assert limits.last - 100.0 == pytest.approx(expected)


def test_without_a_least_time_up_to_two_seconds_of_the_start_do_not_count() -> None:
    limits = Limits(10.0, 20.0, math.inf)
    assert limits.after_start(7.0).end == 22.0
    assert limits.after_start(0.5).end == 20.5


def test_building_the_probe_of_an_mpi_is_not_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(start_module.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(start_module, "mpi_probe", lambda _: now.__setitem__(0, 140.0))
    assert start_module.seconds_to_build(("shm", "tcp"), None) == 0.0
    assert start_module.seconds_to_build(("shm", "mpi:rma"), None) == 40.0
