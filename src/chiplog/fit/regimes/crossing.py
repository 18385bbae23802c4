"""Where two protocols' lines cross: the size at which the switch between them should be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from chiplog.changes.change import Change
from chiplog.changes.detect.line import line_crossing_bytes
from chiplog.fit.result import Segment


def _line(segment: Segment, start: str, slope: str) -> tuple[float, float] | None:
    first, second = segment.parameters.get(start), segment.parameters.get(slope)
    if first is None or second is None or first.value is None or second.value is None:
        return None
    return first.value, second.value


def crossing_bytes(before: Segment, after: Segment) -> float | None:
    """Where the switch from `before` to `after` should be, in bytes; None if the lines never cross.

    The gap's lines g + (s-1)G are compared, as in the published tables; where a g is not identified, the half round
    trips' L_half + (s-1)G.
    """
    for start in ("g", "L_half"):
        lines = _line(before, start, "G"), _line(after, start, "G")
        if lines[0] is not None and lines[1] is not None:
            return line_crossing_bytes(lines[0], lines[1])
    return None


def with_crossings(changes: Sequence[Change], segments: Sequence[Segment]) -> tuple[Change, ...]:
    """The changes within the segments, each with the size at which the two protocols' lines cross.

    That is what the search for changes says; of given boundaries, what the segments say.
    """
    named = []
    for change in changes:
        for before, after in pairwise(segments):
            if before.last_bytes != change.last_before_bytes:
                continue
            crossing = change.crossing_bytes
            if crossing is None and not change.seen_in:
                crossing = crossing_bytes(before, after)
            named.append(replace(change, crossing_bytes=crossing))
    return tuple(named)
