"""Reports: one HTML page with plots, Markdown, and the terminal. Shows results; computes nothing new."""

from __future__ import annotations

from chiplog.report.html import render_html
from chiplog.report.input import (
    ComparisonRow,
    Placement,
    PlacementState,
    ReportInput,
    SeriesChanges,
    TargetReport,
)
from chiplog.report.markdown import render_markdown
from chiplog.report.terminal import print_report
from chiplog.report.write import check_suffix, write_report

__all__ = [
    "ComparisonRow",
    "Placement",
    "PlacementState",
    "ReportInput",
    "SeriesChanges",
    "TargetReport",
    "check_suffix",
    "print_report",
    "render_html",
    "render_markdown",
    "write_report",
]
