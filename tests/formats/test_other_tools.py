"""perftest, NetPIPE, nccl-tests, mpiGraph and LinkTest: what a number is, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from other_tools_files import (
    ALL_REDUCE,
    FILES,
    LINKTEST,
    MPIGRAPH,
    NP_OUT_3,
    NP_OUT_5,
    NPMPI_5,
    NPTCP,
    OLD_ALL_REDUCE,
    OLD_BROADCAST,
    SEND_LATENCY,
    WRITE_BANDWIDTH,
)

from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.errors import CorruptFile, UsageError
from chiplog.fitting.fit import fit, models_for
from chiplog.machine_survey.machine_verdict import verdict_of_run
from chiplog.machine_survey.pair_values import pair_values


def imported(tmp_path: Path, kind: str, text: str, **options: str) -> Dataset:
    source = tmp_path / "source.txt"
    source.write_text(text)
    return read_run(import_file(kind, source, tmp_path / "run.jsonl", **options))


def refused(tmp_path: Path, kind: str, text: str) -> str:
    with pytest.raises(CorruptFile) as error:
        imported(tmp_path, kind, text)
    assert not (tmp_path / "run.jsonl").exists()
    return str(error.value)


def warnings(run: Dataset) -> list[tuple[object, object]]:
    found = run.header["warnings"]
    assert isinstance(found, list)
    return [(one["number"], one["unit"]) for one in found]


def times(run: Dataset) -> list[tuple[int, float]]:
    return [(one.message_bytes, round(1e6 * float(one.seconds[0]), 6)) for one in run.series]


def test_a_latency_of_perftest_is_the_median_of_half_a_ping_pong(tmp_path: Path) -> None:
    run = imported(tmp_path, "perftest", SEND_LATENCY)
    assert times(run) == [(2, 0.84), (64, 0.94), (4096, 2.1)]
    assert {(s.pattern, s.direction, s.operation) for s in run.series} == {
        ("ping_pong", "one-way", "send")
    }
    assert warnings(run) == [(2, "lines")], "a prompt and a word about the CPU's frequency"
    assert run.header["provenance"]["statistic"] == "median"  # type: ignore[index]


@pytest.mark.parametrize(
    ("title", "operation", "direction"),
    [
        ("RDMA_Write Latency Test", "rdma-write", "one-way"),
        ("RDMA_Read Latency Test", "rdma-read", "round-trip"),
    ],
)
def test_one_sided_latencies_are_operations_of_their_own(
    tmp_path: Path, title: str, operation: str, direction: str
) -> None:
    run = imported(tmp_path, "perftest", SEND_LATENCY.replace("Send Latency Test", title))
    assert {(s.operation, s.direction) for s in run.series} == {(operation, direction)}


def test_perftests_average_is_taken_where_it_is_the_only_time(tmp_path: Path) -> None:
    text = """                    Send Latency Test
 #bytes        #iterations       t_avg[usec]    tps average
 2             4893201             0.96           522108.20
"""
    run = imported(tmp_path, "perftest", text)
    assert times(run) == [(2, 0.96)]
    assert run.header["provenance"]["statistic"] == "mean"  # type: ignore[index]


def test_perftests_raw_times_are_kept(tmp_path: Path) -> None:
    text = SEND_LATENCY.replace(
        " 2       1000", "#, usec\n1, 0.81\n2, 0.84\n3, 4.05\n 2       1000"
    )
    run = imported(tmp_path, "perftest", text)
    assert run.series[0].seconds.tolist() == [0.81e-6, 0.84e-6, 4.05e-6]
    assert run.series[1].seconds.tolist() == [0.94e-6]


@pytest.mark.parametrize(
    ("header", "factor"), [("MiB/sec", 1.0), ("MB/sec", 1.0), ("Gb/sec", 8 * 1.048576e-3)]
)
def test_a_bandwidth_of_perftest_is_a_flood_of_all_iterations(
    tmp_path: Path, header: str, factor: float
) -> None:
    text = WRITE_BANDWIDTH.replace("MiB/sec", header)
    for rate in ("8000.00", "11000.00"):
        text = text.replace(f" {rate}\t", f" {float(rate) * factor:.2f}\t")
    run = imported(tmp_path, "perftest", text)
    assert {(s.pattern, s.operation, s.train) for s in run.series} == {
        ("flood", "rdma-write", 5000)
    }
    rates = [s.train * s.message_bytes / float(s.seconds[0]) / 2**20 for s in run.series]
    assert rates == pytest.approx([8000, 11000], rel=1e-3)


def test_a_rate_of_messages_tells_that_a_megabyte_is_1e6_bytes(tmp_path: Path) -> None:
    text = WRITE_BANDWIDTH.replace("MiB", "MB").replace("8000.00", "8388.61")
    text = text.replace("11000.00", "11534.34")
    one = imported(tmp_path, "perftest", text).series[0]
    assert 5000 * 4096 / float(one.seconds[0]) == pytest.approx(8388.61e6)


def test_a_bandwidth_of_two_digits_is_taken_from_the_rate_of_messages(tmp_path: Path) -> None:
    text = WRITE_BANDWIDTH.replace("MiB/sec", "Gb/sec").partition(" 4096")[0]
    (one,) = imported(tmp_path, "perftest", text + " 4  5000  0.21  0.18  5.523125\n").series
    assert float(one.seconds[0]) == pytest.approx(5000 / 5.523125e6)


def test_a_perftest_that_runs_for_ever_has_a_visit_for_each_row(tmp_path: Path) -> None:
    row = " 65536      5000             11200.00           {}\t\t     {}\n"
    text = WRITE_BANDWIDTH + row.format("10937.50", "0.175000")
    visits = [(s.message_bytes, s.visit) for s in imported(tmp_path, "perftest", text).series]
    assert visits == [(4096, 0), (65536, 0), (65536, 1)]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("RDMA_Write BW", "RDMA_Write Bidirectional BW", "can't be imported"),
        ("RDMA_Write BW", "Atomic CMP_AND_SWAP BW", "can't be imported"),
        ("Number of qps   : 1", "Number of qps   : 4", "4 queue pairs send at once"),
        ("8000.00", "9500.00", "but the rate of messages gives"),
        ("RDMA_Write BW Test", "", "no line says which test"),
    ],
)
def test_what_perftest_measured_otherwise_is_refused(
    tmp_path: Path, old: str, new: str, sentence: str
) -> None:
    assert sentence in refused(tmp_path, "perftest", WRITE_BANDWIDTH.replace(old, new))


def test_a_table_of_perftest_without_its_title_says_what_to_do(tmp_path: Path) -> None:
    table = SEND_LATENCY[SEND_LATENCY.index(" #bytes") :]
    assert "put its title" in refused(tmp_path, "perftest", table)
    assert "holds no table" in refused(tmp_path, "perftest", "Couldn't connect to node2:18515\n")
    both = WRITE_BANDWIDTH.replace("RDMA_Write BW", "RDMA_Write Bidirectional BW")
    assert "both ways" in refused(tmp_path, "perftest", both)


def test_perftest_over_two_kinds_of_connections_has_two_parts(tmp_path: Path) -> None:
    other = SEND_LATENCY.replace("type : RC", "type : UD")
    run = imported(tmp_path, "perftest", SEND_LATENCY + other)
    assert {one.placement for one in run.series} == {"rc+host-buffers", "ud+host-buffers"}


@pytest.mark.parametrize("text", [NP_OUT_3, NPTCP], ids=["np.out", "printed"])
def test_netpipe_3_is_half_a_ping_pong(tmp_path: Path, text: str) -> None:
    run = imported(tmp_path, "netpipe", text)
    assert times(run) == [(1, 3.42), (64, 4.05), (4096, 9.0)]
    assert {(s.pattern, s.direction) for s in run.series} == {("ping_pong", "one-way")}


@pytest.mark.parametrize("text", [NP_OUT_5, NPMPI_5], ids=["np.out", "printed"])
def test_netpipe_5_is_half_a_ping_pong(tmp_path: Path, text: str) -> None:
    assert times(imported(tmp_path, "netpipe", text)) == [(1, 1.9), (64, 2.0), (4096, 4.0)]


def test_netpipe_2_has_seconds_first_and_no_finer_step_than_a_microsecond(tmp_path: Path) -> None:
    run = imported(tmp_path, "netpipe", "0.000026 0.293435 8 1 0.00\n0.000030 1.017253 32 4 0.00\n")
    assert times(run) == [(1, 26.0), (4, 30.0)]
    assert run.header["clock"] == {"resolution_ns": 1000.0, "overhead_ns": None}


def test_a_size_that_netpipe_rounds_is_skipped_and_counted(tmp_path: Path) -> None:
    text = NPMPI_5 + "  4:    1.049 MB      2048 times -->   80.000 Gbps  in  104.858 usecs\n"
    run = imported(tmp_path, "netpipe", text)
    assert len(run.series) == 3 and (1, "rows") in warnings(run)


@pytest.mark.parametrize("text", [NP_OUT_3, NP_OUT_5, NPTCP])
def test_a_rate_of_both_directions_is_refused(tmp_path: Path, text: str) -> None:
    doubled = text.replace("3472.22", "6944.44").replace("8.192 ", "16.384 ")
    assert "no test of both directions" in refused(tmp_path, "netpipe", doubled)


def test_a_collective_is_never_a_ping_pong(tmp_path: Path) -> None:
    run = imported(tmp_path, "nccl-tests", ALL_REDUCE)
    assert [(s.pattern, s.operation, s.direction) for s in run.series] == 2 * [
        ("allreduce", "out-of-place", "call"),
        ("allreduce", "in-place", "call"),
    ]
    assert times(run) == [(8, 23.45), (8, 22.11), (16777216, 123.4), (16777216, 122.0)]
    assert run.header["ranks"] == 2 and run.header["hosts"] == ["node1", "node1"]
    assert models_for(run) == ()
    for model in ("hockney", "loggp", "max-rate"):
        with pytest.raises(UsageError):
            fit(run, [model])


def test_a_collective_with_wrong_values_has_no_time(tmp_path: Path) -> None:
    text = ALL_REDUCE.replace("135.96      0", "135.96      3")
    run = imported(tmp_path, "nccl-tests", text)
    assert len(run.series) == 3 and warnings(run) == [(1, "rows")]


UNNAMED = ALL_REDUCE.replace("# Collective test starting: all_reduce_perf\n", "")


def test_a_collective_without_a_name_is_refused_with_what_to_do(tmp_path: Path) -> None:
    text = refused(tmp_path, "nccl-tests", UNNAMED)
    assert "allreduce or sendrecv" in text and "put a line such as '# Collective test" in text


FOUR = "".join(
    f"#  Rank  {rank} Group  0 Pid     17 on    node1 device  {rank} [0x1b] some device\n"
    for rank in range(4)
)


@pytest.mark.parametrize(
    ("redop", "root", "busbw", "name", "found"),
    [
        ("sum", "-1", "203.94", "a.log", "allreduce"),
        ("sum", "-1", "101.97", "a.log", "reduce_scatter"),
        ("sum", " 0", "135.96", "a.log", "reduce"),
        ("none", "-1", "101.97", "all_gather.log", "allgather"),
        ("none", "-1", "101.97", "alltoall-4.log", "alltoall"),
        ("none", " 0", "135.96", "a.log", "bcast"),
        ("none", "-1", "101.97", "all_reduce.log", None),
    ],
)
def test_a_collective_without_a_name_is_told_by_its_columns(
    tmp_path: Path, redop: str, root: str, busbw: str, name: str, found: str | None
) -> None:
    row = f"16777216  4194304  float  {redop}  {root}  123.40  135.96  {busbw}  0\n"
    head = "# Using devices\n" + FOUR + "# size count type redop root time algbw busbw #wrong\n"
    source = tmp_path / name
    source.write_text(head + row)
    if found is None:
        with pytest.raises(CorruptFile, match="can be allgather or alltoall"):
            import_file("nccl-tests", source, tmp_path / "run.jsonl")
        return
    run = read_run(import_file("nccl-tests", source, tmp_path / "run.jsonl"))
    assert [one.pattern for one in run.series] == [found]
    assert warnings(run) == [(1, "tables")]


def test_tables_of_two_numbers_of_ranks_are_no_launches(tmp_path: Path) -> None:
    head, devices = ALL_REDUCE.split("# Using devices\n")
    other = head + "# Using devices\n" + FOUR + devices[devices.index("#\n") :]
    run = imported(tmp_path, "nccl-tests", ALL_REDUCE + other)
    assert {(one.launch, one.peers) for one in run.series} == {(0, 1), (0, 3)}
    run = imported(tmp_path, "nccl-tests", ALL_REDUCE + ALL_REDUCE)
    assert {one.launch for one in run.series} == {0, 1}


def test_types_and_reductions_of_a_collective_are_kept_apart(tmp_path: Path) -> None:
    run = imported(tmp_path, "nccl-tests", ALL_REDUCE + ALL_REDUCE.replace("float", " half"))
    assert {one.launch for one in run.series} == {0}
    assert {one.operation for one in run.series} == {
        f"{place}, {kind} sum -1"
        for place in ("out-of-place", "in-place")
        for kind in ("float", "half")
    }


def test_an_older_releases_error_is_a_difference_and_not_a_count(tmp_path: Path) -> None:
    run = imported(tmp_path, "nccl-tests", OLD_ALL_REDUCE)
    kept = [(one.message_bytes, one.operation.split(",")[0]) for one in run.series]
    assert kept == [
        (8, "out-of-place"),
        (8, "in-place"),
        (2048, "out-of-place"),
        (4096, "out-of-place"),
    ]
    assert [one for _, one in times(run)] == [45.5, 44.25, 49.5, 51.5]
    assert warnings(run) == [(4, "rows")], "differences beyond what the release itself allows"


def test_a_blank_reduction_and_a_suffix_of_the_program_are_understood(tmp_path: Path) -> None:
    run = imported(tmp_path, "nccl-tests", OLD_BROADCAST)
    assert [(one.pattern, one.operation) for one in run.series] == 2 * [
        ("bcast", "out-of-place"),
        ("bcast", "in-place"),
    ]
    assert times(run) == [(8, 31.5), (8, 30.25), (1024, 33.5), (1024, 32.25)]
    assert warnings(run) == []
    assert {one.tag["variant"] for one in run.series} == {"float 0"}


@pytest.mark.parametrize(
    "name", ["all_gather_perf-cuda12", "all_gather_perf_mpi.x", "all_gather_perf"]
)
def test_a_program_keeps_its_name_whatever_a_site_adds(tmp_path: Path, name: str) -> None:
    text = OLD_BROADCAST.replace("broadcast_perf_mpi", name).replace("      0    3", "     -1    3")
    assert {one.pattern for one in imported(tmp_path, "nccl-tests", text).series} == {"allgather"}


def test_the_line_above_the_columns_says_which_time_is_in_place(tmp_path: Path) -> None:
    text = OLD_BROADCAST.replace(
        "out-of-place                       in-place", "in-place   out-of-place"
    )
    run = imported(tmp_path, "nccl-tests", text)
    assert {one.operation: one.seconds[0] for one in run.series if one.message_bytes == 8} == {
        "in-place": pytest.approx(31.5e-6),
        "out-of-place": pytest.approx(30.25e-6),
    }


@pytest.mark.parametrize(
    "row", ["8 2 float 0 31.50 0.00", "8 2 float sum 0 7 31.5 0.0 0.0 0 30.2 0.0 0.0 0"]
)
def test_a_row_with_other_columns_than_its_header_is_skipped(tmp_path: Path, row: str) -> None:
    run = imported(tmp_path, "nccl-tests", f"{OLD_BROADCAST}{row}\n")
    assert len(run.series) == 4 and warnings(run) == [(1, "rows")]


@pytest.mark.parametrize("between", ["  |  ", "\t", "        "])
def test_two_tables_of_a_collective_side_by_side_are_both_read(
    tmp_path: Path, between: str
) -> None:
    lines = ALL_REDUCE.splitlines()
    head, table = lines[:-7], lines[-7:]
    other = [line.replace("23.45", "24.45").replace("123.40", "124.40") for line in table]
    both = [f"{one:116}{between}{two}" for one, two in zip(table, other, strict=True)]
    run = imported(tmp_path, "nccl-tests", "\n".join([*head, *both]) + "\n")
    assert [(one.launch, round(1e6 * one.seconds[0], 2)) for one in run.series] == [
        (0, 23.45), (0, 22.11), (0, 123.4), (0, 122.0), (1, 24.45), (1, 22.11), (1, 124.4), (1, 122.0),
    ]  # fmt: skip
    assert warnings(run) == []


def test_a_program_that_a_command_names_twice_makes_no_two_tables(tmp_path: Path) -> None:
    command = "mpirun -n 1 ./all_reduce_perf -g 1 : -n 1 ./all_reduce_perf -g 1\n"
    run = imported(tmp_path, "nccl-tests", command + ALL_REDUCE)
    assert len(run.series) == 4 and warnings(run) == []


def test_mpigraphs_matrix_of_receives_becomes_rounds_of_all_pairs(tmp_path: Path) -> None:
    run = imported(tmp_path, "mpigraph", MPIGRAPH)
    values = pair_values(run, "bandwidth")
    rates = dict(zip(zip(values.clients, values.servers, strict=True), values.values, strict=True))
    assert values.nodes == ("node1", "node2", "node3", "node4") and len(rates) == 12
    assert rates[0, 2] == pytest.approx(8000 * 2**20), "node 3 receives from node 1"
    assert rates[3, 1] == pytest.approx(5000 * 2**20)
    assert rates[1, 3] == pytest.approx(10000 * 2**20)
    assert sorted({one.round for one in run.series}) == [0, 1, 2]
    assert set(verdict_of_run(run).verdicts) == {"bandwidth"}


def test_mpigraphs_matrix_of_sends_is_read_where_it_is_the_only_one(tmp_path: Path) -> None:
    text = MPIGRAPH[: MPIGRAPH.index("Recv max")]
    values = pair_values(imported(tmp_path, "mpigraph", text), "bandwidth")
    assert max(values.values) == pytest.approx(10500 * 2**20)


def test_runs_of_mpigraph_in_one_file_are_visits(tmp_path: Path) -> None:
    log = "run 1\n" + MPIGRAPH + "run 2\n" + MPIGRAPH.replace("5000.000", "4000.000")
    run = imported(tmp_path, "mpigraph", log)
    assert {one.visit for one in run.series} == {0, 1}
    assert len(run.series) == 2 * len(imported(tmp_path, "mpigraph", MPIGRAPH).series)
    (tmp_path / "run.jsonl").unlink()
    other = MPIGRAPH.replace("MsgSize\t1048576", "MsgSize\t4096")
    assert "of other hosts or messages" in refused(tmp_path, "mpigraph", MPIGRAPH + other)


def test_a_rank_without_a_row_is_counted(tmp_path: Path) -> None:
    last = "node4:3 from\t10000.000\t10000.000\t10000.000\t0.000\t\n"
    run = imported(tmp_path, "mpigraph", MPIGRAPH.replace(last, ""))
    assert warnings(run) == [(1, "rows")]


def test_a_link_without_a_rate_is_skipped_and_counted(tmp_path: Path) -> None:
    run = imported(tmp_path, "mpigraph", MPIGRAPH.replace("8000.000", "0.000"))
    assert warnings(run) == [(1, "rows")]
    assert len(pair_values(run, "bandwidth").values) == 12


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("MsgSize\t1048576\n", "", "field MsgSize"),
        ("node2:1 from", "node1:0 from", "line 26, field Recv"),
        ("node2:1\tnode3:2\tnode4:3\t\nnode1:0 from", "node3:2\tnode2:1\t\nnode1:0 from", "Recv"),
    ],
)
def test_a_damaged_matrix_is_named(tmp_path: Path, old: str, new: str, place: str) -> None:
    assert place in refused(tmp_path, "mpigraph", MPIGRAPH.replace(old, new))


def test_linktests_links_have_the_length_that_time_and_rate_say(tmp_path: Path) -> None:
    run = imported(tmp_path, "linktest", LINKTEST)
    assert {one.message_bytes for one in run.series} == {131072}
    values = pair_values(run, "bandwidth")
    slowest = int(values.values.argmin())
    assert (values.clients[slowest], values.servers[slowest]) == (1, 2)
    assert values.values[slowest] == pytest.approx(131072 / 25e-6)


def test_links_of_messages_of_two_lengths_are_refused(tmp_path: Path) -> None:
    text = LINKTEST.replace("5000.00000000", "9000.00000000")
    assert "messages of one length" in refused(tmp_path, "linktest", text)


@pytest.mark.parametrize("kind", sorted(FILES))
def test_a_ping_pong_is_not_made_of_what_is_none(tmp_path: Path, kind: str) -> None:
    run = imported(tmp_path, kind, FILES[kind])
    allowed = {"perftest": {"ping_pong", "flood"}, "netpipe": {"ping_pong"}}
    patterns = allowed.get(kind, {"allreduce", "all_pairs"})
    assert {one.pattern for one in run.series} <= patterns


@pytest.mark.parametrize("kind", sorted(FILES))
def test_an_option_that_contradicts_the_file_is_refused(tmp_path: Path, kind: str) -> None:
    with pytest.raises(UsageError, match="does not fit"):
        imported(tmp_path, kind, FILES[kind], pattern="one_to_many")


@pytest.mark.parametrize("kind", sorted(FILES))
def test_each_file_is_named_as_what_it_is(tmp_path: Path, kind: str) -> None:
    other = "osu" if kind != "netpipe" else "imb"
    text = FILES[kind] if kind != "netpipe" else NPTCP
    sentence = refused(tmp_path, other, text)
    assert kind == "linktest" or f"use chiplog import {kind}" in sentence
