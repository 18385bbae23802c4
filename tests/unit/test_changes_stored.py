"""The decision that a run's footer holds: read back as it was, and never searched for again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from chiplog.dataset.run_file import RunWriter, read_run
from chiplog.dataset.series import Dataset
from chiplog.errors import CorruptFile
from chiplog.jobs.measure import measure
from chiplog.plan import PlanOptions
from chiplog.plan.sizes import parse_sizes
from chiplog.protocol_changes import find as search
from chiplog.protocol_changes.ask.questions import BISECT
from chiplog.protocol_changes.change import Change
from chiplog.protocol_changes.decide.stored import before_follow_ups, stored_changes, to_stored
from chiplog.protocol_changes.find import find_changes
from chiplog.protocol_changes.result import ChangesResult

TARGET = "sim:L=5us,o_s=1us,o_r=1us,g=2us,G=0.5ns,noise=0.02,change=8KiB:L=9us:g=4us"
EXACT = [(8192, 8193)]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("stored") / "run.jsonl"
    measure(TARGET, out, PlanOptions("sim", ("prtt",), parse_sizes("256:64KiB:2")))
    return out


@pytest.fixture(scope="module")
def run(path: Path) -> Dataset:
    return read_run(path)


def limits(found: ChangesResult) -> list[tuple[int, int]]:
    return [(one.last_before_bytes, one.first_after_bytes) for one in found.consensus]


def test_a_finished_run_is_not_searched_again(
    run: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(dataset: Dataset) -> tuple[()]:
        raise AssertionError("searched again")

    monkeypatch.setattr(search, "observe", fail)
    found = find_changes(run)
    assert limits(found) == EXACT
    assert {one.quantity for one in found.series} >= {"half_round_trip", "gap", "o_s", "o_r"}


def test_the_stored_decision_is_the_one_of_its_time_whatever_would_be_asked_now(
    run: Dataset,
) -> None:
    assert run.changes is not None
    earlier = Change(4000, 4001, "jump", 0.25, ("gap",), 512.5)
    stored = {**to_stored(find_changes(run), [earlier]), "operation": "send", "posting": "normal"}
    assert find_changes(replace(run, changes=stored)).consensus == (earlier,)


def test_a_part_of_the_run_has_the_same_decision(run: Dataset) -> None:
    part = replace(run, series=run.series[: len(run.series) // 2])
    assert find_changes(part).consensus == find_changes(run).consensus
    round_trips = find_changes(run.select(pattern="prtt"))
    assert {one.pattern for one in round_trips.series} == {"prtt"}


def test_another_operation_has_no_stored_decision(run: Dataset) -> None:
    others = tuple(replace(one, operation="write") for one in run.series)
    assert stored_changes(replace(run, series=others)) is None
    assert stored_changes(replace(run, series=())) is None


def test_a_decision_of_an_unknown_schema_is_passed_over(run: Dataset) -> None:
    assert stored_changes(replace(run, changes={"schema": "chiplog.changes/9"})) is None


def test_a_run_without_a_stored_decision_is_read_by_its_bisections(run: Dataset) -> None:
    assert limits(find_changes(replace(run, changes=None))) == EXACT


def test_bisections_mean_the_same_in_whatever_order_they_were_asked(run: Dataset) -> None:
    turned = [
        replace(one, record_id=-one.record_id) if one.tag.get("purpose") == BISECT else one
        for one in run.series
    ]
    assert limits(find_changes(replace(run, series=tuple(turned), changes=None))) == EXACT


def test_before_the_first_question_nothing_is_decided(run: Dataset) -> None:
    grid = before_follow_ups(run)
    assert grid.changes is None
    assert all(one.tag.get("purpose") != BISECT for one in grid.series)


def test_a_run_that_was_not_refined_stores_no_decision(tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    options = PlanOptions("sim", ("prtt",), parse_sizes("256:64KiB:2"))
    measure(TARGET, out, options, refine=False)
    assert read_run(out).changes is None


@pytest.mark.parametrize(
    ("broken", "field"),
    [
        ({"schema": 1}, "schema"),
        ({"consensus": 3}, "consensus"),
        ({"consensus": [{"first_after_bytes": 3}]}, "last_before_bytes"),
    ],
)
def test_a_broken_decision_is_named(
    run: Dataset, tmp_path: Path, broken: dict[str, object], field: str
) -> None:
    assert run.changes is not None
    out = tmp_path / "broken.jsonl"
    with RunWriter.create(out, {k: v for k, v in run.header.items() if k != "crc32"}) as writer:
        writer.finish(complete=True, changes={**run.changes, **broken})
    with pytest.raises(CorruptFile, match=field):
        read_run(out)
