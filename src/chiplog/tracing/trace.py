"""The one model of a trace, whoever recorded it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

SENDS = ("Send", "Bsend", "Ssend", "Rsend")
ISENDS = ("Isend", "Ibsend", "Issend", "Irsend")
RECEIVES = ("Recv", "Mrecv")
IRECEIVES = ("Irecv", "Imrecv")
SENDRECVS = ("Sendrecv", "Sendrecv_replace")
SENDRECV_RECEIVE = "Sendrecv (receive)"
"""The receiving half of the Sendrecv in the row before, with its peer, tag and bytes; no call of its own."""
STARTALL_START = "Startall (start)"
"""One request that the Startall in a row before starts, with its peer, tag and bytes; no call of its own."""
ISENDRECVS = ("Isendrecv", "Isendrecv_replace")
PERSISTENT = (
    *("Send_init", "Bsend_init", "Ssend_init", "Rsend_init", "Recv_init"),
    *("Psend_init", "Precv_init", "Start", "Startall", STARTALL_START),
)
STARTS = ("Start", STARTALL_START)
"""Rows that start what a persistent request says: they have its peer, tag and bytes."""
PARTS = (SENDRECV_RECEIVE, STARTALL_START)
"""Rows that are no calls themselves."""
PARTITIONS = ("Pready", "Pready_range", "Pready_list", "Parrived")
COMPLETIONS = (
    *("Wait", "Waitall", "Waitany", "Waitsome", "Test", "Testall", "Testany", "Testsome"),
    *("Request_free", "Cancel", "Request_get_status"),
)
PROBES = ("Probe", "Iprobe", "Mprobe", "Improbe")
COLLECTIVES = (
    *("Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv"),
    *("Alltoall", "Alltoallv", "Alltoallw", "Reduce", "Allreduce", "Reduce_scatter"),
    *("Reduce_scatter_block", "Scan", "Exscan", "Neighbor_allgather", "Neighbor_allgatherv"),
    *("Neighbor_alltoall", "Neighbor_alltoallv", "Neighbor_alltoallw"),
)
ICOLLECTIVES = tuple(f"I{name.lower()}" for name in COLLECTIVES)
PERSISTENT_COLLECTIVES = tuple(f"{name}_init" for name in COLLECTIVES)
COMMUNICATOR_CALLS = (
    *("Comm_dup", "Comm_dup_with_info", "Comm_split", "Comm_split_type", "Comm_create"),
    *("Comm_create_group", "Comm_free", "Cart_create", "Cart_sub", "Graph_create"),
    *("Dist_graph_create", "Dist_graph_create_adjacent", "Intercomm_create", "Intercomm_merge"),
    *("Comm_idup", "Comm_disconnect", "Comm_create_from_group", "Intercomm_create_from_groups"),
)
ONE_SIDED = (
    *("Win_create", "Win_allocate", "Win_allocate_shared", "Win_create_dynamic", "Win_sync"),
    *("Win_free", "Win_fence", "Win_lock", "Win_lock_all"),
    *("Win_unlock", "Win_unlock_all", "Win_flush", "Win_flush_all", "Win_flush_local"),
    *("Win_flush_local_all", "Win_post", "Win_start", "Win_complete", "Win_wait", "Win_test"),
    *("Put", "Get", "Accumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap"),
    *("Rput", "Rget", "Raccumulate", "Rget_accumulate"),
)
LOCAL = (
    *("Comm_rank", "Comm_size", "Comm_group", "Comm_compare", "Comm_get_attr", "Comm_set_attr"),
    *("Comm_get_name", "Comm_set_name", "Comm_set_errhandler", "Wtime", "Wtick", "Initialized"),
    *("Finalized", "Query_thread", "Get_processor_name", "Get_version", "Get_count"),
    *("Get_elements", "Type_contiguous", "Type_vector", "Type_indexed", "Type_create_struct"),
    *("Type_create_hvector", "Type_create_hindexed", "Type_create_subarray", "Type_create_resized"),
    *("Type_commit", "Type_free", "Type_size", "Type_get_extent", "Op_create", "Op_free"),
    *("Pack", "Unpack", "Pack_size", "Group_incl", "Group_excl", "Group_free", "Group_rank"),
    *("Group_size", "Group_translate_ranks", "Cart_coords", "Cart_rank", "Cart_shift", "Cart_get"),
    *("Dims_create", "Buffer_attach", "Buffer_detach", "Info_create", "Info_set", "Info_free"),
    *("Alloc_mem", "Free_mem", "Get_address", "Error_class", "Error_string"),
)
ENDS = ("Finalize", "Session_finalize")
"""The last of them that a rank calls ends MPI."""
WITHOUT_COMMUNICATION = ("Init", "Init_thread", "Session_init", *ENDS)
"""They start and end MPI: their time counts for neither the program nor its communication."""
STARTS_AND_ENDS = (*WITHOUT_COMMUNICATION, "Abort", "Pcontrol")
OTHER = "other"
"""Any function that is not listed here."""

KINDS = (
    *(OTHER, *SENDS, *ISENDS, *RECEIVES, *IRECEIVES, *SENDRECVS, SENDRECV_RECEIVE, *PERSISTENT),
    *(*COMPLETIONS, *PROBES, *COLLECTIVES, *ICOLLECTIVES, *COMMUNICATOR_CALLS, *ONE_SIDED),
    *(*STARTS_AND_ENDS, *LOCAL, *ISENDRECVS, *PARTITIONS, *PERSISTENT_COLLECTIVES),
)
"""The kinds of calls: MPI's names without the prefix; a row of a trace holds the index."""
KIND_OF = {name: index for index, name in enumerate(KINDS)}

NOBODY, ANYBODY = -1, -2
"""Given: in place of a peer: none, or not known; and a wildcard that nobody resolved."""
ANY_TAG = NO_COMMUNICATOR = -1
"""Given: in place of a tag that may be any, and in place of a collective call's communicator that the trace does not
name."""

CALL = np.dtype(
    [
        ("kind", "u2"),  # index into KINDS
        ("begin_ns", "i8"),  # since the trace's beginning, by a clock that all ranks share
        ("end_ns", "i8"),
        ("peer", "i4"),  # world rank of the destination, the matched source or the root
        ("tag", "i4"),
        ("sent_bytes", "i8"),  # by this rank in this call; a collective's as its arguments have it
        ("received_bytes", "i8"),
        ("communicator", "i4"),  # index into Trace.communicators
        (
            "first_request",
            "i4",
        ),  # the slice of RankTrace.requests that the call starts or completes
        ("requests", "i4"),
    ]
)
"""One call. Bytes of collectives: of Bcast, Reduce and Allreduce the message on each side; of Gather, Scatter,
Allgather and Alltoall what the rank gives, and gets, in all, its own block with it."""


def kinds(*names: str) -> NDArray[np.uint16]:
    """The indices of kinds, for `np.isin`."""
    return np.array([KIND_OF[name] for name in names], np.uint16)


def are_of_kinds(column: NDArray[np.uint16], *names: str) -> NDArray[np.bool_]:
    """Which of these kinds of calls are among `names`, shape as of `column`."""
    among = np.zeros(len(KINDS), bool)
    among[kinds(*names)] = True
    return among[column]


def full_name(kind: str) -> str:
    """The name of a kind's MPI function."""
    return kind if kind == OTHER else f"MPI_{kind}"


@dataclass(frozen=True)
class RankTrace:
    """The calls of a rank in the order in which it made them: type CALL, shape (calls,).

    `requests` are numbers, unique within the rank: an address that is used again is another number.
    `computed_flops`, shape (calls,), stands in a trace without times: what was computed before each call.
    """

    rank: int
    calls: NDArray[Any]
    requests: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    is_complete: bool = True
    """False where the program ended without MPI_Finalize, or the file was cut."""
    computed_flops: NDArray[np.float64] | None = None
    thread: NDArray[np.int64] | None = None
    """Which thread made each call, by the order of their first calls, shape (calls,); None where one made all."""

    @property
    def mpi_seconds(self) -> float:
        """Time within MPI."""
        return float((self.calls["end_ns"] - self.calls["begin_ns"]).sum()) / 1e9

    @property
    def start_and_end_seconds(self) -> float:
        """Time within MPI_Init and MPI_Finalize, which are no communication."""
        calls = self.calls[are_of_kinds(self.calls["kind"], *WITHOUT_COMMUNICATION)]
        return float((calls["end_ns"] - calls["begin_ns"]).sum()) / 1e9

    @property
    def seconds(self) -> float:
        """Time from the begin of the first call to the end of the last."""
        if not self.calls.size:
            return 0.0
        return float(self.calls["end_ns"].max() - self.calls["begin_ns"].min()) / 1e9

    @property
    def call_counts(self) -> dict[str, int]:
        """How often each MPI function was called, by its full name, the most frequent first."""
        counts = np.bincount(self.calls["kind"], minlength=len(KINDS)).tolist()
        named = {name: count for name, count in zip(KINDS, counts, strict=True) if count}
        return {
            full_name(name): count
            for name, count in sorted(named.items(), key=lambda item: -item[1])
            if name not in PARTS
        }

    @property
    def call_seconds(self) -> dict[str, float]:
        """Time in each MPI function, in the order of `call_counts`; parts of a call take none."""
        lasting = (self.calls["end_ns"] - self.calls["begin_ns"]) / 1e9
        seconds = np.bincount(self.calls["kind"], lasting, minlength=len(KINDS)).tolist()
        by_name = {full_name(name): each for name, each in zip(KINDS, seconds, strict=True)}
        return {name: by_name[name] for name in self.call_counts}


@dataclass(frozen=True)
class Trace:
    """What all ranks called. Rank r is `ranks[r]`."""

    ranks: tuple[RankTrace, ...]
    communicators: tuple[tuple[int, ...], ...]
    """The members of each as world ranks; the first is the world."""
    hosts: tuple[str, ...] = ()
    """The host of each rank, "" where it is not known; empty where none is."""
    source: str = ""
    """The program that recorded it, in words."""
    notes: tuple[str, ...] = ()
    """Sentences on what to know of it."""
    has_times: bool = True
    """False where only computation is known, in flops: then all times are 0."""
    unmodelled: tuple[str, ...] = ()
    """What no model of messages knows of it, in words: ranks or threads that take turns on processors, for example."""
    mpi: str = ""
    """What the MPI of the program calls itself; "" where that is not known."""
