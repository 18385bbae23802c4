"""k pairs over TCP between nodes: every two have series and rates of their own.

How exact the rates are is tested in a machine whose timers are never late (testbeds/qemu/test_known_rates.py): here a
bucket loses for good what would have passed while a busy host woke nobody, but never lets through more than its rate.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from command import chiplog
from nodes import nodes

from chiplog.dataset.run_file import read_run
from chiplog.fitting.fit import fit

PROCESS_MBIT, NODE_MBIT = 100.0, 150.0

pytestmark = pytest.mark.alone


def test_every_two_of_three_nodes_have_series_and_a_fit_of_their_own_also_one_way(
    tmp_path: Path,
) -> None:
    # A window of 64 messages hides the frames that pass free, half a per cent of the smallest.
    out = tmp_path / "run.jsonl"
    options = ("--pattern", "pairs", "--every-two-nodes", "--direction", "one-way")
    options += ("--sizes", "32KiB,64KiB", "--visits", "1", "--no-refine", "--budget", "10")
    with nodes(
        3, process_mbit=PROCESS_MBIT, node_mbit=NODE_MBIT, processes=6, burst_frames=6
    ) as three:
        places = ("--ranks", 6, "--launcher", three.launcher(2, 2, 2))
        meeting = ("--rendezvous", three.rendezvous)
        finished = chiplog("measure", three.target, *places, *meeting, *options, "-o", out)
    assert finished.code == 0, finished.stderr
    run = read_run(out)
    found = fit(run, ["max-rate"])
    first, second, third = three.names
    assert run.header["nodes"] == [first, first, second, second, third, third]
    assert {(one.direction, one.pairs) for one in run.series} == {("one-way", 1), ("one-way", 2)}
    assert {one.between for one in found} == {(first, second), (first, third), (second, third)}
    assert {one.convention for one in found} == {"one-way"}
    known_mbit = {1: PROCESS_MBIT, 2: NODE_MBIT}
    for one in run.series:
        fastest = one.pairs * one.message_bytes / one.seconds.min()
        # A busy host may lose a part of a bucket's rate; half of it would be bytes of a pair that nobody counted.
        assert 0.55 < fastest * 8e-6 / known_mbit[one.pairs] < 1.03
