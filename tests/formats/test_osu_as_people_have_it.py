"""Tables of the OSU micro-benchmarks as logs, web pages and other releases have them."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from imported_files import imported, refused, times
from needs import require_data

from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run

LATENCY = """# OSU MPI Latency Test v7.2
# Size          Latency (us)
0                       0.28
8                       0.31
1024                    0.90
65536                  12.25
"""
ALL = [(0, 0.28), (8, 0.31), (1024, 0.9), (65536, 12.25)]
TAILS = """# OSU MPI Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)     P50 Tail Lat(us)     P90 Tail Lat(us)     P99 Tail Lat(us)
8                       1.61                 1.55                 1.70                 4.20
64                      1.75                 1.70                 1.85                 4.90
"""
TAG = "[1,0]<stdout>:"


@pytest.mark.parametrize(
    "joined",
    [
        "".join(f"{TAG}{line}" for line in LATENCY.splitlines()) + "\n",
        f"{TAG}{LATENCY.replace(chr(10), TAG)}\n",
        f"{TAG}{LATENCY.splitlines()[0]}{TAG}{LATENCY.splitlines()[1]}{TAG}"
        + f"\n{TAG}".join(LATENCY.splitlines()[2:]),
        LATENCY.replace("\n", TAG, 3),
        "\n".join(f"Tue May  3 10:11:12 2022{TAG}{line}" for line in LATENCY.splitlines()),
        f"{TAG}{LATENCY}".replace("\n", f"\n{TAG}").replace("0.90", f"0.9{TAG}0"),
        f"{TAG}{LATENCY}".replace("\n", f"\n{TAG}").replace("1024 ", f"10{TAG}24 "),
    ],
    ids=["all", "all-with-ends", "title", "begin", "dates", "cut-number", "cut-size"],
)
def test_lines_that_a_launcher_joined_come_apart(tmp_path: Path, joined: str) -> None:
    run, notes = imported(tmp_path, "osu", joined)
    assert times(run) == ALL and not notes


@pytest.mark.parametrize("mark", ["# ", ""])
def test_a_table_in_one_line_is_not_taken_for_rows_of_the_one_before(
    tmp_path: Path, mark: str
) -> None:
    other = LATENCY.replace("Latency Test", "Bandwidth Test").removeprefix("# ")
    line = mark + " ".join(other.split())
    assert "line 1" in refused(tmp_path, "osu", f"{line}\n")
    run, notes = imported(tmp_path, "osu", f"{LATENCY}{line}\n2048   3.00\n")
    assert times(run) == ALL and "1 table" in " ".join(notes)


@pytest.mark.parametrize(
    "line",
    [
        f"{TAG}8     0.3[1,1]<stdout>:1 of 2 ranks",
        f"{TAG}8     0.3[1,1]<stderr>:warning",
        f"{TAG}4  0.2{TAG}8     0.31",
        f"{TAG}8     0.3{TAG}warning 17",
    ],
)
def test_a_row_that_may_have_been_cut_is_not_taken_for_a_number(tmp_path: Path, line: str) -> None:
    text = LATENCY.replace("8                       0.31", line, 1)
    run, notes = imported(tmp_path, "osu", text)
    assert times(run) == [ALL[0], *ALL[2:]] and "line 4" in " ".join(notes)


@pytest.mark.parametrize(
    "prefix",
    [
        "0:",
        "x1000c0s0b0n0.cluster 0: ",
        "10:11:12 ",
        "[10:11:12.123] ",
        "Nov 28 20:15:01 ",
        "2024/05/01 10:11:12 ",
        "[pod/osu-launcher-x7/osu] ",
        "2024-05-01T10:11:12Z 0: ",
        "Nov 28 20:15:01 node7 osu_latency[17]: ",
        "[prterun-node7-991@1,0]<stdout>: ",
        "> ",
    ],
)
def test_what_other_launchers_and_logs_put_before_lines_is_taken_off(
    tmp_path: Path, prefix: str
) -> None:
    run, notes = imported(
        tmp_path, "osu", "\n".join(f"{prefix}{line}" for line in LATENCY.splitlines())
    )
    assert times(run) == ALL and not notes


@pytest.mark.parametrize("mark", [" ", "", r"\# ", "## ", "#", "**", "\ufeff# "])
def test_a_title_may_have_lost_its_mark(tmp_path: Path, mark: str) -> None:
    run, notes = imported(tmp_path, "osu", LATENCY.replace("# OSU", f"{mark}OSU", 1))
    assert times(run) == ALL and not notes
    bare = LATENCY.replace("# OSU", f"{mark}OSU", 1).replace("# Size", f"{mark.strip('*')}Size")
    assert times(imported(tmp_path, "osu", bare)[0]) == ALL


def test_a_sentence_about_a_test_is_no_title(tmp_path: Path) -> None:
    text = "The OSU MPI Latency Test v7.2 was run twice.\nOSU MPI Bandwidth Test results follow.\n"
    run, notes = imported(tmp_path, "osu", text + LATENCY)
    assert times(run) == ALL and "2 lines" in notes[0]


def side_by_side(left: str, right: str, between: str, width: int) -> str:
    """Two tables, as `paste` or `pr -m` prints them."""
    pairs = itertools.zip_longest(left.splitlines(), right.splitlines(), fillvalue="")
    return "".join(f"{one:{width}}{between}{other}\n" for one, other in pairs)


@pytest.mark.parametrize(
    ("between", "width"),
    [("\t", 0), ("    ", 32), (" | ", 30), ("  ", 28)],
    ids=["paste", "pr", "bar", "near"],
)
def test_tables_side_by_side_are_both_read(tmp_path: Path, between: str, width: int) -> None:
    other = LATENCY.replace("0.31", "0.33").replace("12.25", "12.75")
    run, notes = imported(tmp_path, "osu", side_by_side(LATENCY, other, between, width))
    assert times(run) == [*ALL, (0, 0.28), (8, 0.33), (1024, 0.9), (65536, 12.75)]
    assert [one.launch for one in run.series] == [0] * 4 + [1] * 4 and not notes


@pytest.mark.parametrize(("between", "width"), [("\t", 0), ("    ", 32), (" | ", 30)])
@pytest.mark.parametrize("is_left_longer", [True, False])
def test_tables_side_by_side_may_be_of_other_lengths(
    tmp_path: Path, between: str, width: int, is_left_longer: bool
) -> None:
    short = LATENCY.replace("65536                  12.25\n", "")
    both = (LATENCY, short) if is_left_longer else (short, LATENCY)
    run, notes = imported(tmp_path, "osu", side_by_side(*both, between, width))
    expected = ALL + ALL[:3] if is_left_longer else ALL[:3] + ALL
    assert times(run) == expected and not notes


def test_two_headers_below_one_title_are_two_tables(tmp_path: Path) -> None:
    title, rows = LATENCY.split("\n", 1)
    run, _ = imported(tmp_path, "osu", f"{title}\n{side_by_side(rows, rows, '   ', 30)}")
    assert times(run) == ALL + ALL


def test_tables_of_two_tests_side_by_side_are_each_what_their_title_says(tmp_path: Path) -> None:
    rates = LATENCY.replace("Latency Test", "Bandwidth Test").replace(
        "Latency (us)", "Bandwidth (MB/s)"
    )
    rates = rates.replace("0                       0.28\n", "")
    run, _ = imported(tmp_path, "osu", side_by_side(LATENCY, rates, "    ", 32))
    assert [one.pattern for one in run.series] == ["ping_pong"] * 4 + ["flood"] * 3


def test_quantiles_are_kept_with_their_times(tmp_path: Path) -> None:
    run, notes = imported(tmp_path, "osu", TAILS)
    assert times(run) == [(8, 1.61), (64, 1.75)]
    assert run.series[0].tag["quantiles_seconds"] == {
        "0.5": pytest.approx(1.55e-6),
        "0.9": pytest.approx(1.70e-6),
        "0.99": pytest.approx(4.20e-6),
    }
    assert "quantiles" in notes[0]


def test_quantiles_of_a_bandwidth_are_rates(tmp_path: Path) -> None:
    text = TAILS.replace("Latency Test", "Bandwidth Test").replace(
        "Avg Latency(us)", "Bandwidth (MB/s)"
    )
    run, _ = imported(tmp_path, "osu", text.replace("Lat(us)", "BW(MB/s)"))
    assert run.series[0].tag["quantiles_bytes_per_second"] == {
        "0.5": pytest.approx(1.55e6),
        "0.9": pytest.approx(1.70e6),
        "0.99": pytest.approx(4.20e6),
    }


def test_a_validation_stands_before_the_quantiles(tmp_path: Path) -> None:
    text = TAILS.replace("  P50", "  Validation   P50").replace("1.61   ", "1.61  Pass ")
    text = text.replace("1.75   ", "1.75  Fail ")
    run, notes = imported(tmp_path, "osu", text)
    assert times(run) == [(8, 1.61)] and "1 row" in " ".join(notes)
    assert run.series[0].tag["quantiles_seconds"]["0.99"] == pytest.approx(4.2e-6)  # type: ignore[index]


def test_extremes_and_iterations_are_kept(tmp_path: Path) -> None:
    text = """# OSU MPI Latency Test v7.4
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
8                       1.61              1.50              9.25       10000
"""
    run, notes = imported(tmp_path, "osu", text)
    tag = run.series[0].tag
    assert (tag["min_seconds"], tag["max_seconds"]) == (
        pytest.approx(1.5e-6),
        pytest.approx(9.25e-6),
    )
    assert tag["iterations"] == 10000 and not notes


@pytest.mark.parametrize(
    ("unit", "microseconds"), [("us", 1.0), ("usec", 1.0), ("ns", 1e-3), ("ms", 1e3), ("s", 1e6)]
)
def test_the_header_says_in_which_unit_times_are(
    tmp_path: Path, unit: str, microseconds: float
) -> None:
    run, _ = imported(tmp_path, "osu", LATENCY.replace("(us)", f"({unit})"))
    assert times(run) == [(size, pytest.approx(value * microseconds)) for size, value in ALL]


@pytest.mark.parametrize(
    ("unit", "rate"), [("MB/s", 1e6), ("GB/s", 1e9), ("MiB/s", 2.0**20), ("Gb/s", 1.25e8)]
)
def test_the_header_says_in_which_unit_rates_are(tmp_path: Path, unit: str, rate: float) -> None:
    text = f"# OSU MPI Bandwidth Test v7.2\n# Size      Bandwidth ({unit})\n1024    2.00\n"
    run, _ = imported(tmp_path, "osu", text)
    assert run.series[0].seconds[0] == pytest.approx(64 * 1024 / (2.0 * rate), rel=1e-6)


def test_a_header_of_an_older_release_is_known(tmp_path: Path) -> None:
    text = "# OSU MPI Bi-Directional Bandwidth Test v3.1\n# Size     Bi-Bandwidth (MB/s)\n1024   2.00\n"
    run, _ = imported(tmp_path, "osu", text)
    assert len(run.series) == 1 and run.series[0].pattern != "ping_pong"


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("# Size (KB)     Latency (us)", "not in bytes"),
        ("# Size          Latency (cycles)", "the unit 'cycles' is unknown"),
        ("# Size   Latency (us)   Latency (us)", "two columns of latency"),
        ("# Size          Latency (us) 0 0.28 8 0.31", "numbers stand in the line of the header"),
    ],
)
def test_a_header_that_is_not_understood_is_named_by_its_line(
    tmp_path: Path, header: str, reason: str
) -> None:
    text = LATENCY.replace("# Size          Latency (us)", header)
    sentence = refused(tmp_path, "osu", text)
    assert ", line 2" in sentence and reason in sentence


def test_a_column_that_is_not_known_is_named(tmp_path: Path) -> None:
    text = LATENCY.replace("Latency (us)", "Latency (us)    Joules").replace("0.31", "0.31   7.00")
    run, notes = imported(tmp_path, "osu", text)
    assert times(run) == ALL and "'Joules'" in notes[0]


def test_a_row_with_more_numbers_than_its_header_is_skipped(tmp_path: Path) -> None:
    run, notes = imported(tmp_path, "osu", LATENCY.replace("0.31", "0.31   7.00"))
    assert times(run) == [ALL[0], *ALL[2:]] and "1 row" in notes[0]


def test_messages_of_derived_datatypes_are_refused(tmp_path: Path) -> None:
    text = LATENCY.replace("Latency (us)", "Latency (us)   Transmit Size").replace(
        "0.31", "0.31  4"
    )
    assert "derived datatypes" in refused(tmp_path, "osu", text)


def test_a_table_of_a_web_page_may_have_bars(tmp_path: Path) -> None:
    lines = [f"| {line} |" for line in LATENCY.splitlines()]
    text = "\n".join(line.replace("   ", " | ", 1) for line in lines)
    assert times(imported(tmp_path, "osu", text)[0]) == ALL


def test_a_real_table_without_a_mark_before_its_title_is_read_whole(tmp_path: Path) -> None:
    source = require_data("field/flux_hpcx_osu72.txt")
    run = read_run(import_file("osu", source, tmp_path / "run.jsonl"))
    found = times(run)
    assert len(found) == 23 and found[0] == (1, 1.61) and found[-1] == (4194304, 177.15)
