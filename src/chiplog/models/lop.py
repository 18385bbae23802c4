"""LoP: a curve of the round trip per message over the number of peers.

    RTT(p)/p = C + l1/(l2 + p) - A exp(-p/tau)        C, l1, A, tau > 0, l2 > -1

One process sends to p peers, each answers at once; RTT(p) is the total. The paper prints six parameters, of which five
can be told from data: C = l3 + l4, A = l4 exp(-l5 l6), tau = -1/l5 (see `lop_paper`). Very different parameters can
give the same curve, so compare curves, never parameters.

Source: T. Hoefler, W. Rehm, "A communication model for small messages with InfiniBand", PARS workshop 2005, section
4, round trip of 1:n n:1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chiplog.models.protocol import ParameterSpec, Points, Theta
from chiplog.models.refuse import unknown_pattern

GUESSED_POLE = 0.1
GUESSED_DECAY = 16.0


def seconds_per_message(peers: ArrayLike, theta: Theta) -> NDArray[np.float64]:
    """`RTT(p)/p` in seconds, shape of `peers`; a term of which a parameter is missing counts as 0."""
    p = np.asarray(peers, dtype=np.float64)
    curve = np.full(p.shape, theta["C"])
    if "l1" in theta and "l2" in theta:
        curve = curve + theta["l1"] / (theta["l2"] + p)
    if "A" in theta and "tau" in theta:
        curve = curve - theta["A"] * np.exp(-p / theta["tau"])
    return np.asarray(curve)


@dataclass(frozen=True)
class LoP:
    """`RTT(p)/p = C + l1/(l2 + p) - A exp(-p/tau)` for short messages of one size."""

    name: str = "lop"
    source: str = "Hoefler and Rehm 2005, section 4: round trip"
    parameters: tuple[ParameterSpec, ...] = (
        ParameterSpec("C", "s", 0.0, np.inf, "round trip per message to very many peers"),
        ParameterSpec("l1", "s", 0.0, np.inf, "what the first messages cost beyond that"),
        ParameterSpec("l2", "", -1.0, np.inf, "peers by which that cost's pole is shifted"),
        ParameterSpec("A", "s", 0.0, np.inf, "what a message gains while the network is not full"),
        ParameterSpec("tau", "", 0.0, np.inf, "peers over which that gain decays"),
    )
    patterns: tuple[str, ...] = ("one_to_many",)

    def seconds(self, points: Points, theta: Theta) -> NDArray[np.float64]:
        """Total round trips `RTT(p)` in seconds, shape (points,)."""
        if points.pattern not in self.patterns:
            raise unknown_pattern(self.name, points.pattern, self.patterns)
        return points.peers * seconds_per_message(points.peers, theta)

    def first_guess(self, points: Points, seconds: NDArray[np.float64]) -> dict[str, float]:
        """A hyperbola through the fewest and the most peers, the exponential term small beside it."""
        order = np.argsort(points.peers, kind="stable")
        first, last = float(points.peers[order[0]]), float(points.peers[order[-1]])
        per_message = (seconds / points.peers)[order]
        small, large = 1.0 / (GUESSED_POLE + first), 1.0 / (GUESSED_POLE + last)
        fall = float(per_message[0] - per_message[-1])
        l1 = max(fall, 0.0) / (small - large) if small > large else 0.0
        C = max(float(per_message[-1]) - l1 * large, 0.0)
        A = 0.1 * float(per_message[-1])
        return {"C": C, "l1": l1, "l2": GUESSED_POLE, "A": A, "tau": GUESSED_DECAY}


LOP = LoP()
