"""A report as the text of a page, or of Markdown."""

from __future__ import annotations

from chiplog.report import html, markdown
from chiplog.report.input import ReportInput
from chiplog.report.sections import build


def render_html(report: ReportInput) -> str:
    """The whole page as text."""
    return html.render_document(build(report))


def render_markdown(report: ReportInput) -> str:
    """The whole report as Markdown."""
    return markdown.render_document(build(report))
