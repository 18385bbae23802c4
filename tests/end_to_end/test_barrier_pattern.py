"""Barriers measured without an MPI, over every transport, and what fits make of a run that holds them."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import chiplog

from chiplog.collectives.barrier.n_way_dissemination import last_peers, round_count
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.protocol_changes.detect.observed import observe

SIM = "sim:L=5us,o=1us,g=2us,G=0.5ns"
ONE_WAY, GAP = 7e-6, 2e-6


def measured(target: str, out: Path, patterns: str, ranks: int, sizes: str = "1") -> Dataset:
    finished = chiplog(
        *("measure", target, "--pattern", patterns, "--ranks", ranks),
        *("--sizes", sizes, "--visits", 2, "-o", out),
    )
    assert finished.code == 0, finished.stderr
    return read_run(out)


def test_on_sim_a_barrier_takes_its_rounds_with_every_number_of_peers(tmp_path: Path) -> None:
    run = measured(SIM, tmp_path / "run.jsonl", "barrier", ranks=9).select(purpose="grid")
    assert {one.peers for one in run.series} == set(range(1, 9))
    for one in run.series:
        full = round_count(9, one.peers) - 1
        gaps = full * (one.peers - 1) + last_peers(9, one.peers) - 1
        assert one.median == pytest.approx((full + 1) * ONE_WAY + gaps * GAP, abs=1e-9)


def test_fits_and_the_search_for_changes_pass_over_barriers(tmp_path: Path) -> None:
    run = measured(SIM, tmp_path / "both.jsonl", "prtt,barrier", ranks=3, sizes="1:256")
    assert "barrier" in {one.pattern for one in run.series}
    assert "barrier" not in {one.pattern for one in observe(run)}
    finished = chiplog("fit", tmp_path / "both.jsonl", "--json", "-")
    assert finished.code == 0, finished.stderr


def test_barriers_alone_are_not_enough_for_a_fit(tmp_path: Path) -> None:
    measured(SIM, tmp_path / "run.jsonl", "barrier", ranks=3)
    finished = chiplog("fit", tmp_path / "run.jsonl")
    assert finished.code == 2
    assert "no model can be fitted to what it holds" in finished.stderr


@pytest.mark.parametrize("transport", ["shm", "unix", "tcp"])
def test_real_transports_measure_barriers(transport: str, tmp_path: Path) -> None:
    run = measured(transport, tmp_path / "run.jsonl", "barrier", ranks=4).select(purpose="grid")
    assert {one.peers for one in run.series} == {1, 2, 3}
    assert all(one.direction == "call" and one.median > 0 for one in run.series)
