"""LogGOPSim's command line from a fit of LogGP(S): -L -o -g -G -O -S, all integers.

The unit of time is ns, ps or fs: the first in which G keeps 3 digits. Times in the schedule (`calc`) must be scaled by
as much. L, o and g are those of the first protocol, G that of the last one, which carries nearly all bytes of long
messages.
"""

from __future__ import annotations

from collections.abc import Sequence

from chiplog.errors import UsageError
from chiplog.export.loggops_values import largest_eager_bytes, loggops_values
from chiplog.export.protocol_lines import LOGGP_MODELS, fit_to_use
from chiplog.fit.result import Fit

UNITS = {"ns": 1e9, "ps": 1e12, "fs": 1e15}
"""Units a second."""
LEAST_G = 100
NO_LIMIT_BYTES = (1 << 31) - 1


def loggopsim_text(fits: Sequence[Fit]) -> str:
    """The options on one line, after comment lines that say the unit and where the values come from."""
    fit = fit_to_use(fits, LOGGP_MODELS, "loggopsim")
    first, last = fit.segments[0], fit.segments[-1]
    per_byte = loggops_values(last).G
    unit = next((name for name, scale in UNITS.items() if per_byte * scale >= LEAST_G), "fs")
    if per_byte * UNITS[unit] < LEAST_G:
        raise UsageError(
            "loggopsim needs a G of at least 0.1 ps/B: the fit's is smaller or not identified."
        )
    options = _options(fit, UNITS[unit])
    comments = [
        f"# {fit.model} by {fit.method} over {fit.transport}, written by chiplog for LogGOPSim 1.1",
        f"# scale: 1 unit of time = 1 {unit}; write computation in the schedule in {unit}, too",
        f"# L, o, g hold from {first.first_bytes} B, G up to {last.last_bytes} B; write no message of 0 B",
    ]
    return "\n".join(
        [*comments, " ".join(f"-{name} {number}" for name, number in options.items()), ""]
    )


def _options(fit: Fit, scale: float) -> dict[str, int]:
    first, last = loggops_values(fit.segments[0]), loggops_values(fit.segments[-1])
    return {
        "L": round(first.L * scale),
        "o": round(first.o * scale),
        "g": round(first.g * scale),
        "G": round(last.G * scale),
        "O": 0,
        "S": largest_eager_bytes(fit) or NO_LIMIT_BYTES,
    }
