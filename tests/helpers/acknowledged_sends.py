"""An MPI whose sends above some size end when their receiver has said that it has the message."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from synthetic import as_run, synthetic_dataset

from chiplog.dataset.series import Dataset, Series
from chiplog.models.piecewise import Piece

TIMES = {"L": 100e-6, "o_s": 2e-6, "o_r": 2e-6, "g": 3e-6, "G": 40e-9}
LARGEST_EAGER_BYTES = 128
SIZES = (1, 2, 8, 32, 128, 129, 256, 512, 1024, 4096, 8192, 16384, 65536)


def one_way_seconds(message_bytes: int) -> float:
    """From the start of a send until the message is received."""
    further = max(message_bytes, 1) - 1
    return TIMES["L"] + TIMES["o_s"] + TIMES["o_r"] + further * TIMES["G"]


def acknowledged_sends(noise: float = 0.0, seed: int = 0) -> Dataset:
    """Its measured times: a blocking send takes a message there and one of no bytes back."""
    S = float(LARGEST_EAGER_BYTES)
    pieces = [Piece(LARGEST_EAGER_BYTES, {**TIMES, "S": S}), Piece(None, {**TIMES, "S": S})]
    eager = synthetic_dataset(pieces, SIZES, samples=5, visits=2)
    random = np.random.default_rng(seed)
    made = []
    for series in eager.series:
        exact = _seconds(series)
        times = series.seconds if exact is None else np.full(series.seconds.shape, exact)
        noisy = times * np.exp(noise * random.standard_normal(times.shape))
        made.append(replace(series, seconds=noisy, elapsed_seconds=float(noisy.sum())))
    return as_run(made, seed)


def _seconds(series: Series) -> float | None:
    """None of what takes as long as without acknowledgements."""
    size, delay = series.message_bytes, series.delay_seconds
    if size <= LARGEST_EAGER_BYTES:
        return None
    way, back = one_way_seconds(size), one_way_seconds(0)
    if series.pattern == "prtt":
        return (series.train - 1) * (way + back + delay) + 2.0 * way
    if series.pattern == "late_receiver":
        return max(way, delay) + back
    if series.pattern == "flood":
        return series.train * (way + back)
    return None
