"""Asking for one record at a time, within the bytes of a run, until its answer is clear."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import replace

import numpy as np

from chiplog.dataset.series import Series
from chiplog.fit.changes.ask.marks import rounds_to_ask, series_for
from chiplog.fit.changes.ask.thresholds import THRESHOLDS
from chiplog.fit.changes.decide.evidence import Evidence
from chiplog.fit.changes.decide.mark import FLAT, Mark
from chiplog.plan.request import Request, SeriesRequest, StopRule

BISECT = "bisect"
"""Purpose of the records asked for here."""
SENT_PER_PLANNED = 1.5
"""Given: a first guess, since the probe warms up, and repeats what is too short for its clock. Each answer gives a
better one."""
SHORT_BYTES = 1024
"""Given: up to this size, much is too short for the clock."""
WIDTH = 0.02
"""Given: relative width of a median's interval at which a record ends."""

Record = Sequence[Series]
Asking = Generator[Request, Record, Evidence | None]
"""Yields requests, is sent the records that answer them, and returns what they are evidence of."""


class Questions:
    """Makes the requests, with ids from `first_id` on, and counts their bytes."""

    def __init__(
        self, random: np.random.Generator, first_id: int, budget_bytes: int, budget_seconds: float
    ) -> None:
        self.limit_share = THRESHOLDS.limit_share
        """Of the bytes that are left, for one record about a named limit."""
        self._reserved_bytes = THRESHOLDS.reserved_share * budget_bytes
        self._bytes_left = budget_bytes - self._reserved_bytes
        self._seconds_left = budget_seconds
        self._random = random
        self._next_id = first_id
        self._sent_per_planned = {True: SENT_PER_PLANNED, False: SENT_PER_PLANNED}
        """For questions of short messages only, and for others."""

    @property
    def has_time(self) -> bool:
        """Whether something new may be looked into."""
        return self._seconds_left > 0.0

    def release_reserve(self) -> None:
        """Lets the questions from now on have the bytes that were kept for the last ones."""
        self._bytes_left += self._reserved_bytes
        self._reserved_bytes = 0.0

    def scanned_round_bytes(self, sizes: Sequence[int]) -> float:
        """What one round of a scan of `sizes` may put on the wire, as planned."""
        spent = THRESHOLDS.scan_share * self._bytes_left
        return spent / (THRESHOLDS.enough_scan_rounds * self._sent(sizes))

    def limit_round_bytes(self, sizes: Sequence[int]) -> float:
        """The same of a question about a named limit."""
        spent = self.limit_share * self._bytes_left
        return spent / (THRESHOLDS.enough_limit_rounds * self._sent(sizes))

    def _sent(self, sizes: Iterable[int]) -> float:
        return self._sent_per_planned[max(sizes) <= SHORT_BYTES]

    def affords_bisection(self, marks: Sequence[Mark], low: int, high: int) -> bool:
        """Whether the bytes that are left may do for all questions from an interval to a place."""
        sizes = (low, (low + high) // 2, high)
        request = self._asking(0, marks, sizes, rounds_to_ask(marks), 0)
        rounds = min(request.stop.max_samples, THRESHOLDS.fair_rounds)
        questions = math.log2(high - low) + THRESHOLDS.checks
        return questions * rounds * request.round_bytes * self._sent(sizes) <= self._bytes_left

    def ask(
        self,
        index: int,
        marks: Sequence[Mark],
        sizes: Sequence[int],
        clear: Callable[[Evidence], bool],
        *,
        share: float = THRESHOLDS.bisect_share,
        budget_ns: Sequence[int] = THRESHOLDS.budget_ns,
    ) -> Asking:
        """Evidence at `sizes`, asked for again until it is clear; None without an answer.

        Each record takes at most about `share` of the bytes that are left, and its part of `budget_ns`.
        """
        evidence = Evidence(marks, sizes, self._random)
        enough = rounds_to_ask(marks)
        for times, most_ns in zip(THRESHOLDS.times, budget_ns, strict=True):
            request = self._request(index, marks, sizes, times * enough, most_ns, share)
            if request is None:
                break
            yield from self._answer(request, evidence)
            if clear(evidence):
                break
        return evidence or None

    def scan(self, index: int, quantities: Sequence[str], sizes: Sequence[int]) -> Asking:
        """Evidence of many quantities at many sizes, asked for once; None without an answer."""
        marks = [Mark(name, FLAT, FLAT, THRESHOLDS.scan_rounds) for name in quantities]
        evidence = Evidence(marks, sizes, self._random)
        request = self._request(
            index,
            marks,
            sizes,
            THRESHOLDS.scan_rounds,
            THRESHOLDS.scan_budget_ns,
            THRESHOLDS.scan_share,
        )
        if request is not None:
            yield from self._answer(request, evidence)
        return evidence or None

    def _answer(self, request: Request, evidence: Evidence) -> Generator[Request, Record, None]:
        record = yield request
        sent = sum(series.bytes_sent for series in record)
        self._bytes_left -= sent
        self._seconds_left -= sum(series.elapsed_seconds for series in record)
        rounds = max((series.seconds.size for series in record), default=0)
        short = max(series.message_bytes for series in request.series) <= SHORT_BYTES
        self._sent_per_planned[short] = max(sent / max(request.round_bytes * rounds, 1), 1.0)
        evidence.add(record)

    def _asking(
        self, index: int, marks: Sequence[Mark], sizes: Sequence[int], rounds: int, budget_ns: int
    ) -> Request:
        series: dict[SeriesRequest, None] = {}
        for size in sizes:
            for mark in marks:
                series.update(dict.fromkeys(series_for(mark.quantity, size)))
        return Request(
            id=self._next_id,
            visit=0,
            series=tuple(series),
            stop=StopRule(WIDTH, rounds, rounds, budget_ns),
            tag={"purpose": BISECT, "change": index},
            check_payload=False,
        )

    def _request(
        self,
        index: int,
        marks: Sequence[Mark],
        sizes: Sequence[int],
        rounds: int,
        budget_ns: int,
        share: float,
    ) -> Request | None:
        request = self._asking(index, marks, sizes, rounds, budget_ns)
        affordable = int(self._bytes_left / max(request.round_bytes * self._sent(sizes), 1.0))
        if affordable < THRESHOLDS.least_rounds:
            return None
        self._next_id += 1
        fair = max(int(share * affordable), THRESHOLDS.fair_rounds)
        most = min(rounds, affordable, fair)
        stop = replace(
            request.stop, min_samples=min(most, THRESHOLDS.least_rounds), max_samples=most
        )
        return replace(request, stop=stop)
