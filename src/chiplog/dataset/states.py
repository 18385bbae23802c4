"""In which state the machine was while a record was taken, as far as the record's reference tells.

Cores, caches and transports have states that outlast many records: another guest takes a share of a core, trains of
messages run in step with their receiver or ahead of it. Times differ by a third and more between them. The reference, a
fixed exchange of 1-byte messages along with every record, differs likewise, whatever the record itself measured.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.series import Reference, Series

SLOWED = np.array([1.15, 1.3, 1.2])
"""Factors above the fastest half round trip, gap and overhead from which a reference is of a slower state.

Within one state they vary by up to a half of that; the states that were seen differ by more.
"""
ALIKE = np.array([1.08, 1.15, 1.10])
"""Factors up to which references are of one state: what they vary by within it."""
CLOSER = 2.0
"""Factor by which flags go faster between cores that are placed closer, such as two threads of one core."""
MOST_POINTS = 0.75
"""Share of the points that must have met a placement for it to be the run's."""
FASTEST_SHARE = 0.1
"""Share of the records that may have been lucky: the reference of the next one counts as the fastest."""


def slowness(
    references: Iterable[Reference], factors: NDArray[np.float64], fastest_share: float = 0.0
) -> NDArray[np.float64]:
    """How slow each reference is in its slowest part, shape (references,): above 1, by more than its factor.

    The fastest of each part is its quantile `fastest_share`; parts that noise hides (0) don't count.
    """
    parts = np.array(
        [(one.half_round_trip_seconds, one.gap_seconds, one.overhead_seconds) for one in references]
    )
    fastest = np.quantile(parts, fastest_share, axis=0)
    seen = fastest > 0
    if not np.any(seen):
        return np.zeros(len(parts))
    return np.max(parts[:, seen] / (factors * fastest)[seen], axis=1)  # type: ignore[no-any-return]


def passing_records(points: Iterable[Iterable[Series]]) -> frozenset[int]:
    """The ids of the records that were taken while the cores were closer to each other than most points ever met them.

    `points` holds the visits of each. What only some points met can't be compared with the others.
    """
    flags = [
        {one.record_id: one.placement_seconds for one in visits if one.placement_seconds}
        for visits in points
    ]
    fastest = [min(known.values()) for known in flags if known]
    if not fastest:
        return frozenset()
    least = float(np.quantile(fastest, MOST_POINTS)) / CLOSER
    return frozenset(
        number for known in flags for number, seconds in known.items() if seconds < least
    )


def slowed_records(series: Iterable[Series]) -> frozenset[int]:
    """The ids of the records that were taken in a slower state than the fastest of the run."""
    references = {one.record_id: one.reference for one in series if one.reference}
    if not references:
        return frozenset()
    slow = slowness(references.values(), SLOWED, FASTEST_SHARE) > 1.0
    return frozenset(np.array(list(references))[slow].tolist())
