"""k pairs over TCP between two nodes of known rates give these rates back."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import chiplog
from nodes import nodes

from chiplog.dataset.run_file import read_run
from chiplog.fit.run import fit

PAIRS = 4
PROCESS_MBIT, NODE_MBIT = 100.0, 250.0
BYTES_PER_SECOND = 1e6 / 8.0


def test_the_rates_of_a_process_and_of_the_node_come_back_within_three_per_cent(
    tmp_path: Path,
) -> None:
    out = tmp_path / "run.jsonl"
    rates = {"process_mbit": PROCESS_MBIT, "node_mbit": NODE_MBIT}
    with nodes(2, **rates, processes=PAIRS) as both:
        finished = chiplog(
            *("measure", both.target, "--pattern", "pairs", "--ranks", 2 * PAIRS),
            *("--launcher", both.launcher(PAIRS, PAIRS), "--rendezvous", both.rendezvous),
            # Well above the burst, which is free: a line through small sizes would begin below zero.
            *(
                "--sizes",
                "128KiB,256KiB,512KiB",
                "--visits",
                1,
                "--budget",
                8,
                "--no-refine",
                "-o",
                out,
            ),
        )
    assert finished.code == 0, finished.stderr

    (found,) = fit(read_run(out), ["max-rate"])
    (segment,) = found.segments
    process, node = segment.parameters["R_C"], segment.parameters["R_N"]
    assert process.value == pytest.approx(PROCESS_MBIT * BYTES_PER_SECOND, rel=0.03)
    assert node.value == pytest.approx(NODE_MBIT * BYTES_PER_SECOND, rel=0.03)
