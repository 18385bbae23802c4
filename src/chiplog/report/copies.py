"""A fit's parameters as text for other programs: a LaTeX table for a paper, CSV for a spreadsheet."""

from __future__ import annotations

import csv
import io
import math

from chiplog.fitting.result import Fit, Parameter
from chiplog.quoting import for_csv, for_latex, for_line
from chiplog.report.format import TABLE_UNITS
from chiplog.report.names import model_name
from chiplog.report.parameter_text import is_known, mark

DIGITS = 3
"""Given: significant digits, as papers have them."""
_CSV_COLUMNS = (
    *("model", "method", "first_bytes", "last_bytes", "parameter"),
    *("value", "low", "high", "unit", "identified", "reason"),
)


def csv_table(fit: Fit) -> str:
    """A row a regime and parameter, in SI units; empty where nothing is known."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_CSV_COLUMNS)
    for segment in fit.segments:
        place = (for_csv(fit.model), for_csv(fit.method), segment.first_bytes, segment.last_bytes)
        for name, parameter in segment.parameters.items():
            value = parameter.value if is_known(parameter) else None
            ends = (_csv_number(end) for end in (value, parameter.low, parameter.high))
            reason = "" if is_known(parameter) else parameter.reason or ""
            cells = (parameter.unit, str(is_known(parameter)).lower(), reason)
            writer.writerow((*place, for_csv(name), *ends, *map(for_csv, cells)))
    return out.getvalue()


def latex_table(fit: Fit) -> str:
    """A tabular with the rules of booktabs: a row a regime, a column a parameter, 95 % intervals in brackets."""
    symbols = list(dict.fromkeys(name for segment in fit.segments for name in segment.parameters))
    units = {
        name: segment.parameters[name].unit
        for segment in fit.segments
        for name in symbols
        if name in segment.parameters
    }
    head = [
        r"Sizes (B)",
        *(f"${_latex_symbol(name)}$ ({_latex_unit(units[name])})" for name in symbols),
    ]
    rows = [
        [
            f"{segment.first_bytes}--{segment.last_bytes}",
            *(_latex_cell(segment.parameters.get(name)) for name in symbols),
        ]
        for segment in fit.segments
    ]
    what = f"{model_name(fit.model)} by {fit.method}, {fit.direction}, {fit.statistic}"
    lines = [
        f"% {for_line(what)}; --: not identified",
        rf"\begin{{tabular}}{{l{'r' * len(symbols)}}}",
        r"\toprule",
        _latex_row(head),
        r"\midrule",
        *map(_latex_row, rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _latex_row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _latex_symbol(name: str) -> str:
    letter, _, index = (for_latex(part) for part in name.partition("_"))
    shown = rf"\{letter}" if letter in ("alpha", "beta") else letter
    return rf"{shown}_{{\mathrm{{{index}}}}}" if index else shown


def _latex_unit(unit: str) -> str:
    if unit in TABLE_UNITS:
        return TABLE_UNITS[unit][1].replace("us", r"\textmu s")
    return for_latex(unit) or "1"


def _latex_cell(parameter: Parameter | None) -> str:
    if parameter is None:
        return ""
    scale = TABLE_UNITS.get(parameter.unit, (1.0, ""))[0]
    if not is_known(parameter) or parameter.value is None:
        bound = mark(parameter, 1.0, lambda value: _latex_number(value, scale))
        return r"--" if bound is None else f"${bound}$"
    ends = (parameter.low, parameter.high)
    interval = ", ".join(_latex_number(end, scale) for end in ends)
    return rf"${_latex_number(parameter.value, scale)}\;[{interval}]$"


def _latex_number(value: float | None, scale: float) -> str:
    if value is None or not math.isfinite(value):
        return r"\infty" if value else "?"
    return f"{float(f'{value / scale:.{DIGITS}g}'):g}"


def _csv_number(value: float | None) -> str:
    return "" if value is None or not math.isfinite(value) else f"{value:.6g}"
