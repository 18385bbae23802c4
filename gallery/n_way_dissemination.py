"""The slides on the n-way dissemination barrier: round trips to many peers, and what follows for barriers."""

from __future__ import annotations

from typing import Any

import numpy as np

from chiplog.collectives.barrier.n_way_dissemination import round_count
from chiplog.models.logp import LOGP
from chiplog.models.protocol import points
from chiplog.predict.n_way import best_peers
from gallery.one_to_many import PEERS, Microseconds, draw, published
from gallery.section import Section

PER_MESSAGE = "round trip per message RTT(p)/p in µs"
LOGP_US = {"L": 5.0, "o_s": 1.0, "o_r": 1.0, "g": 2.0}
RANKS = np.arange(2, 65)


def _logp(axes: Any) -> str:
    found = LOGP.formulas["one_to_many"](points("one_to_many", 1, peers=PEERS), LOGP_US) / PEERS
    draw(axes, {"LogP": found}, PER_MESSAGE)
    return f"{found[0]:.2f} µs at 1 peer, {found[-1]:.2f} µs at 64, least at {int(PEERS[np.argmin(found)])} peers."


def _least(axes: Any) -> str:
    few = PEERS[:7]
    lines = {name: values[:7] for name, values in published().items()}
    draw(axes, lines, PER_MESSAGE, few)
    return "; ".join(
        f"{name}: {v[0]:.2f} µs at 1 peer, least {v.min():.2f} µs at {int(few[np.argmin(v)])}"
        for name, v in lines.items()
    )


def _barrier_us(ranks: int, peers: int) -> float:
    """R rounds of half the round trip to n peers, RDMA write."""
    per_message = published()["RDMA write"][peers - 1]
    return float(round_count(ranks, peers) * peers * per_message / 2.0)


def _barriers() -> tuple[Microseconds, Microseconds, list[int]]:
    chosen = [best_peers(int(p), lambda n, p=p: _barrier_us(int(p), n)) for p in RANKS]  # type: ignore[misc]
    one = np.array([_barrier_us(int(p), 1) for p in RANKS])
    best = np.array([_barrier_us(int(p), n) for p, n in zip(RANKS, chosen, strict=True)])
    return one, best, chosen


def _barrier(axes: Any) -> str:
    one, best, chosen = _barriers()
    draw(axes, {"dissemination (n = 1)": one, "n-way, best n": best}, "barrier in µs", RANKS)
    axes.set_xlabel("ranks P")
    return "; ".join(
        f"P = {p}: n = {chosen[p - 2]}, {best[p - 2]:.2f} µs instead of {one[p - 2]:.2f} µs"
        for p in (8, 32, 64)
    )


def _speed_up(axes: Any) -> str:
    one, best, _ = _barriers()
    draw(axes, {"n = 1 over best n": one / best}, "speed-up", RANKS)
    axes.set_xlabel("ranks P")
    return f"{(one / best)[6]:.2f} at 8 ranks, {(one / best)[-1]:.2f} at 64."


LOP = "Computed by chiplog's formulas from the RDMA write curve that the LoP paper prints; nothing was measured. "
SECTIONS = (
    Section(
        "logp",
        "LogP's round trip per message",
        "LogP says that the time per message only falls with the number of peers.",
        (),
        _logp,
        "The slide prints no numbers: L = 5, o = 1 and g = 2 µs are ours. Computed by chiplog's model of LogP.",
    ),
    Section(
        "least",
        "Least round trip per message on 8 nodes",
        "RDMA write is the fastest; several peers at once cost less per message than one.",
        (),
        _least,
        "The curves are those of the LoP paper's 64-node machine, with the same adapter, up to 7 peers. The other "
        "transport options of the slide have no printed numbers. Computed by chiplog's formulas; nothing was measured.",
    ),
    Section(
        "barrier",
        "Barrier by number of ranks",
        "The n-way dissemination barrier is the fastest of those tested.",
        (),
        _barrier,
        LOP
        + "It is compared with the dissemination barrier of one peer, not with the MPIs of the slide, which are "
        "not at hand. The last round counts as a whole one.",
    ),
    Section(
        "speed-up",
        "Speed-up of the barrier",
        "The slide has the speed-up over MVAPICH.",
        (),
        _speed_up,
        LOP + "Over the one-peer barrier instead of MVAPICH's.",
    ),
)
