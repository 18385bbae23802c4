"""The indicators of the machine's state at each record, in the order of time: its reference, else its flags.

The flags' exchange depends on where the memory of a launch lies, by a third and more, and that says little of the
transport. What cores and transport are like shows in the reference, so flags count where there is none.

Indicators depend a little on what the record itself measured, since caches and transports remember it. Points come in
shuffled order, so that dependence is what records of one kind differ by from those around them, and it is taken off.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.series import Reference, Series
from chiplog.machine_state.blocks import noise_scale
from chiplog.statistics import BEYOND_DOUBT

TRAIN_FURTHER = 9
"""Given: messages after the first in the reference's train. Noise does not hide the whole train, as it may its gap."""
OCTAVES_OF_A_KIND = 5
"""Given: sizes from 1 to 31 B, 32 to 1023 B and so on leave the caches alike."""
NEIGHBOURS = 10
"""Study (decision 0037): records on each side that a record is compared with, and the fewest of a kind."""
USUAL = 0.25
"""Study (decision 0037): the share of a kind's records that are alike if that is how the kind is."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Indicators:
    """Logarithms of seconds, shape (records, indicators), for the records `ids` in the order of time.

    `launches` has shape (records,). `weights`, shape (indicators,), is the share of a 1-byte message's time that each
    indicator is, 1 at most: twice the time for a post of a tenth of a message makes the message a tenth longer.
    """

    ids: tuple[int, ...]
    logs: Floats
    launches: NDArray[np.int64]
    weights: Floats


def indicators_of(series: Iterable[Series]) -> Indicators | None:
    """The indicators of the records of `series`, which are in the order of time; None where no record has any."""
    records: dict[int, list[Series]] = defaultdict(list)
    for member in series:
        records[member.record_id].append(member)
    first = [members[0] for members in records.values()]
    launches = np.array([member.launch for member in first], dtype=np.int64)
    kinds = list(map(_kind, records.values()))
    of_reference = np.array([reference_times(member.reference) for member in first])
    of_flags = np.array([[member.placement_seconds or 0.0] for member in first])
    for seconds in (of_reference, of_flags):
        used = np.mean(seconds > 0.0, axis=0) >= 0.5 if len(seconds) else np.array([False])
        if np.any(used):
            logs = np.log(_filled(seconds[:, used]))
            logs -= _offsets(logs, kinds)
            level = np.exp(np.median(logs, axis=0))
            weights = np.minimum(level / level[0], 1.0)
            return Indicators(tuple(records), logs, launches, weights)
    return None


def reference_times(reference: Reference | None) -> tuple[float, float, float]:
    """Seconds of the reference's half round trip, train and post; 0 for what it does not have."""
    if reference is None:
        return 0.0, 0.0, 0.0
    half = reference.half_round_trip_seconds
    train = 2.0 * half + TRAIN_FURTHER * reference.gap_seconds if half > 0.0 else 0.0
    return half, train, reference.overhead_seconds


def _filled(seconds: Floats) -> Floats:
    """The indicators with each missing one as in the record before, or after where there is none before."""
    filled = seconds.copy()
    for column in filled.T:
        has = np.flatnonzero(column > 0.0)
        before = np.maximum(np.searchsorted(has, np.arange(column.size), side="right") - 1, 0)
        column[:] = column[has[before]]
    return filled


def _kind(record: Sequence[Series]) -> tuple[object, ...]:
    """What of a record's own messages an indicator may depend on."""
    octave = max(member.message_bytes for member in record).bit_length()
    return frozenset(member.pattern for member in record), octave // OCTAVES_OF_A_KIND


def _offsets(logs: Floats, kinds: Sequence[tuple[object, ...]]) -> Floats:
    """What each record's kind adds to its indicators: the usual distance from the records around."""
    width = min(2 * NEIGHBOURS + 1, len(logs))
    windows = np.lib.stride_tricks.sliding_window_view(logs, width, axis=0)
    places = np.clip(np.arange(len(logs)) - NEIGHBOURS, 0, len(windows) - 1)
    distance = logs - np.median(windows, axis=-1)[places]
    reach = BEYOND_DOUBT * noise_scale(logs)
    members: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for place, kind in enumerate(kinds):
        members[kind].append(place)
    offsets = np.zeros_like(logs)
    for of_kind in members.values():
        if len(of_kind) >= NEIGHBOURS:
            columns = zip(distance[of_kind].T, reach, strict=True)
            offsets[of_kind] = [_usual(*column) for column in columns]
    return offsets


def _usual(distances: Floats, reach: float) -> float:
    """The level nearest to 0 around which a quarter of the distances (`USUAL`) lie, within `reach`.

    Without such a level it is 0: the kind is not shifted.

    A kind that was measured half of the time in another state has two levels, and the state's is not the kind's.
    """
    for level in sorted(distances.tolist(), key=abs):
        near = distances[np.abs(distances - level) <= reach]
        if near.size >= USUAL * distances.size:
            return float(np.median(distances[np.abs(distances - np.median(near)) <= reach]))
    return 0.0
