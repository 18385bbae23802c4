"""Which records were taken in one placement state of the cores.

A virtual machine's cores move while it measures, and latencies with them by a third and more. Each record carries the
time of a bare flag exchange between the ranks, taken before it; where the visits of one size differ in it, the slower
ones measured another machine. The choice looks at the flag exchange alone, never at what is fitted.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from chiplog.dataset.series import Dataset, Series

ALIKE = 1.05
"""Up to this factor above the fastest flag exchange of its size, a record counts as in the same state."""
MANY = 0.1
"""Share of records in other states from which a reader should know."""


def in_one_placement(dataset: Dataset) -> tuple[Dataset, tuple[str, ...]]:
    """The dataset without the records taken in a slower placement state than another visit of the same points.

    Also a sentence, where that leaves out many. At least one visit of each point is kept.
    """
    points: dict[tuple[object, ...], dict[int, Series]] = defaultdict(dict)
    by_record: dict[int, list[Series]] = defaultdict(list)
    for one in dataset.series:
        by_record[one.record_id].append(one)
    for number, record in by_record.items():
        if record[0].placement_seconds:
            points[_point(record)][number] = record[0]
    left_out: set[int] = set()
    for visits in points.values():
        placed = {number: one.placement_seconds or 0.0 for number, one in visits.items()}
        limit = ALIKE * min(placed.values())
        left_out |= {number for number, seconds in placed.items() if seconds > limit}
    if not left_out:
        return dataset, ()
    kept = tuple(one for one in dataset.series if one.record_id not in left_out)
    return replace(dataset, series=kept), _sentence(len(left_out), len(by_record))


def _point(record: list[Series]) -> tuple[object, ...]:
    """What a record measured, whenever it did."""
    return tuple(
        (
            one.pattern,
            one.message_bytes,
            one.train,
            one.delay_seconds > 0.0,
            one.tag.get("purpose"),
            one.peers,
            one.pairs,
            one.placement,
        )
        for one in record
    )


def _sentence(left_out: int, records: int) -> tuple[str, ...]:
    if left_out < MANY * records:
        return ()
    return (
        f"{left_out} of {records} records were taken while the cores were in a slower placement state than in another "
        "visit of the same point; they are in the file, but not in the parameters.",
    )
