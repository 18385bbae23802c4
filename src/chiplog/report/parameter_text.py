"""How one parameter reads in a table or a sentence: a value with its interval, or why there is none."""

from __future__ import annotations

import math

from chiplog.fit.result import Parameter
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
    """For a narrow cell: value and interval, "not identified", or a dash where the model has no such parameter."""
    if parameter is None:
        return line(muted(format.NOTHING))
    if not is_known(parameter):
        known = bounds(parameter)
        return line(bad("not identified"), *((" ", detail(known)) if known else ()))
    return quantity(parameter.value, parameter.low, parameter.high, parameter.unit)


def bounds(parameter: Parameter) -> str:
    """What the data leave of a parameter that is not identified: "0 s to 1.3 ns", "at least 5 GB/s"; else nothing."""
    low, high = parameter.low, parameter.high
    if high is not None and math.isfinite(high):
        least = format.value(max(low or 0.0, 0.0), parameter.unit, digits=2)
        return f"{least} to {format.value(high, parameter.unit, digits=2)}"
    if low:
        return f"at least {format.value(low, parameter.unit, digits=2)}"
    return ""


def full(parameter: Parameter | None) -> Inline:
    """As `short`, with the reason where it is not identified."""
    if parameter is None or is_known(parameter):
        return short(parameter)
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
        return line(bad("not identified"))
    low = 1.0 / per_byte.high if per_byte.high else None
    high = 1.0 / per_byte.low if per_byte.low else None
    return quantity(1.0 / per_byte.value, low, high, "B/s")
