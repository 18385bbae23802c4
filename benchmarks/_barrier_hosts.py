"""The barrier library between network namespaces, against each of Open MPI's barrier algorithms over tcp."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from _alternate import ratio
from _barrier_programs import SOURCE, Medians, medians
from barrier_programs import compile_program, run
from nodes import NETWORK, Nodes, nodes

from chiplog.measurement.launchers import OPEN_MPI_AS_ROOT
from chiplog.measurement.library import AT_ONCE, BuiltLibrary, build_library

LAYOUTS = ((4, 1), (8, 1), (4, 2))
"""Hosts, and ranks on each."""
LAUNCHES = 8
BLOCKS, BARRIERS = 31, 20
LINEAR = "CHIPLOG_BARRIER_ALGORITHM=linear"
FASTEST = "CHIPLOG_BARRIER_ALGORITHM=fastest"
OWN_ALGORITHMS = {
    "linear": 1,
    "double ring": 2,
    "recursive doubling": 3,
    "bruck": 4,
    "tree": 6,
}
"""Values of coll_tuned_barrier_algorithm; 5 is for two ranks only."""
AGENT = (
    "#!/bin/bash\n"
    'while [[ "$1" == -* ]]; do case "$1" in -l|-p|-o) shift 2;; *) shift;; esac; done\n'
    'host=$1; shift; exec ip netns exec "$host" unshare -u sh -c "hostname $host; $*"\n'
)
"""What mpirun starts its daemons with in place of ssh."""


def between_hosts(build: Path) -> None:
    if os.geteuid() != 0:
        print("between hosts: skipped, network namespaces need root")
        return
    library = build_library("mpicxx.openmpi")
    program = compile_program(library.mpi, SOURCE, build / "in_turn-hosts", "-O3")
    agent = build / "agent"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    for hosts, each in LAYOUTS:
        with nodes(hosts, process_mbit=10000.0, node_mbit=10000.0, processes=each) as there:
            compare(Cluster(library, program, agent, there, each))


class Cluster:
    """Hosts on which a program runs, each with as many ranks."""

    def __init__(
        self, library: BuiltLibrary, program: Path, agent: Path, there: Nodes, each: int
    ) -> None:
        self.library = library
        self.program = program
        self.agent = agent
        self.there = there
        self.each = each

    def launch(self, own_algorithm: int, *settings: str) -> tuple[Medians, list[str]]:
        """Medians in one run, and what the library says of each communicator."""
        command = ["ip", "netns", "exec", self.there.names[0], "unshare", "-u", "sh", "-c"]
        command += ['hostname "$0" && exec "$@"', self.there.names[0]]
        command += [str(self.library.mpi.launcher), *self._options(own_algorithm)]
        command += [*self.library.preloading(CHIPLOG_VERBOSE="1", **AT_ONCE), str(self.program)]
        done = run([*command, str(BLOCKS), str(BARRIERS), *settings], **OPEN_MPI_AS_ROOT)
        found = medians(done.stdout)
        if "own" not in found:
            raise SystemExit(f"between hosts: {done.stderr.strip()[-500:]}")
        return found, [line for line in done.stderr.splitlines() if line.startswith("chiplog: ")]

    def _options(self, own_algorithm: int) -> list[str]:
        places = ",".join(f"{name}:{self.each}" for name in self.there.names)
        settings = {
            "plm_rsh_agent": str(self.agent),
            "pml": "ob1",
            "btl": "tcp,self,vader",
            "btl_tcp_if_include": NETWORK,
            "oob_tcp_if_include": NETWORK,
            "mpi_yield_when_idle": "1",
            "coll_tuned_use_dynamic_rules": "1",
            "coll_tuned_barrier_algorithm": str(own_algorithm),
        }
        options = [word for name, value in settings.items() for word in ("--mca", name, value)]
        ranks = len(self.there.names) * self.each
        return ["-n", str(ranks), "-H", places, "--bind-to", "none", *options]


def compare(cluster: Cluster) -> None:
    hosts = len(cluster.there.names)
    by_peers = [f"CHIPLOG_BARRIER_N={n}" for n in sorted({1, 2, 3, hosts - 1})]
    settings = [LINEAR, *by_peers]
    runs = {name: cluster.launch(number, *settings)[0] for name, number in OWN_ALGORITHMS.items()}
    best_own = min(runs, key=lambda name: runs[name]["own"])
    best_n = min(by_peers, key=lambda one: min(found[one] for found in runs.values()))
    launches = [cluster.launch(OWN_ALGORITHMS[best_own], LINEAR, FASTEST) for _ in range(LAUNCHES)]
    print(f"{hosts} hosts x {cluster.each} ranks, us:")
    print(
        "    own: " + "  ".join(f"{name} {found['own'] / 1e3:.1f}" for name, found in runs.items())
    )
    print(f"    library, in turn with {best_own}: " + of_library(runs[best_own]))
    print(f"    best n measured: {best_n.rpartition('=')[2]}")
    chosen = Counter(
        line for _, lines in launches for line in lines if "CHIPLOG_BARRIER_ALGORITHM" not in line
    )
    for line, times in chosen.items():
        print(f"    {line.removeprefix('chiplog: ')}: {times} of {LAUNCHES} times")
    for way in (FASTEST, LINEAR, "library"):
        name = {FASTEST: "fastest by trial", LINEAR: "linear"}.get(way, "by default")
        print(f"    {compared(way, name, best_own, [found for found, _ in launches])}", flush=True)


def of_library(found: Medians) -> str:
    ways = {name: ns for name, ns in found.items() if name != "own"}
    return "  ".join(
        f"{name.removeprefix('CHIPLOG_BARRIER_')} {ns / 1e3:.1f}" for name, ns in ways.items()
    )


def compared(way: str, name: str, best_own: str, launches: list[Medians]) -> str:
    ours = [found[way] * 1e-9 for found in launches]
    peer = [found["own"] * 1e-9 for found in launches]
    found = ratio(f"library, {name} / own by {best_own}", ours, peer)
    return f"{found.line()}   {found.standing}"
