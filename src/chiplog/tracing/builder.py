"""Makes the trace of a rank, one call at a time."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from chiplog.tracing.trace import CALL, KIND_OF, NOBODY, OTHER, RankTrace

LARGEST_NS = 1 << 60
"""Given: longer times, of more than 36 years, are no true ones."""
LARGEST_BYTES = 1 << 50
"""Given: more bytes in a call are no true ones."""


@dataclass(frozen=True, slots=True)
class ImportedCall:
    """One call as an importer finds it; fields as of CALL.

    `starts` names the request that it starts, and `completes` those that it completes: by an address or a handle, which
    may be used again as soon as it is completed.
    """

    kind: str
    begin_ns: int = 0
    end_ns: int = 0
    peer: int = NOBODY
    tag: int = 0
    sent_bytes: int = 0
    received_bytes: int = 0
    communicator: int = 0
    starts: Hashable = None
    completes: tuple[Hashable, ...] = ()


Fields = tuple[int, int, int, int, int, int]
"""Kind, peer, tag, bytes sent and received, and communicator, as CALL has them."""


def fields_of(call: ImportedCall) -> Fields:
    """What a call has besides its times and its requests."""
    kind = KIND_OF.get(call.kind, KIND_OF[OTHER])
    moved = call.sent_bytes, call.received_bytes
    return kind, call.peer, call.tag, *moved, call.communicator


class RankBuilder:
    """Collects the calls of a rank, and numbers its requests."""

    def __init__(self, rank: int) -> None:
        self._rank = rank
        self._rows: list[tuple[int, ...]] = []
        self._requests: list[int] = []
        self._flops: list[float] = []
        self._open: dict[Hashable, int] = {}
        self._started = 0

    def open_requests(self) -> tuple[Hashable, ...]:
        """The requests that are started and not yet completed, in the order in which they were started."""
        return tuple(self._open)

    def add(self, call: ImportedCall, computed_flops: float = 0.0) -> None:
        """Adds a call; requests that were never started, such as MPI_REQUEST_NULL, are left out."""
        times = call.begin_ns, call.end_ns
        self.add_fields(fields_of(call), times, call.starts, call.completes)
        self._flops.append(computed_flops)

    def add_fields(
        self,
        fields: Fields,
        times_ns: tuple[int, int],
        starts: Hashable = None,
        completes: tuple[Hashable, ...] = (),
    ) -> None:
        """Adds a call whose fields many calls share."""
        first = len(self._requests)
        if starts is not None:
            self._open[starts] = self._started
            self._requests.append(self._started)
            self._started += 1
        for request in completes:
            if request in self._open:
                self._requests.append(self._open.pop(request))
        kind, *others = fields
        self._rows.append((kind, *times_ns, *others, first, len(self._requests) - first))

    def build(
        self, *, shift_ns: int = 0, is_complete: bool = True, has_times: bool = True
    ) -> RankTrace:
        """The trace of the rank, with all times later by `shift_ns`."""
        calls = np.array(self._rows, CALL) if self._rows else np.empty(0, CALL)
        calls["begin_ns"] += shift_ns
        calls["end_ns"] += shift_ns
        flops = None if has_times else np.array(self._flops)
        return RankTrace(self._rank, calls, np.array(self._requests, np.int64), is_complete, flops)
