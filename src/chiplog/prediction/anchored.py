"""Times of algorithms as anchors correct them.

Parameters that the data leave unknown are the same in the prediction of an anchor and in that of what is asked, so
they mostly cancel. What messages that cross others take beyond those alone is in the anchor, so measured exchanges are
passed over: their ratio to a message alone varies with the size, that of rings does not (benchmarks/clusters.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task, TreeCosts
from chiplog.collectives.costs import Message, Seconds
from chiplog.fitting.predictions.known import Array
from chiplog.fitting.predictions.span import AnswerSpan
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
from chiplog.prediction.network import Asked, Speaker
from chiplog.schedule.traffic import Traffic

NORMAL_WIDTH = 1.96
"""Half of a normal 95 % interval in standard deviations."""
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
    questions = [(algorithm, anchor.task(task, algorithm)) for anchor in nearest]
    space = speaker.space([asked, *questions])
    times = answer(speaker, space, *asked, convention)
    anchor_times = [
        answer(speaker, space, *question, anchor.convention or convention)
        for question, anchor in zip(questions, nearest, strict=True)
    ]
    middle = np.full((1, len(space.symbols)), 0.5)
    table = _table(speaker, questions, nearest, _predicted(anchor_times, middle)[:, 0, 0])
    choice = choose_correction(table)
    rounds = rounds_of(*asked)

    def corrected(fractions: Array, whole: bool) -> Seconds:
        predicted = times.evaluate(fractions, whole)
        rows = predicted.shape[1]
        of_anchors = replace(
            table, predicted=_predicted(anchor_times, fractions, whole=whole, rows=rows)
        )
        line = correction_line(choice.kind, of_anchors, task.message_bytes)
        return line.seconds(predicted, rounds)

    uncorrected = float(times.evaluate(middle, False)[0, 0])
    correction = correction_of(choice, table, task.message_bytes, uncorrected)
    if errors is None and is_beyond_anchors(nearest, task):
        line = correction_line(choice.kind, table, task.message_bytes)
        carried = abs(math.log(float(line.seconds(uncorrected, rounds)) / uncorrected))
        correction = replace(correction, carried_width=carried)
    error = model_error(speaker.fit, sizes_of(speaker, *asked))
    of_table = 0.0 if errors is None else errors.width
    width = math.hypot(error, choice.width, correction.carried_width, of_table)
    wide = with_model_error(space.span(corrected), width)
    return CorrectedTime(wide, times.method, correction)


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
