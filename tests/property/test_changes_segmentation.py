"""The native segmentation does what a plain one in numpy does."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from chiplog._native import Limits, Segmenter, best_splits

Floats = NDArray[np.float64]

LIMITS = {
    "min_bytes": 64.0,
    "min_points": 5,
    "min_factor": 1.5,
    "min_points_sparse": 3,
    "min_factor_sparse": 4.0,
}


def line_cost(size: Floats, seconds: Floats, weight: Floats) -> float:
    """Lowest weighted sum of squares of one line with intercept, slope >= 0, by trying every active set."""
    root = np.sqrt(weight)
    basis = np.column_stack([np.ones(size.size), size / size[-1]]) * root[:, None]
    target = seconds * root
    costs = [float(target @ target)]
    for columns in ([0], [1], [0, 1]):
        if len(columns) > size.size:
            continue
        found = np.linalg.lstsq(basis[:, columns], target, rcond=None)[0]
        if np.all(found >= 0.0):
            costs.append(float(np.sum((target - basis[:, columns] @ found) ** 2)))
    return min(costs)


def admissible(size: Floats) -> bool:
    factor = size[-1] / size[0]
    wide = size[-1] - size[0] + 1 >= 64
    return bool(wide and ((size.size >= 5 and factor >= 1.5) or (size.size >= 3 and factor >= 4.0)))


def lowest_costs(size: Floats, seconds: Floats, weight: Floats, segments: int) -> list[float]:
    """By number of segments, over every admissible choice of breaks."""
    count = size.size
    parts = list(itertools.combinations(range(count + 1), 2))
    cost = {
        (a, b): line_cost(size[a:b], seconds[a:b], weight[a:b])
        for a, b in parts
        if admissible(size[a:b])
    }
    found = [line_cost(size, seconds, weight)]
    for k in range(2, segments + 1):
        totals = [
            sum(cost.get(part, np.inf) for part in itertools.pairwise((0, *breaks, count)))
            for breaks in itertools.combinations(range(1, count), k - 1)
        ]
        if not np.isfinite(min(totals, default=np.inf)):
            break
        found.append(min(totals))
    return found


@st.composite
def series(draw: st.DrawFn) -> tuple[Floats, Floats, Floats]:
    count = draw(st.integers(2, 12))
    first = draw(st.floats(0.0, 8.0))
    steps = draw(st.lists(st.floats(0.1, 2.0), min_size=count, max_size=count))
    size = np.unique(np.round(2.0 ** (first + np.cumsum(steps))))
    times = draw(st.lists(st.floats(-1.0, 1.0), min_size=size.size, max_size=size.size))
    seconds = (1e-6 + draw(st.floats(0.0, 1e-9)) * size) * np.exp(np.array(times))
    noise = draw(st.lists(st.floats(0.0, 0.3), min_size=size.size, max_size=size.size))
    return size, seconds, 1.0 / (seconds**2 * (1e-4 + np.array(noise) ** 2))


@settings(deadline=None, max_examples=60)
@given(series())
def test_costs_and_optima_are_those_of_a_plain_implementation(
    given_series: tuple[Floats, Floats, Floats],
) -> None:
    size, seconds, weight = given_series
    segmenter = Segmenter(size, seconds, weight, Limits(**LIMITS))
    scale = float(np.sum(weight * seconds**2))
    for a, b in itertools.combinations(range(size.size + 1), 2):
        assert segmenter.cost(a, b) == pytest.approx(
            line_cost(size[a:b], seconds[a:b], weight[a:b]), rel=1e-9, abs=1e-12 * scale
        )
    costs = [cost for cost, _ in segmenter.solve(4)]
    expected = lowest_costs(size, seconds, weight, 4)
    assert costs == pytest.approx(expected, rel=1e-9, abs=1e-12 * scale)


@settings(deadline=None, max_examples=60)
@given(series())
def test_a_line_has_the_cost_that_is_reported_and_is_never_negative(
    given_series: tuple[Floats, Floats, Floats],
) -> None:
    size, seconds, weight = given_series
    segmenter = Segmenter(size, seconds, weight, Limits(**LIMITS))
    intercept, slope = segmenter.line(0, size.size)
    assert intercept >= 0.0
    assert slope >= 0.0
    cost = float(np.sum(weight * (seconds - intercept - slope * size) ** 2))
    scale = float(np.sum(weight * seconds**2))
    assert cost == pytest.approx(segmenter.cost(0, size.size), rel=1e-9, abs=1e-12 * scale)


@settings(deadline=None, max_examples=60)
@given(series())
def test_the_best_split_costs_what_the_best_two_segments_cost(
    given_series: tuple[Floats, Floats, Floats],
) -> None:
    size, seconds, weight = given_series
    limits = Limits(**LIMITS)
    segmenter = Segmenter(size, seconds, weight, limits)
    solutions = segmenter.solve(2)
    place = best_splits(size, seconds[None, :], weight, limits)[0]
    if len(solutions) == 1:
        assert place == 0
    else:
        total = segmenter.cost(0, place) + segmenter.cost(place, size.size)
        scale = float(np.sum(weight * seconds**2))
        assert total == pytest.approx(solutions[1][0], rel=1e-9, abs=1e-12 * scale)
