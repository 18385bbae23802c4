"""Messages of p peers to one rank at once: what they take, and what each one adds."""

from __future__ import annotations

from chiplog.fitting.quantities.incast import INCAST, added_message, incast_time
from chiplog.report import format
from chiplog.report.document import Table, line, number_columns
from chiplog.report.patterns.run import (
    PatternRun,
    ShownValue,
    bound_note,
    difference_cell,
    grid,
    interval_cells,
    missing_intervals,
    rate_cell,
    share_cell,
    values,
)

ByPeers = dict[tuple[int, int], ShownValue]
"""By message size in bytes and number of peers."""
CONVENTION = "from the first request until the last of p messages is there"
ADDED = "what each message after the first adds"


def tables(run: PatternRun) -> tuple[Table, ...]:
    """A list over sizes and peers, or grids of the times and of what a message adds where it would be long."""
    if not run.has(INCAST):
        return ()
    times, added = incast_times(run)
    if len(times) > run.most_rows:
        return (
            grid(
                run,
                run.caption("Incast of p peers", f"{CONVENTION}; {run.intervals}"),
                "p",
                {key: share_cell(value) for key, value in times.items()},
                missing_intervals(list(times.values())),
            ),
            grid(
                run,
                run.caption("A further message of an incast", ADDED),
                "p",
                {key: difference_cell(value) for key, value in added.items()},
            ),
        )
    return (_list(run, times, added),)


def incast_times(run: PatternRun) -> tuple[ByPeers, ByPeers]:
    """The time of p messages, and what each after the first adds, [I(p) - I(1)]/(p-1), p > 1."""
    times: ByPeers = {}
    added: ByPeers = {}
    for p in sorted({series.peers for series in run.series if series.pattern == INCAST}):
        for shown, quantity in (
            (times, incast_time(run.measured, p)),
            (added, added_message(run.measured, p)),
        ):
            if quantity.value.size:
                shown |= {(size, p): value for size, value in values(quantity).items()}
    return times, added


def _list(run: PatternRun, times: ByPeers, added: ByPeers) -> Table:
    cells = {key: difference_cell(added.get(key)) for key in times}
    rows = tuple(
        (
            line(format.message_size(size)),
            line(str(p)),
            *interval_cells(value),
            cells[size, p],
            rate_cell(size, _positive(added.get((size, p)))),
        )
        for (size, p), value in sorted(times.items())
    )
    notes = (*missing_intervals(list(times.values())), *bound_note(list(cells.values())))
    heads = number_columns("size", "p", "time", "95 % interval", "one more", "its rate")
    said = f"{CONVENTION}; one more: {ADDED}; {run.intervals}"
    return Table(run.caption("Incast of p peers", said), heads, rows, notes)


def _positive(value: ShownValue | None) -> ShownValue | None:
    """The value where its samples tell it from 0."""
    return None if value is None or value.low <= 0 else value
