"""Protocol changes: where, of what kind, who shows them, and where the switch should be."""

from __future__ import annotations

from chiplog.fitting.result import Fit
from chiplog.protocol_changes.change import Change
from chiplog.report import format
from chiplog.report.document import (
    Block,
    Inline,
    Paragraph,
    Section,
    Table,
    line,
    muted,
    number_columns,
    plain,
    text_columns,
)
from chiplog.report.input import TargetReport
from chiplog.report.measured import headline
from chiplog.report.names import jump, kind, model_name, quantity, seen_in, slope_changes


def section(target: TargetReport, key: str) -> Section | None:
    """The consensus, where slopes change within a protocol, and what each series says; None where there is neither."""
    fit = headline(target)
    slopes = slope_changes(fit) if fit is not None else []
    if not target.consensus and not target.series_changes and not slopes:
        return None
    blocks: list[Block] = []
    if target.consensus:
        blocks.append(_consensus(target.consensus))
    else:
        blocks.append(Paragraph(line("No protocol change is shared by the series.")))
    if fit is not None and slopes:
        blocks.append(Paragraph(_slopes(fit, slopes)))
    if target.series_changes:
        blocks.append(_by_series(target))
    return Section(f"{key}-changes", line("Protocol changes"), tuple(blocks))


def _consensus(changes: tuple[Change, ...]) -> Table:
    columns = (
        *number_columns("Last size before", "First size after"),
        *text_columns("Kind"),
        *number_columns(plain("Jump", term="jump")),
        *text_columns("Seen in"),
        *number_columns(plain("Lines cross at", term="crossing")),
    )
    caption = line(
        "Protocol changes that the series agree on. The change lies above the last size before and at or below the "
        "first size after. Where the two protocols' lines cross, the switch would cost nothing; that is shown where "
        "both were measured."
    )
    return Table(caption, columns, tuple(_row(change) for change in changes))


def _slopes(fit: Fit, places: list[str]) -> Inline:
    words = "; ".join(f"slope changes {place}" for place in places)
    return line(
        plain("Regimes", term="regime"),
        f" of {model_name(fit.model)}, apart from protocol changes: {words}. The cost of a byte is another from there "
        "on; no software takes another path.",
    )


def _row(change: Change) -> tuple[Inline, ...]:
    return (
        line(format.exact_bytes(change.last_before_bytes)),
        line(format.exact_bytes(change.first_after_bytes)),
        line(kind(change)),
        line(jump(change)),
        seen_in(change),
        _crossing(change),
    )


def _crossing(change: Change) -> Inline:
    """Where the lines cross, if both were measured there."""
    if change.crossing_bytes is None:
        return line(muted("never"))
    if not change.is_crossing_measured:
        return line(muted("not measured there"))
    return line(format.exact_bytes(change.crossing_bytes))


def _by_series(target: TargetReport) -> Table:
    rows: list[tuple[Inline, ...]] = []
    for series in target.series_changes:
        if not series.changes:
            blank = line(format.NOTHING)
            rows.append((quantity(series.series), line(muted("none found")), blank, blank))
        for change in series.changes:
            before, after = change.last_before_bytes, change.first_after_bytes
            where = f"{format.exact_bytes(before)} … {format.exact_bytes(after)}"
            rows.append(
                (quantity(series.series), line(where), line(kind(change)), line(jump(change)))
            )
    columns = (
        *text_columns("Series"),
        *number_columns("Between"),
        *text_columns("Kind"),
        *number_columns("Jump"),
    )
    caption = line("What each series of times over sizes shows by itself.")
    return Table(caption, columns, tuple(rows), in_terminal=False)
