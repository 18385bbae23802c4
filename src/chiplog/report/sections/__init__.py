"""The report's sections, one small file each.

A page section is a function `section(report) -> Section | None`, a target's section a function
`section(target, key) -> Section | None`, where `key` is the target's unique identifier. A section
with nothing to
show returns None. A new one is added to one of the two lists below.
"""

from __future__ import annotations

from collections.abc import Callable

from chiplog.report.document import Document, Paragraph, Section, line, muted
from chiplog.report.input import ReportInput, TargetReport
from chiplog.report.names import identifier, moment
from chiplog.report.sections import (
    bandwidth,
    changes,
    errors,
    glossary,
    machine,
    measured_times,
    methods,
    one_to_many,
    overheads,
    overview,
    pairs,
    parameters,
    reproduce,
    residuals,
    run_order,
    time_over_size,
    verdict,
    warnings,
)

TARGET_SECTIONS: tuple[Callable[[TargetReport, str], Section | None], ...] = (
    verdict.section,
    warnings.section,
    measured_times.section,
    time_over_size.section,
    residuals.section,
    errors.section,
    changes.section,
    parameters.section,
    overheads.section,
    methods.section,
    bandwidth.section,
    one_to_many.section,
    pairs.section,
    run_order.section,
    machine.section,
)
"""A target's sections in the order in which they are read: what was found first, how it was measured last."""


def build(report: ReportInput) -> Document:
    """The whole report as a document."""
    sections: list[Section] = []
    found = overview.section(report)
    if found is not None:
        sections.append(found)
    for index, target in enumerate(report.targets):
        sections.append(_target(target, f"{identifier(target.name)}-{index + 1}"))
    sections.extend(
        s for s in (reproduce.section(report), glossary.section(report)) if s is not None
    )
    return Document(report.title, line(muted(moment(report.created))), tuple(sections))


def _target(target: TargetReport, key: str) -> Section:
    made = [make(target, key) for make in TARGET_SECTIONS]
    banner = machine.short_banner(target)
    blocks = (Paragraph(banner),) if banner else ()
    return Section(key, line(target.name), blocks, tuple(part for part in made if part is not None))
