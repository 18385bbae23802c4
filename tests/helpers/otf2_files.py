"""An OTF2 archive of a small program, written by OTF2's own library as Score-P would."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

NS = 10**9


def write_otf2(folder: Path, ranks: int = 2) -> Path:
    """Each rank exchanges 4 KiB with its neighbours without blocking, 8 B by Sendrecv, and reduces 8 B."""
    otf2: Any = importlib.import_module("otf2")
    with otf2.writer.open(str(folder), timer_resolution=NS) as archive:
        known = archive.definitions
        node = known.system_tree_node("node0")
        names = ("Init", "Irecv", "Isend", "Waitall", "Sendrecv", "Allreduce", "Finalize")
        regions = {name: known.region(f"MPI_{name}", paradigm=otf2.Paradigm.MPI) for name in names}
        locations = [
            known.location(
                "thread", group=known.location_group(f"rank {rank}", system_tree_parent=node)
            )
            for rank in range(ranks)
        ]
        writers = [archive.event_writer_from_location(location) for location in locations]
        groups = (otf2.GroupType.COMM_LOCATIONS, otf2.GroupType.COMM_GROUP)
        world = [
            known.group("", group_type=kind, paradigm=otf2.Paradigm.MPI, members=locations)
            for kind in groups
        ]
        communicator = known.comm("MPI_COMM_WORLD", group=world[1])
        for rank, writer in enumerate(writers):
            _write_rank(otf2, writer, regions, communicator, (rank + 1) % ranks)
    return folder


def _write_rank(otf2: Any, writer: Any, regions: Any, world: Any, peer: int) -> None:
    def call(name: str, begin: int, end: int, *inside: tuple[str, tuple[Any, ...]]) -> None:
        writer.enter(begin, regions[name])
        for event, arguments in inside:
            getattr(writer, event)(begin + 1, *arguments)
        writer.leave(end, regions[name])

    call("Init", 1000, 2000)
    call("Irecv", 3000, 3500, ("mpi_irecv_request", (1,)))
    call("Isend", 4000, 4500, ("mpi_isend", (peer, world, 7, 4096, 2)))
    received = ("mpi_irecv", (peer, world, 7, 4096, 1))
    call("Waitall", 5000, 7000, received, ("mpi_isend_complete", (2,)))
    both = ("mpi_send", (peer, world, 9, 8)), ("mpi_recv", (peer, world, 9, 8))
    call("Sendrecv", 8000, 9000, *both)
    done = (otf2.CollectiveOp.ALLREDUCE, world, 2**32 - 1, 16, 16)
    call("Allreduce", 10000, 11000, ("mpi_collective_begin", ()), ("mpi_collective_end", done))
    call("Finalize", 12000, 13000)
