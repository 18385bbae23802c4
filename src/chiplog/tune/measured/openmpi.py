"""Open MPI's candidates: what coll/tuned says of itself through MPI_T, so that each release is asked what it has.

A communicator takes the forced algorithm that is set while it is made; so one launch holds
communicators of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from chiplog.tune.choice import Native
from chiplog.tune.formats.openmpi_han import HAN, TUNED, comes_first
from chiplog.tune.formats.openmpi_rules import ALGORITHMS, OWN_DECISION
from chiplog.tune.measured.candidate import Candidate, Field
from chiplog.tune.version import Version

SEGMENTS = (8192, 65536)
"""Given: segment sizes that are tried beside whole messages."""
SEGMENTED: Mapping[str, tuple[str, ...]] = {
    "bcast": ("chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial"),
    "reduce": ("chain", "pipeline", "binary", "binomial", "in-order_binary"),
    "allreduce": ("segmented_ring",),
}
"""Algorithms that cut a message into segments; Open MPI does not tell which do."""
CHAINS = ("chain",)
SWITCH = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}
"""Forced algorithms count with it only."""

Ask = Callable[[str, Mapping[str, str]], Sequence[Mapping[str, Any]]]


def field_of(operation: str, version: Version, ask: Ask, *, spans_hosts: bool = False) -> Field:
    """All algorithms of the operation that the release has; empty where it tells none.

    Forced algorithms race on communicators without han, which the default may be. Where it is, since several hosts have
    several ranks each (`spans_hosts`), what tuned takes by itself races, too.
    """
    is_behind_han = comes_first(operation, version)
    stem = f"coll_tuned_{operation}_algorithm"
    cvars = {str(cvar["name"]): cvar for cvar in ask(stem, SWITCH)}
    if stem not in cvars:
        return Field((), dict(SWITCH))
    names = {
        choice["name"]: int(choice["value"]) for choice in cvars[stem]["choices"] if choice["value"]
    }
    ours = {
        (algorithm.name, algorithm.segment_bytes): name
        for name, algorithm in ALGORITHMS.get(operation, {}).items()
    }
    fan_out = int(cvars.get(f"{stem}_chain_fanout", {"value": 0})["value"])
    takes_segments = f"{stem}_segmentsize" in cvars
    candidates = []
    for name, number in names.items():
        is_cut = takes_segments and name in SEGMENTED.get(operation, ())
        for segment in (0, *(SEGMENTS if is_cut else ())):
            of_segment = ((f"{stem}_segmentsize", segment),) if takes_segments else ()
            candidates.append(
                Candidate(
                    f"{name}/{segment // 1024}K" if segment else name,
                    ((stem, number), *of_segment),
                    Native(name, number, segment, fan_out if name in CHAINS else 0),
                    ours.get((name, segment)),
                    2 * segment,
                )
            )
    if is_behind_han and spans_hosts:
        decision = Native(TUNED, OWN_DECISION)
        candidates.append(Candidate(TUNED, ((stem, OWN_DECISION),), decision))
    options = ("--without", HAN) if is_behind_han else ()
    return Field(tuple(candidates), dict(SWITCH), options=options)
