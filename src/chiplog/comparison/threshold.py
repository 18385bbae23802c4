"""`--fail-on slower:5%`: a gate that two runs hit, pass, or can't be judged by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chiplog.comparison.result import RunRow
from chiplog.errors import PrecisionNotMet, ThresholdHit, UsageError
from chiplog.outside import as_float

_TEXT = re.compile(r"(slower|faster):(\d+(?:\.\d+)?)\s*%")


@dataclass(frozen=True)
class Threshold:
    """A verdict and the least change, as a share, that it must come with."""

    verdict: str
    share: float

    def change(self, ratio: float) -> float:
        """The change of a ratio in the threshold's direction, as a share."""
        return ratio - 1.0 if self.verdict == "slower" else 1.0 - ratio


def parse_threshold(text: str) -> Threshold:
    """The threshold that `slower:5%` names; UsageError says what is accepted.

    >>> parse_threshold("slower:5%")
    Threshold(verdict='slower', share=0.05)
    """
    match = _TEXT.fullmatch(text.strip())
    percent = as_float(match[2]) if match else None
    if match is None or percent is None:
        raise UsageError(
            f"--fail-on: '{text[:40]}' is not understood; it accepts slower:5% or faster:5%."
        )
    return Threshold(match[1], percent / 100.0)


def over_threshold(rows: Sequence[RunRow], threshold: Threshold) -> tuple[RunRow, ...]:
    """The rows with the threshold's verdict whose whole interval lies beyond its share; `unclear` is never one."""
    return tuple(
        row
        for row in rows
        if row.verdict == threshold.verdict
        and min(map(threshold.change, (row.low, row.high))) >= threshold.share
    )


def may_be_over(rows: Sequence[RunRow], threshold: Threshold) -> tuple[RunRow, ...]:
    """The rows that may hide a hit: the whole, or what has the threshold's verdict, if the interval reaches it.

    Of other rows, those whose ratio (that of their range, if they follow one) reaches it.
    """
    whole = rows[-1]

    def reaches(row: RunRow) -> bool:
        if row is whole or row.verdict == threshold.verdict:
            return max(map(threshold.change, (row.low, row.high))) >= threshold.share
        return threshold.change(row.level) >= threshold.share

    return tuple(filter(reaches, rows))


def check_threshold(rows: Sequence[RunRow], text: str) -> None:
    """Raises ThresholdHit where rows are over the threshold, PrecisionNotMet where none is and some may be."""
    threshold = parse_threshold(text)
    if over := over_threshold(rows, threshold):
        worst = max(over, key=lambda row: (row.message_bytes is not None, abs(row.level - 1.0)))
        raise ThresholdHit(
            f"--fail-on {text}: all of the interval lies beyond it for {_place(worst)}, with a ratio of "
            f"{_interval(worst)}{_more(over)}."
        )
    if unsure := may_be_over(rows, threshold):
        worst = max(unsure, key=lambda row: (row.message_bytes is None, abs(row.level - 1.0)))
        reach = max(map(threshold.change, (worst.low, worst.high)))
        raise PrecisionNotMet(
            f"--fail-on {text} can't be judged by these runs: for {_place(worst)}, the ratio is {_interval(worst)}"
            f"{_more(unsure)}, so a change of up to {100.0 * reach:.0f} % may hide. {worst.reason}"
        )


def _interval(row: RunRow) -> str:
    of_what = row if row.range is None else row.range
    return f"{of_what.ratio:.3f} ({of_what.low:.3f} to {of_what.high:.3f})"


def _more(rows: Sequence[RunRow]) -> str:
    others = len({_place(row) for row in rows}) - 1
    return f", and for {others} more" if others else ""


def _place(row: RunRow) -> str:
    if row.message_bytes is None:
        return "the whole"
    if row.range is None or row.range.first_bytes == row.range.last_bytes:
        return f"{row.what.label} at {row.message_bytes} B"
    return f"{row.what.label} from {row.range.first_bytes} to {row.range.last_bytes} B"
