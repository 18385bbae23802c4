"""fabtests, ucx_perftest and qperf: what a number is, what the file does not say, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from imported_files import imported, refused, times
from needs import require_data
from new_tools_files import (
    FI_PINGPONG,
    MACHINE_READABLE,
    QPERF,
    RDM_BANDWIDTH,
    TAGGED_PINGPONG,
    UCX_CSV,
    UCX_HEADER,
    UCX_OLD,
    UCX_ROWS,
    UCX_TITLES,
    UCX_UNNAMED,
)


def test_a_ping_pong_of_fabtests_is_half_a_round_trip_of_binary_kilobytes(tmp_path: Path) -> None:
    run, notes = imported(tmp_path, "fabtests", TAGGED_PINGPONG)
    assert times(run) == [(64, 10.0), (1024, 12.5), (1536, 15.0), (65536, 50.0)]
    assert {(one.pattern, one.direction, one.operation) for one in run.series} == {
        ("ping_pong", "one-way", "send")
    }
    assert not notes


def test_a_bandwidth_of_fabtests_is_a_window_of_messages_by_the_digits_of_its_rate(
    tmp_path: Path,
) -> None:
    run, _ = imported(tmp_path, "fabtests", RDM_BANDWIDTH)
    assert [(one.pattern, one.train) for one in run.series] == [("flood", 32)] * 2
    assert times(run)[0] == (64, pytest.approx(32 * 0.075, rel=1e-4))
    assert times(run)[1] == (65536, pytest.approx(32 * 6.0))


def test_without_a_name_two_transfers_an_iteration_tell_a_ping_pong(tmp_path: Path) -> None:
    run, notes = imported(tmp_path, "fabtests", FI_PINGPONG)
    assert times(run) == [(64, 4.0), (1 << 20, 50.0)]
    assert any("does not name its test" in note for note in notes)
    assert any("4k      10k     +3" in note for note in notes), "not every message was answered"


def test_the_machine_readable_form_has_sizes_to_the_byte(tmp_path: Path) -> None:
    run, _ = imported(tmp_path, "fabtests", MACHINE_READABLE)
    assert [(one.operation, one.message_bytes) for one in run.series] == [("rdma-write", 100)]
    assert run.series[0].median == 2.5e-6


def test_a_flood_without_a_name_is_refused_with_what_to_do(tmp_path: Path) -> None:
    text = RDM_BANDWIDTH.partition("\n")[2]
    sentence = refused(tmp_path, "fabtests", text)
    assert "line 1" in sentence and "put the test's command" in sentence


def test_a_command_that_contradicts_the_number_of_transfers_is_refused(tmp_path: Path) -> None:
    text = TAGGED_PINGPONG.replace("fi_rdm_tagged_pingpong", "fi_rdm_bw")
    sentence = refused(tmp_path, "fabtests", text)
    assert "line 3, field total" in sentence and "2" in sentence


def test_one_sided_tests_need_their_operation(tmp_path: Path) -> None:
    write = RDM_BANDWIDTH.replace("fi_rdm_bw", "fi_rma_bw -o read")
    run, _ = imported(tmp_path, "fabtests", write)
    assert {(one.pattern, one.operation) for one in run.series} == {("flood", "rdma-read")}
    assert "must say -o write" in refused(
        tmp_path / "..", "fabtests", write.replace(" -o read", "")
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "1.5k    1k      2.9m        0.03s    102.40",
            "1.9k    1k      3.8m        0.03s    130.67",
        ),
        (
            "1k      1k      2m          0.03s     81.92",
            "1k      1k      2m          0.03s     90.00",
        ),
    ],
)
def test_a_size_whose_last_digits_were_cut_off_is_skipped(
    tmp_path: Path, old: str, new: str
) -> None:
    assert old in TAGGED_PINGPONG
    run, notes = imported(tmp_path, "fabtests", TAGGED_PINGPONG.replace(old, new))
    assert len(run.series) == 3
    assert any(new[:30] in note for note in notes)


def test_providers_with_a_table_each_are_not_pooled(tmp_path: Path) -> None:
    other = (
        TAGGED_PINGPONG.replace("-p tcp", "-p shm")
        .replace("10.00", "2.00 ")
        .replace("6.40", "32.0")
    )
    run, _ = imported(tmp_path, "fabtests", TAGGED_PINGPONG + other)
    assert {one.placement for one in run.series} == {"tcp", "shm"}
    assert {one.launch for one in run.series} == {0}


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("cxi_fi_pingpong.txt", "fabtests", (6, 64, 4.97)),
        ("lf5697_with.txt", "fabtests", (6, 64, 20.0)),
        ("ucx_perftest.txt", "ucx-perftest", (1, 30000, 16.416)),
    ],
)
def test_real_tables_of_fabrics_become_one_way_ping_pongs(
    tmp_path: Path, name: str, kind: str, expected: tuple[int, int, float]
) -> None:
    run, _ = imported(tmp_path, kind, require_data(f"field/{name}").read_bytes())
    sizes, first, microseconds = expected
    assert len(run.series) == sizes
    assert times(run)[0] == (first, microseconds)
    assert {(one.pattern, one.direction) for one in run.series} == {("ping_pong", "one-way")}


def test_the_overall_time_of_the_last_row_is_taken_and_the_size_comes_from_the_rates(
    tmp_path: Path,
) -> None:
    run, notes = imported(tmp_path, "ucx-perftest", UCX_UNNAMED)
    assert times(run) == [(4000, 11.111)]
    assert [(one.pattern, one.direction, one.operation) for one in run.series] == [
        ("ping_pong", "one-way", "send")
    ]
    assert any("does not name its test" in note for note in notes)
    assert any("does not say the message size" in note for note in notes)


def test_a_get_is_a_whole_operation_and_its_memory_a_part(tmp_path: Path) -> None:
    run, notes = imported(tmp_path, "ucx-perftest", UCX_TITLES + UCX_HEADER + UCX_ROWS)
    (one,) = run.series
    assert (one.pattern, one.direction, one.operation) == ("ping_pong", "round-trip", "rdma-read")
    assert one.placement == "host-to-cuda-buffers"
    assert not notes


def test_a_bandwidth_of_ucx_is_a_flood_of_all_its_iterations(tmp_path: Path) -> None:
    run, _ = imported(tmp_path, "ucx-perftest", UCX_OLD)
    (one,) = run.series
    assert (one.pattern, one.operation, one.message_bytes) == ("flood", "send", 1 << 20)
    assert (one.train, one.median) == (1000, pytest.approx(1000 * 90e-6))


def test_the_names_of_a_batch_say_test_and_size(tmp_path: Path) -> None:
    run, notes = imported(tmp_path, "ucx-perftest", UCX_CSV)
    assert [(one.pattern, one.operation, one.message_bytes) for one in run.series] == [
        ("ping_pong", "send", 8),
        ("flood", "rdma-write", 8),
    ]
    assert any("cswap" in note for note in notes), "no pattern is like a compare-and-swap"


def test_batches_in_tables_are_told_by_their_banners(tmp_path: Path) -> None:
    header = UCX_HEADER.replace(" latency (usec)", "overhead (usec)")
    banner = "+4000/get_bcopy_lat-----+--------------+----------+---------+---------+-----+\n"
    run, _ = imported(tmp_path, "ucx-perftest", header + banner + UCX_ROWS)
    assert [(one.operation, one.message_bytes) for one in run.series] == [("rdma-read", 4000)]


def test_a_bandwidth_that_nothing_names_is_refused(tmp_path: Path) -> None:
    text = UCX_UNNAMED.replace(" latency (usec)", "overhead (usec)")
    assert "which bandwidth this is" in refused(tmp_path, "ucx-perftest", text)


def test_a_size_that_contradicts_time_and_bandwidth_is_refused(tmp_path: Path) -> None:
    text = "ucx_perftest -t tag_lat -s 8000 n2\n" + UCX_UNNAMED
    assert "give 4000 bytes, not 8000" in refused(tmp_path, "ucx-perftest", text)
    contradictory = UCX_UNNAMED.replace("381.47     381.47", "900.47     200.47").replace(
        "343.32", "700.00"
    )
    assert "contradict each other" in refused(tmp_path, "ucx-perftest", contradictory)


def test_several_threads_are_no_pair(tmp_path: Path) -> None:
    row = UCX_ROWS.partition("\n")[0]
    text = UCX_UNNAMED.replace("Final:", f"{row.replace('thread 0', 'thread 1')}\nFinal:")
    assert "several threads" in refused(tmp_path, "ucx-perftest", text)


def test_a_latency_of_qperf_is_half_a_ping_pong_of_the_exact_size(tmp_path: Path) -> None:
    run, notes = imported(tmp_path, "qperf", QPERF)
    assert times(run) == [(1, 13.9), (4096, 1250.0), (1, 14.1), (8, 0.87)]
    assert [(series.operation, series.launch) for series in run.series] == [
        *(("send", 0), ("send", 0), ("send", 1), ("rdma-write", 0))
    ]
    assert {(series.pattern, series.direction) for series in run.series} == {
        ("ping_pong", "one-way")
    }
    assert any("tcp_bw" in note for note in notes)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("    msg_size  =     1 bytes\n", "", "run qperf with -vu"),
        ("13.9 us", "13.9 jiffies", "no time in ns, us, ms, sec"),
        ("1 bytes", "1 lines", "no size in bytes"),
        ("13.9 us", "1e400 us", "latency"),
        ("time      =", "latency   =", "twice"),
    ],
)
def test_qperf_without_what_it_takes_is_refused(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert said in refused(tmp_path, "qperf", QPERF.replace(old, new, 1))


def test_bandwidths_of_qperf_alone_are_refused_by_name(tmp_path: Path) -> None:
    assert "tcp_bw is none of the ping-pongs" in refused(
        tmp_path, "qperf", "tcp_bw:\n    bw  =  2.5 GB/sec\n"
    )
