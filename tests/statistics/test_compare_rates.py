"""How often two runs of an unchanged machine count as slower, and how often one that is slower by 12 % does.

The simulated network's samples follow from the seeds, so that each outcome is the same wherever the tests run.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from many_runs import LONG

from chiplog.comparison.runs import compare_runs
from chiplog.comparison.threshold import over_threshold, parse_threshold
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.jobs.measure import measure
from chiplog.plan import PlanOptions

NOISES = {
    "independent": "noise=0.05",
    "wide, with outliers": "noise=0.2,outliers=0.02",
    "drifting": "noise=0.02,drift=0.99:0.05",
    "in two states": "noise=0.02,states=1.5:0.3:20ms",
}
PAIRS = 300 if LONG else 20
SLOWER = 1.12
THRESHOLD = parse_threshold("slower:5%")
MOST_FIRES = 0.01
LEAST_FOUND = 0.95

pytestmark = [pytest.mark.statistics, pytest.mark.timeout(1800)]


def run(folder: Path, noise: str, seed: int, scale: float) -> Dataset:
    """A run of `chiplog measure` on a network that is slower by `scale`."""
    times = f"L={5 * scale:g}us,o={scale:g}us,g={2 * scale:g}us,G={0.5 * scale:g}ns"
    out = folder / f"{noise}-{seed}-{scale}.jsonl"
    sizes = tuple(4**n for n in range(9))
    options = PlanOptions("sim", ("prtt", "send_overhead"), sizes, seed=seed)
    measure(f"sim:{times},{NOISES[noise]},seed={seed}", out, options, refine=False)
    found = read_run(out)
    out.unlink()
    return found


def fires(folder: Path, noise: str, pair: int) -> tuple[bool, bool]:
    """Whether a second run counts as slower: of the unchanged machine, and of one that is slower."""
    before = run(folder, noise, 3 * pair + 1, 1.0)
    unchanged, slower = (
        run(folder, noise, 3 * pair + 2, 1.0),
        run(folder, noise, 3 * pair + 3, SLOWER),
    )
    return over(before, unchanged), over(before, slower)


def over(before: Dataset, after: Dataset) -> bool:
    return bool(over_threshold(compare_runs(before, after), THRESHOLD))


@pytest.mark.parametrize("noise", NOISES)
def test_an_unchanged_machine_is_not_slower_and_one_that_is_slower_is_found(
    pool: ProcessPoolExecutor, tmp_path: Path, noise: str
) -> None:
    found = pool.map(partial(fires, tmp_path, noise), range(PAIRS))
    unchanged, slower = (sum(column) for column in zip(*found, strict=True))
    assert unchanged <= MOST_FIRES * PAIRS
    assert slower >= LEAST_FOUND * PAIRS
