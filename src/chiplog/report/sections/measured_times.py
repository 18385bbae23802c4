"""What was measured, as it is: a table a pattern, for all that no model of the run describes."""

from __future__ import annotations

from dataclasses import replace

from chiplog.dataset.patterns import OVERLAP, OVERLAP_RECEIVE
from chiplog.dataset.series import Dataset
from chiplog.fitting.quantities.by_method import ONE_TO_MANY
from chiplog.report.document import Section, line
from chiplog.report.input import TargetReport
from chiplog.report.names import of_pairs
from chiplog.report.patterns import pattern_tables

MOST_ROWS, MOST_COLUMNS = 60, 8
"""Given: what a page has room for."""
ROWS_BESIDE_FITS = 12
"""Given: of a table that stands on a page of fits, such as exchanges beside ping-pongs."""
PURPOSES = (None, "grid", "warm-up")
ONE_PAIR = frozenset(
    {"prtt", "ping_pong", "send_overhead", "receive_overhead", "flood", "late_receiver"}
)
"""Patterns that fits over the message size show with their curves."""
ELSEWHERE = frozenset({OVERLAP, OVERLAP_RECEIVE})
"""Patterns that have a section of their own."""


def section(target: TargetReport, key: str) -> Section | None:
    """The tables of the patterns that no fit predicts; None where fits show all of them."""
    described = _described(target)
    undescribed = tuple(
        series
        for series in target.dataset.series
        if series.pattern not in described | ELSEWHERE and series.tag.get("purpose") in PURPOSES
    )
    if not undescribed:
        return None
    dataset: Dataset = replace(target.dataset, series=undescribed)
    rows = ROWS_BESIDE_FITS if described else MOST_ROWS
    tables = pattern_tables(
        dataset, most_rows=rows, most_columns=MOST_COLUMNS, beside=target.dataset
    )
    return Section(f"{key}-measured", line("Measured times"), tables) if tables else None


def _described(target: TargetReport) -> frozenset[str]:
    """The patterns that a fit of the target says something about."""
    patterns: set[str] = set()
    for fit in target.fits:
        if not fit.error.points:
            continue
        if of_pairs(fit.method):
            patterns.add("pairs")
        else:
            patterns |= {"one_to_many", *ONE_PAIR} if fit.method == ONE_TO_MANY else ONE_PAIR
    return frozenset(patterns)
