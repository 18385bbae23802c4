"""LoP's overhead: what one of p sends in a row costs the sender's CPU.

    t_ov(p) = l1 + l2/(l3 + p)        p sends are posted in p t_ov(p)

At several sizes, s bytes take (s-1) O_s longer.

The paper's "t = a + xb" reads a + b/x.

Source: T. Hoefler, W. Rehm, "A communication model for small messages with InfiniBand", PARS workshop 2005, section 4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chiplog.models.colours import ORANGE
from chiplog.models.protocol import Model, ParameterSpec, Points, Theta, payload_steps


def overhead(sends: ArrayLike, theta: Theta, message_bytes: ArrayLike = 1) -> NDArray[np.float64]:
    """`t_ov(p)` in seconds, shape of `sends`; without l2 or l3 it is the same for all p."""
    p = np.asarray(sends, dtype=np.float64)
    curve = np.full(p.shape, theta["l1"])
    if "l2" in theta and "l3" in theta:
        curve = curve + theta["l2"] / (theta["l3"] + p)
    if "O_s" in theta:
        curve = curve + payload_steps(message_bytes) * theta["O_s"]
    return np.asarray(curve)


def _posts(points: Points, theta: Theta) -> NDArray[np.float64]:
    """Time to post the points' sends, p of them."""
    return np.asarray(points.sends * overhead(points.sends, theta, points.message_bytes))


LOP_OVERHEAD = Model(
    name="lop-overhead",
    label="LoP overhead",
    source="Hoefler and Rehm 2005, section 4: overhead",
    parameters=(
        ParameterSpec("l1", "s", 0.0, np.inf, "overhead of a send after very many"),
        ParameterSpec("l2", "s", 0.0, np.inf, "what starting to send costs beyond that"),
        ParameterSpec("l3", "", -1.0, np.inf, "sends by which that cost's pole is shifted"),
    ),
    formulas={"send_overhead": _posts},
    estimators={"one-to-many": "chiplog.fitting.one_to_many.lop:lop_overhead_estimates"},
    sizes_estimator="chiplog.fitting.one_to_many.lop:lop_overhead_size_estimates",
    colour=ORANGE.dashed("9 4"),
    direction="call",
)
