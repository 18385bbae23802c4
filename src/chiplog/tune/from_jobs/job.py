"""What jobs have measured: one time for each algorithm of an operation, at a number of ranks and a size.

A job is one launch: whatever moves one of its times may move all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.import_collectives import DEFAULT

Floats = NDArray[np.float64]


class Place(NamedTuple):
    """Where calls were measured that a rule may be for."""

    operation: str
    ranks: int
    part: str
    """What a rule can't tell apart, such as nodes and ranks on each; empty where nothing is said."""

    def __str__(self) -> str:
        return f"{self.operation} of {self.ranks} ranks" + (f" ({self.part})" if self.part else "")


class JobCell(NamedTuple):
    """One algorithm at one place and size."""

    place: Place
    message_bytes: int
    """Of the message, or of one rank's block."""
    algorithm: str

    @property
    def default(self) -> JobCell:
        """What the MPI does unasked, at the same place and size."""
        return self._replace(algorithm=DEFAULT)


@dataclass(frozen=True)
class JobTime:
    """What one job has measured of one cell."""

    seconds: float
    """Of a call: the median of those that count."""
    cost_seconds: float | None
    """Of all calls together; None where a file does not say how many there were."""


@dataclass(frozen=True)
class MeasuredJob:
    """One launch."""

    name: str
    mpi: str | None
    """With its release; None where nothing is said."""
    times: Mapping[JobCell, JobTime]


def log_ratios(jobs: Sequence[MeasuredJob], cells: Iterable[JobCell]) -> dict[JobCell, Floats]:
    """Each cell's logarithms of its time over the default's in the same job, shape (jobs that have both,)."""
    logs = {}
    for cell in cells:
        both = [job.times for job in jobs if {cell, cell.default} <= job.times.keys()]
        ratios = [times[cell].seconds / times[cell.default].seconds for times in both]
        logs[cell] = np.log(np.array(ratios, dtype=np.float64))
    return logs


def all_cells(jobs: Iterable[MeasuredJob]) -> list[JobCell]:
    """All cells of algorithms other than the default, in order."""
    return sorted({cell for job in jobs for cell in job.times if cell.algorithm != DEFAULT})
