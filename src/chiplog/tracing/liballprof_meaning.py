"""What liballprof's numbers stand for: which ranks are in a communicator, and which number is MPI_ANY_SOURCE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from chiplog.errors import CorruptFile, UsageError
from chiplog.tracing.builder import Call
from chiplog.tracing.trace import IRECEIVES, ISENDS, RECEIVES, SENDRECV_RECEIVE, SENDRECVS, SENDS

WILDCARDS = (-1, -2)
"""Given: numbers that stand for MPI_ANY_SOURCE and MPI_PROC_NULL; which is which differs between MPIs."""
WORLD = 0
"""Given: the number of MPI_COMM_WORLD."""
SOURCE_KINDS = (*RECEIVES, *IRECEIVES, SENDRECV_RECEIVE)
DESTINATION_KINDS = (*SENDS, *ISENDS, *SENDRECVS)

Key = tuple[int, int | None]
"""A communicator: its id, and the colour with which it was split off."""


class AllprofCall(NamedTuple):
    """A line: the rows that lines with the same arguments share, and what is its own."""

    rows: tuple[Call, ...]
    times_ns: tuple[int, int]
    starts: int | None = None
    completes: tuple[int, ...] = ()


@dataclass
class AllprofRank:
    """What the file of a rank holds."""

    rank: int
    path: Path
    calls: list[AllprofCall] = field(default_factory=list)
    communicators: dict[int, tuple[int, int]] = field(default_factory=dict)
    """By their ids: the rank in it, and its size."""
    colours: list[int | None] = field(default_factory=list)
    """Of each communicator that was made: its colour, where it was split off."""
    clock_ns: int = 0
    """What is to be added to its clock for that of rank 0."""
    host: str = ""
    is_complete: bool = False

    def key(self, communicator: int) -> Key:
        """The communicator of that id; ids count those that were made."""
        made = communicator - 1
        return communicator, self.colours[made] if 0 <= made < len(self.colours) else None


def members(ranks: Sequence[AllprofRank], place: Path) -> dict[Key, tuple[int, ...]]:
    """The world ranks in each communicator; the world is the first. CorruptFile where the trace does not say them."""
    groups: dict[Key, dict[int, int]] = {(WORLD, None): dict(enumerate(range(len(ranks))))}
    sizes: dict[Key, int] = {(WORLD, None): len(ranks)}
    for rank in ranks:
        for number, (local, size) in rank.communicators.items():
            key = rank.key(number)
            if sizes.setdefault(key, size) != size:
                raise CorruptFile(
                    f"{rank.path}: communicator {number} has {size} ranks, but {sizes[key]} by other files: is a file "
                    "missing, or one too many?"
                )
            other = groups.setdefault(key, {}).setdefault(local, rank.rank)
            if other != rank.rank:
                raise CorruptFile(
                    f"{place}: ranks {other} and {rank.rank} are both rank {local} of communicator {number}, so the "
                    "trace does not tell who is in it."
                )
    for (number, _), size, group in zip(groups, sizes.values(), groups.values(), strict=True):
        if sorted(group) != list(range(size)):
            raise CorruptFile(
                f"{place}: communicator {number} has {size} ranks, but {len(group)} files know it: is a file missing?"
            )
    ordered = sorted(groups, key=lambda key: (key[0], key[1] or 0))
    return {key: tuple(groups[key][local] for local in range(sizes[key])) for key in ordered}


def any_source(ranks: Sequence[AllprofRank], place: Path) -> int | None:
    """The number of MPI_ANY_SOURCE as the trace tells it; None where no call has such a number.

    A destination is never a wildcard, so that a negative one is MPI_PROC_NULL. Else, messages that no receive names
    are for those from anywhere.
    """
    sources = Counter(call.peer for call in _of(ranks, SOURCE_KINDS))
    destinations = Counter(call.peer for call in _of(ranks, DESTINATION_KINDS))
    if not any(sources[number] for number in WILDCARDS):
        return None
    nulls = [number for number in WILDCARDS if destinations[number]]
    if len(nulls) == 1:
        return next(number for number in WILDCARDS if number not in nulls)
    unnamed = sum(destinations.values()) - sum(sources.values())
    unnamed += sum(sources[number] - destinations[number] for number in WILDCARDS)
    fitting = [number for number in WILDCARDS if sources[number] == unnamed]
    if len(fitting) == 1:
        return fitting[0]
    raise UsageError(
        f"{place}: the trace does not tell whether -1 or -2 is MPI_ANY_SOURCE; say --any-source -2 for MPICH, "
        "--any-source -1 for Open MPI."
    )


def _of(ranks: Sequence[AllprofRank], kinds: Sequence[str]) -> Iterator[Call]:
    return (row for rank in ranks for call in rank.calls for row in call.rows if row.kind in kinds)
