"""One point to measure, in the form that the probe reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from chiplog.plan.patterns import links_of, wire_of
from chiplog.plan.patterns.pattern import ONE_WAY, ROUND_TRIP, SeriesRequest

__all__ = ["ONE_WAY", "ROUND_TRIP", "Request", "SeriesRequest", "StopRule"]

LARGE_BYTES = 32 << 10
"""Given: above, the probe takes fewer samples that don't count: they would be most of the bytes."""
WARMUP_SAMPLES, LARGE_WARMUP_SAMPLES = 2, 1
"""Given: samples of each series that the probe takes first, keeps and marks as warm-up."""
DELAY_ROUND_TRIPS, LARGE_DELAY_ROUND_TRIPS = 5, 3
"""Given: round trips from which the probe finds a delay that is given as "rtt" or "rtt2"."""
SAMPLES_AT_A_TIME = 5
"""Given: samples that the probe takes, after one that it does not use, before it asks its stopping rule again."""
FRACTION_AT_A_TIME = 4
"""Given: one in so many of the samples taken so far is taken then, where these are more."""
MESSAGES_OF_DELAY = {"rtt": 2, "rtt2": 3}
"""Derived: messages of the train whose time such a delay is, and its answer."""


@dataclass(frozen=True)
class StopRule:
    """When a record is good enough: the median's interval is narrow, or samples or time are used up."""

    relative_half_width: float
    min_samples: int
    max_samples: int
    budget_ns: int


@dataclass(frozen=True)
class Request:
    """One record to take: series whose samples are taken in turn, so that their differences are paired."""

    id: int
    visit: int
    series: tuple[SeriesRequest, ...]
    stop: StopRule
    tag: Mapping[str, object] = field(default_factory=dict)
    check_payload: bool = True

    @property
    def round_bytes(self) -> int:
        """Bytes on the wire for one sample of each series."""
        return sum(wire_of(series).bytes for series in self.series)

    @property
    def round_messages(self) -> int:
        """Messages on the wire for one sample of each series."""
        return sum(wire_of(series).messages for series in self.series)

    @property
    def preparation_messages(self) -> int:
        """Messages before the first sample: the payload check and the round trips that delays are found by."""
        named = {series.delay_ns for series in self.series if isinstance(series.delay_ns, str)}
        delays = sum(MESSAGES_OF_DELAY[name] for name in named)
        links = max(map(links_of, self.series), default=0)
        round_trips = LARGE_DELAY_ROUND_TRIPS if self._is_large else DELAY_ROUND_TRIPS
        return 2 * links * self.check_payload + round_trips * delays

    @property
    def preparation_bytes(self) -> int:
        """Bytes before the first sample, both directions."""
        return self.preparation_messages * self._largest_bytes

    def rounds(self, samples: int) -> int:
        """Rounds through all series for so many samples of each, warm-up and unused ones included."""
        warmup = LARGE_WARMUP_SAMPLES if self._is_large else WARMUP_SAMPLES
        return warmup + samples + _pauses(samples, self.stop.min_samples)

    @property
    def _largest_bytes(self) -> int:
        return max((series.message_bytes for series in self.series), default=0)

    @property
    def _is_large(self) -> bool:
        return self._largest_bytes > LARGE_BYTES

    def line(self) -> str:
        """The request as one JSON line, newline included."""
        members = {"type": "measure", **vars(self)}
        return json.dumps(members, default=_members, separators=(",", ":")) + "\n"


def _members(part: object) -> dict[str, object]:
    of_all_pairs = ("round", "at_once", "turned", "links")
    return {
        name: value
        for name, value in vars(part).items()
        if name != "ranks" and not (value is None and name in of_all_pairs)
    }


def _pauses(samples: int, least: int) -> int:
    """How often the probe asks its stopping rule and goes on."""
    pauses, taken = 1, min(least, samples)
    while taken < samples:
        taken += max(SAMPLES_AT_A_TIME, taken // FRACTION_AT_A_TIME)
        pauses += 1
    return pauses
