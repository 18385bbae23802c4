"""A quantity over the message size, with its bootstrap replicates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.statistics import FEWEST_SAMPLES


@dataclass(frozen=True)
class Quantity:
    """One quantity over S message sizes with B replicates; seconds.

    `message_bytes`, `value`, `sigma` and `samples` have shape (S,), `draws` has shape (S, B); `series` are the indices
    in the dataset of the series that it needed. `samples` counts the samples behind each value: of a difference, those
    of the term that has fewest.
    """

    name: str
    message_bytes: NDArray[np.int64]
    value: NDArray[np.float64]
    sigma: NDArray[np.float64]
    draws: NDArray[np.float64]
    series: frozenset[int]
    samples: NDArray[np.int64]
    is_difference: bool = False
    """Whether it is a difference of times, which noise may take below 0."""
    is_scatter_known: bool = False
    """Whether what single samples scatter by is known from elsewhere."""

    order_statistics: NDArray[np.float64] | None = None
    """The distribution-free interval of each value that is a median, shape (2, S), NaN where it has too few samples."""

    def freedom(self, parameters: int) -> int | None:
        """The degrees of freedom that a line of so many parameters leaves to tell the noise.

        None where the samples of each size tell their noise, or where it is known from elsewhere.
        """
        if self.is_scatter_known or bool(np.all(self.samples >= FEWEST_SAMPLES)):
            return None
        return int(self.samples.sum()) - parameters

    def within(self, first_bytes: int, last_bytes: int) -> Quantity:
        """The quantity at the sizes from `first_bytes` to `last_bytes`, both included."""
        chosen = (self.message_bytes >= first_bytes) & (self.message_bytes <= last_bytes)
        return self.subset(chosen)

    def without(self, sizes: Iterable[int]) -> Quantity:
        """The quantity at all sizes but these, in bytes."""
        return self.subset(~np.isin(self.message_bytes, list(sizes)))

    def subset(self, chosen: NDArray[np.bool_]) -> Quantity:
        """The quantity at the sizes where `chosen`, shape (S,), is true."""
        return Quantity(
            self.name,
            self.message_bytes[chosen],
            self.value[chosen],
            self.sigma[chosen],
            self.draws[chosen],
            self.series,
            self.samples[chosen],
            self.is_difference,
            self.is_scatter_known,
            None if self.order_statistics is None else self.order_statistics[:, chosen],
        )


def empty_quantity(name: str, replicates: int) -> Quantity:
    """A quantity that was measured at no size."""
    none, no_counts = np.empty(0), np.empty(0, dtype=np.int64)
    return Quantity(name, no_counts, none, none, np.empty((0, replicates)), frozenset(), no_counts)
