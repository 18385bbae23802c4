"""A quantity by which sizes are told to be before or after a change."""

from __future__ import annotations

from dataclasses import dataclass

from chiplog.fit.changes.detect.line import Line

FLAT = Line.flat()


@dataclass(frozen=True)
class ChangeMark:
    """A quantity with the lines that it follows before and after the change; only their ratios are used."""

    quantity: str
    before: Line
    after: Line
    rounds: float
    """Rounds that should do to tell one side from the other."""
    unknown: bool = False
    """Whether nothing is known of the lines, so that only a large difference counts."""
