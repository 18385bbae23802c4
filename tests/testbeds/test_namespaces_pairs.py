"""k pairs over TCP between nodes of known rates give these rates back."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import chiplog
from nodes import Nodes, nodes

from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.fit.fitting import fit
from chiplog.fit.result import Fit

PROCESS_MBIT = 100.0
TRIES = 5
"""A busy host wakes timers late, and buckets lose for good what would have passed: it is measured again, as a method
that is wrong is wrong each time."""
BYTES_PER_SECOND = 1e6 / 8.0

pytestmark = pytest.mark.alone


def measured(there: Nodes, ranks_a_node: int, directory: Path, *arguments: object) -> Dataset:
    directory.mkdir(exist_ok=True)
    out = directory / "run.jsonl"
    places = [ranks_a_node] * len(there.names)
    finished = chiplog(
        *("measure", there.target, "--pattern", "pairs", "--ranks", sum(places)),
        *("--launcher", there.launcher(*places), "--rendezvous", there.rendezvous),
        *("--visits", 1, "--no-refine", "-o", out, *arguments),
    )
    assert finished.code == 0, finished.stderr
    return read_run(out)


def rates_mbit(found: Fit) -> tuple[float, float]:
    """R_C and R_N in 1e6 bit/s; NaN where one is not identified."""
    (segment,) = found.segments
    values = (segment.parameters[symbol].value for symbol in ("R_C", "R_N"))
    process, node = (float("nan") if one is None else one / BYTES_PER_SECOND for one in values)
    return process, node


def fits_with_rates(
    there: Nodes, ranks_a_node: int, directory: Path, rates: tuple[float, float], *options: object
) -> tuple[Dataset, list[Fit]]:
    """A run whose fits all have R_C and R_N within 3 % of `rates` (1e6 bit/s): the first of TRIES that does."""
    for number in range(TRIES):
        run = measured(there, ranks_a_node, directory / str(number), *options)
        fits = fit(run, ["max-rate"])
        found = [rates_mbit(one) for one in fits]
        if all(pair == pytest.approx(rates, rel=0.03) for pair in found):
            return run, fits
    pytest.fail(f"{TRIES} times other rates, the last: {found}")


def test_the_rates_of_a_process_and_of_the_node_come_back_within_three_per_cent(
    tmp_path: Path,
) -> None:
    # Well above the burst, which is free: a line through small sizes would begin below zero. At lower rates it lasts
    # longer than a timer is late.
    options = ("--sizes", "256KiB,384KiB,512KiB", "--budget", 14)
    with nodes(2, process_mbit=40.0, node_mbit=100.0, processes=4, burst_frames=3) as both:
        _, (found,) = fits_with_rates(both, 4, tmp_path, (40.0, 100.0), *options)
    assert found.between == both.names


def test_every_two_of_three_nodes_have_series_and_a_fit_of_their_own_also_one_way(
    tmp_path: Path,
) -> None:
    # A window of 64 messages hides the frames that pass free, half a per cent of the smallest.
    rates = {"process_mbit": PROCESS_MBIT, "node_mbit": 150.0}
    options = ("--every-two-nodes", "--direction", "one-way", "--sizes", "32KiB,64KiB")
    options += ("--visits", "3", "--budget", "20")  # a sample lasts up to 0.45 s
    with nodes(3, **rates, processes=6, burst_frames=6) as three:
        run, found = fits_with_rates(three, 2, tmp_path, (PROCESS_MBIT, 150.0), *options)
    first, second, third = three.names
    assert run.header["nodes"] == [first, first, second, second, third, third]
    assert {(one.direction, one.pairs) for one in run.series} == {("one-way", 1), ("one-way", 2)}
    assert {one.between for one in found} == {(first, second), (first, third), (second, third)}
    assert {one.convention for one in found} == {"one-way"}
