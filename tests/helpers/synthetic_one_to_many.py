"""Datasets of one process to many whose true curve is known: exact RTT(p) and post times, with seeded noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from synthetic import SyntheticDisturbance, as_run, disturbed

from chiplog.dataset.series import Dataset, Series
from chiplog.models.logfp import LOGFP
from chiplog.models.lop import LOP
from chiplog.models.lop_overhead import LOP_OVERHEAD
from chiplog.models.protocol import Model, Theta, points

Truth = Mapping[str, tuple[Model, Theta]]
"""By pattern, the model that is true and its parameters."""


def logfp_truth(theta: Theta) -> Truth:
    """LogfP in RTT(p) and in the time to post p sends."""
    return {"one_to_many": (LOGFP, theta), "send_overhead": (LOGFP, theta)}


def lop_truth(curve: Theta, overhead: Theta) -> Truth:
    """LoP's five-parameter curve and its overhead."""
    return {"one_to_many": (LOP, curve), "send_overhead": (LOP_OVERHEAD, overhead)}


def one_to_many_dataset(
    truth: Truth,
    peers: Sequence[int],
    *,
    message_bytes: int = 8,
    operation: str = "rdma-write",
    samples: int = 20,
    visits: int = 3,
    launches: int = 1,
    disturbance: SyntheticDisturbance | None = None,
    seed: int = 0,
) -> Dataset:
    """A complete Dataset of RTT(p) and post times for each of `peers`, in shuffled order of (visit, p)."""
    rng = np.random.default_rng(seed)
    disturbance = disturbance or SyntheticDisturbance()
    order = [(a, b, p) for a in range(launches) for b in range(visits) for p in peers]
    rng.shuffle(order)
    factors = np.exp(disturbance.launch_noise * rng.standard_normal(launches))
    made: list[Series] = []
    for record_id, (launch, visit, p) in enumerate(order):
        factor = float(factors[launch] * np.exp(disturbance.visit_noise * rng.standard_normal()))
        for pattern, (model, theta) in truth.items():
            exact = float(model.seconds(points(pattern, message_bytes, peers=p), theta)[0])
            seconds = disturbed(exact * factor, samples, disturbance, rng)
            place = (launch, visit, record_id)
            made.append(_series(pattern, operation, message_bytes, p, place, seconds))
    return as_run(made, seed)


def _series(
    pattern: str,
    operation: str,
    message_bytes: int,
    peers: int,
    place: tuple[int, int, int],
    seconds: NDArray[np.float64],
) -> Series:
    answered = pattern == "one_to_many"
    messages = seconds.size * peers * (1 + answered)
    return Series(
        pattern=pattern,
        operation=operation,
        posting="normal",
        direction="round-trip" if answered else "call",
        message_bytes=message_bytes,
        train=1 if answered else peers,
        delay_seconds=0.0,
        batch=1,
        launch=place[0],
        visit=place[1],
        record_id=place[2],
        placement_seconds=None,
        messages=messages,
        bytes_sent=messages * message_bytes,
        elapsed_seconds=float(seconds.sum()),
        warmup_seconds=np.empty(0),
        seconds=seconds,
        peers=peers,
    )
