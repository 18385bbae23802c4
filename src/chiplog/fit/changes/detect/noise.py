"""How far one median may be off by its own samples.

What medians of neighbouring sizes scatter beyond that is found from what the lines leave, not here: a running spread
of neighbours would take a protocol change for noise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.fit.changes.detect.observed import Observed

Floats = NDArray[np.float64]


def standard_errors(observed: Observed) -> Floats:
    """Of the medians, in seconds, shape (points,).

    Spreads of few samples are rough, so they are no less than their neighbours'.
    """
    own = observed.standard_errors
    width = min(5, own.size)
    starts = np.clip(np.arange(own.size) - width // 2, 0, own.size - width)
    rows = np.lib.stride_tricks.sliding_window_view(own, width)
    return np.asarray(np.maximum(own, np.median(rows, axis=1)[starts]))
