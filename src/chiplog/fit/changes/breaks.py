"""The names that the rooms beside `detect` take from it."""

from __future__ import annotations

from chiplog.fit.changes.detect.breaks import Break, find_breaks
from chiplog.fit.changes.detect.segments import LIMITS
from chiplog.fit.changes.detect.thresholds import THRESHOLDS

MIN_JUMP = THRESHOLDS.least_jump

__all__ = ["LIMITS", "MIN_JUMP", "Break", "find_breaks"]
