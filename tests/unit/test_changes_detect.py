"""The mathematics of finding protocol changes: tables, drift, places, and what is said where the grid is too coarse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from machines import draw
from synthetic import as_run
from synthetic_tables import table_of

from chiplog.dataset.series import Dataset, Series
from chiplog.protocol_changes.detect.breaks import find_breaks
from chiplog.protocol_changes.detect.observed import Observed, Point, drift_of, observe
from chiplog.protocol_changes.detect.segments import Lines
from chiplog.protocol_changes.detect.thresholds import THRESHOLDS
from chiplog.protocol_changes.find import find_changes
from chiplog.protocol_changes.result import changes_to_json

MICRO = 1e-6
QUIET = (1.1, 1.1, 1.1, 1.1, 1.2, 1.2, 1.2, 1.3, 1.5, 1.8, 2.1, 2.6, 3.5, 5.0, 7.9, 10.0, 14.4)
"""A table of one mean a size, a size an octave from 1 B to 64 KiB, in microseconds."""


def table(micros: tuple[float, ...], sizes: tuple[int, ...] = ()) -> Dataset:
    """One value a size, a size an octave from 1 B on unless `sizes` are given."""
    octaves = [1 << k for k in range(len(micros))]
    rows = zip(sizes or octaves, micros, strict=True)
    return table_of({size: MICRO * value for size, value in rows})


def places(dataset: Dataset) -> list[tuple[int, int]]:
    found = find_changes(dataset).consensus
    return [(change.last_before_bytes, change.first_after_bytes) for change in found]


@pytest.mark.parametrize(
    "rest",
    [
        (330.0, 400.0, 530.0, 800.0),
        (301.0, 302.0, 303.0),
        (598.0, 1197.0, 2393.0),
        (),
    ],
)
def test_a_step_of_a_table_by_twelve_is_a_change_whatever_the_rest_does(
    rest: tuple[float, ...],
) -> None:
    assert (131072, 262144) in places(table((*QUIET, 23.73, 299.18, *rest)))


def test_a_step_by_two_point_eight_is_a_change_between_many_changes_of_slope() -> None:
    rows = (1.4, 1.4, 1.4, 1.4, 1.6, 1.6, 1.6, 1.6, 1.8, 2.0, 2.3, 3.2, 4.1, 5.8, 10.5, 16.63)
    found = places(table((*rows, 46.64, 79.2, 119.0, 200.5, 362.7, 687.3)))
    assert any(low <= 32768 and 65536 <= high <= 131072 for low, high in found)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0.7, 4.0), min_size=8, max_size=22))
def test_no_step_of_a_table_far_above_two_is_silent(factors: list[float]) -> None:
    """It is a change, or the sizes that would tell are named, or the end is said to be unexplained."""
    micros = np.cumprod([1.0, *factors])
    dataset = table(tuple(micros.tolist()))
    changes = places(dataset)
    (series,) = find_changes(dataset).series
    for k, factor in enumerate(micros[1:] / micros[:-1]):
        low, high = 1 << k, 1 << (k + 1)
        if factor > 2.4 and high > 4 + 1.25 * low:
            named = (*series.would_tell, *(series.end.would_tell if series.end else ()))
            told = any(low < size < high for size in named)
            assert told or any(first < high and low < last for first, last in changes)


def test_a_table_that_is_proportional_to_size_shows_no_change() -> None:
    random = np.random.default_rng(0)
    false = 0
    for _ in range(200):
        rows = (1.0 + 2.0 ** np.arange(20) / 64) * np.exp(0.02 * random.standard_normal(20))
        false += places(table(tuple(rows))) != []
    assert false <= 2


def test_where_a_grid_is_too_coarse_the_sizes_that_would_tell_are_named() -> None:
    rows = tuple(2.0 + 8e-4 * max(2.0**k - 2200.0, 0.0) for k in range(18))
    result = find_changes(table(rows))
    assert result.consensus == ()
    named = result.series[0].would_tell
    assert named
    assert all(2048 < size < 8192 for size in named)
    (series,) = changes_to_json({("send", "normal"): result})["series"]
    assert series["would_tell"] == list(named)


def test_a_drift_that_all_sizes_share_is_taken_out_of_records_measured_in_turn() -> None:
    random = np.random.default_rng(1)
    kind = np.concatenate([random.permutation(30) for _ in range(3)])
    drift = 0.15 * (np.arange(90) // 20 % 2)
    level = kind.astype(np.float64) + drift + 0.01 * random.standard_normal(90)
    left = level - drift_of(kind, level)
    off = np.array([left[kind == k].mean() - k for k in range(30)])
    assert np.std(off) < 0.02
    assert np.std([(level - kind)[kind == k].mean() for k in range(30)]) > 0.04


def test_nothing_is_taken_out_where_nothing_was_measured_twice() -> None:
    assert not np.any(drift_of(np.arange(10), np.linspace(0.0, 1.0, 10)))


def test_without_drift_records_that_agree_are_left_as_they_are() -> None:
    kind = np.tile(np.arange(10), 2)
    assert drift_of(kind, np.sqrt(kind)) == pytest.approx(np.zeros(20), abs=1e-12)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000), factor=st.floats(1e-3, 1e3))
def test_what_is_found_does_not_depend_on_the_unit_of_time(seed: int, factor: float) -> None:
    drawn = draw("octave", "drift", seed=seed)
    (observed,) = observe(drawn.dataset)
    series = [
        type(one)(**{**vars_of(one), "seconds": one.seconds * factor})
        for one in drawn.dataset.series
    ]
    (scaled,) = observe(as_run(series, 0))
    kinds = [(one.at, one.kind) for one in find_breaks(Lines.of(observed))]
    assert [(one.at, one.kind) for one in find_breaks(Lines.of(scaled))] == kinds


def vars_of(one: Series) -> dict[str, object]:
    return {name: getattr(one, name) for name in one.__dataclass_fields__}


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 10_000))
def test_every_break_lies_between_sizes_and_its_lines_are_never_negative(seed: int) -> None:
    drawn = draw("half", "all", seed=seed, bends=1)
    (observed,) = observe(drawn.dataset)
    for found in find_breaks(Lines.of(observed)):
        assert found.last_before_bytes <= found.between[0] < found.between[1]
        assert found.between[1] <= found.first_after_bytes
        for line in (found.before, found.after):
            assert line.intercept_seconds >= 0.0
            assert line.slope_seconds_per_byte >= 0.0
        if found.jumps:
            assert found.size >= THRESHOLDS.least_jump


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 10_000),
    grid=st.sampled_from(["octave", "half"]),
    is_raw=st.booleans(),
    decades=st.floats(0.0, 8.0),
    positive=st.floats(0.1, 1.0),
)
def test_times_that_scatter_over_decades_or_about_zero_are_searched_all_the_same(
    seed: int, grid: str, is_raw: bool, decades: float, positive: float
) -> None:
    random = np.random.default_rng(seed)
    series = []
    for template in draw(grid, "log-normal", raw=is_raw, seed=seed).dataset.series:
        shape = template.seconds.shape
        seconds = MICRO * 10.0 ** random.uniform(0.0, decades, shape)
        seconds *= np.where(random.random(shape) < positive, 1.0, -1.0)
        series.append(replace(template, seconds=seconds))
    find_changes(as_run(series, 0))


def test_many_sizes_that_scatter_over_decades_are_searched_all_the_same() -> None:
    random = np.random.default_rng(0)
    series = draw("dense", "log-normal", raw=True).dataset.series
    wild = [
        replace(sampled, seconds=10.0 ** random.uniform(-6.0, 0.0, sampled.seconds.size))
        for sampled in series
    ]
    find_changes(as_run(wild, 0))


HALF_OCTAVES = tuple(sorted({round(2.0 ** (k / 2)) for k in range(34)}))
"""From 1 B to 92,682 B; three sizes lie above 32 KiB."""


def late(jump: float) -> tuple[float, ...]:
    """Times in microseconds of `HALF_OCTAVES`, which jump by the factor `jump` above 32 KiB."""
    return tuple((2.0 + 5e-4 * size) * (jump if size > 32768 else 1.0) for size in HALF_OCTAVES)


@pytest.mark.parametrize("left", [1, 2])
@pytest.mark.parametrize("jump", [0.7, 1.25])
def test_last_sizes_that_no_line_explains_are_called_unexplained(jump: float, left: int) -> None:
    kept = len(HALF_OCTAVES) - 3 + left
    result = find_changes(table(late(jump)[:kept], HALF_OCTAVES[:kept]))
    assert result.consensus == ()
    (end,) = result.ends
    assert (end.last_explained_bytes, end.first_bytes) == (32768, 46341)
    assert end.relative == pytest.approx(jump - 1.0, abs=0.02)
    assert all(32768 < size <= 2 * 46341 for size in end.would_tell)
    (series,) = changes_to_json({("send", "normal"): result})["series"]
    assert series["unexplained_end"]["first_bytes"] == 46341


def test_last_sizes_that_go_on_as_before_are_explained() -> None:
    random = np.random.default_rng(0)
    called = 0
    for _ in range(100):
        rows = np.array(late(1.0)) * np.exp(0.01 * random.standard_normal(len(HALF_OCTAVES)))
        called += find_changes(table(tuple(rows), HALF_OCTAVES)).series[0].end is not None
    assert called <= 12


@pytest.mark.parametrize("seed", range(20))
def test_a_difference_hidden_by_noise_that_large_sizes_tell_has_no_change(seed: int) -> None:
    """An overhead of 1 us is hidden in the noise of round trips of 100 ms, and told well where messages are large."""
    random = np.random.default_rng(seed)
    points = []
    for number, size in enumerate(np.unique(np.geomspace(1, 1 << 22, 64).astype(int)).tolist()):
        deviation = 1e-3 if number < 40 else 1e-8
        samples = MICRO + deviation * random.standard_normal(random.choice([3, 6]))
        points.append(Point(size, np.sort(samples)))
    observed = Observed("o_r", "receive_overhead", "send", "sim", tuple(points))
    assert not [change for change in find_breaks(Lines.of(observed)) if change.jumps]


def test_a_change_is_found_beside_a_size_whose_difference_is_below_0() -> None:
    random = np.random.default_rng(1)
    sizes = [1 << number for number in range(20)]
    points = [
        Point(
            size,
            np.sort(
                (1.0 if size < 4096 else 3.0) * MICRO * (1.0 + 0.01 * random.standard_normal(20))
            ),
        )
        for size in sizes
    ]
    points[1] = Point(2, points[1].samples - 2.0 * MICRO)
    observed = Observed("gap", "prtt", "send", "sim", tuple(points))
    (change,) = (change for change in find_breaks(Lines.of(observed)) if change.jumps)
    assert (change.last_before_bytes, change.first_after_bytes) == (2048, 4096)
