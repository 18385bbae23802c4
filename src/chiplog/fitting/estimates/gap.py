"""g and G from the gaps: only where the gap shows, that is where it exceeds o_s.

A train's slope is max(o_s, g + (s-1)G). Where that is o_s, the gap is hidden and its size must not enter the line;
where it is hidden at all sizes, g is not identified.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chiplog.fitting.estimates.parameters import interval
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.fitting.regimes.line import RegimeLine, fit_line
from chiplog.fitting.settings import FEWEST_SIZES, MOST_ROUNDS, SEEN_SHARE
from chiplog.fitting.text import seconds_text
from chiplog.models.protocol import payload_steps
from chiplog.statistics import BEYOND_DOUBT


@dataclass(frozen=True)
class GapFit:
    """The gap's line and the smallest size it was fitted from, or the reason why there is none."""

    line: RegimeLine | None
    first_bytes: int
    reason: str | None
    most_seconds: float | None = None
    """Where there is none, the longest that the gap at the smallest size may be; None where no gap was measured."""


def fit_gap(
    gap: Quantity,
    hidden_by: NDArray[np.float64],
    replicates: NDArray[np.float64],
    rng: np.random.Generator,
    *,
    flat: bool = False,
) -> GapFit:
    """The line g + (s-1)G through the gaps that exceed what hides them; `flat` forces G = 0 (LogP).

    `hidden_by`, shape (S,), is the overhead at each size, with its `replicates`, shape (S, B); 0 where there is none.
    """
    fewest = 1 if flat else FEWEST_SIZES
    if gap.value.size < fewest:
        reason = (
            f"gaps were measured at {gap.value.size} sizes in this regime; {fewest} are needed."
        )
        return GapFit(None, 0, reason, _most(gap))
    steps = payload_steps(gap.message_bytes)
    at_most = hidden_by * (1.0 + SEEN_SHARE) + BEYOND_DOUBT * replicates.std(axis=1)
    clear = gap.value > at_most + gap.sigma
    line: RegimeLine | None = None
    for _ in range(MOST_ROUNDS):
        if np.count_nonzero(clear) < fewest:
            return GapFit(None, 0, _hidden(gap, hidden_by, clear), _most(gap))
        line = fit_line(gap.subset(clear), steps[clear], rng, flat=flat)
        above = line.at(steps) > at_most
        if np.array_equal(above, clear):
            break
        clear = above
    if not _exceeds(gap, hidden_by, replicates, clear):
        return GapFit(None, 0, _hidden(gap, hidden_by, clear), _most(gap))
    return GapFit(line, int(gap.message_bytes[clear].min()), None)


def _exceeds(
    gap: Quantity,
    overhead: NDArray[np.float64],
    replicates: NDArray[np.float64],
    clear: NDArray[np.bool_],
) -> bool:
    """Whether the sizes that count as seen show the gap together: some do by chance where o_s hides it at all."""
    weight = gap.sigma[clear] ** -2.0 if np.all(gap.sigma[clear] > 0) else np.ones(clear.sum())
    weight /= weight.sum()
    excess = weight @ (gap.value - overhead)[clear]
    return bool(excess > BEYOND_DOUBT * (weight @ (gap.draws - replicates)[clear]).std())


def _most(gap: Quantity) -> float | None:
    if not gap.value.size:
        return None
    first = int(np.argmin(gap.message_bytes))
    return max(0.0, float(gap.value[first]), interval(gap.draws[first])[1])


def _hidden(gap: Quantity, overhead: NDArray[np.float64], clear: NDArray[np.bool_]) -> str:
    first = int(np.argmin(gap.message_bytes))
    seen = int(np.count_nonzero(clear))
    return (
        f"the overhead ({seconds_text(overhead[first])} at {gap.message_bytes[first]} B) hides the gap, as the CPU is "
        f"slower than the network: the trains take {seconds_text(gap.value[first])} a message there, and exceed the "
        f"overhead at {seen} of {gap.value.size} sizes; g is at most "
        f"{seconds_text(max(float(gap.value[first]), 0.0))}."
    )
