"""Reports: one HTML page with plots, Markdown, and the terminal. Shows results; computes nothing new."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chiplog.report.html import render_html
    from chiplog.report.input import (
        Placement,
        PlacementState,
        ReportedChanges,
        ReportInput,
        TargetReport,
    )
    from chiplog.report.markdown import render_markdown
    from chiplog.report.terminal import print_report
    from chiplog.report.write import check_suffix, write_report

_HOMES = {
    "Placement": "input",
    "PlacementState": "input",
    "ReportInput": "input",
    "SeriesChanges": "input",
    "TargetReport": "input",
    "check_suffix": "write",
    "print_report": "terminal",
    "render_html": "html",
    "render_markdown": "markdown",
    "write_report": "write",
}
__all__ = [
    "Placement",
    "PlacementState",
    "ReportInput",
    "ReportedChanges",
    "TargetReport",
    "check_suffix",
    "print_report",
    "render_html",
    "render_markdown",
    "write_report",
]


def __getattr__(name: str) -> object:
    """One of the names above, imported when it is first asked for: commands that only print numbers start faster."""
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module '{__name__}' has no attribute {name!r}")
