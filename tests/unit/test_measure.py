"""A run from plan to file with a stand-in for the probe."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.errors import ChiplogError, CorruptFile, PrecisionNotMet, RunFailed, UsageError
from chiplog.measurement.measuring import measure
from chiplog.measurement.recorder import RunConditions
from chiplog.measurement.session import Session
from chiplog.measurement.time_budget import Limits
from chiplog.plan import PlanOptions, Request, make_plan
from chiplog.plan.assessment import without_late_receiver

FAKE_PROBE = Path(__file__).parent.parent / "helpers" / "fake_probe.py"
RESUMED = RunConditions(resume=True)
OPTIONS = PlanOptions("fake", ("prtt",), (1, 2, 4, 8), visits=2)
ALL_IDS = {request.id for request in make_plan(OPTIONS).requests}


def launcher(*arguments: object, margin_seconds: float = 20.0) -> Callable[[int], Session]:
    def launch(number: int) -> Session:
        command = [sys.executable, str(FAKE_PROBE), str(number), *map(str, arguments)]
        return Session(command, margin_seconds=margin_seconds)

    return launch


def ids(path: Path, *, salvage: bool = False) -> list[int]:
    records = [one.record_id for one in read_run(path, salvage=salvage).series]
    return list(dict.fromkeys(records))


def test_a_run_holds_every_planned_record_in_the_planned_order(tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    measured = measure("fake", OPTIONS, out, launcher())
    assert ids(out) == [request.id for request in make_plan(OPTIONS).requests]
    assert measured.records == len(ALL_IDS)
    assert read_run(out).complete


def test_the_header_keeps_the_plan_that_resume_needs(tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    measure("fake", OPTIONS, out, launcher())
    assert read_run(out).header["plan"]["sizes"] == [1, 2, 4, 8]  # type: ignore[index]


def test_each_launch_starts_the_ranks_anew_and_marks_its_records(tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    measure("fake", replace(OPTIONS, launches=3), out, launcher())
    assert {one.launch for one in read_run(out).series} == {0, 1, 2}


def test_each_placement_has_launches_of_its_own_whose_numbers_tell_it_after_a_resume_too(
    tmp_path: Path,
) -> None:
    out = tmp_path / "run.jsonl"
    both = replace(OPTIONS, placements=("filled", "round-robin"))
    with pytest.raises(RunFailed):
        measure("fake", both, out, launcher(5, "die"))
    measure("fake", both, out, launcher(), conditions=RESUMED)
    first, second = (
        {request.id for request in launch if request.tag["purpose"] == "grid"}
        for launch in make_plan(both).launches
    )
    launches = {one.record_id: one.launch % 2 for one in read_run(out).series}
    assert {launches[number] for number in first} == {0}
    assert {launches[number] for number in second} == {1}


@pytest.mark.parametrize("action", ["die", "hang", "corrupt"])
def test_a_failure_in_mid_run_keeps_all_finished_records_and_resume_measures_exactly_the_rest(
    tmp_path: Path, action: str
) -> None:
    out = tmp_path / "run.jsonl"
    kind: type[ChiplogError] = CorruptFile if action == "corrupt" else RunFailed
    with pytest.raises(kind):
        measure("fake", OPTIONS, out, launcher(5, action, margin_seconds=0.3))
    kept = read_run(out)
    assert not kept.complete
    assert set(ids(out)) == {0, 1, 2, 3, 4}
    measure("fake", OPTIONS, out, launcher(), conditions=RESUMED)
    assert read_run(out).complete
    assert sorted(ids(out)) == sorted(ALL_IDS)
    assert {one.launch for one in read_run(out).series if one.record_id >= 5} == {1}


def test_resume_goes_on_after_a_torn_last_line(tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    measure("fake", OPTIONS, out, launcher())
    whole = out.read_bytes()
    out.write_bytes(whole[: len(whole) * 2 // 3])
    measure("fake", OPTIONS, out, launcher(), conditions=RESUMED)
    assert sorted(ids(out)) == sorted(ALL_IDS)
    assert read_run(out).complete


def test_resume_of_a_complete_run_starts_nothing(tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    measure("fake", OPTIONS, out, launcher())
    before = out.read_bytes()

    def launch(number: int) -> Session:
        raise AssertionError("must not start")

    measure("fake", OPTIONS, out, launch, conditions=RESUMED)
    assert out.read_bytes() == before


def test_resume_uses_the_plan_that_the_run_was_begun_with(tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    with pytest.raises(RunFailed):
        measure("fake", OPTIONS, out, launcher(5, "die"))
    measure("fake", replace(OPTIONS, sizes=(1024,)), out, launcher(), conditions=RESUMED)
    assert read_run(out).sizes().tolist() == [1, 2, 4, 8]


def test_resume_of_another_target_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    with pytest.raises(RunFailed):
        measure("fake", OPTIONS, out, launcher(5, "die"))
    with pytest.raises(UsageError, match="was measured on fake, not on tcp"):
        measure("tcp", OPTIONS, out, launcher(), conditions=RESUMED)


def test_an_existing_file_is_refused_before_anything_starts(tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    out.write_text("precious")

    def launch(number: int) -> Session:
        raise AssertionError("must not start")

    with pytest.raises(UsageError, match="exists already"):
        measure("fake", OPTIONS, out, launch)
    assert out.read_text() == "precious"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_a_valid_file_that_resume_finishes(
    tmp_path: Path, number: signal.Signals
) -> None:
    out = tmp_path / "run.jsonl"

    def interrupt() -> None:
        while not out.exists() or out.read_bytes().count(b"\n") < 5:
            time.sleep(0.005)
        time.sleep(0.05)
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        measure("fake", OPTIONS, out, launcher(4, "hang"))
    thread.join()
    assert not read_run(out).complete
    assert set(ids(out)) == {0, 1, 2, 3}
    measure("fake", OPTIONS, out, launcher(), conditions=RESUMED)
    assert sorted(ids(out)) == sorted(ALL_IDS)


class Twice:
    """Asks for one more record, two times."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def requests(self, dataset: Dataset, next_id: int) -> Sequence[Request]:
        self.seen.append(len(dataset.series))
        first = make_plan(OPTIONS).requests[0]
        return [replace(first, id=next_id, tag={"purpose": "bisect"})] if len(self.seen) < 3 else []


def test_follow_ups_see_all_series_so_far_while_the_ranks_stay_up(tmp_path: Path) -> None:
    out, twice = tmp_path / "run.jsonl", Twice()
    measure("fake", OPTIONS, out, launcher(), follow_ups=lambda _: [twice])
    series = len(without_late_receiver(make_plan(OPTIONS).requests[1]).series)
    planned = len(ALL_IDS) * series
    assert twice.seen == [planned, planned + series, planned + 2 * series]
    assert ids(out)[-2:] == [max(ALL_IDS) + 1, max(ALL_IDS) + 2]
    assert {one.launch for one in read_run(out).series} == {0}


def test_strict_fails_where_a_point_has_too_few_samples_and_keeps_the_file(tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    assert not measure("fake", OPTIONS, out, launcher()).imprecise
    script = FAKE_PROBE.read_text().replace("* 12", "* 4")
    few = tmp_path / "few.py"
    few.write_text(script)

    def launch(number: int) -> Session:
        return Session([sys.executable, str(few), str(number)])

    with pytest.raises(PrecisionNotMet, match="--strict") as caught:
        measure("fake", OPTIONS, tmp_path / "few.jsonl", launch).require_precision()
    assert caught.value.exit_code == 4
    assert read_run(tmp_path / "few.jsonl").complete


def test_without_time_for_more_each_size_is_visited_once_in_one_launch(tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    measure(
        "fake",
        replace(OPTIONS, launches=3),
        out,
        launcher(),
        conditions=RunConditions(limits=Limits(visits=0.0, end=0.0)),
        follow_ups=lambda _: [Twice()],
    )
    assert read_run(out).complete
    assert not read_run(out).select(purpose="bisect").series
    grid = read_run(out).select(purpose="grid").series
    assert {one.message_bytes for one in grid} == set(OPTIONS.sizes)
    assert {(one.launch, one.visit) for one in grid} == {(0, 0)}


def test_sizes_that_the_time_did_not_suffice_for_are_left_to_a_resumed_run(tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    over = Limits(visits=0.0, end=0.0, last=0.0)
    measured = measure("fake", OPTIONS, out, launcher(), conditions=RunConditions(limits=over))
    assert measured.records == 1
    assert f"time did not suffice for {len(OPTIONS.sizes)} sizes" in measured.sentence()
    assert not read_run(out).complete
    resumed = measure("fake", OPTIONS, out, launcher(), conditions=RESUMED)
    assert not resumed.unreached_sizes
    whole = read_run(out)
    assert whole.complete
    assert {one.message_bytes for one in whole.select(purpose="grid").series} == set(OPTIONS.sizes)


def test_follow_ups_are_asked_in_the_last_launch_that_there_is_time_for(tmp_path: Path) -> None:
    out, twice = tmp_path / "run.jsonl", Twice()
    measure(
        "fake",
        replace(OPTIONS, launches=3),
        out,
        launcher(),
        conditions=RunConditions(limits=Limits(visits=0.0)),
        follow_ups=lambda _: [twice],
    )
    assert len(read_run(out).select(purpose="bisect").series) > 0
