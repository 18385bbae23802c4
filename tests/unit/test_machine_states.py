"""The states of the machine: told from the indicators of the records, and what is done about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, replace

import numpy as np
import pytest
from synthetic import size_grid, synthetic_dataset

from chiplog.dataset.series import Dataset, Reference, Series
from chiplog.fitting.fit import fit
from chiplog.machine_state.repeatability import Repeatability, repeatability
from chiplog.machine_state.states import common_reference, in_one_state, same_state, states_of
from chiplog.measurement.followups import AT_A_TIME, PAUSE_SECONDS, Revisit
from chiplog.measurement.time_budget import Limits
from chiplog.models.piecewise import Piece
from chiplog.plan import PlanOptions

FAST = Reference(350e-9, 112e-9, 70e-9)
IN_STEP = Reference(350e-9, 163e-9, 68e-9)
CLOSE = Reference(170e-9, 60e-9, 70e-9)
"""Both ranks on one core."""

SIZES = tuple(range(1, 41))
OPTIONS = PlanOptions("mpi", ("send_overhead",), SIZES, visits=2, budget_seconds=1000.0)


def series(
    record: int,
    reference: Reference | None,
    *,
    size: int = 8,
    visit: int = 0,
    launch: int = 0,
    flag: float | None = 250e-9,
    seconds: float = 1e-6,
    train: int = 1,
) -> Series:
    samples = np.full(9, seconds)
    return Series(
        pattern="send_overhead",
        operation="send",
        posting="normal",
        direction="call",
        message_bytes=size,
        train=train,
        delay_seconds=0.0,
        batch=1,
        launch=launch,
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


def record(number: int, *args: object, **kwargs: object) -> list[Series]:
    """The two series of one record of the pattern."""
    one = series(number, *args, **kwargs)  # type: ignore[arg-type]
    return [one, replace(one, train=4)]


def visited(visits: Sequence[Sequence[Reference | None]], **more: object) -> Dataset:
    """A run in which visit v met the i-th size in the state `visits[v][i]`."""
    members = [
        one
        for visit, references in enumerate(visits)
        for place, reference in enumerate(references)
        for one in record(
            visit * len(SIZES) + place, reference, size=SIZES[place], visit=visit, **more
        )
    ]
    return Dataset({}, tuple(members), False, "memory")


def kept(measured: Dataset) -> list[tuple[int, int]]:
    """Visit and size of what counts."""
    chosen = in_one_state(measured).dataset.series
    return [(one.visit, one.message_bytes) for one in chosen if one.train == 1]


def test_records_without_indicators_have_no_state_and_all_count() -> None:
    measured = visited([[None] * 40, [None] * 40], flag=None)
    assert states_of(measured.series).met == ()
    assert len(kept(measured)) == 80
    assert in_one_state(measured).sentences == ()
    assert common_reference(measured.series) is None


def test_the_state_that_most_points_met_counts_whether_it_is_the_fastest_or_not() -> None:
    measured = visited([[IN_STEP] * 40, [FAST] * 20 + [IN_STEP] * 20])
    assert states_of(measured.series).met == (1.0, 0.5)
    expected = [(0, size) for size in SIZES] + [(1, size) for size in SIZES[20:]]
    assert kept(measured) == expected
    assert common_reference(measured.series) == pytest.approx(IN_STEP)


def test_a_point_that_never_met_the_state_keeps_its_visit_and_is_named_as_unlike() -> None:
    measured = visited([[FAST] * 30 + [IN_STEP] * 10])
    chosen = in_one_state(measured)
    assert len(kept(measured)) == 40
    assert chosen.unlike_bytes == frozenset(SIZES[30:])
    assert "25 % of the points never met the state" in chosen.sentences[0]


def test_one_sentence_says_which_state_is_shown_and_how_far_the_other_is_off() -> None:
    measured = visited([[FAST] * 40, [IN_STEP] * 30 + [FAST] * 10])
    slower = tuple(
        replace(one, seconds=one.seconds * (1.3 if one.reference is IN_STEP else 1.0))
        for one in measured.series
    )
    (sentence,) = in_one_state(replace(measured, series=slower)).sentences
    assert "2 states" in sentence
    assert "100 % of the points met (50 of 80 records)" in sentence
    assert "+30 %" in sentence


def test_nothing_is_said_of_a_run_in_one_state() -> None:
    assert in_one_state(visited([[FAST] * 40])).sentences == ()


def test_without_a_reference_the_flags_tell() -> None:
    measured = visited([[None] * 40, [None] * 40])
    close = [replace(one, placement_seconds=45e-9) for one in measured.series[:30]]
    met = states_of([*close, *measured.series[30:]]).met
    assert len(met) == 2


def test_flags_that_differ_between_launches_are_no_states_where_the_reference_is_alike() -> None:
    members = [
        one
        for launch in range(3)
        for place, size in enumerate(SIZES)
        for one in record(
            launch * 40 + place, FAST, size=size, launch=launch, flag=(250 + 50 * launch) * 1e-9
        )
    ]
    assert states_of(members).met == (1.0,)


@pytest.mark.parametrize(("ratio", "states"), [(1.1, 1), (1.4, 2)])
def test_launches_differ_by_more_than_levels_of_one_launch_before_they_are_two_states(
    ratio: float, states: int
) -> None:
    other = replace(FAST, half_round_trip_seconds=ratio * FAST.half_round_trip_seconds)
    other = replace(other, gap_seconds=ratio * FAST.gap_seconds)
    launches = [
        one
        for launch, reference in enumerate((FAST, other))
        for place, size in enumerate(SIZES)
        for one in record(launch * 40 + place, reference, size=size, launch=launch)
    ]
    assert len(states_of(launches).met) == states
    assert len(states_of([replace(one, launch=0) for one in launches]).met) == 2


def test_a_kind_of_record_that_met_another_state_more_often_than_not_is_in_that_state() -> None:
    """Not taken for a kind whose references are always slower."""
    slow = Reference(*(1.5 * part for part in astuple(FAST)))
    in_slow = [20 <= one < 28 for one in range(64)]
    members = [
        part
        for one in range(64)
        for part in record(
            one, slow if in_slow[one] else FAST, size=8 if in_slow[one] or one < 5 else 4096
        )
    ]
    of_record = states_of(members).of_record
    assert [of_record[one] == 1 for one in range(64)] == in_slow


def test_what_a_kind_of_record_always_adds_to_its_references_is_no_state() -> None:
    draw = np.random.default_rng(1)

    def near(times: float) -> Reference:
        return Reference(*(times * part * np.exp(draw.normal(0.0, 0.01)) for part in astuple(FAST)))

    members = [
        part
        for one in range(64)
        for part in record(
            one, near(1.1 if one % 4 == 0 else 1.0), size=8 if one % 4 == 0 else 4096
        )
    ]
    assert len(states_of(members).met) == 1


def test_a_longer_post_that_hardly_matters_to_a_message_is_no_state_of_its_own() -> None:
    small = Reference(350e-9, 112e-9, 10e-9)
    measured = visited([[small] * 40, [replace(small, overhead_seconds=13e-9)] * 40])
    assert states_of(measured.series).met == (1.0,)


def test_two_runs_are_of_one_state_as_far_as_two_launches_are() -> None:
    assert same_state(FAST, replace(FAST, half_round_trip_seconds=365e-9))
    assert not same_state(FAST, CLOSE)


def test_what_the_state_of_now_has_not_met_is_visited_again_until_nine_tenths_have() -> None:
    pauses: list[float] = []
    revisit = Revisit(OPTIONS, pause=pauses.append)
    measured = visited([[FAST] * 20 + [IN_STEP] * 20])
    asked = revisit.requests(measured, 100)
    assert [one.series[0].message_bytes for one in asked] == list(SIZES[:20])
    assert (asked[0].id, asked[0].visit) == (100, 1)
    assert pauses == []
    nearly = visited([[FAST] * 20 + [IN_STEP] * 20, [IN_STEP] * 16])
    assert not revisit.requests(nearly, 200)


def test_the_main_state_is_waited_for_where_another_one_has_hardly_lasted() -> None:
    pauses: list[float] = []
    revisit = Revisit(OPTIONS, pause=pauses.append)
    asked = revisit.requests(visited([[FAST] * 34 + [IN_STEP] * 6]), 100)
    assert [one.series[0].message_bytes for one in asked] == list(SIZES[34:])
    assert pauses == [PAUSE_SECONDS]


def test_states_are_looked_at_again_after_some_records() -> None:
    options = replace(OPTIONS, sizes=tuple(range(1, 101)))
    members = [one for size in range(1, 101) for one in record(size, FAST, size=size)]
    members += [one for size in range(1, 61) for one in record(100 + size, IN_STEP, size=size)]
    measured = Dataset({}, tuple(members[80:]), False, "memory")
    assert 0 < len(Revisit(options).requests(measured, 300)) <= AT_A_TIME


def test_nothing_is_visited_again_after_the_time_or_without_indicators() -> None:
    measured = visited([[FAST] * 20 + [IN_STEP] * 20])
    assert not Revisit(OPTIONS, Limits(visits=0.0)).requests(measured, 100)
    assert not Revisit(replace(OPTIONS, budget_seconds=1e-9)).requests(measured, 100)
    assert not Revisit(OPTIONS).requests(visited([[None] * 40], flag=None), 100)


def in_states(states: dict[int, Reference], factor: float) -> Dataset:
    """A run without noise whose sizes in `states` come last and take `factor` times as long."""
    theta = {"L": 200e-9, "o_s": 40e-9, "o_r": 100e-9, "g": 120e-9, "G": 0.1e-9}
    measured = synthetic_dataset([Piece(None, theta)], size_grid(4096), samples=9, visits=1)

    def met(one: Series) -> Series:
        state = states.get(one.message_bytes)
        seconds = one.seconds * (factor if state else 1.0)
        return replace(one, seconds=seconds, reference=state or FAST, placement_seconds=250e-9)

    ordered = sorted(measured.series, key=lambda one: one.message_bytes in states)
    return replace(measured, series=tuple(map(met, ordered)))


def half_round_trip(measured: Dataset) -> float:
    found = fit(measured, boundaries=None)[0].segments[0].parameters["L_half"].value
    assert found is not None
    return found


def test_lines_leave_out_sizes_that_met_another_state_than_most() -> None:
    measured = in_states(dict.fromkeys((4, 6, 8, 11, 16, 23), CLOSE), 1.3)
    assert half_round_trip(measured) == pytest.approx(340e-9, rel=1e-3)


def test_lines_keep_such_sizes_where_the_smallest_ones_would_be_missing() -> None:
    smallest = dict.fromkeys((1, 2, 3, 4, 6, 8, 11, 16), CLOSE)
    assert half_round_trip(in_states(smallest, 1.3)) > 1.2 * 340e-9


def test_the_curves_still_show_sizes_that_the_lines_leave_out() -> None:
    (found,) = fit(in_states(dict.fromkeys((4, 6, 8, 11), CLOSE), 1.3), boundaries=None)
    assert {4, 6, 8, 11} <= set(found.curves[0].message_bytes)


def test_repeatability_is_what_two_visits_of_a_size_in_one_state_differ_by() -> None:
    measured = visited([[FAST] * 40, [FAST] * 40, [CLOSE] * 40])
    times = {0: 1.0, 1: 1.1, 2: 3.0}
    members = tuple(
        replace(one, pattern="prtt", seconds=one.seconds * times[one.visit])
        for one in measured.series
    )
    found = repeatability(replace(measured, series=members))
    assert found.half_round_trip == pytest.approx(0.1 / 1.05)
    assert found.train == pytest.approx(0.1 / 1.05)
    assert repeatability(replace(measured, series=members[:80])) == Repeatability(None, None)
