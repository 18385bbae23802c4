"""The facts about a pattern from which it is planned and measured, and the series that it takes.

What is timed is native.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from chiplog.dataset.operations import PASSIVE

ROUND_TRIP, ONE_WAY = "round-trip", "one-way"
LONG_TRAIN, SHORT_TRAIN = 10, 2
"""Given: messages of a train of small ones, and of large ones; a shorter train is a single message."""
SECOND_TRAIN = 3
"""Given: messages of a delayed train that is taken beside one of more than twice that length: what the last message of
a train does is in both, and not in their difference. A train of 2 may end like a lone message, or not."""
RECEIVE_TRAIN = 4
"""Given: messages that a delayed server finds waiting: the wait for the first, two round trips, is the time of four
messages on the wire even where they share its bandwidth."""
TRAIN_BYTES = 128 << 10
"""Given: trains get shorter where a whole one would be longer than this, so that bytes stay bounded."""
FLOOD_TRAIN, FEW_SENDS = 32, 4
"""Given: messages of a flood of small ones, and of large ones; so few sends in a row are timed alone, too."""
FLOOD_BYTES = 1 << 20
"""Given: floods get shorter where a whole one would be longer than this."""
WINDOW = 16
"""Given: messages of one-way pairs before an answer. The same at all sizes: where it changes, so does the time of a
message, which would look like a change of protocol."""
MOST_SHARES = 32
"""Given: numbers of peers or pairs that one record takes in turn: each needs up to two series."""


@dataclass(frozen=True)
class SeriesRequest:
    """One series of samples. `delay_ns` is a busy delay in nanoseconds, or "rtt"/"rtt2": the median of PRTT(1,0,s)
    or PRTT(2,0,s) that the record's own warm-up finds.
    """

    pattern: str
    message_bytes: int
    train: int = 1
    delay_ns: float | str = 0
    operation: str = "send"
    posting: str = "normal"
    peers: int = 1
    pairs: int = 1
    direction: str | None = None
    """Of k pairs: "one-way" sends `window` messages before an answer, None exchanges round trips."""
    window: int = 1
    between: tuple[str, str] | None = None
    """The groups that k pairs run between, by their names in the header's `pair_groups`; None: the first two."""
    ranks: int = 2
    """Of a barrier or all pairs: all ranks of the run. The probe knows them, so a request's line leaves them out."""
    round: int | None = None
    """Of all pairs: which of the rounds that pair every two ranks once. A line leaves out what is None."""
    at_once: int | None = None
    """Of all pairs: 1 if the pairs of the round are timed at the same time (the default), 0 if one after the other."""
    turned: int | None = None
    """Of all pairs: 1 if the higher rank of each pair is the client, which sends; 0 (the default) if the lower one."""
    links: tuple[tuple[int, int], ...] | None = None
    """Of all pairs: those of this round, clients first, which `turned` makes servers; None: by the circle method."""

    @property
    def pairs_of_round(self) -> int:
        """Of all pairs: how many there are in this round."""
        if self.links is None:
            return self.ranks // 2
        return len(self.links)


class WireCount(NamedTuple):
    """What one sample puts on the wire, both directions, empty acknowledgements included."""

    messages: int
    bytes: int


def acknowledged_trains(series: SeriesRequest) -> WireCount:
    """A train, and an empty message of each peer."""
    return WireCount(series.train + series.peers, series.train * series.message_bytes)


def answered_trains(series: SeriesRequest) -> WireCount:
    """A train, and a message of its size back."""
    return WireCount(series.train + 1, (series.train + 1) * series.message_bytes)


def beginning_messages(pairs: int) -> int:
    """Empty messages that let all pairs begin together: three of each pair, of which the first pair needs one."""
    return 3 * pairs - 2  # Given: as the native patterns do


def one_for_each_peer(series: SeriesRequest) -> int:
    """A link for each peer or pair."""
    return max(series.peers, series.pairs)


def any_operation(_operation: str) -> bool:
    """True: the pattern makes sense for every operation."""
    return True


def only_sends(operation: str) -> bool:
    """Is it a message, which has a send and a receive?"""
    return operation == "send"


def peer_notices(operation: str) -> bool:
    """Does the peer notice what comes, as it must where it takes part itself?"""
    return operation not in PASSIVE


@dataclass(frozen=True)
class PointRequest:
    """One size of a plan: what the records of a pattern depend on. `direction` is that of k pairs, and of all pairs."""

    message_bytes: int
    ranks: int = 2
    direction: str | None = None


Records = tuple[tuple[SeriesRequest, ...], ...]
"""The series of each record, which are taken in turn within it."""


@dataclass(frozen=True)
class Pattern:
    """One pattern that can be measured. A constant `PATTERN` in the file of its name."""

    name: str
    measures: str
    """What is timed, for lists and help."""
    records: Callable[[PointRequest], Records]
    """The records that it needs at one size."""
    wire: Callable[[SeriesRequest], WireCount] = acknowledged_trains
    links: Callable[[SeriesRequest], int] = one_for_each_peer
    """Pairs of ranks that exchange messages, each of which the payload check looks at."""
    supports: Callable[[str], bool] = any_operation
    """Whether it makes sense for an operation."""
    takes_lists: bool = False
    """Whether its messages can be posted as a list."""
    is_over_pairs: bool = False
    """Whether k pairs run between two groups of ranks."""


def numbers_of_pairs(ranks: int) -> list[int]:
    """The numbers of pairs to measure: at most as many as one record takes, 1 and P/2 among them."""
    most = ranks // 2
    step = -(-most // MOST_SHARES)
    return sorted({*range(1, most + 1, step), most})


def shares_of_peers(ranks: int) -> list[range]:
    """The numbers of peers of each record, which spans the whole range of them."""
    peers = range(1, ranks)
    count = -(-len(peers) // MOST_SHARES)
    return [peers[first::count] for first in range(count)]


def train_length(message_bytes: int) -> int:
    """Messages in one train of `message_bytes` each: 10, and fewer (at least 2) for large ones."""
    return max(SHORT_TRAIN, min(LONG_TRAIN, TRAIN_BYTES // max(message_bytes, 1)))


def receive_train_length(message_bytes: int) -> int:
    """Messages that a delayed server receives in one round: 4, and 1 where they are large."""
    return RECEIVE_TRAIN if message_bytes <= TRAIN_BYTES else 1


def flood_length(message_bytes: int) -> int:
    """Messages in one flood of `message_bytes` each: 32, and fewer (at least 4) for large ones."""
    return max(FEW_SENDS, min(FLOOD_TRAIN, FLOOD_BYTES // max(message_bytes, 1)))
