"""Which series to take at one message size: the LogGP assessment and what the other methods need.

Sources: T. Hoefler et al., "LogGP in theory and practice" (PRTT); D. Culler et al., "Assessing fast network
interfaces"; T. Kielmann et al., "Fast measurement of LogP parameters"; C. Bell et al., "An evaluation of current
high-performance networks".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chiplog.dataset.operations import (
    ATOMIC,
    ATOMIC_BYTES,
    INLINE,
    LIST,
    NORMAL,
    ONE_SIDED,
    PASSIVE,
)
from chiplog.dataset.patterns import PATTERNS as KNOWN_PATTERNS
from chiplog.errors import UsageError
from chiplog.plan.request import ALL_PAIRS, ONE_WAY, Request, SeriesRequest

LONG_TRAIN = 10
SHORT_TRAIN = 2
SECOND_TRAIN = 3
"""Of a delayed train that is taken beside one of more than twice that length: what the last message of a train does is
in both, and not in their difference. A train of 2 may end like a lone message, or not."""
RECEIVE_TRAIN = 4
"""Messages that a delayed server finds waiting: the wait for the first, two round trips, is the time of four messages
on the wire even where they share its bandwidth."""
TRAIN_BYTES = 128 * 1024
"""Trains get shorter where a whole one would be longer than this, so that bytes stay bounded."""
LATE_RECEIVER = "late_receiver"
FEW_SENDS = 4
LATE_RECEIVER_BYTES = 512 * 1024
"""Larger messages are not sent to a late receiver: no eager limit is expected above."""
FLOOD_TRAIN = 32
FLOOD_BYTES = 1024 * 1024
WINDOW = 16
"""Messages of one-way pairs before an answer. The same at all sizes: where it changes, so does the time of a message,
which would look like a change of protocol."""

ONE_TO_MANY, PAIRS, BARRIER = "one_to_many", "pairs", "barrier"
MOST_PEERS_A_RECORD = 32
"""Numbers of peers that one record takes in turn: each needs up to two series."""
SEND = "send"
Ways = Sequence[tuple[str, str]]
"""Operations, each with a way of posting."""
LISTED = ("one_to_many", "send_overhead")
"""Patterns whose messages can be posted as a list."""
JUST_SEND: Ways = ((SEND, NORMAL),)
MEANINGS = {name: meaning for name, meaning in KNOWN_PATTERNS.items() if meaning}
PATTERNS = tuple(MEANINGS)
"""What `--pattern` accepts beside `all`, in the order in which their series are taken."""
ALL_METHODS = ("prtt", "ping_pong", "send_overhead", "flood")
"""What all methods together need: `prtt` has o_r and the late receiver within it."""


def train_length(message_bytes: int) -> int:
    """Messages in one train of `message_bytes` each: 10, and fewer (at least 2) for large ones."""
    return max(SHORT_TRAIN, min(LONG_TRAIN, TRAIN_BYTES // max(message_bytes, 1)))


def receive_train_length(message_bytes: int) -> int:
    """Messages that a delayed server receives in one round: 4, and 1 where they are large."""
    return RECEIVE_TRAIN if message_bytes <= TRAIN_BYTES else 1


def flood_length(message_bytes: int) -> int:
    """Messages in one flood of `message_bytes` each: 32, and fewer (at least 4) for large ones."""
    return max(FEW_SENDS, min(FLOOD_TRAIN, FLOOD_BYTES // max(message_bytes, 1)))


def parse_patterns(text: str, option: str = "--pattern") -> tuple[str, ...]:
    """The patterns named in a comma-separated list; `all` names what the methods need.

    Raises UsageError, naming `option` and what it accepts, for an unknown one.

    >>> parse_patterns("flood,prtt")
    ('prtt', 'flood')
    """
    names = {name.strip() for name in text.split(",")}
    if names == {"all"}:
        return ALL_METHODS
    unknown = sorted(names - set(PATTERNS))
    if unknown:
        accepted = ", ".join((*PATTERNS, "all"))
        raise UsageError(f"{option}: '{unknown[0]}' is unknown; it accepts a list of {accepted}.")
    return tuple(name for name in PATTERNS if name in names)


def without_late_receiver(request: Request) -> Request:
    """The request for a transport whose sends never wait; one that asks for nothing else stays as it is."""
    others = tuple(series for series in request.series if series.pattern != LATE_RECEIVER)
    return replace(request, series=others) if len(others) > 1 else request


def within_inline_limit(request: Request, max_inline_bytes: int) -> Request:
    """The request without inline series above the limit; one that asks for nothing else stays as it is."""
    others = tuple(
        series
        for series in request.series
        if series.posting != INLINE or series.message_bytes <= max_inline_bytes
    )
    return replace(request, series=others) if others else request


def records_of(
    pattern: str,
    message_bytes: int,
    ranks: int,
    direction: str | None = None,
    ways: Ways = JUST_SEND,
) -> tuple[tuple[SeriesRequest, ...], ...]:
    """The series of each record that a pattern needs at one message size: one record, but for many peers or all pairs.

    Each round of `all_pairs` is a record. Each record of `one_to_many` or `barrier` spans the whole range of peers.
    `direction` is that of k pairs, and of all pairs. All `ways`
    that make sense for the pattern at this size are taken in turn within a record; there may be none.
    """
    if pattern == PAIRS:
        records: tuple[tuple[SeriesRequest, ...], ...] = (
            _pairs(message_bytes, ranks // 2, direction),
        )
    elif pattern == ALL_PAIRS:
        window = WINDOW if direction == ONE_WAY else 1
        records = tuple(
            (all_pairs_round(number, message_bytes, ranks, direction=direction, window=window),)
            for number in range(rounds_of(ranks))
        )
    elif pattern in (ONE_TO_MANY, BARRIER):
        peers = range(1, ranks)
        count = -(-len(peers) // MOST_PEERS_A_RECORD)
        shares = [peers[first::count] for first in range(count)]
        records = tuple(
            _barriers(message_bytes, ranks, share)
            if pattern == BARRIER
            else _one_to_many(message_bytes, share)
            for share in shares
        )
    else:
        records = (series_of(pattern, message_bytes),)
        if pattern not in LISTED:
            ways = [way for way in ways if way[1] != LIST]
    return tuple(filter(None, (_in_all_ways(series, ways) for series in records)))


def _in_all_ways(series: Sequence[SeriesRequest], ways: Ways) -> tuple[SeriesRequest, ...]:
    return tuple(
        replace(request, operation=operation, posting=posting)
        for request in series
        for operation, posting in ways
        if _makes_sense(request, operation, posting)
    )


def _makes_sense(series: SeriesRequest, operation: str, posting: str) -> bool:
    """Whether a series can be taken so: nobody receives what is one-sided, and a list has one send for each peer."""
    if posting == LIST and (series.pattern not in LISTED or series.train not in (1, series.peers)):
        return False
    if operation == ATOMIC and series.message_bytes != ATOMIC_BYTES:
        return False
    if operation != SEND and series.message_bytes == 0:
        return False
    if series.pattern == LATE_RECEIVER:
        return operation == SEND
    if series.pattern == BARRIER:
        return operation not in PASSIVE
    return not (series.pattern == "receive_overhead" and operation in ONE_SIDED)


def _pairs(message_bytes: int, most: int, direction: str | None) -> tuple[SeriesRequest, ...]:
    """At most as many numbers of pairs as one request takes, 1 and the most among them."""
    step = -(-most // MOST_PEERS_A_RECORD)
    numbers = sorted({*range(1, most + 1, step), most})
    window = WINDOW if direction == ONE_WAY else 1
    return tuple(
        SeriesRequest(PAIRS, message_bytes, pairs=k, direction=direction, window=window)
        for k in numbers
    )


def _one_to_many(message_bytes: int, peers: Sequence[int]) -> tuple[SeriesRequest, ...]:
    return tuple(
        series
        for p in peers
        for series in (
            SeriesRequest(ONE_TO_MANY, message_bytes, peers=p),
            SeriesRequest("send_overhead", message_bytes, p, peers=p),
        )
    )


def rounds_of(ranks: int) -> int:
    """Rounds of disjoint pairs in which every two ranks meet once: P - 1 if P is even, P if it is odd."""
    return ranks - 1 + ranks % 2


def all_pairs_round(
    number: int,
    message_bytes: int,
    ranks: int,
    *,
    direction: str | None = None,
    window: int = 1,
    at_once: int | None = None,
    turned: int | None = None,
    links: tuple[tuple[int, int], ...] | None = None,
) -> SeriesRequest:
    """One round of all pairs; see `SeriesRequest` for the settings."""
    return SeriesRequest(
        ALL_PAIRS,
        message_bytes,
        direction=direction,
        window=window,
        ranks=ranks,
        round=number,
        at_once=at_once,
        turned=turned,
        links=links,
    )


def _barriers(message_bytes: int, ranks: int, peers: Sequence[int]) -> tuple[SeriesRequest, ...]:
    return tuple(SeriesRequest(BARRIER, message_bytes, peers=n, ranks=ranks) for n in peers)


def series_of(pattern: str, message_bytes: int) -> tuple[SeriesRequest, ...]:
    """The series, taken in turn within one record, that one pattern needs at one message size.

    `prtt` is the whole LogGP assessment; its last series, the late receiver, is for transports that synchronise.
    `ping_pong` is the bare round trip and one with a delay above it (Culler's o_r).
    """
    train = train_length(message_bytes)

    def series(name: str, length: int = 1, delay_ns: float | str = 0) -> SeriesRequest:
        return SeriesRequest(name, message_bytes, length, delay_ns)

    if pattern == "prtt":
        short = (series("prtt", SECOND_TRAIN, "rtt"),) if train > 2 * SECOND_TRAIN else ()
        assessment = (
            series("prtt"),
            series("prtt", train),
            series("prtt", train, "rtt"),
            *short,
            series("receive_overhead", receive_train_length(message_bytes), "rtt"),
            series("send_overhead"),
        )
        late = (series(LATE_RECEIVER, 1, "rtt"),)
        return assessment + (late if message_bytes <= LATE_RECEIVER_BYTES else ())
    if pattern == "ping_pong":
        return (series("prtt"), series("ping_pong"), series("ping_pong", 1, "rtt2"))
    if pattern == "send_overhead":
        return (series("send_overhead"), series("send_overhead", FEW_SENDS))
    if pattern == "receive_overhead":
        waiting = series("receive_overhead", receive_train_length(message_bytes), "rtt")
        return (series("prtt"), waiting)
    if pattern == "flood":
        return (series("flood", flood_length(message_bytes)),)
    return (series("prtt"), series(LATE_RECEIVER, 1, "rtt"))
