"""The quantities that the models describe, each over the message size, from the series of a dataset.

    half_round_trip  PRTT(1,0,s)/2
    gap              [PRTT(n,0,s) - PRTT(1,0,s)]/(n-1)              or [flood(n,s) - T(s) - T(0)]/(n-1)
    o_s              [PRTT(n,d,s) - PRTT(m,d,s)]/(n-m) - d, m < n   or send_overhead/n
    o_r              [receive_overhead - (n-1) d]/n                 or ping_pong(d > RTT) - d - o_s(s)
    exchange         E(s), of one pair

Where no shorter train with that delay was measured, PRTT(1,0,s) takes its place in o_s, with m = 1; a train that has a
shorter one in other records is left out instead, since the two differ on real machines. Trains and receives whose delay
was not longer than the gap (`chiplog.dataset.delays`) show no overhead; they bound it from above.

Source: T. Hoefler et al. 2007 for the PRTT differences; the methods' modules for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from chiplog.dataset.series import Series
from chiplog.fitting.quantities.measured import MeasuredSeries, RecordValue, is_round_trip
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.statistics import BEYOND_DOUBT, NO_DIFFERENCE


def series_quantity(
    measured: MeasuredSeries, name: str, wanted: Callable[[Series], bool], factor: float = 1.0
) -> Quantity:
    """`factor` times the duration of the series that `wanted` accepts."""
    return _of_places(measured, name, measured.indices(wanted), factor)


def _of_places(
    measured: MeasuredSeries, name: str, places: Sequence[int], factor: float
) -> Quantity:
    return measured.quantity(name, [RecordValue(((place, factor),)) for place in places])


def exchange_time(measured: MeasuredSeries) -> Quantity:
    """E(s): the two ranks of one pair send at once, until both messages have arrived."""
    return series_quantity(
        measured, "exchange", lambda series: series.pattern == "exchange" and series.pairs == 1
    )


def half_round_trip(measured: MeasuredSeries) -> Quantity:
    """PRTT(1,0,s)/2, with ping-pongs of the sizes that it lacks: see `_half`."""
    return _half(measured, "prtt")


def ping_pong(measured: MeasuredSeries) -> Quantity:
    """Half of the bare ping-pong, with PRTT(1,0,s) of the sizes that it lacks: see `_half`."""
    return _half(measured, "ping_pong")


def _half(measured: MeasuredSeries, pattern: str) -> Quantity:
    """Half the round trips of `pattern`, and of the other one below and above the sizes of the first.

    Where `pattern` has a single sample a size and the other one has several, the other one comes first: nobody knows by
    how much single samples scatter.
    """
    places = measured.indices(is_round_trip)
    preferred, other = (
        [place for place in places if (measured.series[place].pattern == pattern) == wanted]
        for wanted in (True, False)
    )
    if preferred and other:
        if _samples(measured, preferred) == 1.0 < _samples(measured, other):
            preferred, other = other, preferred
        sizes = [measured.series[place].message_bytes for place in preferred]
        first, last = min(sizes), max(sizes)
        other = [p for p in other if not first <= measured.series[p].message_bytes <= last]
    return _of_places(measured, "half_round_trip", sorted([*preferred, *other]), 0.5)


def _samples(measured: MeasuredSeries, places: Sequence[int]) -> float:
    """How many samples a size has, in the median over the sizes of some series."""
    counts: dict[int, int] = {}
    for place in places:
        series = measured.series[place]
        counts[series.message_bytes] = counts.get(series.message_bytes, 0) + series.seconds.size
    return float(np.median(list(counts.values())))


def train_gap(measured: MeasuredSeries) -> Quantity:
    """`max(o_s, g + (s-1)G)` from the trains without delay."""
    entries = []
    for index in measured.indices(
        lambda series: series.pattern == "prtt" and series.train > 1 and series.delay_seconds == 0
    ):
        series = measured.series[index]
        partner = measured.round_trip_beside(series)
        if partner is not None:
            share = 1.0 / (series.train - 1)
            entries.append(RecordValue(((index, share), (partner, -share))))
    return measured.quantity("gap", entries)


def flood_gap(measured: MeasuredSeries) -> Quantity:
    """`max(o_s, g + (s-1)G)` from floods; the first message's way and the acknowledgement's are taken off.

    Where no round trip was measured beside a flood, its duration over n stands for the gap, which is too much by
    about a round trip over n.
    """
    entries = []
    smallest = _smallest_round_trips(measured)
    for index in measured.indices(lambda series: series.pattern == "flood" and series.train > 1):
        series = measured.series[index]
        partner = measured.round_trip_beside(series)
        back = smallest.get(series.launch)
        if partner is None or back is None:
            terms: tuple[tuple[int, float], ...] = ((index, 1.0 / series.train),)
        else:
            share = 1.0 / (series.train - 1)
            terms = ((index, share), (partner, -share / 2), (back, -share / 2))
        entries.append(RecordValue(terms))
    return measured.quantity("gap", entries)


def _smallest_round_trips(measured: MeasuredSeries) -> dict[int, int]:
    """By launch, a round trip of the smallest size: what an empty acknowledgement takes."""
    smallest: dict[int, int] = {}
    for index in measured.indices(is_round_trip):
        series = measured.series[index]
        best = smallest.get(series.launch)
        if best is None or series.message_bytes < measured.series[best].message_bytes:
            smallest[series.launch] = index
    return smallest


def delayed_send_overhead(measured: MeasuredSeries, *, hidden: bool = False) -> Quantity:
    """o_s(s) from the trains with a delay above the gap.

    `hidden` takes those whose delay was not longer than the gap instead: what they give bounds o_s(s) from above.
    """
    records: dict[tuple[int, int, int], list[int]] = {}
    for index in measured.indices(
        lambda series: series.pattern == "prtt" and series.train > 1 and series.delay_seconds > 0
    ):
        series = measured.series[index]
        if (index in measured.short_delays) == hidden:
            key = (series.launch, series.record_id, series.message_bytes)
            records.setdefault(key, []).append(index)
    lengths = {key: {measured.series[index].train for index in records[key]} for key in records}
    paired = {max(train_lengths) for train_lengths in lengths.values() if len(train_lengths) > 1}
    entries = []
    for key, trains in records.items():
        longest = [train for train in trains if measured.series[train].train == max(lengths[key])]
        shortest = min(trains, key=lambda index: measured.series[index].train)
        for index in longest:
            series = measured.series[index]
            if len(lengths[key]) > 1:
                entries.append(_further_sends(measured, index, shortest))
            elif series.train not in paired:
                bare = measured.round_trip_beside(series)
                if bare is not None:
                    entries.append(_further_sends(measured, index, bare))
    return measured.quantity("o_s", entries)


def _further_sends(measured: MeasuredSeries, longest: int, shortest: int) -> RecordValue:
    """What each message of one train takes beyond those of a shorter one, the delays before them taken off."""
    several, few = measured.series[longest], measured.series[shortest]
    share = 1.0 / (several.train - few.train)
    waited = (several.train - 1) * several.delay_seconds - (few.train - 1) * few.delay_seconds
    return RecordValue(((longest, share), (shortest, -share)), -share * waited)


def knee_send_overhead(measured: MeasuredSeries) -> Quantity:
    """o_s(s) at the shortest delay that makes a train longer (Bell); from the ladder's trains, if any, else from all.

    A train counts as longer when it is so by 3 standard errors and by `NO_DIFFERENCE` of the delay.
    """
    trains = measured.indices(lambda series: series.pattern == "prtt" and series.train > 1)
    ladder = [index for index in trains if measured.series[index].tag.get("purpose") == "bell"]
    records: dict[tuple[int, int, int], list[int]] = {}
    for index in ladder or trains:
        series = measured.series[index]
        records.setdefault((series.launch, series.record_id, series.train), []).append(index)
    entries = []
    used: set[int] = set()
    for indices in records.values():
        bare = [index for index in indices if measured.series[index].delay_seconds == 0]
        partner = measured.round_trip_beside(measured.series[indices[0]])
        if not bare or partner is None:
            continue
        used.update(indices, (partner,))
        longer = [index for index in indices if _is_longer(measured, index, bare[0])]
        if longer:
            first = min(longer, key=lambda index: measured.series[index].delay_seconds)
            series = measured.series[first]
            share = 1.0 / (series.train - 1)
            terms = ((first, share), (partner, -share))
            entries.append(RecordValue(terms, -series.delay_seconds))
    found_overhead = measured.quantity("o_s", entries)
    return replace(found_overhead, series=frozenset(used))


def _is_longer(measured: MeasuredSeries, index: int, bare: int) -> bool:
    series = measured.series[index]
    if series.delay_seconds <= 0:
        return False
    excess = measured.at.value[index] - measured.at.value[bare]
    noise = np.hypot(measured.at.sigma[index], measured.at.sigma[bare])
    least = NO_DIFFERENCE * (series.train - 1) * series.delay_seconds
    return bool(excess > max(BEYOND_DOUBT * noise, least))


def direct_send_overhead(measured: MeasuredSeries, *, single: bool) -> Quantity:
    """o_s(s) from timed sends: of `single` ones (Kielmann) or of a few in a row (Culler), else of any."""
    calls = measured.indices(lambda series: series.pattern == "send_overhead" and series.peers == 1)
    wanted = [index for index in calls if (measured.series[index].train == 1) == single]
    entries = [
        RecordValue(((index, 1.0 / measured.series[index].train),)) for index in wanted or calls
    ]
    return measured.quantity("o_s", entries)


def receive_overhead(
    measured: MeasuredSeries, *, single: bool = False, hidden: bool = False
) -> Quantity:
    """o_r(s) from receives whose messages had arrived before; only bare calls with `single`, if any.

    `hidden` takes receives whose delay was not longer than the gap, so that they wait for their messages, instead: what
    they give bounds o_r(s) from above.
    """
    calls = [
        index
        for index in measured.indices(lambda series: series.pattern == "receive_overhead")
        if (index in measured.short_delays) == hidden
    ]
    bare = [index for index in calls if measured.series[index].train == 1]
    entries = []
    for index in (bare or calls) if single else calls:
        series = measured.series[index]
        constant = -(series.train - 1) * series.delay_seconds / series.train
        entries.append(RecordValue(((index, 1.0 / series.train),), constant))
    return measured.quantity("o_r", entries)


def delayed_ping_pong_overhead(measured: MeasuredSeries) -> Quantity:
    """o_s(s) + o_r(s) from ping-pongs with a delay above the round trip (Culler)."""
    entries = []
    for index in measured.indices(
        lambda series: (
            series.pattern == "ping_pong" and series.delay_seconds > 0 and series.train == 1
        )
    ):
        series = measured.series[index]
        partner = measured.round_trip_beside(series)
        if partner is None or series.delay_seconds >= measured.at.value[partner]:
            entries.append(RecordValue(((index, 1.0),), -series.delay_seconds))
    return measured.quantity("o_s + o_r", entries)
