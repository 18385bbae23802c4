"""With 3 % noise, f comes back exactly where the data can tell it, and is not made up where they can't.

What the data can tell is decided by the profile: f is identified where one integer holds at least 95 % of the evidence.
So three claims are held, all the way from the probe's simulated network: where the noise lets f show, it is found in
(nearly) every run; where nothing waits for the gap, it is claimed in none; and in between, what is claimed is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

import pytest
from known_networks import Theta, logfp_target
from many_runs import Case, Found, claimed, covered, fit_all

from chiplog.models.logfp import last_free_of_the_gap
from chiplog.testing.simulated import over_peers

FAST = {"L": 2e-6, "g": 1e-6}
SLOW = {"L": 5e-6, "g": 5e-6}
NUMBERS = range(2, 13)
LEAST_COVERED = 0.90

pytestmark = [pytest.mark.statistics, pytest.mark.alone]


def truth(f: int, changed: Theta) -> Theta:
    return {"f": float(f), "o_min": 0.18e-6, "o_max": 1.6e-6, **changed}


def case(
    theta: Theta, most_peers: int = 16, *, samples: int = 60, statistic: str = "median"
) -> Case:
    series = over_peers(range(1, most_peers + 1))
    return Case(logfp_target(theta, most_peers + 1), series, "logfp", samples, statistic)


def right(runs: Sequence[Found], f: int) -> int:
    return sum(one.value == f for one in claimed(runs, "f"))


@pytest.mark.parametrize("f", NUMBERS)
def test_f_is_recovered_exactly_where_messages_wait_for_a_large_gap(
    pool: ProcessPoolExecutor, f: int
) -> None:
    theta = truth(f, SLOW)
    runs = fit_all(pool, case(theta))
    assert right(runs, f) >= 95
    assert right(runs, f) == len(claimed(runs, "f"))
    for symbol in ("L", "g", "o_min", "o_max"):
        assert covered(runs, symbol, theta[symbol]) >= LEAST_COVERED, symbol


def test_intervals_are_as_wide_as_they_should_be(pool: ProcessPoolExecutor) -> None:
    for symbol in ("L", "g"):
        shares = [
            covered(fit_all(pool, case(truth(f, SLOW))), symbol, SLOW[symbol]) for f in NUMBERS
        ]
        assert sum(shares) / len(shares) <= 0.98, symbol


@pytest.mark.parametrize("f", [2, 7, 12])
def test_f_is_recovered_exactly_where_the_least_time_per_message_is_far_from_it(
    pool: ProcessPoolExecutor, f: int
) -> None:
    runs = fit_all(pool, case(truth(f, FAST), most_peers=32))
    assert right(runs, f) >= 95
    assert right(runs, f) == len(claimed(runs, "f"))


@pytest.mark.parametrize("statistic", ["minimum", "mean"])
def test_f_is_recovered_exactly_from_minimum_and_mean(
    pool: ProcessPoolExecutor, statistic: str
) -> None:
    assert right(fit_all(pool, case(truth(7, SLOW), statistic=statistic)), 7) >= 95


@pytest.mark.parametrize("f", [2, 7, 12])
@pytest.mark.parametrize("g", [0.15e-6, 0.18e-6])
def test_f_is_not_identified_where_the_gap_is_within_the_overhead(
    pool: ProcessPoolExecutor, f: int, g: float
) -> None:
    runs = fit_all(pool, case(truth(f, {**SLOW, "g": g})))
    assert not claimed(runs, "f")
    assert not claimed(runs, "g")


@pytest.mark.parametrize("f", [11, 12, 13, 20])
def test_f_is_not_identified_where_at_most_one_p_lies_beyond_p_star(
    pool: ProcessPoolExecutor, f: int
) -> None:
    theta, most_peers = truth(f, SLOW), 12
    assert most_peers - last_free_of_the_gap(theta) < 1
    runs = fit_all(pool, case(theta, most_peers))
    assert not claimed(runs, "f")
    assert not claimed(runs, "g")


@pytest.mark.parametrize("f", [2, 5, 7, 9, 11])
def test_what_is_claimed_of_few_noisy_samples_is_right(pool: ProcessPoolExecutor, f: int) -> None:
    theta = truth(f, FAST)
    runs = fit_all(pool, case(theta, samples=5))
    wrong = len(claimed(runs, "f")) - right(runs, f)
    assert wrong <= max(1, 0.05 * len(claimed(runs, "f")))
    missed = sum(
        not (one.low or 0.0) <= theta["g"] <= (one.high or 0.0) for one in claimed(runs, "g")
    )
    assert missed <= max(1, 0.1 * len(claimed(runs, "g")))
