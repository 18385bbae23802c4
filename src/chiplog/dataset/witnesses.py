"""The witnesses of a run's states in the order of time, as logarithms: the reference of each record, else its flags.

The flags' exchange depends on where the memory of a launch lies, by a third and more, and that says little of the
transport. What cores and transport are like shows in the reference, so flags count where there is none.

Witnesses depend a little on what the record itself measured, since caches and transports remember it. Points come in
shuffled order, so that dependence is what records of one kind differ by from those around them, and it is taken off.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.series import Series
from chiplog.dataset.spells import noise_scale

TRAIN_FURTHER = 9
"""Messages after the first in the reference's train: its whole time is never hidden in noise, as its gap may be."""
OCTAVES_OF_A_KIND = 5
"""Sizes from 1 to 31 B, 32 to 1023 B and so on leave the caches alike."""
AROUND = 10
"""Records on each side that a record is compared with."""
FEWEST_OF_A_KIND = 8
ALIKE = 3.0
"""Noise scales up to which two records of a kind are alike."""
USUAL = 0.25
"""The share of a kind's records that are alike if that is how the kind is."""
HALF_ROUND_TRIP, OVERHEAD = 1, 3
"""Places of these among the witnesses."""
MOST_MISSING = 0.5
"""Share of records without a witness up to which it is used; they are taken to be like the record before."""


@dataclass(frozen=True)
class Witnesses:
    """Logarithms of seconds, shape (records, witnesses), for the records `ids` in the order of time.

    `launches` has shape (records,). `weights`, shape (witnesses,), is the share of a 1-byte message's time that each
    witness is, 1 at most: twice the time for a post of a tenth of a message makes the message a tenth longer.
    """

    ids: tuple[int, ...]
    logs: NDArray[np.float64]
    launches: NDArray[np.int64]
    weights: NDArray[np.float64]


def witnesses_of(series: Iterable[Series]) -> Witnesses | None:
    """The witnesses of the records of `series`, which are in the order of time; None where no record has any."""
    records: dict[int, list[Series]] = defaultdict(list)
    for one in series:
        records[one.record_id].append(one)
    if not records:
        return None
    seconds = np.array([_seconds(record[0]) for record in records.values()])
    present = seconds > 0.0
    used = np.mean(present, axis=0) >= 1.0 - MOST_MISSING
    if not np.any(used):
        return None
    if np.any(used[1:]):
        used[0] = False
    logs = np.log(_filled(seconds[:, used], present[:, used]))
    launches = np.array([record[0].launch for record in records.values()], dtype=np.int64)
    kinds = [_kind(record) for record in records.values()]
    logs -= _offsets(logs, kinds)
    return Witnesses(tuple(records), logs, launches, _weights(logs, used))


def _weights(logs: NDArray[np.float64], used: NDArray[np.bool_]) -> NDArray[np.float64]:
    weights = np.ones(logs.shape[1])
    if used[HALF_ROUND_TRIP] and used[OVERHEAD]:
        level = np.median(logs, axis=0)
        half = level[np.count_nonzero(used[:HALF_ROUND_TRIP])]
        weights[-1] = min(1.0, float(np.exp(level[-1] - half)))
    return weights


def _seconds(one: Series) -> tuple[float, float, float, float]:
    """Flags, then half round trip, train and overhead of the reference; 0 where there is none."""
    flags = one.placement_seconds or 0.0
    if one.reference is None:
        return flags, 0.0, 0.0, 0.0
    half = one.reference.half_round_trip_seconds
    train = 2.0 * half + TRAIN_FURTHER * one.reference.gap_seconds if half > 0.0 else 0.0
    return flags, half, train, one.reference.overhead_seconds


def _filled(seconds: NDArray[np.float64], present: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The witnesses with each missing one as in the record before, or after where there is none before."""
    filled = seconds.copy()
    for column in range(seconds.shape[1]):
        has = np.flatnonzero(present[:, column])
        before = np.maximum(np.searchsorted(has, np.arange(len(seconds)), side="right") - 1, 0)
        filled[:, column] = seconds[has[before], column]
    return filled


def _kind(record: list[Series]) -> tuple[object, ...]:
    """What of a record's own messages a witness may depend on."""
    octave = max(one.message_bytes for one in record).bit_length()
    return frozenset(one.pattern for one in record), octave // OCTAVES_OF_A_KIND


def _offsets(logs: NDArray[np.float64], kinds: list[tuple[object, ...]]) -> NDArray[np.float64]:
    """What each record's kind adds to its witnesses: the usual distance from the records around."""
    width = min(2 * AROUND + 1, len(logs))
    windows = np.lib.stride_tricks.sliding_window_view(logs, width, axis=0)
    places = np.clip(np.arange(len(logs)) - AROUND, 0, len(windows) - 1)
    distance = logs - np.median(windows, axis=-1)[places]
    reach = ALIKE * noise_scale(logs)
    members: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for place, kind in enumerate(kinds):
        members[kind].append(place)
    offsets = np.zeros_like(logs)
    for mine in members.values():
        if len(mine) >= FEWEST_OF_A_KIND:
            offsets[mine] = [_usual(*one) for one in zip(distance[mine].T, reach, strict=True)]
    return offsets


def _usual(distances: NDArray[np.float64], reach: float) -> float:
    """The level nearest to 0 around which a quarter of the distances (`USUAL`) lie, within `reach`.

    Without such a level it is 0: the kind is not shifted.

    A kind that was measured half of the time in another state has two levels, and the state's is not the kind's.
    """
    ordered = np.sort(distances)

    def around(level: float) -> NDArray[np.float64]:
        return ordered[np.abs(ordered - level) <= reach]

    for one in sorted(distances.tolist(), key=abs):
        if around(one).size >= USUAL * ordered.size:
            return float(np.median(around(float(np.median(around(one))))))
    return 0.0
