"""What was not measured, or at one point only: a line each, with what would show it."""

from __future__ import annotations

from chiplog.report.document import Bullets, Section, line
from chiplog.report.input import TargetReport
from chiplog.report.sections import one_to_many, pairs


def section(target: TargetReport, key: str) -> Section | None:
    """The lines; None where nothing is missing that was begun."""
    lines = [
        missing
        for missing in (one_to_many.missing(target), pairs.missing(target))
        if missing is not None
    ]
    if not lines:
        return None
    return Section(f"{key}-not-measured", line("Not measured"), (Bullets(tuple(lines)),))
