"""LoP's overhead: what one of p sends in a row costs the sender's CPU.

    t_ov(p) = l1 + l2/(l3 + p)        p sends are posted in p t_ov(p)

The paper's "t = a + xb" reads a + b/x.

Source: T. Hoefler, W. Rehm, "A communication model for small messages with InfiniBand", PARS workshop 2005, section 4.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chiplog.models.colours import ORANGE
from chiplog.models.protocol import Model, ParameterSpec, Points, Theta


def overhead(sends: ArrayLike, theta: Theta) -> NDArray[np.float64]:
    """`t_ov(p)` in seconds, shape of `sends`; without l2 or l3 it is the constant l1."""
    p = np.asarray(sends, dtype=np.float64)
    if "l2" not in theta or "l3" not in theta:
        return np.full(p.shape, theta["l1"])
    return np.asarray(theta["l1"] + theta["l2"] / (theta["l3"] + p))


def _posts(points: Points, theta: Theta) -> NDArray[np.float64]:
    """Time to post the points' sends, p of them."""
    return np.asarray(points.sends * overhead(points.sends, theta))


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
    estimators={"one-to-many": "chiplog.fit.one_to_many.lop:lop_overhead_estimates"},
    colour=ORANGE.dashed("9 4"),
    direction="call",
)
