"""The same simulated network measured and fitted many times, and what share of the fits is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from chiplog.fit.result import Parameter
from chiplog.fit.run import fit
from chiplog.plan.request import SeriesRequest
from chiplog.testing.simulated import simulated_runs

PARTS = 4
"""Probes that the runs are taken from, each with a seed of its own."""
NOISE = 0.03

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


def covered(runs: Sequence[Found], symbol: str, truth: float) -> float:
    """The share of the intervals claimed that hold the truth."""
    inside = [
        one.low <= truth <= one.high
        for one in claimed(runs, symbol)
        if one.low is not None and one.high is not None
    ]
    return sum(inside) / len(inside)
