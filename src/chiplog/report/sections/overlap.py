"""How much of a transfer is hidden behind a computation, over the message size."""

from __future__ import annotations

from collections.abc import Sequence

from chiplog.fitting.quantities.overlap import SIDES, HiddenShare, hidden_shares
from chiplog.report.document import Block, Figure, Paragraph, Section, Table, line
from chiplog.report.input import TargetReport
from chiplog.report.measured import change_marks
from chiplog.report.overlap import of_overlap, summary
from chiplog.report.patterns import pattern_runs
from chiplog.report.patterns.overlap import shares_table
from chiplog.report.plot import Axis, Plot, PlotSeries
from chiplog.report.sections.time_over_size import SIZE_AXIS

MOST_ROWS = 24
"""Given: rows that a table of the page shows."""
COLOURS = {"send": "o_s", "receive": "o_r"}
CAPTION = (
    "Share of a transfer that takes no time beside a computation between its post and its wait: of a send until the "
    "receiver's empty answer, of a receive from its empty request on; median and 95 % interval. What the processor "
    "does itself is never hidden."
)


def section(target: TargetReport, key: str) -> Section | None:
    """What is hidden, in a sentence, a plot and a table for each placement; None where it was not measured."""
    blocks: list[Block] = []
    for number, run in enumerate(pattern_runs(of_overlap(target.dataset), MOST_ROWS, 0)):
        shares = hidden_shares(run.measured)
        if not shares:
            continue
        sentence = summary(shares)
        blocks += [Paragraph(line(sentence))] if sentence else []
        plot = _plot(target, shares, f"{key}-overlap-{number}")
        table: Table = shares_table(run, shares)
        blocks.append(Figure("Hidden share over message size", line(CAPTION), plot, table))
    return Section(f"{key}-overlap", line("Overlap"), tuple(blocks)) if blocks else None


def _plot(target: TargetReport, shares: Sequence[HiddenShare], identifier: str) -> Plot:
    traces = tuple(trace for side in SIDES if (trace := _trace(side, shares)) is not None)
    axis = Axis("hidden share", "ratio", ("linear",), (0.0, 1.0))
    return Plot(identifier, SIZE_AXIS, axis, traces, change_marks(target.consensus))


def _trace(side: str, shares: Sequence[HiddenShare]) -> PlotSeries | None:
    known = [share for share in shares if share.side == side and share.is_identified]
    if not known:
        return None
    return PlotSeries(
        side,
        "points",
        COLOURS[side],
        [float(share.message_bytes) for share in known],
        [share.value for share in known],
        low=[share.low for share in known],
        high=[share.high for share in known],
    )
