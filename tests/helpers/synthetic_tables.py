"""Tables of one value a size, as other tools print them: with known scatter, outliers and slowdowns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.series import Dataset, Series


def curve_seconds(sizes: Sequence[int]) -> NDArray[np.float64]:
    """One-way times in seconds of a network whose protocol changes at 8 KiB; shape (sizes,).

    >>> curve_seconds([1, 16384]).round(8).tolist()
    [1.5e-06, 5.14e-06]
    """
    message_bytes = np.asarray(sizes, dtype=np.float64)
    return np.asarray(1.5e-6 + message_bytes / 1e10 + 2e-6 * (message_bytes > 8192))


def table_of(
    seconds: Mapping[int, float], *, operation: str = "send", pattern: str = "ping_pong"
) -> Dataset:
    """An imported table: one value in seconds for each size in bytes."""
    return Dataset(
        {"target": "import:osu", "transport": "unknown"},
        tuple(
            _series(record, size, value, operation, pattern)
            for record, (size, value) in enumerate(seconds.items())
        ),
        True,
        "memory",
    )


def _series(record: int, size: int, value: float, operation: str, pattern: str) -> Series:
    samples = np.array([value])
    return Series(
        pattern=pattern,
        operation=operation,
        posting="normal",
        direction="one-way",
        message_bytes=size,
        train=1,
        delay_seconds=0.0,
        batch=1,
        launch=0,
        visit=0,
        record_id=record,
        placement_seconds=None,
        messages=1,
        bytes_sent=size,
        elapsed_seconds=value,
        warmup_seconds=samples[:0],
        seconds=samples,
    )
