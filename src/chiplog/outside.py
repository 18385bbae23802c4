"""Text from outside, of files, options and variables, as numbers and times: the only place that converts it.

Everything here is total: whatever the text, the result is a value within its bounds or None, or the caller's error.
"""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any

from chiplog.errors import ChiplogError, UsageError

LONGEST_NUMBER = 400
"""Given: characters of a number: more are no number that anybody wrote."""
LARGEST_INTEGER = 2**63 - 1
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
"""Given: times count from there."""


def as_float(text: str) -> float | None:
    """A finite number in plain ASCII; None for anything else.

    >>> as_float("1e-6"), as_float("1e999"), as_float("nan"), as_float("1_0"), as_float("9" * 5000)
    (1e-06, None, None, None, None)
    """
    value = as_number(text)
    return value if value is not None and math.isfinite(value) else None


def as_number(text: str) -> float | None:
    """A number in plain ASCII, which may be nan or infinite, as tables print it; None for anything else."""
    if len(text) > LONGEST_NUMBER or not text.isascii() or "_" in text:
        return None
    try:
        return float(text)
    except ValueError:
        return None


def as_integer(
    text: str, minimum: int = -LARGEST_INTEGER, maximum: int = LARGEST_INTEGER
) -> int | None:
    """A whole number in ASCII digits, perhaps with a sign, from `minimum` to `maximum`; None for anything else.

    >>> as_integer("12"), as_integer("-3"), as_integer("\u0663"), as_integer("9" * 5000), as_integer("7", 8)
    (12, -3, None, None, None)
    """
    digits = text[1:] if text[:1] in ("+", "-") else text
    if len(text) > LONGEST_NUMBER or not (digits.isascii() and digits.isdigit()):
        return None
    value = int(text)
    return value if minimum <= value <= maximum else None


def as_json(text: str | bytes) -> Any:
    """What a JSON text holds; None for a text that is none, and for one that is nested endlessly."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def parse_time(text: str, what: str, error: type[ChiplogError] = UsageError) -> datetime:
    """A time from 1970 on, in UTC, as in 2026-11-23T13:37:19Z; `error`, naming `what`, for anything else.

    A time without a zone is none: nobody knows when it was.
    """
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is not None and time.astimezone(UTC) >= EARLIEST:
            return time.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise error(
        f"{what}: '{text[:40]}' is not understood; it accepts a time with a zone from 1970 on, such as "
        "2026-11-23T13:37:19Z."
    )
