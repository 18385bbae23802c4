"""The whole report on one screen: whether to trust it, one table, the protocol changes, and what to be warned of."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from chiplog.counts import counted
from chiplog.fitting.result import Parameter
from chiplog.messages import COLUMNS
from chiplog.protocol_changes.change import Change
from chiplog.report import format
from chiplog.report.document import Notice, text_of
from chiplog.report.header import members, text
from chiplog.report.input import ReportInput, TargetReport
from chiplog.report.measured import (
    LARGE_BYTES,
    SMALL_BYTES,
    half_round_trip_at,
    headline,
    parameter_fit,
)
from chiplog.report.names import model_name, short_place
from chiplog.report.parameter_text import is_known, mark
from chiplog.report.ranking import row_of
from chiplog.report.sections.anchor import anchor_sentence
from chiplog.report.sections.machine import short_banner
from chiplog.report.sections.warnings import notice_sentence, warnings
from chiplog.report.trust import trust_of

MICROSECOND, GIGABYTE = 1e-6, 1e9
"""Given: the units of the table."""
MOST_DECIMALS = 4
"""Given: what a column of the table has room for."""
MOST_WARNINGS = 3
"""Given: what a screen has room for."""
UNKNOWN, NEAR = "?", "~"
"""Of parameters that are not identified, and of times at a size beside the one that was asked for."""
PARAMETERS = ("L", "o_s", "o_r", "g")
GAP_COLUMN = 2 + PARAMETERS.index("g")
"""Derived: where g stands among a target's cells, behind its two times."""
BOUNDS = "<, >: bounds"
HIDDEN_GAP = "; of g: gaps don't show where the CPU takes longer than the network"
HEADER_BYTES = 80
"""Given: the most that a limit may lie above the last size before a change: MPIs put headers before a payload."""
BETWEEN_FACTS, MOST_FACTS = " · ", 2
"""Given: host and processor: what stands behind them is in the details."""
MOST_LINES = {"trust": 5, "machine": 1, "changes": 3, "anchor": 2}
"""Given: what a screen has room for."""
SCREEN_LINES, LINES_ABOUT_FILES, SCREEN_TARGETS, LINES_A_TARGET = 30, 4, 3, 3
"""Given: a screen holds so many targets with all that is printed; warnings get what the rest leaves."""
BELOW_NS = "<0.001"
"""In us: of bounds so small that their digits would fill their column."""
WIDTHS = (10, 9, 7, 8, 8, 8, 8, 7, 8, 5)
"""Given: the columns of the table."""


def summary_lines(report: ReportInput) -> list[str]:
    """The report in at most 80 columns, and about 25 lines for three targets."""
    if not report.targets:
        return ["No target was measured."]
    trusts = (f"{target.name}: {trust_of(target).sentence()}" for target in report.targets)
    lines = [line for words in trusts for line in _wrap(words, MOST_LINES["trust"])]
    lines += ["", *_machine(report), "", *_table(report), *_changes(report), *_anchors(report)]
    further = max(0, len(report.targets) - SCREEN_TARGETS) * LINES_A_TARGET
    room = SCREEN_LINES + further - LINES_ABOUT_FILES - len(lines) - 1
    warned = _warnings(report, room)
    return [*lines, *(["", *warned] if warned else [])]


def _warnings(report: ReportInput, room: int) -> list[str]:
    noticed: dict[str, Notice] = {}
    for notice in (notice for target in report.targets for notice in warnings(target)):
        noticed.setdefault(text_of(notice.fact), notice)  # what several targets met is said once
    return warning_lines([notice_sentence(notice) for notice in noticed.values()], room)


def warning_lines(sentences: Sequence[str], room: int) -> list[str]:
    """As many of the first warnings as `room` lines hold, three at most, none of them cut; the others are counted."""
    lines: list[str] = []
    for shown in range(min(MOST_WARNINGS, len(sentences)), -1, -1):
        lines = [line for sentence in sentences[:shown] for line in _wrap(f"! {sentence}")]
        more = len(sentences) - shown
        if more > 0:
            lines.append(f"! {counted(more, 'more warning' if shown else 'warning')}: --details")
        if len(lines) <= room:
            break
    return lines


def _machine(report: ReportInput) -> list[str]:
    first = report.targets[0]
    seen = {text(target.dataset.header, "mpi", "library") for target in report.targets}
    library = next((mpi_library.partition(",")[0] for mpi_library in seen if mpi_library), None)
    took = format.duration(report.cost.seconds) + " in all" if report.cost is not None else None
    machine = ", ".join(text_of(short_banner(first)).split(BETWEEN_FACTS)[:MOST_FACTS])
    parts = [machine.rstrip(". "), library, took]
    return _wrap("; ".join(part for part in parts if part) + ".", MOST_LINES["machine"])


def _table(report: ReportInput) -> Iterator[str]:
    yield _row("", "half RTT", "at", "L", "o_s", "o_r", "g", "1/G", "best", "held")
    yield _row("target", "8 B, us", "4 MiB", "us", "us", "us", "us", "GB/s", "model", "out")
    rows = [(target.name, _cells(target)) for target in report.targets]
    for name, cells in rows:
        yield _row(_short(name, WIDTHS[0]), *cells)
    marks = "".join(cell for _, cells in rows for cell in cells)
    note = "4 MiB in GB/s, one way; held out: median error on other sizes"
    yield note + ("; ?: see --details" if UNKNOWN in marks else "")
    if "<" in marks or ">" in marks:
        hidden = any(cells[GAP_COLUMN].startswith("<") for _, cells in rows)
        yield BOUNDS + (HIDDEN_GAP if hidden else "")
    if NEAR in marks:
        yield f"{NEAR}: at the nearest size that was measured"


def _row(*cells: str) -> str:
    first, *others = cells
    padded = [f" {other}".rjust(width) for other, width in zip(others, WIDTHS[1:], strict=True)]
    return (first.ljust(WIDTHS[0]) + "".join(padded)).rstrip()


def _cells(target: TargetReport) -> list[str]:
    fit = headline(target)
    measured = _measured(target)
    if fit is None or not fit.segments:
        return [
            *measured,
            *("-" for _ in PARAMETERS),
            "-",
            "failed" if target.failure else "no fit",
            "-",
        ]
    shown = parameter_fit(target) or fit
    first, last = shown.segments[0].parameters, shown.segments[-1].parameters
    row = row_of(target, fit)
    error = (
        "-" if row.in_sample or not row.error.points else format.percent(row.error.median_relative)
    )
    return [
        *measured,
        *(_parameter(first, name) for name in PARAMETERS),
        _rate(last),
        model_name(fit.model),
        error.replace(" ", ""),
    ]


def _measured(target: TargetReport) -> tuple[str, str]:
    """The half round trip of a small message in us and the bandwidth of a large one in GB/s; marked at a near size."""
    small, large = (half_round_trip_at(target, size) for size in (SMALL_BYTES, LARGE_BYTES))
    return (
        "-" if small is None else NEAR * small.is_near + _bare(small.seconds / MICROSECOND),
        "-"
        if large is None or not large.seconds
        else NEAR * large.is_near + _bare(large.bytes_per_second / GIGABYTE),
    )


def _bare(number: float) -> str:
    return format.bare(number, MOST_DECIMALS)


def _parameter(parameters: Mapping[str, Parameter], name: str) -> str:
    parameter = parameters.get(name)
    if parameter is None:
        return "-"
    if parameter.value is None or not is_known(parameter):
        bound = mark(parameter, MICROSECOND, _bare) or UNKNOWN
        return BELOW_NS if re.match(r"<(0\.000|.*e-)", bound) else bound
    return _bare(parameter.value / MICROSECOND)


def _rate(parameters: Mapping[str, Parameter]) -> str:
    """1/G in GB/s; under LogGOPS G is a part of a byte's cost, as everywhere in the report."""
    parameter = parameters.get("G")
    if parameter is None:
        return "-"
    if not is_known(parameter) or not parameter.value:
        high = parameter.high
        return f">{_bare(1.0 / high / GIGABYTE)}" if high and np.isfinite(high) else UNKNOWN
    return _bare(1.0 / parameter.value / GIGABYTE)


def _changes(report: ReportInput) -> list[str]:
    """The sizes up to which each target's protocols go, with the settings that they are of."""
    changes = [(target, change) for target in report.targets for change in target.consensus]
    if not changes:
        return ["protocol changes: none found"]
    for shown in range(len(changes), 0, -1):
        lines = _wrap(_changes_text(changes[:shown], len(changes) - shown))
        if len(lines) <= MOST_LINES["changes"]:
            break
    return lines


def _anchors(report: ReportInput) -> list[str]:
    """What anchors show, a sentence for each target that was to have one."""
    sentences = (
        f"{target.name}: {anchor_sentence(target.anchor)}."
        for target in report.targets
        if target.anchor is not None
    )
    return [line for sentence in sentences for line in _wrap(sentence, MOST_LINES["anchor"])]


def _changes_text(changes: Sequence[tuple[TargetReport, Change]], left_out: int) -> str:
    places: dict[str, list[str]] = {}
    for target, change in changes:
        places.setdefault(target.name, []).append(_change(change, target))
    texts = [f"{name} above {', '.join(of_target)}" for name, of_target in places.items()]
    more = [f"{left_out} more: --details"] if left_out else []
    return "protocol changes: " + "; ".join([*texts, *more])


def _change(change: Change, target: TargetReport) -> str:
    name = _setting(change.last_before_bytes, target)
    return short_place(change) + (f" ({name})" if name else "")


def _setting(limit_bytes: int, target: TargetReport) -> str | None:
    """The setting of the MPI that a limit is of: the one that is equal to it, or larger by no more than a header."""
    header = target.dataset.header
    settings = {**members(header, "mpi", "settings"), **members(header, "options")}
    above: dict[str, int] = {}
    for name, value in settings.items():
        number = int(str(value)) if str(value).isdecimal() else 0
        if limit_bytes <= number <= limit_bytes + HEADER_BYTES:
            above[name] = number - limit_bytes
    if not above:
        return None
    nearest = min(above.values())
    name = min(name for name, header_bytes in above.items() if header_bytes == nearest)
    return name if nearest == 0 else f"{name} less {nearest} B"


def _short(words: str, width: int) -> str:
    return words if len(words) <= width else words[: width - 2] + ".."


def _wrap(words: str, most: int | None = None) -> list[str]:
    return textwrap.wrap(words, COLUMNS, subsequent_indent="  ", max_lines=most, placeholder=" ...")
