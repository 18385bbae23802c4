"""What a model is, and the points that it is asked about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chiplog.errors import UsageError
from chiplog.models.colours import PURPLE, Colour

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
    table: str | None = None
    """The quantity whose measured curve holds the parameter's values by size, such as "gap"; None of one number."""
    needed: bool = True
    """Whether predictions need it; else its term counts as 0 where the data don't tell it."""


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


Formula = Callable[[Points, Theta], NDArray[np.float64]]
"""Seconds of one operation of a pattern, shape (points,), from points and parameters."""


def entry(symbol: str, message_bytes: int) -> str:
    """The name that a table's entry has in parameters, as pLogP's paper writes it.

    >>> entry("g", 1024)
    'g(1024)'
    """
    return f"{symbol}({message_bytes})"


def unknown_pattern(model: str, pattern: str, accepted: Sequence[str]) -> UsageError:
    """The error for a `pattern` that `model` says nothing about; names what it accepts."""
    patterns = ", ".join(accepted)
    return UsageError(
        f"Model {model} says nothing about pattern '{pattern}'; it speaks about {patterns}."
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Model:
    """A model of communication: its formulas, and all that chiplog has to know about it.

    Another package adds one through the entry point group `chiplog.models`; the entry point has the model's name.

    A reference is "package.module:attribute", as in entry points. It is imported when it is needed, so that a model is
    loaded without the code that fits it or predicts with it.
    """

    name: str
    """The name on the command line and in files: "loggp"."""
    label: str
    """The name as its authors write it: "LogGP"."""
    source: str
    """Paper and equation."""
    parameters: tuple[ParameterSpec, ...]
    """The parameters of one protocol segment."""
    formulas: Mapping[str, Formula]
    """For each pattern that the model predicts, the function that gives the seconds of one operation."""
    estimators: Mapping[str, str]
    """References to what fits the model, by method, the default method first.

    Of the methods prtt, culler, kielmann and bell it is a `chiplog.fitting.estimates.job.SizeEstimator`, of one-to-many a
    `chiplog.fitting.one_to_many.observed.PeersEstimator`, of k=all, k=1 and k=max a `chiplog.fitting.pairs.faces.Solver`.
    """
    sizes_estimator: str | None = None
    """Reference to what fits one parameter set to one process to many at several sizes, of the method one-to-many: a
    `chiplog.fitting.one_to_many.observed.SizesEstimator`.
    """
    colour: Colour = PURPLE
    """How plots draw its lines."""
    single_messages: bool = False
    """Whether it predicts single messages only. Then it refuses trains and delays, and has no gap."""
    direction: str = "one-way"
    """What its fits are of: "one-way" messages, whole "round-trip"s, or the "call" alone."""
    speaker: str | None = None
    """Reference to the `chiplog.prediction.network.Speaker` that predicts collectives with it; None where nothing does."""
    exports: tuple[str, ...] = ()
    """What takes its fits: formats of `chiplog export`, and "simulate"."""
    precedence: int = 0
    """Of several models in a file that can predict, or be exported, the highest is taken."""
    headline: int = 0
    """The report's verdict is on the fit with the highest; on one of 0 only where there is nothing else."""

    def __post_init__(self) -> None:
        """Raises ValueError for a model that nothing could be done with."""
        for what in ("label", "parameters", "formulas", "estimators"):
            if not getattr(self, what):
                raise ValueError(f"its {what} must not be empty")

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns that the model has a formula for."""
        return tuple(self.formulas)

    @property
    def symbols(self) -> frozenset[str]:
        """The symbols of its parameters."""
        return frozenset(parameter.symbol for parameter in self.parameters)

    def seconds(self, points: Points, theta: Theta) -> NDArray[np.float64]:
        """The duration of one operation of the points' pattern in seconds, shape (points,).

        Raises UsageError for a pattern, or for trains, that the model has no formula for.
        """
        if points.pattern not in self.formulas:
            raise unknown_pattern(self.name, points.pattern, self.patterns)
        if self.single_messages and (np.any(points.train > 1) or np.any(points.delay_seconds > 0)):
            raise unknown_pattern(self.name, f"{points.pattern} of a train", self.patterns)
        return self.formulas[points.pattern](points, theta)
