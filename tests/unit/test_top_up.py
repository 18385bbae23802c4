from __future__ import annotations

from dataclasses import replace

import numpy as np

from chiplog.dataset.series import Dataset, Series
from chiplog.measurement.followups import TopUp
from chiplog.measurement.precision import imprecise_points, lower_rank
from chiplog.plan import PlanOptions

OPTIONS = PlanOptions("tcp", ("flood",), (8, 64, 512), visits=1, budget_seconds=1.0)


def series(
    message_bytes: int, spread: float, *, seconds: float = 0.01, volume: int = 1000
) -> Series:
    samples = 1e-6 * (1 + spread * np.linspace(-1, 1, 21))
    return Series(
        pattern="flood",
        operation="send",
        posting="normal",
        direction="call",
        message_bytes=message_bytes,
        train=32,
        delay_seconds=0.0,
        batch=1,
        launch=0,
        visit=0,
        record_id=message_bytes,
        placement_seconds=None,
        messages=1,
        bytes_sent=volume,
        elapsed_seconds=seconds,
        warmup_seconds=samples[:0],
        seconds=samples,
        tag={"purpose": "grid"},
    )


def dataset(*members: Series) -> Dataset:
    return Dataset({}, members, False, "memory")


def test_only_sizes_that_are_not_precise_are_visited_again() -> None:
    measured = dataset(series(8, 0.001), series(64, 0.5), series(512, 0.001))
    (request,) = TopUp(OPTIONS).requests(measured, 100)
    assert request.series[0].message_bytes == 64
    assert (request.id, request.visit) == (100, 1)


def test_what_the_budget_cannot_pay_is_left_out() -> None:
    slow = dataset(series(8, 0.5, seconds=0.4), series(64, 0.5, seconds=0.5))
    assert not TopUp(OPTIONS).requests(slow, 0)
    heavy = dataset(series(8, 0.5, volume=300), series(64, 0.5, volume=500))
    (request,) = TopUp(replace(OPTIONS, budget_bytes=1200)).requests(heavy, 0)
    assert request.series[0].message_bytes == 8


def test_a_size_that_never_settles_is_not_visited_for_ever() -> None:
    top_up, measured = TopUp(OPTIONS), dataset(series(64, 0.5))
    rounds = 0
    while top_up.requests(measured, 0):
        rounds += 1
    assert rounds == TopUp.most_visits


def test_samples_of_all_visits_count_together() -> None:
    few = replace(series(8, 0.001), seconds=np.full(5, 1e-6))
    (point,) = imprecise_points([few], 0.025)
    assert point.known_half_width is None
    assert not imprecise_points([few, few], 0.025)


def test_an_interval_as_narrow_as_a_step_of_the_clock_is_precise() -> None:
    coarse = replace(series(8, 0.0), seconds=np.repeat([100e-9, 110e-9], 20))
    assert imprecise_points([coarse], 0.025)
    assert not imprecise_points([coarse], 0.025, resolution_seconds=10e-9)


def test_order_statistics_enclose_the_median_with_95_percent() -> None:
    assert [lower_rank(count) for count in (5, 6, 8, 9, 20, 100)] == [None, 0, 0, 1, 5, 39]
