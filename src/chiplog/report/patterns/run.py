"""What the tables of measured times are made from, and the cells that they share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from chiplog.dataset.series import Dataset, Series
from chiplog.fitting.predictions.predictor import measured_curve
from chiplog.fitting.quantities.measured import MeasuredSeries
from chiplog.fitting.quantities.over_sizes import series_quantity
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.fitting.result import Curve
from chiplog.report import format
from chiplog.report.document import Inline, Table, detail, line, number_columns, text_of
from chiplog.report.names import launches_text
from chiplog.statistics import FEWEST_SAMPLES

WHOLE = 0.995
"""Derived: share that is 100 % once rounded: half an interval so wide says no more than the value's order."""
NO_INTERVAL = f"—: no interval, since fewer than {FEWEST_SAMPLES} samples tell none."


@dataclass(frozen=True)
class PatternRun:
    """The measured times of one operation, posting and placement, in one state of the machine.

    `measured` has each series with the statistic that stands for it; `of` says what they are of where a run has several
    such parts ("rdma-write, inline"), else it is empty. A table has at most `most_rows` rows, and one over two numbers
    at most `most_columns` columns of times. `header` is the run file's, `part` are the series in all states; `beside`
    are these and such as are shown elsewhere, to compare with.
    """

    measured: MeasuredSeries
    of: str
    most_rows: int
    most_columns: int
    header: Mapping[str, object]
    part: Dataset
    beside: Dataset

    @property
    def series(self) -> tuple[Series, ...]:
        """All series with samples."""
        return tuple(series for series in self.measured.series if series.seconds.size)

    def has(self, *patterns: str) -> bool:
        """Was any of the patterns measured?"""
        return any(series.pattern in patterns for series in self.series)

    @property
    def intervals(self) -> str:
        """What the intervals are of, for captions: "median of this launch, 95 % interval"."""
        return (
            f"median {launches_text(len({series.launch for series in self.series}))}, 95 % interval"
        )

    def caption(self, title: str, convention: str) -> Inline:
        """A table's title: what is shown, of which operation, by which convention."""
        of = f" of {self.of}" if self.of else ""
        return line(f"{title}{of}: {convention}.")


@dataclass(frozen=True)
class ShownValue:
    """A measured value in seconds; NaN ends where there is no interval."""

    seconds: float
    low: float
    high: float

    def scaled(self, factor: float) -> ShownValue:
        """The value times `factor`."""
        return ShownValue(self.seconds * factor, self.low * factor, self.high * factor)


def values(quantity: Quantity) -> dict[int, ShownValue]:
    """A quantity's values by size in bytes, or by whatever stands where its sizes do."""
    return curve_values(measured_curve(quantity))


BySizeAndNumber = dict[tuple[int, int], ShownValue]
"""Values by message size in bytes and a second number: pairs k, peers p or n."""


def values_by_number(quantities: Mapping[int, Quantity]) -> BySizeAndNumber:
    """The values of the quantity of each number, by size and number."""
    return {
        (size, number): value
        for number, quantity in quantities.items()
        for size, value in values(quantity).items()
    }


def times_by_number(
    run: PatternRun,
    name: str,
    wanted: Callable[[Series], bool],
    number_of: Callable[[Series], int],
) -> BySizeAndNumber:
    """The times of the series that `wanted` accepts, by size and their number, which `name` has room for."""
    numbers = sorted({number_of(series) for series in run.series if wanted(series)})

    def times(number: int) -> Quantity:
        return series_quantity(
            run.measured, name.format(number), lambda s: wanted(s) and number_of(s) == number
        )

    return values_by_number({number: times(number) for number in numbers})


def curve_values(curve: Curve) -> dict[int, ShownValue]:
    """The measured values of a curve by size in bytes."""
    return {
        int(size): ShownValue(float(value), float(low), float(high))
        for size, value, low, high in zip(
            curve.message_bytes,
            curve.measured_seconds,
            curve.low_seconds,
            curve.high_seconds,
            strict=True,
        )
    }


def interval_cells(value: ShownValue | None) -> tuple[Inline, Inline]:
    """The value, and its interval in the same unit."""
    if value is None:
        return line(format.NOTHING), line(format.NOTHING)
    shown, interval = format.value_and_interval(value.seconds, value.low, value.high, "s")
    return line(shown), line(interval)


def share_cell(value: ShownValue | None) -> Inline:
    """The value with half its interval's width as a share: for grids, where there is no room for more."""
    if value is None:
        return line(format.NOTHING)
    shown = format.brief(value.seconds, "s")
    half = 0.5 * (value.high - value.low)
    if not math.isfinite(half) or not value.seconds > 0:
        return line(shown)
    share = half / value.seconds
    width = format.percent(share).replace(" ", "") if share < WHOLE else ">99%"
    return line(f"{shown} ", detail(f"±{width}"))


def difference_cell(value: ShownValue | None) -> Inline:
    """A difference of times to three digits; where it may be 0 for all that its samples tell, what it is below."""
    if value is None or (value.seconds <= 0 and not value.high > 0):
        return line(format.NOTHING)
    if value.seconds <= 0 or value.low <= 0:
        return line(f"<{format.brief(value.high, 's')}")
    return plain_cell(value)


def plain_cell(value: ShownValue | None) -> Inline:
    """The value alone, to three digits."""
    return line(format.NOTHING if value is None else format.brief(value.seconds, "s"))


def rate_cell(size: float, value: ShownValue | None) -> Inline:
    """`size` bytes over the value."""
    if value is None or not size or not value.seconds > 0:
        return line(format.NOTHING)
    return line(format.brief(size / value.seconds, "B/s"))


def bound_note(cells: Sequence[Inline]) -> tuple[Inline, ...]:
    """A note where a cell holds a bound."""
    if any(text_of(cell).startswith("<") for cell in cells):
        return (line("<: below this; its samples do not tell it from 0."),)
    return ()


def missing_intervals(found: Sequence[ShownValue | None]) -> tuple[Inline, ...]:
    """A note where a value has no interval."""
    if any(value is not None and not math.isfinite(value.low) for value in found):
        return (line(NO_INTERVAL),)
    return ()


def spread(all_values: Sequence[int], most: int) -> list[int]:
    """At most so many of the values: powers of two first, then evenly taken, both ends among them."""
    if len(all_values) <= most:
        return list(all_values)
    powers = [all_value for all_value in all_values if all_value & (all_value - 1) == 0]
    chosen = powers if len(powers) >= most else list(all_values)
    places = np.unique(np.linspace(0, len(chosen) - 1, most).round().astype(int))
    return [chosen[place] for place in places]


def by_size(
    run: PatternRun,
    caption: Inline,
    heads: Sequence[str],
    columns: Sequence[Mapping[int, ShownValue]],
    more: Callable[[int], Sequence[Inline]] = lambda _: (),
) -> Table:
    """A row for each size: each column's value with its interval, then what `more` says of the size."""
    sizes = sorted({size for column in columns for size in column})
    shown = spread(sizes, run.most_rows)
    rows = tuple(
        (
            line(format.message_size(size)),
            *(cell for column in columns for cell in interval_cells(column.get(size))),
            *more(size),
        )
        for size in shown
    )
    every = [column.get(size) for column in columns for size in shown]
    notes = (
        *bound_note([cell for row in rows for cell in row]),
        *missing_intervals(every),
        *thinned_note(len(shown), len(sizes), "sizes"),
    )
    return Table(caption, number_columns("size", *heads), rows, notes)


def by_size_and_number(
    caption: Inline,
    heads: Sequence[str],
    times: Mapping[tuple[int, int], ShownValue],
    more: Callable[[int, int], Sequence[Inline]],
) -> Table:
    """A row for each size and second number, such as k: the time with its interval, then what `more` says of both."""
    rows = tuple(
        (
            line(format.message_size(size)),
            line(str(number)),
            *interval_cells(value),
            *more(size, number),
        )
        for (size, number), value in sorted(times.items())
    )
    notes = (
        *missing_intervals(list(times.values())),
        *bound_note([cell for row in rows for cell in row]),
    )
    return Table(caption, number_columns("size", *heads), rows, notes)


def time_grid(
    run: PatternRun, caption: Inline, name: str, times: Mapping[tuple[int, int], ShownValue]
) -> Table:
    """Times by message size and a second number, called `name`."""
    cells = {key: share_cell(value) for key, value in times.items()}
    return grid(run, caption, name, cells, missing_intervals(list(times.values())))


HOW_TO_SEE_ALL = "All: chiplog export RUN --to csv -o FILE.csv"


def thinned_note(shown: int, count: int, what: str) -> tuple[Inline, ...]:
    """A note where not all is shown: what is, and how to see the rest."""
    if shown >= count:
        return ()
    return (line(f"Shown: {shown} of {count} {what}. {HOW_TO_SEE_ALL}"),)


def grid(
    run: PatternRun,
    caption: Inline,
    name: str,
    cells: Mapping[tuple[int, int], Inline],
    notes: tuple[Inline, ...] = (),
) -> Table:
    """Cells by message size and a second number, called `name`, such as k; whichever has more values goes down."""
    sizes, others = (sorted({key[i] for key in cells}) for i in (0, 1))
    names = ("size", name)
    down, across = (0, 1) if len(sizes) >= len(others) else (1, 0)
    values_of = (sizes, others)
    rows_shown = spread(values_of[down], run.most_rows)
    columns_shown = spread(values_of[across], run.most_columns)

    def title(value: int, kind: int) -> str:
        return format.message_size(value) if kind == 0 else f"{name} = {value}"

    def cell(row: int, column: int) -> Inline:
        key = (row, column) if down == 0 else (column, row)
        return cells.get(key, line(format.NOTHING))

    rows = tuple(
        (line(title(row, down)), *(cell(row, column) for column in columns_shown))
        for row in rows_shown
    )
    heads = number_columns(names[down], *(title(value, across) for value in columns_shown))
    more = (
        *thinned_note(len(rows_shown), len(values_of[down]), _plural(names[down])),
        *thinned_note(len(columns_shown), len(values_of[across]), _plural(names[across])),
    )
    return Table(caption, heads, rows, (*notes, *more))


def _plural(name: str) -> str:
    return "sizes" if name == "size" else f"values of {name}"
