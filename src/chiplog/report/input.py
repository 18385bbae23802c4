"""What a report is made from. Everything in it has been computed elsewhere: a report only shows."""

from __future__ import annotations

from dataclasses import dataclass

from chiplog.comparison.postings import PostingPoint
from chiplog.comparison.result import ModelRow
from chiplog.dataset.series import Dataset
from chiplog.fitting.predictions.span import AnswerSpan
from chiplog.fitting.request import LeftOut
from chiplog.fitting.result import Cost, Fit
from chiplog.protocol_changes.change import Change


@dataclass(frozen=True)
class ReportedChanges:
    """The protocol changes that one series of times over sizes shows; `series` names it, e.g.
    "gap".
    """

    series: str
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class PlacementState:
    """Visits during which the two ranks' cores were equally far apart: `flag_seconds` is the median
    bare flag exchange.
    """

    flag_seconds: float
    records: int
    launches: tuple[int, ...] = ()


@dataclass(frozen=True)
class Placement:
    """The placement states of a run, and a sentence where results differ for that reason."""

    states: tuple[PlacementState, ...]
    note: str | None = None


@dataclass(frozen=True)
class AnchoredOperation:
    """A collective operation that was measured, beside what the target's model says of it; times in seconds."""

    operation: str
    algorithm: str
    ranks: int
    message_bytes: int
    measured: AnswerSpan
    predicted: AnswerSpan | None
    """None where the model can't predict it."""
    factor: AnswerSpan | None
    """By which the measured time corrects what messages alone would take."""
    reason: str | None = None
    """Why the model does not predict it, or what it has not measured of what it predicts."""


@dataclass(frozen=True)
class RunAnchor:
    """The collective operations of all ranks that a run measured to correct predictions."""

    operations: tuple[AnchoredOperation, ...] = ()
    file: str | None = None
    """Holds their times; None where none was measured."""
    failure: str | None = None
    """Why there is no anchor, or why it lacks an operation: a clause."""


@dataclass(frozen=True)
class TargetReport:
    """All that is shown about one target.

    `name` is the target as it was asked for ("tcp:bind=127.0.0.1"). `raw_files` say where the
    samples are.
    """

    name: str
    dataset: Dataset
    fits: tuple[Fit, ...] = ()
    series_changes: tuple[ReportedChanges, ...] = ()
    consensus: tuple[Change, ...] = ()
    comparison: tuple[ModelRow, ...] = ()
    placement: Placement | None = None
    postings: tuple[PostingPoint, ...] = ()
    """Of one process to many: the ways of posting beside each other."""
    raw_files: tuple[str, ...] = ()
    failure: str | None = None
    """Why there is no result, where measuring or fitting failed: one sentence."""
    one_to_many: TargetReport | None = None
    """The target's run of one process to many, where that is a run of its own."""
    pairs: TargetReport | None = None
    """The target's run of k pairs of processes, where that is a run of its own."""
    anchor: RunAnchor | None = None
    """None where no anchor was to be measured, as on one host."""
    left_out: tuple[LeftOut, ...] = ()
    """The models that have nothing to say about what was measured, each with the reason."""

    @property
    def runs(self) -> tuple[TargetReport, ...]:
        """The target's own run and those that belong to it."""
        return (self, *(report for report in (self.one_to_many, self.pairs) if report is not None))


@dataclass(frozen=True)
class ReportInput:
    """The whole report's input: targets in the order in which they are shown."""

    title: str
    targets: tuple[TargetReport, ...]
    created: str
    """When the report was made: ISO 8601, UTC."""
    command: tuple[str, ...] = ()
    """The command line that made it, word by word."""
    cost: Cost | None = None
    """Messages, bytes and seconds of the whole run; seconds are wall-clock time with everything in it."""
    versions: tuple[tuple[str, str], ...] = ()
    """Software and its version, e.g. ("chiplog", "0.1.0")."""
