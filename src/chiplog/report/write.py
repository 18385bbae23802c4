"""Writing a report to a file: what it is follows from the file's name."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from chiplog.errors import RunFailed, UsageError
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
    text = RENDERERS[target.suffix.lower()](document)
    try:
        _replace(target, text)
    except OSError as error:
        raise RunFailed(
            f"{target}: the report can't be written: {error.strerror or error}."
        ) from error


def check_suffix(path: str | os.PathLike[str]) -> None:
    """Raises UsageError where a report can't be written under this name: to ask before measuring begins."""
    suffix = Path(path).suffix.lower()
    if suffix not in RENDERERS:
        known = ", ".join(RENDERERS)
        raise UsageError(f"{path}: a report's name ends in one of {known}, not in '{suffix}'.")


def _replace(target: Path, text: str) -> None:
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        # A file's name may hold bytes that are no text: they must not cost us the report.
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "replace"))
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
