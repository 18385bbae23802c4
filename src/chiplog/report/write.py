"""Writing a report to a file: what it is follows from the file's name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from chiplog.errors import UsageError
from chiplog.output_file import write_text
from chiplog.report import html, markdown
from chiplog.report.document import Document
from chiplog.report.input import ReportInput
from chiplog.report.sections import build

RENDERERS: dict[str, Callable[[Document], str]] = {
    ".html": html.render_document,
    ".htm": html.render_document,
    ".md": markdown.render_document,
    ".markdown": markdown.render_document,
}


def write_report(report: ReportInput, path: str | os.PathLike[str]) -> None:
    """Writes the report as HTML or Markdown, by the suffix of `path`; an existing file is replaced
    as a whole.

    Raises UsageError for another suffix, RunFailed where the file can't be written (the old one
    then stays).
    """
    check_suffix(path)
    write_document(build(report), path)


def write_document(document: Document, path: str | os.PathLike[str]) -> None:
    """Writes any document; names, files and errors as of write_report."""
    target = Path(path)
    check_suffix(target)
    write_text(target, RENDERERS[target.suffix.lower()](document))


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Raises UsageError where a report can't be written under this name: to ask before measuring begins."""
    suffix = Path(path).suffix.lower()
    if suffix not in RENDERERS:
        known = ", ".join(RENDERERS)
        raise UsageError(f"{path}: a report's name ends in one of {known}, not in '{suffix}'.")
