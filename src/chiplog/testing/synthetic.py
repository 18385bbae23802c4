"""Datasets whose true parameters are known: exact LogGP times, with seeded noise where asked.

The clock of these datasets is as fine as float64: nothing is rounded to nanoseconds.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.series import Dataset, Series
from chiplog.models.loggps import LOGGPS
from chiplog.models.piecewise import Piece, piecewise_seconds
from chiplog.models.protocol import points

DIRECTIONS = {
    "send_overhead": "call",
    "receive_overhead": "call",
    "late_receiver": "call",
    "flood": "one-way",
}


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
class Disturbance:
    """What stands between the truth and the samples.

    Each sample is multiplied by exp(`noise` N(0,1)), and a share `outliers` of them by 10. All samples of a visit
    are multiplied by exp(`visit_noise` N(0,1)), all of a launch by exp(`launch_noise` N(0,1)).
    """

    noise: float = 0.0
    outliers: float = 0.0
    visit_noise: float = 0.0
    launch_noise: float = 0.0


def size_grid(last_bytes: int = 1 << 20, per_octave: int = 2) -> tuple[int, ...]:
    """Message sizes from 1 B to `last_bytes`, about `per_octave` of them for each factor of 2."""
    steps = int(np.log2(last_bytes)) * per_octave
    sizes = np.unique(np.round(2.0 ** (np.arange(steps + 1) / per_octave)).astype(int))
    return tuple(int(size) for size in sizes)


def exact_seconds(
    pieces: Sequence[Piece], pattern: str, message_bytes: int, train: int = 1, delay: float = 0.0
) -> float:
    """The LogGP(S) time in seconds of one operation after a `delay` in seconds; remembered for the next one."""
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
    return float(piecewise_seconds(LOGGPS, pieces, asked)[0])


def disturbed(
    seconds: float, samples: int, disturbance: Disturbance, rng: np.random.Generator
) -> NDArray[np.float64]:
    """So many `samples` of a true duration in seconds, shape (samples,)."""
    factors = np.exp(disturbance.noise * rng.standard_normal(samples))
    factors[rng.random(samples) < disturbance.outliers] *= 10.0
    return seconds * factors


def synthetic_dataset(
    pieces: Sequence[Piece],
    sizes: Sequence[int],
    *,
    asks: Sequence[Ask] = ASSESSMENT,
    samples: int = 20,
    visits: int = 3,
    launches: int = 1,
    disturbance: Disturbance = Disturbance(),
    seed: int = 0,
    resolution_ns: float = 0.0,
) -> Dataset:
    """A complete Dataset with the exact LogGP(S) time of every pattern for the given protocols.

    A piece's theta holds L, o_s, o_r, g, G (seconds, seconds per byte) and may hold S (bytes). The records come
    in shuffled order of (visit, size), as in a measured run.
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
    made: list[Series] = []
    for record_id, (launch, visit, size) in enumerate(order):
        factor = launch_factors[launch] * np.exp(disturbance.visit_noise * rng.standard_normal())
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
                )
            )
    return as_run(made, seed, resolution_ns)


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
