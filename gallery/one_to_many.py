"""What the documents print of one process to many on InfiniBand, and the lines and axes that their figures share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chiplog.models.lop_paper import printed_curve
from gallery.section import COLOURS

SEND = (22.4558, -0.0140, 9.1637, 0.0174, -0.0625, 101.3065)
RDMA_WRITE = (16.7937, 0.0058, 4.4642, 4.4751, -0.0642, 12.9209)
"""The six parameters of the LoP paper, times in us."""
OVERHEAD = (0.52, 0.84, -0.12)
"""The paper's overhead in us: the first, plus the second by peers plus the third."""
PEERS = np.arange(1, 65)
Microseconds = NDArray[np.float64]


def overhead_us(peers: Any) -> Microseconds:
    """The published overhead o(p)."""
    first, more, shift = OVERHEAD
    return np.asarray(first + more / (np.asarray(peers, dtype=float) + shift))


def draw(axes: Any, lines: dict[str, Microseconds], label: str, peers: Any = PEERS) -> None:
    """Lines over the number of peers in the report's colours, each dashed its own way."""
    for (name, values), colour, dashes in zip(
        lines.items(), COLOURS, ("-", "--", ":", "-.", (0, (5, 1, 1, 1))), strict=False
    ):
        axes.plot(
            peers, values, color=colour, ls=dashes, marker="." * (len(peers) < 20), label=name
        )
    axes.set_xlabel("peers p")
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)


def printed_parts(printed: tuple[float, ...]) -> dict[str, Microseconds]:
    """The three parts of a printed curve in us, shape of `PEERS`."""
    l1, l2, l3, l4, l5, l6 = printed
    return {
        "start of the pipeline": l1 / (l2 + PEERS),
        "processing": np.full(PEERS.shape, l3),
        "saturation": l4 * (1 - np.exp(l5 * (PEERS - l6))),
    }


def published() -> dict[str, Microseconds]:
    """The paper's two fitted curves of RTT(p)/p in us, shape of `PEERS`."""
    return {
        "send": printed_curve(PEERS, SEND),
        "RDMA write": printed_curve(PEERS, RDMA_WRITE),
    }
