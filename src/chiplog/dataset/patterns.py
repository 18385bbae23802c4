"""The names of patterns in files and on the command line."""

from __future__ import annotations

from collections.abc import Mapping

PATTERNS: Mapping[str, str | None] = {
    "prtt": "the LogGP assessment: PRTT(1,0,s), PRTT(n,0,s), PRTT(n,d,s), PRTT(3,d,s), o_r, one send and, "
    "where sends can wait for their receive, a late receiver, taken in turn",
    "ping_pong": "round trips, bare and with a delay before the receive (Culler's o_r)",
    "send_overhead": "the time that posting sends takes on the sender",
    "receive_overhead": "the time that receiving takes once the message is there",
    "flood": "sends back to back until an acknowledgement of them all: the gap",
    "one_to_many": "1:n n:1: one message to each of p = 1..P-1 peers, who answer at once, and the time to post them",
    "pairs": "k = 1..P/2 pairs of processes at once, each with its ping-pongs and trains; the slowest counts",
    "barrier": "n-way dissemination barriers of all P ranks, n = 1..P-1, message by message without an MPI",
    "late_receiver": "one send to a receiver that is late: does it wait (rendezvous) or return (eager)?",
    "all_pairs": "every two ranks once, in rounds of disjoint pairs, whose slowest counts; see `chiplog survey`",
    "exchange": "k = 1..P/2 pairs of ranks that both send at once, beside messages alone: how full the duplex is",
    "fixed_work": None,
    "memory_copy": None,
    "other_programs": None,
    "noise": None,
}
"""The patterns that this release knows, and what those measure that `chiplog measure` can take.

They stand in the order in which their series are taken. A run file may hold others.
"""
