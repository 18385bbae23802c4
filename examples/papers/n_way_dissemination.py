"""The slides on the n-way dissemination barrier: round trips to many peers, and what follows for barriers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import chiplog
from chiplog.collectives.barrier.n_way_dissemination import round_count
from chiplog.models.logp import LOGP
from chiplog.models.lop_paper import identifiable
from chiplog.models.protocol import points
from chiplog.prediction.n_way import best_peers
from papers import machines, means, one_to_many
from papers.one_to_many import PEERS, RDMA_WRITE, Microseconds, draw, printed_parts, published
from papers.section import Section, fit_of
from papers.space_time import diagram, received_from, sent_to, simulated, trace_of

PER_MESSAGE = "round trip per message RTT(p)/p in µs"
RANKS = np.arange(2, 65)
CALM = means.command_of(RDMA_WRITE, 64, 7, "noise=0.01")
ALGORITHMS = ("linear", "tree", "dissemination", "n-way-dissemination")
FEW_RANKS = np.array([2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64])
MEANS = means.command_of(RDMA_WRITE, 8, 7)
SIMULATED = simulated("barrier.goal", {"L": 5000, "o": 1000, "g": 2000, "G": 0})
ONE_PEER = (
    "chiplog schedule barrier --algorithm dissemination --ranks 8 -o barrier.goal",
    SIMULATED,
)
TWO_PEERS = (
    "chiplog schedule barrier --algorithm n-way-dissemination --peers 2 --ranks 9 -o barrier.goal",
    SIMULATED,
)
ANY_ONE = (
    "chiplog schedule barrier --algorithm dissemination --ranks 6 -o barrier.goal",
    SIMULATED,
)
ANY_TWO = (
    "chiplog schedule barrier --algorithm n-way-dissemination --peers 2 --ranks 6 -o barrier.goal",
    SIMULATED,
)
ENVIRONMENT = {
    "8 nodes, slides": {
        "processor": "Xeon 2.066 GHz",
        "cores": "2 processors a node",
        "network": "InfiniBand, Mellanox Cougar (MTPB 23108)",
        "operating system": "Red Hat Linux 9, kernel 2.4.27 SMP",
        "clock": "RDTSC",
        "MPI": "LAM/MPI 7.1.1, TUC SHIBA 1.0, MVAPICH 0.9.4, Open MPI",
    }
}


def _logp(axes: Any) -> str:
    found = (
        LOGP.formulas["one_to_many"](points("one_to_many", 1, peers=PEERS), one_to_many.LOGP_US)
        / PEERS
    )
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


def _parts(axes: Any) -> str:
    parts, total = printed_parts(RDMA_WRITE), published()["RDMA write"]
    draw(axes, {"sum": total, **parts}, PER_MESSAGE)
    axes.set_ylim(bottom=-6)
    start, constant, saturation = parts.values()
    five = identifiable(RDMA_WRITE)
    last = int(PEERS[np.nonzero(start > constant + saturation)[0][-1]])
    return (
        f"At 1, 8 and 64 peers the start of the pipeline takes {start[0]:.2f}, {start[7]:.2f} and {start[-1]:.2f} µs, "
        f"processing {constant[0]:.2f} µs, and saturation {saturation[0]:.2f}, {saturation[7]:.2f} and "
        f"{saturation[-1]:.2f} µs. Up to {last} peers the start is more than the two others together. Data tell only "
        "the sum of processing and saturation: a saturation of 0 at 0 peers would leave "
        f"{five['C'] - five['A']:.2f} µs for processing."
    )


def _in_words(ranks: list[int]) -> str:
    return ", ".join(map(str, ranks))


def _peers(commands: tuple[str, ...], axes: Any) -> str:
    trace = trace_of(commands)
    diagram(axes, trace, marked_rank=0)
    return (
        f"In order, rank 0 sends to {_in_words(sent_to(trace, 0))} and receives from "
        f"{_in_words(received_from(trace, 0))}; all {trace.ranks} ranks are done after {trace.end_us:g} µs. The black "
        "arrows are rank 0's."
    )


def _any_ranks(commands: tuple[str, ...], peers: int, axes: Any) -> str:
    trace = trace_of(commands)
    diagram(axes, trace, marked_rank=0)
    rounds = round_count(trace.ranks, peers)
    return (
        f"{trace.ranks} ranks need {rounds} rounds, the next whole number above the logarithm of {trace.ranks} to the "
        f"base {peers + 1}, {np.log(trace.ranks) / np.log(peers + 1):.2f}. All are done after {trace.end_us:g} µs, "
        f"with {len(trace.messages)} messages. In order, rank 0 sends to {_in_words(sent_to(trace, 0))}."
    )


def _barrier_us(ranks: int, peers: int) -> float:
    """R rounds of half the round trip to n peers, RDMA write."""
    per_message = published()["RDMA write"][peers - 1]
    return float(round_count(ranks, peers) * peers * per_message / 2.0)


def _barriers() -> tuple[Microseconds, Microseconds, list[int]]:
    chosen = [best_peers(int(p), lambda n, p=p: _barrier_us(int(p), n)) for p in RANKS]  # type: ignore[misc]
    with_1_peer = np.array([_barrier_us(int(p), 1) for p in RANKS])
    best = np.array([_barrier_us(int(p), n) for p, n in zip(RANKS, chosen, strict=True)])
    return with_1_peer, best, chosen


def _algorithms(axes: Any) -> str:
    fit = fit_of(CALM, "lop")
    lines = {name: np.zeros(FEW_RANKS.size) for name in ALGORITHMS}
    for place, ranks in enumerate(FEW_RANKS.tolist()):
        for row in chiplog.predict(fit, "barrier", ranks=ranks):
            if row.algorithm in lines:
                lines[row.algorithm][place] = row.seconds * 1e6
    draw(axes, lines, "barrier in µs", FEW_RANKS)
    axes.set_xlabel("ranks P")
    ends = ", ".join(f"{name} {values[-1]:.1f} µs" for name, values in lines.items())
    return f"With 64 ranks: {ends}."


def _barrier(axes: Any) -> str:
    with_1_peer, best, chosen = _barriers()
    draw(
        axes, {"dissemination (n = 1)": with_1_peer, "n-way, best n": best}, "barrier in µs", RANKS
    )
    axes.set_xlabel("ranks P")
    return "; ".join(
        f"P = {p}: n = {chosen[p - 2]}, {best[p - 2]:.2f} µs instead of {with_1_peer[p - 2]:.2f} µs"
        for p in (8, 32, 64)
    )


def _speed_up(axes: Any) -> str:
    with_1_peer, best, _ = _barriers()
    draw(axes, {"n = 1 over best n": with_1_peer / best}, "speed-up", RANKS)
    axes.set_xlabel("ranks P")
    return f"{(with_1_peer / best)[6]:.2f} at 8 ranks, {(with_1_peer / best)[-1]:.2f} at 64."


LOP = "Computed by chiplog's formulas from the RDMA write curve that the LoP paper prints; nothing was measured. "
SECTIONS = (
    Section(
        "principle",
        "One to n and back: the five steps",
        one_to_many.PRINCIPLE,
        (one_to_many.FOUR_PEERS,),
        one_to_many.principle,
        one_to_many.PRINCIPLE_DIFFERS,
    ),
    Section(
        "logp",
        "LogP's round trip per message",
        "LogP says that the time per message only falls with the number of peers.",
        (),
        _logp,
        "The slide prints no numbers: L = 5, o = 1 and g = 2 µs are ours. Computed by chiplog's model of LogP.",
    ),
    Section(
        "test-environment",
        "The machine that was measured",
        "A list of its parts: nodes, processors, operating system and InfiniBand adapter.",
        (machines.COMMAND,),
        machines.drawing(ENVIRONMENT),
        machines.DIFFERS,
        picture=False,
    ),
    Section(
        "least",
        "Least round trip per message on 8 nodes",
        "RDMA write is the fastest; several peers at once cost less per message than one.",
        (),
        _least,
        "The curves are those of the LoP paper's machine, up to 7 peers: 64 nodes of faster processors, with the same "
        "adapter. The other transport options of the slide have no printed numbers. Computed by chiplog's formulas; "
        "nothing was measured.",
    ),
    Section(
        "mean",
        "Mean round trip per message",
        "The graph of the means has many outliers and still the same shape.",
        (MEANS,),
        means.drawing(MEANS),
        means.DIFFERS,
    ),
    Section(
        "parts",
        "The three parts of the LoP curve",
        "Start of the pipeline, least processing time, and saturation of the network add up.",
        (),
        _parts,
        "The slide has the shapes without numbers; ours are those that the LoP paper prints of RDMA write. Computed by "
        "chiplog's formulas; nothing was measured.",
    ),
    Section(
        "any-ranks-1",
        "The dissemination barrier with any number of ranks",
        "The running time grows with the logarithm of P to the base 2, and P need not be a power of two.",
        ANY_ONE,
        partial(_any_ranks, ANY_ONE, 1),
        "The slide has no times: ours are those of chiplog's simulator, and L = 5, o = 1, g = 2 µs and 6 ranks are our "
        "choice. What its picture shows beside these words is not known to us.",
    ),
    Section(
        "peers-1",
        "Who sends to whom, one peer a round",
        "In round r, rank p sends to (p + 2^r) mod P and receives from (p - 2^r) mod P.",
        ONE_PEER,
        partial(_peers, ONE_PEER),
        "The slide has no times: ours are those of chiplog's simulator, and L = 5, o = 1, g = 2 µs and 8 ranks are our "
        "choice. Drawn from the trace that the second command writes.",
    ),
    Section(
        "any-ranks-n",
        "The n-way dissemination barrier with any number of ranks",
        "The running time is between the logarithms of P to the base 2 and to the base n, with a question mark; P need "
        "not be a power of n.",
        ANY_TWO,
        partial(_any_ranks, ANY_TWO, 2),
        "As above, with n = 2. The rounds are those of base n + 1: the first r of them reach (n+1)^r ranks, the rank "
        "itself among them. In the last round not all peers are needed, and chiplog leaves out whom a rank has "
        "reached already.",
    ),
    Section(
        "peers-n",
        "Who sends to whom, n peers a round",
        "In round r, rank p sends to (p + i (n+1)^r) mod P and receives from (p - i (n+1)^r) mod P, i = 1 to n.",
        TWO_PEERS,
        partial(_peers, TWO_PEERS),
        "As above, with n = 2 and 9 ranks. Two rounds do what one peer a round does in three with 8 ranks. A rank goes "
        "on when it has all messages of the round.",
    ),
    Section(
        "algorithms",
        "Barriers of several algorithms",
        "Barriers of LAM/MPI, TUC SHIBA, MVAPICH and Open MPI with the new one: LAM/MPI's takes so long that the next "
        "slide enlarges the others.",
        (
            CALM,
            "chiplog fit run.jsonl --model lop -o model.json",
            "chiplog predict model.json barrier --ranks 64",
        ),
        _algorithms,
        "No MPI is drawn: those of 2006 are not at hand, and the slides print no time of theirs. Four algorithms stand "
        "in their place; which MPI had which is not said. Their times are predictions from a fit of LoP to a simulated "
        "network with the RDMA write curve of the LoP paper: a barrier in rounds takes R RTT(n)/2, the n-way one with "
        "its best n.",
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
