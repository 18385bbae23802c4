"""Which messages are short: LogP describes these only."""

from __future__ import annotations

import numpy as np

from chiplog.fit.quantities.quantity import Quantity

SHORT_GROWTH = 0.05
"""A message is short while its half round trip is within 5 % of the smallest message's."""
FEWEST_SIZES = 3


def last_short_size(half: Quantity) -> int:
    """The largest size in bytes up to which half round trips stay within 5 % (at least 3 sizes, if there are)."""
    base = float(np.median(half.value[:FEWEST_SIZES]))
    noise = 2.0 * half.sigma
    longer = np.flatnonzero(half.value - noise > (1.0 + SHORT_GROWTH) * base)
    first_long = (
        int(longer[longer >= FEWEST_SIZES][0])
        if np.any(longer >= FEWEST_SIZES)
        else half.value.size
    )
    return int(half.message_bytes[first_long - 1])
