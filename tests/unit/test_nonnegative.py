"""Least squares with factors that are not negative, against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from chiplog.protocol_changes.detect.line import nonnegative_least_squares


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_the_factors_and_the_distance_are_those_of_scipy(columns: int) -> None:
    random = np.random.default_rng(columns)
    for _ in range(200):
        design = random.normal(size=(8, columns)) * np.geomspace(1e-6, 1e3, columns)
        target = random.normal(size=8)
        factors, distance = nonnegative_least_squares(design, target)
        expected, expected_distance = nnls(design / np.linalg.norm(design, axis=0), target)
        assert distance == pytest.approx(expected_distance, rel=1e-9)
        assert factors * np.linalg.norm(design, axis=0) == pytest.approx(expected, abs=1e-9)


def test_a_column_of_zeros_has_no_share() -> None:
    factors, distance = nonnegative_least_squares(np.array([[0.0, 1.0], [0.0, 1.0]]), np.ones(2))
    assert factors.tolist() == [0.0, pytest.approx(1.0)]
    assert distance == pytest.approx(0.0, abs=1e-15)
