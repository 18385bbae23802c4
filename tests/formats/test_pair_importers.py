"""nodecomm, the OSU micro-benchmarks and the Intel MPI Benchmarks: what a time is, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from needs import require_data

from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.errors import CorruptFile, UsageError
from chiplog.fitting.fit import fit

NODECOMM = """
Hops: 3
1\t4.00e-06\t4.34e-06\t
2\t3.98e-06\t4.26e-06\t
1\t3.91e-06\t4.33e-06\t
2\t3.89e-06\t4.22e-06\t

Hops: 2
2\t3.83e-06\t4.12e-06\t
"""
LATENCY = """mpirun: some words of the launcher
# OSU MPI Latency Test v5.9
# Size          Latency (us)
0                       1.10
8                       1.25
1024                    3.00
"""
BANDWIDTH = """# OSU MPI Bandwidth Test v7.0
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)
1000                  2000.00
"""
RATES = """# OSU MPI Multiple Bandwidth / Message Rate Test v5.7
# [ pairs: 4 ] [ window size: 64 ]
# Size                  MB/s        Messages/s
1                       8.00        8000000.00
1000                 4000.00        4000000.00
"""
IMB = """#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier )
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         2.23         0.00
         1024         1000         3.50       292.57

#---------------------------------------------------
# Benchmarking Sendrecv
# #processes = 4
#---------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
            0         1000         2.23         2.24         2.23         0.00

# Benchmarking Multi-PingPong
# ( 2 groups of 2 processes each running simultaneous )
# Group  0:     0    1
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
         1024          500         3.50         4.00         3.75       256.00

# All processes entering MPI_Finalize
"""


def imported(tmp_path: Path, kind: str, text: str, **options: str) -> Dataset:
    source = tmp_path / "source.txt"
    source.write_text(text)
    return read_run(import_file(kind, source, tmp_path / "run.jsonl", **options))


def convention(dataset: Dataset) -> str:
    provenance = dataset.header["provenance"]
    assert isinstance(provenance, dict)
    return str(provenance["convention"])


def test_nodecomm_gives_whole_round_trips_of_k_pairs_with_sizes_in_bytes(tmp_path: Path) -> None:
    found = imported(tmp_path, "nodecomm", NODECOMM)
    first, second = found.series[:2]
    assert (first.pattern, first.direction, first.message_bytes) == ("pairs", "round-trip", 4)
    assert (first.pairs, second.pairs) == (1, 2)
    assert (first.seconds[0], second.seconds[0]) == (4.00e-6, 4.34e-6)
    assert found.header["ranks"] == 4
    assert "whole round trips" in convention(found)
    assert "maximum over the ranks" in convention(found)
    assert "4 bytes" in convention(found)


def test_nodecomm_runs_are_launches_also_where_no_hops_line_parts_them(tmp_path: Path) -> None:
    found = imported(tmp_path, "nodecomm", NODECOMM)
    rows = [(s.launch, s.message_bytes, s.tag["hops"]) for s in found.series if s.pairs == 1]
    assert rows == [(0, 4, 3), (0, 8, 3), (1, 4, 3), (1, 8, 3), (2, 8, 2)]


def test_nodecomm_output_of_blue_waters_gives_the_published_rendezvous_rates(
    tmp_path: Path,
) -> None:
    table = require_data("bluewaters_nodecomm.csv").read_text().splitlines()[1:]
    rows: dict[tuple[str, str, str], list[str]] = {}
    for line in table:
        run, hops, size, _, seconds = line.split(",")
        rows.setdefault((run, hops, size), []).append(seconds)
    text, last_hops = "", ""
    for (_, hops, size), seconds in rows.items():
        text += f"\nHops: {hops}\n" if hops != last_hops else ""
        text += "\t".join([str(int(size) // 4), *seconds]) + "\t\n"
        last_hops = hops
    found = imported(tmp_path, "nodecomm", text)
    assert len({one.launch for one in found.series}) == 12
    rendezvous = fit(found, ["max-rate"])[0].segments[-1]
    assert rendezvous.first_bytes == 8192
    assert rendezvous.parameters["R_N"].value == pytest.approx(6.98e9, rel=0.05)
    assert rendezvous.parameters["R_C"].value == pytest.approx(4.00e9, rel=0.05)


def test_osu_latency_is_one_way_and_the_fit_knows_it(tmp_path: Path) -> None:
    found = imported(tmp_path, "osu", LATENCY)
    assert {(s.pattern, s.direction) for s in found.series} == {("ping_pong", "one-way")}
    assert found.series[2].seconds[0] == 3e-6
    curve = fit(found, ["hockney"], boundaries=None)[0].curves[0]
    assert curve.quantity == "half_round_trip"
    assert curve.measured_seconds[-1] == pytest.approx(3e-6)


def test_osu_bandwidth_is_the_time_of_a_window_and_says_that_it_was_assumed(tmp_path: Path) -> None:
    found = imported(tmp_path, "osu", BANDWIDTH)
    (one,) = found.series
    assert (one.pattern, one.train) == ("flood", 64)
    assert one.seconds[0] == pytest.approx(64 * 1000 / 2e9)
    warnings = found.header["warnings"]
    assert isinstance(warnings, list)
    assert warnings[0]["number"] == 64


def test_osu_message_rates_are_those_of_all_pairs_together(tmp_path: Path) -> None:
    found = imported(tmp_path, "osu", RATES)
    assert [(s.pattern, s.pairs, s.batch, s.direction) for s in found.series] == [
        ("pairs", 4, 64, "one-way")
    ] * 2
    assert found.series[0].seconds[0] == pytest.approx(4 / 8e6)
    assert found.series[1].seconds[0] == pytest.approx(4 * 1000 / 4e9)


def test_osu_files_with_several_numbers_of_pairs_are_fitted_by_max_rate(tmp_path: Path) -> None:
    text = ""
    for pairs in (1, 2, 4, 8):
        text += f"{RATES.splitlines()[0]}\n# [ pairs: {pairs} ] [ window size: 64 ]\n"
        for size in (4096 << step for step in range(6)):
            seconds = 1e-6 + max(pairs * size / 8e9, size / 3e9)
            text += f"{size} {pairs * size / seconds / 1e6:.2f} {pairs / seconds:.2f}\n"
    parameters = (
        fit(imported(tmp_path, "osu", text), ["max-rate"], boundaries=None)[0]
        .segments[0]
        .parameters
    )
    for symbol, truth in {"s0": 1e-6, "R_C": 3e9, "R_N": 8e9}.items():
        assert parameters[symbol].value == pytest.approx(truth, rel=1e-3)


def test_a_test_that_stands_again_is_another_launch(tmp_path: Path) -> None:
    once = LATENCY.partition("\n")[2]
    launches = [s.launch for s in imported(tmp_path, "osu", once + once).series]
    assert launches == [0, 0, 0, 1, 1, 1]
    assert {s.launch for s in imported(tmp_path, "imb", IMB + IMB).series} == {0, 1}


def test_imb_ping_pongs_are_one_way_and_other_benchmarks_are_passed_over(tmp_path: Path) -> None:
    found = imported(tmp_path, "imb", IMB.replace("Benchmarking Sendrecv", "Benchmarking Window"))
    assert [(s.pattern, s.pairs, s.message_bytes, s.direction) for s in found.series] == [
        ("ping_pong", 1, 0, "one-way"),
        ("ping_pong", 1, 1024, "one-way"),
        ("pairs", 2, 1024, "one-way"),
    ]
    assert found.series[1].seconds[0] == pytest.approx(3.5e-6)
    assert found.series[2].seconds[0] == pytest.approx(4e-6), "the slowest of the groups"
    assert found.series[1].tag["repetitions"] == 1000


P2P = """#    Intel(R) MPI Benchmarks 2021.3, P2P part
# Benchmarking PingPong
# #processes = 4
       #bytes #repetitions      t[usec]   Mbytes/sec      Msg/sec
         1024         1000         1.90      2048.00      2000000
"""


def test_imbs_p2p_of_several_pairs_has_the_time_of_the_slowest_process(tmp_path: Path) -> None:
    (one,) = imported(tmp_path, "imb", P2P).series
    assert (one.pattern, one.pairs, one.direction) == ("pairs", 2, "one-way")
    assert float(one.seconds[0]) == pytest.approx(1e-6)
    (one,) = imported(tmp_path, "imb", P2P.replace("= 4", "= 2")).series
    assert (one.pattern, one.pairs) == ("ping_pong", 1)
    assert float(one.seconds[0]) == pytest.approx(1.9e-6)
    with pytest.raises(CorruptFile, match="2 processes, not 3"):
        imported(tmp_path, "imb", P2P.replace("= 4", "= 3"))


@pytest.mark.parametrize("cut", ["         4096", "         4096         1000         4.5"])
def test_imbs_last_row_may_be_cut(tmp_path: Path, cut: str) -> None:
    head = IMB[: IMB.index("\n\n#-----")]
    run = imported(tmp_path, "imb", f"{head}\n{cut}")
    assert [one.message_bytes for one in run.series] == [0, 1024]
    found = run.header["warnings"]
    assert isinstance(found, list) and [(one["number"], one["unit"]) for one in found] == [
        (1, "rows")
    ]
    with pytest.raises(CorruptFile, match="columns, its header 4"):
        imported(
            tmp_path,
            "imb",
            f"{head}\n{cut}\n         8192         1000         9.50       862.00\n",
        )


def test_an_imb_row_that_holds_another_programs_words_is_skipped(tmp_path: Path) -> None:
    run = imported(tmp_path, "imb", P2P + "         2048   1000   2.9 [17.1] ucx WARN no device\n")
    assert [one.message_bytes for one in run.series] == [1024]


def test_message_rates_of_two_windows_are_no_launches(tmp_path: Path) -> None:
    run = imported(tmp_path, "osu", RATES + RATES.replace("size: 64", "size: 1"))
    assert {(one.batch, one.placement, one.launch) for one in run.series} == {
        (64, "host-buffers", 0),
        (1, "host-buffers+window-1", 0),
    }


def test_two_kinds_of_imbs_ping_pong_are_two_launches(tmp_path: Path) -> None:
    table = IMB[IMB.index("# Benchmarking") : IMB.index("\n\n#-----")]
    other = table.replace("PingPong", "PingPongAnySource")
    run = imported(tmp_path, "imb", f"{table}\n{other}\n")
    assert {one.launch for one in run.series} == {0, 1}


@pytest.mark.parametrize(
    ("name", "reason"),
    [("Unidir_Get", "one-sided"), ("BiBand", "rates"), ("Multi-PingPing", "several groups")],
)
def test_an_imb_benchmark_without_a_pattern_is_refused_with_the_reason(
    tmp_path: Path, name: str, reason: str
) -> None:
    with pytest.raises(CorruptFile, match=f"{name}.*{reason}"):
        imported(tmp_path, "imb", P2P.replace("PingPong", name))


@pytest.mark.parametrize(
    ("kind", "text", "place"),
    [
        ("nodecomm", NODECOMM.replace("4.26e-06", "fast"), "line 4, field pairs 2"),
        ("nodecomm", NODECOMM.replace("\t4.26e-06", ""), "line 4, field pairs 2"),
        ("nodecomm", NODECOMM.replace("Hops: 2", "Hops: two"), "line 8, field Hops"),
        ("nodecomm", NODECOMM.replace("\n2\t3.98", "\n2.5\t3.98"), "line 4, field size"),
        ("nodecomm", "", "line 1"),
        ("osu", LATENCY.replace("1.25", "-1.25"), "line 5, field Latency"),
        ("osu", LATENCY.replace("1024 ", "8 "), "line 6, field Size"),
        ("osu", LATENCY.replace("# OSU", "# USO"), "line 1, field title"),
        ("osu", LATENCY.replace("Latency Test", "Multi-threaded Latency Test"), "line 2, field"),
        ("osu", BANDWIDTH.replace("2000.00", "0.00"), "line 4, field Bandwidth"),
        ("osu", RATES.replace("4000000.00", "5000000.00"), "line 5, field MB/s"),
        ("osu", RATES.replace("# [ pairs", "# [ pears"), "line 4, field pairs"),
        ("osu", RATES.replace("pairs: 4", "pairs: 0"), "line 2, field pairs"),
        ("imb", IMB.replace("2.23         0.00", "2.23", 1), "line 8, field Mbytes/sec"),
        ("imb", IMB.replace("3.50       292", "timeout    292"), "line 9, field t[usec]"),
        ("imb", IMB.replace("# #processes = 2", "# #processes = 3"), "line 4, field #processes"),
        (
            "imb",
            IMB.replace("Sendrecv", "Window").replace("t_max", "t_most"),
            "line 22, field t_max[usec]",
        ),
        ("imb", "# nothing here\n", "line 1"),
    ],
)
def test_what_is_wrong_is_named_by_file_line_and_field(
    tmp_path: Path, kind: str, text: str, place: str
) -> None:
    with pytest.raises(CorruptFile) as error:
        imported(tmp_path, kind, text)
    assert f"source.txt, {place}" in str(error.value)
    assert not (tmp_path / "run.jsonl").exists()


@pytest.mark.parametrize(
    ("kind", "text", "options"),
    [
        ("nodecomm", NODECOMM, {"direction": "one-way"}),
        ("nodecomm", NODECOMM, {"pattern": "ping_pong"}),
        ("osu", LATENCY, {"direction": "round-trip"}),
        ("osu", LATENCY, {"pattern": "pairs"}),
        ("imb", IMB, {"direction": "round-trip"}),
        ("imb", IMB, {"pattern": "flood"}),
    ],
)
def test_an_option_that_contradicts_the_file_is_refused(
    tmp_path: Path, kind: str, text: str, options: dict[str, str]
) -> None:
    with pytest.raises(UsageError, match="does not fit"):
        imported(tmp_path, kind, text, **options)
