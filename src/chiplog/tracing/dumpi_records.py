"""The records of DUMPI's binary traces: which functions there are, and the arguments of those that are read."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from chiplog.errors import CorruptFile


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FUNCTIONS = _words(
    "Send Recv Get_count Bsend Ssend Rsend Buffer_attach Buffer_detach Isend Ibsend Issend Irsend Irecv Wait Test "
    "Request_free Waitany Testany Waitall Testall Waitsome Testsome Iprobe Probe Cancel Test_cancelled Send_init "
    "Bsend_init Ssend_init Rsend_init Recv_init Start Startall Sendrecv Sendrecv_replace Type_contiguous "
    "Type_vector Type_hvector Type_indexed Type_hindexed Type_struct Address Type_extent Type_size Type_lb "
    "Type_ub Type_commit Type_free Get_elements Pack Unpack Pack_size Barrier Bcast Gather Gatherv Scatter "
    "Scatterv Allgather Allgatherv Alltoall Alltoallv Reduce Op_create Op_free Allreduce Reduce_scatter Scan "
    "Group_size Group_rank Group_translate_ranks Group_compare Comm_group Group_union Group_intersection "
    "Group_difference Group_incl Group_excl Group_range_incl Group_range_excl Group_free Comm_size Comm_rank "
    "Comm_compare Comm_dup Comm_create Comm_split Comm_free Comm_test_inter Comm_remote_size Comm_remote_group "
    "Intercomm_create Intercomm_merge Keyval_create Keyval_free Attr_put Attr_get Attr_delete Topo_test "
    "Cart_create Dims_create Graph_create Graphdims_get Graph_get Cartdim_get Cart_get Cart_rank Cart_coords "
    "Graph_neighbors_count Graph_neighbors Cart_shift Cart_sub Cart_map Graph_map Get_processor_name Get_version "
    "Errhandler_create Errhandler_set Errhandler_get Errhandler_free Error_string Error_class Wtime Wtick Init "
    "Finalize"
)
"""By the number of a record; higher ones are not read."""
END = 293
"""Given: in place of a record's number: the end."""

_SEND = "count:i type:h dest:i tag:i comm:h"
_RECEIVE = "count:i type:h source:i tag:i comm:h"
_REDUCTION = "count:i type:h _:b comm:h"
_TO_ALL = "count:i type:h count2:i type2:h comm:h"
FORMS = {
    **dict.fromkeys(("Send", "Bsend", "Ssend", "Rsend"), _SEND),
    **dict.fromkeys(("Isend", "Ibsend", "Issend", "Irsend"), f"{_SEND} request:i"),
    "Recv": f"{_RECEIVE} :S",
    "Irecv": f"{_RECEIVE} request:i",
    "Wait": "request:i :S",
    "Waitall": "_:i requests:A :S",
    "Waitsome": "_:i requests:A _:i indices:A :S",
    "Sendrecv": "count:i type:h dest:i tag:i count2:i type2:h source:i tag2:i comm:h :S",
    "Sendrecv_replace": "count:i type:h dest:i tag:i source:i tag2:i comm:h :S",
    "Get_count": ":S _:h _:i",
    "Barrier": "comm:h",
    "Bcast": "count:i type:h root:i comm:h",
    "Gather": "rank:i count:i type:h root:i comm:h count2:i? type2:h?",
    "Gatherv": "rank:i _:i count:i type:h root:i comm:h count2:A? _:A? type2:h",
    "Scatter": "rank:i count2:i type2:h root:i comm:h count:i? type:h?",
    "Scatterv": "rank:i _:i type:h count2:i type2:h root:i comm:h count:A? _:A?",
    "Allgather": _TO_ALL,
    "Allgatherv": "_:i count:i type:h count2:A _:A type2:h comm:h",
    "Alltoall": _TO_ALL,
    "Alltoallv": "_:i count:A _:A type:h count2:A _:A type2:h comm:h",
    "Reduce": "count:i type:h _:b root:i comm:h",
    "Allreduce": _REDUCTION,
    "Scan": _REDUCTION,
    "Reduce_scatter": "_:i count:A type:h _:b comm:h",
    "Comm_size": "comm:h _:i",
    "Comm_rank": "comm:h _:i",
    "Comm_dup": "oldcomm:h newcomm:h",
    "Comm_split": "oldcomm:h color:i key:i newcomm:h",
    "Comm_free": "_:h",
    "Op_create": "_:i _:b",
    "Op_free": "_:b",
    "Type_commit": "_:h",
    "Type_free": "_:h",
    "Init": ":X",
    "Finalize": "",
    "Wtime": "",
    "Wtick": "",
}
"""Arguments by name and kind: i and h integers of 4 and 2 bytes, b a byte, A several of 4 bytes (their sum counts), S
statuses, X texts; with ? at the root only."""
SCALARS = {"i": struct.Struct(">i"), "h": struct.Struct(">h"), "b": struct.Struct(">B")}
TIMES = struct.Struct(">HIHI")
CPU_TIMES, WALL_TIMES, COUNTERS, THREAD = 1 << 2, 1 << 3, 1 << 4, 1 << 6
STATUSES, STATUS_BYTES = 1, 14
"""Given: the bit of statuses, and the bytes of each."""
HOST_AT, FIRST_RECORD_AT = 11, 8
"""Given: bytes before the host in a header, and before `FIRST_RECORD` in a file."""
FIRST_RECORD = struct.Struct(">ii")
"""What the seconds of CPU times and of wall times are counted from, before the first record."""


@dataclass(frozen=True)
class Record:
    """A call as it stands in the file."""

    kind: str
    begin_ns: int
    end_ns: int
    numbers: dict[str, int]
    arrays: dict[str, tuple[int, ...]] = field(default_factory=dict)
    sources: tuple[int, ...] = ()
    """Of its statuses, the ranks that sent."""

    def number(self, name: str) -> int:
        """An argument; 0 where it is not there."""
        return self.numbers.get(name, 0)


class DumpiStream:
    """Reads a file; CorruptFile names the byte where it can't be understood."""

    def __init__(self, content: bytes, name: str) -> None:
        self._content, self._name, self._at = content, name, 0
        self._wall_seconds = 0

    def wrong(self, what: str) -> CorruptFile:
        """The error that names file and place."""
        return CorruptFile(f"{self._name}, byte {self._at}: {what}.")

    def _take(self, form: struct.Struct) -> tuple[int, ...]:
        try:
            values = form.unpack_from(self._content, self._at)
        except struct.error:
            raise self.wrong("the file ends in the midst of a record") from None
        self._at += form.size
        return values

    def _array(self) -> tuple[int, ...]:
        (length,) = self._take(SCALARS["i"])
        room = (len(self._content) - self._at) // SCALARS["i"].size
        if not 0 <= length <= room:
            raise self.wrong(f"{length} values follow, which the file has no room for")
        return self._take(struct.Struct(f">{length}i"))

    def integers_at(self, place: int) -> tuple[int, ...]:
        """The integers that begin at a byte."""
        self._at = place
        return self._array()

    def host_at(self, place: int) -> str:
        """The host of the header that begins at a byte."""
        self._at = place + HOST_AT
        return self._text(SCALARS["h"])

    def _text(self, length_form: struct.Struct) -> str:
        (length,) = self._take(length_form)
        if not 0 <= length <= len(self._content) - self._at:
            raise self.wrong(f"a text of {length} B follows, which the file has no room for")
        self._at += length
        return self._content[self._at - length : self._at].decode("ascii", "replace")

    def records(self, body: int) -> list[Record]:
        """All records from a byte on."""
        self._at = FIRST_RECORD_AT
        _, self._wall_seconds = self._take(FIRST_RECORD)
        self._at = max(FIRST_RECORD_AT + FIRST_RECORD.size, body)
        found = []
        while (number := self._take(SCALARS["h"])[0]) != END:
            if not 0 <= number < len(FUNCTIONS):
                raise self.wrong(f"{number} is no function that chiplog knows")
            found.append(self._record(FUNCTIONS[number]))
        return found

    def _record(self, kind: str) -> Record:
        if kind not in FORMS:
            raise self.wrong(f"the arguments of MPI_{kind} are not read in DUMPI's traces")
        (mask,) = self._take(SCALARS["b"])
        if mask & THREAD:
            self._take(SCALARS["h"])
        if mask & CPU_TIMES:
            self._take(TIMES)
        if not mask & WALL_TIMES:
            raise self.wrong(f"MPI_{kind} has no wall time")
        begin, begin_ns, end, end_ns = self._take(TIMES)
        if mask & COUNTERS:
            raise self.wrong("performance counters are not read")
        times = [
            (self._wall_seconds + seconds) * 1_000_000_000 + ns
            for seconds, ns in ((begin, begin_ns), (end, end_ns))
        ]
        if times[1] < times[0]:
            raise self.wrong(f"MPI_{kind} ends before it begins")
        return self._arguments(Record(kind, times[0], times[1], {}), mask)

    def _arguments(self, record: Record, mask: int) -> Record:
        sources: tuple[int, ...] = ()
        for word in FORMS[record.kind].split():
            name, _, form = word.partition(":")
            if form.endswith("?") and record.numbers["rank"] != record.numbers["root"]:
                continue
            kind = form.rstrip("?")
            if kind in SCALARS:
                record.numbers[name] = self._take(SCALARS[kind])[0]
            elif kind == "A":
                record.arrays[name] = self._array()
                record.numbers[name] = sum(record.arrays[name])
            elif kind == "X":
                for _ in range(self._take(SCALARS["i"])[0]):
                    self._text(SCALARS["i"])
            elif mask & STATUSES:
                sources = self._statuses()
        return Record(
            record.kind, record.begin_ns, record.end_ns, record.numbers, record.arrays, sources
        )

    def _statuses(self) -> tuple[int, ...]:
        (count,) = self._take(SCALARS["i"])
        if not 0 <= count <= (len(self._content) - self._at) // STATUS_BYTES:
            raise self.wrong(f"{count} statuses follow, which the file has no room for")
        return tuple(self._take(struct.Struct(">iibbi"))[1] for _ in range(count))
