"""In which state the machine was while a record was taken, as far as the record's witnesses tell.

Cores, caches and transports have states that outlast many records: another guest takes a share of a core, trains of
messages run in step with their receiver or ahead of it. Times differ by a third and more between them. The reference, a
fixed exchange of 1-byte messages along with every record, differs likewise, whatever the record itself measured. So
states are told from the witnesses alone, never from what is fitted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.series import Dataset, Reference, Series
from chiplog.dataset.spells import Apart, noise_scale, states_in_time
from chiplog.dataset.witnesses import TRAIN_FURTHER, Witnesses, witnesses_of

WITHIN_LAUNCH = np.log(1.05)
"""Log ratio of a 1-byte message's or a train's time from which two levels of one launch are two states.

Less would hardly change a result: it is what visits of a size in one state differ by.
"""
BETWEEN_LAUNCHES = np.log(1.2)
"""Log ratio from which two launches are of two states: launches of one state differ by up to 15 %."""
SURE = 3.0
"""Standard errors by which two states' levels differ."""
MEDIAN_ERROR = 1.253
"""Standard error of a median of normal values, in units of that of their mean."""
GRID = "grid"
MOST_KEPT = 16
"""Answers that are kept: a comparison's folds, and some."""

Point = tuple[object, ...]
"""What a record measured, whenever it did."""


@dataclass(frozen=True)
class States:
    """The state of each record that has witnesses: 0 for the one that most points met, then 1, and so on."""

    of_record: Mapping[int, int]
    met: tuple[float, ...]
    """The share of the run's points that met each state."""

    def records(self, state: int) -> frozenset[int]:
        """The ids of the records of one state."""
        return frozenset(number for number, mine in self.of_record.items() if mine == state)


def states_in(dataset: Dataset) -> States:
    """The states of the records of `dataset`: those it knows of the whole run, else as its own series tell them."""
    return states_of(dataset.series) if dataset.states is None else dataset.states


def states_of(series: Sequence[Series]) -> States:
    """The states of the records of `series`, which are in the order of time; none where there are no witnesses."""
    witnesses = witnesses_of(series)
    if witnesses is None:
        return States({}, ())
    labels = _labels(witnesses).tolist()
    points = points_of(series)
    counting = {number for number, point in points.items() if _is_of_grid(point)} or set(points)
    met: dict[int, set[Point]] = defaultdict(set)
    size: dict[int, int] = defaultdict(int)
    for number, label in zip(witnesses.ids, labels, strict=True):
        size[label] += 1
        if number in counting:
            met[label].add(points[number])
    order = sorted(size, key=lambda label: (-len(met[label]), -size[label], label))
    rank = {label: place for place, label in enumerate(order)}
    all_points = len({points[number] for number in counting})
    return States(
        {number: rank[label] for number, label in zip(witnesses.ids, labels, strict=True)},
        tuple(len(met[label]) / all_points for label in order),
    )


def points_of(series: Iterable[Series]) -> dict[int, Point]:
    """What each record measured, by its id: visits of one point share it."""
    records: dict[int, list[Series]] = defaultdict(list)
    for one in series:
        records[one.record_id].append(one)
    return {
        number: tuple(
            (
                one.pattern,
                one.message_bytes,
                one.train,
                one.delay_seconds > 0.0,
                one.tag.get("purpose"),
                one.peers,
                one.pairs,
                one.between,
                one.operation,
                one.posting,
                one.placement,
            )
            for one in record
        )
        for number, record in records.items()
    }


_told: dict[tuple[object, ...], NDArray[np.int64]] = {}


def _labels(witnesses: Witnesses) -> NDArray[np.int64]:
    """The state of each record; the last answers are kept, since each model's fit asks for the same records."""
    key = witnesses.logs.tobytes(), witnesses.launches.tobytes()
    if key not in _told:
        while len(_told) >= MOST_KEPT:
            _told.pop(next(iter(_told)))
        _told[key] = states_in_time(witnesses.logs, _apart(witnesses))
    return _told[key]


def _is_of_grid(point: Point) -> bool:
    return any(part[4] == GRID for part in point if isinstance(part, tuple))


def _apart(witnesses: Witnesses) -> Apart:
    """Whether the levels of two groups of records differ by more than one state's do."""
    noise = noise_scale(witnesses.logs)

    def apart(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> bool:
        levels = [np.median(witnesses.logs[mine], axis=0) for mine in (one, other)]
        distance = witnesses.weights * np.abs(levels[0] - levels[1])
        error = (
            witnesses.weights
            * MEDIAN_ERROR
            * noise
            * np.sqrt(1.0 / np.sum(one) + 1.0 / np.sum(other))
        )
        shared = np.intersect1d(witnesses.launches[one], witnesses.launches[other]).size > 0
        least = WITHIN_LAUNCH if shared else BETWEEN_LAUNCHES
        return bool(np.any((distance > least) & (distance > SURE * error)))

    return apart


def common_reference(series: Sequence[Series]) -> Reference | None:
    """The median reference of the state that most points met; None where no record has one."""
    main = states_of(series).records(0)
    found = {one.record_id: one.reference for one in series if one.reference is not None}
    parts = [
        (one.half_round_trip_seconds, one.gap_seconds, one.overhead_seconds)
        for number, one in found.items()
        if number in main
    ]
    return Reference(*np.median(parts, axis=0).tolist()) if parts else None


def same_state(a: Reference, b: Reference) -> bool:
    """Whether two runs' common references are of one state, as far as launches of one state are alike."""
    one, other = (np.maximum(_times(reference), 1e-12) for reference in (a, b))
    weights = np.array([1.0, 1.0, min(1.0, one[2] / one[0])])
    return bool(np.all(weights * np.abs(np.log(one / other)) <= BETWEEN_LAUNCHES))


def _times(one: Reference) -> NDArray[np.float64]:
    half = one.half_round_trip_seconds
    return np.array([half, 2.0 * half + TRAIN_FURTHER * one.gap_seconds, one.overhead_seconds])
