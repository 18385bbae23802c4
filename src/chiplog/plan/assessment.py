"""Which series to take at one message size: the LogGP assessment and what the other methods need.

Sources: T. Hoefler et al., "LogGP in theory and practice" (PRTT); D. Culler et al., "Assessing fast network
interfaces"; T. Kielmann et al., "Fast measurement of LogP parameters"; C. Bell et al., "An evaluation of current
high-performance networks".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chiplog.dataset.operations import ATOMIC, ATOMIC_BYTES, INLINE, LIST, NORMAL
from chiplog.dataset.patterns import PATTERNS
from chiplog.errors import UsageError
from chiplog.plan.patterns import find_pattern
from chiplog.plan.patterns.pattern import PointRequest, Records
from chiplog.plan.request import Request, SeriesRequest
from chiplog.plugins import did_you_mean

LATE_RECEIVER = "late_receiver"
ONE_TO_MANY, PAIRS = "one_to_many", "pairs"
SEND = "send"
Ways = Sequence[tuple[str, str]]
"""Operations, each with a way of posting."""
JUST_SEND: Ways = ((SEND, NORMAL),)
ALL_METHODS = ("prtt", "ping_pong", "send_overhead", "flood")
"""What all methods together need: `prtt` has o_r and the late receiver within it."""


def parse_patterns(text: str) -> tuple[str, ...]:
    """The patterns named in a comma-separated list; `all` names what the methods need.

    Raises UsageError that says what is accepted, for an unknown one.

    >>> parse_patterns("flood,prtt")
    ('prtt', 'flood')
    """
    names = {name.strip() for name in text.split(",")}
    if names == {"all"}:
        return ALL_METHODS
    unknown = sorted(names - set(PATTERNS))
    if unknown:
        accepted = ", ".join((*PATTERNS, "all"))
        raise UsageError(
            f"--pattern: '{unknown[0]}' is unknown; it accepts a list of {accepted}."
            f"{did_you_mean(unknown[0], PATTERNS)}"
        )
    return tuple(name for name in PATTERNS if name in names)


def without_late_receiver(request: Request) -> Request:
    """The request for a transport whose sends never wait; one that asks for nothing else stays as it is."""
    others = tuple(series for series in request.series if series.pattern != LATE_RECEIVER)
    return replace(request, series=others) if len(others) > 1 else request


def within_inline_limit(request: Request, max_inline_bytes: int) -> Request:
    """The request without inline series above the limit; one that asks for nothing else stays as it is."""
    others = tuple(
        series
        for series in request.series
        if series.posting != INLINE or series.message_bytes <= max_inline_bytes
    )
    return replace(request, series=others) if others else request


def records_of(
    pattern: str,
    message_bytes: int,
    ranks: int,
    direction: str | None = None,
    ways: Ways = JUST_SEND,
) -> Records:
    """The series of each record that a pattern needs at one message size: one record, but for many peers or all pairs.

    `direction` is that of k pairs, and of all pairs. All `ways` that make sense for the pattern at this size are taken
    in turn within a record; there may be none. Raises UsageError for an unknown pattern.
    """
    facts = find_pattern(pattern)
    if facts is None:
        raise UsageError(f"pattern: '{pattern}' is unknown; known are {', '.join(PATTERNS)}.")
    if not facts.takes_lists:
        ways = [way for way in ways if way[1] != LIST]
    records = facts.records(PointRequest(message_bytes, ranks, direction))
    return tuple(filter(None, (_in_all_ways(series, ways) for series in records)))


def _in_all_ways(series: Sequence[SeriesRequest], ways: Ways) -> tuple[SeriesRequest, ...]:
    return tuple(
        replace(request, operation=operation, posting=posting)
        for request in series
        for operation, posting in ways
        if _makes_sense(request, operation, posting)
    )


def _makes_sense(series: SeriesRequest, operation: str, posting: str) -> bool:
    """Whether a series can be taken so; a list has one send for each peer."""
    pattern = find_pattern(series.pattern)
    takes_lists = pattern is not None and pattern.takes_lists
    if posting == LIST and (not takes_lists or series.train not in (1, series.peers)):
        return False
    if operation == ATOMIC and series.message_bytes != ATOMIC_BYTES:
        return False
    if operation != SEND and series.message_bytes == 0:
        return False
    return pattern is None or pattern.supports(operation)
