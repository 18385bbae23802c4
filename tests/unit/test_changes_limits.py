"""Limits that a transport names: where they are asked for, what counts there, and what counts elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from changes_machine import ONE_PROTOCOL, Machine, theta
from synthetic import SyntheticDisturbance, size_grid, synthetic_dataset

from chiplog.dataset.series import Dataset
from chiplog.models.piecewise import Piece
from chiplog.protocol_changes.ask.limits import copy_limits, limits_of
from chiplog.protocol_changes.ask.refine import Refiner
from chiplog.protocol_changes.change import Change
from chiplog.protocol_changes.find import find_changes

SETTINGS = {
    "btl_sm_eager_limit": "4096",
    "btl_sm_max_inline_send": "256",
    "btl_vader_eager_limit": "4096",
    "UCX_TLS": "sm",
}
OPTIONS = {"ring_bytes": 1048576, "chunk_bytes": 8192, "inline_bytes": 56, "inline_ok": True}


def run(pieces: Sequence[Piece], header: Mapping[str, object] = {}) -> Dataset:
    noise = SyntheticDisturbance(noise=0.05, outliers=0.01)
    made = synthetic_dataset(pieces, size_grid(), disturbance=noise)
    return replace(made, header={**made.header, **header})


def found(dataset: Dataset, machine: Machine, suspects: Sequence[Change] = ()) -> list[int]:
    refiner = Refiner(dataset, (), suspects=suspects)
    while (request := refiner.next()) is not None:
        refiner.feed(machine.measure(request))
    assert all(one.first_after_bytes == one.last_before_bytes + 1 for one in refiner.changes)
    return [one.last_before_bytes for one in refiner.changes]


def test_each_limit_of_options_and_settings_is_named_once_and_other_numbers_are_none() -> None:
    named = limits_of({"mpi": {"settings": SETTINGS}}, 1, 1 << 20)
    assert [(one.last_bytes, one.is_exact) for one in named] == [(256, False), (4096, False)]
    named = limits_of({"options": OPTIONS, "mpi": None}, 1, 1 << 20)
    assert [(one.last_bytes, one.is_exact) for one in named] == [(56, True), (8192, True)]


@pytest.mark.parametrize("header", [{}, {"mpi": None}, {"options": []}, {"mpi": {"settings": 3}}])
def test_a_header_without_limits_names_none(header: dict[str, object]) -> None:
    assert limits_of(header, 1, 1 << 20) == ()


def test_a_limit_beyond_the_sizes_that_were_measured_is_left_out() -> None:
    assert limits_of({"options": OPTIONS}, 1, 8192) == limits_of({"options": OPTIONS}, 1, 1000)
    assert limits_of({"options": OPTIONS}, 64, 1 << 20)[0].last_bytes == 8192


def test_a_limit_that_may_count_a_header_covers_the_sizes_below_it_only() -> None:
    eager = limits_of({"mpi": {"settings": SETTINGS}}, 1, 1 << 20)[1]
    assert [eager.covers(size) for size in (3967, 3968, 4016, 4096, 4097)] == [
        False,
        True,
        True,
        True,
        False,
    ]
    inline = limits_of({"options": OPTIONS}, 1, 1 << 20)[0]
    assert [inline.covers(size) for size in (55, 56, 57)] == [False, True, False]


@pytest.mark.parametrize("last", [4096, 4016])
def test_a_jump_of_a_twentieth_at_a_named_limit_is_found_with_and_without_a_header(
    last: int,
) -> None:
    jump = (Piece(last, theta()), Piece(None, theta(latency=5.6)))
    header = {"mpi": {"settings": {"btl_sm_eager_limit": "4096"}}}
    assert found(run(jump[:1], header), Machine(jump, noise=0.02)) == [last]


def test_a_named_limit_that_does_not_show_is_no_change() -> None:
    header = {"options": OPTIONS, "mpi": {"settings": SETTINGS}}
    assert found(run(ONE_PROTOCOL, header), Machine(ONE_PROTOCOL)) == []


def test_a_jump_of_one_quantity_where_other_limits_are_named_is_the_machines() -> None:
    jump = (Piece(2000, theta()), Piece(None, theta(latency=9.0)))
    suspect = Change(1448, 2896, "slope", 0.4, ("half_round_trip",))
    assert found(run(jump[:1]), Machine(jump), [suspect]) == [2000]
    assert found(run(jump[:1], {"options": OPTIONS}), Machine(jump), [suspect]) == []


def test_a_jump_of_most_quantities_counts_wherever_it_is() -> None:
    class Slower(Machine):
        def _exact(self, pattern: str, size: int, train: int = 1, delay: float = 0.0) -> float:
            waited = delay * (train - (pattern == "prtt"))
            exact = super()._exact(pattern, size, train, delay) - waited
            return exact * (1.6 if size > 2000 else 1.0) + waited

    suspect = Change(1448, 2896, "slope", 0.6, ("half_round_trip",))
    dataset = run(ONE_PROTOCOL, {"options": OPTIONS})
    assert found(dataset, Slower(ONE_PROTOCOL), [suspect]) == [2000]


def test_where_the_c_library_copies_in_another_way_is_no_change() -> None:
    jump = (Piece(2112, theta()), Piece(None, theta(gap=6.0, overhead=2.5)))
    suspect = Change(1448, 2896, "slope", 0.4, ("gap",))
    assert found(run(jump[:1]), Machine(jump), [suspect]) == [2112]
    library = {"c_library": {"copy_limits_bytes": [2112]}}
    assert copy_limits(library) == {2111, 2112}
    assert found(run(jump[:1], library), Machine(jump), [suspect]) == []


def test_a_slope_stays_only_where_no_limit_is_named() -> None:
    slope = Change(4096, 11585, "slope", 0.0, ("gap",))
    for header, expected in (({}, (slope,)), ({"options": OPTIONS}, ())):
        refiner = Refiner(run(ONE_PROTOCOL, header), (slope,))
        machine = Machine(ONE_PROTOCOL)
        while (request := refiner.next()) is not None:
            refiner.feed(machine.measure(request))
        assert refiner.changes == expected


def test_a_change_of_the_grid_at_a_named_limit_is_that_limit_and_keeps_its_kind() -> None:
    jump = (Piece(56, theta()), Piece(None, theta(latency=9.0, gap=4.0, overhead=2.0)))
    dataset = run(jump, {"options": OPTIONS})
    of_grid = Change(45, 64, "both", 0.7, ("gap", "o_s"), 40.0)
    refiner = Refiner(dataset, (of_grid,))
    machine = Machine(jump)
    while (request := refiner.next()) is not None:
        refiner.feed(machine.measure(request))
    (change,) = refiner.changes
    assert (change.last_before_bytes, change.first_after_bytes) == (56, 57)
    assert (change.kind, change.relative_jump, change.crossing_bytes) == ("both", 0.7, 40.0)


def test_wherever_the_questions_end_a_change_at_a_named_limit_is_there_once() -> None:
    jump = (Piece(56, theta()), Piece(None, theta(latency=9.0, gap=4.0, overhead=2.0)))
    refiner = Refiner(run(jump, {"options": OPTIONS}), (Change(45, 64, "both", 0.7, ("gap",)),))
    machine = Machine(jump)
    while (request := refiner.next()) is not None:
        assert len(refiner.changes) == 1
        refiner.feed(machine.measure(request))


def test_after_its_time_nothing_new_is_looked_into() -> None:
    class Slow(Machine):
        def measure(self, request):  # type: ignore[no-untyped-def]
            record = super().measure(request)
            return [replace(one, elapsed_seconds=1.0) for one in record]

    suspects = [Change(low, 2 * low, "slope", 0.4, ("gap",)) for low in (512, 2048, 8192, 32768)]
    machine = Slow(ONE_PROTOCOL)
    assert found(run(ONE_PROTOCOL), machine, suspects) == []
    changes = {request.tag["change"] for request in machine.requests}
    assert changes == {0}


def test_find_changes_of_a_run_without_answers_ignores_what_is_named() -> None:
    dataset = run(ONE_PROTOCOL, {"options": OPTIONS})
    assert find_changes(dataset).consensus == ()
