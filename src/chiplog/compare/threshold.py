"""`--fail-on slower:5%`: which rows of a comparison of runs are over the threshold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from chiplog.compare.result import RunRow
from chiplog.errors import UsageError

_TEXT = re.compile(r"(slower|faster):(\d+(?:\.\d+)?)\s*%")


@dataclass(frozen=True)
class Threshold:
    """A verdict and the least change, as a share, that it must come with."""

    verdict: str
    share: float


def parse_threshold(text: str, option: str = "--fail-on") -> Threshold:
    """The threshold that `slower:5%` names; UsageError names `option` and what it accepts.

    >>> parse_threshold("slower:5%")
    Threshold(verdict='slower', share=0.05)
    """
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f"{option}: '{text}' is not understood; it accepts slower:5% or faster:5%."
        )
    return Threshold(match[1], float(match[2]) / 100.0)


def over_threshold(rows: Sequence[RunRow], threshold: Threshold) -> tuple[RunRow, ...]:
    """The rows with the threshold's verdict whose whole interval lies beyond its share; `unclear` is never one."""
    return tuple(
        row for row in rows if row.verdict == threshold.verdict and _beyond(row, threshold)
    )


def _beyond(row: RunRow, threshold: Threshold) -> bool:
    if threshold.verdict == "slower":
        return row.low >= 1.0 + threshold.share
    return row.high <= 1.0 - threshold.share
