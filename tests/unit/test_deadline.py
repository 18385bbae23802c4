"""What runs longer than its deadline is stopped, and nothing else is."""

from __future__ import annotations

import math
import signal
import threading
import time
from pathlib import Path

import pytest

from chiplog.dataset.run_file import read_run
from chiplog.errors import RunFailed
from chiplog.jobs import analysis as analysis_module
from chiplog.jobs.measure import measure
from chiplog.jobs.measure_to_report import RunRequest, run
from chiplog.measurement.recorder import InterruptGuard
from chiplog.measurement.start import Start
from chiplog.measurement.time_budget import (
    OutOfTime,
    deadline,
    latest_end,
    outside_deadlines,
    slowness,
    within,
)
from chiplog.plan import PlanOptions


def work_for_ever(*_: object, **__: object) -> None:
    while True:
        pass


def after(seconds: float) -> float:
    return time.monotonic() + seconds


def test_what_never_ends_is_stopped_even_where_everything_is_caught() -> None:
    with pytest.raises(OutOfTime), deadline(after(0.05)):
        try:
            work_for_ever()
        except BaseException:
            work_for_ever()


def test_what_ends_in_time_goes_on_undisturbed() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with deadline(after(0.05)):
        pass
    time.sleep(0.1)
    assert signal.getsignal(signal.SIGALRM) is before


def test_what_is_outside_of_deadlines_does_not_count() -> None:
    with deadline(after(0.1)):
        with outside_deadlines():
            time.sleep(0.2)
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0.0
    with pytest.raises(OutOfTime), deadline(after(0.1)):
        with outside_deadlines():
            time.sleep(0.05)
        work_for_ever()


def test_nothing_begins_after_its_deadline() -> None:
    begun = []
    with pytest.raises(OutOfTime), deadline(after(-1.0)):
        begun.append(True)
    assert begun == []


@pytest.mark.parametrize(("outer", "inner"), [(0.05, 60.0), (60.0, 0.05), (0.05, math.inf)])
def test_of_two_deadlines_the_earlier_one_holds(outer: float, inner: float) -> None:
    with pytest.raises(OutOfTime), deadline(after(outer)), deadline(after(inner)):
        work_for_ever()


def test_after_an_inner_deadline_the_outer_one_still_holds() -> None:
    with pytest.raises(OutOfTime), deadline(after(0.2)):
        with deadline(after(60.0)):
            pass
        work_for_ever()


def test_a_guard_lets_a_deadline_through_only_while_it_waits() -> None:
    reached = []
    with pytest.raises(OutOfTime), deadline(after(0.05)), InterruptGuard() as guard:
        time.sleep(0.1)  # a record is being written
        reached.append("written")
        with guard.waiting():
            work_for_ever()
    assert reached == ["written"]


def test_in_another_thread_the_deadline_is_checked_at_the_beginning() -> None:
    seen: list[str] = []

    def enter(at: float) -> None:
        try:
            with deadline(at):
                seen.append("begun")
        except OutOfTime:
            seen.append("too late")

    for at in (after(60.0), after(-1.0)):
        thread = threading.Thread(target=enter, args=(at,))
        thread.start()
        thread.join()
    assert seen == ["begun", "too late"]


def test_a_busy_machine_is_left_more_of_the_time_to_stop_on() -> None:
    assert slowness() >= 1.0
    assert latest_end(100.0, 5.0, 9.0) < latest_end(100.0, 5.0, 1.0) <= 100.0 + 1.2 * 5.0 + 3.0
    assert latest_end(100.0, 1.0, 1000.0) == 101.0


@pytest.mark.alone
def test_a_run_whose_analysis_does_not_end_keeps_its_samples_and_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis_module, "fitted", work_for_ever)
    out = tmp_path / "report"
    with pytest.raises(
        RunFailed, match=r"^the budget of 0\.5 s was over before shm could be"
    ) as it:
        run(RunRequest(["shm"], out, budget=0.5, sizes="1:64"))
    (folder,) = out.iterdir()
    assert f"`chiplog report {folder}/runs/*.jsonl -o report.html` analyses them" in str(it.value)
    assert read_run(folder / "runs" / "shm.jsonl").series


@pytest.mark.alone
def test_a_run_whose_comparison_does_not_end_has_its_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis_module, "compared", lambda _: time.sleep(1000.0))
    result = run(RunRequest(["shm"], tmp_path / "report", budget=3.0, sizes="1:64"))
    assert result.failures == ()
    assert result.report.targets[0].fits
    assert result.report.targets[0].comparison == ()


@pytest.mark.alone
def test_ranks_that_do_not_start_within_the_budget_are_ended(tmp_path: Path) -> None:
    launcher = tmp_path / "launcher"
    launcher.write_text("#!/bin/sh\nexec sleep 1000\n")
    launcher.chmod(0o755)
    options = PlanOptions(transport="tcp", sizes=(8,), patterns=("ping_pong",), budget_seconds=0.5)
    out = tmp_path / "run.jsonl"
    with pytest.raises(RunFailed, match=r"the budget of 0\.5 s was over before a point was"):
        measure("tcp", out, options, start=Start(str(launcher)), limits=within(0.5, after(1.0)))


@pytest.mark.alone
def test_what_was_measured_before_the_deadline_is_kept_and_the_rest_is_named(
    tmp_path: Path,
) -> None:
    out = tmp_path / "run.jsonl"
    sizes = tuple(1 << power for power in range(23))
    options = PlanOptions("shm", ("prtt",), sizes, visits=50, budget_seconds=1000.0)
    measured = measure("shm", out, options, limits=within(1000.0, after(1.5)))
    assert measured.records > 0
    assert not read_run(out).complete
