"""The parameters of LogGOPS from a fit of LogGP(S), by protocol.

o is the mean of o_s and o_r, or the one that is known; L is L_half - 2o where it is not known otherwise, and o then at
most L_half/2: what is longer, as in a send that waits for its receive, overlaps with the message's way. O is 0, since
LogGP's per-byte cost is all in G. A g that could not be identified lies below o, where it has no effect, and is 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from chiplog.export.protocol_lines import eager_limit_bytes, protocol_lines, value
from chiplog.fit.result import Fit, Segment


@dataclass(frozen=True)
class LogGOPSValues:
    """L, o, g in seconds, G in seconds per byte, of messages of `first_bytes` and more."""

    first_bytes: int
    L: float
    o: float
    g: float
    G: float


def loggops_values(segment: Segment) -> LogGOPSValues:
    """The values of one protocol."""
    known = [value(segment, name) for name in ("o_s", "o_r") if value(segment, name) > 0]
    overhead = sum(known) / len(known) if known else 0.0
    latency = value(segment, "L")
    if latency <= 0:
        overhead = min(overhead, value(segment, "L_half") / 2)
        latency = value(segment, "L_half") - 2 * overhead
    return LogGOPSValues(
        first_bytes=segment.first_bytes,
        L=latency,
        o=overhead,
        g=value(segment, "g"),
        G=value(segment, "G"),
    )


def largest_eager_bytes(fit: Fit) -> int | None:
    """S: a send of more bytes waits for its receive; None where none does."""
    return eager_limit_bytes(fit, protocol_lines(fit))
