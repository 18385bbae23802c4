"""With 3 % noise, f comes back exactly where the data can tell it, and is not made up where they can't.

What the data can tell is decided by the profile: f is identified where one integer holds at least 95 % of the evidence.
So three claims are held, all the way from the probe's simulated network: where the noise lets f show, it is found in
(nearly) every run; where nothing waits for the gap, it is claimed in none; and in between, what is claimed is right.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import pytest

from chiplog.fit.result import Parameter
from chiplog.fit.run import fit
from chiplog.models.logfp import last_free_of_the_gap
from chiplog.testing.simulated import over_peers, simulated_runs

RUNS = 100
PARTS = 4
"""Probes that the runs are taken from, each with a seed of its own."""
OVERHEADS = {"o_min": 0.18e-6, "o_max": 1.6e-6}
FAST = {**OVERHEADS, "L": 2e-6, "g": 1e-6}
SLOW = {**OVERHEADS, "L": 5e-6, "g": 5e-6}
NOISE = 0.03
LEAST_COVERED, MOST_COVERED = 0.90, 0.995

pytestmark = pytest.mark.statistics


@dataclass(frozen=True)
class Case:
    """A network of known parameters, measured and fitted many times."""

    f: int
    theta: dict[str, float]
    most_peers: int = 16
    statistic: str = "median"
    samples: int = 60

    @property
    def truth(self) -> dict[str, float]:
        return {**self.theta, "f": float(self.f)}

    @property
    def target(self) -> str:
        times = ",".join(f"{symbol}={value * 1e9:.6g}ns" for symbol, value in self.theta.items())
        return f"sim:ranks={self.most_peers + 1},{times},o_r=0,f={self.f},noise={NOISE}"


Found = dict[str, Parameter]


def fit_some(case: Case, part: int) -> list[Found]:
    """The parameters of a share of the case's runs."""
    runs = simulated_runs(
        case.target,
        over_peers(range(1, case.most_peers + 1)),
        repetitions=RUNS // PARTS,
        samples=case.samples,
        seed=part,
    )
    return [
        dict(fit(run, ["logfp"], statistic=case.statistic)[0].segments[0].parameters)
        for run in runs
    ]


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(os.cpu_count()) as made:
        yield made


def fit_all(pool: ProcessPoolExecutor, case: Case) -> list[Found]:
    parts = pool.map(fit_some, [case] * PARTS, range(PARTS))
    return [found for part in parts for found in part]


def claimed(runs: list[Found], symbol: str) -> list[Parameter]:
    return [found[symbol] for found in runs if found[symbol].identified]


def right(case: Case, runs: list[Found]) -> int:
    return sum(one.value == case.f for one in claimed(runs, "f"))


def covered(case: Case, runs: list[Found], symbol: str) -> float:
    """The share of the intervals claimed that hold the truth."""
    inside = [
        one.low <= case.truth[symbol] <= one.high
        for one in claimed(runs, symbol)
        if one.low is not None and one.high is not None
    ]
    return sum(inside) / len(inside)


@pytest.mark.parametrize("f", range(2, 13))
def test_f_is_recovered_exactly_where_messages_wait_for_a_large_gap(
    pool: ProcessPoolExecutor, f: int
) -> None:
    case = Case(f, SLOW)
    runs = fit_all(pool, case)
    assert right(case, runs) >= 95
    assert right(case, runs) == len(claimed(runs, "f"))
    for symbol in ("L", "g", "o_min", "o_max"):
        assert LEAST_COVERED <= covered(case, runs, symbol) <= MOST_COVERED, symbol


@pytest.mark.parametrize("f", [2, 7, 12])
def test_f_is_recovered_exactly_where_the_least_time_per_message_is_far_from_it(
    pool: ProcessPoolExecutor, f: int
) -> None:
    case = Case(f, FAST, most_peers=32)
    runs = fit_all(pool, case)
    assert right(case, runs) >= 95
    assert right(case, runs) == len(claimed(runs, "f"))


@pytest.mark.parametrize("statistic", ["minimum", "mean"])
def test_f_is_recovered_exactly_from_minimum_and_mean(
    pool: ProcessPoolExecutor, statistic: str
) -> None:
    case = Case(7, SLOW, statistic=statistic)
    assert right(case, fit_all(pool, case)) >= 95


@pytest.mark.parametrize("f", [2, 12])
@pytest.mark.parametrize("g", [0.15e-6, 0.18e-6])
def test_f_is_not_identified_where_the_gap_is_within_the_overhead(
    pool: ProcessPoolExecutor, f: int, g: float
) -> None:
    runs = fit_all(pool, Case(f, {**SLOW, "g": g}))
    assert not claimed(runs, "f")
    assert not claimed(runs, "g")


@pytest.mark.parametrize("f", [11, 12, 13, 20])
def test_f_is_not_identified_where_at_most_one_p_lies_beyond_p_star(
    pool: ProcessPoolExecutor, f: int
) -> None:
    case = Case(f, SLOW, most_peers=12)
    assert case.most_peers - last_free_of_the_gap(case.truth) < 1
    runs = fit_all(pool, case)
    assert not claimed(runs, "f")
    assert not claimed(runs, "g")


@pytest.mark.parametrize("f", [2, 6, 10])
def test_what_is_claimed_of_few_noisy_samples_is_right(pool: ProcessPoolExecutor, f: int) -> None:
    case = Case(f, FAST, samples=5)
    runs = fit_all(pool, case)
    wrong = len(claimed(runs, "f")) - right(case, runs)
    assert wrong <= max(1, 0.05 * len(claimed(runs, "f")))
