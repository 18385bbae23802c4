"""Numbers: how they are said, and what they may be, said before any work is done with them."""

from __future__ import annotations

from collections.abc import Sequence

from chiplog.errors import UsageError

MOST = 1_000_000
"""Given: most of whatever takes time or memory each: visits, launches, samples, records of a plan."""
MOST_RANKS = 4096
"""Given: most ranks that are started."""
MOST_SEED = 2**64 - 1
MOST_SECONDS = (2**63 - 1) // 10**9
"""Derived: of so many, 63 bits count the nanoseconds."""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """The number with its noun, of which the plural ends in s unless it is given.

    >>> counted(1, "more warning"), counted(1200, "launch", "launches")
    ('1 more warning', '1,200 launches')
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def listed(names: Sequence[str], most: int) -> str:
    """The first `most` of some names, and how many more there are.

    >>> listed(["n1", "n2", "n3", "n4"], 2)
    'n1, n2 and 2 more'
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def number_ranges(numbers: Sequence[int]) -> str:
    """Whole numbers as ranges, of many the first, and how many ranks there are.

    >>> number_ranges([0, 2, 1, 7])
    '0-2,7'
    """
    ordered, pieces = sorted(numbers), []
    start = ordered[0]
    for at, rank in enumerate(ordered):
        if at + 1 == len(ordered) or ordered[at + 1] != rank + 1:
            pieces.append(str(start) if start == rank else f"{start}-{rank}")
            start = ordered[min(at + 1, len(ordered) - 1)]
    text = ",".join(pieces)
    # Given: what a column has room for.
    return text if len(text) <= 18 else f"{ordered[0]} … ({len(ordered)} ranks)"


def within(option: str, value: int, least: int = 1, most: int = MOST) -> None:
    """UsageError, naming the option and what it accepts, where a number is out of range."""
    if value < least:
        raise UsageError(f"{option}: is {value}; it accepts {least} or more.")
    if value > most:
        raise UsageError(f"{option}: is {value}; it accepts at most {most}.")


def seed_within(option: str, value: int) -> None:
    """UsageError where a number can't be a seed."""
    if not 0 <= value <= MOST_SEED:
        raise UsageError(f"{option}: is {value}; it accepts whole numbers from 0 to 2^64 - 1.")


def seconds_within(option: str, value: float) -> None:
    """UsageError where a time to measure in is no positive number of seconds, or has too many nanoseconds."""
    if not value > 0.0:
        raise UsageError(f"{option}: {value:g} is out of range; it accepts seconds above 0.")
    if value > MOST_SECONDS:
        raise UsageError(
            f"{option}: {value:g} is out of range; it accepts at most {MOST_SECONDS} seconds."
        )


def refuse_more(what: str, count: int, most: int, remedy: str) -> None:
    """UsageError, saying how many there would be, where that is more than can be made."""
    if count > most:
        raise UsageError(f"{what} would be {count}, and at most {most} can be made: {remedy}.")
