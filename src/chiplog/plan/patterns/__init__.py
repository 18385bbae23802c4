"""What Python knows of each pattern that can be measured: a file a pattern, named as the pattern is."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from chiplog.dataset.patterns import PATTERNS
from chiplog.plan.patterns.pattern import (
    Pattern,
    SeriesRequest,
    WireCount,
    acknowledged_trains,
    one_for_each_peer,
)


@cache
def find_pattern(name: str) -> Pattern | None:
    """The pattern of that name; None for one that `chiplog measure` does not take."""
    if name not in PATTERNS:
        return None
    pattern: Pattern = import_module(f"{__name__}.{name}").PATTERN
    return pattern


def all_patterns() -> tuple[Pattern, ...]:
    """All patterns, in the order in which their series are taken."""
    return tuple(pattern for name in PATTERNS if (pattern := find_pattern(name)) is not None)


def wire_of(series: SeriesRequest) -> WireCount:
    """What one sample puts on the wire; of an unknown pattern that of trains with an acknowledgement."""
    pattern = find_pattern(series.pattern)
    return acknowledged_trains(series) if pattern is None else pattern.wire(series)


def links_of(series: SeriesRequest) -> int:
    """Between how many pairs of ranks messages go."""
    pattern = find_pattern(series.pattern)
    return one_for_each_peer(series) if pattern is None else pattern.links(series)
