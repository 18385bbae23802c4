"""Times of patterns that have no table of their own, as they were measured."""

from __future__ import annotations

from chiplog.dataset.series import Series
from chiplog.fitting.quantities.over_sizes import series_quantity
from chiplog.report.document import Table
from chiplog.report.names import QUANTITIES
from chiplog.report.patterns.all_pairs import ALL_PAIRS
from chiplog.report.patterns.run import PatternRun, by_size, values

CONVENTIONS = {
    "round-trip": "whole round trip",
    "one-way": "one way",
    "call": "time of the call",
}
ConventionKey = tuple[str, str, int, int, int, bool]
"""Pattern, direction, messages of a train, peers and pairs, and whether it is not of unnamed pairs."""


def tables(run: PatternRun, known: frozenset[str]) -> tuple[Table, ...]:
    """One table each of the patterns that are not `known`, by size; also of rounds whose file names no pairs."""
    keys = dict.fromkeys(
        _key(series)
        for series in run.series
        if series.pattern not in known or _is_of_unnamed_pairs(series)
    )
    return tuple(_table(run, key) for key in keys)


def _is_of_unnamed_pairs(series: Series) -> bool:
    return series.pattern == ALL_PAIRS and not series.by_pair


def _key(series: Series) -> ConventionKey:
    named = not _is_of_unnamed_pairs(series)
    return series.pattern, series.direction, series.train, series.peers, series.pairs, named


def _table(run: PatternRun, key: ConventionKey) -> Table:
    pattern, direction, train, peers, pairs, named = key
    name = " ".join(str(part) for part in key)
    times = values(series_quantity(run.measured, name, lambda series: _key(series) == key))
    counts = [
        f"{number} {noun}"
        for number, noun in ((train, "messages"), (peers, "peers"), (pairs, "pairs"))
        if number > 1
    ]
    title = QUANTITIES.get(pattern, pattern).replace("_", " ").capitalize()
    unnamed = () if named else ("of pairs that the file does not name",)
    convention = ", ".join([CONVENTIONS[direction], *counts, *unnamed])
    caption = run.caption(f"{title} by size", f"{convention}; {run.intervals}")
    return by_size(run, caption, ("time", "95 % interval"), [times])
