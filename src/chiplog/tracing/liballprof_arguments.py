"""The arguments of a call in liballprof's text, by their names in MPI's C functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from chiplog.errors import CorruptFile
from chiplog.outside import as_integer
from chiplog.tracing.builder import LARGEST_BYTES

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
