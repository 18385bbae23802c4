"""LogGOPSim's command line from a fit of LogGP(S): -L -o -g -G -O -S, all integers.

The unit of time is ns, ps or fs: the first in which G keeps 3 digits. Times in the schedule (`calc`) must be scaled by
as much. L, o and g are those of the first protocol, G that of the last one, which carries nearly all bytes of long
messages; o is the mean of o_s and o_r, or the one that is known, and L is L_half - 2o where it is not known otherwise.
O is 0, since LogGP's per-byte cost is all in G. A g that could not be identified lies below o, where it has no effect,
and is written as 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from chiplog.errors import UsageError
from chiplog.export.protocol_lines import (
    LOGGP_MODELS,
    eager_limit_bytes,
    fit_to_use,
    protocol_lines,
    value,
)
from chiplog.fit.result import Fit, Segment

UNITS = {"ns": 1e9, "ps": 1e12, "fs": 1e15}
"""Units a second."""
LEAST_G = 100
NO_LIMIT_BYTES = (1 << 31) - 1


def loggopsim_text(fits: Sequence[Fit]) -> str:
    """The options on one line, after comment lines that say the unit and where the values come from."""
    fit = fit_to_use(fits, LOGGP_MODELS, "loggopsim")
    first, last = fit.segments[0], fit.segments[-1]
    per_byte = value(last, "G")
    unit = next((name for name, scale in UNITS.items() if per_byte * scale >= LEAST_G), "fs")
    if per_byte * UNITS[unit] < LEAST_G:
        raise UsageError(
            "loggopsim needs a G of at least 0.1 ps/B: the fit's is smaller or not identified."
        )
    limit = eager_limit_bytes(fit, protocol_lines(fit)) or NO_LIMIT_BYTES
    options = _options(first, per_byte, UNITS[unit], limit)
    comments = [
        f"# {fit.model} by {fit.method} over {fit.transport}, written by chiplog for LogGOPSim 1.1",
        f"# scale: 1 unit of time = 1 {unit}; write computation in the schedule in {unit}, too",
        f"# L, o, g hold from {first.first_bytes} B, G up to {last.last_bytes} B; write no message of 0 B",
    ]
    return "\n".join(
        [*comments, " ".join(f"-{name} {number}" for name, number in options.items()), ""]
    )


def _options(first: Segment, per_byte: float, scale: float, limit_bytes: int) -> dict[str, int]:
    known = [value(first, name) for name in ("o_s", "o_r") if value(first, name) > 0]
    overhead = sum(known) / len(known) if known else 0.0
    latency = value(first, "L") or max(0.0, value(first, "L_half") - 2 * overhead)
    return {
        "L": round(latency * scale),
        "o": round(overhead * scale),
        "g": round(value(first, "g") * scale),
        "G": round(per_byte * scale),
        "O": 0,
        "S": limit_bytes,
    }
