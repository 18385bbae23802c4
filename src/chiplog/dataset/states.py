"""In which state the machine was while a record was taken, as far as the record's reference tells.

Cores, caches and transports have states that outlast many records: another guest takes a share of a core, trains of
messages run in step with their receiver or ahead of it. Times differ by a third and more between them. The reference, a
fixed exchange of 1-byte messages along with every record, differs likewise, whatever the record itself measured.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

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
SMALL_BYTES = 1024
"""Messages up to here are so short that a state shows, and so cheap that a size can be visited again for it."""
LEAST_RATIO = 0.01
"""Of a part that noise hides in one reference to what it is in the common one."""
COMMON_ALIKE = 0.5
"""How unlike each other the common references of two runs may be in one state."""
FASTEST_SHARE = 0.1
"""Share of the records that may have been lucky: the reference of the next one counts as the fastest."""


def slowness(
    references: Iterable[Reference], factors: NDArray[np.float64], fastest_share: float = 0.0
) -> NDArray[np.float64]:
    """How slow each reference is in its slowest part, shape (references,): above 1, by more than its factor.

    The fastest of each part is its quantile `fastest_share`; parts that noise hides (0) don't count.
    """
    parts = _parts(references)
    fastest = np.quantile(parts, fastest_share, axis=0)
    seen = fastest > 0
    if not np.any(seen):
        return np.zeros(len(parts))
    return np.max(parts[:, seen] / (factors * fastest)[seen], axis=1)  # type: ignore[no-any-return]


def _parts(references: Iterable[Reference]) -> NDArray[np.float64]:
    return np.array(
        [(one.half_round_trip_seconds, one.gap_seconds, one.overhead_seconds) for one in references]
    )


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


def common_reference(series: Iterable[Series]) -> Reference | None:
    """The reference of the state that most of the small sizes met; None where no record of one such size has one."""
    sizes: dict[int, set[int]] = defaultdict(set)
    references = {}
    for one in series:
        sizes[one.record_id].add(one.message_bytes)
        if one.reference:
            references[one.record_id] = one.reference
    by_size: dict[int, list[Reference]] = defaultdict(list)
    for number, reference in references.items():
        if len(sizes[number]) == 1 and max(sizes[number]) <= SMALL_BYTES:
            by_size[max(sizes[number])].append(reference)
    if not by_size:
        return None
    of_sizes = [np.median(_parts(found), axis=0) for found in by_size.values()]
    return Reference(*np.median(of_sizes, axis=0).tolist())


def unlikeness(references: Iterable[Reference], common: Reference) -> NDArray[np.float64]:
    """How unlike `common` each reference is, shape (references,): above 1, more than references of one state are.

    The root mean square of the parts' log ratios, each in units of what it varies by (`ALIKE`); parts that noise hides
    (0) don't count.
    """
    usual = _parts([common])[0]
    seen = usual > 0
    if not np.any(seen):
        return np.zeros(len(list(references)))
    ratio = np.maximum(_parts(references)[:, seen] / usual[seen], LEAST_RATIO)
    return np.asarray(np.sqrt(np.mean((np.log(ratio) / np.log(ALIKE[seen])) ** 2, axis=1)))


def unlike_records(series: Sequence[Series]) -> frozenset[int]:
    """The ids of the records that were taken in another state than most of the small sizes were, slower or faster."""
    common = common_reference(series)
    if common is None:
        return frozenset()
    references = {one.record_id: one.reference for one in series if one.reference}
    unlike = unlikeness(references.values(), common) > 1.0
    return frozenset(np.array(list(references))[unlike].tolist())


def in_one_state(a: Reference, b: Reference) -> bool:
    """Whether two runs' common references are of one state.

    They are medians over many records, so they vary by half as much as those of records do.
    """
    return bool(unlikeness([a], b)[0] <= COMMON_ALIKE)


def slowed_records(series: Iterable[Series]) -> frozenset[int]:
    """The ids of the records that were taken in a slower state than the fastest of the run."""
    references = {one.record_id: one.reference for one in series if one.reference}
    if not references:
        return frozenset()
    slow = slowness(references.values(), SLOWED, FASTEST_SHARE) > 1.0
    return frozenset(np.array(list(references))[slow].tolist())
