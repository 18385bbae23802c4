"""What `chiplog fit` prints: one table a fit, a row a regime; all else by --details."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import numpy as np

from chiplog.counts import counted
from chiplog.dataset.operations import NORMAL, operation_text
from chiplog.fitting.estimates.freedom import NO_INTERVAL
from chiplog.fitting.quantities.by_method import ONE_TO_MANY
from chiplog.fitting.result import Fit, Parameter, Segment
from chiplog.fitting.verdict import cause_text, rejection, train_error
from chiplog.messages import COLUMNS, right_aligned
from chiplog.report import format
from chiplog.report.names import (
    METHODS,
    intervals_text,
    method_name,
    model_name,
    short_place,
    sizes,
)
from chiplog.report.parameter_text import bounds, is_known, mark
from chiplog.report.patterns.run import WHOLE
from chiplog.report.summary import warning_lines

MOST_LINES = 26
"""Given: so that a screen of 30 lines has room for what comes before and after."""
MOST_REJECTED_LINES = 3
"""Given: what the reason why a fit is rejected gets of a screen."""
MOST_REGIMES = 12
"""Given: what a screen has room for."""
MOST_DECIMALS = 5
"""Given: what a column has room for."""
FOLLOWS = ("L_half", "G_half")
"""What follows from other parameters stands last."""
STATISTICS = {"median": "medians", "mean": "means", "minimum": "minima"}
UNKNOWN = "?"


def fits_text(fits: Sequence[Fit]) -> str:
    """At most 30 lines of 80 columns."""
    ways = {(fit.operation, fit.posting, fit.placement, fit.between) for fit in fits}
    blocks = [_fit_lines(fit, several=len(ways) > 1) for fit in fits]
    shown: list[list[str]] = []
    count = 0
    for block in blocks:
        if shown and count + len(block) + 1 > MOST_LINES:
            break
        shown.append(block)
        count += len(block) + 1
    lines = [line for block in shown for line in [*block[:MOST_LINES], ""]]
    rest = len(blocks) - len(shown)
    if rest:
        lines.append(counted(rest, "more fit"))
    return "\n".join([*lines, "--details prints all that the report has of them"])


def _fit_lines(fit: Fit, *, several: bool) -> list[str]:
    lines = list(_numbers(fit, several=several))
    return [*lines, *warning_lines(fit.warnings, MOST_LINES - len(lines))]


def _use(fit: Fit) -> str:
    """What a rejected fit is still good for, as the first words of its block."""
    return "NOT USABLE" if train_error(fit) is None else "USABLE FOR HALF ROUND TRIPS ONLY"


def _numbers(fit: Fit, *, several: bool) -> Iterator[str]:
    if rejection(fit) is not None:
        yield from textwrap.wrap(
            f"{_use(fit)}: {cause_text(fit, model_name(fit.model))}.",
            COLUMNS,
            subsequent_indent="  ",
            max_lines=MOST_REJECTED_LINES,
        )
    yield from _wrapped(_title(fit, several=several))
    statistic = STATISTICS.get(fit.statistic, fit.statistic)
    of = f",{intervals_text(fit)}" if fit.launches else ""
    yield f"{statistic}; ±: half the 95 % interval{of}; <, >: bounds; ?: not known"
    yield from _table(fit)
    if fit.changes:
        places = ", ".join(short_place(change) for change in fit.changes)
        yield from _wrapped(f"protocol changes above {places}")
    yield from textwrap.wrap(_error(fit), COLUMNS, subsequent_indent="  ")


def _title(fit: Fit, *, several: bool) -> str:
    """Model, method and target; and of which operation, posting and ranks, where a run has several or it is no send."""
    method = method_name(fit.method) if fit.method in METHODS else fit.method
    words = f"{model_name(fit.model)} ({method})"
    if several or (fit.operation, fit.posting) != ("send", NORMAL):
        words += f" of {operation_text(fit.operation, fit.posting)}"
        if fit.placement not in (None, "none", "filled"):
            words += f", {fit.placement}"
        if fit.between is not None:
            words += f", {' to '.join(fit.between)}"
        return words + (f", {fit.target}" if fit.target else "")
    return words + (f" of {fit.target}" if fit.target else "")


def _table(fit: Fit) -> Iterator[str]:
    """One row a regime, values with half their intervals' width; where there are few, a row a parameter."""
    names = list(dict.fromkeys(name for regime in fit.segments for name in regime.parameters))
    names.sort(key=lambda name: name in FOLLOWS)
    if not names:
        return
    if len(fit.segments) == 1:
        yield from _one_regime(fit.segments[0])
        if fit.method == ONE_TO_MANY and fit.segments[0].first_bytes < fit.segments[0].last_bytes:
            yield "costs of each further byte: G of the network, O_s and O_r of the CPUs"
        return
    units = {name: _unit(fit, name) for name in names}
    by_size = fit.method == ONE_TO_MANY
    header = [
        "size" if by_size else "up to",
        *(f"{name} {units[name][1]}".rstrip() for name in names),
    ]
    rows = [header]
    for segment in fit.segments[:MOST_REGIMES]:
        cells = (_cell(segment.parameters.get(name), units[name][0]) for name in names)
        rows.append([format.message_size(segment.last_bytes), *cells])
    lines, left_out = right_aligned(rows, " ")
    yield from lines
    if left_out:
        yield f"not shown: {', '.join(names[-len(left_out) :])}"
    if len(fit.segments) > MOST_REGIMES:
        yield f"the first {MOST_REGIMES} of {len(fit.segments)} regimes"
    if by_size and (growth := _growth(fit)):
        yield from _wrapped(growth)


def _growth(fit: Fit) -> str:
    """How times change with a byte from the smallest to the largest size, each of which has a fit of its own."""
    first, last = fit.segments[0], fit.segments[-1]
    more_bytes = last.last_bytes - first.first_bytes
    changes = [
        f"{name} {1e9 * (last_value - value) / more_bytes:+.3g}"
        for name, parameter in first.parameters.items()
        if parameter.unit == "s" and (value := parameter.value) is not None
        if (other := last.parameters.get(name)) and (last_value := other.value) is not None
    ]
    spread = sizes(first.first_bytes, last.last_bytes)
    return f"per byte, {spread}, in ns/B: {', '.join(changes)}" if changes else ""


def _one_regime(segment: Segment) -> Iterator[str]:
    """A line a parameter, with its interval or the reason why there is none."""
    width = max(map(len, segment.parameters))
    yield sizes(segment.first_bytes, segment.last_bytes)
    for name, parameter in segment.parameters.items():
        if is_known(parameter):
            value, interval = format.value_and_interval(
                parameter.value, parameter.low, parameter.high, parameter.unit
            )
            reason = parameter.reason or ""
            why = reason.partition(";")[0] if reason.startswith(NO_INTERVAL) else ""
            shown = f"{value}  {why if interval == format.NOTHING else interval}"
        else:
            known = bounds(parameter)
            shown = f"not identified: {parameter.reason or 'the data do not tell'}"
            shown = f"{known}  {shown}" if known else shown
        yield from _wrapped(f"  {name.ljust(width)}  {shown}".rstrip())


def _unit(fit: Fit, name: str) -> tuple[float, str]:
    unit = next(
        segment.parameters[name].unit for segment in fit.segments if name in segment.parameters
    )
    return format.TABLE_UNITS.get(unit, (1.0, unit if unit != "1" else ""))


def _cell(parameter: Parameter | None, scale: float) -> str:
    if parameter is None:
        return "-"
    if not is_known(parameter) or parameter.value is None:
        return mark(parameter, scale, _number) or UNKNOWN
    shown = _number(parameter.value / scale)
    low, high = parameter.low, parameter.high
    if low is None or high is None or not np.isfinite([low, high]).all() or not parameter.value:
        return shown
    share = 100.0 * (0.5 * (high - low) / parameter.value)
    if share >= 100.0 * WHOLE:
        return f"{shown}±>99%"
    return f"{shown}±{share:.{0 if share >= 1 else 1}f}%"


def _number(value: float) -> str:
    return format.bare(value, MOST_DECIMALS)


def _error(fit: Fit) -> str:
    error = fit.error
    if not error.points:
        return "it predicts nothing of what was measured"
    median, worst = (format.percent(share) for share in (error.median_relative, error.max_relative))
    points = counted(error.points, "point")
    return f"off by {median} where fitted ({points}; worst {worst}); held out: chiplog compare"


def _wrapped(words: str) -> list[str]:
    return textwrap.wrap(words, COLUMNS, subsequent_indent="    ", break_on_hyphens=False)
