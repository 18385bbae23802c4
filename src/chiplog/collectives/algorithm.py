"""What an algorithm is, and what it is asked to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from chiplog.collectives.costs import Network, Seconds
from chiplog.counts import within
from chiplog.schedule import Schedule

MOST_BYTES = (1 << 40) - 1
"""Given: nobody sends a longer message."""
MOST_RANKS = (1 << 31) - 1
"""Given: the largest int of C, in which MPI keeps a rank."""
MOST_DIMENSIONS = 3
"""Given: of a grid in space."""


@dataclass(frozen=True)
class FanOut:
    """A barrier for models of one process and its p peers.

    `rounds` rounds come one after the other, in each of which the busiest rank addresses `peers` others.
    """

    peers: int
    rounds: int


@dataclass(frozen=True)
class TreeCosts:
    """What shapes a LogP-optimal tree, in any one unit of time: the time between two sends, and until one arrives."""

    between_sends: float
    until_received: float


@dataclass(frozen=True)
class Task:
    """One collective operation; rank 0 is the root where there is one.

    `message_bytes` is the whole message of barrier, bcast, reduce, allreduce, reduce_scatter and scan, the block of one
    rank of gather, scatter and allgather, the block for one peer of alltoall, and one face of halo. Algorithms that
    don't know `peers` (of a rank in one round), `segment_bytes`, `dimensions` or `costs` pass over them.
    """

    ranks: int
    message_bytes: int = 1
    peers: int = 2
    segment_bytes: int = 8192
    """Given: of algorithms that cut the message, by default."""
    dimensions: int = 2
    costs: TreeCosts | None = None
    """Of a tree that they shape; None: both 1 in a schedule, those of the network in a closed form."""

    def __post_init__(self) -> None:
        for option, value, least, most in (
            ("--ranks", self.ranks, 1, MOST_RANKS),
            ("--bytes", self.message_bytes, 0, MOST_BYTES),
            ("--peers", self.peers, 1, MOST_RANKS),
            ("--segment", self.segment_bytes, 1, MOST_BYTES),
            ("--dimensions", self.dimensions, 1, MOST_DIMENSIONS),
        ):
            within(option, value, least, most)


def _always(_: Task) -> bool:
    return True


@dataclass(frozen=True)
class Algorithm:
    """One way to do a collective operation."""

    operation: str
    name: str
    summary: str
    source: str
    schedule: Callable[[Task], Schedule]
    seconds: Callable[[Task, Network], Seconds]
    """The closed form: when the last rank is done, in seconds, shape (draws,), if all start at 0."""
    fan_out: Callable[[Task], FanOut] | None = None
    """The rounds of a barrier, for models of one process and its peers."""
    exact: Callable[[Task], bool] = _always
    """Is the closed form the time itself? Else it is a bound."""
    accepts: Callable[[Task], bool] = _always
    """Is there a schedule for that number of ranks?"""
    everybody_sends: bool = False
    """Do all ranks send in every step, so that those of a node share its rate?"""
    takes_peers: bool = False
    """Does `Task.peers` shape it?"""
    shared_seconds: Callable[[Task, Network], Seconds] | None = None
    """The time where messages that a rank sends at once share its network, instead of going one after the other."""
    is_simulated: bool = True
    """Does the simulator do what the closed form says? It sends one message after the other."""

    @property
    def sharing(self) -> Algorithm | None:
        """Where messages that a rank sends at once share its network; None where that makes no difference."""
        if self.shared_seconds is None:
            return None
        return replace(self, seconds=self.shared_seconds, shared_seconds=None, is_simulated=False)
