"""Anchors: measured collective operations, mostly of fewer ranks, that correct what a model predicts.

An anchor corrects the algorithm that it measured. Those of the asked size decide alone where there are some: an anchor
tells most of the regime that it was measured in. Parameters that the data leave unknown are the same in the prediction
of the anchor and in that of what is asked, so they mostly cancel.

What messages that cross others take beyond those alone is in the anchor, so measured exchanges are passed over: their
ratio to a message alone varies with the size, that of measured rings does not (benchmarks/clusters.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chiplog.collectives.algorithm import Algorithm, Task, TreeCosts
from chiplog.collectives.costs import Message, Seconds
from chiplog.errors import UsageError
from chiplog.fitting.predictions.known import Array
from chiplog.fitting.predictions.span import AnswerSpan
from chiplog.fitting.regimes.partition import EXCHANGE
from chiplog.fitting.result import Fit
from chiplog.prediction.answer import Answer, answer, sizes_of
from chiplog.prediction.convention import TimeConvention
from chiplog.prediction.correction import (
    AnchorTable,
    Correction,
    choose_correction,
    correction_line,
    correction_of,
)
from chiplog.prediction.model_error import model_error, with_model_error
from chiplog.prediction.network import Asked, Speaker
from chiplog.schedule.traffic import Traffic

OPTION = "--anchor"
NORMAL_WIDTH = 1.96
"""Half of a normal 95 % interval in standard deviations."""
LEAST_DEVIATION = 1e-3
"""Given: no measured time and no model is known better than this, as a share."""
MOST_ANCHORS = 256
"""Of one algorithm: each may be simulated."""


@dataclass(frozen=True)
class Anchor:
    """A measured collective operation: how long it took, in seconds, and of what."""

    operation: str
    ranks: int
    message_bytes: int
    seconds: float
    source: str
    """The file that it is from."""
    algorithm: str | None = None
    """None where the file does not say which one it was."""
    peers: int | None = None
    """Of a rank in one round, of algorithms that have such a number."""
    width: float = 0.0
    """Half of the time's 95 % interval, as a logarithm; 0 where it is not known."""
    convention: TimeConvention | None = None
    """What the time is; None: the one that is asked for."""

    def task(self, asked: Task, algorithm: Algorithm) -> Task:
        """What was measured, with the segments and dimensions that are asked for; UsageError where it can't be."""
        task = replace(
            asked,
            ranks=self.ranks,
            message_bytes=self.message_bytes,
            peers=self.peers or asked.peers,
        )
        if not algorithm.accepts(task):
            raise UsageError(
                f"{OPTION} {self.source}: {algorithm.name} can't be of {self.ranks} ranks."
            )
        return task


def anchors_by_algorithm(
    anchors: Sequence[Anchor], operation: str, algorithm: str | None, peers: int | None
) -> dict[str, list[Anchor]]:
    """The anchors of the operation by their algorithms; of `algorithm` alone where one is named.

    An anchor that does not say its algorithm is of the named one, and one without a number of peers has `peers`.
    UsageError where none is left, and where an anchor's algorithm is not known.
    """
    of_operation = [anchor for anchor in anchors if anchor.operation == operation]
    if not of_operation:
        raise UsageError(
            f"{OPTION}: {_listed(anchor.operation for anchor in anchors)} was measured, but {operation} is asked for."
        )
    unnamed = next((anchor for anchor in of_operation if anchor.algorithm is None), None)
    if unnamed is not None and algorithm is None:
        raise UsageError(
            f"{OPTION} {unnamed.source}: does not say by which algorithm {operation} was measured: name it with "
            "--algorithm."
        )
    named: dict[str, list[Anchor]] = {}
    for anchor in of_operation:
        name = anchor.algorithm or algorithm or ""
        if algorithm in (None, name):
            named.setdefault(name, []).append(replace(anchor, peers=anchor.peers or peers))
    if not named:
        raise UsageError(
            f"{OPTION}: {_listed(anchor.algorithm or '' for anchor in of_operation)} was measured, but {algorithm} is "
            "asked for."
        )
    return named


def _listed(names: Iterable[str]) -> str:
    """Each name once, at most three of them."""
    once = list(dict.fromkeys(names))
    return ", ".join(once[:3]) + (" and others" if len(once) > 3 else "")


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
    speaker: Speaker, asked: Asked, anchors: Sequence[Anchor], convention: TimeConvention
) -> CorrectedTime:
    """How long it takes, as those anchors of its algorithm correct it that are nearest to it in size."""
    algorithm, task = asked
    nearest = [anchor for anchor in anchors if anchor.message_bytes == task.message_bytes]
    nearest = nearest or list(anchors)
    _check(algorithm, nearest)
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

    error = model_error(speaker.fit, sizes_of(speaker, *asked))
    wide = with_model_error(space.span(corrected), math.hypot(error, choice.width))
    uncorrected = float(times.evaluate(middle, False)[0, 0])
    correction = correction_of(choice, table, task.message_bytes, uncorrected)
    return CorrectedTime(wide, times.method, correction)


def _check(algorithm: Algorithm, anchors: Sequence[Anchor]) -> None:
    """UsageError where there are too many, or where one does not say how many peers a rank had in a round."""
    if len(anchors) > MOST_ANCHORS:
        raise UsageError(
            f"{OPTION}: {len(anchors)} times of {algorithm.name}; at most {MOST_ANCHORS} are used."
        )
    without = next((anchor for anchor in anchors if anchor.peers is None), None)
    if algorithm.takes_peers and without is not None:
        raise UsageError(
            f"{OPTION} {without.source}: does not say how many peers a rank had in a round of {algorithm.name}: give "
            "--peers."
        )


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
