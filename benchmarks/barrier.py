"""The barrier library against MPI's own barriers.

On this machine: medians of MPI_Barrier, of the MPI's own and, for two ranks, of a bare exchange of two flags, taken in
turn in one run. In a simulation of InfiniBand-like hosts: each n against SMPI's selectors, and n* of the model. Between
network namespaces, as root: against each of Open MPI's barrier algorithms over tcp.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from barrier_programs import SimulatedStar, compile_program, run, run_preloaded
from nodes import NETWORK, Nodes, nodes

from chiplog.collectives.algorithm import Task
from chiplog.collectives.barrier import n_way_dissemination
from chiplog.collectives.costs import Message
from chiplog.errors import ChiplogError
from chiplog.measure.launchers import OPEN_MPI_AS_ROOT
from chiplog.measure.library import BuiltLibrary, build_library
from chiplog.measure.mpis import Mpi, find_mpis, identify_mpi
from chiplog.predict.n_way import best_peers_exhaustively

SOURCE = str(Path(__file__).parent.resolve() / "peers" / "barriers_in_turn.cpp")
GOALS = {"openmpi": 0.35, "mpich": 0.25, "intel": 0.25}
FLAGS_GOAL = 1.3
SELECTORS = ("ompi", "mpich", "mvapich2", "impi")
MOST_PEERS = 8
OWN_ALGORITHMS = {
    1: "linear",
    2: "double ring",
    3: "recursive doubling",
    4: "bruck",
    6: "tree",
}
"""Values of coll_tuned_barrier_algorithm; 5 is for two ranks only."""
AGENT = (
    "#!/bin/bash\n"
    'while [[ "$1" == -* ]]; do case "$1" in -l|-p|-o) shift 2;; *) shift;; esac; done\n'
    'host=$1; shift; exec ip netns exec "$host" unshare -u sh -c "hostname $host; $*"\n'
)
"""What mpirun starts its daemons with in place of ssh."""

Medians = dict[str, float]


def medians(printed: str) -> Medians:
    """Nanoseconds by way, from the program's output."""
    words = (line.split() for line in printed.splitlines())
    return {
        one[0]: float(one[1])
        for one in words
        if len(one) == 2 and one[0] in ("library", "own", "flags")
    }


def verdict(ratio: float, goal: float) -> str:
    return f"{ratio:6.3f} (goal <= {goal:.2f}: {'met' if ratio <= goal else 'NOT met'})"


def real_mpis() -> Iterator[Mpi]:
    wrappers = filter(None, os.environ.get("CHIPLOG_TEST_MPIS", "").split(os.pathsep))
    for mpi in (*find_mpis(), *(identify_mpi(wrapper) for wrapper in wrappers)):
        if not mpi.simulated:
            yield mpi


def this_machine(build: Path) -> None:
    for number, mpi in enumerate(real_mpis()):
        library = build_library(str(mpi.mpicxx))
        program = compile_program(mpi, SOURCE, build / f"in_turn-{number}", "-O3")
        for ranks, how in ((2, (301, 2000, "pin")), (4, (11, 10)), (8, (11, 10))):
            done = run_preloaded(library, ranks, program, *how)
            found = medians(done.stdout)
            if "own" not in found:
                print(f"{mpi}, {ranks} ranks: failed: {done.stderr.strip()[-300:]}")
                continue
            print(machine_line(mpi, ranks, found), flush=True)


def machine_line(mpi: Mpi, ranks: int, found: Medians) -> str:
    goal = GOALS.get(mpi.kind, 1.0) if ranks == 2 else 1.0
    line = f"{mpi!s:<18} {ranks} ranks: library {found['library']:9.1f} ns, own {found['own']:11.1f} ns, "
    line += f"ratio {verdict(found['library'] / found['own'], goal)}"
    if "flags" in found:
        to_flags = verdict(found["library"] / found["flags"], FLAGS_GOAL)
        line += f"; two flags {found['flags']:.1f} ns, library to flags {to_flags}"
    return line


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
        own = {
            name: medians(star.run(ranks, program, 1, 3, selector=name).stdout)["own"]
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


def between_hosts(build: Path) -> None:
    if os.geteuid() != 0:
        print("between hosts: skipped, network namespaces need root")
        return
    library = build_library("mpicxx.openmpi")
    program = compile_program(library.mpi, SOURCE, build / "in_turn-hosts", "-O3")
    agent = build / "agent"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    for hosts, each in ((4, 1), (8, 1), (4, 2)):
        with nodes(hosts, process_mbit=10000.0, node_mbit=10000.0, processes=each) as there:
            compare_between(library, program, agent, there, each)


def compare_between(
    library: BuiltLibrary, program: Path, agent: Path, there: Nodes, each: int
) -> None:
    hosts = len(there.names)

    def measured(own_algorithm: int | None = None, **variables: str) -> tuple[Medians, str]:
        places = ",".join(f"{name}:{each}" for name in there.names)
        settings = {
            "plm_rsh_agent": str(agent),
            "pml": "ob1",
            "btl": "tcp,self,vader",
            "btl_tcp_if_include": NETWORK,
            "oob_tcp_if_include": NETWORK,
            "mpi_yield_when_idle": "1",
        }
        if own_algorithm is not None:
            settings |= {
                "coll_tuned_use_dynamic_rules": "1",
                "coll_tuned_barrier_algorithm": str(own_algorithm),
            }
        options = [word for name, value in settings.items() for word in ("--mca", name, value)]
        command = ["ip", "netns", "exec", there.names[0], "unshare", "-u", "sh", "-c"]
        command += ['hostname "$0" && exec "$@"', there.names[0], str(library.mpi.launcher)]
        command += ["-n", str(hosts * each), "-H", places, "--bind-to", "none", *options]
        command += [*library.preloading(CHIPLOG_VERBOSE="1", **variables), str(program), "31", "20"]
        done = run(command, **OPEN_MPI_AS_ROOT)
        found = medians(done.stdout)
        if "own" not in found:
            raise SystemExit(f"between hosts: {done.stderr.strip()[-500:]}")
        return found, done.stderr.strip().splitlines()[-1]

    own = {name: measured(number)[0] for number, name in OWN_ALGORITHMS.items()}
    best_own = min(own, key=lambda name: own[name]["own"])
    told = measured()[1]
    peers = sorted({1, 2, 3, hosts - 1})
    by_peers = {n: measured(CHIPLOG_BARRIER_N=str(n))[0]["library"] for n in peers}
    best = min(by_peers, key=lambda n: by_peers[n])
    ratio = own[best_own]["library"] / own[best_own]["own"]
    print(f"{hosts} hosts x {each} ranks, us:")
    print("    own: " + "  ".join(f"{k} {v['own'] / 1e3:.1f}" for k, v in own.items()))
    print("    library: " + "  ".join(f"n={n} {ns / 1e3:.1f}" for n, ns in by_peers.items()))
    print(f"    chosen: {told}; best n measured: {best}")
    print(f"    library / own by {best_own}, in turn: {verdict(ratio, 1.0)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=["machine", "simulated", "hosts"])
    parser.add_argument("--ranks", type=int, nargs="*", default=[8, 16, 32, 64, 512])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        build = Path(directory)
        if options.only in (None, "machine"):
            this_machine(build)
        if options.only in (None, "simulated"):
            simulated(build, options.ranks)
        if options.only in (None, "hosts"):
            between_hosts(build)


if __name__ == "__main__":
    try:
        main()
    except ChiplogError as error:
        sys.exit(str(error))
