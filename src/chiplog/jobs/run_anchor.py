"""The anchor that `chiplog run` takes where an MPI's ranks lie on several hosts.

Two collective operations of all ranks, by algorithms that the models know and that the MPI is made to take. The file
with their times serves `chiplog predict --anchor`.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from chiplog.benchmarking.benchmark import BenchOptions, launches_of
from chiplog.benchmarking.result import Bench, bench_to_json, summarise
from chiplog.benchmarking.several import SCHEMA
from chiplog.collectives.algorithm import Task
from chiplog.collectives.mpis.forced import settings_forcing
from chiplog.collectives.mpis.known import NAMES, MpiRelease, release_in
from chiplog.errors import ChiplogError, UsageError
from chiplog.fitting.model_file import json_text
from chiplog.fitting.predictions.span import AnswerSpan
from chiplog.fitting.result import Fit
from chiplog.jobs.anchor_files import read_anchors
from chiplog.jobs.many import ManyOptions
from chiplog.measurement.programs import BENCH, build_program
from chiplog.measurement.start import Start, mpi_probe
from chiplog.measurement.time_budget import OutOfTime, outside_deadlines
from chiplog.messages import note
from chiplog.output_file import write_text
from chiplog.prediction.anchors import Anchor
from chiplog.prediction.predict import predict
from chiplog.report.header import number, text
from chiplog.report.input import AnchoredOperation, RunAnchor, TargetReport

SHARE = 1.0 / 3.0
"""Given: of the time for many processes, what the anchor gets of it."""
LEAST_RANKS = 3
"""Derived: an operation of two ranks shows no more than messages between two do."""
LAUNCHES, SAMPLES, CALLS = 2, 50, 10
"""Given: of each operation. Two launches tell that launches differ; the time bounds the samples of slow networks."""
LEAST_SECONDS = 0.5
"""Given: no operation begins with less time than this."""
MARGIN = 1.5
"""Given: by how much longer an operation may take than the one before."""
OVER = "the budget was over before all of it was measured; give it more of --budget"


@dataclass(frozen=True)
class MeasuredPart:
    """A collective operation that an anchor measures."""

    operation: str
    algorithm: str
    message_bytes: int


BARRIER = MeasuredPart("barrier", "dissemination", Task.message_bytes)
"""With the bytes that a prediction has where none are asked for."""
ALLGATHER_BYTES = (8, 64 * 1024)
"""Given: one message that is all latency, and one with many bytes that a slow network still carries in a moment."""


def parts_within(sizes: Sequence[int]) -> tuple[MeasuredPart, ...]:
    """What is measured, with messages as far as they lie within the sizes that the model is of."""
    first, last = min(sizes), max(sizes)
    blocks = sorted({min(max(size, first), last) for size in ALLGATHER_BYTES})
    return (BARRIER, *(MeasuredPart("allgather", "ring", size) for size in blocks))


def seconds_to_build_bench(start: Start) -> float:
    """Builds the program that times collectives: how long that took, which is not of a budget for measuring.

    What keeps it from being built is said when it is to be started.
    """
    began = time.monotonic()
    with outside_deadlines(), contextlib.suppress(ChiplogError):
        build_program(BENCH, _compiler(start), tell=note)
    return time.monotonic() - began


def _compiler(start: Start) -> str:
    """The C++ compiler of the MPI that the two ranks had."""
    return str(mpi_probe(start.mpi).mpi.mpicxx)


def with_anchor(
    report: TargetReport, options: ManyOptions, path: Path, start: Start
) -> TargetReport:
    """Measures an anchor with all ranks, and returns the report of the two-rank run with it.

    Where there is no anchor, the report says why; nothing is raised. Measuring takes SHARE of the seconds of `options`
    and ends at their `until`. The times go into the file `path`.
    """
    library = text(report.dataset.header, "mpi", "library") or ""
    ranks = int(number(report.dataset.header, "ranks") or 0)
    release = release_in(library)
    if ranks < LEAST_RANKS:
        started = f"the launcher starts {ranks} ranks, and an anchor takes {LEAST_RANKS} or more"
        return replace(report, anchor=RunAnchor(failure=started))
    if release is None:
        known = " and ".join(NAMES.values())
        unknown = f"chiplog can make {known} take a known algorithm, but not this MPI"
        return replace(report, anchor=RunAnchor(failure=unknown))
    return replace(
        report, anchor=_AnchorRun(report.fits, options, path, start, release, ranks).anchor()
    )


@dataclass(frozen=True)
class _AnchorRun:
    """The operations of `ranks` ranks, whose times go into the file `path`, beside the fits of two of them."""

    fits: Sequence[Fit]
    options: ManyOptions
    path: Path
    start: Start
    release: MpiRelease
    ranks: int

    def anchor(self) -> RunAnchor:
        """What was measured, beside the model, and why something is missing."""
        documents: list[dict[str, Any]] = []
        operations: list[AnchoredOperation] = []
        failure, took_seconds = None, 0.0
        try:
            for part in parts_within(self.options.sizes):
                began = time.monotonic()
                if began + max(LEAST_SECONDS, MARGIN * took_seconds) > self.options.until:
                    raise OutOfTime
                documents.append(bench_to_json(self._bench(part)))
                operations.append(self._beside_model(documents))
                took_seconds = time.monotonic() - began
        except OutOfTime:
            failure = OVER
        except ChiplogError as error:
            is_over = time.monotonic() >= self.options.until
            failure = OVER if is_over else str(error).rstrip(".")
        return RunAnchor(tuple(operations), str(self.path) if documents else None, failure)

    def _bench(self, part: MeasuredPart) -> Bench:
        """The times of one operation, by the algorithm that the MPI is made to take."""
        launches = LAUNCHES * len(parts_within(self.options.sizes))
        options = BenchOptions(
            launches=LAUNCHES,
            samples=SAMPLES,
            calls=CALLS,
            message_bytes=part.message_bytes,
            budget_seconds=SHARE * self.options.seconds / launches,
            seed=self.options.seed,
            limit_seconds=min(BenchOptions.limit_seconds, self.options.until - time.monotonic()),
            environment=settings_forcing(self.release, part.operation, part.algorithm),
        )
        measured, _ = launches_of(
            part.operation,
            self.ranks,
            options=options,
            launcher=self.start.launcher,
            mpi=_compiler(self.start),
        )
        return replace(summarise(measured, options.seed), algorithm=part.algorithm)

    def _beside_model(self, documents: Sequence[dict[str, Any]]) -> AnchoredOperation:
        """The last of the documents, which are written, beside what the model says; the file gets that, too."""
        self._write(documents)
        anchor = read_anchors([self.path])[-1]
        operation = beside_model(self.fits, anchor)
        if operation.predicted is not None and operation.factor is not None:
            predicted, factor = operation.predicted, operation.factor
            documents[-1]["model"] = {
                "seconds": predicted.value,
                "low": predicted.low,
                "high": predicted.high,
                "factor": asdict(factor),
            }
            self._write(documents)
        return operation

    def _write(self, documents: Sequence[dict[str, Any]]) -> None:
        write_text(self.path, json_text({"schema": SCHEMA, "benches": list(documents)}))


def beside_model(fits: Sequence[Fit], anchor: Anchor) -> AnchoredOperation:
    """A measured operation beside what the fits say of it, without a prediction where they can't predict it."""
    task = Task(anchor.ranks, anchor.message_bytes)
    predicted = factor = reason = None
    try:
        row, *_ = predict(fits, anchor.operation, task, algorithm=anchor.algorithm)
        corrected, *_ = predict(
            fits, anchor.operation, task, algorithm=anchor.algorithm, anchors=[anchor]
        )
        predicted, reason = AnswerSpan(row.seconds, row.low, row.high), row.reason
        factor = corrected.correction.factor if corrected.correction is not None else None
    except UsageError as error:
        reason = str(error)
    spread = math.exp(anchor.width)
    return AnchoredOperation(
        operation=anchor.operation,
        algorithm=anchor.algorithm or "",
        ranks=anchor.ranks,
        message_bytes=anchor.message_bytes,
        measured=AnswerSpan(anchor.seconds, anchor.seconds / spread, anchor.seconds * spread),
        predicted=predicted,
        factor=factor,
        reason=reason,
    )
