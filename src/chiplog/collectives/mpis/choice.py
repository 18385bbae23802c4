"""A collective call as an MPI's rules see it, and the algorithm that stands for what the MPI takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.registry import algorithms

DEFAULTS = {
    "barrier": "dissemination",
    "bcast": "binomial",
    "reduce": "binomial",
    "gather": "binomial",
    "scatter": "binomial",
    "allreduce": "recursive-doubling",
    "allgather": "bruck",
    "alltoall": "pairwise",
    "reduce_scatter": "recursive-halving",
    "scan": "recursive-doubling",
}
"""The algorithm of each operation, where nothing says which one the MPI takes."""
OPERATIONS = {
    **{name: name for name in DEFAULTS},
    "gatherv": "gather",
    "scatterv": "scatter",
    "allgatherv": "allgather",
    "alltoallv": "alltoall",
    "alltoallw": "alltoall",
    "reduce_scatter_block": "reduce_scatter",
    "exscan": "scan",
}
"""By MPI's function, in lower case and without prefix, the operation that it does."""


@dataclass(frozen=True)
class CollectiveCall:
    """One collective call of all members of a communicator."""

    function: str
    """Of OPERATIONS."""
    ranks: int
    message_bytes: int
    """As of the operation's `Task`."""
    nodes: int = 0
    """On so many nodes; 0 where that is not known."""

    @property
    def operation(self) -> str:
        """The operation that it does."""
        return OPERATIONS[self.function]

    @property
    def shares_nodes(self) -> bool:
        """Are any two of its ranks known to be on one node?"""
        return 0 < self.nodes < self.ranks

    @property
    def is_power_of_two(self) -> bool:
        """Is the number of ranks a power of two?"""
        return self.ranks & (self.ranks - 1) == 0


@dataclass(frozen=True)
class AlgorithmChoice:
    """The algorithm by which chiplog does a call."""

    algorithm: str
    """Its name among those of the operation."""
    native: str = ""
    """What the MPI calls the one that it takes; "" where no MPI is known."""
    is_nearest: bool = False
    """The MPI's own is another one, of which there is no schedule."""
    segment_bytes: int = 0
    """The message is sent in segments of that many bytes; 0: as a whole."""
    delay_ns: int = 0
    """How much later each rank begins, where the operation was measured to take longer."""
    message_bytes: int | None = None
    """The size that takes as long as was measured, where that is shorter; None: that of the call."""


Chooser = Callable[[CollectiveCall], AlgorithmChoice]
"""The rules of an MPI, or of a tuning file."""


def by_default(call: CollectiveCall) -> AlgorithmChoice:
    """The choice where the MPI is not known."""
    return AlgorithmChoice(DEFAULTS[call.operation])


def algorithm_of(operation: str, choice: AlgorithmChoice, task: Task) -> Algorithm:
    """The algorithm that is chosen; where it can't have so many ranks, the default or the first that can."""
    known = algorithms(operation)
    ways = (known[choice.algorithm], known[DEFAULTS[operation]], *known.values())
    return next(way for way in ways if way.accepts(task))
