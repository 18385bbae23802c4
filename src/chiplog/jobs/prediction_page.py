"""Predictions over the number of ranks as a page: who wins where, and how long each algorithm takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chiplog.prediction.convention import TimeConvention
from chiplog.prediction.over_ranks import Reign, reigns
from chiplog.prediction.result import LOWER_BOUND, Prediction
from chiplog.report import format
from chiplog.report.document import (
    Document,
    Figure,
    Inline,
    Paragraph,
    Section,
    Table,
    bad,
    code,
    joined,
    line,
    muted,
    number_columns,
    strong,
    text_columns,
)
from chiplog.report.plot import Axis, Plot, PlotSeries

COLOURS = (
    "loggp",
    "plogp",
    "loggps",
    "hockney",
    "placement",
    "logp",
    "bell",
    "max-rate-4",
    "max-rate-modified",
)
BOUND_COLOUR = "measured"


def prediction_page(rows: Sequence[Prediction]) -> Document:
    """`rows` as of chiplog.prediction.over_ranks.predict_over_ranks."""
    first = rows[0]
    size = format.sizes_of_operation(first.operation, first.bytes)
    by = f"predicted by the fit of {first.model}, up to {rows[-1].ranks} ranks{_how(first)}"
    winners = Section("winners", line("Which algorithm wins"), (_winners(reigns(rows)),))
    times = Section("time", line("Time over the number of ranks"), (_figure(rows),))
    top, *others = (times,) if first.verdict == "only" else (winners, times)
    top = replace(top, blocks=(*_rejected(first), *top.blocks))
    return Document(", ".join((first.operation, *size)), line(muted(by)), (top, *others))


def _how(row: Prediction) -> str:
    """What is not as usual: times are corrected by anchors, or of another convention."""
    corrected = ", corrected by measured operations" if row.correction is not None else ""
    is_usual = row.convention is TimeConvention.COMMON_START
    return corrected + ("" if is_usual else f"; times: {row.convention.in_words}")


def _rejected(row: Prediction) -> tuple[Paragraph, ...]:
    """Why the fit must not be relied on, where its own check rejects it."""
    if row.rejected is None:
        return ()
    return (Paragraph(line(bad("Not to be relied on"), f": {row.rejected}.")),)


def _winners(reigns_shown: Sequence[Reign]) -> Table:
    columns = (*number_columns("Ranks"), *text_columns("Verdict", "Algorithm"))
    caption = line(
        "Unclear: the intervals overlap, or a time is only a bound, so that any of the algorithms "
        "named may be fastest. Ranks between two rows were not tried."
    )
    return Table(caption, columns, tuple(_winners_row(reign) for reign in reigns_shown))


def _winners_row(reign: Reign) -> tuple[Inline, ...]:
    same = reign.first_ranks == reign.last_ranks
    ranks = str(reign.first_ranks) if same else f"{reign.first_ranks} to {reign.last_ranks}"
    names = joined((line(code(name)) for name in reign.algorithms), ", ")
    verdict = line(strong("fastest")) if len(reign.algorithms) == 1 else line("unclear")
    return line(ranks), verdict, names


def _figure(rows: Sequence[Prediction]) -> Figure:
    names = [name for name in dict.fromkeys(row.algorithm for row in rows) if name != LOWER_BOUND]
    traces = [_trace(rows, name, COLOURS[i % len(COLOURS)]) for i, name in enumerate(names)]
    traces.append(_trace(rows, LOWER_BOUND, BOUND_COLOUR))
    plot = Plot(
        "time-over-ranks",
        Axis("ranks", "", ("log", "linear")),
        Axis("time", "s", ("log", "linear")),
        tuple(traces),
    )
    caption = line(
        "Lines: the predicted time of each algorithm; bars: its 95 % interval, from that of the fit's parameters. "
        "No algorithm can be faster than the lower bound."
    )
    return Figure("Time over the number of ranks", caption, plot, _numbers(rows))


def _trace(rows: Sequence[Prediction], algorithm: str, colour: str) -> PlotSeries:
    of_algorithm = [row for row in rows if row.algorithm == algorithm]
    return PlotSeries(
        "lower bound" if algorithm == LOWER_BOUND else algorithm,
        "line",
        colour,
        [row.ranks for row in of_algorithm],
        [row.seconds for row in of_algorithm],
        low=[row.low for row in of_algorithm],
        high=[row.high for row in of_algorithm],
    )


def _numbers(rows: Sequence[Prediction]) -> Table:
    columns = (
        *number_columns("Ranks"),
        *text_columns("Algorithm"),
        *number_columns("n", "Time", "95 % interval"),
        *text_columns("Verdict", "By"),
    )
    notes = dict.fromkeys(row.reason for row in rows if row.reason)
    return Table(
        line("The last row of each number of ranks is the lower bound; * is extrapolated."),
        columns,
        tuple(_numbers_row(row) for row in rows),
        tuple(line(f"* extrapolated: {reason}.") for reason in notes),
        in_terminal=False,
    )


def _numbers_row(row: Prediction) -> tuple[Inline, ...]:
    seconds, interval = format.value_and_interval(row.seconds, row.low, row.high, "s")
    return (
        line(str(row.ranks)),
        line(row.algorithm),
        line("" if row.peers is None else str(row.peers)),
        line(seconds),
        line(interval),
        line(row.verdict),
        line(row.method + (" *" if row.extrapolated else "")),
    )
