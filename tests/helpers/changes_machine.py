"""A machine with known protocols that answers what a Refiner asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from synthetic import exact_seconds

from chiplog.dataset.series import Series
from chiplog.models.piecewise import Piece
from chiplog.plan.patterns import wire_of
from chiplog.plan.request import Request, SeriesRequest

MICRO = 1e-6


def theta(
    latency: float = 5.0, overhead: float = 1.0, gap: float = 2.0, per_byte: float = 0.5e-3
) -> dict[str, float]:
    """LogGP parameters from microseconds."""
    return {
        "L": latency * MICRO,
        "o_s": overhead * MICRO,
        "o_r": MICRO,
        "g": gap * MICRO,
        "G": per_byte * MICRO,
    }


ONE_PROTOCOL = (Piece(None, theta()),)
THREE_PROTOCOLS = (
    Piece(8192, theta()),
    Piece(65536, theta(9.0, gap=4.0)),
    Piece(None, theta(16.0, 2.0, 9.0)),
)


@dataclass
class Machine:
    """Times follow `pieces`, with noise, outliers of ten times, and a drift that moves all of one record."""

    pieces: Sequence[Piece]
    seed: int = 0
    noise: float = 0.05
    outliers: float = 0.01
    drift: float = 0.05
    requests: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)

    def measure(self, request: Request) -> list[Series]:
        """The record's series."""
        self.requests.append(request)
        factor = float(np.exp(self.drift * self._random.standard_normal()))
        return [self._series(request, asked, factor) for asked in request.series]

    def _exact(self, pattern: str, size: int, train: int = 1, delay: float = 0.0) -> float:
        """In seconds, without noise; for other machines to change."""
        return exact_seconds(self.pieces, pattern, size, train, delay)

    def _round_trip(self, size: int, name: str) -> float:
        return self._exact("prtt", size, {"rtt": 1, "rtt2": 2}[name])

    def _series(self, request: Request, asked: SeriesRequest, factor: float) -> Series:
        size, rounds = asked.message_bytes, request.stop.max_samples
        delay = asked.delay_ns
        seconds = 1e-9 * delay if isinstance(delay, float | int) else self._round_trip(size, delay)
        exact = self._exact(asked.pattern, size, asked.train, seconds / factor)
        samples = factor * exact * np.exp(self.noise * self._random.standard_normal(rounds))
        samples[self._random.random(rounds) < self.outliers] *= 10.0
        direction = "round-trip" if asked.pattern in ("prtt", "ping_pong") else "call"
        return Series(
            pattern=asked.pattern,
            operation="send",
            posting="normal",
            direction=direction,
            message_bytes=size,
            train=asked.train,
            delay_seconds=seconds,
            batch=1,
            launch=0,
            visit=0,
            record_id=request.id,
            placement_seconds=None,
            messages=rounds * wire_of(asked).messages,
            bytes_sent=rounds * wire_of(asked).bytes,
            elapsed_seconds=float(samples.sum()),
            warmup_seconds=np.empty(0),
            seconds=samples,
            tag=dict(request.tag),
        )
