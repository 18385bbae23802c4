"""Whether a target's model may be relied on: the first line of screen and page."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sample_report import sample_report

from chiplog.report.input import TargetReport
from chiplog.report.measured import headline
from chiplog.report.ranking import in_sample_row
from chiplog.report.trust import Trust, trust_of


def judged(
    error: float, repeatability: float | None, *, held_out: str = "each of 5 folds"
) -> TargetReport:
    """A target whose shown model misses the points of its check by `error`."""
    target = sample_report().targets[0]
    fit = headline(target)
    assert fit is not None
    missed = replace(
        fit.error, points=20, median_relative=error, mean_relative=error, mean_factor=1.0 + error
    )
    row = replace(in_sample_row(fit), error=missed, repeatability=repeatability, held_out=held_out)
    return replace(target, fits=(replace(fit, error=missed),), comparison=(row,))


@pytest.mark.parametrize(
    ("error", "repeatability", "level"),
    [
        (0.010, 0.010, "usable"),
        (0.0149, 0.010, "usable"),
        (0.0151, 0.010, "limited"),
        (0.050, None, "limited"),
        (0.050, 0.040, "usable"),
        (0.600, 0.500, "not usable"),
    ],
)
def test_it_is_usable_where_held_out_errors_are_within_what_visits_differ_by(
    error: float, repeatability: float | None, level: str
) -> None:
    assert trust_of(judged(error, repeatability)).level == level


def test_the_numbers_are_in_the_sentence() -> None:
    target = judged(0.03, 0.011)
    sentence = trust_of(target).sentence()
    assert sentence.startswith(
        "usable for times within 3.0 %: LogGP misses 20 held-out points by 3.0 % in the median ("
    )
    assert sentence.endswith("where visits differ by 1.1 %.")


def test_points_that_a_model_was_fitted_to_make_it_usable_within_its_error_only() -> None:
    trust = trust_of(judged(0.01, 0.02, held_out=""))
    assert trust.level == "limited"
    assert "none were held out" in trust.reason


def test_a_busy_machine_and_a_run_that_is_not_complete_are_said_beside_it() -> None:
    target = judged(0.01, 0.02)
    fits = tuple(replace(fit, busy="3 other programs ran on 2 CPUs") for fit in target.fits)
    dataset = replace(target.dataset, complete=False)
    trust = trust_of(replace(target, fits=fits, dataset=dataset))
    assert trust.level == "usable"
    assert "the run is not complete" in trust.reason
    assert "the machine was busy (3 other programs ran on 2 CPUs)" in trust.reason


def test_a_target_without_a_result_is_not_usable_and_says_why() -> None:
    target = sample_report().targets[0]
    assert trust_of(replace(target, fits=())) == Trust(
        "not usable", "not usable", "no model was fitted"
    )
    failed = trust_of(replace(target, failure="no MPI was found."))
    assert failed.sentence() == "not usable, because it failed: no MPI was found."


def test_as_many_points_as_a_model_has_numbers_say_nothing_of_it() -> None:
    target = judged(0.001, None, held_out="")
    (row,) = target.comparison
    few = replace(row, error=replace(row.error, points=2), parameters=2)
    trust = trust_of(replace(target, comparison=(few,)))
    assert trust.level == "not usable"
    assert "2 points can't check LogGP, which has 2 numbers of its own" in trust.reason
    unknown = replace(row, error=replace(row.error, points=1), parameters=0)
    trust = trust_of(replace(target, comparison=(unknown,)))
    assert "1 point can't check LogGP, which has 2 numbers of its own" in trust.reason
    more = replace(row, error=replace(row.error, points=3), parameters=2)
    assert trust_of(replace(target, comparison=(more,))).level == "limited"


def test_trains_alone_leave_half_round_trips_usable() -> None:
    target = judged(0.01, 0.02)
    (fit,) = target.fits
    single = next(curve for curve in fit.curves if curve.quantity == "half_round_trip")
    single = replace(single, predicted_seconds=1.01 * single.measured_seconds)
    points = len(single.message_bytes)
    # As many trains as half round trips; these are off by 1 %, those by 81 %.
    missed = replace(
        fit.error, points=2 * points, median_relative=0.41, mean_relative=0.41, mean_factor=1.4
    )
    trust = trust_of(replace(target, fits=(replace(fit, curves=(single,), error=missed),)))
    assert (trust.level, trust.use) == ("limited", "usable for half round trips")
    assert "back to back are off by 81 % on average" in trust.reason
    wrong = replace(single, predicted_seconds=1.6 * single.measured_seconds)
    spoiled = replace(target, fits=(replace(fit, curves=(wrong,), error=missed),))
    assert trust_of(spoiled).level == "not usable"
