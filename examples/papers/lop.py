"""The paper on LoP: its figures from its printed parameters, by chiplog's formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from chiplog.models.lop_paper import identifiable, latency
from papers import lop_times, means
from papers.one_to_many import (
    PEERS,
    RDMA_WRITE,
    SEND,
    draw,
    overhead_us,
    printed_parts,
    published,
)
from papers.section import Section

PER_MESSAGE = "round trip per message RTT(p)/p in µs"


def _shape(axes: Any) -> str:
    parts = printed_parts(RDMA_WRITE)
    total = published()["RDMA write"]
    draw(axes, {"sum": total, **parts}, PER_MESSAGE)
    axes.set_ylim(bottom=-6)
    least = int(PEERS[np.argmin(total)])
    return (
        f"The sum falls to {total.min():.2f} µs at {least} peers and rises to {total[-1]:.2f} µs at 64. The "
        f"part called saturation is negative below {int(np.ceil(RDMA_WRITE[5]))} peers: "
        f"{parts['saturation'][0]:.2f} µs at 1."
    )


def _overhead_shape(axes: Any) -> str:
    found = overhead_us(PEERS)
    draw(axes, {"o(p)": found}, "overhead in µs")
    return f"o(1) = {found[0]:.3f} µs, o(64) = {found[-1]:.3f} µs."


def _curve(name: str, printed: tuple[float, ...]) -> Callable[[Any], str]:
    def picture(axes: Any) -> str:
        values = published()[name]
        draw(axes, {f"{name}, least (the paper's fit)": values}, PER_MESSAGE)
        told = identifiable(printed)
        five = ", ".join(f"{symbol} = {value:.4g}" for symbol, value in told.items())
        return (
            f"{values[0]:.2f} µs at 1 peer, least at {int(PEERS[np.argmin(values)])} ({values.min():.2f} µs), "
            f"{values[-1]:.2f} µs at 64. The five parameters that data can tell (µs and peers): {five}."
        )

    return picture


def _overhead(axes: Any) -> str:
    sent, o = published()["send"], overhead_us(PEERS)
    lines = {
        "o(p)": o,
        "L(p) as printed": latency(PEERS, sent, o, float(o[0]), paper_literal=True),
        "L of all messages, by p": latency(PEERS, sent, o, float(o[0])) / PEERS,
    }
    draw(axes, lines, "time per message in µs")
    ends = "; ".join(f"{name}: {v[0]:.3f} and {v[-1]:.3f} µs" for name, v in lines.items())
    return f"At 1 and at 64 peers: {ends}."


FORMULAS = "Computed from the printed parameters by chiplog.models.lop_paper; nothing was measured."
LEAST = (
    "The paper's points are not drawn, as it prints no numbers of them; nor does it print those of inline sends. "
    + FORMULAS
)
MEAN = means.DIFFERS + "With inline sends nothing is drawn. "
SEND_MEANS = means.command_of(SEND, 51, 7)
RDMA_WRITE_MEANS = means.command_of(RDMA_WRITE, 51, 8)
SECTIONS = (
    Section(
        "shape",
        "The shape of the round trip per message",
        "Three parts add up: a start that falls as 1/p, a constant, and a saturation that grows to a limit.",
        (),
        _shape,
        "The paper's figure has no numbers; ours is the sum for RDMA write. " + FORMULAS,
    ),
    Section(
        "overhead-shape",
        "The shape of the overhead",
        "The overhead falls as 1/p to a constant.",
        (),
        _overhead_shape,
        "The paper's figure has no numbers; ours has those of its section 4.7. " + FORMULAS,
    ),
    lop_times.SECTION,
    Section(
        "send",
        "Send: round trip per message",
        "Least times and the fitted function. Inline is about 1 µs faster with few processors, and no longer from "
        "about 30 on, where the network saturates.",
        (),
        _curve("send", SEND),
        "The printed l4 of 0.0174 µs with l6 of 101 is no saturation of 0.02 µs: exp(-l5 l6) makes 10 µs of it. Six "
        "parameters are printed where data tell five. " + LEAST,
    ),
    Section(
        "send-mean",
        "Send: mean round trip per message",
        "Means of the round trips over the number of processors; the text prints no number of them.",
        (SEND_MEANS,),
        means.drawing(SEND_MEANS),
        MEAN,
    ),
    Section(
        "rdma-write",
        "RDMA write: round trip per message",
        "The same function as for send, with other parameters; inline is again about 1 µs faster for few processors.",
        (),
        _curve("RDMA write", RDMA_WRITE),
        LEAST,
    ),
    Section(
        "rdma-write-mean",
        "RDMA write: mean round trip per message",
        "The means scatter much, are drawn up to 50 processors, and rise to 700 µs beyond.",
        (RDMA_WRITE_MEANS,),
        means.drawing(RDMA_WRITE_MEANS),
        MEAN
        + "The rise to 700 µs, for which the paper suspects memory or bus contention, is not in it.",
    ),
    Section(
        "overhead",
        "Overhead of posting, and L(p)",
        "The overhead of posting RDMA writes, of which posting a list is the fastest; and L(p), half a round trip "
        "less two overheads.",
        (),
        _overhead,
        "The printed L(p) takes the overheads of p messages from the time of one; the consistent reading takes them "
        "from the total and is drawn beside it, divided by p. The paper's formula of L(p) rounds the parameters, "
        "which makes 8.87 µs of the 8.435 µs at 1 peer. The overhead is the one that stands in that formula, for "
        "send; the text says that those of RDMA write equal it. Posting as a list and inline are not drawn, as the "
        "paper prints no parameters of them. " + FORMULAS,
    ),
)
