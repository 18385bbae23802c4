"""Regimes: how many lines a series has, where they meet, and what held-out sizes are predicted to take."""

from __future__ import annotations

import numpy as np
import pytest

from chiplog.fitting.quantities.quantity import Quantity
from chiplog.fitting.regimes import Regimes, find_regimes
from chiplog.fitting.regimes.line import fit_line
from chiplog.plan.sizes import parse_sizes

SIZES = np.array(parse_sizes("1:1MiB"), dtype=np.int64)


def regimes(seconds: np.ndarray, limits: tuple[int, ...] = (), error: float = 0.0) -> Regimes:
    return find_regimes(SIZES, seconds, error * seconds, seconds, limits)


def line(start: float, per_byte: float) -> np.ndarray:
    return start + (SIZES - 1) * per_byte


def test_one_line_is_one_regime() -> None:
    found = regimes(line(1e-6, 1e-9))
    assert found.lines.begins == (0,)
    assert found.borders == ()


def test_a_slope_that_changes_without_a_jump_begins_a_regime_at_its_size() -> None:
    knee = 4096
    seconds = np.where(
        SIZES <= knee, line(1e-6, 1e-9), 1e-6 + (knee - 1) * 1e-9 + (SIZES - knee) * 0.3e-9
    )
    found = regimes(seconds)
    assert len(found.borders) == 1
    assert found.borders[0].last_before <= knee <= found.borders[0].highest


def test_a_curve_that_misses_a_line_by_less_than_a_percent_stays_one_regime() -> None:
    ripple = 1.0 + 0.005 * np.sin(np.log2(SIZES))
    assert regimes(line(1e-6, 1e-9) * ripple).lines.begins == (0,)


def test_a_regime_ends_at_a_protocol_change_though_the_line_goes_on() -> None:
    found = regimes(line(1e-6, 1e-9), limits=(4096,))
    assert [one.last_before for one in found.borders] == [4096]


def test_a_protocol_change_beside_the_last_sizes_leaves_them_in_the_regime_before() -> None:
    assert regimes(line(1e-6, 1e-9), limits=(int(SIZES[-2]),)).borders == ()


def test_a_size_far_off_the_line_does_not_make_a_regime() -> None:
    seconds = line(1e-6, 1e-9)
    seconds[20] *= 3.0
    found = regimes(seconds, error=0.01)
    assert found.lines.begins == (0,)
    assert found.lines.at(SIZES[:5].astype(float)) == pytest.approx(line(1e-6, 1e-9)[:5], rel=0.01)


def test_held_out_sizes_are_predicted_without_themselves() -> None:
    seconds = line(1e-6, 1e-9)
    seconds[20] *= 2.0
    found = regimes(seconds, error=0.01)
    assert found.held_out_seconds is not None
    assert found.held_out_seconds[20] == pytest.approx(seconds[20] / 2.0, rel=0.02)


def test_too_few_sizes_are_one_regime_without_a_held_out_prediction() -> None:
    few = SIZES[:4]
    found = find_regimes(few, 1e-6 + 0.0 * few, 0.0 * few, 1e-6 + 0.0 * few)
    assert found.lines.begins == (0,)
    assert found.held_out_seconds is None


def test_zero_bytes_have_a_place_below_one_byte() -> None:
    sizes = np.array([0, *SIZES.tolist()], dtype=np.int64)
    seconds = 1e-6 + sizes * 1e-9
    found = find_regimes(sizes, seconds, 0.0 * seconds, seconds)
    assert found.lines.begins == (0,)


def test_a_quantity_that_is_zero_everywhere_has_a_line_at_zero_without_a_warning() -> None:
    """An overhead of none on a simulated network; the share of noise in a time of 0 s would be a division by 0."""
    zero = np.zeros(SIZES.size)
    overhead = Quantity(
        "o_r", SIZES, zero, zero, np.zeros((SIZES.size, 5)), frozenset(), np.full(SIZES.size, 9)
    )
    fitted = fit_line(overhead, SIZES - 1.0, np.random.default_rng(1))
    assert fitted.intercept == 0.0
    assert fitted.slope == 0.0
