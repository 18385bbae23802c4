"""What the documents print of one process to many on InfiniBand, and the lines and axes that their figures share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chiplog.models.logp import LOGP
from chiplog.models.lop_paper import printed_curve
from chiplog.models.protocol import points
from papers.section import COLOURS
from papers.space_time import beside, diagram, simulated, trace_of

SEND = (22.4558, -0.0140, 9.1637, 0.0174, -0.0625, 101.3065)
RDMA_WRITE = (16.7937, 0.0058, 4.4642, 4.4751, -0.0642, 12.9209)
"""The six parameters of the LoP paper, times in us."""
OVERHEAD = (0.52, 0.84, -0.12)
"""The paper's overhead in us: the first, plus the second by peers plus the third."""
PEERS = np.arange(1, 65)
LOGP_US = {"L": 5.0, "o_s": 1.0, "o_r": 1.0, "g": 2.0}
"""Our choice where a slide has LogP without numbers."""
FOUR_PEERS = simulated(
    "examples/papers/schedules/one-to-four.goal", {"L": 5000, "o": 1000, "g": 2000, "G": 0}
)
PRINCIPLE = "Rank 0 takes the time, sends to all others, each answers at once, rank 0 waits for all and takes the time."
PRINCIPLE_DIFFERS = (
    "The slide has no numbers: L = 5, o = 1, g = 2 µs and four peers are ours. Drawn from the trace of chiplog's "
    "simulator. "
)
Microseconds = NDArray[np.float64]


def overhead_us(peers: Any) -> Microseconds:
    """The published overhead o(p)."""
    first, more, shift = OVERHEAD
    return np.asarray(first + more / (np.asarray(peers, dtype=float) + shift))


def draw(
    axes: Any,
    lines: dict[str, Microseconds],
    label: str,
    peers: Any = PEERS,
    *,
    marked: bool = True,
) -> None:
    """Lines over the number of peers in the report's colours, each dashed its own way; few points are marked."""
    for (name, values), colour, dashes in zip(
        lines.items(), COLOURS, ("-", "--", ":", "-.", (0, (5, 1, 1, 1))), strict=False
    ):
        axes.plot(
            peers,
            values,
            color=colour,
            ls=dashes,
            marker="." * (marked and len(peers) < 20),
            label=name,
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


def principle(axes: Any) -> str:
    """Draw one to four and back; returns what is shown."""
    trace = trace_of((FOUR_PEERS,))
    diagram(axes, trace)
    sent = [message for message in trace.messages if message.source == 0]
    axes.set_ylim(top=-0.75)
    for x, y, text in (
        (0.25, -0.45, "(1)"),
        (max(message.send_ended_us for message in sent) / 2, -0.45, "(2)"),
        (sent[0].received_us + 2.6, 1, "(3)"),
        (trace.end_us - 3.5, -0.45, "(4)"),
        (trace.end_us - 0.1, -0.45, "(5)"),
    ):
        beside(axes, x, y, text)
    formula = LOGP.formulas["one_to_many"](points("one_to_many", 1, peers=[4]), LOGP_US).item()
    return (
        f"At (1) rank 0 takes the time, (2) it sends, (3) the others answer, (4) it receives, and at (5), "
        f"{trace.end_us:g} µs after (1), it takes the time again. chiplog's formula of LogP says {formula:g} µs."
    )
