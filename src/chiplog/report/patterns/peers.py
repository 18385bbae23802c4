"""Times over the number of peers: one process to many, and n-way dissemination barriers."""

from __future__ import annotations

from dataclasses import replace

from chiplog.dataset.series import Series
from chiplog.fitting.one_to_many.observed import observe_all
from chiplog.report import format
from chiplog.report.document import Inline, Table, line, number_columns
from chiplog.report.header import number
from chiplog.report.patterns.run import (
    BySizeAndNumber,
    PatternRun,
    by_size_and_number,
    interval_cells,
    missing_intervals,
    plain_cell,
    time_grid,
    times_by_number,
    values,
)

ONE_TO_MANY, BARRIER, POSTS = "one_to_many", "barrier", "send_overhead"


def one_to_many(run: PatternRun) -> tuple[Table, ...]:
    """RTT(p), and the time to post one of p sends, over the number of peers."""
    if not run.has(ONE_TO_MANY):
        return ()
    totals, posts = one_to_many_times(run)
    convention = f"from the first send to the last of p answers; {run.intervals}"
    if len(totals) <= run.most_rows:
        return (_list(run, totals, posts, convention),)
    of_totals = run.caption("RTT(p) of one process to p peers", convention)
    of_posts = run.caption("o_s(p)", f"time to post p sends, per send; {run.intervals}")
    shown = [time_grid(run, of_totals, "p", totals)]
    return (*shown, time_grid(run, of_posts, "p", posts)) if posts else tuple(shown)


def one_to_many_times(run: PatternRun) -> tuple[BySizeAndNumber, BySizeAndNumber]:
    """RTT(p), and the time to post one of p sends."""
    totals: BySizeAndNumber = {}
    posts: BySizeAndNumber = {}
    for observed in observe_all(run.measured, "", ONE_TO_MANY):
        for shown, over in ((totals, observed.round_trips), (posts, observed.overheads)):
            if over.peers.size:
                by_peers = replace(over.quantity, message_bytes=over.peers)
                for p, value in values(by_peers).items():
                    shown[observed.message_bytes, p] = value
    return totals, posts


def _list(
    run: PatternRun, totals: BySizeAndNumber, posts: BySizeAndNumber, convention: str
) -> Table:
    def per_peer(size: int, p: int) -> tuple[Inline, ...]:
        return plain_cell(totals[size, p].scaled(1.0 / p)), plain_cell(posts.get((size, p)))

    said = f"{convention}; o_s(p): time to post p sends, per send"
    heads = ("p", "RTT(p)", "95 % interval", "RTT(p)/p", "o_s(p)")
    return by_size_and_number(run.caption("One process to p peers", said), heads, totals, per_peer)


def barriers(run: PatternRun) -> tuple[Table, ...]:
    """The time of a whole n-way dissemination barrier over n, with its rounds."""
    if not run.has(BARRIER):
        return ()
    times = barrier_times(run)
    ranks = number(run.header, "ranks")
    of = "all ranks" if ranks is None else f"{ranks:.0f} ranks"
    caption = run.caption(
        f"n-way dissemination barrier of {of}", f"a whole barrier on rank 0; {run.intervals}"
    )
    if len(times) > run.most_rows:
        return (time_grid(run, caption, "n", times),)
    rows = tuple(
        (
            line(format.message_size(size)),
            line(str(n)),
            line(format.NOTHING if ranks is None else str(rounds(n, int(ranks)))),
            *interval_cells(value),
        )
        for (size, n), value in sorted(times.items())
    )
    heads = number_columns("size", "n", "rounds", "a barrier", "95 % interval")
    return (Table(caption, heads, rows, missing_intervals(list(times.values()))),)


def barrier_times(run: PatternRun) -> BySizeAndNumber:
    """The time of a whole barrier over n."""
    return times_by_number(run, "barrier(n={})", _is_barrier, lambda series: series.peers)


def _is_barrier(series: Series) -> bool:
    return series.pattern == BARRIER


def rounds(n: int, ranks: int) -> int:
    """Rounds of an n-way dissemination barrier: the least R with (n+1)^R >= P.

    >>> rounds(4, 125)
    3
    """
    count, reached = 0, 1
    while reached < ranks:
        reached *= n + 1
        count += 1
    return count
