"""The anchor of `chiplog run`: when it is taken, what it measures, and that a failure of it loses nothing."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from json_schemas import validate
from prediction import fit_of
from sample_report import MPI, sample_report, sample_target

from chiplog.benchmarking.benchmark import BenchOptions
from chiplog.benchmarking.launched import MODES, OWN, Launched, Samples
from chiplog.cli.run import next_prediction
from chiplog.collectives.mpis.forced import settings_forcing
from chiplog.collectives.mpis.known import release_named
from chiplog.dataset.series import Dataset
from chiplog.errors import RunFailed
from chiplog.fitting.predictions.span import AnswerSpan
from chiplog.jobs import run_anchor
from chiplog.jobs.anchor_files import read_anchors
from chiplog.jobs.many import ManyOptions
from chiplog.jobs.measure_to_report import RunResult, takes_anchor
from chiplog.jobs.run_anchor import parts_within, with_anchor
from chiplog.measurement.start import Start
from chiplog.measurement.time_budget import OutOfTime
from chiplog.report.input import RunAnchor, TargetReport
from chiplog.report.sections import anchor as anchor_section
from chiplog.report.sections.anchor import anchor_sentence
from chiplog.report.summary import summary_lines

FOUR_HOSTS = {
    "target": "mpi",
    "transport": "mpi",
    "ranks": 4,
    "hosts": ["n1", "n2", "n3", "n4"],
    "mpi": {"library": "Open MPI v5.0.3, package: of a test"},
}
SRUN = Start("srun -N 4")
LOGGP = {"L": 5e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 0.5e-9}
ONE_WAY_SECONDS = 7e-6
SLOWER = 2.0
"""How many times as long as the model says everything takes."""


def report_of(header: dict[str, object]) -> TargetReport:
    dataset = Dataset(header, (), True, "mpi.jsonl")
    return TargetReport("mpi", dataset, (fit_of("loggp", LOGGP),))


def options(until: float = math.inf) -> ManyOptions:
    return ManyOptions(None, 6.0, (1, 1 << 20), 1, until)


def launch_that_takes(seconds: float, operation: str, ranks: int, asked: BenchOptions) -> Launched:
    about = {
        "operation": operation,
        "ranks": ranks,
        "bytes": asked.message_bytes,
        "datatype": "byte",
        "mpi": "Open MPI v5.0.3",
        "calls": 10,
        "lead_seconds": 1e-5,
        "floor_seconds": 1e-9,
        "clocks": [],
    }
    times = seconds * np.linspace(0.99, 1.01, 20)
    valid = np.ones(times.size, dtype=np.bool_)
    return Launched(about, tuple(Samples(mode, OWN, times, valid) for mode in MODES))


@dataclass
class FakeBench:
    """What stands for the launches of the bench program: rounds of messages, each SLOWER than the model's."""

    asked: list[tuple[str, BenchOptions]]

    def __call__(
        self, operation: str, ranks: int, *, options: BenchOptions, **_: Any
    ) -> tuple[list[Launched], list[str]]:
        self.asked.append((operation, options))
        if operation == "barrier":
            seconds = 2 * ONE_WAY_SECONDS
        else:
            seconds = 3 * (ONE_WAY_SECONDS + LOGGP["G"] * (options.message_bytes - 1))
        launched = launch_that_takes(SLOWER * seconds, operation, ranks, options)
        return [launched] * options.launches, ["srun"]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> FakeBench:
    fake = FakeBench([])
    monkeypatch.setattr(run_anchor, "launches_of", fake)
    monkeypatch.setattr(run_anchor, "_compiler", lambda _: "mpicxx")
    return fake


def measured(report: TargetReport, path: Path, until: float = math.inf) -> RunAnchor:
    anchor = with_anchor(report, options(until), path, SRUN).anchor
    assert anchor is not None
    return anchor


def test_the_anchor_holds_what_predict_corrects_by(bench: FakeBench, tmp_path: Path) -> None:
    path = tmp_path / "mpi-anchor.json"
    anchor = measured(report_of(FOUR_HOSTS), path)
    assert (anchor.failure, anchor.file) == (None, str(path))
    assert [(part.operation, part.message_bytes) for part in anchor.operations] == [
        ("barrier", 1),
        ("allgather", 8),
        ("allgather", 65536),
    ]
    for part in anchor.operations:
        assert part.factor is not None and part.predicted is not None
        assert part.factor.value == pytest.approx(SLOWER, rel=0.01)
        assert part.factor.low < SLOWER < part.factor.high
    names = [(anchor.operation, anchor.algorithm, anchor.ranks) for anchor in read_anchors([path])]
    assert names == [("barrier", "dissemination", 4)] + 2 * [("allgather", "ring", 4)]


def test_the_file_says_what_the_model_said(bench: FakeBench, tmp_path: Path) -> None:
    path = tmp_path / "mpi-anchor.json"
    measured(report_of(FOUR_HOSTS), path)
    content = json.loads(path.read_text())
    validate(content)
    for document in content["benches"]:
        validate(document)
        assert document["model"]["factor"]["value"] == pytest.approx(SLOWER, rel=0.01)


def test_the_mpi_is_made_to_take_the_algorithm_that_is_named(
    bench: FakeBench, tmp_path: Path
) -> None:
    measured(report_of(FOUR_HOSTS), tmp_path / "anchor.json")
    (_, barrier), (_, allgather), _ = bench.asked
    assert barrier.environment["OMPI_MCA_coll_tuned_barrier_algorithm"] == "4"
    assert allgather.environment["OMPI_MCA_coll_tuned_allgather_algorithm"] == "4"


@pytest.mark.parametrize("release", ["openmpi-4.1", "openmpi-5.0", "mpich-4.0"])
def test_every_known_mpi_can_be_made_to_take_what_an_anchor_measures(release: str) -> None:
    for part in parts_within((1, 1 << 20)):
        assert settings_forcing(release_named(release), part.operation, part.algorithm)


def test_an_algorithm_that_an_mpi_lacks_is_not_forced() -> None:
    for release in ("openmpi-5.0", "mpich-4.0"):
        assert settings_forcing(release_named(release), "barrier", "central-counter") == {}


def test_messages_stay_within_the_sizes_of_the_model() -> None:
    assert [part.message_bytes for part in parts_within((16, 1024))] == [1, 16, 1024]
    assert [part.message_bytes for part in parts_within((64,))] == [1, 64]


@pytest.mark.parametrize(
    ("target", "header", "start", "expected"),
    [
        ("mpi", FOUR_HOSTS, SRUN, True),
        ("mpi", {**FOUR_HOSTS, "hosts": ["n1"] * 4}, SRUN, False),
        ("mpi", {}, SRUN, False),
        ("mpi", FOUR_HOSTS, Start(), False),
        ("tcp", FOUR_HOSTS, SRUN, False),
    ],
)
def test_an_anchor_is_taken_of_an_mpi_on_several_hosts_only(
    target: str, header: dict[str, object], start: Start, expected: bool
) -> None:
    assert takes_anchor(target, header, start) is expected


def crash(*_: object, **__: object) -> None:
    raise RunFailed("srun ended with code 1 and said: no such node.")


def run_out_of_time(*_: object, **__: object) -> None:
    raise OutOfTime


@pytest.mark.parametrize(
    ("failing", "reason"), [(crash, "no such node"), (run_out_of_time, "more of --budget")]
)
def test_where_the_bench_fails_the_report_stands_and_says_why_there_is_no_anchor(
    failing: Callable[..., None],
    reason: str,
    bench: FakeBench,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_anchor, "launches_of", failing)
    report = report_of(FOUR_HOSTS)
    anchored = with_anchor(report, options(), tmp_path / "anchor.json", SRUN)
    assert replace(anchored, anchor=None) == report
    assert anchored.anchor is not None and anchored.anchor.file is None
    assert reason in anchor_sentence(anchored.anchor)
    assert anchor_sentence(anchored.anchor).startswith("there is no anchor: ")


def test_what_was_measured_before_a_failure_is_kept(
    bench: FakeBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_later(operation: str, *arguments: Any, **named: Any) -> Any:
        return bench(operation, *arguments, **named) if operation == "barrier" else crash()

    monkeypatch.setattr(run_anchor, "launches_of", fail_later)
    anchor = measured(report_of(FOUR_HOSTS), tmp_path / "anchor.json")
    assert [part.operation for part in anchor.operations] == ["barrier"]
    assert "no such node" in (anchor.failure or "")
    assert len(read_anchors([tmp_path / "anchor.json"])) == 1


def test_a_launch_that_is_ended_since_the_budget_is_over_is_said_to_be_that(
    bench: FakeBench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end_at_the_limit(*_: object, options: BenchOptions, **__: object) -> None:
        assert options.limit_seconds <= 0.6
        time.sleep(options.limit_seconds)
        raise RunFailed("srun did not end within 0.6 s; it was stopped.")

    monkeypatch.setattr(run_anchor, "launches_of", end_at_the_limit)
    anchor = measured(report_of(FOUR_HOSTS), tmp_path / "anchor.json", time.monotonic() + 0.6)
    assert anchor.failure == run_anchor.OVER


def test_nothing_is_started_where_the_budget_is_over(bench: FakeBench, tmp_path: Path) -> None:
    anchor = measured(report_of(FOUR_HOSTS), tmp_path / "anchor.json", time.monotonic())
    assert bench.asked == []
    assert "give it more of --budget" in (anchor.failure or "")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"ranks": 2}, "the launcher starts 2 ranks, and an anchor takes 3 or more"),
        ({"mpi": {"library": "Intel(R) MPI Library 2021"}}, "but not this MPI"),
    ],
)
def test_ranks_and_mpis_that_can_give_no_anchor_are_named(
    changed: dict[str, object], reason: str, bench: FakeBench, tmp_path: Path
) -> None:
    anchor = measured(report_of({**FOUR_HOSTS, **changed}), tmp_path / "anchor.json")
    assert bench.asked == []
    assert reason in anchor_sentence(anchor)


def test_an_operation_that_no_model_predicts_is_measured_all_the_same(
    bench: FakeBench, tmp_path: Path
) -> None:
    without = replace(report_of(FOUR_HOSTS), fits=())
    anchor = measured(without, tmp_path / "anchor.json")
    assert [part.predicted for part in anchor.operations] == [None, None, None]
    assert "which the model does not predict" in anchor_sentence(anchor)


def test_the_screen_says_it_in_one_sentence_and_nothing_where_there_is_none(
    bench: FakeBench, tmp_path: Path
) -> None:
    plain = sample_target("mpi", MPI, samples=4, noise=0.0)
    anchor = measured(report_of(FOUR_HOSTS), tmp_path / "mpi-anchor.json")
    with_one = replace(sample_report(), targets=(replace(plain, anchor=anchor),))
    without = replace(sample_report(), targets=(plain,))
    added = [line for line in summary_lines(with_one) if line not in summary_lines(without)]
    assert " ".join(line.strip() for line in added) == (
        "mpi: a barrier of 4 ranks takes 28.0 us where the model says 14.0 us: predictions of it need --anchor "
        "(factor 2.0000 ± 0.0074)."
    )


@pytest.mark.parametrize(
    ("factor", "agrees"),
    [
        (AnswerSpan(1.2, 0.9, 1.5), True),
        (AnswerSpan(1.03, 1.02, 1.04), True),
        (AnswerSpan(1.2, 1.1, 1.3), False),
        (AnswerSpan(0.8, 0.7, 0.9), False),
    ],
)
def test_the_model_agrees_where_the_factor_may_be_within_5_per_cent_of_1(
    factor: AnswerSpan, agrees: bool, bench: FakeBench, tmp_path: Path
) -> None:
    """However wide the model's interval is: a model that knows nothing agrees with nothing."""
    anchor = measured(report_of(FOUR_HOSTS), tmp_path / "mpi-anchor.json")
    first = replace(anchor.operations[0], factor=factor, predicted=AnswerSpan(1e-5, 1e-9, 1.0))
    sentence = anchor_sentence(replace(anchor, operations=(first,)))
    assert ("which agrees with the model" in sentence) is agrees
    assert ("need --anchor" in sentence) is not agrees


def test_the_page_has_the_table_with_the_factor(bench: FakeBench, tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    anchor = measured(report_of(FOUR_HOSTS), tmp_path / "runs" / "mpi-anchor.json")
    target = replace(report_of(FOUR_HOSTS), anchor=anchor)
    section = anchor_section.section(target, "mpi-1")
    assert section is not None
    shown = repr(section)
    assert "runs/mpi-anchor.json" in shown and "dissemination" in shown
    assert anchor_section.section(report_of(FOUR_HOSTS), "mpi-1") is None


def test_a_prediction_beyond_what_was_measured_has_a_star(bench: FakeBench, tmp_path: Path) -> None:
    short = replace(report_of(FOUR_HOSTS), fits=(fit_of("loggp", LOGGP, last_bytes=1024),))
    anchor = measured(short, tmp_path / "mpi-anchor.json")
    assert [part.reason is not None for part in anchor.operations] == [False, False, True]
    section = anchor_section.section(replace(short, anchor=anchor), "mpi-1")
    assert "* Extrapolated: messages of 65,536 B" in repr(section)


def test_the_next_command_has_the_anchor(bench: FakeBench, tmp_path: Path) -> None:
    anchor = measured(report_of(FOUR_HOSTS), tmp_path / "mpi-anchor.json")
    plain = sample_target("mpi", MPI, samples=4, noise=0.0)
    report = replace(sample_report(), targets=(replace(plain, anchor=anchor),))
    result = RunResult(report, Path("report"), (), ())
    assert next_prediction(result) == (
        "chiplog predict report barrier --ranks 32 --anchor report/runs/mpi-anchor.json"
    )
    several = replace(report, targets=(*report.targets, sample_report().targets[0]))
    assert next_prediction(replace(result, report=several)).endswith(" --target mpi")
    unanchored = replace(result, report=replace(report, targets=(plain,)))
    assert next_prediction(unanchored) == (
        "chiplog predict report/model.json --help  (or: chiplog run --details)"
    )
