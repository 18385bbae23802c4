"""Files as clusters produce them: other programs' lines, prefixes, tables of other tests, and rows without a time."""

from __future__ import annotations

from pathlib import Path

import pytest
from imported_files import imported as imported_run
from imported_files import refused, times
from needs import require_data

from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.errors import CorruptFile
from chiplog.fitting.fit import fit

LATENCY = """# OSU MPI Latency Test v5.9
# Size          Latency (us)
0                       1.10
8                       1.25
1024                    3.00
4096                    6.00
"""
GET = """# OSU MPI_Get Latency Test v5.9
# Window creation: MPI_Win_allocate
# Synchronization: MPI_Win_flush
# Size          Latency (us)
8                       2.50
64                      2.75
"""
DEVICE = "# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)"
IMB_GROUPS = """#    Intel(R) MPI Benchmarks 2019, MPI-1 part
# Benchmarking Multi-PingPong
# ( 2 groups of 2 processes each running simultaneous )
# Group  0:     0    1
# Group  1:     2    3
 Group        #bytes #repetitions      t[usec]   Mbytes/sec      Msg/sec
     0             0         1000         1.50         0.00       666666
     1             0         1000         1.75         0.00       571428

     0          1024         1000         3.50       292.57       285714
     1          1024         1000         3.25       315.08       307692
"""


def imported(
    tmp_path: Path, kind: str, text: str | bytes
) -> tuple[Dataset, list[str], list[dict[str, object]]]:
    run, notes = imported_run(tmp_path, kind, text)
    warnings = run.header["warnings"]
    assert isinstance(warnings, list)
    return run, notes, warnings


ALL = [(0, 1.10), (8, 1.25), (1024, 3.0), (4096, 6.0)]


@pytest.mark.parametrize(
    "decorate",
    [
        lambda line: f"0: {line}",
        lambda line: f" 3: {line}",
        lambda line: f"[1,0]<stdout>:{line}",
        lambda line: f"[prterun-node7-991@1,0]<stdout>: {line}",
        lambda line: f"Tue May  3 10:11:12 2022[1,0]<stdout>:{line}",
        lambda line: f"[0] {line}",
        lambda line: f"2024-05-01T10:11:12.123Z {line}",
        lambda line: f"[2024-05-01 10:11:12] {line}",
        lambda line: f"mpi-1  | {line}",
        lambda line: f"node17: {line}",
        lambda line: f"> {line}",
        lambda line: f"\x1b[32m{line}\x1b[0m",
        lambda line: f"{line}\r",
    ],
    ids=[
        "srun",
        "srun-many",
        "open-mpi-4",
        "open-mpi-5",
        "open-mpi-timestamp",
        "mpiexec",
        "kubernetes",
        "log",
        "docker",
        "pdsh",
        "quotation",
        "colours",
        "crlf",
    ],
)
def test_what_launchers_put_before_lines_is_taken_off(tmp_path: Path, decorate) -> None:  # type: ignore[no-untyped-def]
    run, notes, _ = imported(tmp_path, "osu", "\n".join(map(decorate, LATENCY.splitlines())))
    assert times(run) == ALL and not notes


def test_lines_of_other_programs_are_skipped_and_counted(tmp_path: Path) -> None:
    text = "user@login:~$ srun -N 2 ./osu_latency\n" + LATENCY.replace(
        "8     ", "srun: warning: can't run 1 process on 2 nodes\n[17.1] ucx WARN no device\n8     "
    )
    run, notes, warnings = imported(tmp_path, "osu", text)
    assert times(run) == ALL
    assert [(one["number"], one["unit"]) for one in warnings] == [(3, "lines")]
    assert "line 1, 'user@login" in notes[0] and ": 3 lines; check" in notes[0]


@pytest.mark.parametrize(
    "row", ["64    0.00", "64   nan", "64   -nan", "64", "64  out of memory", "64   1.5   Fail"]
)
def test_a_row_without_a_time_is_skipped_and_counted(tmp_path: Path, row: str) -> None:
    run, notes, warnings = imported(tmp_path, "osu", f"{LATENCY}{row}\n")
    assert times(run) == ALL and len(notes) == 1
    assert [(one["number"], one["unit"]) for one in warnings] == [(1, "rows")]


def test_a_table_of_another_test_is_skipped_and_counted(tmp_path: Path) -> None:
    other = LATENCY.replace("MPI Latency Test", "MPI Multi-threaded Latency Test")
    process = LATENCY.replace("MPI Latency Test", "MPI Multi-process Latency Test")
    run, notes, warnings = imported(tmp_path, "osu", other + LATENCY + process)
    assert times(run) == ALL
    assert [(one["number"], one["unit"]) for one in warnings] == [(2, "tables")]
    assert "MPI Multi-threaded Latency Test" in notes[0]


@pytest.mark.parametrize(
    "line", ["1. step", "2.5  3.5", "1.1e-16", "-8  1.00", "# OSU Experiments"]
)
def test_a_line_that_begins_with_no_size_is_no_row(tmp_path: Path, line: str) -> None:
    run, _, warnings = imported(tmp_path, "osu", f"{LATENCY}{line}\n")
    assert times(run) == ALL
    expected = [] if line.startswith("#") else [(1, "lines")]
    assert [(one["number"], one["unit"]) for one in warnings] == expected


@pytest.mark.parametrize(
    "title",
    [
        "# OSU MPI Latency Test (Version 2.2)",
        "# OSU MPI-CUDA MANAGED Latency Test v7.4",
        "# OMB-Py MPI Latency Test",
        "# OMB Python MPI Latency Test",
        "# OSU Latency Test",
        "# MPI Latency Test",
    ],
)
def test_a_title_of_any_version_and_language_is_known(tmp_path: Path, title: str) -> None:
    first = LATENCY.splitlines()[0]
    run, notes, _ = imported(tmp_path, "osu", LATENCY.replace(first, title))
    assert times(run) == ALL and not notes


def test_a_datatype_begins_a_table_of_its_own(tmp_path: Path) -> None:
    head, *rows = LATENCY.splitlines()
    table = "\n".join(rows)
    text = f"{head}\n# Datatype: MPI_CHAR.\n{table}\n# Datatype: MPI_INT.\n{table}\n"
    run, notes, _ = imported(tmp_path, "osu", text)
    assert {one.placement for one in run.series} == {"host-buffers", "host-buffers+mpi_int"}
    assert "name the one you mean with --target" in notes[0]
    run, _, _ = imported(tmp_path, "osu", text.replace("MPI_INT", "MPI_CHAR"))
    assert {one.launch for one in run.series} == {0, 1}


def test_managed_memory_has_its_home_on_the_host_or_on_the_device(tmp_path: Path) -> None:
    line = "# Send Buffer on MANAGED (MH) and Receive Buffer on MANAGED (MH)"
    host = LATENCY.replace("# Size", f"{line}\n# Size")
    device = host.replace("(MH)", "(MD)")
    run, _, _ = imported(tmp_path, "osu", host + device)
    assert {one.placement for one in run.series} == {
        "host-managed-buffers",
        "device-managed-buffers",
    }


def test_message_rates_over_several_windows_are_skipped(tmp_path: Path) -> None:
    windows = (
        "# OSU MPI Multiple Bandwidth / Message Rate Test v7.4\n# [ pairs: 2 ] [ window size: varied ]\n"
        "# Uni-directional Bandwidth (MB/sec)\n#          1        2\n8       9.00    17.00\n"
    )
    assert "several windows" in refused(tmp_path, "osu", windows)
    run, notes, _ = imported(tmp_path, "osu", windows + LATENCY)
    assert times(run) == ALL and len(notes) == 1


def test_bandwidths_of_pairs_without_message_rates_are_read(tmp_path: Path) -> None:
    text = (
        "# OSU MPI Multiple Bandwidth / Message Rate Test v7.4\n# [ pairs: 2 ] [ window size: 64 ]\n"
        "# Size                  MB/s\n8                      16.00\n1024                 2048.00\n"
    )
    run, _, _ = imported(tmp_path, "osu", text)
    assert times(run) == [(8, 1.0), (1024, 1.0)]


@pytest.mark.parametrize(
    ("title", "reason"),
    [
        ("MPI_Put Latency Test", "one-sided"),
        ("MPI_Accumulate latency Test", "one-sided"),
        ("MPI_Get_accumulate latency Test", "one-sided"),
        ("MPI_Compare_and_swap latency Test", "one-sided"),
        ("One Sided MPI_Put Latency Test", "one-sided"),
        ("MPI_Put Bi-directional Bandwidth Test", "can't be imported"),
        ("MPI Multi-threaded Latency Test", "several threads"),
        ("MPI Latency Persistent Test", "persistent requests"),
        ("OpenSHMEM Put Test", "can't be imported"),
    ],
)
def test_a_test_without_a_pattern_is_refused_by_name(
    tmp_path: Path, title: str, reason: str
) -> None:
    sentence = refused(tmp_path, "osu", LATENCY.replace("MPI Latency Test", title))
    assert repr(title) in sentence and reason in sentence


@pytest.mark.parametrize("call", ["MPI_Get", "mpi_get", "MPI_GET"])
def test_a_get_is_a_read_and_its_time_a_whole_operation(tmp_path: Path, call: str) -> None:
    run, _, _ = imported(tmp_path, "osu", GET.replace("MPI_Get", call))
    assert {(s.pattern, s.operation, s.direction) for s in run.series} == {
        ("ping_pong", "rdma-read", "round-trip")
    }
    assert times(run) == [(8, 2.5), (64, 2.75)]


def test_a_fetch_and_op_is_an_atomic_of_8_bytes(tmp_path: Path) -> None:
    text = GET.replace("MPI_Get", "MPI_Fetch_and_op").replace("64    ", "#64    ")
    run, _, _ = imported(tmp_path, "osu", text)
    assert [(s.operation, s.direction, s.message_bytes) for s in run.series] == [
        ("atomic", "round-trip", 8)
    ]


@pytest.mark.parametrize("call", ["Put", "Get"])
def test_bandwidths_of_one_sided_calls_are_floods_of_their_own(tmp_path: Path, call: str) -> None:
    text = GET.replace("MPI_Get Latency Test", f"MPI_{call} Bandwidth Test")
    text = text.replace("Latency (us)", "Bandwidth (MB/s)")
    run, _, _ = imported(tmp_path, "osu", text)
    operation = {"Put": "rdma-write", "Get": "rdma-read"}[call]
    assert {(s.pattern, s.operation) for s in run.series} == {("flood", operation)}


def test_a_header_that_contradicts_its_title_is_refused(tmp_path: Path) -> None:
    text = GET.replace("MPI_Get Latency Test", "MPI_Get Bandwidth Test")
    assert "line 4, field bandwidth" in refused(tmp_path, "osu", text)


@pytest.mark.parametrize("call", ["Put Bandwidth", "Get Bandwidth", "Get Latency"])
def test_a_local_flush_ends_what_reads_and_not_what_writes(tmp_path: Path, call: str) -> None:
    text = GET.replace("MPI_Get Latency", f"MPI_{call}").replace("_flush", "_flush_local")
    if call.endswith("Bandwidth"):
        text = text.replace("Latency (us)", "Bandwidth (MB/s)")
    if call.startswith("Put"):
        assert "ends with MPI_Win_flush_local" in refused(tmp_path, "osu", text)
    else:
        assert {one.operation for one in imported(tmp_path, "osu", text)[0].series} == {"rdma-read"}


@pytest.mark.parametrize(("version", "window"), [("v5.3.2", 32), ("v5.4", 64), ("v7.4", 64)])
def test_the_window_of_one_sided_bandwidths_depends_on_the_version(
    tmp_path: Path, version: str, window: int
) -> None:
    head, rest = GET.replace("Latency (us)", "Bandwidth (MB/s)").split("\n", 1)
    title = head.replace("Latency", "Bandwidth").partition(" v")[0]
    run, _, warnings = imported(tmp_path, "osu", f"{title} {version}\n{rest}")
    assert {one.train for one in run.series} == {window}
    assert [one["number"] for one in warnings] == [window]


def test_a_log_may_hold_another_programs_bytes_and_be_utf_16(tmp_path: Path) -> None:
    message = b"n\xb0 7: le noeud est pr\xeat\n"
    run, _, warnings = imported(tmp_path, "osu", message + LATENCY.encode())
    assert times(run) == ALL and [one["number"] for one in warnings] == [1]
    run, notes, _ = imported(tmp_path, "osu", LATENCY.encode("utf-16"))
    assert times(run) == ALL and not notes
    (tmp_path / "run.jsonl").unlink()
    assert "is not UTF-8" in refused(tmp_path, "osu", b"\xb0\xb1\xb2" * 100)


def test_a_table_without_rows_is_named(tmp_path: Path) -> None:
    assert "Latency Test has no rows" in refused(tmp_path, "osu", "# OSU MPI Latency Test v7.4\n")


@pytest.mark.parametrize("ends", ["MPI_Win_lock/unlock", "MPI_Win_post/start/complete/wait", None])
def test_a_one_sided_test_that_times_its_synchronization_is_refused(
    tmp_path: Path, ends: str | None
) -> None:
    line = "# Synchronization: MPI_Win_flush\n"
    text = GET.replace(line, f"# Synchronization: {ends}\n" if ends else "")
    assert "run it with -s flush" in refused(tmp_path, "osu", text)


@pytest.mark.parametrize(
    ("second", "parts"),
    [
        (
            LATENCY.replace("# Size", f"{DEVICE}\n# Size"),
            ["intra-node+host-buffers", "intra-node+device-buffers"],
        ),
        (
            LATENCY.replace("MPI Latency", "MPI-CUDA Latency"),
            ["intra-node+host-buffers", "intra-node+cuda-buffers"],
        ),
        ("== inter-node ==\n" + LATENCY, ["intra-node+host-buffers", "inter-node+host-buffers"]),
        (
            LATENCY.replace("1.10", "4.40").replace("1.25", "5.0").replace("3.00", "9.00"),
            ["intra-node+line-2", "intra-node+line-8"],
        ),
    ],
    ids=["device", "cuda", "labelled", "slower"],
)
def test_tables_of_two_paths_are_parts_and_not_launches(
    tmp_path: Path, second: str, parts: list[str]
) -> None:
    run, notes, _ = imported(tmp_path, "osu", f"== intra-node ==\n{LATENCY}{second}")
    assert list(dict.fromkeys(one.placement for one in run.series)) == parts
    assert {one.launch for one in run.series} == {0}
    assert "name the one you mean with --target" in notes[0]


def test_buffers_on_a_device_alone_are_imported(tmp_path: Path) -> None:
    text = LATENCY.replace("MPI Latency", "MPI-CUDA Latency").replace("# Size", f"{DEVICE}\n# Size")
    assert times(imported(tmp_path, "osu", text)[0]) == ALL


def test_launches_that_differ_by_noise_stay_launches(tmp_path: Path) -> None:
    run, _, _ = imported(tmp_path, "osu", LATENCY + LATENCY.replace("1.25", "1.45"))
    assert {one.launch for one in run.series} == {0, 1}


def test_the_multi_latency_test_needs_its_number_of_pairs(tmp_path: Path) -> None:
    text = LATENCY.replace("MPI Latency", "MPI Multi Latency")
    assert "put a line '# [ pairs: N ]'" in refused(tmp_path, "osu", text)
    run, _, warnings = imported(tmp_path, "osu", text.replace("# Size", "# [ pairs: 4 ]\n# Size"))
    assert {(s.pattern, s.pairs, s.direction) for s in run.series} == {("pairs", 4, "one-way")}
    assert run.header["ranks"] == 8 and "mean over all pairs" in str(warnings[0]["fact"])


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("nodecomm", "salloc: Granted job 7\nHops: 3\n1 4.0e-06 4.3e-06\n2 3.9e-06 4.2e-06\n"),
        ("netgauge", "salloc: Granted job 7\n1 10 13.5 23.2 145.5 6.7 1.1 1.1 nan nan nan\n"),
        ("simgrid-calibration", "salloc: Granted job 7\nMPI_Isend,8,1.0,2.5e-06\n"),
    ],
)
def test_every_table_may_have_lines_of_other_programs(tmp_path: Path, kind: str, text: str) -> None:
    _, notes, warnings = imported(tmp_path, kind, text)
    assert warnings[0]["number"] == 1 and "salloc" in notes[0]


@pytest.mark.parametrize("kind", ["osu", "imb", "nodecomm", "netgauge", "simgrid-calibration"])
def test_a_file_without_any_table_is_refused(tmp_path: Path, kind: str) -> None:
    assert "line 1" in refused(tmp_path, kind, "Dear colleague\nno table here\n")


def test_a_calibrations_ping_pong_is_fitted(tmp_path: Path) -> None:
    source = require_data("taurus_PingPong.csv.gz")
    run = read_run(import_file("simgrid-calibration", source, tmp_path / "run.jsonl"))
    chosen = run.select(operation="send")
    rate = fit(chosen, ["hockney"], boundaries=[60_000])[0].segments[-1].parameters["R"]
    assert rate.value == pytest.approx(7e8, rel=0.05) and rate.low is not None and rate.low > 6e8


def test_the_first_mean_is_not_taken_for_a_cold_one(tmp_path: Path) -> None:
    text = LATENCY.replace("0                       1.10\n", "")
    run, _, _ = imported(tmp_path, "osu", text)
    found = fit(run, ["hockney"], boundaries=None)[0]
    assert found.curves[0].message_bytes.tolist() == [8, 1024, 4096]
    assert not any("cold" in warning for warning in found.warnings)


def test_a_group_of_imbs_multi_has_a_row_and_the_slowest_counts(tmp_path: Path) -> None:
    run, notes, _ = imported(tmp_path, "imb", IMB_GROUPS)
    assert times(run) == [(0, 1.75), (1024, 3.5)] and not notes
    assert {(s.pattern, s.pairs) for s in run.series} == {("pairs", 2)}


def test_a_size_that_lacks_a_group_is_skipped_and_counted(tmp_path: Path) -> None:
    last = IMB_GROUPS.splitlines(keepends=True)[-1]
    run, notes, _ = imported(tmp_path, "imb", IMB_GROUPS.replace(last, ""))
    assert times(run) == [(0, 1.75)] and ": 1 row;" in notes[0]


def test_imbs_row_that_ran_out_of_memory_is_skipped_and_counted(tmp_path: Path) -> None:
    text = IMB_GROUPS + "     0    4194304  out-of-mem.; needed X= 8.0 GB; use flag -mem\n"
    run, notes, _ = imported(tmp_path, "imb", text)
    assert len(run.series) == 2 and "out-of-mem" in notes[0]


def test_imbs_tables_with_extremes_and_rates_are_read(tmp_path: Path) -> None:
    text = """# Benchmarking PingPong
# #processes = 2
 #bytes #repetitions t_min[usec] t_max[usec] t_avg[usec] Mbytes/sec Msg/sec
   8         1000        1.00        1.50        1.25       8.00    800000
"""
    assert times(imported(tmp_path, "imb", text)[0]) == [(8, 1.25)]
    assert times(imported(tmp_path, "imb", text.replace(" PingPong", " Multi-PingPong"))[0]) == [
        (8, 1.5)
    ]


IMB_TABLE = """# Benchmarking PingPong
# #processes = 2
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         1.50         0.00
         1024         1000         3.50       292.57
"""


@pytest.mark.parametrize(
    "lose",
    [
        lambda line: line.removeprefix("# "),
        lambda line: line.replace("#", "\\#"),
        lambda line: f"[1,0]<stdout>:{line}",
    ],
)
def test_imbs_tables_may_have_lost_their_marks(tmp_path: Path, lose) -> None:  # type: ignore[no-untyped-def]
    text = "\n".join(lose(line) for line in IMB_TABLE.splitlines())
    run, notes, _ = imported(tmp_path, "imb", text)
    assert times(run) == [(0, 1.5), (1024, 3.5)] and not notes


def test_imbs_tables_side_by_side_are_both_read(tmp_path: Path) -> None:
    other = IMB_TABLE.replace("3.50 ", "3.75 ")
    both = zip(IMB_TABLE.splitlines(), other.splitlines(), strict=True)
    run, notes, _ = imported(tmp_path, "imb", "".join(f"{one}\t{two}\n" for one, two in both))
    assert times(run) == [(0, 1.5), (1024, 3.5), (0, 1.5), (1024, 3.75)] and not notes


def test_groups_of_a_collective_are_refused_by_name(tmp_path: Path) -> None:
    text = IMB_GROUPS.replace("Multi-PingPong", "Multi-Allreduce")
    assert "the benchmark 'Multi-Allreduce' can't be imported" in refused(tmp_path, "imb", text)


@pytest.mark.parametrize(
    ("kind", "text", "right"),
    [("osu", IMB_GROUPS, "imb"), ("imb", LATENCY, "osu"), ("netgauge", LATENCY, "osu")],
)
def test_a_file_of_another_tool_is_named_as_what_it_is(
    tmp_path: Path, kind: str, text: str, right: str
) -> None:
    assert f"use chiplog import {right}" in refused(tmp_path, kind, text)


REAL = {
    "miriel_Isend.csv.gz": ("simgrid-calibration", {("send_overhead", "call")}),
    "miriel_Recv.csv.gz": ("simgrid-calibration", {("receive_overhead", "call")}),
    "miriel_PingPong.csv.gz": (
        "simgrid-calibration",
        {("ping_pong", "round-trip"), ("send_overhead", "call")},
    ),
    "tukey_netgauge_prtt.dat": ("netgauge", {("prtt", "round-trip")}),
}


@pytest.mark.parametrize("name", REAL)
def test_a_file_of_a_real_cluster_is_read_whole_and_without_a_warning(
    tmp_path: Path, name: str
) -> None:
    kind, expected = REAL[name]
    notes: list[str] = []
    out = import_file(kind, require_data(name), tmp_path / "run.jsonl", note=notes.append)
    run = read_run(out)
    assert {(one.pattern, one.direction) for one in run.series} == expected and not notes
    assert "statistic" not in run.header["provenance"]  # type: ignore[operator]


@pytest.mark.parametrize("kind", ["osu", "imb", "perftest", "mpigraph", "linktest", "nccl-tests"])
def test_a_file_of_a_real_cluster_is_named_as_what_it_is(tmp_path: Path, kind: str) -> None:
    with pytest.raises(CorruptFile, match="use chiplog import simgrid-calibration"):
        import_file(kind, require_data("taurus_Isend.csv.gz"), tmp_path / "run.jsonl")


def test_a_table_of_a_real_cluster_is_read_by_its_columns_names(tmp_path: Path) -> None:
    text = require_data("bluewaters_nodecomm.csv").read_text()
    header, _, rows = text.partition("\n")
    named = header.replace("run", "launch").replace("ping_pong_seconds", "seconds")
    source = tmp_path / "table.csv"
    source.write_text(f"{named}\n{rows}")
    options = {"pattern": "pairs", "direction": "round-trip"}
    run = read_run(import_file("csv", source, tmp_path / "run.jsonl", **options))
    assert {one.pairs for one in run.series} == set(range(1, 17))
    assert {one.launch for one in run.series} == set(range(12))


NETGAUGE = """# size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G lsqu(g,G)
1 10 13.5 23.2 145.5 6.7 1.1 1.1 -nan -nan -nan
2 10 10.8 20.5 118.6 6.7 1.1 1.0 1.0 0.0 -nan
"""
CALLS = "MPI_Isend,100,20.1,2.5e-06\nMPI_Isend,200,20.2,2.6e-06\n"
PING_PONG = "MPI_Send,100,29.8,4.0e-06\nMPI_Recv,100,29.8,1.4e-05\n"
NODECOMM_ROWS = "1 4.0e-06 5.0e-06\n2 4.1e-06 5.1e-06\n"


@pytest.mark.parametrize(
    ("kind", "text", "cut", "row"),
    [
        ("netgauge", NETGAUGE, "4 10 10.7", "4 10 10.7 20.4 117.6 6.7 1.1 1.0 1.0 0.0 0.0"),
        ("nodecomm", NODECOMM_ROWS, "4 4.2e-06", "4 4.2e-06 5.2e-06"),
        ("simgrid-calibration", CALLS, "MPI_Isend,300,20.3", "MPI_Isend,300,20.3,2.7e-06"),
    ],
    ids=["netgauge", "nodecomm", "simgrid"],
)
def test_a_last_row_that_was_cut_is_skipped_and_one_in_the_middle_is_damage(
    tmp_path: Path, kind: str, text: str, cut: str, row: str
) -> None:
    whole, _, _ = imported(tmp_path, kind, text)
    run, _, warnings = imported(tmp_path, kind, f"{text}{cut}\n")
    assert len(run.series) == len(whole.series)
    assert [(one["number"], one["unit"]) for one in warnings] == [(1, "rows")]
    (tmp_path / "run.jsonl").unlink()
    assert f"line {text.count(chr(10)) + 1}" in refused(tmp_path, kind, f"{text}{cut}\n{row}\n")


@pytest.mark.parametrize(
    ("kind", "text", "row"),
    [
        ("netgauge", NETGAUGE, "4 10 nan 20.4 117.6 6.7 1.1 1.0 1.0 0.0 0.0"),
        ("netgauge", NETGAUGE, "4 10 10.7 0.000000 117.6 6.7 1.1 1.0 1.0 0.0 0.0"),
        ("nodecomm", NODECOMM_ROWS, "4 4.2e-06 nan"),
    ],
)
def test_a_row_of_raw_times_without_a_time_is_skipped(
    tmp_path: Path, kind: str, text: str, row: str
) -> None:
    whole, _, _ = imported(tmp_path, kind, text)
    run, _, warnings = imported(tmp_path, kind, f"{text}{row}\n")
    assert len(run.series) == len(whole.series)
    assert [(one["number"], one["unit"]) for one in warnings] == [(1, "rows")]


def test_what_netgauge_prints_on_the_terminal_is_no_file_of_times(tmp_path: Path) -> None:
    text = "Testing 1 bytes 200 times:\n L=1.12  s=1  o_s=0.12  o_r=0.17  g=-nan  G=-nan (-nan GiB/s)\n"
    assert "import the file that it wrote with -o" in refused(tmp_path, "netgauge", text)
    run, _, _ = imported(tmp_path, "netgauge", text + NETGAUGE)
    assert {one.message_bytes for one in run.series} == {1, 2}


@pytest.mark.parametrize(
    "header", ["op,msg_size,start,duration", '"function","size","start","duration"']
)
def test_a_calibration_may_name_its_columns_as_it_likes(tmp_path: Path, header: str) -> None:
    run, notes, _ = imported(tmp_path, "simgrid-calibration", f"{header}\n{CALLS}")
    assert times(run) == [(100, 2.5), (200, 2.6)] and not notes


def test_calls_that_are_no_messages_are_skipped_and_counted(tmp_path: Path) -> None:
    others = "MPI_Iprobe,0,20.3,1.0e-07\nMPI_Wtime,0,20.4,1.0e-08\n"
    run, _, warnings = imported(tmp_path, "simgrid-calibration", CALLS + others)
    assert times(run) == [(100, 2.5), (200, 2.6)]
    assert [(one["number"], one["unit"]) for one in warnings] == [(2, "rows")]
    assert "'MPI_Iprobe' is unknown" in refused_again(tmp_path, others)


def refused_again(tmp_path: Path, text: str) -> str:
    (tmp_path / "run.jsonl").unlink()
    return refused(tmp_path, "simgrid-calibration", text)


def test_a_calibrations_last_call_may_lack_its_partner(tmp_path: Path) -> None:
    alone = "MPI_Send,100,29.9,4.0e-06\n"
    run, _, warnings = imported(tmp_path, "simgrid-calibration", PING_PONG + alone)
    assert [one.pattern for one in run.series] == ["ping_pong", "send_overhead"]
    assert [(one["number"], one["unit"]) for one in warnings] == [(1, "rows")]
    assert "do not pair up" in refused_again(tmp_path, PING_PONG + alone + alone)


def test_a_calibrations_ping_pongs_and_other_calls_may_share_a_file(tmp_path: Path) -> None:
    run, _, _ = imported(tmp_path, "simgrid-calibration", PING_PONG + CALLS)
    assert [(one.pattern, one.operation) for one in run.series] == [
        ("ping_pong", "send"),
        ("send_overhead", "MPI_Send"),
        ("send_overhead", "MPI_Isend"),
        ("send_overhead", "MPI_Isend"),
    ]
