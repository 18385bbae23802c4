"""The LogGP assessment: PRTT and, taken in turn with it, receives, one send and a late receiver."""

from __future__ import annotations

from chiplog.plan.patterns.pattern import (
    SECOND_TRAIN,
    Pattern,
    PointRequest,
    Records,
    SeriesRequest,
    answered_trains,
    receive_train_length,
    train_length,
)

LATE_RECEIVER_BYTES = 512 << 10
"""Given: larger messages are not sent to a late receiver: no eager limit is expected above."""


def records(point: PointRequest) -> Records:
    """One record; its last series, the late receiver, is for transports that synchronise."""
    size = point.message_bytes
    train = train_length(size)
    short = (SeriesRequest("prtt", size, SECOND_TRAIN, "rtt"),) if train > 2 * SECOND_TRAIN else ()
    late = (SeriesRequest("late_receiver", size, 1, "rtt"),) if size <= LATE_RECEIVER_BYTES else ()
    assessment = (
        SeriesRequest("prtt", size),
        SeriesRequest("prtt", size, train),
        SeriesRequest("prtt", size, train, "rtt"),
        *short,
        SeriesRequest("receive_overhead", size, receive_train_length(size), "rtt"),
        SeriesRequest("send_overhead", size),
        *late,
    )
    return (assessment,)


PATTERN = Pattern(
    name="prtt",
    measures="the LogGP assessment: PRTT(1,0,s), PRTT(n,0,s), PRTT(n,d,s), PRTT(3,d,s), o_r, one send and, "
    "where sends can wait for their receive, a late receiver, taken in turn",
    records=records,
    wire=answered_trains,
)
