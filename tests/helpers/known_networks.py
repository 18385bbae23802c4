"""Targets of the sim transport and what every model must find of them."""

from __future__ import annotations

import math
from collections.abc import Mapping

from chiplog.models import lop_paper

Theta = Mapping[str, float]

PUBLISHED_LOP = {
    "send": lop_paper.identifiable((22.4558e-6, -0.0140, 9.1637e-6, 0.0174e-6, -0.0625, 101.3065)),
    "rdma-write": lop_paper.identifiable(
        (16.7937e-6, 0.0058, 4.4642e-6, 4.4751e-6, -0.0642, 12.9209)
    ),
}
PUBLISHED_OVERHEAD = {"l1": 0.52e-6, "l2": 0.84e-6, "l3": -0.12}

S0 = "L=3us,o=1us"
PAIRS: Mapping[str, tuple[str, Theta]] = {
    "postal": (f"{S0},R_C=2GB/s", {"s0": 5e-6, "R_C": 2e9}),
    "max-rate": (f"{S0},R_C=2GB/s,R_N=7GB/s", {"s0": 5e-6, "R_C": 2e9, "R_N": 7e9}),
    "max-rate-4": (
        f"{S0},R_Cb=3GB/s,R_Ci=1GB/s,R_N=7GB/s",
        {"s0": 5e-6, "R_Cb": 3e9, "R_Ci": 1e9, "R_N": 7e9},
    ),
    "max-rate-modified": (
        f"{S0},R_C=2GB/s,R_N=7GB/s,start-up=hidden",
        {"s0": 5e-6, "R_C": 2e9, "R_N": 7e9},
    ),
}
"""By model, options of sim and the parameters that they mean."""


def last_free_of_the_gap(theta: Theta) -> float:
    """LogfP's P*, the number of peers beyond which f and g show; infinite where g <= o_min."""
    slower = theta["g"] - theta["o_min"]
    if slower <= 0:
        return math.inf
    return (theta["f"] * theta["g"] + theta["o_max"] - theta["o_min"]) / slower


def nanoseconds(seconds: float) -> str:
    """A duration as an option."""
    return f"{seconds * 1e9:.12g}ns"


def logfp_target(theta: Theta, ranks: int) -> str:
    """LogfP with o_r = 0, the same for all sizes."""
    times = ",".join(f"{name}={nanoseconds(theta[name])}" for name in ("L", "o_min", "o_max", "g"))
    return f"sim:ranks={ranks},{times},G=0,o_r=0,f={theta['f']:.0f}"


def lop_target(curve: Theta, overhead: Theta, ranks: int) -> str:
    """LoP's curve and its overhead."""

    def assigned(theta: Theta, times: tuple[str, ...]) -> str:
        return ":".join(
            f"{name}={nanoseconds(value) if name in times else f'{value:.12g}'}"
            for name, value in theta.items()
        )

    lop = assigned(curve, ("C", "l1", "A"))
    return f"sim:ranks={ranks},lop={lop},lop-overhead={assigned(overhead, ('l1', 'l2'))}"


def pairs_target(model: str, ranks: int) -> str:
    """The network that `model` describes."""
    return f"sim:ranks={ranks},{PAIRS[model][0]}"
