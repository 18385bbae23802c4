"""The barrier library in a simulation of InfiniBand-like hosts: each n, n* of the model, and SMPI's selectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from _barrier_programs import SOURCE, medians
from barrier_programs import SimulatedStar, compile_program

from chiplog.collectives.algorithm import Task
from chiplog.collectives.barrier import n_way_dissemination
from chiplog.collectives.costs import Message
from chiplog.measurement.library import build_library
from chiplog.prediction.n_way import best_peers_exhaustively

SELECTORS = ("ompi", "mpich", "mvapich2", "impi")
MOST_PEERS = 8


class Star:
    """The simulated hosts as the model knows them."""

    def __init__(self, star: SimulatedStar) -> None:
        self.star = star

    def message(self, message_bytes: int) -> Message:
        send, way, receive = (
            np.array([one])
            for one in (self.star.o_s, self.star.o_s + self.star.latency, self.star.o_r)
        )
        return Message(send, np.zeros(1), way, receive)

    def seconds(self, ranks: int, peers: int) -> float:
        task = Task(ranks=ranks, peers=peers)
        return float(n_way_dissemination.seconds(task, self)[0])

    def best_peers(self, ranks: int) -> int:
        return best_peers_exhaustively(ranks, lambda peers: self.seconds(ranks, peers))


def simulated(build: Path, sizes: list[int]) -> None:
    library = build_library("smpicxx")
    program = compile_program(library.mpi, SOURCE, build / "in_turn-smpi", *library.link_flags)
    for ranks in sizes:
        star = SimulatedStar(build, ranks)
        model = Star(star)
        chosen = model.best_peers(ranks)
        by_peers = {
            peers: medians(star.run(ranks, program, 1, 3, CHIPLOG_BARRIER_N=str(peers)).stdout)[
                "library"
            ]
            for peers in sorted({*range(1, min(MOST_PEERS, ranks - 1) + 1), chosen})
        }
        settled = {"CHIPLOG_BARRIER_N": str(chosen)}
        own = {
            name: medians(star.run(ranks, program, 1, 3, selector=name, **settled).stdout)["own"]
            for name in SELECTORS
        }
        print(simulated_lines(ranks, by_peers, own, chosen, model), flush=True)


def simulated_lines(
    ranks: int, by_peers: dict[int, float], own: dict[str, float], chosen: int, model: Star
) -> str:
    best = min(by_peers, key=lambda peers: by_peers[peers])
    least_own = min(own.values())
    times = "  ".join(f"n={peers} {ns / 1e3:.3f}" for peers, ns in by_peers.items())
    others = "  ".join(f"{name} {ns / 1e3:.3f}" for name, ns in own.items())
    loss = by_peers[chosen] / by_peers[best] - 1
    return (
        f"{ranks} simulated ranks, us: {times}  |  {others}\n"
        f"    best n {best}, n* {chosen} (model {model.seconds(ranks, chosen) * 1e6:.3f} us), "
        f"n* is slower by {loss:.2%} (goal <= 2 %: {'met' if loss <= 0.02 else 'NOT met'}); "
        f"saved {1 - by_peers[chosen] / least_own:.1%} of the best selector, "
        f"{1 - by_peers[chosen] / by_peers[1]:.1%} of plain dissemination"
    )
