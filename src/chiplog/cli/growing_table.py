"""The table that `chiplog measure` shows on a terminal while it measures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from chiplog.measurement.progress import ProgressBar
from chiplog.plan.units import format_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import RenderableType

    from chiplog.dataset.series import Series

COLD = "warm-up"
"""The tag of a run's first record, which nothing is taken from."""
OTHER_LINES = 4
"""Given: of the terminal: the heading, the bar, and room for the cursor."""


class GrowingTable(ProgressBar):
    """A bar below a table with a row for each size measured so far: its median, and how often it was visited.

    The first record decides what is shown: half round trips where it has bare ones, else its first pattern, and which
    number of pairs or peers the heading says. Where more
    sizes are measured than the terminal has lines, only powers of two are shown, the largest of them. The table is
    drawn only between records, and vanishes at the end: the final table, with intervals, takes its place.
    """

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self._quantity: tuple[object, ...] | None = None
        self._heading = ""
        self._share = 1.0
        self._samples: dict[int, list[NDArray[np.float64]]] = defaultdict(list)
        self._medians: dict[int, float] = {}

    def measured(self, series: Sequence[Series]) -> None:
        """Takes in the series of a finished record."""
        timed = [
            candidate
            for candidate in series
            if candidate.seconds.size and candidate.tag.get("purpose") != COLD
        ]
        if self._quantity is None and timed:
            self._choose(timed)
        for one_series in timed:
            if _quantity_of(one_series) == self._quantity:
                self._samples[one_series.message_bytes].append(one_series.seconds)
                self._medians.pop(one_series.message_bytes, None)

    def rows(self, most: int) -> list[tuple[str, str, str]]:
        """Size, median and visits of each size so far, in ascending order; at most so many rows."""
        sizes = sorted(self._samples)
        if len(sizes) > most:
            sizes = [size for size in sizes if size & (size - 1) == 0][-most:] or sizes[-most:]
        return [self._row(size) for size in sizes]

    def above(self, lines: int) -> Iterable[RenderableType]:
        """The table, in so many lines of a terminal less OTHER_LINES."""
        from rich.text import Text

        rows = self.rows(max(1, lines - OTHER_LINES))
        if rows:
            rows.insert(0, ("size", self._heading, "visits"))
            yield Text(
                "\n".join(f"{size:>9}  {time:>22}  {times:>6}" for size, time, times in rows)
            )

    def _choose(self, series: Sequence[Series]) -> None:
        from chiplog.report.measured import is_bare_round_trip

        bare = [
            candidate
            for candidate in series
            if is_bare_round_trip(candidate) and candidate.pairs == 1
        ]
        chosen = (bare or series)[0]
        self._quantity = _quantity_of(chosen)
        self._heading, self._share = heading(chosen)

    def _row(self, size: int) -> tuple[str, str, str]:
        from chiplog.report import format

        samples = self._samples[size]
        if size not in self._medians:
            import numpy as np

            self._medians[size] = self._share * float(np.median(np.concatenate(samples)))
        return format_bytes(size), format.value(self._medians[size], "s"), str(len(samples))


def heading(series: Series) -> tuple[str, float]:
    """What a series' median is called, and the share of a sample that it is of: half of a round trip, one message."""
    from chiplog.report.measured import is_bare_round_trip

    if series.pattern in ("pairs", "all_pairs") or is_bare_round_trip(series):
        is_trip = series.direction == "round-trip"
        of = f", k = {series.pairs}" if series.pattern == "pairs" else ""
        name = "half round trip" if is_trip else "one-way time"
        return f"median {name}{of}", 0.5 if is_trip else 1.0
    count = {
        "one_to_many": f"RTT(p), p = {series.peers}",
        "barrier": f"barrier, n = {series.peers}",
    }
    if series.pattern in count:
        return f"median {count[series.pattern]}", 1.0
    per_message = " per message" if series.train > 1 else ""
    of = f", k = {series.pairs}" if series.pairs > 1 else ""
    return f"median {series.pattern.replace('_', ' ')}{per_message}{of}", 1.0 / series.train


def _quantity_of(series: Series) -> tuple[object, ...]:
    """What a series measures, apart from its size."""
    return *series.kind, series.delay_seconds > 0.0
