"""What the measurement behind a fit cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chiplog.dataset.series import Series
from chiplog.fit.result import Cost


def cost_of(all_series: Sequence[Series], used: Iterable[int]) -> Cost:
    """Messages, bytes and seconds of exactly the series with the indices `used`, warm-up included."""
    chosen = [all_series[index] for index in used]
    return Cost(
        sum(series.messages for series in chosen),
        sum(series.bytes_sent for series in chosen),
        sum(series.elapsed_seconds for series in chosen),
    )
