"""What a reader of a fit must be told: what was left out, and that a fit is bad."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from chiplog.counts import counted
from chiplog.dataset.series import Dataset
from chiplog.fitting.result import Curve, Fit, FitError, Segment
from chiplog.fitting.settings import LINE_COEFFICIENTS
from chiplog.fitting.text import sizes_text
from chiplog.fitting.verdict import quality_of
from chiplog.machine_state.states import InOneState, in_one_state
from chiplog.protocol_changes.change import BISECT

WARM_UP = "warm-up"
"""Purposes of the records with which a change is found to the byte, and of a launch's first, cold one."""
PRINTED = ("half_round_trip", "gap")
"""The quantities that tools print themselves, so that their means scatter alike."""


def without_cold_start(dataset: Dataset) -> tuple[Dataset, tuple[str, ...]]:
    """The dataset without its first record, and a sentence about it, where nothing says that it was warm.

    That is so for imported totals of one sample each: the first size is cold there. Where series have samples of their
    own, the first ones are marked as warm-up already, and the dataset comes back as it is; also where a number stands
    for many times, as a tool's mean or median does, which took its warm-up itself.
    """
    all_series = dataset.series
    if (
        _is_summary(dataset)
        or not all_series
        or any(series.seconds.size > 1 or series.warmup_seconds.size for series in all_series)
    ):
        return dataset, ()
    first = min(series.record_id for series in all_series)
    kept = tuple(series for series in all_series if series.record_id != first)
    if not kept:
        return dataset, ()
    size = next(series.message_bytes for series in all_series if series.record_id == first)
    sentence = (
        f"The first record ({size} B) is not used: its series have one sample each and no warm-up, "
        "so it was taken cold."
    )
    return Dataset(dataset.header, kept, dataset.complete, dataset.source), (sentence,)


def _is_summary(dataset: Dataset) -> bool:
    """Were means or medians imported instead of raw samples?"""
    provenance = dataset.header.get("provenance")
    return isinstance(provenance, dict) and provenance.get("statistic") is not None


def few_means(dataset: Dataset) -> tuple[str, ...]:
    """A sentence where a line through imported means leaves nothing that would tell their scatter."""
    alike = {(series.message_bytes, series.launch) for series in dataset.series}
    if not _is_summary(dataset) or len(alike) > LINE_COEFFICIENTS:
        return ()
    return (
        f"Only {counted(len(alike), 'imported mean')}: nothing tells what they scatter by, so "
        "there are no intervals. Import more sizes, or more launches.",
    )


def few_means_in_regimes(dataset: Dataset, fit: Fit, scatter: float) -> tuple[str, ...]:
    """A sentence for the regimes of a fit in which a line goes through so few imported means, if it has several.

    `scatter` is what the means of the other regimes scatter by, 0 where none tells.
    """
    few = _regimes_of_few(dataset, fit)
    if not few:
        return ()
    where = ", ".join(sizes_text(segment.first_bytes, segment.last_bytes) for segment in few)
    clause = (
        f"the intervals there are as wide as the {100 * scatter:.2g} % allow that the other sizes scatter by"
        if scatter > 0.0
        else "nothing tells what they scatter by, so there are no intervals"
    )
    return (
        f"{LINE_COEFFICIENTS} imported means or fewer in {where}: {clause}. Import more sizes, or more launches.",
    )


def scatter_elsewhere(dataset: Dataset, fits: Sequence[Fit]) -> float:
    """The relative standard deviation of imported means about the lines of all regimes together.

    A regime of a few means tells hardly any of it, so those of the others count for it. Of the fit that misses them
    least; 0 where no fit has several regimes, and where none tells it.
    """
    scatters = []
    for fit in fits:
        if _is_summary(dataset) and len(fit.segments) > 1:
            scatters += [_scatter(curve, fit) for curve in fit.curves if curve.quantity in PRINTED]
    return min((scatter for scatter in scatters if scatter > 0.0), default=0.0)


def _scatter(curve: Curve, fit: Fit) -> float:
    squares, freedom = 0.0, 0
    missed = curve.predicted_seconds / curve.measured_seconds - 1.0
    for segment in fit.segments:
        inside = (curve.message_bytes >= segment.first_bytes) & (
            curve.message_bytes <= segment.last_bytes
        )
        count = int(np.count_nonzero(inside))
        if count > LINE_COEFFICIENTS:
            squares += float(np.sum(missed[inside] ** 2))
            freedom += count - LINE_COEFFICIENTS
    return math.sqrt(squares / freedom) if freedom else 0.0


def _regimes_of_few(dataset: Dataset, fit: Fit) -> list[Segment]:
    if not _is_summary(dataset) or len(fit.segments) < 2:
        return []
    alike = {(series.message_bytes, series.launch) for series in dataset.series}
    return [
        segment
        for segment in fit.segments
        if 0
        < sum(segment.first_bytes <= size <= segment.last_bytes for size, _ in alike)
        <= LINE_COEFFICIENTS
    ]


def without_questions(dataset: Dataset) -> Dataset:
    """The dataset without each launch's cold first record, and without those that looked closer at a protocol change.

    The latter crowd around it, and were chosen for what they show.
    """
    kept = tuple(
        series for series in dataset.series if series.tag.get("purpose") not in (BISECT, WARM_UP)
    )
    return replace(dataset, series=kept or dataset.series)


class Usable(NamedTuple):
    """The records that values are taken from: in one state of the machine, with what a reader should know of them."""

    chosen: Dataset
    """Those in any state."""
    placed: InOneState
    sentences: tuple[str, ...]


def usable(dataset: Dataset) -> Usable:
    """The records of one operation, posting and placement that both fits and tables of measured times go by."""
    chosen, warnings = without_cold_start(without_questions(dataset))
    placed = in_one_state(chosen)
    return Usable(chosen, placed, (*warnings, *few_means(chosen), *placed.sentences))


def bad_fit(error: FitError) -> tuple[str, ...]:
    """A sentence if the model's errors reject it."""
    if not error.points or quality_of(error) != "rejected":
        return ()
    return (
        f"The model misses the measured times by {100 * error.mean_relative:.0f} % on average "
        f"(at most {100 * error.max_relative:.0f} %): it does not describe this machine.",
    )
