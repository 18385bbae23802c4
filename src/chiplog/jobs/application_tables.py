"""Tables and pictures of what a trace shows, for a page: ranks, calls, sizes and pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chiplog.application.result import AppResult, RankCosts
from chiplog.counts import counted
from chiplog.report import format
from chiplog.report.document import (
    HeatCell,
    HeatMap,
    Inline,
    Matrix,
    Table,
    line,
    number_columns,
    text_columns,
)
from chiplog.report.matrix import LEVELS, MISSING, PairMatrix, RowGroup

MOST_RANK_ROWS, MOST_CALLS, MOST_PAIRS, MOST_RANKS_IN_MATRIX = 32, 8, 20, 1024
"""Given: what a page has room for."""
BAR_COLUMNS = 20
"""Given: how long the longest bar is."""
LEGEND_DIGITS = 2
"""Given: significant digits where a colour begins."""


def rank_table(result: AppResult) -> Table:
    """By rank, those with most communication first: transfer and overhead apart from waiting."""
    rows = sorted(result.rows, key=lambda row: (-row.communication_seconds, row.rank))
    columns = number_columns(
        *("Rank", "Time", "Communication", "Share", "Transfer and overhead"),
        *("Late sender", "Late receiver", "Others late", "Sent"),
    )
    caption = line(
        "Late sender: a receive began before the message was sent. Late receiver: a send waited for its receive. "
        "Others late: in a collective operation. What is left of the communication is transfer and overhead."
    )
    return Table(caption, columns, tuple(map(_rank_row, rows[:MOST_RANK_ROWS])), _rest(rows))


def _rank_row(row: RankCosts) -> tuple[Inline, ...]:
    transfer = max(row.communication_seconds - row.waiting_seconds, 0.0)
    times = (
        transfer,
        row.late_sender_seconds,
        row.late_receiver_seconds,
        row.collective_seconds,
    )
    return (
        line(str(row.rank)),
        line(format.value(row.seconds - row.start_and_end_seconds, "s")),
        line(time_text(row.communication_seconds)),
        line(format.percent(row.communication_share)),
        *(line(time_text(time)) for time in times),
        line(format.volume(row.bytes_sent)),
    )


def _rest(rows: Sequence[RankCosts]) -> tuple[Inline, ...]:
    more = len(rows) - MOST_RANK_ROWS
    if more <= 0:
        return ()
    return (line(f"{counted(more, 'more rank')} with less communication left out."),)


def call_map(result: AppResult) -> HeatMap:
    """Time by rank and MPI function, those that take longest."""
    calls = [row.call for row in result.calls if row.seconds > 0.0][:MOST_CALLS]
    rows = sorted(result.rows, key=lambda row: (-row.mpi_seconds, row.rank))[:MOST_RANK_ROWS]
    most = max((row.call_seconds.get(call, 0.0) for row in rows for call in calls), default=0.0)

    def cell(row: RankCosts, call: str) -> HeatCell:
        seconds = row.call_seconds.get(call, 0.0)
        return HeatCell(time_text(seconds), _level(seconds, most))

    cells = ((str(row.rank), tuple(cell(row, call) for call in calls)) for row in rows)
    legend = tuple(
        HeatCell(f"up to {format.value(most * level / LEVELS, 's', LEGEND_DIGITS)}", level)
        for level in range(1, LEVELS + 1)
    )
    caption = line("Time in each MPI function by rank, waiting included.")
    return HeatMap("Time by rank and call", caption, "rank", tuple(calls), tuple(cells), legend)


def _share_text(share: float | None) -> str:
    return format.NOTHING if share is None else format.percent(share)


def call_table(result: AppResult) -> Table:
    """Over all ranks by MPI function, those that take longest first."""
    rows = [
        (
            line(row.call),
            line(format.count(row.calls)),
            line(time_text(row.seconds) if result.has_times else format.NOTHING),
            line(_share_text(result.share_of_communication(row))),
            line(_waiting(row.seconds, row.waiting_seconds)),
            line(format.volume(row.bytes) if row.bytes else format.NOTHING),
        )
        for row in result.calls
    ]
    columns = (
        *text_columns("Call"),
        *number_columns("Calls", "Time, all ranks", "Share", "Of that waiting", "Bytes"),
    )
    return Table(line("Bytes are those sent and those received."), columns, tuple(rows))


def _waiting(seconds: float, waiting: float) -> str:
    return format.percent(waiting / seconds) if seconds > 0.0 else format.NOTHING


def size_table(result: AppResult) -> Table:
    """How many messages there are by size, with bars."""
    most = max(row.messages for row in result.sizes)
    rows = []
    for row in result.sizes:
        ends = dict.fromkeys((f"{row.first_bytes:,}", f"{row.last_bytes:,}"))
        bar = "\u2588" * max(1, round(BAR_COLUMNS * row.messages / most))
        rows.append(
            (
                line(f"{' to '.join(ends)} B"),
                line(format.count(row.messages)),
                line(format.volume(row.bytes)),
                line(bar),
            )
        )
    columns = (*number_columns("Message size", "Messages", "Bytes"), *text_columns(""))
    return Table(line("Messages of point-to-point calls, by powers of two."), columns, tuple(rows))


def pair_matrix(result: AppResult, hosts: Sequence[str]) -> Matrix | None:
    """Bytes from each rank, a row, to each rank, a column, ordered by host; None of too many ranks."""
    if result.ranks > MOST_RANKS_IN_MATRIX:
        return None
    names = hosts if len(hosts) == result.ranks else [""] * result.ranks
    order = sorted(range(result.ranks), key=lambda rank: (names[rank], rank))
    place = {rank: number for number, rank in enumerate(order)}
    moved = np.zeros((result.ranks, result.ranks), np.int64)
    for row in result.pairs:
        moved[place[row.source], place[row.destination]] += row.bytes
    most = int(moved.max(initial=0))
    levels = np.where(moved > 0, np.ceil(LEVELS * moved / max(most, 1)), 0).astype(np.int8)
    np.fill_diagonal(levels, np.where(np.diag(moved) > 0, np.diag(levels), MISSING))

    def text(row: int, column: int) -> str:
        return f"{order[row]} to {order[column]}: {format.volume(int(moved[row, column]))}"

    legend = [(0, "nothing")]
    legend += [(n, f"up to {format.volume(most * n / LEVELS)}") for n in range(1, LEVELS + 1)]
    shown = PairMatrix(
        "Bytes from each rank to each other rank",
        tuple(map(str, order)),
        levels,
        text,
        _groups([names[rank] for rank in order]),
        tuple(legend),
    )
    caption = line(
        "Bytes of point-to-point calls: a row for each sender, a column for each receiver."
    )
    return Matrix("Bytes by pair", caption, shown)


def _groups(names: Sequence[str]) -> tuple[RowGroup, ...]:
    """The ranks of each host, which stand together."""
    firsts = [at for at, name in enumerate(names) if not at or name != names[at - 1]]
    ends = [*firsts[1:], len(names)]
    return tuple(
        RowGroup(names[first], first, end - first) for first, end in zip(firsts, ends, strict=True)
    )


def pair_table(result: AppResult) -> Table:
    """The pairs that move most bytes."""
    rows = tuple(
        (
            line(str(row.source)),
            line(str(row.destination)),
            line(format.count(row.messages)),
            line(format.volume(row.bytes)),
        )
        for row in result.pairs[:MOST_PAIRS]
    )
    more = len(result.pairs) - len(rows)
    notes = (line(f"{counted(more, 'more pair')} with fewer bytes left out."),) if more > 0 else ()
    columns = number_columns("From", "To", "Messages", "Bytes")
    return Table(line("Pairs that move most bytes."), columns, rows, notes)


def time_text(seconds: float) -> str:
    """A time to three digits; 0 without a unit."""
    return format.brief(seconds, "s") if seconds else "0"


def _level(value: float, most: float) -> int:
    return int(np.ceil(LEVELS * value / most)) if value > 0.0 and most > 0.0 else 0
