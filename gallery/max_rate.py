"""The slides on max-rate: what the printed parameters of the Cray XE6 say, by chiplog's models."""

from __future__ import annotations

from typing import Any

import numpy as np

from chiplog.models.max_rate_4 import MAX_RATE_4
from chiplog.models.protocol import points
from gallery.section import COLOURS, Section

RENDEZVOUS = {"s0": 20e-6, "R_Cb": 3.6e9, "R_Ci": 0.61e9, "R_N": 5.5e9}
"""The slides' rendezvous protocol, in seconds and bytes per second."""
SIZES = 2 ** np.arange(13, 23)
PAIRS = (1, 2, 4, 8, 16)


def _rates(pairs: int, sizes: Any) -> Any:
    """Message size over the slides' T(k, n), in bytes per second, shape of `sizes`."""
    twice = MAX_RATE_4.formulas["pairs"](points("pairs", sizes, pairs=pairs), RENDEZVOUS)
    return np.asarray(sizes) / (twice / 2.0)


def _cray(axes: Any) -> str:
    told = []
    for pairs, colour in zip(PAIRS, COLOURS, strict=True):
        rate = _rates(pairs, SIZES) / 1e9
        axes.semilogx(SIZES, rate, base=2, marker=".", color=colour, label=f"k = {pairs}")
        told.append(f"k = {pairs}: {rate[-1]:.2f} GB/s")
    axes.set_xlabel("message size in bytes")
    axes.set_ylabel("n/T of one process in GB/s")
    axes.set_ylim(bottom=0)
    return f"At 4 MiB {', '.join(told)}."


SECTIONS = (
    Section(
        "cray-rates",
        "Cray XE6: rate of one process over size",
        "The more processes communicate, the less each one gets, for large messages.",
        (),
        _cray,
        "Computed by chiplog's four-parameter model from the printed rendezvous parameters, from 8 KiB on; nothing was "
        "measured. The slide calls T the time of a full ping-pong, and n/T is drawn. Whether the printed rates are "
        "those of both ways or of one is unclear: a fit of the published measurements by half ping-pongs gives 4.00 "
        "GB/s where the slide prints 3.6. The short protocol's printed R_Ci of -0.18 GB/s makes its rate negative "
        "from 5 processes on, so smaller messages are not drawn.",
    ),
)
