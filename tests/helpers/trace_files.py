"""Traces of small programs as liballprof writes them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from chiplog.tracing.builder import ImportedCall, RankBuilder
from chiplog.tracing.trace import Trace

EPOCH_US = 1_700_000_000_000_000
DOUBLE = "11,8,8"


class Allprof:
    """The file of a rank; times in us since the begin."""

    def __init__(self, rank: int, ranks: int, clock_us: float = 0.0) -> None:
        self.world = f"0,{rank},{ranks}"
        self.lines = [f"# host: node{rank}", f"# Init clockdiff: {clock_us:.6f}", ""]
        self.add("Init", None, ("1", "2"), 10)

    def add(
        self, name: str, begin: float | None, arguments: Sequence[object], end: float | None
    ) -> None:
        """A call with its arguments as they stand there."""
        times = ["-" if time is None else f"{EPOCH_US + time:.6f}" for time in (begin, end)]
        self.lines.append(":".join([f"MPI_{name}", times[0], *map(str, arguments), times[1]]))

    def send(self, begin: float, end: float, to: int, doubles: int = 1, tag: int = 0) -> None:
        self.add("Send", begin, (64, doubles, DOUBLE, to, tag, self.world), end)

    def receive(
        self, begin: float, end: float, source: int, doubles: int = 1, tag: int = 0
    ) -> None:
        self.add("Recv", begin, (64, doubles, DOUBLE, source, tag, self.world, 128), end)

    def start(self, name: str, at: float, peer: int, address: int, *, doubles: int = 1) -> None:
        """Isend or Irecv, which takes 1 us."""
        self.add(name, at, (64, doubles, DOUBLE, peer, 0, self.world, address), at + 1)

    def allreduce(self, begin: float, end: float, doubles: int = 1) -> None:
        self.add("Allreduce", begin, (64, 128, doubles, DOUBLE, 3, self.world), end)

    def finalize(self, at: float) -> None:
        self.add("Finalize", at, (), None)

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def write_allprof(folder: Path, files: Sequence[Allprof]) -> Path:
    """The files of all ranks, in a folder of their own."""
    folder.mkdir(exist_ok=True)
    for rank, file in enumerate(files):
        (folder / f"pmpi-trace-rank-{rank}.txt").write_text(file.text())
    return folder


def ring(folder: Path, ranks: int = 4, rounds: int = 3) -> Path:
    """Each rank sends to the next without blocking, receives from the one before, and waits; then all reduce."""
    files = [Allprof(rank, ranks) for rank in range(ranks)]
    for rank, file in enumerate(files):
        for turn in range(rounds):
            at = 20 + 100 * turn
            file.start("Isend", at, (rank + 1) % ranks, 4096, doubles=100)
            file.receive(at + 2, at + 20 + rank, (rank - 1) % ranks, 100)
            file.add("Wait", at + 30, (4096, 0), at + 31)
            file.allreduce(at + 40 + rank, at + 60)
        file.finalize(20 + 100 * rounds)
    return write_allprof(folder, files)


def trace_of(*ranks: Sequence[ImportedCall], communicators: Sequence[Sequence[int]] = ()) -> Trace:
    """A trace of these calls, rank by rank."""
    built = []
    for rank, calls in enumerate(ranks):
        builder = RankBuilder(rank)
        for call in calls:
            builder.add(call)
        built.append(builder.build())
    return Trace(tuple(built), (tuple(range(len(ranks))), *map(tuple, communicators)))


def write_actions(folder: Path) -> Path:
    """Two ranks as a time-independent trace of SimGrid's: a message without blocking, and a barrier."""
    folder.mkdir(exist_ok=True)
    for rank, action in enumerate(("isend 1", "irecv 0")):
        (folder / f"ti_trace{rank}.txt").write_text(
            f"{rank} init\n{rank} {action} 5 4096\n{rank} compute 1000000\n{rank} comm_size 2\n"
            f"{rank} wait 0 1 5\n{rank} barrier\n{rank} finalize\n"
        )
    return folder
