"""Protocol changes: where a machine switches protocols, and how sure that is."""

from __future__ import annotations

from chiplog.fit.changes.ask.refine import Refiner
from chiplog.fit.changes.find import find_changes
from chiplog.fit.changes.result import (
    ChangesResult,
    SeriesChanges,
    change_to_json,
    changes_to_json,
)

__all__ = [
    "ChangesResult",
    "Refiner",
    "SeriesChanges",
    "change_to_json",
    "changes_to_json",
    "find_changes",
]
