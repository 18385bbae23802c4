"""Measuring again around a change: to the byte, within its means, and honest about what isn't there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from changes_machine import ONE_PROTOCOL, THREE_PROTOCOLS, Machine, theta
from synthetic import SyntheticDisturbance, size_grid, synthetic_dataset

from chiplog.dataset.series import Dataset, Series
from chiplog.models.piecewise import Piece
from chiplog.plan.request import Request
from chiplog.protocol_changes.ask.marks import MAX_SERIES
from chiplog.protocol_changes.ask.refine import Refiner
from chiplog.protocol_changes.ask.thresholds import THRESHOLDS
from chiplog.protocol_changes.change import Change
from chiplog.protocol_changes.find import find_changes

NOISE = SyntheticDisturbance(noise=0.05, outliers=0.01)


def run(pieces: Sequence[Piece]) -> Dataset:
    return synthetic_dataset(pieces, size_grid(), disturbance=NOISE)


def limits(changes: Sequence[Change]) -> list[tuple[int, int]]:
    return [(change.last_before_bytes, change.first_after_bytes) for change in changes]


def finish(refiner: Refiner, machine: Machine) -> tuple[Change, ...]:
    while (request := refiner.next()) is not None:
        refiner.feed(machine.measure(request))
    return refiner.changes


def test_both_changes_are_found_to_the_byte_in_about_as_many_steps_as_bits() -> None:
    dataset, machine = run(THREE_PROTOCOLS), Machine(THREE_PROTOCOLS)
    refiner = Refiner(dataset, find_changes(dataset).consensus, budget_bytes=THRESHOLDS.most_bytes)
    assert limits(finish(refiner, machine)) == [(8192, 8193), (65536, 65537)]
    closer_looks, last_words = 2, 2
    assert len(machine.requests) <= 36 + 3 * THRESHOLDS.sweeps + closer_looks + last_words
    assert all(len(request.series) <= MAX_SERIES for request in machine.requests)


def test_an_interval_beside_the_change_is_moved_to_it() -> None:
    dataset = run(THREE_PROTOCOLS)
    beside = Change(5793, 8192, "jump", 0.3, ("half_round_trip",))
    other = Change(65536, 92682, "jump", 0.2, ("send_overhead",))
    refiner = Refiner(dataset, (beside, other), budget_bytes=THRESHOLDS.most_bytes)
    found = finish(refiner, Machine(THREE_PROTOCOLS))
    assert limits(found) == [(8192, 8193), (65536, 65537)]


def test_a_change_that_measuring_again_does_not_show_is_removed() -> None:
    dataset = run(THREE_PROTOCOLS)
    changes = find_changes(dataset).consensus
    assert len(changes) == 2
    assert finish(Refiner(dataset, changes), Machine(ONE_PROTOCOL)) == ()


def test_a_steep_curve_without_a_jump_is_no_change() -> None:
    dataset = run(THREE_PROTOCOLS)
    changes = find_changes(dataset).consensus[:1]

    class Smooth(Machine):
        def _exact(self, pattern: str, size: int, train: int = 1, delay: float = 0.0) -> float:
            share = min(max((size - 4096.0) / 12288.0, 0.0), 1.0)
            low = Machine(ONE_PROTOCOL)._exact(pattern, size, train, delay)
            return low * (1.0 + 0.5 * share)

    assert finish(Refiner(dataset, changes), Smooth(ONE_PROTOCOL)) == ()


def test_a_slope_is_left_as_it_is() -> None:
    change = Change(4096, 11585, "slope", 0.0, ("gap",))
    refiner = Refiner(run(ONE_PROTOCOL), (change,))
    assert finish(refiner, Machine(ONE_PROTOCOL)) == (change,)


def test_a_suspected_slope_goes_where_measuring_again_shows_no_jump() -> None:
    suspect = Change(4096, 11585, "slope", -0.2, ("gap",))
    refiner = Refiner(run(ONE_PROTOCOL), (suspect,), suspects=(suspect,))
    assert finish(refiner, Machine(ONE_PROTOCOL)) == ()


def test_a_suspect_with_a_jump_becomes_a_change_to_the_byte() -> None:
    suspect = Change(4096, 16384, "slope", -0.2, ("gap",))
    refiner = Refiner(run(THREE_PROTOCOLS[:1]), (suspect,), suspects=(suspect,))
    found = finish(
        refiner, Machine((THREE_PROTOCOLS[0], replace(THREE_PROTOCOLS[1], last_bytes=None)))
    )
    assert limits(found) == [(8192, 8193)]
    assert found[0].relative_jump is not None
    assert found[0].relative_jump > 0.15


def test_a_jump_that_the_grid_does_not_show_is_swept_up() -> None:
    refiner = Refiner(run(ONE_PROTOCOL), ())
    jump = (Piece(2048, theta()), Piece(None, theta(gap=6.0, overhead=2.5)))
    assert limits(finish(refiner, Machine(jump))) == [(2048, 2049)]


def test_a_slope_beside_a_jump_that_is_swept_up_is_the_same_change() -> None:
    beside, apart = (
        Change(1024, 1448, "slope", 0.0, ("gap",)),
        Change(4096, 5793, "slope", 0.0, ("gap",)),
    )
    refiner = Refiner(run(ONE_PROTOCOL), (beside, apart))
    jump = (Piece(2040, theta()), Piece(None, theta(gap=6.0, overhead=2.5)))
    assert limits(finish(refiner, Machine(jump))) == [(2040, 2041), (4096, 5793)]


def test_a_jump_that_is_gone_when_all_is_answered_is_no_change() -> None:
    suspect = Change(1448, 2896, "slope", 0.4, ("gap",))
    jump = (Piece(2048, theta()), Piece(None, theta(gap=6.0, overhead=2.5)))

    class Passing(Machine):
        """In another state from the moment on at which the jump was confirmed to the byte."""

        def measure(self, request: Request) -> list[Series]:
            record = super().measure(request)
            sizes = {one.message_bytes for one in request.series}
            if {2047, 2048, 2049, 2050} <= sizes:
                self.pieces = ONE_PROTOCOL
            return record

    refiner = Refiner(run(ONE_PROTOCOL), (), suspects=(suspect,))
    assert finish(refiner, Passing(jump)) == ()


def test_the_bytes_are_bounded_and_what_is_known_by_then_is_kept() -> None:
    dataset, machine = run(THREE_PROTOCOLS), Machine(THREE_PROTOCOLS)
    refiner = Refiner(dataset, find_changes(dataset).consensus, budget_bytes=20_000_000)
    small, large = finish(refiner, machine)
    spent = sum(one.round_bytes * one.stop.max_samples for one in machine.requests)
    assert spent <= 20_000_000
    assert limits((small,)) == [(8192, 8193)]
    assert large.last_before_bytes <= 65536 < large.first_after_bytes


def test_a_late_receiver_helps_where_a_sender_is_synchronised() -> None:
    eager = theta()
    pieces = (Piece(4096, {**eager, "S": 4096.0}), Piece(None, {**eager, "S": 4096.0, "L": 7e-6}))
    dataset = run(pieces)
    without = tuple(one for one in dataset.series if one.pattern != "late_receiver")
    header = {**dataset.header, "capabilities": {"synchronises": True}}
    dataset = replace(dataset, header=header, series=without)
    machine = Machine(pieces)
    refiner = Refiner(dataset, find_changes(dataset).consensus)
    assert limits(finish(refiner, machine)) == [(4096, 4097)]
    asked = {series.pattern for request in machine.requests for series in request.series}
    assert "late_receiver" in asked


def test_asking_twice_gives_the_same_request() -> None:
    dataset = run(THREE_PROTOCOLS)
    refiner = Refiner(dataset, find_changes(dataset).consensus, first_id=40)
    first = refiner.next()
    assert first is not None
    assert first is refiner.next()
    assert first.id == 40
    assert first.tag["purpose"] == "bisect"


@pytest.mark.parametrize("broken", ["empty", "no rounds"])
def test_an_answer_without_samples_changes_nothing(broken: str) -> None:
    dataset, machine = run(THREE_PROTOCOLS), Machine(THREE_PROTOCOLS)
    changes = find_changes(dataset).consensus
    refiner = Refiner(dataset, changes)
    while (request := refiner.next()) is not None:
        record: list[Series] = []
        if broken == "no rounds":
            record = [replace(s, seconds=s.seconds[:0]) for s in machine.measure(request)]
        refiner.feed(record)
    assert refiner.changes == changes


def test_a_moment_of_disturbance_does_not_lose_a_change() -> None:
    suspect = Change(1448, 2896, "slope", 0.4, ("gap",))
    jump = (Piece(2048, theta()), Piece(None, theta(gap=6.0, overhead=2.5)))

    class Disturbed(Machine):
        """As good as blind for three records, once the change is known to 64 bytes."""

        blind = 3

        def measure(self, request: Request) -> list[Series]:
            sizes = {one.message_bytes for one in request.series}
            near = len(sizes) == 3 and max(sizes) - min(sizes) < 64
            self.noise = 3.0 if near and self.blind else 0.05
            self.blind -= bool(near and self.blind)
            return super().measure(request)

    machine = Disturbed(jump)
    refiner = Refiner(run(ONE_PROTOCOL), (), suspects=(suspect,))
    assert limits(finish(refiner, machine)) == [(2048, 2049)]
    assert machine.blind == 0
