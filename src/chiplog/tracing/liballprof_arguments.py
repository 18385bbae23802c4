"""A line of liballprof: the arguments of a call by their names in MPI, and what their numbers stand for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from chiplog.errors import CorruptFile, UsageError
from chiplog.outside import as_integer
from chiplog.tracing.builder import LARGEST_BYTES, ImportedCall
from chiplog.tracing.trace import IRECEIVES, ISENDS, RECEIVES, SENDRECV_RECEIVE, SENDRECVS, SENDS

_SEND = "_ count type dest tag comm"
_RECEIVE = "_ count type source tag comm"
_REDUCTION = "_ _ count type _ comm"
_ROOTED = "_ count type _ count2 type2 root comm"
_TO_ALL = "_ count type _ count2 type2 comm"
_COLLECTIVES = {
    "Barrier": "comm",
    "Bcast": "_ count type root comm",
    "Reduce": "_ _ count type _ root comm",
    "Allreduce": _REDUCTION,
    "Scan": _REDUCTION,
    "Exscan": _REDUCTION,
    "Reduce_scatter": "_ _ counts type _ comm",
    "Reduce_scatter_block": _REDUCTION,
    "Gather": _ROOTED,
    "Gatherv": "_ count type _ counts2 _ type2 root comm",
    "Scatter": _ROOTED,
    "Scatterv": "_ counts _ type _ count2 type2 root comm",
    "Allgather": _TO_ALL,
    "Allgatherv": "_ count type _ counts2 _ type2 comm",
    "Alltoall": _TO_ALL,
    "Alltoallv": "_ counts _ type _ counts2 _ type2 comm",
}
SIGNATURES = {
    **dict.fromkeys(("Send", "Bsend", "Ssend", "Rsend"), _SEND),
    **dict.fromkeys(("Isend", "Ibsend", "Issend", "Irsend"), f"{_SEND} request"),
    "Recv": f"{_RECEIVE} _",
    "Irecv": f"{_RECEIVE} request",
    "Sendrecv": "_ count type dest tag _ count2 type2 source tag2 comm _",
    "Sendrecv_replace": "_ count type dest tag source tag2 comm _",
    "Wait": "request _",
    "Waitall": "count request _",
    "Comm_dup": "comm _",
    "Comm_split": "comm color _ _",
    "Comm_rank": "comm _",
    "Comm_size": "comm _",
    **_COLLECTIVES,
    **{f"I{kind.lower()}": f"{signature} request" for kind, signature in _COLLECTIVES.items()},
}
"""Names of the arguments of each function that is looked into; those called _ don't matter."""
TIMES_RANKS_SENT = ("Scatter", "Alltoall", "Reduce_scatter_block")
TIMES_RANKS_RECEIVED = ("Gather", "Allgather", "Alltoall")
TRIPLE = re.compile(r"(-?\d{1,19}),(-?\d{1,19}),(-?\d{1,19})")
COUNT = re.compile(r"-?\d{1,19}")
LARGEST_RANK = (1 << 31) - 1
"""Given: an int of MPI."""


@dataclass(frozen=True)
class Arguments:
    """Numbers by their names; `rank` and `ranks` are those of the communicator."""

    numbers: dict[str, int] = field(default_factory=dict)
    communicator: tuple[int, int, int] | None = None
    """Its id, the rank in it, and its size."""

    def bytes(self, which: str = "") -> int:
        """Bytes of the first ("") or the second ("2") buffer; 0 where the trace has no counts."""
        return self.numbers.get(f"count{which}", 0) * self.numbers.get(f"type{which}", 0)

    def collective_bytes(self, kind: str) -> tuple[int, int]:
        """What this rank gives and gets in a collective, as CALL has it."""
        name = kind if kind in _COLLECTIVES else kind[1:].capitalize()
        if "type" not in self.numbers or self.communicator is None:
            return 0, 0
        _, rank, size = self.communicator
        root = self.numbers.get("root")
        sent = self.bytes() * (size if name in TIMES_RANKS_SENT else 1)
        received = self.bytes("2") if "type2" in self.numbers else self.bytes()
        received *= size if name in TIMES_RANKS_RECEIVED else 1
        if root is not None and name != "Bcast":
            if rank != root and name in ("Scatter", "Scatterv"):
                sent = 0
            elif rank != root and name in ("Gather", "Gatherv", "Reduce"):
                received = 0
        if name == "Bcast":
            sent, received = (sent, 0) if rank == root else (0, received)
        return sent, received


def arguments_of(kind: str, texts: Sequence[str], where: str) -> Arguments:
    """The arguments of a call; CorruptFile where there are too few or too many, or one is no number."""
    names = SIGNATURES.get(kind, "").split()
    if not names:
        return Arguments()
    if len(texts) != len(names):
        raise CorruptFile(
            f"{where}: MPI_{kind} has {len(texts)} arguments, but it takes {len(names)}."
        )
    numbers: dict[str, int] = {}
    communicator = None
    for name, text in zip(names, texts, strict=True):
        if name == "comm":
            communicator = _communicator(text, where)
            numbers[name] = communicator[0]
        elif name != "_":
            numbers[name.replace("counts", "count")] = _number(name, text, where)
    if any(value < 0 for name, value in numbers.items() if name.startswith(("count", "type"))):
        raise CorruptFile(f"{where}: MPI_{kind} has a negative count or size.")
    found = Arguments(numbers, communicator)
    ranks = communicator[2] if communicator else 1
    if max(found.bytes(), found.bytes("2")) * ranks > LARGEST_BYTES:
        raise CorruptFile(f"{where}: MPI_{kind} moves more than 2^50 B.")
    return found


def _communicator(text: str, where: str) -> tuple[int, int, int]:
    match = TRIPLE.fullmatch(text)
    number, rank, size = map(int, match.groups()) if match else (-1, -1, -1)
    if not (0 <= number <= LARGEST_RANK and 0 <= rank < size <= LARGEST_RANK):
        raise CorruptFile(f"{where}: '{text[:40]}' is no communicator: id,rank,size.")
    return number, rank, size


def _number(name: str, text: str, where: str) -> int:
    """The number of an argument: of a datatype its size, of several counts their sum, 0 where it is their address."""
    if name.startswith("type"):
        match = TRIPLE.fullmatch(text)
        if match is None:
            raise CorruptFile(f"{where}: '{text[:40]}' is no datatype: id,size,extent.")
        return int(match[2])
    if name.startswith("counts"):
        counts = COUNT.findall(text)
        return sum(map(int, counts)) if len(counts) > 1 or "[" in text else 0
    value = as_integer(text)
    if value is None or (name not in ("count", "count2", "request") and abs(value) > LARGEST_RANK):
        raise CorruptFile(f"{where}: the {name} '{text[:40]}' is no number in range.")
    return value


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

    rows: tuple[ImportedCall, ...]
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


def _of(ranks: Sequence[AllprofRank], kinds: Sequence[str]) -> Iterator[ImportedCall]:
    return (row for rank in ranks for call in rank.calls for row in call.rows if row.kind in kinds)
