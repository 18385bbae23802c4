"""Importers of other tools' files: one module each."""

from __future__ import annotations

from chiplog.dataset.import_file import import_file

__all__ = ["import_file"]
