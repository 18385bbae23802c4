"""What a reader of a fit must be told: what was left out, and that a fit is bad."""

from __future__ import annotations

from dataclasses import replace

from chiplog.dataset.series import Dataset
from chiplog.fit.result import Fit, FitError
from chiplog.fit.text import sizes_text

BISECT = "bisect"
"""Purpose of the records with which a change is found to the byte."""
FEWEST_MEANS = 2
"""A line through so many means leaves no residual."""
BAD_FIT = 0.2
"""Mean relative error above which a fit is called bad."""


def without_cold_start(dataset: Dataset) -> tuple[Dataset, tuple[str, ...]]:
    """The dataset without its first record, and a sentence about it, where nothing says that it was warm.

    That is so for imported totals of one sample each: the first size is cold there. Where series have samples of their
    own, the first ones are marked as warm-up already, and the dataset comes back as it is; also where a number stands
    for many times, as a tool's mean or median does, which took its warm-up itself.
    """
    series = dataset.series
    if (
        _is_summary(dataset)
        or not series
        or any(one.seconds.size > 1 or one.warmup_seconds.size for one in series)
    ):
        return dataset, ()
    first = min(one.record_id for one in series)
    kept = tuple(one for one in series if one.record_id != first)
    if not kept:
        return dataset, ()
    size = next(one.message_bytes for one in series if one.record_id == first)
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
    alike = {(one.message_bytes, one.launch) for one in dataset.series}
    if not _is_summary(dataset) or len(alike) > FEWEST_MEANS:
        return ()
    return (
        f"Only {len(alike)} imported {'mean' if len(alike) == 1 else 'means'}: the intervals hold the rounding of the "
        "printed times, not their scatter. Import more sizes, or more launches.",
    )


def few_means_in_regimes(dataset: Dataset, fit: Fit) -> tuple[str, ...]:
    """A sentence for the regimes of a fit in which a line goes through so few imported means, if it has several."""
    if not _is_summary(dataset) or len(fit.segments) < 2:
        return ()
    alike = {(one.message_bytes, one.launch) for one in dataset.series}
    few = [
        sizes_text(one.first_bytes, one.last_bytes)
        for one in fit.segments
        if 0 < sum(one.first_bytes <= size <= one.last_bytes for size, _ in alike) <= FEWEST_MEANS
    ]
    if not few:
        return ()
    return (
        f"{FEWEST_MEANS} imported means or fewer in {', '.join(few)}: the intervals there hold the rounding of the "
        "printed times, not their scatter. Import more sizes, or more launches.",
    )


def without_questions(dataset: Dataset) -> Dataset:
    """The dataset without the records that looked closer at a protocol change.

    They crowd around it, and were chosen for what they show.
    """
    kept = tuple(one for one in dataset.series if one.tag.get("purpose") != BISECT)
    return replace(dataset, series=kept)


def bad_fit(error: FitError) -> tuple[str, ...]:
    """A sentence if the model misses the measured times by more than 20 % on average."""
    if not error.mean_relative > BAD_FIT:
        return ()
    return (
        f"The model misses the measured times by {100 * error.mean_relative:.0f} % on average "
        f"(at most {100 * error.max_relative:.0f} %): it does not describe this machine.",
    )
