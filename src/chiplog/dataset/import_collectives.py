"""Times of collective operations, as several tools measure them, as series of a run.

The pattern is the operation's name (`allreduce`, `allgather`, ...), the direction "call", and the operation the
algorithm: `default` where the library chose. So nothing takes them for ping-pongs. `peers` is the number of ranks less
one. The message is the whole one of barrier, bcast, reduce, allreduce and reduce_scatter, the block of one rank of
gather, scatter and allgather, and the block for one peer of alltoall, as for `chiplog predict`.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.import_text import noted
from chiplog.dataset.importer import ImportedSeries

DEFAULT = "default"
"""The operation of what the library chose itself."""
COLLECTIVES = (
    "allgather",
    "allgatherv",
    "allreduce",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "barrier",
    "bcast",
    "exscan",
    "gather",
    "gatherv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "scatter",
    "scatterv",
)
"""The collective operations of MPI by the names that chiplog uses."""
IN_BLOCKS = frozenset(
    {"allgather", "allgatherv", "alltoall", "alltoallv", "gather", "gatherv", "scatter", "scatterv"}
)
"""Operations whose message is the block of one rank."""
_SPELLED = {
    "broadcast": "bcast",
    "reducescatter": "reduce_scatter",
    "reducescatterblock": "reduce_scatter_block",
}


def collective_name(text: str) -> str | None:
    """Returns chiplog's name of the collective operation in `text`; None where `text` names none.

    >>> [collective_name(one) for one in ("MPI_Allreduce", "All-to-All", "Reduce_scatter_block", "Latency")]
    ['allreduce', 'alltoall', 'reduce_scatter_block', None]
    """
    plain = re.sub(r"[^a-z]", "", text.lower().removeprefix("mpi_"))
    known = {collective.replace("_", ""): collective for collective in COLLECTIVES} | _SPELLED
    return known.get(plain)


def collective_series(
    collective: str,
    message_bytes: int,
    seconds: NDArray[np.float64],
    *,
    algorithm: str = DEFAULT,
    ranks: int | None = None,
) -> ImportedSeries:
    """The times of one operation of one size; `seconds` has shape (samples,)."""
    return ImportedSeries(
        pattern=collective,
        direction="call",
        operation=algorithm,
        message_bytes=message_bytes,
        seconds=seconds,
        messages_per_sample=1,
        peers=max((ranks or 1) - 1, 1),
    )


RANKS_UNKNOWN = noted(
    1,  # Given: this file.
    "files",
    "the file does not say of how many ranks the collective operations are",
    "name the number with --ranks",
)
"""The warning where nothing tells the number of ranks."""
