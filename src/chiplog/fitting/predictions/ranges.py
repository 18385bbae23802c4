"""The parameter vectors of models whose parameters are not bound to each other: each is in a range of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from chiplog.fitting.predictions.known import Array, Bounds, bounds_of, refusal, values_of
from chiplog.fitting.predictions.regime import Vectors
from chiplog.fitting.predictions.settings import ENDLESS
from chiplog.fitting.result import Fit
from chiplog.fitting.settings import REPLICATES


@dataclass
class Ranges:
    """The vectors of one segment; `needed` must be bounded, others are left out where nothing bounds them.

    `given` bounds parameters beyond what the fit says. Raises UsageError where nothing bounds a needed one.
    """

    fit: Fit
    segment: int
    needed: Sequence[str] = ()
    given: Mapping[str, Bounds] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._values: dict[str, Array] = {}
        self._bounds: dict[str, Bounds] = {}
        joint: list[str] = []
        for number, symbol in enumerate(self.fit.segments[self.segment].parameters):
            values = values_of(self.fit, self.segment, symbol, number)
            draws = self.fit.draws.get(f"{self.segment}/{symbol}", np.empty(0))
            if values is None and np.any(np.isfinite(draws)):
                draws = np.resize(draws[np.isfinite(draws)], REPLICATES)
                values = np.concatenate(([0.0], draws))
                joint.append(symbol)
            if values is not None:
                self._values[symbol] = values
                continue
            bounds = self.given.get(symbol) or bounds_of(self.fit, self.segment, symbol)
            if bounds.high is not None or bounds.low > 0:
                self._bounds[symbol] = bounds
        for symbol in self.needed:
            if symbol not in self._values and symbol not in self._bounds:
                raise refusal(self.fit, self.segment, symbol)
        if joint:
            self._begin_with_the_middle_draw(joint)
        self.free = list(self._bounds)

    def _begin_with_the_middle_draw(self, joint: Sequence[str]) -> None:
        """Those known by draws alone have no value: the draw that lies most in their middle is the first vector."""
        table = np.stack([self._values[symbol][1:] for symbol in joint])
        ranks = np.argsort(np.argsort(table, axis=1, kind="stable"), axis=1, kind="stable")
        middle = int(np.argmin(np.abs(ranks - (REPLICATES - 1) / 2).sum(axis=0)))
        for values in self._values.values():
            values[0] = values[1 + middle]

    def at(self, fractions: Array, *, whole: bool) -> Vectors:
        """The vectors at some points, flat: shape (points · rows,)."""
        rows = slice(None) if whole else slice(0, 1)
        shape = (len(fractions), 1 + REPLICATES if whole else 1)
        vectors = {symbol: values[np.newaxis, rows] for symbol, values in self._values.items()}
        for place, symbol in enumerate(self.free):
            bounds = self._bounds[symbol]
            share = fractions[:, place, np.newaxis]
            if bounds.high is None:
                vectors[symbol] = bounds.low / np.maximum(1.0 - share, 1.0 / ENDLESS)
            else:
                vectors[symbol] = bounds.low + share * (bounds.high - bounds.low)
        return {
            symbol: np.broadcast_to(vector, shape).reshape(-1) for symbol, vector in vectors.items()
        }

    def middle(self) -> dict[str, float]:
        """The parameters in the middle of the set."""
        vectors = self.at(np.full((1, len(self.free)), 0.5), whole=False)
        return {symbol: float(vector[0]) for symbol, vector in vectors.items()}


def rows_of(vectors: Vectors) -> Iterator[dict[str, float]]:
    """One parameter set after the other."""
    for values in zip(*vectors.values(), strict=True):
        yield dict(zip(vectors, map(float, values), strict=True))
