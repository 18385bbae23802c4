"""Numbers in sentences."""

from __future__ import annotations

# Derived: prefixes of the SI.
RATES = ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s"))
# Derived: prefixes of the SI.
SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"), (1e-12, "ps"))


def seconds_text(seconds: float) -> str:
    """A duration with three digits and the unit that suits it.

    >>> seconds_text(3.46e-6)
    '3.46 us'
    """
    if seconds == 0:
        return "0 s"
    scale, unit = next((pair for pair in SCALES if abs(seconds) >= pair[0]), SCALES[-1])
    return f"{seconds / scale:.3g} {unit}"


def rate_text(bytes_per_second: float) -> str:
    """A rate with three digits; 1 GB = 1e9 B.

    >>> rate_text(6.98e9)
    '6.98 GB/s'
    """
    scale, unit = next((pair for pair in RATES if bytes_per_second >= pair[0]), RATES[-1])
    return f"{bytes_per_second / scale:.3g} {unit}"


def sizes_text(first_bytes: int, last_bytes: int) -> str:
    """A range of sizes: "4 to 1024 B".

    >>> sizes_text(8, 8)
    '8 B'
    """
    return f"{first_bytes} B" if first_bytes == last_bytes else f"{first_bytes} to {last_bytes} B"
