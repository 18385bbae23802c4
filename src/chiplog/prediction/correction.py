"""How measured times of a collective operation, the anchors, correct the times that a model predicts.

    none                m
    factor              c m          c: the geometric mean of measured over predicted
    offset              m + b R      R: messages one after the other; b >= 0: what a round takes besides
    factor-by-size      c(s) m       between two sizes of anchors the straight line over log(s), beyond them the nearest
    factor-and-offset   c m + b R

One anchor gives a factor. Of several, each is predicted from the others: the simplest correction stands unless another
one is better by more than the standard error of that. The errors of the anchors left out, by Student's t, make the
interval. Where all anchors have one number of ranks, or one size, and another is asked for, they do not tell how that
changes the correction, so the interval is as wide as it.

Source: L. Breiman, J. Friedman, R. Olshen, C. Stone, "Classification and regression trees", 1984, section 3.4.3, for
the rule of one standard error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from chiplog.fitting.predictions.known import Array
from chiplog.fitting.predictions.span import AnswerSpan
from chiplog.statistics import TAILS

ROUNDING = 1e-9
"""Given: errors of anchors, as logarithms, that differ by less are the same."""
SINGULAR = 1e-9
"""Given: of two columns so nearly parallel, as a share, none but their sum is known."""
LARGEST_WIDTH = math.log(1e6)
"""Given: wider intervals say nothing more."""


class CorrectionKind(StrEnum):
    """The forms of a correction, the simplest first."""

    NONE = "none"
    FACTOR = "factor"
    OFFSET = "offset"
    BY_SIZE = "factor-by-size"
    BOTH = "factor-and-offset"


@dataclass(frozen=True)
class AnchorTable:
    """Anchors side by side, each array of shape (anchors,); `predicted` of shape (anchors, ...), in seconds."""

    measured: Array
    predicted: Array
    rounds: Array
    """Messages one after the other."""
    message_bytes: NDArray[np.int64]
    widths: Array
    """Half of the 95 % interval of each measured time, as a logarithm; 0 where it is not known."""
    weights: Array
    """One over the variance of the logarithm of measured over predicted, as far as it is known before."""

    @property
    def count(self) -> int:
        """How many anchors there are."""
        return int(self.measured.size)

    @property
    def sizes(self) -> int:
        """How many sizes they have."""
        return int(np.unique(self.message_bytes).size)

    def without(self, place: int) -> AnchorTable:
        """The table without one of its anchors."""
        return AnchorTable(
            *(np.delete(getattr(self, column.name), place, axis=0) for column in fields(self))
        )

    def logarithms(self) -> Array:
        """Of measured over predicted, shape (anchors, ...)."""
        logarithms: Array = np.log(_like(self.measured, self.predicted) / self.predicted)
        return logarithms


@dataclass(frozen=True)
class CorrectionLine:
    """c m + b R; of one or of many predictions m."""

    factor: Array
    offset_seconds: Array

    def seconds(self, predicted: Array | float, rounds: float) -> Array:
        """The corrected times."""
        return np.asarray(self.factor * predicted + self.offset_seconds * rounds)


def correction_line(kind: CorrectionKind, table: AnchorTable, message_bytes: int) -> CorrectionLine:
    """The numbers of one kind of correction for operations of that size."""
    one, nothing = np.ones(table.predicted.shape[1:]), np.zeros(table.predicted.shape[1:])
    if kind is CorrectionKind.NONE:
        return CorrectionLine(one, nothing)
    if kind is CorrectionKind.OFFSET:
        return CorrectionLine(one, _offset(table))
    if kind is CorrectionKind.BOTH:
        return _both(table)
    weights = table.weights / table.weights.sum()
    if kind is CorrectionKind.BY_SIZE:
        weights = _weights_by_size(table, message_bytes)
    return CorrectionLine(_factor(table, weights), nothing)


def _like(column: Array, rows: Array) -> Array:
    """A number for each anchor, to be used with rows of shape (anchors, ...)."""
    return column.reshape(-1, *[1] * (rows.ndim - 1))


def _factor(table: AnchorTable, weights: Array) -> Array:
    return np.asarray(np.exp(np.tensordot(weights, table.logarithms(), axes=1)))


def _weights_by_size(table: AnchorTable, message_bytes: int) -> Array:
    """What each anchor counts at that size: those of the two sizes around it, by its place between them."""
    sizes = np.unique(table.message_bytes)
    places = np.interp(
        np.log(max(message_bytes, 1)), np.log(np.maximum(sizes, 1)), np.arange(sizes.size)
    )
    weights = np.zeros(table.count)
    for place, size in enumerate(sizes):
        share = max(0.0, 1.0 - abs(float(places) - place))
        same = table.message_bytes == size
        weights[same] = share * table.weights[same] / table.weights[same].sum()
    return weights


def _columns(table: AnchorTable) -> tuple[Array, Array, Array]:
    """Of the weighted equation c m/t + b R/t = 1: its three parts, shape (anchors, ...)."""
    root = _like(np.sqrt(table.weights), table.predicted)
    shares = table.predicted / _like(table.measured, table.predicted)
    rounds = _like(table.rounds / table.measured, table.predicted)
    return root * shares, root * rounds, root * np.ones_like(shares)


def _offset(table: AnchorTable) -> Array:
    """B >= 0 by relative least squares."""
    shares, rounds, ones = _columns(table)
    squares = (rounds**2).sum(axis=0)
    return np.asarray(np.maximum(0.0, (rounds * (ones - shares)).sum(axis=0) / squares))


def _both(table: AnchorTable) -> CorrectionLine:
    """The numbers c > 0 and b >= 0 by relative least squares; the factor alone where the two can't be told apart."""
    shares, rounds, ones = _columns(table)
    mm, mr, rr = (
        (a * b).sum(axis=0) for a, b in ((shares, shares), (shares, rounds), (rounds, rounds))
    )
    m1, r1 = (shares * ones).sum(axis=0), (rounds * ones).sum(axis=0)
    determinant = mm * rr - mr**2
    is_known = determinant > SINGULAR * mm * rr
    safe = np.where(is_known, determinant, 1.0)
    factor, offset = (m1 * rr - r1 * mr) / safe, (r1 * mm - m1 * mr) / safe
    is_inside = is_known & (factor > 0.0) & (offset >= 0.0)
    alone = _factor(table, table.weights / table.weights.sum())
    return CorrectionLine(np.where(is_inside, factor, alone), np.where(is_inside, offset, 0.0))


@dataclass(frozen=True)
class CorrectionChoice:
    """The kind of correction that anchors tell, and how well; errors are logarithms of measured over predicted."""

    kind: CorrectionKind
    errors: Array
    """Of each anchor, shape (anchors,), as the others correct it; none of a single anchor."""
    uncorrected: Array
    """Of each anchor without any correction."""
    freedom: int
    """Anchors beyond the numbers of the correction."""
    own_width: float = 0.0
    """Of a single anchor: half of its own interval, as a logarithm."""

    @property
    def width(self) -> float:
        """Half of the 95 % interval, as a logarithm, of what the errors of anchors left out say."""
        if not self.errors.size:
            return self.own_width
        root = math.sqrt(float(np.mean(self.errors**2)))
        return min(float(stdtrit(self.freedom, TAILS[1])) * root, LARGEST_WIDTH)


def choose_correction(table: AnchorTable) -> CorrectionChoice:
    """The simplest kind that does not predict anchors left out worse than another; `predicted` has one row."""
    uncorrected = table.logarithms()
    if table.count == 1:
        return CorrectionChoice(
            CorrectionKind.FACTOR, np.empty(0), uncorrected, 0, float(table.widths[0])
        )
    best, errors = CorrectionKind.NONE, uncorrected
    for kind in _identified(table):
        left_out = _left_out_errors(kind, table)
        gain = np.abs(errors) - np.abs(left_out)
        standard_error = float(np.std(gain, ddof=1)) / math.sqrt(table.count)
        if float(np.mean(gain)) > max(standard_error, ROUNDING):
            best, errors = kind, left_out
    freedom = max(1, table.count - _numbers(best, table))
    return CorrectionChoice(best, errors, uncorrected, freedom)


def _identified(table: AnchorTable) -> list[CorrectionKind]:
    """The kinds that the anchors tell even when one of them is left out."""
    kinds = [CorrectionKind.FACTOR, CorrectionKind.OFFSET]
    if table.sizes > 1 and table.count > 2:
        kinds.append(CorrectionKind.BY_SIZE)
    if table.count > 2:
        kinds.append(CorrectionKind.BOTH)
    return kinds


def _numbers(kind: CorrectionKind, table: AnchorTable) -> int:
    """How many numbers a kind of correction has."""
    counts = {CorrectionKind.NONE: 0, CorrectionKind.BY_SIZE: table.sizes, CorrectionKind.BOTH: 2}
    return counts.get(kind, 1)


def _left_out_errors(kind: CorrectionKind, table: AnchorTable) -> Array:
    """Logarithms of each anchor's time over what the others say of it."""
    errors = np.empty(table.count)
    for place in range(table.count):
        line = correction_line(kind, table.without(place), int(table.message_bytes[place]))
        seconds = line.seconds(table.predicted[place], float(table.rounds[place]))
        errors[place] = math.log(table.measured[place] / float(seconds))
    return errors


def correction_numbers(
    kind: CorrectionKind, table: AnchorTable, message_bytes: int
) -> tuple[AnswerSpan, AnswerSpan]:
    """The factor c and the offset b in seconds, each with its 95 % interval by leaving anchors out; NaN where unknown.

    Source: J. Tukey, "Bias and confidence in not-quite large samples", Annals of Mathematical Statistics 29 (1958).
    """
    line = correction_line(kind, table, message_bytes)
    factor, offset = float(line.factor), float(line.offset_seconds)
    factor_width, offset_width = _jackknife(kind, table, message_bytes)
    return (
        AnswerSpan(factor, factor * math.exp(-factor_width), factor * math.exp(factor_width)),
        AnswerSpan(offset, max(0.0, offset - offset_width), offset + offset_width),
    )


def _jackknife(kind: CorrectionKind, table: AnchorTable, message_bytes: int) -> tuple[float, float]:
    """Half widths of the intervals of log(c) and of b; of one anchor that of its own time, where it is known."""
    if table.count == 1:
        own = float(table.widths[0]) or math.nan
        return own, 0.0
    lines = [
        correction_line(kind, table.without(place), message_bytes) for place in range(table.count)
    ]
    values = [[math.log(float(line.factor)), float(line.offset_seconds)] for line in lines]
    reach = float(stdtrit(max(1, table.count - _numbers(kind, table)), TAILS[1]))
    errors = (table.count - 1) / math.sqrt(table.count) * np.std(values, axis=0, ddof=1)
    factor_width, offset_width = (reach * errors).tolist()
    return min(factor_width, LARGEST_WIDTH), offset_width


@dataclass(frozen=True)
class Correction:
    """A correction as results show it: c m + b R of a predicted time m of R messages one after the other."""

    kind: CorrectionKind
    anchors: int
    factor: AnswerSpan
    """c, with its 95 % interval, NaN where nothing tells it."""
    offset_seconds_per_round: AnswerSpan
    uncorrected_seconds: float
    uncorrected_error: float
    """Median relative error of the anchors as the model predicts them."""
    left_out_error: float | None
    """Median relative error of each anchor as the others correct it; None of a single anchor."""
    is_of_asked_size: bool
    carried_width: float = 0.0
    """How wide the interval is made, as a logarithm, since all anchors have one number of ranks or one size and another
    is asked for: as wide as the correction."""
    shares_network: bool = False
    """Whether anchors are nearer to the time in which messages that a rank sends at once share its network."""


def correction_of(
    choice: CorrectionChoice, table: AnchorTable, message_bytes: int, uncorrected_seconds: float
) -> Correction:
    """What is shown of a choice."""
    factor, offset = correction_numbers(choice.kind, table, message_bytes)
    return Correction(
        kind=choice.kind,
        anchors=table.count,
        factor=factor,
        offset_seconds_per_round=offset,
        uncorrected_seconds=uncorrected_seconds,
        uncorrected_error=_median_error(choice.uncorrected),
        left_out_error=_median_error(choice.errors) if choice.errors.size else None,
        is_of_asked_size=message_bytes in table.message_bytes,
    )


def _median_error(errors: Array) -> float:
    """Of |predicted - measured| / measured."""
    return float(np.median(np.abs(np.expm1(-errors))))


def may_be_of_another_unit(ratio: float) -> bool:
    """Is a measured time over its prediction nearer to a thousand, or a thousandth, than to 1?

    >>> may_be_of_another_unit(20.0), may_be_of_another_unit(1.3e6), may_be_of_another_unit(0.02)
    (False, True, True)
    """
    return abs(math.log(ratio)) > math.log(1000.0) / 2
