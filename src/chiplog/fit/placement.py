"""Which records were taken in one state of the machine.

A virtual machine's cores move while it measures, and latencies with them by a third and more; other guests take shares
of them, and overheads grow with it. Each record carries two witnesses: a bare flag exchange between the ranks' cores,
and a reference, a fixed exchange of 1-byte messages along with its samples. Where the visits of one point differ in
them, the slower ones measured another machine; and so did a few that were faster, if cores that most points met apart
were close to each other for a while. The choice looks at the witnesses alone, never at what is fitted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from chiplog.dataset.series import Dataset, Series
from chiplog.dataset.states import ALIKE, passing_records, slowed_records, slowness, unlike_records

ALIKE_FLAGS = 1.05
"""Up to this factor above the fastest flag exchange of its point, a record counts as in the same state."""
MANY = 0.1
"""Share of records in other states from which a reader should know."""

Record = list[Series]


def in_one_placement(dataset: Dataset) -> tuple[Dataset, tuple[str, ...]]:
    """The dataset without the records taken in a slower state of the machine than another visit of the same points,
    in a faster placement that most points never met, or in another state than most small sizes met.

    Also sentences, where that leaves out many, or where many points met a slower state only. At least one visit of
    each size is kept for each pattern.
    """
    by_record: dict[int, Record] = defaultdict(list)
    for one in dataset.series:
        by_record[one.record_id].append(one)
    points: dict[tuple[object, ...], dict[int, Series]] = defaultdict(dict)
    for number, record in by_record.items():
        points[_point(record)][number] = record[0]
    passing = passing_records(visits.values() for visits in points.values())
    kept: set[int] = set()
    for visits in points.values():
        lasting = {number: one for number, one in visits.items() if number not in passing}
        kept |= _fastest(lasting or visits)
    series = [one for one in dataset.series if one.record_id in kept]
    unlike = unlike_records(series)
    met = {(one.pattern, one.message_bytes) for one in series if one.record_id not in unlike}
    counting = tuple(
        one
        for one in series
        if one.record_id not in unlike or (one.pattern, one.message_bytes) not in met
    )
    slowed = slowed_records(dataset.series) & kept
    told = (
        *_left_out(len(by_record) - len(kept), len(by_record)),
        *_slowed(len(slowed), len(kept)),
    )
    return replace(dataset, series=counting), told


def _fastest(visits: Mapping[int, Series]) -> set[int]:
    """The visits of one point with the fastest reference, and of these the ones with the fastest flags."""
    references = {number: one.reference for number, one in visits.items() if one.reference}
    alike = set(visits)
    if len(references) == len(visits):
        how_slow = slowness(references.values(), ALIKE).tolist()
        slow = dict(zip(references, how_slow, strict=True))
        limit = max(1.0, min(slow.values()))
        alike = {number for number, how in slow.items() if how <= limit}
    flags = {number: visits[number].placement_seconds or 0.0 for number in alike}
    return {number for number in alike if flags[number] <= ALIKE_FLAGS * min(flags.values())}


def _point(record: Record) -> tuple[object, ...]:
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


def _left_out(left_out: int, records: int) -> tuple[str, ...]:
    if left_out < MANY * records:
        return ()
    return (
        f"{left_out} of {records} records were taken while the machine was in a slower state (its cores, or the "
        "transport on them) than in another visit of the same point; they are in the file, but not in the parameters.",
    )


def _slowed(slowed: int, kept: int) -> tuple[str, ...]:
    if slowed < MANY * kept:
        return ()
    return (
        f"{slowed} of the {kept} records that count met the machine in a slower state only: overheads and gaps are too "
        "long there. Lines leave such sizes out where enough others are left; repeat the run when it is quiet.",
    )
