"""The whole way from the probe's simulated transport to parameters and protocol changes, over many seeds."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from many_runs import COVERED, LONG, share_is_within

from chiplog.dataset.run_file import read_run
from chiplog.fitting.fit import fit
from chiplog.jobs.measure import measure
from chiplog.plan import PlanOptions
from chiplog.plan.plan import DEFAULT_SIZES
from chiplog.plan.sizes import parse_sizes
from chiplog.protocol_changes.find import find_changes

TRUTH = {"L": 5e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "G": 0.5e-9}
ONE_PROTOCOL = "sim:L=5us,o_s=1us,o_r=1us,g=2us,G=0.5ns,noise=0.05,outliers=0.01"
THREE_PROTOCOLS = f"{ONE_PROTOCOL},change=8KiB:L=9us:g=4us,change=64KiB:L=16us:o_s=2us:g=9us"
SEEDS_FOR_COVERAGE, SEEDS_FOR_CHANGES = (400, 100) if LONG else (30, 20)

pytestmark = pytest.mark.statistics


@dataclass(frozen=True)
class Outcome:
    """Changes as (last before, first after) in bytes; value, low and high of each parameter."""

    changes: tuple[tuple[int, int], ...]
    parameters: dict[str, tuple[float | None, float | None, float | None]]


def assess(target: str) -> Outcome:
    """Measure with the defaults, fit, and find the changes."""
    seed = int(target.rpartition("=")[2])
    progress = io.StringIO()
    with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stderr(progress):
        out = Path(directory) / "run.jsonl"
        options = PlanOptions("sim", ("prtt",), parse_sizes(DEFAULT_SIZES), seed=seed)
        measure(target, out, options)
        dataset = read_run(out)
    changes = find_changes(dataset).consensus
    found = fit(dataset, ["loggp"], boundaries=None, seed=seed)[0].segments[0].parameters
    return Outcome(
        tuple((change.last_before_bytes, change.first_after_bytes) for change in changes),
        {symbol: (found[symbol].value, found[symbol].low, found[symbol].high) for symbol in TRUTH},
    )


def assess_all(pool: ProcessPoolExecutor, target: str, seeds: int) -> Sequence[Outcome]:
    return list(pool.map(assess, [f"{target},seed={seed}" for seed in range(seeds)]))


@pytest.fixture(scope="module")
def one_protocol(pool: ProcessPoolExecutor) -> Sequence[Outcome]:
    return assess_all(pool, ONE_PROTOCOL, SEEDS_FOR_COVERAGE)


@pytest.mark.parametrize("symbol", TRUTH)
def test_the_median_error_is_at_most_two_percent_and_intervals_mean_what_they_say(
    one_protocol: Sequence[Outcome], symbol: str
) -> None:
    found = np.array([outcome.parameters[symbol] for outcome in one_protocol], dtype=float)
    value, low, high = found.T / TRUTH[symbol]
    assert np.median(np.abs(value - 1.0)) <= 0.02
    count = int(np.sum((low <= 1.0) & (high >= 1.0)))
    assert share_is_within(count, SEEDS_FOR_COVERAGE, *COVERED)


def test_one_protocol_shows_a_change_in_at_most_one_percent_of_runs(
    one_protocol: Sequence[Outcome],
) -> None:
    assert sum(bool(outcome.changes) for outcome in one_protocol) <= 0.01 * SEEDS_FOR_COVERAGE


def test_both_changes_of_three_protocols_are_found_to_the_byte_in_99_percent_of_runs(
    pool: ProcessPoolExecutor,
) -> None:
    outcomes = assess_all(pool, THREE_PROTOCOLS, SEEDS_FOR_CHANGES)
    exact = sum(outcome.changes == ((8192, 8193), (65536, 65537)) for outcome in outcomes)
    assert exact >= 0.99 * SEEDS_FOR_CHANGES
