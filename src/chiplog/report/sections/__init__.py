"""The report's sections, one small file each.

A section of the page is a function `section(report) -> Section | None`, one of a target a function
`section(target, key) -> Section | None`, where `key` is the target's unique identifier. A section with nothing to show
returns None. A new one is a module here and its name in one of the lists below.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

from chiplog.report.document import Document, Paragraph, Section, line, muted
from chiplog.report.input import ReportInput, TargetReport
from chiplog.report.names import identifier, moment

TARGET_SECTIONS = (
    "verdict",
    "measured_times",
    "overlap",
    "against_model",
    "parameters",
    "anchor",
    "not_measured",
    "warnings",
    "changes",
    "errors",
    "time_over_size",
    "residuals",
    "bandwidth",
    "other_parameters",
    "overheads",
    "methods",
    "one_to_many",
    "pairs",
    "run_order",
    "machine",
)
"""A target's sections in the order in which they are read: the answer first, then what supports it."""
FIRST_FOLDED = "warnings"
"""From here on the page shows titles, and the rest to whoever opens them."""
FIRST_SECTIONS, LAST_SECTIONS = ("overview",), ("reproduce", "glossary")
"""Those of the page, before all targets and, folded, behind them."""


def section_of(name: str) -> Callable[..., Section | None]:
    """The function that makes the section of that name."""
    made: Callable[..., Section | None] = import_module(f"{__name__}.{name}").section
    return made


def build(report: ReportInput) -> Document:
    """The whole report as a document."""
    targets = [
        _target(target, f"{identifier(target.name)}-{index + 1}")
        for index, target in enumerate(report.targets)
    ]
    last = _folded(_made(LAST_SECTIONS, report))
    sections = (*_made(FIRST_SECTIONS, report), *targets, *last)
    return Document(report.title, line(muted(moment(report.created))), sections)


def _made(names: tuple[str, ...], *arguments: Any) -> tuple[Section, ...]:
    made = (section_of(name)(*arguments) for name in names)
    return tuple(section for section in made if section is not None)


def _target(target: TargetReport, key: str) -> Section:
    from chiplog.report.sections import machine

    banner = machine.short_banner(target)
    blocks = (Paragraph(banner),) if banner else ()
    at = TARGET_SECTIONS.index(FIRST_FOLDED)
    shown, folded = (
        _made(part, target, key) for part in (TARGET_SECTIONS[:at], TARGET_SECTIONS[at:])
    )
    return Section(key, line(target.name), blocks, (*shown, *_folded(folded)))


def _folded(sections: tuple[Section, ...]) -> tuple[Section, ...]:
    return tuple(replace(section, folded=True) for section in sections)
