"""The parameters of LogGOPS from a fit of LogGP(S).

L, o and g are those of the first protocol, G that of the last one, which carries nearly all bytes of long messages.
o is the mean of o_s and o_r, or the one that is known; L is L_half - 2o where it is not known otherwise. O is 0, since
LogGP's per-byte cost is all in G. A g that could not be identified lies below o, where it has no effect, and is 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from chiplog.export.protocol_lines import eager_limit_bytes, protocol_lines, value
from chiplog.fit.result import Fit


@dataclass(frozen=True)
class LogGOPSValues:
    """L, o, g in seconds, G in seconds per byte; a send of more than `S_bytes` waits, None where none does."""

    L: float
    o: float
    g: float
    G: float
    S_bytes: int | None


def loggops_values(fit: Fit) -> LogGOPSValues:
    """The values of one fit."""
    first, last = fit.segments[0], fit.segments[-1]
    known = [value(first, name) for name in ("o_s", "o_r") if value(first, name) > 0]
    overhead = sum(known) / len(known) if known else 0.0
    return LogGOPSValues(
        L=value(first, "L") or max(0.0, value(first, "L_half") - 2 * overhead),
        o=overhead,
        g=value(first, "g"),
        G=value(last, "G"),
        S_bytes=eager_limit_bytes(fit, protocol_lines(fit)),
    )
