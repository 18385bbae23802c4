"""A protocol change, and its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chiplog.json_values import plain

BISECT = "bisect"
"""Purpose of the records that ask for a change: a run measures again around each."""


@dataclass(frozen=True)
class Change:
    """A protocol change: it lies above `last_before_bytes` and at or below `first_after_bytes`."""

    last_before_bytes: int
    first_after_bytes: int
    kind: str
    """`jump`, `slope` or `both`."""
    relative_jump: float | None = None
    """(after - before) / before at the change, of the series that shows it best."""
    seen_in: tuple[str, ...] = ()
    """The series that show it, e.g. ("gap", "o_s")."""
    crossing_bytes: float | None = None
    """Where the lines of the two protocols cross, i.e. where the switch should be; None if they never do."""

    @property
    def is_crossing_measured(self) -> bool:
        """Whether both lines were measured where they cross: else one of them is extrapolated beyond the switch."""
        crossing = self.crossing_bytes
        return crossing is not None and self.last_before_bytes <= crossing <= self.first_after_bytes

    def overlaps(self, other: Change) -> bool:
        """Whether some size may be before one of the two changes and after the other."""
        begins_before = self.last_before_bytes < other.first_after_bytes
        return begins_before and other.last_before_bytes < self.first_after_bytes


def change_to_json(change: Change) -> dict[str, Any]:
    """One change as in chiplog.fit/1 and chiplog.changes/1; sizes in bytes."""
    measured = None if change.crossing_bytes is None else change.is_crossing_measured
    return {**plain(change), "crossing_measured": measured}


def change_from_json(members: Mapping[str, Any]) -> Change:
    """The change that `change_to_json` wrote."""
    return Change(
        last_before_bytes=members["last_before_bytes"],
        first_after_bytes=members["first_after_bytes"],
        kind=members["kind"],
        relative_jump=members.get("relative_jump"),
        seen_in=tuple(members.get("seen_in", ())),
        crossing_bytes=members.get("crossing_bytes"),
    )
