"""Jobs by their shape: so many nodes with so many processes each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from chiplog.counts import MOST_RANKS, counted
from chiplog.errors import UsageError
from chiplog.outside import as_integer
from chiplog.tune.measured.mpi_launcher import LaunchedWorld

_SHAPE = re.compile(r"(\d+)x(\d+)")


@dataclass(frozen=True)
class JobShape:
    """Nodes, and processes on each of them."""

    nodes: int
    processes: int

    def __str__(self) -> str:
        return f"{self.nodes}x{self.processes}"

    @property
    def ranks(self) -> int:
        """Of the whole job."""
        return self.nodes * self.processes

    @property
    def world(self) -> LaunchedWorld:
        """What a job of this shape is to an MPI."""
        return LaunchedWorld(self.ranks, self.nodes)

    @property
    def text(self) -> str:
        """For a sentence."""
        processes = counted(self.processes, "process", "processes")
        return f"{counted(self.nodes, 'node')} with {processes}{' each' if self.nodes > 1 else ''}"


def parse_shapes(text: str) -> tuple[JobShape, ...]:
    """The shapes in a list such as "8x2,4x4", each once; UsageError where it is no such list.

    >>> [shape.ranks for shape in parse_shapes("8x2,4x8")]
    [16, 32]
    """
    shapes = []
    for word in text.split(","):
        match = _SHAPE.fullmatch(word.strip())
        parts = match.groups() if match else ("", "")
        nodes, processes = (as_integer(part, 1, MOST_RANKS) for part in parts)
        if nodes is None or processes is None or not 2 <= nodes * processes <= MOST_RANKS:
            raise UsageError(
                f"--shape: '{word.strip()[:40]}' is no shape; it accepts nodes x processes, such as 8x2,4x4, of 2 to "
                f"{MOST_RANKS} ranks each."
            )
        shapes.append(JobShape(nodes, processes))
    return tuple(dict.fromkeys(shapes))


def check_shape(shape: JobShape, world: LaunchedWorld) -> None:
    """UsageError where so many nodes or ranks were not started."""
    if shape.nodes > world.hosts or shape.ranks > world.ranks:
        started = f"{counted(world.ranks, 'rank')} on {counted(world.hosts, 'node')}"
        raise UsageError(
            f"--shape {shape}: the launcher started {started}; it takes {shape.text}, or more of both."
        )


def file_of(path: Path, shape: JobShape) -> Path:
    """The file of one of several shapes: FILE-8x2.conf for FILE.conf."""
    return path.with_name(f"{path.stem}-{shape}{path.suffix}")
