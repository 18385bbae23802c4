"""The name that the rooms beside `detect` take from it."""

from __future__ import annotations

from chiplog.fit.changes.detect.line import Line

__all__ = ["Line"]
