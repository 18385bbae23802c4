"""LoP: a curve of the round trip per message over the number of peers.

    RTT(p)/p = C + l1/(l2 + p) - A exp(-p/tau)        C, l1, A, tau > 0, l2 > -1

At several sizes, s bytes take (s-1) G (1 + 1/p) longer for each message: as in LogGP, twice in a round trip to one peer
and once more for each further peer.

One process sends to p peers, each answers at once; RTT(p) is the total. The paper prints six parameters, of which five
can be told from data: C = l3 + l4, A = l4 exp(-l5 l6), tau = -1/l5 (see `lop_paper`). Very different parameters can
give the same curve, so compare curves, never parameters.

Source: T. Hoefler, W. Rehm, "A communication model for small messages with InfiniBand", PARS workshop 2005, section
4, round trip of 1:n n:1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chiplog.models.colours import ORANGE
from chiplog.models.protocol import Model, ParameterSpec, Points, Theta, payload_steps


def seconds_per_message(
    peers: ArrayLike, theta: Theta, message_bytes: ArrayLike = 1
) -> NDArray[np.float64]:
    """`RTT(p)/p` in seconds, shape of `peers`; a term of which a parameter is missing counts as 0."""
    p = np.asarray(peers, dtype=np.float64)
    curve = np.full(p.shape, theta["C"])
    if "l1" in theta and "l2" in theta:
        curve = curve + theta["l1"] / (theta["l2"] + p)
    if "A" in theta and "tau" in theta:
        curve = curve - theta["A"] * np.exp(-p / theta["tau"])
    if "G" in theta:
        curve = curve + payload_steps(message_bytes) * theta["G"] * (1.0 + 1.0 / p)
    return np.asarray(curve)


def _round_trip(points: Points, theta: Theta) -> NDArray[np.float64]:
    return np.asarray(points.peers * seconds_per_message(points.peers, theta, points.message_bytes))


LOP = Model(
    name="lop",
    label="LoP",
    source="Hoefler and Rehm 2005, section 4: round trip",
    parameters=(
        ParameterSpec("C", "s", 0.0, np.inf, "round trip per message to very many peers"),
        ParameterSpec(
            "l1", "s", 0.0, np.inf, "what the first messages cost beyond that", needed=False
        ),
        ParameterSpec(
            "l2", "", -1.0, np.inf, "peers by which that cost's pole is shifted", needed=False
        ),
        ParameterSpec(
            "A",
            "s",
            0.0,
            np.inf,
            "what a message gains while the network is not full",
            needed=False,
        ),
        ParameterSpec("tau", "", 0.0, np.inf, "peers over which that gain decays", needed=False),
    ),
    formulas={"one_to_many": _round_trip},
    estimators={"one-to-many": "chiplog.fitting.one_to_many.lop:lop_estimates"},
    sizes_estimator="chiplog.fitting.one_to_many.lop:lop_size_estimates",
    colour=ORANGE.dashed("9 4"),
    direction="round-trip",
    speaker="chiplog.prediction.one_to_many:OneToManySpeaker",
    precedence=50,
    headline=30,
)
