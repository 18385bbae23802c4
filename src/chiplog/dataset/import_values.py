"""Numbers in other tools' files, bounded: what is none of them is named by file, line and field."""

from __future__ import annotations

import math

from chiplog.dataset.lines import Where
from chiplog.outside import as_integer, as_number

NANOSECOND, MICROSECOND, MILLISECOND = 1e-9, 1e-6, 1e-3
"""Given: seconds."""
MEGABYTE, MEBIBYTE = 1e6, float(1 << 20)
"""Given: bytes."""
BYTE_BITS = 8
"""Given: bits."""
PRINTED_STEP = 0.01
"""Given: the last digit of a number with two digits behind the point."""
MICROSECOND_STEP = PRINTED_STEP * MICROSECOND
"""The step in which most tools print times, in seconds."""
AGREEMENT = 0.01
"""Given: share by which two columns of one row may contradict each other, beside their rounding."""
LONGEST_SECONDS = 1e6
"""Given: no single time may be longer: it would not fit the storage in picoseconds, and is surely in another unit."""
SHORTEST_SECONDS = 1e-12
"""Given: no single time may be shorter, but 0: a run file keeps picoseconds."""
ROUNDING = 1e-15
"""Derived: relative difference that a product and a quotient of float64 may make."""


def number(text: str, name: str, where: Where, *, factor: float = 1.0) -> float:
    """`text` as a finite number that is not negative, times `factor`."""
    value = as_number(text)
    if value is None:
        raise where.corrupt(name, f"{text[:40]!r} is not a number")
    if not math.isfinite(value):
        raise where.corrupt(name, f"{text[:40]!r} is not a finite number")
    if value < 0:
        raise where.corrupt(name, f"{text[:40]!r} is negative")
    return value * factor


def printed_step(text: str) -> float:
    """The value of the last digit of a number as it is printed.

    >>> printed_step("2.25"), printed_step("17")
    (0.01, 1.0)
    """
    return 10.0 ** -len(text.partition(".")[2])


def too_long(seconds: float) -> bool:
    """Whether a duration exceeds LONGEST_SECONDS by more than rounding."""
    return seconds > LONGEST_SECONDS * (1 + ROUNDING)


def time(text: str, name: str, where: Where, *, factor: float = 1.0) -> float:
    """`text` times `factor` as a duration in seconds, 0 or from SHORTEST_SECONDS to LONGEST_SECONDS."""
    seconds = number(text, name, where, factor=factor)
    if too_long(seconds):
        raise where.corrupt(name, f"{text[:40]!r} is more than {LONGEST_SECONDS:g} s")
    if seconds < SHORTEST_SECONDS * (1 - ROUNDING) and as_number(text) != 0:
        raise where.corrupt(name, f"{text[:40]!r} is less than {SHORTEST_SECONDS:g} s")
    return seconds


def whole(text: str, name: str, where: Where, *, minimum: int = 0, maximum: int = 1 << 48) -> int:
    """`text` as an integer from `minimum` to `maximum`."""
    value = as_integer(text.strip())
    if value is None or text.strip()[:1] in "+-":
        raise where.corrupt(name, f"{text[:40]!r} is not a whole number below 2^63")
    if not minimum <= value <= maximum:
        raise where.corrupt(name, f"must be from {minimum} to {maximum}, but is {value}")
    return value
