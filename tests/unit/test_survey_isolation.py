"""What a slow uplink gives its pairs, from when each of them was done."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given as given_any
from hypothesis import strategies as st
from simulated_survey import uneven_times

from chiplog.machine_survey.isolation import share_given


@given_any(st.integers(1, 40), st.floats(0.05, 0.999), st.integers(0, 1000), st.floats(1e-6, 1e3))
def test_the_share_comes_back_however_unevenly_pairs_get_it(
    pairs: int, share: float, seed: int, free: float
) -> None:
    times = uneven_times(pairs, share, np.random.default_rng(seed))
    assert share_given(np.sort(times) * free, free) == pytest.approx(share, rel=1e-6)


def test_pairs_that_nothing_slows_get_all_whatever_they_differ_by() -> None:
    assert share_given(np.array([0.9, 1.0, 1.1]), 1.0) == pytest.approx(1.0)
    assert share_given(np.array([0.9, 0.9]), 1.0) > 1


def test_a_pair_that_failed_leaves_the_share_unknown() -> None:
    assert np.isnan(share_given(np.array([1.0, np.nan]), 1.0))
    assert np.isnan(share_given(np.array([1.0, 1.0]), np.nan))
