"""All transports with the operations of each: those of the base probe, MPI's, and what this probe was built without."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chiplog.dataset.operations import INLINE, LIST, NORMAL, SEND
from chiplog.measurement.inquiry import TransportFacts, all_transports

CAPABILITIES: Mapping[str, str] = {
    SEND: "two_sided",
    "rdma-write": "remote_write",
    "rdma-write-immediate": "write_with_immediate",
    "rdma-read": "remote_read",
    "atomic": "atomics",
}
"""The capability that each operation needs."""
POSTING_CAPABILITIES: Mapping[str, str] = {INLINE: "inline_send", LIST: "list_posting"}
MPI = "mpi"
MPI_SUMMARY = (
    "an MPI of this machine: messages and, as mpi:rma, one-sided operations; its probe is built at first use, or by "
    "chiplog probe build --mpi mpicxx"
)
MPI_OPERATIONS = (SEND, "rdma-write", "rdma-read", "atomic")
"""The one-sided ones as mpi:rma."""


@dataclass(frozen=True)
class KnownTransport:
    """A transport, what it is, and what it can do; without operations where this probe was built without it."""

    name: str
    summary: str
    operations: tuple[str, ...]
    postings: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The summary with the operations and postings."""
        if not self.operations:
            return self.summary
        return f"{self.summary}; operations {', '.join(self.operations)}; posting {', '.join(self.postings)}"


def known_transports() -> tuple[KnownTransport, ...]:
    """Every transport that a target may name; RunFailed where the probe can't be asked."""
    built, not_built = all_transports()
    mpi = KnownTransport(MPI, MPI_SUMMARY, MPI_OPERATIONS, (NORMAL, LIST))
    missing = tuple(
        KnownTransport(absent.name, f"not built: needs {absent.needs}", (), ())
        for absent in not_built
    )
    return (*map(_known, built), mpi, *missing)


def _known(facts: TransportFacts) -> KnownTransport:
    able = facts.capabilities
    operations = tuple(name for name, needed in CAPABILITIES.items() if able.get(needed))
    postings = tuple(name for name, needed in POSTING_CAPABILITIES.items() if able.get(needed))
    return KnownTransport(facts.name, facts.summary, operations, (NORMAL, *postings))
