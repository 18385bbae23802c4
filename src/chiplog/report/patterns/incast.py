"""Messages of p peers to one rank at once: what they take, and what each one adds."""

from __future__ import annotations

from chiplog.fitting.quantities.incast import INCAST, added_message, incast_time
from chiplog.report.document import Inline, Table
from chiplog.report.patterns.run import (
    BySizeAndNumber,
    PatternRun,
    ShownValue,
    by_size_and_number,
    difference_cell,
    grid,
    rate_cell,
    time_grid,
    values_by_number,
)

CONVENTION = "from the first request until the last of p messages is there"
ADDED = "what each message after the first adds"


def tables(run: PatternRun) -> tuple[Table, ...]:
    """A list over sizes and peers, or grids of the times and of what a message adds where it would be long."""
    if not run.has(INCAST):
        return ()
    times, added = incast_times(run)
    if len(times) > run.most_rows:
        differences = {key: difference_cell(value) for key, value in added.items()}
        of_times = run.caption("Incast of p peers", f"{CONVENTION}; {run.intervals}")
        of_added = run.caption("A further message of an incast", ADDED)
        return time_grid(run, of_times, "p", times), grid(run, of_added, "p", differences)

    def one_more(size: int, p: int) -> tuple[Inline, ...]:
        value = added.get((size, p))
        return difference_cell(value), rate_cell(size, _positive(value))

    said = f"{CONVENTION}; one more: {ADDED}; {run.intervals}"
    heads = ("p", "time", "95 % interval", "one more", "its rate")
    return (by_size_and_number(run.caption("Incast of p peers", said), heads, times, one_more),)


def incast_times(run: PatternRun) -> tuple[BySizeAndNumber, BySizeAndNumber]:
    """The time of p messages, and what each after the first adds, [I(p) - I(1)]/(p-1), p > 1."""
    peers = sorted({series.peers for series in run.series if series.pattern == INCAST})
    return (
        values_by_number({p: incast_time(run.measured, p) for p in peers}),
        values_by_number({p: added_message(run.measured, p) for p in peers}),
    )


def _positive(value: ShownValue | None) -> ShownValue | None:
    """The value where its samples tell it from 0."""
    return None if value is None or value.low <= 0 else value
