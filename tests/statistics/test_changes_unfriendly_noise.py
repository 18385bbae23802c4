"""How often protocol changes are missed or invented beside noise that isn't friendly.

The shares that are claimed are refuted, though they hold, less than once in 10^6 times; `benchmarks/changes.py`
measured them on 200 other machines of each kind (0.25 % with a false change, 0.8 % of jumps missed, over all noises;
0.7 and 1.6 % where two slopes change besides; 1.2 to 2.3 % missed in tables). Equal seeds give equal results.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from machines import GRIDS, NOISES, Drawn, draw, found_and_false
from many_runs import LONG, share_is_within

from chiplog.dataset.series import Dataset
from chiplog.protocol_changes.find import find_changes

pytestmark = pytest.mark.statistics

MACHINES = (
    {"octave": 200, "half": 200, "dense": 50} if LONG else {"octave": 20, "half": 20, "dense": 4}
)
FRIENDLY_TABLES = ("log-normal", "skewed", "outliers")


def outcome(
    grid: str, noise: str, table: bool, raw: bool, bends: int, seed: int
) -> tuple[bool, int, int]:
    """Whether there is a false change, and how many jumps were missed, of how many."""
    drawn = draw(grid, noise, table=table, raw=raw, bends=bends, seed=seed)
    found, false = found_and_false(drawn, find_changes(drawn.dataset).consensus)
    return false > 0, len(drawn.limits) - found, len(drawn.limits)


def holds(
    pool: ProcessPoolExecutor,
    grid: str,
    noises: tuple[str, ...],
    *,
    false_share: float,
    missed_share: float,
    table: bool,
    raw: bool = False,
    bends: int = 0,
) -> bool:
    """Whether at most these shares of machines show a false change, and of jumps are missed."""
    seeds = range(MACHINES[grid])
    all_of = [
        one
        for noise in noises
        for one in pool.map(partial(outcome, grid, noise, table, raw, bends), seeds, chunksize=10)
    ]
    false, missed, jumps = (sum(column) for column in zip(*all_of, strict=True))
    return share_is_within(false, len(all_of), 0.0, false_share) and share_is_within(
        missed, jumps, 0.0, missed_share
    )


@pytest.mark.parametrize("grid", GRIDS)
def test_in_runs_one_machine_of_a_hundred_shows_a_false_change_and_one_jump_of_fifty_is_missed(
    pool: ProcessPoolExecutor, grid: str
) -> None:
    assert holds(pool, grid, NOISES, table=False, false_share=0.01, missed_share=0.02)


def test_sizes_at_which_only_the_cost_of_a_byte_changes_are_no_protocol_changes(
    pool: ProcessPoolExecutor,
) -> None:
    assert holds(pool, "half", NOISES, table=False, bends=2, false_share=0.01, missed_share=0.02)


@pytest.mark.parametrize("grid", GRIDS)
def test_so_it_is_in_tables_of_one_mean_a_size_whose_machine_holds_still(
    pool: ProcessPoolExecutor, grid: str
) -> None:
    assert holds(pool, grid, FRIENDLY_TABLES, table=True, false_share=0.01, missed_share=0.025)


def test_many_sizes_tell_what_the_moments_of_a_table_added(pool: ProcessPoolExecutor) -> None:
    """States and drift last for some sizes, so that blocks of sizes scatter more than independent ones would."""
    assert holds(pool, "dense", NOISES, table=True, false_share=0.03, missed_share=0.03)


@pytest.mark.parametrize("grid", ["octave", "dense"])
def test_raw_samples_in_ascending_order_show_jumps_beside_states_and_drift(
    pool: ProcessPoolExecutor, grid: str
) -> None:
    """Each size was visited once, so states and drift go on from one size to the next."""
    noises = ("log-normal", "skewed", "outliers", "states", "drift")
    assert holds(pool, grid, noises, table=False, raw=True, false_share=0.03, missed_share=0.03)


@pytest.mark.parametrize("noise", ["log-normal", "states", "drift"])
def test_more_samples_are_never_worse_than_one_median_a_size(noise: str) -> None:
    missed_of_samples = missed_of_medians = 0
    for seed in range(100 if LONG else 30):
        drawn = draw("octave", noise, raw=True, seed=seed)
        medians = tuple(
            replace(one, seconds=np.array([one.median])) for one in drawn.dataset.series
        )
        alone = replace(drawn.dataset, series=medians)
        missed_of_samples += len(drawn.limits) - found_of(drawn, drawn.dataset)
        missed_of_medians += len(drawn.limits) - found_of(drawn, alone)
    assert missed_of_samples <= missed_of_medians + 1


def found_of(drawn: Drawn, dataset: Dataset) -> int:
    """How many of the machine's limits a dataset of it shows."""
    return found_and_false(drawn, find_changes(dataset).consensus)[0]


def stepped(drawn: Drawn) -> list[tuple[int, int]]:
    """The neighbouring sizes between which a table steps by more than 2.4."""
    seconds = np.array([series.median for series in drawn.dataset.series])
    steep = np.flatnonzero(seconds[1:] > 2.4 * seconds[:-1])
    return [(drawn.sizes[k], drawn.sizes[k + 1]) for k in steep]


@pytest.mark.parametrize("noise", NOISES)
def test_no_step_of_a_table_above_a_factor_of_two_is_silent_beyond_noise(noise: str) -> None:
    """It lies within a change, or the sizes that would tell are named."""
    shown = within = 0
    for seed in range(100 if LONG else 30):
        drawn = draw("octave", noise, table=True, seed=seed)
        result = find_changes(drawn.dataset)
        (series,) = result.series
        for low, high in stepped(drawn):
            is_within = any(
                one.last_before_bytes <= low and high <= one.first_after_bytes
                for one in result.consensus
            )
            is_named = any(low < size < high for size in series.would_tell)
            assert is_within or is_named or high <= 8, (seed, low, result)
            shown += 1
            within += is_within
    assert shown > 10
    if noise in FRIENDLY_TABLES:
        assert within >= 0.99 * shown
