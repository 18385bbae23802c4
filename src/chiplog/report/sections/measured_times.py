"""What was measured, as it is: for runs that no model describes, such as barriers, floods or sends alone."""

from __future__ import annotations

import numpy as np

from chiplog.dataset.operations import operation_text
from chiplog.dataset.series import Series
from chiplog.report import format
from chiplog.report.document import Column, Inline, Section, Table, line
from chiplog.report.input import TargetReport
from chiplog.report.names import QUANTITIES

MOST_ROWS = 60
PURPOSES = (None, "grid")

Kind = tuple[str, str, str, int, int, int, bool, int]


def section(target: TargetReport, key: str) -> Section | None:
    """Medians and quartiles of all that was measured; None where a model predicts some of it."""
    if any(fit.error.points for fit in target.fits) or not target.dataset.series:
        return None
    found: dict[Kind, list[Series]] = {}
    for one in target.dataset.series:
        if one.seconds.size and one.tag.get("purpose") in PURPOSES:
            found.setdefault(_kind(one), []).append(one)
    if not found:
        return None
    rows = tuple(_row(kind, found[kind]) for kind in sorted(found)[:MOST_ROWS])
    columns = (
        Column(line("Measured")),
        Column(line("Size"), numeric=True),
        Column(line("Train"), numeric=True),
        Column(line("Pairs"), numeric=True),
        Column(line("Peers"), numeric=True),
        Column(line("Samples"), numeric=True),
        Column(line("Median"), numeric=True),
        Column(line("Middle half"), numeric=True),
    )
    more = f"; the first {MOST_ROWS} of {len(found)} rows" if len(found) > MOST_ROWS else ""
    caption = line(f"Durations as they were measured, since no model predicts them{more}.")
    table = Table(caption, columns, rows)
    return Section(f"{key}-measured", line("Measured times"), (table,))


def _kind(one: Series) -> Kind:
    return (
        one.pattern,
        operation_text(one.operation, one.posting),
        one.direction,
        one.train,
        one.pairs,
        one.peers,
        one.delay_seconds > 0,
        one.message_bytes,
    )


def _row(kind: Kind, members: list[Series]) -> tuple[Inline, ...]:
    pattern, operation, direction, train, pairs, peers, delayed, size = kind
    samples = np.concatenate([one.seconds for one in members])
    low, middle, high = np.quantile(samples, (0.25, 0.5, 0.75))
    of = "" if operation == "send" else f", {operation}"
    words = f"{QUANTITIES.get(pattern, pattern)}{of}, {direction}"
    return (
        line(f"{words}, delayed" if delayed else words),
        line(format.message_size(size)),
        line(str(train)),
        line(str(pairs)),
        line(str(peers)),
        line(format.count(samples.size)),
        line(format.value(float(middle), "s")),
        line(f"{format.value(float(low), 's')} to {format.value(float(high), 's')}"),
    )
