"""The reference of each record: which records were taken in a slower state, and what is done about it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from chiplog.dataset.series import Dataset, Reference, Series
from chiplog.dataset.states import (
    SLOWED,
    common_reference,
    in_one_state,
    slowed_records,
    slowness,
    unlike_records,
    unlikeness,
)
from chiplog.fit.placement import in_one_placement
from chiplog.fit.run import fit
from chiplog.measure.revisit import MOST_VISITS, PAUSE_SECONDS, Revisit
from chiplog.models.piecewise import Piece
from chiplog.plan import PlanOptions
from chiplog.testing.synthetic import size_grid, synthetic_dataset

FAST = Reference(350e-9, 112e-9, 70e-9)
IN_STEP = Reference(350e-9, 163e-9, 68e-9)
SHARED_CORE = Reference(360e-9, 137e-9, 108e-9)

OPTIONS = PlanOptions("mpi", ("send_overhead",), (8, 64, 4096), visits=2)


def series(
    record: int,
    reference: Reference | None,
    *,
    size: int = 8,
    visit: int = 0,
    flag: float | None = 250e-9,
) -> Series:
    samples = np.full(9, 1e-6)
    return Series(
        pattern="send_overhead",
        operation="send",
        posting="normal",
        direction="call",
        message_bytes=size,
        train=1,
        delay_seconds=0.0,
        batch=1,
        launch=0,
        visit=visit,
        record_id=record,
        placement_seconds=flag,
        messages=9,
        bytes_sent=9 * size,
        elapsed_seconds=1e-5,
        warmup_seconds=samples[:0],
        seconds=samples,
        tag={"purpose": "grid"},
        reference=reference,
    )


def dataset(*members: Series) -> Dataset:
    return Dataset({}, members, False, "memory")


def kept(measured: Dataset) -> list[int]:
    return [one.record_id for one in in_one_placement(measured)[0].series]


def test_slowness_is_that_of_the_slowest_part_and_above_1_in_another_state() -> None:
    wobble = Reference(375e-9, 128e-9, 76e-9)
    how = slowness([FAST, wobble, IN_STEP, SHARED_CORE], SLOWED)
    assert how[0] < 1
    assert how[1] == pytest.approx(375 / 350 / 1.15)
    assert how[2] == pytest.approx(163 / 112 / 1.3)
    assert how[3] == pytest.approx(108 / 68 / 1.2)


def test_a_gap_that_noise_hides_does_not_count() -> None:
    how = slowness([replace(FAST, gap_seconds=0.0), IN_STEP], SLOWED)
    assert how[1] < 1


def test_records_without_a_reference_are_never_slowed() -> None:
    assert slowed_records([series(0, None), series(1, None)]) == frozenset()
    assert slowed_records([series(0, FAST), series(1, IN_STEP)]) == {1}


def test_of_the_visits_of_a_point_those_in_the_fastest_state_count() -> None:
    measured = dataset(
        series(0, IN_STEP), series(1, FAST, visit=1), series(2, SHARED_CORE, visit=2)
    )
    assert kept(measured) == [1]
    assert "slower state" in in_one_placement(measured)[1][0]


def test_visits_count_together_up_to_what_references_vary_by_in_one_state() -> None:
    near = replace(FAST, half_round_trip_seconds=1.07 * FAST.half_round_trip_seconds)
    far = replace(FAST, half_round_trip_seconds=1.09 * FAST.half_round_trip_seconds)
    visits = [series(visit, one, visit=visit) for visit, one in enumerate((far, FAST, near))]
    assert kept(dataset(*visits)) == [1, 2]


def test_a_point_that_met_slow_states_only_keeps_its_fastest_visit_and_the_reader_is_told() -> None:
    measured = dataset(
        series(0, FAST, size=64), series(1, IN_STEP), series(2, Reference(350e-9, 180e-9, 70e-9))
    )
    assert kept(measured) == [0, 1, 2]
    slowed = in_one_placement(measured)[1][-1]
    assert slowed.startswith("2 of the 3 records that count met the machine in a slower state")


def test_among_equal_references_the_flags_decide() -> None:
    assert kept(dataset(series(0, FAST, flag=300e-9), series(1, FAST, visit=1))) == [1]


CLOSE = Reference(170e-9, 60e-9, 70e-9)
"""Both ranks on one core."""


def one_close_visit() -> list[Series]:
    sizes = (1, 2, 4, 8)
    apart = [series(size, FAST, size=size) for size in sizes]
    return [*apart, series(20, CLOSE, size=8, visit=1, flag=45e-9)]


def test_a_placement_that_most_points_never_met_does_not_count() -> None:
    assert kept(dataset(*one_close_visit())) == [1, 2, 4, 8]


def test_a_placement_that_all_points_met_is_the_one_that_counts() -> None:
    close = [series(size, CLOSE, size=size, visit=1, flag=45e-9) for size in (1, 2, 4, 8)]
    measured = [replace(one, record_id=10 + one.record_id) for one in close]
    assert kept(dataset(*one_close_visit()[:4], *measured)) == [11, 12, 14, 18]


def test_a_point_that_was_met_in_a_passing_placement_only_is_kept_and_visited_again() -> None:
    measured = dataset(*one_close_visit()[:3], one_close_visit()[4])
    assert kept(measured) == [1, 2, 4, 20]
    (again,) = Revisit(OPTIONS).requests(measured, 30)
    assert again.series[0].message_bytes == 8


def test_small_sizes_that_met_a_slower_state_only_are_visited_again_after_a_pause() -> None:
    pauses: list[float] = []
    revisit = Revisit(OPTIONS, pauses.append)
    measured = dataset(
        series(0, FAST, size=64),
        series(1, IN_STEP, size=8),
        series(2, IN_STEP, size=8, visit=1),
        series(3, IN_STEP, size=4096),
    )
    asked = [revisit.requests(measured, 10 + count) for count in range(MOST_VISITS + 1)]
    assert [len(requests) for requests in asked] == [1] * MOST_VISITS + [0]
    assert asked[0][0].series[0].message_bytes == 8
    assert (asked[0][0].id, asked[0][0].visit) == (10, 2)
    assert pauses == [PAUSE_SECONDS] * (MOST_VISITS - 1)


def test_no_size_is_visited_again_for_a_slower_state_where_most_sizes_met_the_fast_one() -> None:
    fast = [series(size, FAST, size=size) for size in (1, 2, 4)]
    assert not Revisit(OPTIONS).requests(dataset(*fast, series(9, IN_STEP, size=8)), 10)


def test_nothing_is_visited_again_where_each_size_met_the_fast_state_or_no_reference_is_there() -> (
    None
):
    met = dataset(series(0, IN_STEP), series(1, FAST, visit=1))
    assert not Revisit(OPTIONS).requests(met, 2)
    assert not Revisit(OPTIONS).requests(dataset(series(0, None), series(1, None, size=64)), 2)


def test_unlikeness_is_the_same_in_both_directions_and_1_at_what_references_of_one_state_vary_by() -> (
    None
):
    varied = Reference(350e-9 * 1.08, 112e-9 * 1.15, 70e-9 / 1.10)
    assert unlikeness([FAST, varied], FAST) == pytest.approx([0.0, 1.0])
    assert unlikeness([FAST], varied) == pytest.approx([1.0])
    assert unlikeness([IN_STEP, SHARED_CORE], FAST).min() > 1.5


def test_parts_that_noise_hides_say_nothing_of_likeness() -> None:
    hidden = Reference(0.0, 0.0, 0.0)
    assert unlikeness([IN_STEP], hidden) == [0.0]
    assert unlikeness([IN_STEP], replace(FAST, gap_seconds=0.0)) < 1.0


def test_the_common_reference_is_that_of_most_small_sizes_however_often_the_others_were_visited() -> (
    None
):
    fast = [series(size, FAST, size=size) for size in (1, 2, 4)]
    often = [series(10 + visit, IN_STEP, size=8, visit=visit) for visit in range(9)]
    large = [series(100 + size, SHARED_CORE, size=size) for size in range(4096, 4106)]
    measured = [*fast, *often, *large]
    assert common_reference(measured) == FAST
    assert unlike_records(measured) == {one.record_id for one in [*often, *large]}
    assert common_reference([series(0, None)]) is None
    assert unlike_records([series(0, None)]) == frozenset()


def test_two_runs_are_in_one_state_within_half_of_what_their_records_vary_by() -> None:
    assert in_one_state(FAST, replace(FAST, half_round_trip_seconds=365e-9))
    assert not in_one_state(FAST, replace(FAST, half_round_trip_seconds=380e-9))


def in_states(states: dict[int, Reference], factor: float) -> Dataset:
    """A run without noise whose sizes in `states` take `factor` times as long."""
    theta = {"L": 200e-9, "o_s": 40e-9, "o_r": 100e-9, "g": 120e-9, "G": 0.1e-9}
    measured = synthetic_dataset([Piece(None, theta)], size_grid(4096), samples=9, visits=1)

    def met(one: Series) -> Series:
        state = states.get(one.message_bytes)
        seconds = one.seconds * (factor if state else 1.0)
        return replace(one, seconds=seconds, reference=state or FAST, placement_seconds=250e-9)

    return replace(measured, series=tuple(map(met, measured.series)))


def half_round_trip(measured: Dataset) -> float:
    found = fit(measured, boundaries=None)[0].segments[0].parameters["L_half"].value
    assert found is not None
    return found


def test_lines_leave_out_sizes_that_met_another_state_than_most() -> None:
    measured = in_states(dict.fromkeys((1, 4, 16, 64, 256), IN_STEP), 1.3)
    assert half_round_trip(measured) == pytest.approx(340e-9, rel=1e-3)


def test_lines_keep_such_sizes_where_the_smallest_ones_would_be_missing() -> None:
    smallest = dict.fromkeys((1, 2, 3, 4, 6, 8, 11, 16), IN_STEP)
    assert half_round_trip(in_states(smallest, 1.3)) > 1.2 * 340e-9


def test_the_curves_still_show_sizes_that_the_lines_leave_out() -> None:
    (found,) = fit(in_states(dict.fromkeys((2, 8), IN_STEP), 1.3), boundaries=None)
    assert {2, 8} <= set(found.curves[0].message_bytes)


def test_a_visit_in_another_state_does_not_count_beside_one_in_the_common_state() -> None:
    bisected = [
        replace(series(20, SHARED_CORE, size=size, visit=1), tag={"purpose": "bisect"})
        for size in (8, 9)
    ]
    measured = dataset(*(series(size, FAST, size=size) for size in (1, 2, 4, 8)), *bisected)
    left = [(one.record_id, one.message_bytes) for one in in_one_placement(measured)[0].series]
    assert left == [(1, 1), (2, 2), (4, 4), (8, 8), (20, 9)]
