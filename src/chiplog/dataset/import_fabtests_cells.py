"""Sizes and counts as fabtests prints them, with their last digits cut off, and how exact a printed number is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from chiplog.dataset.lines import Where

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_COUNTS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9}
CELL = re.compile(r"(\d{1,12})(?:\.(\d))?([kmgb]?)")


@dataclass(frozen=True)
class PrintedRange:
    """What a printed number may stand for: whole numbers from `low` to, not including, `high`."""

    low: int
    high: int


def printed_size(cell: str, name: str, where: Where) -> PrintedRange:
    """The sizes in bytes that a cell may stand for: from 1 KiB on, tenths below 10 and whole units above are cut off.

    >>> printed_size("1.5k", "bytes", Where("file")), printed_size("976k", "bytes", Where("file")).low
    (PrintedRange(low=1536, high=1639), 999424)
    """
    whole_units, tenths, unit = _cell(cell, name, _UNITS, where)
    if unit == 1:
        return PrintedRange(whole_units, whole_units + 1)
    if whole_units >= 10:
        return PrintedRange(whole_units * unit, (whole_units + 1) * unit)
    first = 10 * whole_units + tenths
    return PrintedRange(-(-first * unit // 10), -(-(first + 1) * unit // 10))


def printed_count(cell: str, name: str, where: Where) -> PrintedRange:
    """The numbers of iterations that a cell may stand for: from 1000 on, the last three digits are cut off."""
    thousands, _, unit = _cell(cell, name, _COUNTS, where)
    return PrintedRange(thousands * unit, (thousands + 1) * unit)


def _cell(cell: str, name: str, units: Mapping[str, int], where: Where) -> tuple[int, int, int]:
    """The whole number, the tenth behind its point, and the unit."""
    match = CELL.fullmatch(cell)
    if match is None or match[3] not in units:
        what = (
            f"{cell[:20]!r} is not a number with one of the units {' '.join(filter(None, units))}"
        )
        raise where.corrupt(name, what)
    return int(match[1]), int(match[2] or 0), units[match[3]]


def half_step(word: str) -> float:
    """Half of the last digit of a number as it is printed."""
    return 0.5 * 10.0 ** -len(word.partition(".")[2])


def digits(word: str) -> int:
    """How many digits of a number say something.

    >>> digits("4.97"), digits("0.05")
    (3, 1)
    """
    return len(word.replace(".", "").lstrip("0"))
