"""k pairs at once over every transport."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command import chiplog

from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.models.max_rate import MAX_RATE
from chiplog.models.protocol import points

SIM = "sim:L=5us,o_s=1us,o_r=1us,g=2us,G=0.5ns"


def measured(target: str, directory: Path, ranks: int) -> Dataset:
    out = directory / "run.jsonl"
    finished = chiplog(
        *("measure", target, "--pattern", "pairs", "--ranks", ranks),
        *("--sizes", "1,64KiB", "--visits", 2, "-o", out),
    )
    assert finished.code == 0, finished.stderr
    return read_run(out).select(purpose="grid")


def test_on_sim_pairs_have_a_network_each(tmp_path: Path) -> None:
    run = measured(SIM, tmp_path, ranks=8)
    for one in run.series:
        exact = 14e-6 + 2 * (one.message_bytes - 1) * 0.5e-9
        assert one.median == pytest.approx(exact, rel=1e-3)
    assert {one.pairs for one in run.series} == {1, 2, 3, 4}


def test_on_sim_pairs_share_the_node_where_it_has_a_rate(tmp_path: Path) -> None:
    truth = {"s0": 5e-6, "R_C": 2e9, "R_N": 5e9}
    run = measured("sim:L=3us,o=1us,R_C=2GB/s,R_N=5GB/s", tmp_path, ranks=8)
    for one in run.series:
        exact = MAX_RATE.seconds(points("pairs", one.message_bytes, pairs=one.pairs), truth)[0]
        assert one.seconds == pytest.approx(np.full(one.seconds.size, exact), abs=0.6e-9)


@pytest.mark.parametrize("transport", ["shm", "unix", "tcp"])
def test_real_transports_measure_all_numbers_of_pairs(transport: str, tmp_path: Path) -> None:
    run = measured(transport, tmp_path, ranks=4)
    assert {(one.message_bytes, one.pairs) for one in run.series} == {
        (size, pairs) for size in (1, 65536) for pairs in (1, 2)
    }
    assert all(one.median > 0 and one.direction == "round-trip" for one in run.series)
