"""How values become text: SI units, digits that the interval supports, GB = 1e9 B and GiB = 2^30 B always written.

Used by every renderer, so that a number reads the same in the terminal, in Markdown and in the page.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

NOTHING = "—"
"""What is printed for a value that does not exist."""

_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
"""Given: the prefixes of SI."""
_SMALL_PREFIXES = ((1.0, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n"), (1e-12, "p"))
"""Given: the prefixes of SI."""
_BINARY = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_SMALLEST, _LARGEST = 1e-15, 1e15
"""Derived: beyond these a number has more zeros than a double has digits, and is printed with an exponent."""
_WIDE = 1e5
"""Given: an interval's end that is so large in the value's unit gets a unit of its own."""
_DEFAULT_DIGITS, _BRIEF_DIGITS, _MAX_DIGITS = 4, 3, 6
"""Given: significant digits of a value alone, of one in a narrow cell, and the most beside a narrow interval."""
_MOST_DECIMALS = 12
"""Derived: decimals of a picosecond in seconds, the least step that any clock here has."""
_ROUNDS_UP = 0.9995
"""Derived: the least share of a unit that four digits, or three of a volume, would print as a thousand of the next."""
_PER_NEXT_UNIT = 60
"""Given: seconds of a minute, minutes of an hour."""
_TEN, _TENTH = 9.95, 0.095
"""Derived: from here on one decimal would print 10, or 0.1."""
_SYMMETRIC = 0.15
"""Given: share by which the halves of an interval may differ for one ± to stand for both."""
TABLE_UNITS = {"s": (1e-6, "us"), "s/B": (1e-9, "ns/B"), "B/s": (1e9, "GB/s"), "B": (1.0, "B")}
"""Given: by a parameter's unit, what one of the unit of a table's column is in SI, and its name."""


@dataclass(frozen=True)
class Scale:
    """A unit to print in: a value in SI divided by `factor` is a number of `unit`."""

    factor: float
    unit: str


def scale_for(magnitude: float, unit: str) -> Scale:
    """The unit with the prefix in which a value of this magnitude has one to three digits before the point.

    `unit` is one of "s", "s/B", "B/s", or any other text, which gets no prefix.
    """
    size = abs(magnitude)
    if unit == "s" or unit == "s/B":
        prefixes: tuple[tuple[float, str], ...] = _SMALL_PREFIXES
    elif unit == "B/s":
        prefixes = _PREFIXES
    else:
        return Scale(1.0, "" if unit in ("1", "") else unit)
    # 0.9995 ns would print as 1000 ps: let it be 1 ns.
    for factor, prefix in prefixes:
        if size >= _ROUNDS_UP * factor:
            return Scale(factor, prefix + unit)
    if size == 0.0:
        return Scale(1.0, unit)
    factor, prefix = prefixes[-1]
    return Scale(factor, prefix + unit)


def value(number: float | None, unit: str, digits: int = _DEFAULT_DIGITS) -> str:
    """One number with its unit to `digits` significant digits: `value(4.574e-05, "s")` is "45.74 us"."""
    if number is None or not math.isfinite(number):
        return NOTHING
    if unit == "B":
        return message_size(number)
    if _is_count(unit, number):
        return count(number)
    scale = scale_for(number, unit)
    return _join(_significant(number / scale.factor, digits), scale.unit)


def brief(number: float | None, unit: str) -> str:
    """As `value`, to three digits: for narrow cells, and for sentences."""
    return value(number, unit, digits=_BRIEF_DIGITS)


def bare(number: float, most_decimals: int) -> str:
    """Three digits without a unit, and without an exponent where that is short: 0.0412, 3.14, 27.2, 412."""
    if number == 0:
        return "0"
    if not 1e-3 <= abs(number) < _WIDE:
        return f"{number:.1e}".replace("e+0", "e").replace("e-0", "e-")
    decimals = _BRIEF_DIGITS - 1 - _exponent(number)
    return f"{number:.{min(max(decimals, 0), most_decimals)}f}"


def with_interval(number: float | None, low: float | None, high: float | None, unit: str) -> str:
    """A value and its 95 % interval with two digits of uncertainty.

    "45.74 ± 0.44 us" where the interval is symmetric, "45.74 [45.30, 47.10] us" where it is not,
    and the bare value where there is no interval.
    """
    if number is None or not math.isfinite(number):
        return NOTHING
    if not _is_interval(low, high):
        return value(number, unit)
    assert low is not None and high is not None
    if unit == "B":
        return f"{message_size(number)} {_byte_interval(low, high)}"
    scale = scale_for(number or max(abs(low), abs(high)), unit)
    middle, bottom, top = number / scale.factor, low / scale.factor, high / scale.factor
    decimals = decimals_of(middle, bottom, top)
    below, above = middle - bottom, top - middle
    half = max(below, above)
    if half > 0 and min(below, above) >= 0 and half - min(below, above) <= _SYMMETRIC * half:
        return _join(f"{_fixed(middle, decimals)} ± {_fixed(half, decimals)}", scale.unit)
    interval = f"[{_fixed(bottom, decimals)}, {_fixed(top, decimals)}]"
    return _join(f"{_fixed(middle, decimals)} {interval}", scale.unit)


def value_and_interval(
    number: float | None, low: float | None, high: float | None, unit: str
) -> tuple[str, str]:
    """The value with its unit, and "[low, high]" in the same unit and with the same decimals, for two columns.

    A zero that is fixed, as o_r of one-sided operations, has no interval.
    """
    if number is None or not math.isfinite(number):
        return NOTHING, NOTHING
    if not _is_interval(low, high):
        return value(number, unit), NOTHING
    if number == low == high == 0.0 and unit:
        return f"0 {unit}", NOTHING
    assert low is not None and high is not None
    if unit == "B":
        return message_size(number), _byte_interval(low, high)
    if _is_count(unit, number, low, high):
        return count(number), f"[{count(low)}, {count(high)}]"
    scale = scale_for(number or max(abs(low), abs(high)), unit)
    middle, bottom, top = number / scale.factor, low / scale.factor, high / scale.factor
    if max(abs(bottom), abs(top)) >= _WIDE:
        ends = (value(end, unit, digits=2) for end in (low, high))
        return value(number, unit, digits=2), f"[{', '.join(ends)}]"
    decimals = decimals_of(middle, bottom, top)
    shown = _join(_fixed(middle, decimals), scale.unit)
    return shown, f"[{_fixed(bottom, decimals)}, {_fixed(top, decimals)}]"


def in_proportion(number: float, whole: tuple[float, float, float], unit: str) -> str:
    """A number that is relatively as uncertain as another one: `whole` is that one's value, low and high.

    >>> in_proportion(2.5e-05, (1e-4, 9e-5, 1.1e-4), "s")
    '25.0 us'
    """
    middle, low, high = whole
    ends = (number * low / middle, number * high / middle) if middle else (number, number)
    return value_and_interval(number, *ends, unit)[0]


def message_size(number: float | None) -> str:
    """A message size, exact: "4 KiB" where it is a whole number of KiB, else "12,289 B"."""
    if number is None or not math.isfinite(number):
        return NOTHING
    if abs(number) >= _LARGEST:
        return f"{number:.3e} B"
    whole = round(number)
    for factor, unit in _BINARY:
        if whole and whole % factor == 0:
            return f"{whole // factor:,} {unit}"
    return f"{whole:,} B"


def exact_bytes(number: float) -> str:
    """A size to the byte, never abbreviated: "4,096 B"."""
    return f"{round(number):,} B"


def volume(number: float) -> str:
    """An amount of data, decimal: "29.1 GB" (1e9 bytes)."""
    for factor, prefix in _PREFIXES[:-1]:
        if number >= _ROUNDS_UP * factor:
            return _join(_significant(number / factor, _BRIEF_DIGITS), prefix + "B")
    return f"{round(number):,} B"


def count(number: float) -> str:
    """A whole number with separated thousands: "460,800"."""
    return f"{round(number):,}" if math.isfinite(number) else NOTHING


def sizes_of_operation(operation: str, message_bytes: int) -> tuple[str, ...]:
    """The size that an operation is asked about; none of a barrier, which has no message."""
    return () if operation == "barrier" else (exact_bytes(message_bytes),)


def percent(ratio: float | None) -> str:
    """A ratio as per cent, two digits: 0.0412 is "4.1 %", 3.5 is "350 %"."""
    if ratio is None or not math.isfinite(ratio):
        return NOTHING
    number = 100.0 * ratio
    size = abs(number)
    if size >= 1e6:
        return f"{number:.1e} %"
    if size >= _TEN:
        return f"{number:,.0f} %"
    if size >= _TENTH:
        return f"{number:.1f} %"
    return "0 %" if size == 0.0 else f"{number:.1g} %"


def signed_percent(ratio: float | None) -> str:
    """As `percent`, with its sign: "+38 %"."""
    shown = percent(ratio)
    return f"+{shown}" if ratio is not None and math.isfinite(ratio) and ratio > 0 else shown


def duration(seconds: float | None) -> str:
    """How long something took, for people: "0.42 s", "26 s", "2 min 54 s", "3 h 07 min"."""
    if seconds is None or not math.isfinite(seconds) or seconds < 0:
        return NOTHING
    if seconds < 0.1:
        return value(seconds, "s", digits=2)
    if seconds < _TEN:
        return f"{seconds:.2g} s"
    whole = round(seconds)
    minutes, seconds_left = divmod(whole, _PER_NEXT_UNIT)
    if not minutes:
        return f"{whole} s"
    hours, minutes_left = divmod(minutes, _PER_NEXT_UNIT)
    if not hours:
        return f"{minutes} min {seconds_left:02d} s"
    return f"{hours:,} h {minutes_left:02d} min"


def _is_interval(low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and math.isfinite(low) and math.isfinite(high)


def _is_count(unit: str, *numbers: float) -> bool:
    """Is it a number of things, such as f?"""
    return unit == "" and all(number.is_integer() and abs(number) < _LARGEST for number in numbers)


def _byte_interval(low: float, high: float) -> str:
    return f"[{round(low):,} … {exact_bytes(high)}]"


def decimals_of(middle: float, low: float, high: float) -> int:
    """The decimals that show two digits of the interval's half width, and two to six digits of the value."""
    half = max(abs(high - middle), abs(middle - low))
    leading = _exponent(middle or half)
    if half == 0.0:
        return max(0, _DEFAULT_DIGITS - 1 - leading)
    wanted = 1 - _exponent(half)
    at_least, at_most = 1 - leading, _MAX_DIGITS - 1 - leading
    return min(max(wanted, at_least, 0), max(at_most, 0), _MOST_DECIMALS)


def _exponent(number: float) -> int:
    return 0 if number == 0.0 else math.floor(math.log10(abs(number)))


def _fixed(number: float, decimals: int) -> str:
    if abs(number) >= _LARGEST:
        return f"{number:.3e}"
    shown = f"{number:.{decimals}f}"
    return shown.removeprefix("-") if float(shown) == 0.0 else shown


def _significant(number: float, digits: int) -> str:
    if number == 0.0:
        return "0"
    if not _SMALLEST <= abs(number) < _LARGEST:
        return f"{number:.{digits - 1}e}"
    exponent = _exponent(float(f"{number:.{digits - 1}e}"))
    return f"{number:,.{max(0, digits - 1 - exponent)}f}"


def _join(number: str, unit: str) -> str:
    return f"{number} {unit}" if unit else number
