"""Datasets whose true parameters are known: exact LogGP or LogGOPS times, with seeded noise where asked.

The clock of these datasets is as fine as float64: nothing is rounded to nanoseconds.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from chiplog.dataset.series import Dataset, Reference, Series
from chiplog.models.loggops import LOGGOPS
from chiplog.models.loggps import LOGGPS
from chiplog.models.piecewise import Piece, piece_index
from chiplog.models.protocol import Model, Points, points

DIRECTIONS = {
    "send_overhead": "call",
    "receive_overhead": "call",
    "late_receiver": "call",
    "flood": "one-way",
}


REFERENCE_ROUNDS, REFERENCE_TRAIN = 5, 10
"""Of the exchanges of one byte beside a record of 20 samples."""


@dataclass(frozen=True)
class Ask:
    """One series to make at each size; `delay_round_trips` is d in units of PRTT(1,0,s)."""

    pattern: str
    train: int = 1
    delay_round_trips: float = 0.0
    purpose: str = "grid"


ASSESSMENT = (
    Ask("prtt"),
    Ask("prtt", 10),
    Ask("prtt", 10, 1.0),
    Ask("receive_overhead", 1, 1.5),
    Ask("ping_pong"),
    Ask("ping_pong", 1, 1.5),
    Ask("send_overhead", 1),
    Ask("send_overhead", 4),
    Ask("flood", 32),
    Ask("late_receiver", 1, 1.5),
)
"""What every method needs, at every size."""


@dataclass(frozen=True)
class Drift:
    """An autoregressive process over the records in the order in which they were taken, or over the samples of each.

    `deviation` is the standard deviation of the times' logarithm, `correlation` that from one to the next.
    """

    correlation: float = 0.9
    deviation: float = 0.05
    over: str = "records"

    def factors(self, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """What multiplies so many records or samples in a row, shape (count,)."""
        fresh = rng.standard_normal(count)
        fresh[1:] *= np.sqrt(1.0 - self.correlation**2)
        return np.asarray(np.exp(self.deviation * lfilter([1.0], [1.0, -self.correlation], fresh)))


@dataclass(frozen=True)
class TwoStates:
    """Two states that take turns: the slow one takes `factor` times as long, for `share` of the records.

    Its turns are `records` long in the mean.
    """

    factor: float = 1.3
    share: float = 0.4
    records: float = 20.0

    def factors(self, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """What multiplies so many records in a row, shape (count,)."""
        leaves = {True: 1.0 / self.records, False: self.share / (1.0 - self.share) / self.records}
        slow = rng.random() < self.share
        found = np.ones(count)
        for index, draw in enumerate(rng.random(count)):
            found[index] = self.factor if slow else 1.0
            slow ^= draw < leaves[slow]
        return found


@dataclass(frozen=True)
class SyntheticDisturbance:
    """What stands between the truth and the samples.

    Each sample is multiplied by exp(`noise` N(0,1)) or, where `skewed`, by exp(`noise` (E - ln 2)) with E exponentially
    distributed, and a share `outliers` of them by 10. All samples of a visit are multiplied by
    exp(`visit_noise` N(0,1)), all of a launch by exp(`launch_noise` N(0,1)). Delays keep their length. Where there are
    `states`, each record has the reference that indicates them.
    """

    noise: float = 0.0
    outliers: float = 0.0
    visit_noise: float = 0.0
    launch_noise: float = 0.0
    skewed: bool = False
    drift: Drift | None = None
    states: TwoStates | None = None

    def of_records(self, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """What multiplies so many records in a row, shape (count,)."""
        factors = np.ones(count)
        if self.drift is not None and self.drift.over == "records":
            factors *= self.drift.factors(count, rng)
        if self.states is not None:
            factors *= self.states.factors(count, rng)
        return factors

    def of_samples(self, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """What multiplies so many samples of one record, shape (count,)."""
        if self.skewed:
            factors = np.exp(self.noise * (rng.standard_exponential(count) - np.log(2.0)))
        else:
            factors = np.exp(self.noise * rng.standard_normal(count))
        if self.drift is not None and self.drift.over == "samples":
            factors *= self.drift.factors(count, rng)
        factors[rng.random(count) < self.outliers] *= 10.0
        return np.asarray(factors)


def size_grid(last_bytes: int = 1 << 20, per_octave: int = 2) -> tuple[int, ...]:
    """Message sizes from 1 B to `last_bytes`, about `per_octave` of them for each factor of 2."""
    steps = int(np.log2(last_bytes)) * per_octave
    sizes = np.unique(np.round(2.0 ** (np.arange(steps + 1) / per_octave)).astype(int))
    return tuple(int(size) for size in sizes)


def piecewise_seconds(model: Model, pieces: Sequence[Piece], points: Points) -> NDArray[np.float64]:
    """The model's seconds where each point takes the parameters of its protocol, shape (points,)."""
    seconds = np.full(points.message_bytes.shape, np.nan)
    index = piece_index(points.message_bytes, pieces)
    for number, piece in enumerate(pieces):
        chosen = index == number
        if np.any(chosen):
            seconds[chosen] = model.seconds(points.subset(chosen), piece.theta)
    return seconds


def exact_seconds(
    pieces: Sequence[Piece], pattern: str, message_bytes: int, train: int = 1, delay: float = 0.0
) -> float:
    """The time in seconds of one operation after a `delay` in seconds; remembered for the next one.

    By LogGOPS where the protocols hold O_s and O_r, else by LogGP(S).
    """
    protocols = tuple((piece.last_bytes, tuple(piece.theta.items())) for piece in pieces)
    return _exact_seconds(protocols, pattern, message_bytes, train, delay)


@functools.lru_cache(maxsize=1 << 14)
def _exact_seconds(
    protocols: tuple[tuple[int | None, tuple[tuple[str, float], ...]], ...],
    pattern: str,
    message_bytes: int,
    train: int,
    delay: float,
) -> float:
    pieces = [Piece(last_bytes, dict(theta)) for last_bytes, theta in protocols]
    asked = points(pattern, message_bytes, train, delay)
    model = LOGGOPS if "O_s" in pieces[0].theta else LOGGPS
    return float(piecewise_seconds(model, pieces, asked)[0])


def disturbed(
    seconds: float, samples: int, disturbance: SyntheticDisturbance, rng: np.random.Generator
) -> NDArray[np.float64]:
    """So many `samples` of a true duration in seconds, shape (samples,)."""
    return seconds * disturbance.of_samples(samples, rng)


def synthetic_dataset(
    pieces: Sequence[Piece],
    sizes: Sequence[int],
    *,
    asks: Sequence[Ask] = ASSESSMENT,
    samples: int = 20,
    visits: int = 3,
    launches: int = 1,
    disturbance: SyntheticDisturbance = SyntheticDisturbance(),
    seed: int = 0,
    resolution_ns: float = 0.0,
) -> Dataset:
    """A complete Dataset with the exact time of every pattern for the given protocols, by LogGP(S) or LogGOPS.

    A piece's theta holds L, o_s, o_r, g, G (seconds, seconds per byte) and may hold S (bytes), or O_s and O_r
    (seconds per byte). The records come in shuffled order of (visit, size), as in a measured run.
    """
    rng = np.random.default_rng(seed)
    order = [
        (launch, visit, size)
        for launch in range(launches)
        for visit in range(visits)
        for size in sizes
    ]
    rng.shuffle(order)
    launch_factors = np.exp(disturbance.launch_noise * rng.standard_normal(launches))
    moments = disturbance.of_records(len(order), rng)
    made: list[Series] = []
    for record_id, (launch, visit, size) in enumerate(order):
        factor = launch_factors[launch] * np.exp(disturbance.visit_noise * rng.standard_normal())
        factor *= moments[record_id]
        reference = _reference(pieces, factor, disturbance, rng) if disturbance.states else None
        round_trip = exact_seconds(pieces, "prtt", size)
        for ask in asks:
            delay = ask.delay_round_trips * round_trip
            exact = exact_seconds(pieces, ask.pattern, size, ask.train, delay / factor)
            seconds = disturbed(exact * factor, samples, disturbance, rng)
            made.append(
                Series(
                    pattern=ask.pattern,
                    operation="send",
                    posting="normal",
                    direction=DIRECTIONS.get(ask.pattern, "round-trip"),
                    message_bytes=size,
                    train=ask.train,
                    delay_seconds=delay,
                    batch=1,
                    launch=launch,
                    visit=visit,
                    record_id=record_id,
                    placement_seconds=None,
                    messages=samples * (ask.train + 1),
                    bytes_sent=samples * (ask.train + 1) * size,
                    elapsed_seconds=float(seconds.sum()),
                    warmup_seconds=np.empty(0),
                    seconds=seconds,
                    tag={"purpose": ask.purpose},
                    reference=reference,
                )
            )
    return as_run(made, seed, resolution_ns)


def _reference(
    pieces: Sequence[Piece],
    factor: float,
    disturbance: SyntheticDisturbance,
    rng: np.random.Generator,
) -> Reference:
    """Medians of a few exchanges of one byte, as the probe takes them beside each record."""

    def median(pattern: str, train: int = 1) -> float:
        exact = factor * exact_seconds(pieces, pattern, 1, train)
        rounds = np.sort(disturbed(exact, REFERENCE_ROUNDS, disturbance, rng))
        return float(rounds[REFERENCE_ROUNDS // 2])

    round_trip = median("prtt")
    gap = (median("prtt", REFERENCE_TRAIN) - round_trip) / (REFERENCE_TRAIN - 1)
    return Reference(round_trip / 2.0, max(gap, 0.0), median("send_overhead"))


def as_run(made: Sequence[Series], seed: int, resolution_ns: float = 0.0) -> Dataset:
    """Made-up series as a finished run of the sim transport."""
    header = {
        "type": "header",
        "schema": "chiplog.run/1",
        "target": "sim",
        "transport": "sim",
        "seed": seed,
        "clock": {"name": "virtual", "resolution_ns": resolution_ns, "overhead_ns": 0.0},
    }
    return Dataset(header, tuple(made), True, "synthetic")
