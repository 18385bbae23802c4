"""How much of the transfers of a run is hidden behind computations, and that in a sentence."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from chiplog.dataset.series import Dataset
from chiplog.fitting.quantities.overlap import SIDES, HiddenShare
from chiplog.report import format


def of_overlap(dataset: Dataset) -> Dataset:
    """The dataset with its series of overlap alone."""
    kept = (series for series in dataset.series if series.pattern in SIDES.values())
    return replace(dataset, series=tuple(kept))


def summary(shares: Sequence[HiddenShare]) -> str:
    """What is hidden of a send and of a receive, in a sentence: below and above the size at which most is lost."""
    clauses = [words for side in SIDES if (words := _summary_of(side, shares))]
    return f"Hidden behind a computation: {'; '.join(clauses)}." if clauses else ""


def _summary_of(side: str, shares: Sequence[HiddenShare]) -> str:
    known = sorted(
        (share for share in shares if share.side == side and share.is_identified),
        key=lambda share: share.message_bytes,
    )
    if not known:
        return ""
    at = _fall(known)
    if at is None:
        return f"of a {side} {_values(known)}"
    before, after = known[:at], known[at:]
    last, first = (format.message_size(part.message_bytes) for part in (before[-1], after[0]))
    return f"of a {side} {_values(before)} up to {last}, {_values(after)} from {first} on"


def _fall(known: Sequence[HiddenShare]) -> int | None:
    """The place of the size at which the share falls most, where the intervals of the two sizes don't meet."""
    falls = {
        place: before.value - after.value
        for place, (before, after) in enumerate(itertools.pairwise(known), start=1)
        if after.high < before.low
    }
    return max(falls, key=falls.__getitem__) if falls else None


def _values(known: Sequence[HiddenShare]) -> str:
    values = [share.value for share in known]
    return percent_range(min(values), max(values))


def percent_range(low: float, high: float) -> str:
    """A range of shares in whole per cent: "2 to 8 %"."""
    first, last = percent(low), percent(high)
    return last if first == last else f"{first.removesuffix(' %')} to {last}"


def percent(share: float) -> str:
    """A share in whole per cent."""
    return f"{100.0 * share:.0f} %"
