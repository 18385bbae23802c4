"""Which message size times, bandwidths and rates of ucx_perftest agree on, and whether they are of a given one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from chiplog.dataset.import_values import AGREEMENT, MEBIBYTE, MICROSECOND
from chiplog.dataset.lines import Where

_TIME_STEP, _RATE_STEP = 0.0005, 0.005
"""Given: half of the last digit of times, in us, and of bandwidths, in MiB/s."""
Rows = Sequence[tuple[list[float], Where]]
"""The eight numbers of each row, and its place."""


def check_size(rows: Rows, size: int) -> None:
    """Raises CorruptFile where time and bandwidth of the last row are those of another size."""
    values, where = rows[-1]
    product = values[3] * MICROSECOND * values[5] * MEBIBYTE
    if abs(product - size) > AGREEMENT * size + _rounding(values[3], values[5], product):
        what = f"time and bandwidth give {product:.0f} bytes, not {size}"
        raise where.corrupt("Message size", what)


def _rounding(microseconds: float, mebibytes: float, product: float) -> float:
    """By how many bytes the product of a time and a bandwidth is off, as both are rounded."""
    if not microseconds or not mebibytes:
        return math.inf
    return product * (_TIME_STEP / microseconds + _RATE_STEP / mebibytes)


def size_by_rates(rows: Rows) -> int:
    """The message size that most rows' times and bandwidths agree on; CorruptFile where they don't.

    Of the sizes that they leave, the one that more powers of 2 divide.
    """
    spans = [(low, high) for values, _ in rows for low, high in _spans(values)]
    best = max(
        (sum(low <= candidate[0] <= high for low, high in spans), candidate[0])
        for candidate in [*spans, (0.0, 0.0)]
    )
    agreeing = [span for span in spans if span[0] <= best[1] <= span[1]]
    where = rows[-1][1]
    if not agreeing or 2 * len(agreeing) < len(spans):
        what = "is not in the file, and times and bandwidths contradict each other: give the command's -s in a line"
        raise where.corrupt("Message size", what)
    low = math.ceil(max(least for least, _ in agreeing))
    high = math.floor(min(most for _, most in agreeing))
    if high < low or high - low > AGREEMENT * low:
        what = "is not in the file, and the rates do not tell it: give the command's -s in a line"
        raise where.corrupt("Message size", what)
    step = 1
    while high // (2 * step) * (2 * step) >= low:
        step *= 2
    return high // step * step


def _spans(values: list[float]) -> Iterator[tuple[float, float]]:
    """From which to which size each of a row's two times agrees with its bandwidth and its rate of messages."""
    averages, overall = values[2::2], values[3::2]
    for microseconds, bandwidth, rate in (averages, overall):
        product = microseconds * MICROSECOND * bandwidth * MEBIBYTE
        off = _rounding(microseconds, bandwidth, product)
        if not math.isfinite(off) or product <= 0:
            continue
        low, high = product - off, product + off
        if rate > 0:
            quotient = bandwidth * MEBIBYTE / rate
            slack = quotient * (0.5 / rate + _RATE_STEP / bandwidth)
            if quotient - slack <= high and quotient + slack >= low:
                low, high = max(low, quotient - slack), min(high, quotient + slack)
        yield low, high
