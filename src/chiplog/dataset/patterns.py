"""The names of patterns in files and on the command line."""

from __future__ import annotations

OVERLAP, OVERLAP_RECEIVE = "overlap", "overlap_receive"
"""A sender, and a receiver, that computes between post and wait."""
PATTERNS = (
    "prtt",
    "ping_pong",
    "send_overhead",
    "receive_overhead",
    "flood",
    "one_to_many",
    "pairs",
    "barrier",
    "late_receiver",
    "all_pairs",
    "exchange",
    OVERLAP,
    "incast",
)
"""The patterns that `chiplog measure` can take, each with a file of its name in `chiplog.plan.patterns`.

They stand in the order in which their series are taken. A run file may hold others.
"""
FILE_PATTERNS = (*PATTERNS, OVERLAP_RECEIVE, "fixed_work", "memory_copy", "other_programs", "noise")
"""The patterns that an imported file may name: also those that are only measured along with others."""
