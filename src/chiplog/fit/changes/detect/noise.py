"""How far one median may be off: from its own samples, and from its neighbours.

Samples of one record share the state of the machine, so medians of neighbouring sizes often scatter more than their own
samples say; and imported totals have no samples at all. The larger of both counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.fit.changes.detect.observed import Observed

Floats = NDArray[np.float64]

NORMAL_MAD = 1.4826
"""Standard deviation over median absolute deviation, for normal variables."""
MIN_WINDOW = 11
"""Sizes over which a spread is taken at least; a change spoils two of them, or three."""
WINDOWS = 20
"""Windows that a dense series is divided into."""


def standard_errors(observed: Observed) -> Floats:
    """Of the medians, in seconds, shape (points,)."""
    return _smoothed(observed.standard_errors)


def scatter(observed: Observed) -> Floats:
    """Standard deviation of medians about the line through their neighbours, in seconds, shape (points,).

    A line leaves none of it, at whatever spacing; a protocol change only in the two sizes beside it.
    """
    size = observed.message_bytes.astype(np.float64)
    seconds = observed.seconds
    if size.size < 5:
        return np.zeros(size.size)
    right = (size[1:-1] - size[:-2]) / (size[2:] - size[:-2])
    left = 1.0 - right
    off = seconds[1:-1] - left * seconds[:-2] - right * seconds[2:]
    scale = np.maximum(np.abs(seconds[1:-1]), np.finfo(np.float64).tiny)
    relative = np.abs(off) / scale / np.sqrt(1.0 + left**2 + right**2)
    padded = np.concatenate([relative[:1], relative, relative[-1:]])
    spread = _running_median(padded, max(MIN_WINDOW, size.size // WINDOWS))
    return NORMAL_MAD * spread * np.abs(seconds)


def _smoothed(values: Floats) -> Floats:
    """Spreads of few samples are rough themselves: no less than their neighbours'."""
    return np.maximum(values, _running_median(values, 5))


def _running_median(values: Floats, window: int) -> Floats:
    count = values.size
    width = min(window, count)
    starts = np.clip(np.arange(count) - width // 2, 0, count - width)
    rows = np.lib.stride_tricks.sliding_window_view(values, width)
    medians: Floats = np.median(rows, axis=1)[starts]
    return medians
