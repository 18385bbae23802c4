"""With 3 % noise, f comes back exactly where the data can tell it, and is not made up where they can't.

What the data can tell is decided by the profile: f is identified where one integer holds at least 95 % of the evidence.
So three claims are held, all the way from the probe's simulated network: where the noise lets f show, it is found in
(nearly) every run; where nothing waits for the gap, it is claimed in none; and in between, what is claimed is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

import pytest
from known_networks import Theta, last_free_of_the_gap, logfp_target
from many_runs import COVERED, LONG, Case, Found, claimed, covered, fit_all, share_is_within
from simulated import over_peers

FAST = {"L": 2e-6, "g": 1e-6}
SLOW = {"L": 5e-6, "g": 5e-6}
NUMBERS = range(2, 13) if LONG else (2, 7, 12)
RUNS = 100 if LONG else 40
FOUND = 0.99
"""Share of the runs in which f is found where the data can tell it."""
WRONG = 0.05
"""Of what is claimed, as much may be wrong as 95 % leave."""

pytestmark = pytest.mark.statistics


def truth(f: int, changed: Theta) -> Theta:
    return {"f": float(f), "o_min": 0.18e-6, "o_max": 1.6e-6, **changed}


def case(
    theta: Theta, most_peers: int = 16, *, samples: int = 60, statistic: str = "median"
) -> Case:
    series = over_peers(range(1, most_peers + 1))
    target = logfp_target(theta, most_peers + 1)
    return Case(target, series, "logfp", samples, statistic, runs=RUNS)


def right(runs: Sequence[Found], f: int) -> int:
    return sum(one.value == f for one in claimed(runs, "f"))


def expect_no_wrong_claims(runs: Sequence[Found], f: int) -> None:
    """A share of wrong ones of 1 in 1000 leaves room for a few of 100."""
    assert share_is_within(right(runs, f), len(claimed(runs, "f")), 0.999)


@pytest.mark.parametrize("f", NUMBERS)
def test_f_is_recovered_exactly_where_messages_wait_for_a_large_gap(
    pool: ProcessPoolExecutor, f: int
) -> None:
    theta = truth(f, SLOW)
    runs = fit_all(pool, case(theta))
    assert share_is_within(right(runs, f), RUNS, FOUND)
    expect_no_wrong_claims(runs, f)


@pytest.mark.parametrize("symbol", ["L", "g", "o_min", "o_max"])
def test_intervals_cover_the_truth(pool: ProcessPoolExecutor, symbol: str) -> None:
    """Of all f together: their intervals come about in the same way."""
    count, claims = 0, 0
    for f in NUMBERS:
        theta = truth(f, SLOW)
        runs = fit_all(pool, case(theta))
        count += covered(runs, symbol, theta[symbol])
        claims += len(claimed(runs, symbol))
    assert share_is_within(count, claims, *COVERED), f"{count} of {claims}"


@pytest.mark.parametrize("f", [2, 7, 12])
def test_f_is_recovered_exactly_where_the_least_time_per_message_is_far_from_it(
    pool: ProcessPoolExecutor, f: int
) -> None:
    runs = fit_all(pool, case(truth(f, FAST), most_peers=32))
    assert share_is_within(right(runs, f), RUNS, FOUND)
    expect_no_wrong_claims(runs, f)


@pytest.mark.parametrize("statistic", ["minimum", "mean"])
def test_f_is_recovered_exactly_from_minimum_and_mean(
    pool: ProcessPoolExecutor, statistic: str
) -> None:
    runs = fit_all(pool, case(truth(7, SLOW), statistic=statistic))
    assert share_is_within(right(runs, 7), RUNS, FOUND)


@pytest.mark.parametrize("f", [2, 7, 12] if LONG else [7])
@pytest.mark.parametrize("g", [0.15e-6, 0.18e-6])
def test_f_is_not_identified_where_the_gap_is_within_the_overhead(
    pool: ProcessPoolExecutor, f: int, g: float
) -> None:
    runs = fit_all(pool, case(truth(f, {**SLOW, "g": g})))
    assert not claimed(runs, "f")
    assert not claimed(runs, "g")


@pytest.mark.parametrize("f", [11, 12, 13, 20] if LONG else [12, 20])
def test_f_is_not_identified_where_at_most_one_p_lies_beyond_p_star(
    pool: ProcessPoolExecutor, f: int
) -> None:
    theta, most_peers = truth(f, SLOW), 12
    assert most_peers - last_free_of_the_gap(theta) < 1
    runs = fit_all(pool, case(theta, most_peers))
    assert not claimed(runs, "f")
    assert not claimed(runs, "g")


@pytest.mark.parametrize("f", [2, 5, 7, 9, 11] if LONG else [2, 9])
def test_what_is_claimed_of_few_noisy_samples_is_right(pool: ProcessPoolExecutor, f: int) -> None:
    theta = truth(f, FAST)
    runs = fit_all(pool, case(theta, samples=5))
    claims = len(claimed(runs, "f"))
    assert share_is_within(right(runs, f), claims, 1.0 - WRONG)
    claims = len(claimed(runs, "g"))
    assert share_is_within(covered(runs, "g", theta["g"]), claims, COVERED[0])
