"""What a model is, and the points that it is asked about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Theta = Mapping[str, float]
"""Parameter values by symbol, in seconds, bytes and seconds per byte (or bytes per second)."""


@dataclass(frozen=True)
class ParameterSpec:
    """One parameter of a model: its symbol in the paper, its unit, its bounds and what it means."""

    symbol: str
    unit: str
    lower: float
    upper: float
    meaning: str


@dataclass(frozen=True)
class Points:
    """Points of one pattern: what was sent, not how long it took. All arrays have shape (points,)."""

    pattern: str
    message_bytes: NDArray[np.int64]
    train: NDArray[np.int64]
    delay_seconds: NDArray[np.float64]
    pairs: NDArray[np.int64] = field(default_factory=lambda: np.ones(1, dtype=np.int64))
    """Pairs of processes that exchange messages at once; 1 unless it is said."""
    peers: NDArray[np.int64] = field(default_factory=lambda: np.ones(1, dtype=np.int64))
    """Peers that one process addresses in one round; 1 unless it is said."""

    def __post_init__(self) -> None:
        """Gives `pairs` and `peers` the shape of the other arrays."""
        for name in ("pairs", "peers"):
            whole = np.broadcast_to(getattr(self, name), self.message_bytes.shape)
            object.__setattr__(self, name, whole)

    @property
    def sends(self) -> NDArray[np.int64]:
        """Messages that one process posts in one operation, shape (points,): see `sends_of`."""
        return sends_of(self.train, self.peers)

    def subset(self, chosen: NDArray[np.bool_]) -> Points:
        """The points where `chosen`, shape (points,), is true."""
        return Points(
            self.pattern,
            self.message_bytes[chosen],
            self.train[chosen],
            self.delay_seconds[chosen],
            self.pairs[chosen],
            self.peers[chosen],
        )


def sends_of(train: ArrayLike, peers: ArrayLike) -> NDArray[np.int64]:
    """How many messages a train holds that goes to `peers` in turn: its length, and at least one to each.

    >>> sends_of([1, 6, 4], [4, 3, 1]).tolist()
    [4, 6, 4]
    """
    return np.maximum(np.asarray(train, dtype=np.int64), np.asarray(peers, dtype=np.int64))


def points(
    pattern: str,
    message_bytes: ArrayLike,
    train: ArrayLike = 1,
    delay_seconds: ArrayLike = 0.0,
    pairs: ArrayLike = 1,
    peers: ArrayLike = 1,
) -> Points:
    """Points of one pattern from anything that broadcasts to one shape.

    >>> points("prtt", [1, 1024], train=10).train.tolist()
    [10, 10]
    >>> points("one_to_many", 8, peers=[1, 2]).message_bytes.tolist()
    [8, 8]
    """
    sizes, trains, delays, counts, addressed = np.broadcast_arrays(
        np.atleast_1d(message_bytes),
        np.atleast_1d(train),
        np.atleast_1d(delay_seconds),
        np.atleast_1d(pairs),
        np.atleast_1d(peers),
    )
    return Points(
        pattern,
        sizes.astype(np.int64),
        trains.astype(np.int64),
        delays.astype(np.float64),
        counts.astype(np.int64),
        addressed.astype(np.int64),
    )


def payload_steps(message_bytes: ArrayLike) -> NDArray[np.float64]:
    """`s - 1` of the LogGP family in bytes: an empty message counts as one byte.

    >>> payload_steps([0, 1, 1024]).tolist()
    [0.0, 0.0, 1023.0]
    """
    return np.maximum(np.asarray(message_bytes, dtype=np.float64) - 1.0, 0.0)


@runtime_checkable
class Model(Protocol):
    """A model of communication; another package adds one through `chiplog.models`."""

    @property
    def name(self) -> str:
        """The name on the command line."""

    @property
    def source(self) -> str:
        """Paper and equation."""

    @property
    def parameters(self) -> tuple[ParameterSpec, ...]:
        """The parameters of one protocol segment."""

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns that the model speaks about."""

    def seconds(self, points: Points, theta: Theta) -> NDArray[np.float64]:
        """The duration of one operation of the pattern in seconds, shape (points,).

        Raises UsageError for a pattern that the model doesn't speak about.
        """

    def first_guess(self, points: Points, seconds: NDArray[np.float64]) -> dict[str, float]:
        """Rough parameter values, within their bounds, from measured durations, shape (points,)."""
