"""Times of patterns that have no table of their own, as they were measured."""

from __future__ import annotations

from chiplog.dataset.series import Series
from chiplog.fit.quantities.over_sizes import series_quantity
from chiplog.report import format
from chiplog.report.document import Table, line
from chiplog.report.names import QUANTITIES
from chiplog.report.patterns.run import (
    PatternRun,
    columns,
    interval_cells,
    missing_intervals,
    spread,
    thinned_note,
    values,
)

CONVENTIONS = {
    "round-trip": "whole round trip",
    "one-way": "one way",
    "call": "time of the call",
}
ConventionKey = tuple[str, str, int, int, int]
"""Pattern, direction, messages of a train, peers and pairs."""


def tables(run: PatternRun, known: frozenset[str]) -> tuple[Table, ...]:
    """One table each of the patterns that are not `known`, by size."""
    keys = dict.fromkeys(_key(one) for one in run.series if one.pattern not in known)
    return tuple(_table(run, key) for key in keys)


def _key(one: Series) -> ConventionKey:
    return one.pattern, one.direction, one.train, one.peers, one.pairs


def _table(run: PatternRun, key: ConventionKey) -> Table:
    pattern, direction, train, peers, pairs = key
    name = " ".join(str(part) for part in key)
    found = values(series_quantity(run.measured, name, lambda one: _key(one) == key))
    shown = spread(sorted(found), run.most_rows)
    rows = tuple((line(format.message_size(size)), *interval_cells(found[size])) for size in shown)
    counts = [
        f"{number} {noun}"
        for number, noun in ((train, "messages"), (peers, "peers"), (pairs, "pairs"))
        if number > 1
    ]
    title = QUANTITIES.get(pattern, pattern).replace("_", " ").capitalize()
    convention = ", ".join([CONVENTIONS[direction], *counts])
    notes = (
        *missing_intervals([found[size] for size in shown]),
        *thinned_note(len(shown), len(found), "sizes"),
    )
    caption = run.caption(f"{title} by size", f"{convention}; {run.intervals}")
    return Table(caption, columns("size", "time", "95 % interval"), rows, notes)
