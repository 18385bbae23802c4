"""The same simulated network measured and fitted many times, and what share of the fits is right."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from scipy.stats import binom
from simulated import simulated_runs

from chiplog.fitting.fit import fit
from chiplog.fitting.result import Parameter
from chiplog.plan.request import SeriesRequest

PARTS = 4
"""Probes that the runs are taken from, each with a seed of its own."""
NOISE = 0.03
MISTAKE = 1e-6
"""The probability that a claim about a share is refuted though it holds: 100 such claims fail once in 10^4 times."""
LONG = os.environ.get("CHIPLOG_TEST_LONG") == "1"
"""Whether the series are as long as `make statistics` takes them; else they are as long as CI has time for."""
COVERED = (0.94, 0.96)
"""The probability with which an interval of 95 % holds the truth, a percent of approximations allowed."""

Found = Mapping[str, Parameter]


@dataclass(frozen=True)
class Case:
    """A network, and how it is measured and fitted; all its runs have 3 % noise."""

    target: str
    series: tuple[SeriesRequest, ...]
    model: str
    samples: int = 60
    statistic: str = "median"
    runs: int = 100


def fit_some(case: Case, part: int) -> list[Found]:
    """The parameters found in one part of the runs."""
    runs = simulated_runs(
        f"{case.target},noise={NOISE}",
        case.series,
        repetitions=case.runs // PARTS,
        samples=case.samples,
        seed=part,
    )
    found = []
    for run in runs:
        one = fit(run, [case.model], boundaries=None, statistic=case.statistic)[0]
        found.append(dict(one.segments[0].parameters))
    return found


_DONE: dict[Case, list[Found]] = {}


def fit_all(pool: ProcessPoolExecutor, case: Case) -> list[Found]:
    """The parameters found in each run; a case is measured once."""
    if case not in _DONE:
        parts = pool.map(fit_some, [case] * PARTS, range(PARTS))
        _DONE[case] = [found for part in parts for found in part]
    return _DONE[case]


def claimed(runs: Sequence[Found], symbol: str) -> list[Parameter]:
    """The runs' values of one parameter, where it is identified."""
    return [found[symbol] for found in runs if found[symbol].identified]


def covered(runs: Sequence[Found], symbol: str, truth: float) -> int:
    """How many of the intervals claimed hold the truth."""
    return sum(
        one.low <= truth <= one.high
        for one in claimed(runs, symbol)
        if one.low is not None and one.high is not None
    )


def share_is_within(count: int, runs: int, low: float, high: float = 1.0) -> bool:
    """Whether `count` of `runs` leaves room for a probability from `low` to `high`.

    A probability that is there is refuted once in 1 / `MISTAKE` times on each side. So the observed share may lie
    outside by five standard deviations: of 2000 runs 91.5 to 98 % are covered by intervals of 94 to 96 %.

    >>> share_is_within(1830, 2000, 0.94, 0.96), share_is_within(1820, 2000, 0.94, 0.96)
    (True, False)
    """
    too_few = binom.cdf(count, runs, low) < MISTAKE
    too_many = binom.sf(count - 1, runs, high) < MISTAKE
    return not (too_few or too_many)
