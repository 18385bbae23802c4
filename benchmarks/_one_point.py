"""One size, one pattern, measured by a probe that is started for it."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Mapping, Sequence

from chiplog.measurement.session import Session
from chiplog.plan.request import Request, SeriesRequest, StopRule


def half_round_trip_seconds(
    command: Sequence[str],
    message_bytes: int,
    *,
    environment: Mapping[str, str] | None = None,
    statistic: Callable[..., float] = statistics.median,
    samples: int = 2000,
    budget_seconds: float = 0.5,
) -> float:
    """Median (or another `statistic`) of half a ping-pong round trip in seconds."""
    stop = StopRule(
        relative_half_width=0.001,
        min_samples=200,
        max_samples=samples,
        budget_ns=int(budget_seconds * 1e9),
    )
    request = Request(1, 0, (SeriesRequest("ping_pong", message_bytes),), stop)
    with Session(command, environment=environment) as session:
        record = json.loads(session.measure(request))
    series = record["series"][0]
    times_ns = series["samples_ns"][series["warmup"] :]
    return statistic([time_ns / series["batch"] for time_ns in times_ns]) / 2 * 1e-9
