"""What the machine's drift and its states add to each record, as far as records of other sizes tell.

Sizes are measured several times in shuffled order, so a record's neighbours in time are other sizes. If they all took
longer than the other records of their sizes, so did this one, for the machine's reason. The levels of the sizes and
the drift are estimated together: least squares, where the drift is a random process whose neighbours correlate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.fit.changes.detect.thresholds import THRESHOLDS

Floats = NDArray[np.float64]


def drift_of(kind: NDArray[np.int64], level: Floats) -> Floats:
    """How far each record is off for reasons of its moment, shape (records,).

    `level` is logarithmic, in the order of time; records of one `kind` (0, 1, ...) measure the same. What all records
    of one kind share is its level and no drift, so that the drift is 0 where nothing was measured twice.
    """
    count = level.size
    if kind.max() + 1 == count:
        return np.zeros(count)
    members = np.bincount(kind)

    def off_level(values: Floats) -> Floats:
        return np.asarray(values - (np.bincount(kind, values) / members)[kind])

    correlation = THRESHOLDS.drift_correlation
    scale = 1.0 / ((1.0 - correlation**2) * THRESHOLDS.drift_ratio)
    diagonal = np.full(count, (1.0 + correlation**2) * scale)
    diagonal[[0, -1]] = scale

    def precision(drift: Floats) -> Floats:
        result = diagonal * drift + off_level(drift)
        result[1:] -= correlation * scale * drift[:-1]
        result[:-1] -= correlation * scale * drift[1:]
        return np.asarray(result)

    from scipy.sparse.linalg import LinearOperator, cg  # loads in 0.2 s

    operator = LinearOperator((count, count), matvec=precision, dtype=np.float64)
    drift, _ = cg(operator, off_level(level), rtol=1e-6)
    return np.asarray(drift)
