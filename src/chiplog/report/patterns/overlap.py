"""How much of a transfer is hidden behind a computation, for a sender and a receiver that compute."""

from __future__ import annotations

from collections.abc import Sequence

from chiplog.dataset.patterns import OVERLAP, OVERLAP_RECEIVE
from chiplog.fitting.quantities.overlap import SIDES, HiddenShare, hidden_shares
from chiplog.report import format
from chiplog.report.document import Inline, Table, line, number_columns
from chiplog.report.overlap import percent, percent_range
from chiplog.report.patterns.run import PatternRun, spread, thinned_note

SHARE = "hidden: 1 - (time with the computation - computation) / time alone"
NOT_IDENTIFIED = "—: not identified, since "


def tables(run: PatternRun) -> tuple[Table, ...]:
    """The shares by size, those of both sides in a row."""
    if not run.has(OVERLAP, OVERLAP_RECEIVE):
        return ()
    shares = hidden_shares(run.measured)
    return (shares_table(run, shares),) if shares else ()


def shares_table(run: PatternRun, shares: Sequence[HiddenShare]) -> Table:
    """A row for each size: the transfer alone, and what is hidden of a send and of a receive."""
    by_key = {(share.side, share.message_bytes): share for share in shares}
    sizes = sorted({share.message_bytes for share in shares})
    shown = spread(sizes, run.most_rows)
    rows = tuple(
        (
            line(format.message_size(size)),
            *(cell for side in SIDES for cell in _cells(by_key.get((side, size)))),
        )
        for size in shown
    )
    reasons = dict.fromkeys(
        share.reason for share in shares if share.reason and share.message_bytes in shown
    )
    heads = (head for side in SIDES for head in (side, "hidden", "95 % interval"))
    caption = run.caption("Overlap with a computation by size", f"{SHARE}; {run.intervals}")
    notes = (
        *(line(f"{NOT_IDENTIFIED}{reason}.") for reason in reasons),
        *thinned_note(len(shown), len(sizes), "sizes"),
    )
    return Table(caption, number_columns("size", *heads), rows, notes)


def _cells(share: HiddenShare | None) -> tuple[Inline, ...]:
    """The time of the transfer alone, what is hidden of it, and the interval."""
    if share is None:
        return tuple(line(format.NOTHING) for _ in ("alone", "hidden", "interval"))
    alone = line(format.brief(share.transfer_seconds, "s"))
    if not share.is_identified:
        return alone, line(format.NOTHING), line(format.NOTHING)
    return alone, line(percent(share.value)), line(percent_range(share.low, share.high))
