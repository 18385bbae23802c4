"""LoP's overhead: what one of p sends in a row costs the sender's CPU.

    t_ov(p) = l1 + l2/(l3 + p)        p sends are posted in p t_ov(p)

The paper's "t = a + xb" reads a + b/x.

Source: T. Hoefler, W. Rehm, "A communication model for small messages with InfiniBand", PARS workshop 2005, section 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chiplog.models.protocol import ParameterSpec, Points, Theta
from chiplog.models.refuse import unknown_pattern


def overhead(sends: ArrayLike, theta: Theta) -> NDArray[np.float64]:
    """`t_ov(p)` in seconds, shape of `sends`; without l2 or l3 it is the constant l1."""
    p = np.asarray(sends, dtype=np.float64)
    if "l2" not in theta or "l3" not in theta:
        return np.full(p.shape, theta["l1"])
    return np.asarray(theta["l1"] + theta["l2"] / (theta["l3"] + p))


@dataclass(frozen=True)
class LoPOverhead:
    """`t_ov(p) = l1 + l2/(l3 + p)`."""

    name: str = "lop-overhead"
    source: str = "Hoefler and Rehm 2005, section 4: overhead"
    parameters: tuple[ParameterSpec, ...] = (
        ParameterSpec("l1", "s", 0.0, np.inf, "overhead of a send after very many"),
        ParameterSpec("l2", "s", 0.0, np.inf, "what starting to send costs beyond that"),
        ParameterSpec("l3", "", -1.0, np.inf, "sends by which that cost's pole is shifted"),
    )
    patterns: tuple[str, ...] = ("send_overhead",)

    def seconds(self, points: Points, theta: Theta) -> NDArray[np.float64]:
        """Time to post the points' sends, p of them, in seconds, shape (points,)."""
        if points.pattern not in self.patterns:
            raise unknown_pattern(self.name, points.pattern, self.patterns)
        sends = points.sends
        return sends * overhead(sends, theta)

    def first_guess(self, points: Points, seconds: NDArray[np.float64]) -> dict[str, float]:
        """With the pole at 0: from the fewest and the most sends."""
        sends = points.sends
        first, last = int(np.argmin(sends)), int(np.argmax(sends))
        few, many = float(seconds[first] / sends[first]), float(seconds[last] / sends[last])
        rise = 1.0 / float(sends[first]) - 1.0 / float(sends[last])
        l2 = max(few - many, 0.0) / rise if rise > 0 else 0.0
        return {"l1": max(many - l2 / float(sends[last]), 0.0), "l2": l2, "l3": 0.0}


LOP_OVERHEAD = LoPOverhead()
