"""LoP's times of sender, adapters and receiver, from the round trips and posts of a simulated network."""

from __future__ import annotations

from typing import Any

import numpy as np

from chiplog.models.lop_paper import latency
from papers import means
from papers.one_to_many import SEND
from papers.section import COLOURS, Section, run_of

MANY = 8
COMMAND = means.command_of(SEND, MANY + 1, 7, "noise=0.01")
LANES = ("sender's CPU", "adapters and network", "receiver's CPU")
HEIGHT = 0.7


def medians_us(direction: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Medians of a quantity of one process to 1, 2 and so on up to `MANY` peers, in us."""
    samples: dict[int, list[Any]] = {}
    for series in run_of(COMMAND).series:
        if series.direction == direction:
            samples.setdefault(series.peers, []).append(series.seconds)
    return np.array(
        [1e6 * np.median(np.concatenate(samples[p])) for p in range(1, MANY + 1)], dtype=float
    )


def times_us(peers: int) -> tuple[float, float, float]:
    """One post among those to `peers` others, L of all their messages, and the post of an answer; in us."""
    all_peers = np.arange(1, MANY + 1)
    posts, round_trips = medians_us("call"), medians_us("round-trip")
    post = posts / all_peers
    whole = latency(all_peers, round_trips / all_peers, post, float(post[0]))
    return float(post[peers - 1]), float(whole[peers - 1]), float(post[0])


def _lane(axes: Any, row: int, start: float, length: float, colour: str, **style: Any) -> None:
    axes.broken_barh([(start, length)], (row - HEIGHT / 2, HEIGHT), facecolors=colour, **style)


def _picture(axes: Any) -> str:
    texts = []
    for first_row, peers in ((0, 1), (4, MANY)):
        o, whole, answer = times_us(peers)
        for post in range(peers):
            _lane(axes, first_row, post * o, o, COLOURS[0], edgecolor="white", lw=0.8, zorder=3)
        _lane(axes, first_row + 1, o, whole, "0.85", edgecolor="0.4", hatch="//", zorder=3)
        _lane(axes, first_row + 2, o + whole, answer, COLOURS[1], edgecolor="white", lw=0.8, zorder=3)  # fmt: skip
        for x in (o, o + whole):
            axes.plot([x, x], [first_row - 0.35, first_row + 2.35], color="0.3", lw=0.8, ls=":")
        posts = "$o_s(1)$" if peers == 1 else f"{peers} posts of $o_s({peers})$"
        axes.text(peers * o + 0.2, first_row, posts, va="center", fontsize=8)
        inside = whole > 12
        axes.text(
            o + whole / 2 if inside else o + whole + 0.2, first_row + 1,
            f"$L({peers})$ = {whole:.2f} µs: $h_s$, network and $h_r$",
            ha="center" if inside else "left", va="center", fontsize=8, zorder=4,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5} if inside else None,
        )  # fmt: skip
        axes.text(o + whole - 0.2, first_row + 2, "$o(1)$", ha="right", va="center", fontsize=8)
        message = "To 1 peer" if peers == 1 else f"To {peers} peers"
        texts.append(
            f"{message} a post takes {o:.2f} µs and L {whole:.2f} µs; with o(1) that is {o + whole + answer:.2f} µs, "
            f"half of RTT({peers})"
        )
    axes.set_yticks([0, 1, 2, 4, 5, 6], LANES * 2)
    axes.set_ylim(6.7, -0.7)
    axes.set_xlim(left=-0.3)
    axes.set_xlabel("time in µs; above 1 message, below 8")
    o, whole, _ = times_us(MANY)
    return (
        f"{'. '.join(texts)}. L begins when the first message is posted: of {MANY * o:.2f} µs in which the CPU posts "
        f"{MANY} messages, the adapters work {(MANY - 1) * o:.2f} µs beside it."
    )


SECTION = Section(
    "times",
    "The model's times of sender, adapter and receiver",
    "The times of a message on both CPUs and both adapters (HCA). An adapter spends a time h on it, h_s at the sender "
    "and h_r at the receiver, which can't be measured as nothing tells the CPU of it; the model hides it in L(p). L(p) "
    "overlaps the overheads, since other processors work on it.",
    (COMMAND,),
    _picture,
    "The paper prints no numbers of this figure. Ours are medians of a simulated network with the paper's printed "
    "curves for send and for the overhead, and L is what chiplog.models.lop_paper makes of them. The adapters' times "
    "h_s and h_r are not drawn apart, as chiplog can't measure them either: they are inside L, whose bar is hatched. "
    "L is half a round trip less o(p), a post among p, and o(1), a post alone; it is that of all p messages (the "
    "page's last figure has the L(p) that the paper prints). We draw o(1) as the receiver's, who answers with one "
    "post; the paper's figure may have o_r there. Half a round trip is drawn as one way: no clock tells whether the "
    "way there takes as long as the way back.",
)
