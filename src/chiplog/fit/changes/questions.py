"""Asking for one record at a time, within the bytes of a run, until its answer is clear."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace

import numpy as np

from chiplog.dataset.series import Series
from chiplog.fit.changes.marks import Mark, rounds_to_ask, series_for
from chiplog.fit.changes.verdict import Evidence
from chiplog.plan.request import Request, SeriesRequest, StopRule

BISECT = "bisect"
"""Purpose of the records asked for here."""
TIMES = (1, 4, 8)
"""Rounds, in those that should do, asked for at first and again where the answer is not clear."""
BUDGET_NS = (30_000_000, 80_000_000, 200_000_000)
LEAST_ROUNDS, FAIR_ROUNDS = 5, 8
BYTES_SHARE = 0.03
"""Of the bytes that are left, for one record, unless that is fewer than `FAIR_ROUNDS`: many steps are to come."""
WIDTH = 0.02

Record = Sequence[Series]
Asking = Generator[Request, Record, Evidence | None]
"""Yields requests, is sent the records that answer them, and returns what they are evidence of."""


class Questions:
    """Makes the requests, with ids from `first_id` on, and counts their bytes."""

    def __init__(self, random: np.random.Generator, first_id: int, budget_bytes: int) -> None:
        self.bytes_left = budget_bytes
        self._random = random
        self._next_id = first_id

    def ask(
        self,
        index: int,
        marks: Sequence[Mark],
        sizes: Sequence[int],
        clear: Callable[[Evidence], bool],
    ) -> Asking:
        """Evidence at `sizes`, asked for again until it is clear; None without an answer."""
        evidence = Evidence(marks, sizes, self._random)
        enough = rounds_to_ask(marks)
        for times, budget_ns in zip(TIMES, BUDGET_NS, strict=True):
            request = self._request(index, marks, sizes, times * enough, budget_ns)
            if request is None:
                break
            record = yield request
            self.bytes_left -= sum(series.bytes_sent for series in record)
            evidence.add(record)
            if clear(evidence):
                break
        return evidence or None

    def _request(
        self, index: int, marks: Sequence[Mark], sizes: Sequence[int], rounds: int, budget_ns: int
    ) -> Request | None:
        series: dict[SeriesRequest, None] = {}
        for size in sizes:
            for mark in marks:
                series.update(dict.fromkeys(series_for(mark.quantity, size)))
        request = Request(
            id=self._next_id,
            visit=0,
            series=tuple(series),
            stop=StopRule(WIDTH, rounds, rounds, budget_ns),
            tag={"purpose": BISECT, "change": index},
            check_payload=False,
        )
        affordable = self.bytes_left // max(request.round_bytes, 1)
        if affordable < LEAST_ROUNDS:
            return None
        self._next_id += 1
        fair = max(int(BYTES_SHARE * affordable), FAIR_ROUNDS)
        most = min(rounds, affordable, fair)
        stop = replace(request.stop, min_samples=min(most, LEAST_ROUNDS), max_samples=most)
        return replace(request, stop=stop)
