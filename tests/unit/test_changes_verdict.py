"""What four sizes beside a jump, and two a cache line away, say about it."""

from __future__ import annotations

import numpy as np
import pytest
from changes_machine import ONE_PROTOCOL, Machine, theta

from chiplog.models.piecewise import Piece
from chiplog.plan.request import Request, StopRule
from chiplog.protocol_changes.ask.marks import series_for
from chiplog.protocol_changes.decide.evidence import FLAT, ChangeMark, Evidence, KnownPlace
from chiplog.protocol_changes.decide.surroundings import Surroundings
from chiplog.protocol_changes.detect.thresholds import CACHE_LINE_BYTES

LAST = 2048
QUANTITIES = ("half_round_trip", "gap", "o_s")
ROUNDS = 24


class Steps(Machine):
    """Takes longer by `factor` for sizes above `LAST` and up to `last_slow`."""

    factor = 1.4
    last_slow = LAST

    def _exact(self, pattern: str, size: int, train: int = 1, delay: float = 0.0) -> float:
        exact = super()._exact(pattern, size, train, delay)
        return exact * (self.factor if LAST < size <= self.last_slow else 1.0)


def shows_jump(
    machine: Machine, last_before: int = LAST, place: KnownPlace = KnownPlace.OPEN
) -> bool:
    around = Surroundings.of(last_before, far=place is not KnownPlace.LIMIT)
    series = {s: None for q in QUANTITIES for size in around.sizes for s in series_for(q, size)}
    stop = StopRule(0.02, ROUNDS, ROUNDS, 10**9)
    request = Request(0, 0, tuple(series), stop, {}, check_payload=False)
    marks = [ChangeMark(quantity, FLAT, FLAT, ROUNDS) for quantity in QUANTITIES]
    evidence = Evidence(marks, around.sizes, np.random.default_rng(0))
    evidence.add(machine.measure(request))
    return evidence.jump_at(around, place, least=0.15).is_change


@pytest.mark.parametrize("last_before", [LAST - 1, LAST, LAST + 1])
def test_a_jump_that_lasts_is_shown_at_its_place_only(last_before: int) -> None:
    machine = Machine((Piece(LAST, theta()), Piece(None, theta(latency=9.0, gap=4.0))))
    assert shows_jump(machine, last_before) == (last_before == LAST)


def test_a_jump_that_is_gone_one_cache_line_further_is_not_shown() -> None:
    machine = Steps(ONE_PROTOCOL)
    machine.last_slow = LAST + CACHE_LINE_BYTES - 1
    assert not shows_jump(machine)
    machine.last_slow = LAST + 2 * CACHE_LINE_BYTES
    assert shows_jump(machine)


def test_a_dip_in_the_line_before_is_no_jump() -> None:
    class Dip(Machine):
        def _exact(self, pattern: str, size: int, train: int = 1, delay: float = 0.0) -> float:
            exact = super()._exact(pattern, size, train, delay)
            return exact * (0.7 if LAST - 60 < size <= LAST else 1.0)

    assert not shows_jump(Dip(ONE_PROTOCOL))


def test_sizes_below_one_byte_are_not_asked_for() -> None:
    assert Surroundings.of(1).sizes == [1, 2, 3, 65]
