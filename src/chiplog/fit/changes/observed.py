"""The names that the rooms beside `detect` take from it."""

from __future__ import annotations

from chiplog.fit.changes.detect.observed import Observed, Point, grid_of, observe, samples_of

__all__ = ["Observed", "Point", "grid_of", "observe", "samples_of"]
