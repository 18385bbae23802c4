"""Which collective operation a table of nccl-tests is of, where the file does not name it.

Releases before 2.17 print no name. What the columns tell: an operation that reduces has a `redop`, one with a root has
a `root`, and the ratio of busbw to algbw is 2 (n - 1) / n of n ranks for allreduce, (n - 1) / n or 1 for the others.

Source: PERFORMANCE.md of nccl-tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from chiplog.outside import as_float

COLLECTIVES: Mapping[str, str] = {
    "all_reduce": "allreduce",
    "all_gather": "allgather",
    "reduce_scatter": "reduce_scatter",
    "broadcast": "bcast",
    "reduce": "reduce",
    "alltoall": "alltoall",
    "all_to_all": "alltoall",
    "gather": "gather",
    "scatter": "scatter",
    "sendrecv": "sendrecv",
    "hypercube": "hypercube",
}
"""chiplog's name of a collective by that of its test."""
_REDUCING = ("allreduce", "reduce_scatter", "reduce", "sendrecv")
_NOT_REDUCING = ("allgather", "bcast", "alltoall", "gather", "scatter", "sendrecv", "hypercube")
_ROOTED = ("bcast", "reduce", "gather", "scatter")
_SHARE = ("allgather", "reduce_scatter", "alltoall", "gather", "scatter", "hypercube")
"""Those whose busbw is algbw times (n - 1) / n."""
_NAME = re.compile(r"all_?reduce|all_?gather|reduce_?scatter|broadcast|all_?to_?all|sendrecv")
LEAST_RATE = 1.0
"""Rates have two digits behind the point: smaller ones, in GB/s, do not tell a ratio."""
SLACK = 0.03


def candidates(
    columns: Sequence[str], rows: Iterable[Sequence[str]], ranks: int
) -> tuple[str, ...]:
    """The collectives that a table can be of; `ranks` is 0 where the file does not say how many there are.

    >>> columns = "size count type redop root time algbw busbw #wrong".split()
    >>> candidates(columns, ["16777216 4194304 float sum -1 123.4 135.96 237.93 0".split()], 8)
    ('allreduce',)
    """
    table = [dict(zip(columns, row, strict=False)) for row in rows]
    possible = set(COLLECTIVES.values())
    for row in table:
        possible &= set(_NOT_REDUCING if row.get("redop", "") in ("", "none") else _REDUCING)
        has_root = row.get("root", "-1") not in ("", "-1")
        possible = {collective for collective in possible if (collective in _ROOTED) == has_root}
        possible &= _by_ratio(row.get("algbw", "0"), row.get("busbw", "0"), ranks)
    return tuple(fromkey for fromkey in dict.fromkeys(COLLECTIVES.values()) if fromkey in possible)


def _by_ratio(algorithm_rate: str, bus_rate: str, ranks: int) -> set[str]:
    everything = set(COLLECTIVES.values())
    rate, bus = as_float(algorithm_rate), as_float(bus_rate)
    if rate is None or bus is None or rate < LEAST_RATE:
        return everything
    ratio = bus / rate
    share = (ranks - 1) / ranks if ranks else None
    fits = {
        "allreduce": abs(ratio - 2 * share) < SLACK if share else 1 - SLACK < ratio < 2 + SLACK,
        **{
            collective: abs(ratio - share) < SLACK if share else ratio < 1 + SLACK
            for collective in _SHARE
        },
    }
    return {collective for collective in everything if fits.get(collective, abs(ratio - 1) < SLACK)}


def by_file_name(name: str) -> str | None:
    """The collective that the name of a file tells; None where it tells none or several.

    >>> by_file_name("all_gather_output.dat"), by_file_name("n2.log")
    ('allgather', None)
    """
    plain = {key.replace("_", ""): value for key, value in COLLECTIVES.items()}
    words = {plain[word.replace("_", "")] for word in _NAME.findall(name.lower())}
    return words.pop() if len(words) == 1 else None
