"""1:n n:1 over every transport: single messages, all numbers of peers, and the time to post them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command import chiplog

from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.models.logfp import LOGFP
from chiplog.models.protocol import points

RANKS = 4
TRUTH_SECONDS = {"L": 5e-6, "o_s": 1e-6, "o_r": 1e-6, "g": 2e-6}
SIM = "sim:L=5us,o_s=1us,o_r=1us,g=2us,G=0.5ns"


def measured(target: str, directory: Path, ranks: int = RANKS, posting: str = "normal") -> Dataset:
    out = directory / "run.jsonl"
    finished = chiplog(
        *("measure", target, "--pattern", "one_to_many", "--ranks", ranks),
        *("--sizes", "1,8KiB", "--visits", 2, "--posting", posting, "-o", out),
    )
    assert finished.code == 0, finished.stderr
    return read_run(out)


def test_on_sim_each_further_peer_costs_a_gap(tmp_path: Path) -> None:
    run = measured(SIM, tmp_path, ranks=9).select(message_bytes=1, purpose="grid")
    latency, gap = (
        2 * sum(TRUTH_SECONDS[symbol] for symbol in ("L", "o_s", "o_r")),
        TRUTH_SECONDS["g"],
    )
    for one in run.series:
        exact = {
            "one_to_many": latency + (one.peers - 1) * gap,
            "send_overhead": one.peers * TRUTH_SECONDS["o_s"],
        }
        assert one.median == pytest.approx(exact[one.pattern], rel=1e-3)
    assert {one.peers for one in run.series} == set(range(1, 9))


def test_on_sim_the_first_f_messages_are_free_of_the_gap(tmp_path: Path) -> None:
    truth = {"L": 9e-6, "o_min": 1e-6, "o_max": 0.0, "o_r": 1e-6, "g": 2e-6, "f": 4.0}
    run = measured("sim:L=9us,o=1us,g=2us,f=4", tmp_path, ranks=9)
    for one in run.select(message_bytes=1, purpose="grid").series:
        asked = points(one.pattern, one.message_bytes, train=one.train, peers=one.peers)
        exact = LOGFP.seconds(asked, truth)[0]
        assert one.seconds == pytest.approx(np.full(one.seconds.size, exact), abs=0.6e-9)


@pytest.mark.parametrize(
    ("target", "o_min", "o_max", "o_r", "g", "f"),
    [
        ("sim:L=5us,o_min=0.2us,o_max=1.6us,o_r=0,g=5us,f=3,G=0.25ns", 200, 1600, 0, 5000, 3),
        ("sim:L=5us,o_s=0.7us,o_r=0.3us,g=2us,G=0.25ns", 700, 0, 300, 2000, 1),
    ],
)
def test_on_sim_a_list_goes_out_when_all_of_it_is_posted(
    target: str, o_min: float, o_max: float, o_r: float, g: float, f: int, tmp_path: Path
) -> None:
    for one in measured(target, tmp_path, ranks=9, posting="list").series:
        p, wire = one.peers, (one.message_bytes - 1) * 0.25
        posting = p * o_min + o_max
        first = o_min + o_max
        trip = 2 * (5000 + wire + o_r) + posting + first + max(p - f, 0) * (g + wire)
        exact = trip if one.pattern == "one_to_many" else posting
        assert 1e9 * one.seconds == pytest.approx(np.full(one.seconds.size, exact), abs=0.6)


def test_on_sim_a_list_of_lop_arrives_later_by_its_further_posts(tmp_path: Path) -> None:
    target = "sim:lop=C=9us:l1=22us:l2=0:A=3us:tau=16,lop-overhead=l1=0.5us:l2=0.8us:l3=0"
    for one in measured(target, tmp_path, ranks=9, posting="list").series:
        p = one.peers
        overhead = 500 + 800 / p
        trip = p * (9000 + 22000 / p - 3000 * np.exp(-p / 16))
        exact = trip + (p - 1) * overhead if one.pattern == "one_to_many" else p * overhead
        assert 1e9 * one.seconds == pytest.approx(np.full(one.seconds.size, exact), abs=0.6)


def test_truths_that_contradict_each_other_are_wrong_usage(tmp_path: Path) -> None:
    finished = chiplog("measure", "sim:f=4,S=8KiB", "-o", tmp_path / "run.jsonl")
    assert finished.code == 2
    assert "option 'f' of sim accepts no 'S' beside it" in finished.stderr


@pytest.mark.parametrize("transport", ["shm", "unix", "tcp"])
def test_real_transports_measure_all_numbers_of_peers(transport: str, tmp_path: Path) -> None:
    run = measured(transport, tmp_path)
    for size in (1, 8192):
        of_size = run.select(message_bytes=size, purpose="grid")
        for pattern in ("one_to_many", "send_overhead"):
            series = of_size.select(pattern=pattern).series
            assert {one.peers for one in series} == set(range(1, RANKS))
            assert all(one.median > 0 for one in series)
            assert all(
                one.train == (one.peers if pattern == "send_overhead" else 1) for one in series
            )


def test_more_peers_than_ranks_are_refused_by_their_name(tmp_path: Path) -> None:
    finished = chiplog("measure", SIM, "--ranks", 1, "-o", tmp_path / "run.jsonl")
    assert finished.code == 2
    assert "--ranks" in finished.stderr
