"""What p messages to one rank take, I(p, s), and what each further one adds.

    one more = [I(p, s) - I(1, s)] / (p - 1)

That is how long the receiver is busy with a message while others wait: the larger of its gap and its overhead for so
many bytes, and at small sizes the time between two requests. Requests take no longer than the least of these times d;
so the receiver shows where a message adds more than d, and where the first one arrives, I(1, s), when all p - 1
further requests are out, (p - 1) d.

Source: A. Alexandrov et al., "LogGP", 1995, for the gap
of a receiver; the difference takes off what a single message takes on its way.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from chiplog.fitting.quantities.measured import MeasuredSeries, RecordValue
from chiplog.fitting.quantities.over_sizes import series_quantity
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.fitting.settings import SEEN_SHARE

INCAST = "incast"


def incast_time(measured: MeasuredSeries, peers: int) -> Quantity:
    """I(p, s), over the sizes."""
    return series_quantity(
        measured,
        f"incast of {peers}",
        lambda series: series.pattern == INCAST and series.peers == peers,
    )


def added_message(measured: MeasuredSeries, peers: int) -> Quantity:
    """What each message after the first adds, over the sizes; differences within a record; empty for one peer."""
    alone = {
        (series.record_id, series.launch, series.message_bytes): index
        for index, series in enumerate(measured.series)
        if series.pattern == INCAST and series.peers == 1
    }
    share = 1.0 / max(peers - 1, 1)
    entries = [
        RecordValue(((index, share), (alone[key], -share)))
        for index, series in enumerate(measured.series)
        if series.pattern == INCAST
        and series.peers == peers > 1
        and (key := (series.record_id, series.launch, series.message_bytes)) in alone
    ]
    return measured.quantity(f"a further message of {peers}", entries)


def receiver_time(measured: MeasuredSeries) -> Quantity:
    """How long the receiver is busy with a message while others wait, of most peers, at the sizes that show it."""
    peers = max((series.peers for series in measured.series if series.pattern == INCAST), default=1)
    added, first = added_message(measured, peers), incast_time(measured, 1)
    if not added.value.size:
        return replace(added, name=INCAST)
    first_seconds = np.interp(added.message_bytes, first.message_bytes, first.value)
    request = max(float((added.value + added.sigma).min()), 0.0)
    shows = added.value > request * (1.0 + SEEN_SHARE) + added.sigma
    return replace(added.subset(shows & (first_seconds >= (peers - 1) * request)), name=INCAST)
