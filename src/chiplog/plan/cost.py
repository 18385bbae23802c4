"""What a request will probably cost, from nominal figures of each transport; nothing here touches a network."""

from __future__ import annotations

from dataclasses import dataclass

from chiplog.plan.patterns import wire_of
from chiplog.plan.request import Request, SeriesRequest


@dataclass(frozen=True)
class Nominal:
    """Order-of-magnitude figures of a transport within one host: only for predicting a plan's duration."""

    half_round_trip_seconds: float
    seconds_per_message: float
    seconds_per_byte: float
    start_up_seconds: float


NOMINAL = {
    "sim": Nominal(2e-6, 5e-7, 0.0, 0.05),
    "shm": Nominal(2e-7, 1e-7, 1.5e-10, 0.1),
    "unix": Nominal(8e-6, 2e-6, 3e-10, 0.1),
    "tcp": Nominal(1.5e-5, 4e-6, 4e-10, 0.1),
    "mpi": Nominal(5e-7, 3e-7, 2e-10, 1.0),
}
"""Given: orders of magnitude; of `sim`, the wall-clock time of the simulation, not what it simulates."""
OTHER = NOMINAL["tcp"]
TYPICAL_SAMPLES = 60
"""Given: samples that a record takes until the median's interval is narrow, on a machine with usual noise."""


@dataclass(frozen=True)
class PlanCost:
    """Predicted cost: seconds of wall-clock time, messages and bytes on the wire."""

    seconds: float
    messages: int
    bytes: int


def nominal_of(transport: str) -> Nominal:
    """The nominal figures of a transport; those of tcp for one that has none."""
    return NOMINAL.get(transport, OTHER)


def series_seconds(series: SeriesRequest, nominal: Nominal) -> float:
    """Predicted duration of one sample of `series`."""
    wire = wire_of(series)
    round_trip = (
        2 * nominal.half_round_trip_seconds + 2 * series.message_bytes * nominal.seconds_per_byte
    )
    delay = round_trip if isinstance(series.delay_ns, str) else series.delay_ns * 1e-9
    delays = max(series.train - 1, 1 if series.delay_ns else 0)
    return (
        2 * nominal.half_round_trip_seconds
        + wire.messages * nominal.seconds_per_message
        + wire.bytes * nominal.seconds_per_byte
        + delays * delay
    )


def round_seconds(request: Request, nominal: Nominal) -> float:
    """Predicted duration of one sample of each series of `request`."""
    return sum(series_seconds(series, nominal) for series in request.series)


def predict(request: Request, nominal: Nominal) -> PlanCost:
    """Predicted cost of one record."""
    samples = max(request.stop.min_samples, min(request.stop.max_samples, TYPICAL_SAMPLES))
    rounds = request.rounds(samples)
    one_round = round_seconds(request, nominal)
    least = request.rounds(request.stop.min_samples) * one_round
    seconds = min(rounds * one_round, max(request.stop.budget_ns * 1e-9, least))
    return PlanCost(
        seconds,
        request.preparation_messages + rounds * request.round_messages,
        request.preparation_bytes + rounds * request.round_bytes,
    )


def total(costs: list[PlanCost]) -> PlanCost:
    """The sum of costs."""
    return PlanCost(
        sum(cost.seconds for cost in costs),
        sum(cost.messages for cost in costs),
        sum(cost.bytes for cost in costs),
    )
