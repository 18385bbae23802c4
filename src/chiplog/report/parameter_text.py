"""How one parameter reads in a table or a sentence: a value with its interval, or why there is none."""

from __future__ import annotations

import math
from collections.abc import Callable

from chiplog.fitting.result import Parameter
from chiplog.report import format
from chiplog.report.document import Inline, bad, detail, line, muted


def is_known(parameter: Parameter | None) -> bool:
    """Whether there is a number to print: identified and finite."""
    return (
        parameter is not None
        and parameter.identified
        and parameter.value is not None
        and math.isfinite(parameter.value)
    )


def short(parameter: Parameter | None) -> Inline:
    """For a narrow cell: value and interval, a bound, "not identified", or a dash where the model has none."""
    if parameter is None:
        return line(muted(format.NOTHING))
    if not is_known(parameter):
        return line(bounds(parameter) or bad("not identified"))
    return quantity(parameter.value, parameter.low, parameter.high, parameter.unit)


def bounds(parameter: Parameter) -> str:
    """What the data leave of a parameter that is not identified: "< 1.3 ns", "> 5 GB/s", "2 to 3 ns"; or nothing."""
    low, high = parameter.low, parameter.high
    least = format.brief(low, parameter.unit) if low and low > 0.0 else ""
    if high is None or not math.isfinite(high):
        return f"> {least}" if least else ""
    most = format.brief(high, parameter.unit)
    return f"{least} to {most}" if least else f"< {most}"


def mark(parameter: Parameter, scale: float, number: Callable[[float], str]) -> str | None:
    """A bound in a column of numbers, in units of `scale`: "<0.145", ">6.9"; None where nothing bounds it."""
    low, high = parameter.low, parameter.high
    if high is not None and math.isfinite(high):
        return f"<{number(high / scale)}"
    return f">{number(low / scale)}" if low and low > 0.0 else None


def full(parameter: Parameter | None) -> Inline:
    """As `short`, with the reason where it is not identified."""
    if parameter is None or is_known(parameter):
        return short(parameter)
    known = bounds(parameter)
    if known:
        return line(f"{known} ", detail(not_identified(parameter)))
    return line(bad(not_identified(parameter)))


def quantity(number: float | None, low: float | None, high: float | None, unit: str) -> Inline:
    """A value, and its interval as a detail."""
    shown, interval = format.value_and_interval(number, low, high, unit)
    if interval == format.NOTHING:
        return line(shown)
    return line(f"{shown} ", detail(interval))


def not_identified(parameter: Parameter) -> str:
    """Why a parameter has no value: "not identified, because o_s exceeds the gap at all sizes"."""
    if not parameter.reason:
        return "not identified"
    return f"not identified, because {parameter.reason.removeprefix('because ').rstrip('.')}"


def bandwidth_of(per_byte: Parameter | None, rate: Parameter | None = None) -> Inline:
    """The bandwidth: `rate` (R) as it is, or 1/G with its interval turned round."""
    if rate is not None and per_byte is None:
        return short(rate)
    if per_byte is None:
        return line(muted(format.NOTHING))
    if not is_known(per_byte) or not per_byte.value:
        return line(_rate_bound(per_byte) or bad("not identified"))
    low = 1.0 / per_byte.high if per_byte.high else None
    high = 1.0 / per_byte.low if per_byte.low else None
    return quantity(1.0 / per_byte.value, low, high, "B/s")


def _rate_bound(per_byte: Parameter) -> str:
    """What the bounds of a byte's cost leave of the bandwidth; nothing where there are none."""
    if per_byte.high is not None and per_byte.high > 0.0 and math.isfinite(per_byte.high):
        return f"> {format.brief(1.0 / per_byte.high, 'B/s')}"
    if per_byte.low is not None and per_byte.low > 0.0:
        return f"< {format.brief(1.0 / per_byte.low, 'B/s')}"
    return ""
