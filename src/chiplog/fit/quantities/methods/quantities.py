"""What a method hands on: the quantities over size from which the parameters are read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from chiplog.fit.quantities.quantity import Quantity


@dataclass(frozen=True)
class MethodQuantities:
    """The four quantities as one method measures them; a missing one has no sizes.

    `series` are the indices of all series that the method needed; `latency_reason` says why the method itself
    gives no L, None where it does.
    """

    method: str
    half_round_trip: Quantity
    gap: Quantity
    o_s: Quantity
    o_r: Quantity
    series: frozenset[int]
    latency_reason: str | None = None
    reports_round_trip: bool = False
    upper_bounds: Mapping[str, Quantity] = field(default_factory=dict)
    """By the overhead's name, at sizes where no delay was longer than the gap: what it does not exceed."""

    def without(self, sizes: Collection[int]) -> MethodQuantities:
        """The quantities at all sizes but these, in bytes."""
        return replace(
            self,
            half_round_trip=self.half_round_trip.without(sizes),
            gap=self.gap.without(sizes),
            o_s=self.o_s.without(sizes),
            o_r=self.o_r.without(sizes),
            upper_bounds={
                name: upper_bound.without(sizes) for name, upper_bound in self.upper_bounds.items()
            },
        )


def needed(*quantities: Quantity) -> frozenset[int]:
    """The series behind several quantities."""
    return frozenset().union(*(quantity.series for quantity in quantities))
