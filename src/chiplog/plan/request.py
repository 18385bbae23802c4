"""One point to measure, in the form that the probe reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

LARGE_BYTES = 32 * 1024
"""Above, the probe takes fewer samples that don't count: they would be most of the bytes."""
WARMUP_SAMPLES, LARGE_WARMUP_SAMPLES = 2, 1
"""Samples of each series that the probe takes first, keeps and marks as warm-up."""
DELAY_ROUND_TRIPS, LARGE_DELAY_ROUND_TRIPS = 5, 3
"""Round trips from which the probe finds a delay that is given as "rtt" or "rtt2"."""
ALL_PAIRS = "all_pairs"
EXCHANGE = "exchange"
EXCHANGES_A_SAMPLE = 2
"""An even number, so that it does not matter how far apart the two ranks begin; more where one is very short."""
ROUND_TRIP, ONE_WAY = "round-trip", "one-way"
SAMPLES_AT_A_TIME = 5
"""Samples that the probe takes, after one that it does not use, before it asks its stopping rule again."""


@dataclass(frozen=True)
class SeriesRequest:
    """One series of samples. `delay_ns` is a busy delay in nanoseconds, or "rtt"/"rtt2": the median of PRTT(1,0,s)
    or PRTT(2,0,s) that the record's own warm-up finds.
    """

    pattern: str
    message_bytes: int
    train: int = 1
    delay_ns: float | str = 0
    operation: str = "send"
    posting: str = "normal"
    peers: int = 1
    pairs: int = 1
    direction: str | None = None
    """Of k pairs: "one-way" sends `window` messages before an answer, None exchanges round trips."""
    window: int = 1
    between: tuple[str, str] | None = None
    """The groups that k pairs run between, by their names in the header's `pair_groups`; None: the first two."""
    ranks: int = 2
    """Of a barrier or all pairs: all ranks of the run. The probe knows them, so a request's line leaves them out."""
    round: int | None = None
    """Of all pairs: which of the rounds that pair every two ranks once. A line leaves out what is None."""
    at_once: int | None = None
    """Of all pairs: 1 if the pairs of the round are timed at the same time (the default), 0 if one after the other."""
    turned: int | None = None
    """Of all pairs: 1 if the higher rank of each pair is the client, which sends; 0 (the default) if the lower one."""
    links: tuple[tuple[int, int], ...] | None = None
    """Of all pairs: those of this round, clients first, which `turned` makes servers; None: by the circle method."""

    @property
    def pairs_of_round(self) -> int:
        """Of all pairs: how many there are in this round."""
        if self.links is None:
            return self.ranks // 2
        return len(self.links)

    @property
    def messages(self) -> int:
        """Messages on the wire for one sample, both directions, empty acknowledgements included."""
        if self.pattern == "one_to_many":
            return 3 * self.peers
        if self.pattern == "pairs":
            return self.pairs * (self.train * self.window + 4) - 2
        if self.pattern == EXCHANGE:
            return self.pairs * (2 * EXCHANGES_A_SAMPLE + 3) - 2
        if self.pattern == ALL_PAIRS:
            ways = 2 - (self.direction == ONE_WAY)
            return self.pairs_of_round * (ways * self.window + 5)
        if self.pattern == "barrier":
            return 2 * self.ranks * _messages_of_a_rank(self.ranks, self.peers)
        return self.train + self.peers

    @property
    def bytes(self) -> int:
        """Bytes on the wire for one sample, both directions."""
        if self.pattern == "one_to_many":
            return 2 * self.peers * self.message_bytes
        if self.pattern == "barrier":
            return self.messages * self.message_bytes
        if self.pattern == EXCHANGE:
            return self.pairs * 2 * EXCHANGES_A_SAMPLE * self.message_bytes
        if self.pattern == ALL_PAIRS:
            exchanged = self.window if self.direction == ONE_WAY else 2
            return self.pairs_of_round * exchanged * self.message_bytes
        answered = self.pattern in ("ping_pong", "prtt", "pairs") and self.direction != ONE_WAY
        return self.pairs * (self.train * self.window + answered) * self.message_bytes


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
        return sum(series.bytes for series in self.series)

    @property
    def round_messages(self) -> int:
        """Messages on the wire for one sample of each series."""
        return sum(series.messages for series in self.series)

    @property
    def preparation_messages(self) -> int:
        """Messages before the first sample: the payload check and the round trips that delays are found by."""
        named = {series.delay_ns for series in self.series if isinstance(series.delay_ns, str)}
        delays = sum(3 if name == "rtt2" else 2 for name in named)
        links = max(map(_links, self.series), default=0)
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


def _links(series: SeriesRequest) -> int:
    """Between how many pairs of ranks messages go."""
    if series.pattern == ALL_PAIRS:
        return series.pairs_of_round
    return max(series.peers, series.pairs)


def _messages_of_a_rank(ranks: int, peers: int) -> int:
    """Messages that each rank sends in one n-way dissemination barrier."""
    from chiplog.collectives.shapes import distances  # NumPy, which the command line need not load

    return sum(min(peers, (ranks - 1) // step) for step in distances(ranks, peers + 1))


def _pauses(samples: int, least: int) -> int:
    """How often the probe asks its stopping rule and goes on."""
    pauses, taken = 1, min(least, samples)
    while taken < samples:
        taken += max(SAMPLES_AT_A_TIME, taken // 4)
        pauses += 1
    return pauses
