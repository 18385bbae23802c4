"""Asking for one record at a time, each twice as long as the one before, until the answer is clear.

A question may spend its fair share of what is left: one part of as many as questions are still expected, about this
place and, in bytes, about those that come after it. What it does not need is there for the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

import numpy as np

from chiplog.dataset.series import Series
from chiplog.plan.patterns import wire_of
from chiplog.plan.request import Request, SeriesRequest, StopRule
from chiplog.protocol_changes.ask.halving import Halving
from chiplog.protocol_changes.ask.marks import series_for
from chiplog.protocol_changes.ask.thresholds import THRESHOLDS
from chiplog.protocol_changes.change import BISECT
from chiplog.protocol_changes.decide.evidence import ChangeMark, Evidence
from chiplog.protocol_changes.decide.thresholds import THRESHOLDS as DECIDE

Record = Sequence[Series]
Asking = Generator[Request, Record, Evidence | None]
"""Yields requests, is sent the records that answer them, and returns what they are evidence of."""


def questions_about(low: int, high: int) -> float:
    """Questions to expect from an interval of sizes in bytes to a change that is checked."""
    return math.log2(high - low) + THRESHOLDS.checks


@dataclass
class _Left:
    """What one question may still put on the wire and take."""

    bytes: float
    seconds: float


class Questions:
    """Makes the requests, with ids from `first_id` on, and shares out the bytes and the time."""

    def __init__(
        self,
        random: np.random.Generator,
        first_id: int,
        budget_bytes: int,
        budget_seconds: float,
        places: int,
    ) -> None:
        self._places = max(places, 1)
        """The present one, and those that are known to come after it."""
        self._left = _Left(budget_bytes, budget_seconds)
        self._budget_seconds = budget_seconds
        self._random = random
        self._next_id = first_id

    @property
    def has_time(self) -> bool:
        """Whether something new may be looked into."""
        return self._left.seconds > 0.0

    def go_on(self) -> None:
        """Leaves a place for the next one."""
        self._places = max(self._places - 1, 1)

    def round_bytes(self, questions: float, records: int = THRESHOLDS.records) -> float:
        """Bytes for one round of one of so many questions, such that there are enough for `records` records."""
        return self._share(questions).bytes / (records * THRESHOLDS.first_rounds)

    def affords_bisection(self, marks: Sequence[ChangeMark], low: int, high: int) -> bool:
        """Whether the bytes that are left may do for all questions from an interval to a place."""
        series = _series(marks, Halving(low, high).sizes)
        least = THRESHOLDS.least_rounds * sum(wire_of(request).bytes for request in series)
        return questions_about(low, high) * least <= self._left.bytes

    def ask(
        self,
        index: int,
        marks: Sequence[ChangeMark],
        sizes: Sequence[int],
        clear: Callable[[Evidence], bool],
        questions: float,
    ) -> Asking:
        """Evidence at `sizes`, asked for until it is clear; None without an answer.

        `questions` are still to be expected about this place, this one included.
        """
        evidence = Evidence(marks, sizes, self._random)
        series = _series(marks, sizes)
        round_bytes = max(sum(wire_of(request).bytes for request in series), 1)
        least = THRESHOLDS.least_rounds * round_bytes
        share = self._share(questions)
        for doubled in range(THRESHOLDS.records):
            is_spent = share.bytes < least or share.seconds <= 0.0
            if self._left.bytes < least or (doubled and is_spent):
                break
            wanted = THRESHOLDS.first_rounds * 2**doubled
            rounds = min(wanted, max(int(share.bytes / round_bytes), THRESHOLDS.least_rounds))
            record = yield self._request(index, series, rounds, share.seconds)
            self._spend(record, share)
            evidence.add(record)
            if clear(evidence):
                break
        return evidence or None

    def _share(self, questions: float) -> _Left:
        """The part of one of so many questions about this place."""
        share = self._left.bytes / (self._places * questions)
        return _Left(share, self._budget_seconds / questions)

    def _spend(self, record: Record, share: _Left) -> None:
        """Takes what a record took off what is left of all, and of its question's share."""
        for budget in (self._left, share):
            budget.bytes -= sum(series.bytes_sent for series in record)
            budget.seconds -= sum(series.elapsed_seconds for series in record)

    def _request(
        self, index: int, series: Sequence[SeriesRequest], rounds: int, seconds: float
    ) -> Request:
        self._next_id += 1
        least = THRESHOLDS.least_rounds
        return Request(
            id=self._next_id - 1,
            visit=0,
            series=tuple(series),
            stop=StopRule(DECIDE.min_jump, least, rounds, round(1e9 * seconds)),
            tag={"purpose": BISECT, "change": index},
            check_payload=False,
        )


def _series(marks: Sequence[ChangeMark], sizes: Sequence[int]) -> list[SeriesRequest]:
    """What one round takes: all that the marks need at each size, each series once."""
    needed = [
        series for size in sizes for mark in marks for series in series_for(mark.quantity, size)
    ]
    return list(dict.fromkeys(needed))
