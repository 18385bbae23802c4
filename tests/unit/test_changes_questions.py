"""A question is asked in records that double until its answer is clear or its fair share of what is left is spent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from changes_machine import ONE_PROTOCOL, Machine

from chiplog.dataset.series import Series
from chiplog.plan.patterns import wire_of
from chiplog.plan.request import Request
from chiplog.protocol_changes.ask.marks import series_for
from chiplog.protocol_changes.ask.questions import Questions, questions_about
from chiplog.protocol_changes.ask.thresholds import THRESHOLDS
from chiplog.protocol_changes.decide.evidence import FLAT, ChangeMark, Evidence

SIZES = (1000, 2000, 3000)
ALL_ROUNDS = [THRESHOLDS.first_rounds * 2**number for number in range(THRESHOLDS.records)]
PLENTY = 10**9


class Timed(Machine):
    """Each series takes as long as it is told."""

    seconds = 0.0

    def measure(self, request: Request) -> list[Series]:
        return [replace(one, elapsed_seconds=self.seconds) for one in super().measure(request)]


def asked(
    quantity: str = "half_round_trip",
    *,
    clear: Callable[[Evidence], bool] = lambda _: False,
    budget_bytes: int = PLENTY,
    seconds: float = 0.0,
    places: int = 1,
    questions: float = 1.0,
) -> tuple[Sequence[Request], Evidence | None]:
    """The requests of one question about one quantity, and what it is evidence of."""
    asker = Questions(np.random.default_rng(0), 0, budget_bytes, 1.0, places)
    machine = Timed(ONE_PROTOCOL)
    machine.seconds = seconds
    asking = asker.ask(0, [ChangeMark(quantity, FLAT, FLAT, 1.0)], SIZES, clear, questions)
    try:
        request = next(asking)
        while True:
            request = asking.send(machine.measure(request))
    except StopIteration as end:
        evidence: Evidence | None = end.value
        return machine.requests, evidence


def rounds(requests: Sequence[Request]) -> list[int]:
    return [request.stop.max_samples for request in requests]


@pytest.mark.parametrize(
    "quantity",
    ["half_round_trip", "gap", "o_s", "o_r", "flood", "send_overhead", "late_receiver"],
)
def test_records_of_every_quantity_double_until_the_answer_is_clear(quantity: str) -> None:
    for number in range(1, THRESHOLDS.records + 1):
        enough = sum(ALL_ROUNDS[:number])
        requests, evidence = asked(
            quantity, clear=lambda evidence, enough=enough: evidence.fewest_rounds >= enough
        )
        assert rounds(requests) == ALL_ROUNDS[:number]
        assert evidence is not None
        assert evidence.rounds(quantity) == enough
    assert rounds(asked(quantity)[0]) == ALL_ROUNDS


@pytest.mark.parametrize(("places", "questions"), [(1, 1.0), (1, 8.0), (4, 8.0), (8, 16.0)])
def test_a_question_spends_its_share_of_the_bytes_and_no_more(
    places: int, questions: float
) -> None:
    round_bytes = sum(
        wire_of(series).bytes for size in SIZES for series in series_for("half_round_trip", size)
    )
    budget = 200 * round_bytes
    requests, _ = asked(budget_bytes=budget, places=places, questions=questions)
    spent = sum(rounds(requests))
    share = 200 / (places * questions)
    assert share / 2 - THRESHOLDS.least_rounds <= spent <= max(share, THRESHOLDS.least_rounds)


def test_bytes_that_do_for_no_evidence_are_not_spent() -> None:
    assert asked(budget_bytes=10_000) == ([], None)


def test_a_question_ends_with_its_share_of_the_time() -> None:
    requests, evidence = asked(seconds=0.5, questions=2.0)
    assert evidence is not None
    assert len(requests) == 1
    assert requests[0].stop.budget_ns == 500_000_000
    assert len(asked(seconds=0.05, questions=2.0)[0]) == THRESHOLDS.records


@pytest.mark.parametrize("width", [1, 2, 64, 1024])
def test_an_interval_takes_a_halving_a_bit_and_its_checks(width: int) -> None:
    bits = width.bit_length() - 1
    assert questions_about(4096, 4096 + width) == bits + THRESHOLDS.checks
