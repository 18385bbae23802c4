"""What the measurement behind a fit cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chiplog.dataset.series import Series
from chiplog.fit.result import Cost


def cost_of(series: Sequence[Series], used: Iterable[int]) -> Cost:
    """Messages, bytes and seconds of exactly the series with the indices `used`, warm-up included."""
    chosen = [series[index] for index in used]
    return Cost(
        sum(one.messages for one in chosen),
        sum(one.bytes_sent for one in chosen),
        sum(one.elapsed_seconds for one in chosen),
    )
