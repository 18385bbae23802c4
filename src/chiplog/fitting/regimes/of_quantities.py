"""The lines of a fit's quantities, one a regime, each fitted once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chiplog.fitting.quantities.by_method import MethodQuantities
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.fitting.regimes import Partition, Range
from chiplog.fitting.regimes.line import RegimeLine, fit_line
from chiplog.fitting.regimes.partition import GAP, HALF, RECEIVE, SEND
from chiplog.models.protocol import payload_steps


class RegimeLines:
    """Lines `y = intercept + (s-1) slope` through the quantities, each over the regime that a segment lies in.

    `flat` forces slope 0. Overheads always have a slope otherwise: o_s would else be one value where its growth is
    seen, and another where it just isn't.
    """

    def __init__(
        self,
        quantities: MethodQuantities,
        parts: Partition,
        rng: np.random.Generator,
        *,
        flat: bool = False,
    ) -> None:
        self.parts = parts
        self.rng = rng
        self.flat = flat
        self._quantities = {
            HALF: quantities.half_round_trip,
            GAP: quantities.gap,
            SEND: quantities.o_s,
            RECEIVE: quantities.o_r,
        }
        self._known: dict[tuple[str, Range], RegimeLine | None] = {}

    def quantity(self, name: str, segment: int) -> Quantity:
        """The quantity over its own regime that holds the segment of that number."""
        return self._quantities[name].within(*self._range(name, segment))

    def line(self, name: str, segment: int) -> RegimeLine | None:
        """The line of the regime that holds the segment; None where the quantity was not measured there."""
        key = (name, self._range(name, segment))
        if key not in self._known:
            quantity = self.quantity(name, segment)
            steps = payload_steps(quantity.message_bytes)
            fitted = (
                fit_line(quantity, steps, self.rng, flat=self.flat) if quantity.value.size else None
            )
            self._known[key] = fitted
        return self._known[key]

    def largest(
        self,
        names: tuple[str, ...],
        sizes: NDArray[np.int64],
        replicates: int,
        flat: tuple[str, ...] = (),
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The largest of the quantities' lines at `sizes`, shape (S,), with replicates, (S, B); 0 without any.

        Those that are `flat` count with their intercept alone.
        """
        value = np.zeros(sizes.size)
        draws = np.zeros((sizes.size, replicates))
        for number, (first, last) in enumerate(self.parts.ranges):
            inside = (sizes >= first) & (sizes <= last)
            further = payload_steps(sizes[inside])
            for name in names:
                line = self.line(name, number)
                if line is None or not further.size:
                    continue
                steps = np.zeros_like(further) if name in flat else further
                value[inside] = np.maximum(value[inside], line.at(steps))
                line_draws = line.intercept_draws + line.slope_draws * steps[:, None]
                draws[inside] = np.maximum(draws[inside], line_draws)
        return value, draws

    def _range(self, name: str, segment: int) -> Range:
        return self.parts.own.get(name, self.parts.ranges)[segment]
