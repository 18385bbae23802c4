"""The facts about a pattern from which it is planned and measured; what is timed is native."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from chiplog.dataset.operations import PASSIVE
from chiplog.plan.series_request import SeriesRequest

MOST_SHARES = 32
"""Numbers of peers or pairs that one record takes in turn: each needs up to two series."""


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


def one_for_each_peer(series: SeriesRequest) -> int:
    """A link for each peer or pair."""
    return max(series.peers, series.pairs)


def any_operation(_operation: str) -> bool:
    """True: the pattern makes sense for every operation."""
    return True


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
