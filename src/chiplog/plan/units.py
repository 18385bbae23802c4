"""Numbers with units as people type them: `64KiB`, `1.5us`, `30s`."""

from __future__ import annotations

import math
import re
from decimal import Decimal

from chiplog.errors import UsageError
from chiplog.outside import LARGEST_INTEGER, as_float

BYTE_UNITS = {
    "": 1,
    "B": 1,
    "kB": 1_000,
    "MB": 1_000_000,
    "GB": 1_000_000_000,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
}
"""Given: bytes."""
NANOSECONDS = {"": 1, "ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
"""Given: nanoseconds."""
_NUMBER = re.compile(r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<unit>[A-Za-zµ]*)")


def parse_bytes(text: str, option: str) -> int:
    """The whole number of bytes that `text` names, e.g. 65536 for `64KiB`.

    Raises UsageError, naming `option` and what it accepts, for anything else.

    >>> parse_bytes("64KiB", "--sizes")
    65536
    """
    match = _NUMBER.fullmatch(text.strip())
    if match is None or match["unit"] not in BYTE_UNITS:
        units = ", ".join(unit for unit in BYTE_UNITS if unit)
        raise UsageError(
            f"{option}: '{text[:40]}' is not a size; it accepts a number with one of {units}, e.g. 64KiB."
        )
    number = as_float(match["number"])
    size = math.inf if number is None else number * BYTE_UNITS[match["unit"]]
    if size > LARGEST_INTEGER or size != int(size):
        raise UsageError(f"{option}: '{text[:40]}' is not a whole number of bytes below 2^63.")
    return int(size)


def parse_nanoseconds(text: str, option: str) -> str:
    """The time that `text` names as a decimal number of nanoseconds, without any loss.

    Raises UsageError, naming `option` and what it accepts, for anything else.

    >>> parse_nanoseconds("1.5us", "--L"), parse_nanoseconds("0.0849", "--G")
    ('1500.0', '0.0849')
    """
    match = _NUMBER.fullmatch(text.strip())
    if match is None or match["unit"] not in NANOSECONDS or as_float(match["number"]) is None:
        raise UsageError(
            f"{option}: '{text[:40]}' is not a time; it accepts nanoseconds, or a number with one of ns, us, ms, s, "
            "e.g. 1.5us."
        )
    factor = NANOSECONDS[match["unit"]]
    return match["number"] if factor == 1 else str(Decimal(match["number"]) * factor)


def format_bytes(size: int) -> str:
    """The shortest exact name of a size: `64 KiB` for 65536, `12289 B` for 12289."""
    for unit in ("GiB", "MiB", "KiB"):
        if size and size % BYTE_UNITS[unit] == 0:
            return f"{size // BYTE_UNITS[unit]} {unit}"
    return f"{size} B"
