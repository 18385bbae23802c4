"""SimGrid's algorithms of collective operations as candidates of a race: true times of many ranks, in virtual time.

A machine is a star of hosts whose links have one latency and bandwidth; a message costs its sender and its receiver an
overhead. The default is the choice that SimGrid copied from a release of Open MPI or MPICH.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from chiplog.measurement.launchers import SMPI_NEUTRAL
from chiplog.tune.choice import Native
from chiplog.tune.measured.candidate import DEFAULT_NAME, Candidate

SOURCE = Path(__file__).parent.parent / "testbeds" / "programs" / "forced_in_simulation.cpp"
ALGORITHMS = {
    "barrier": "ompi_basic_linear ompi_bruck ompi_doublering ompi_recursivedoubling ompi_tree",
    "bcast": "binomial_tree flattree flattree_pipeline NTSL NTSB ompi_pipeline scatter_LR_allgather "
    "scatter_rdb_allgather ompi_split_bintree",
    "reduce": "binomial flat_tree NTSL scatter_gather ompi_binary ompi_binomial ompi_chain "
    "ompi_in_order_binary ompi_pipeline mvapich2_knomial",
    "allreduce": "lr rab1 rab2 rab_rdb rdb redbcast ompi_ring_segmented",
    "allgather": "bruck pair rdb rhv ring NTSLR spreading_simple ompi_neighborexchange 2dmesh 3dmesh",
    "alltoall": "basic_linear bruck pair rdb ring mvapich2_scatter_dest 2dmesh 3dmesh",
    "reduce_scatter": "mpich_pair mpich_rdb ompi_basic_recursivehalving ompi_butterfly ompi_ring",
}
"""What SimGrid 3.32 has; those that need a power of two take part, since the numbers of ranks are."""
LEAST_BYTES = {"ompi_split_bintree": 8192}
"""It breaks with less than a segment."""
MANY_RANKS = 64
TOO_MANY_MESSAGES = ("flattree_pipeline", "rab1", "rab2")
"""Of more ranks SMPI takes minutes for one call of these."""
PATIENCE_SECONDS = 1200
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="star" prefix="node" suffix="" radical="0-{last}" speed="1Gf" bw="{bandwidth}Bps" lat="{latency}s"
           sharing_policy="SPLITDUPLEX"/>
</platform>
"""


def candidates(operation: str, ranks: int) -> tuple[Candidate, ...]:
    """The algorithms of an operation that can be simulated for so many ranks, numbered from 1 as Open MPI does."""
    return tuple(
        Candidate(name, (("cvar", number),), Native(name, number), None, LEAST_BYTES.get(name, 0))
        for number, name in enumerate(ALGORITHMS[operation].split(), start=1)
        if ranks <= MANY_RANKS or name not in TOO_MANY_MESSAGES
    )


@dataclass
class Machine:
    """Seconds of each algorithm on this machine; what was simulated once is kept."""

    program: Path
    folder: Path
    operation: str
    ranks: int
    default: str = "ompi"
    bytes_per_second: float = 125e6
    latency_seconds: float = 20e-6
    overhead_seconds: float = 1e-6
    known: dict[tuple[str, int], float | None] = field(default_factory=dict)

    def seconds(self, name: str, message_bytes: int) -> float:
        """Of a candidate or of the default; infinite where its result is wrong."""
        key = (name, message_bytes)
        if key not in self.known:
            self._simulate(message_bytes)
        found = self.known[key]
        return float("inf") if found is None else found

    def _simulate(self, message_bytes: int) -> None:
        fit = [
            one
            for one in candidates(self.operation, self.ranks)
            if message_bytes >= one.least_bytes
        ]
        names = [self.default, *(one.name for one in fit)]
        asked = f"{self.operation}:{message_bytes}:{','.join(names)}"
        for line in self._run(asked).splitlines():
            words = line.split()
            if len(words) != 4 or words[0] != self.operation:
                continue
            name = DEFAULT_NAME if words[2] == self.default else words[2]
            self.known[name, message_bytes] = None if words[3] == "wrong" else float(words[3])

    def _run(self, *asked: str) -> str:
        platform, hosts = self.folder / "platform.xml", self.folder / "hosts"
        platform.write_text(
            PLATFORM.format(
                last=self.ranks - 1, bandwidth=self.bytes_per_second, latency=self.latency_seconds
            )
        )
        hosts.write_text("".join(f"node{number}\n" for number in range(self.ranks)))
        overheads = [f"--cfg=smpi/{one}:0:{self.overhead_seconds}:0" for one in ("os", "ois", "or")]
        command = ["smpirun", "-np", str(self.ranks), "-platform", str(platform)]
        command += ["-hostfile", str(hosts), *SMPI_NEUTRAL, *overheads]
        done = subprocess.run(
            [*command, str(self.program), *asked],
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def compiled(smpicxx: Path, folder: Path, flags: Sequence[str] = ("-O1",)) -> Path:
    """The program that times them."""
    program = folder / "forced"
    subprocess.run([str(smpicxx), *flags, str(SOURCE), "-o", str(program)], check=True)
    return program
