"""Networks drawn at random, measured as planned: what a fit identifies is right, and bounds hold the truth.

L, o_s, o_r and g from 0.1 to 100 us, G from 0.01 to 10 ns/B, all log-uniform: gaps of up to a thousand overheads, and
overheads that hide the gap. CHIPLOG_TEST_LONG=1 takes 500 machines, else there are a few.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

import pytest
from drawn_machines import ROUNDING, Judged, identified, with_noise, without_noise
from many_runs import LONG, share_is_within

MACHINES = 500 if LONG else 12
FARTHEST = 0.1
WIDTHS = 2.0
"""Halves of its interval that a value may be off where that is more than `FARTHEST`: 4 standard errors."""
RARELY = 0.002
"""Probability of that: where an overhead is that far off, so is the gap that it hides."""

pytestmark = pytest.mark.statistics


def missed(found: list[Judged]) -> list[str]:
    return [f"{one.symbol} of machine {one.machine}: {one.parameter}" for one in found]


@pytest.fixture(scope="module")
def quiet(pool: ProcessPoolExecutor) -> list[Judged]:
    return [one for found in pool.map(without_noise, range(MACHINES)) for one in found]


@pytest.fixture(scope="module")
def noisy(pool: ProcessPoolExecutor) -> list[Judged]:
    return [one for found in pool.map(with_noise, range(MACHINES)) for one in found]


def test_without_noise_what_is_identified_is_within_its_interval_and_never_far_off(
    quiet: list[Judged],
) -> None:
    found = identified(quiet)
    assert len(found) > 4 * MACHINES
    assert not missed([one for one in found if one.error > FARTHEST])
    covered = sum(one.is_covered(ROUNDING) for one in found)
    assert share_is_within(covered, len(found), 0.95)


def test_with_noise_intervals_hold_the_truth_and_hardly_a_value_is_far_beyond_them(
    noisy: list[Judged],
) -> None:
    found = identified(noisy)
    assert len(found) > 4 * MACHINES
    covered = sum(one.is_covered() for one in found)
    assert share_is_within(covered, len(found), 0.95)
    far = [one for one in found if one.error > max(FARTHEST, WIDTHS * one.width)]
    assert share_is_within(len(far), len(found), 0.0, RARELY), missed(far)


def test_bounds_of_what_is_not_identified_hold_the_truth(
    quiet: list[Judged], noisy: list[Judged]
) -> None:
    bounded = [one for one in (*quiet, *noisy) if not one.parameter.identified]
    assert all(one.parameter.high is not None for one in bounded)
    held = sum(one.is_covered(ROUNDING) for one in bounded)
    assert share_is_within(held, len(bounded), 0.97)
