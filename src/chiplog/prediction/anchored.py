"""Times of algorithms as anchors correct them.

Parameters that the data leave unknown are the same in the prediction of an anchor and in that of what is asked, so
they mostly cancel. What messages that cross others take beyond those alone is in the anchor, so measured exchanges are
passed over: their ratio to a message alone varies with the size, that of rings does not (benchmarks/clusters.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task, TreeCosts
from chiplog.collectives.costs import Message, Seconds
from chiplog.fitting.predictions.known import Array
from chiplog.fitting.predictions.span import AnswerSpan, Evaluate
from chiplog.fitting.regimes.partition import EXCHANGE
from chiplog.fitting.result import Fit
from chiplog.prediction.anchors import (
    Anchor,
    check_anchors,
    is_beyond_anchors,
    nearest_anchors,
)
from chiplog.prediction.answer import Answer, answer, sizes_of
from chiplog.prediction.convention import TimeConvention
from chiplog.prediction.correction import (
    AnchorTable,
    Correction,
    choose_correction,
    correction_line,
    correction_of,
)
from chiplog.prediction.error_table import ErrorShare
from chiplog.prediction.model_error import model_error, with_model_error
from chiplog.prediction.network import Asked, Space, Speaker
from chiplog.schedule.traffic import Traffic

NORMAL_WIDTH = 1.96
"""Given: half of a normal 95 % interval in standard deviations."""
LEAST_DEVIATION = 1e-3
"""Given: no measured time and no model is known better than this, as a share."""


def without_exchanges(fit: Fit) -> Fit:
    """The fit of messages alone."""
    return replace(fit, curves=tuple(curve for curve in fit.curves if curve.quantity != EXCHANGE))


@dataclass(frozen=True)
class CorrectedTime:
    """The time of an algorithm as anchors correct it."""

    span: AnswerSpan
    method: str
    correction: Correction


def corrected_time(
    speaker: Speaker,
    asked: Asked,
    anchors: Sequence[Anchor],
    convention: TimeConvention,
    errors: ErrorShare | None = None,
) -> CorrectedTime:
    """How long it takes, as those anchors of its algorithm correct it that are nearest to it in size.

    Errors that were measured with anchors say how well a correction carries; without them the interval is as wide as
    the correction where it is carried to other ranks or sizes.
    """
    algorithm, task = asked
    check_anchors(algorithm, anchors)
    nearest = nearest_anchors(anchors, task)
    anchor_times = min(
        (
            _anchor_times(speaker, (form, task), nearest, convention)
            for form in _forms(algorithm, nearest, convention)
        ),
        key=_left_out,
    )
    asked = (anchor_times.questions[0][0], task)
    times = answer(speaker, anchor_times.space, *asked, convention)
    subject = CorrectedSubject(
        evaluate=times.evaluate,
        rounds=rounds_of(*asked),
        message_bytes=task.message_bytes,
        error=math.hypot(
            model_error(speaker.fit, sizes_of(speaker, *asked)),
            0.0 if errors is None else errors.width,
        ),
        is_carried=errors is None and is_beyond_anchors(nearest, task),
    )
    span, correction = corrected_span(anchor_times, subject)
    correction = replace(correction, shares_network=not asked[0].is_simulated)
    return CorrectedTime(span, times.method, correction)


def _forms(
    algorithm: Algorithm, anchors: Sequence[Anchor], convention: TimeConvention
) -> list[Algorithm]:
    """The algorithm where a rank's sends go one after the other, and where they share its network.

    Only anchors of several numbers of ranks tell which: of one, slower bytes look the same. Sharing has closed forms
    only, which know the last rank alone.
    """
    asked = {convention, *(anchor.convention or convention for anchor in anchors)}
    is_told = len({anchor.ranks for anchor in anchors}) > 1
    if algorithm.sharing is None or not is_told or asked != {TimeConvention.COMMON_START}:
        return [algorithm]
    return [algorithm, algorithm.sharing]


def _left_out(times: AnchorTimes) -> float:
    """How far off anchors are that the others predict, as mean logarithm; all are alike where there is one alone."""
    errors = choose_correction(times.table).errors
    return float(np.mean(np.abs(errors))) if errors.size else 0.0


def _anchor_times(
    speaker: Speaker, asked: Asked, anchors: Sequence[Anchor], convention: TimeConvention
) -> AnchorTimes:
    """What the model says of anchors, over the parameters that they and the question need."""
    algorithm, task = asked
    questions = [(algorithm, anchor.task(task, algorithm)) for anchor in anchors]
    return AnchorTimes(speaker, speaker.space([asked, *questions]), questions, anchors, convention)


@dataclass(frozen=True)
class AnchorTimes:
    """What a model says of anchors, over a set of parameter vectors."""

    speaker: Speaker
    space: Space
    questions: Sequence[Asked]
    """What each anchor measured."""
    anchors: Sequence[Anchor]
    convention: TimeConvention
    """Of anchors that do not say theirs."""

    @cached_property
    def answers(self) -> list[Answer]:
        """One for each anchor."""
        return [
            answer(self.speaker, self.space, *question, anchor.convention or self.convention)
            for question, anchor in zip(self.questions, self.anchors, strict=True)
        ]

    @property
    def middle(self) -> Array:
        """The one point in the middle of the set."""
        return np.full((1, len(self.space.symbols)), 0.5)

    @cached_property
    def table(self) -> AnchorTable:
        """The anchors beside what the middle of the set says of them."""
        predicted = _predicted(self.answers, self.middle)[:, 0, 0]
        return _table(self.speaker, self.questions, self.anchors, predicted)


@dataclass(frozen=True)
class CorrectedSubject:
    """What anchors correct: a time over a set of parameter vectors, that of `AnchorTimes`."""

    evaluate: Evaluate
    rounds: float
    """Messages one after the other."""
    message_bytes: int
    """Its size, as anchors have theirs."""
    error: float
    """The model's, as half of a 95 % interval, a logarithm."""
    is_carried: bool
    """Whether the interval is as wide as the correction, since anchors tell no growth with ranks or sizes."""


def corrected_span(
    anchors: AnchorTimes, subject: CorrectedSubject
) -> tuple[AnswerSpan, Correction]:
    """The time in seconds as anchors correct it, and the correction that they tell."""
    table, message_bytes, rounds = anchors.table, subject.message_bytes, subject.rounds
    choice = choose_correction(table)

    def corrected(fractions: Array, whole: bool) -> Seconds:
        predicted = subject.evaluate(fractions, whole)
        rows = predicted.shape[1]
        of_anchors = _predicted(anchors.answers, fractions, whole=whole, rows=rows)
        line = correction_line(choice.kind, replace(table, predicted=of_anchors), message_bytes)
        return line.seconds(predicted, rounds)

    uncorrected = float(subject.evaluate(anchors.middle, False)[0, 0])
    correction = correction_of(choice, table, message_bytes, uncorrected)
    if subject.is_carried:
        line = correction_line(choice.kind, table, message_bytes)
        carried = abs(math.log(float(line.seconds(uncorrected, rounds)) / uncorrected))
        correction = replace(correction, carried_width=carried)
    width = math.hypot(subject.error, choice.width, correction.carried_width)
    return with_model_error(anchors.space.span(corrected), width), correction


def _predicted(
    answers: Sequence[Answer], fractions: Array, *, whole: bool = False, rows: int = 1
) -> Array:
    """What the model says of each anchor, shape (anchors, points, rows).

    Simulations of long schedules have fewer rows than others; then all rows are those of the fit's own parameters.
    """
    tables = [times.evaluate(fractions, whole) for times in answers]
    if any(table.shape[1] != rows for table in tables):
        tables = [table[:, :1] for table in tables]
    return np.stack(tables)


def _table(
    speaker: Speaker, questions: Sequence[Asked], anchors: Sequence[Anchor], predicted: Array
) -> AnchorTable:
    widths = np.array([anchor.width for anchor in anchors])
    model = [model_error(speaker.fit, sizes_of(speaker, *question)) for question in questions]
    variance = (widths**2 + np.array(model) ** 2) / NORMAL_WIDTH**2
    return AnchorTable(
        measured=np.array([anchor.seconds for anchor in anchors]),
        predicted=predicted,
        rounds=np.array([rounds_of(*question) for question in questions]),
        message_bytes=np.array([anchor.message_bytes for anchor in anchors]),
        widths=widths,
        weights=1.0 / (variance + LEAST_DEVIATION**2),
    )


class _RoundCounter:
    """A network on which each message takes 1, and nothing else takes any time."""

    def message(self, message_bytes: int, traffic: Traffic = Traffic.ALONE) -> Message:
        """One way of 1."""
        del message_bytes, traffic
        nothing = np.zeros(1)
        return Message(nothing, nothing, np.ones(1), nothing)


def rounds_of(algorithm: Algorithm, task: Task) -> float:
    """How many messages come one after the other on the longest path: the time where each takes 1 and all else 0."""
    shaped = replace(task, costs=TreeCosts(1.0, 1.0))
    return float(algorithm.seconds(shaped, _RoundCounter())[0])
