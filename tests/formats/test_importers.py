"""Importers: what other tools' files become, and how a file that is not what it should be is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from needs import require_data

from chiplog.dataset.importer import IMPORTERS
from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.errors import CorruptFile, RunFailed, UsageError

NETGAUGE = """# size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,d,s) L o_s o_r g G lsqu
1 10 13.564364 23.296190 145.577438 6.782182 1.103756 1.139558 -nan -nan -nan
2 10 10.835693 20.580017 118.670184 6.782182 1.145917 1.065402 1.079925 -0.001389 nan
2 10 10.835693 20.580017 118.670184 6.782182 1.145917 1.065402 12.367868 0.000497 0.01
4 8 10.735705 20.484529 117.675804 6.782182 1.146528 1.063513 1.081064 0.000575 0.000609
4 8 11.735705 20.484529 117.675804 6.782182 1.146528 1.063513 1.081064 0.000575 0.000609
"""
PING_PONG = """MPI_Send,100,29.893914,4.0e-06
MPI_Recv,100,29.893914,1.4e-05
MPI_Send,7,29.895789,1.0e-06
MPI_Recv,7,29.895789,2.5e-06
MPI_Send,100,29.898417,6.0e-06
MPI_Recv,100,29.898417,1.6e-05
"""
CSV = """pattern,message_bytes,pairs,train,launch,seconds
ping_pong,8,1,1,0,1.5e-06
ping_pong,8,1,1,0,1.7e-06
ping_pong,8,1,1,1,1.6e-06
flood,16,1,32,0,2.25e-05
"""


def imported(tmp_path: Path, kind: str, text: str, **options: str) -> Dataset:
    source = tmp_path / "source.txt"
    source.write_text(text)
    return read_run(import_file(kind, source, tmp_path / "run.jsonl", **options))


def refused(tmp_path: Path, kind: str, text: str, **options: str) -> str:
    with pytest.raises(CorruptFile) as error:
        imported(tmp_path, kind, text, **options)
    assert error.value.exit_code == 5
    assert not (tmp_path / "run.jsonl").exists(), "a refused file leaves no run behind"
    assert str(tmp_path / "source.txt") in str(error.value)
    return str(error.value)


def test_a_netgauge_row_becomes_three_trains_with_totals_kept_exactly(tmp_path: Path) -> None:
    first = imported(tmp_path, "netgauge", NETGAUGE).series[:3]
    assert [(s.pattern, s.train, s.direction) for s in first] == [
        ("prtt", 1, "round-trip"),
        ("prtt", 10, "round-trip"),
        ("prtt", 10, "round-trip"),
    ]
    assert [s.seconds.tolist() for s in first] == [[13.564364e-6], [23.29619e-6], [145.577438e-6]]
    assert [s.delay_seconds for s in first] == pytest.approx([0.0, 0.0, 13.564364e-6])
    assert {s.record_id for s in first} == {0}


def test_netgauges_own_answers_are_kept_in_seconds_with_null_for_nan(tmp_path: Path) -> None:
    tag = imported(tmp_path, "netgauge", NETGAUGE).series[0].tag
    assert tag["netgauge"] == {
        "L": pytest.approx(6.782182e-6),
        "o_s": pytest.approx(1.103756e-6),
        "o_r": pytest.approx(1.139558e-6),
        "g": None,
        "G": None,
        "lsqu": None,
    }


def test_a_repeated_netgauge_row_is_one_measurement_with_two_answers(tmp_path: Path) -> None:
    series = imported(tmp_path, "netgauge", NETGAUGE).select(message_bytes=2).series
    assert len(series) == 3
    changed = series[0].tag["netgauge_after_its_protocol_change"]
    assert isinstance(changed, dict) and changed["g"] == pytest.approx(12.367868e-6)


def test_a_netgauge_size_measured_twice_is_two_visits(tmp_path: Path) -> None:
    series = imported(tmp_path, "netgauge", NETGAUGE).select(message_bytes=4).series
    assert [s.visit for s in series] == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("1 10 1 2 3 4 5 6 7 8", "line 2, field lsqu: the row has 10 columns, not 11"),
        ("1 10 1 2 3 4 5 6 7 8 9 10", "line 2: the row has 12 columns, not 11"),
        ("1 10 nan 2 3 4 5 6 7 8 9", "line 2, field PRTT(1,0,s): is nan: there is no time"),
        ("1 10 1 -2 3 4 5 6 7 8 9", "line 2, field PRTT(n,0,s): '-2' is negative"),
        ("1 10 1 2 x 4 5 6 7 8 9", "line 2, field PRTT(n,d,s): 'x' is not a number"),
        ("1 1 1 2 3 4 5 6 7 8 9", "line 2, field n: must be from 2"),
        ("1.5 10 1 2 3 4 5 6 7 8 9", "line 2, field size: '1.5' is not a whole number"),
        ("1 10 1 2 3 4 5 6 7 8 z", "line 2, field lsqu: 'z' is not a number"),
        ("1 10 1 2 1e300 4 5 6 7 8 9", "line 2, field PRTT(n,d,s): '1e300' is more than"),
    ],
)
def test_a_wrong_netgauge_row_is_named(tmp_path: Path, row: str, sentence: str) -> None:
    assert sentence in refused(tmp_path, "netgauge", f"# comment\n{row}\n")


def test_a_calibrations_calls_keep_their_names_and_durations(tmp_path: Path) -> None:
    text = "MPI_Isend,8,1.0,2.536e-06\nMPI_Isend,9,1.1,2.0e-06\nMPI_Isend,8,1.2,2.436e-06\n"
    series = imported(tmp_path, "simgrid-calibration", text).series
    assert [(s.pattern, s.operation, s.direction, s.message_bytes) for s in series] == [
        ("send_overhead", "MPI_Isend", "call", 8),
        ("send_overhead", "MPI_Isend", "call", 9),
    ]
    assert series[0].seconds.tolist() == [2.536e-6, 2.436e-6]


def test_a_calibrations_ping_pong_is_the_sum_of_its_calls(tmp_path: Path) -> None:
    dataset = imported(tmp_path, "simgrid-calibration", PING_PONG)
    trips = dataset.select(pattern="ping_pong", message_bytes=100).series
    assert trips[0].direction == "round-trip"
    assert trips[0].seconds.tolist() == [18e-6, 22e-6]
    sends = dataset.select(operation="MPI_Send", message_bytes=100).series
    assert sends[0].seconds.tolist() == [4e-6, 6e-6]
    assert sends[0].record_id == trips[0].record_id


def test_a_calibration_may_be_packed(tmp_path: Path) -> None:
    source = tmp_path / "source.csv.gz"
    source.write_bytes(gzip.compress(PING_PONG.encode()))
    run = import_file("simgrid-calibration", source, tmp_path / "run.jsonl")
    assert len(read_run(run).series) == 4


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("MPI_Isend,8,1.0\n", "line 1, field seconds: the row has 3 columns, not 4"),
        ("MPI_Isend,8,1.0,-1e-6\n", "line 1, field seconds: '-1e-6' is negative"),
        (
            "MPI_Isend,8,1.0,1e-6\nMPI_Isend,-8,1.0,1e-6\n",
            "line 2, field bytes: '-8' is not a whole",
        ),
        ("MPI_Isend,8,now,1e-6\n", "line 1, field start: 'now' is not a number"),
        ("MPI_Bcast,8,1,1e-6\n", "line 1, field operation: 'MPI_Bcast' is unknown"),
        (
            "MPI_Send,8,1,1e-6\nMPI_Recv,8,2,1e-6\n",
            "field start: the sends and receives of 8 bytes",
        ),
        ("", "line 1: the file holds no measurement"),
    ],
)
def test_a_wrong_calibration_is_named(tmp_path: Path, text: str, sentence: str) -> None:
    assert sentence in refused(tmp_path, "simgrid-calibration", text)


def test_a_tidy_csv_becomes_a_series_for_each_combination(tmp_path: Path) -> None:
    dataset = imported(tmp_path, "csv", CSV, direction="one-way", transport="tcp")
    assert [(s.pattern, s.message_bytes, s.launch, s.train) for s in dataset.series] == [
        ("ping_pong", 8, 0, 1),
        ("ping_pong", 8, 1, 1),
        ("flood", 16, 0, 32),
    ]
    assert dataset.series[0].seconds.tolist() == [1.5e-6, 1.7e-6]
    assert dataset.series[0].direction == "one-way"
    assert dataset.transport == "tcp"


def test_a_csv_of_ping_pongs_needs_its_direction_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--direction round-trip or --direction one-way") as error:
        imported(tmp_path, "csv", CSV)
    assert error.value.exit_code == 2
    assert not (tmp_path / "run.jsonl").exists()


def test_a_csv_may_leave_its_pattern_to_the_option(tmp_path: Path) -> None:
    text = "message_bytes,seconds\n4,1e-6\n"
    dataset = imported(tmp_path, "csv", text, pattern="send_overhead")
    assert dataset.series[0].pattern == "send_overhead" and dataset.series[0].direction == "call"


def test_a_column_that_is_not_read_is_warned_of(tmp_path: Path) -> None:
    text = "message_bytes,seconds,pattern,colour\n4,1e-6,flood,red\n"
    warnings = imported(tmp_path, "csv", text).header["warnings"]
    assert isinstance(warnings, list) and "'colour' was not read" in warnings[0]["fact"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("pattern,seconds\nflood,1\n", "line 1, field message_bytes: there is no such column"),
        (
            "pattern;message_bytes;seconds\nflood;1;2\n",
            "semicolons separate them, but commas should",
        ),
        ("pattern,message_bytes\nflood,1\n", "line 1, field seconds: there is no such column"),
        ("message_bytes,seconds\n4,1\n", "line 1, field pattern: there is no such column, nor"),
        (
            "pattern,message_bytes,seconds\nflood,4,-1e-6\n",
            "line 2, field seconds: '-1e-6' is negative",
        ),
        (
            "pattern,message_bytes,seconds\nflood,4,nan\n",
            "line 2, field seconds: 'nan' is not a finite",
        ),
        ("pattern,message_bytes,seconds\nflood,4,\n", "line 2, field seconds: '' is not a number"),
        ("pattern,message_bytes,seconds\nflood,4\n", "line 2, field seconds: the row has 2 fields"),
        (
            "pattern,message_bytes,seconds\nflod,4,1\n",
            "line 2, field pattern: 'flod' is unknown; known",
        ),
        ("pattern,message_bytes,seconds\nflood,4k,1\n", "line 2, field message_bytes: '4k' is not"),
        (
            "pattern,message_bytes,seconds,train\nflood,4,1,0\n",
            "line 2, field train: must be from 1",
        ),
        (
            "pattern,message_bytes,seconds,seconds\nflood,4,1,1\n",
            "field seconds: the column stands twice",
        ),
        ("pattern,message_bytes,seconds\nflood,4,1\nflood,4,1_0\n", "line 3, field seconds: '1_0'"),
        ('pattern,message_bytes,seconds\nflood,"4"x,1\n', "line 2: no valid CSV"),
        (
            "pattern,transport,message_bytes,seconds\nflood,tcp,4,1\nflood,shm,4,1\n",
            "field transport: a run is of one transport, but here are shm, tcp",
        ),
        ("", "field message_bytes: there is no such column; the columns are none"),
        ("pattern,message_bytes,seconds\n", "the file holds no measurement"),
        ("a\0b", "line 1: the file holds a zero byte"),
    ],
)
def test_a_wrong_csv_is_named(tmp_path: Path, text: str, sentence: str) -> None:
    assert sentence in refused(tmp_path, "csv", text)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "source.txt"
    source.write_bytes(b"pattern\n\xff\xfe")
    with pytest.raises(CorruptFile, match=r"line 2: byte 8 of the file is not UTF-8"):
        import_file("csv", source, tmp_path / "run.jsonl")


def test_a_damaged_gzip_file_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "source.gz"
    source.write_bytes(gzip.compress(PING_PONG.encode())[:-9])
    with pytest.raises(CorruptFile, match="the gzip file is damaged"):
        import_file("simgrid-calibration", source, tmp_path / "run.jsonl")


@pytest.mark.parametrize(
    "options", [{"pattern": "pingpong"}, {"direction": "both"}, {"direction": "call"}]
)
def test_an_unknown_option_names_what_it_accepts(tmp_path: Path, options: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="it accepts"):
        imported(tmp_path, "csv", CSV, **options)


def test_an_unknown_kind_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'excel'; known are " + ", ".join(IMPORTERS.names())):
        imported(tmp_path, "excel", CSV)


def test_a_source_is_never_overwritten(tmp_path: Path) -> None:
    source = tmp_path / "source.csv"
    source.write_text(CSV)
    with pytest.raises(UsageError, match="is the file to import"):
        import_file("csv", source, source, direction="one-way")
    assert source.read_text() == CSV


def test_a_full_disk_is_a_failed_run(tmp_path: Path) -> None:
    source = tmp_path / "source.csv"
    source.write_text(CSV)
    with pytest.raises(RunFailed, match="No space left on device"):
        import_file("csv", source, "/dev/full", direction="one-way")


def test_a_run_says_where_it_was_imported_from(tmp_path: Path) -> None:
    header = imported(tmp_path, "netgauge", NETGAUGE).header
    provenance = header["provenance"]
    assert header["target"] == "import:netgauge" and isinstance(provenance, dict)
    assert provenance["file"] == "source.txt" and len(provenance["sha256"]) == 64


def test_the_calibrations_of_real_clusters_are_read_whole(tmp_path: Path) -> None:
    for name, series in (("miriel_Isend", 490), ("taurus_Recv", 490), ("miriel_PingPong", 980)):
        source = require_data(f"{name}.csv.gz")
        dataset = read_run(import_file("simgrid-calibration", source, tmp_path / "run.jsonl"))
        assert len(dataset.series) == series
        assert sum(s.seconds.size for s in dataset.series) == 33100 * (series // 490)
        assert all(np.all(s.seconds >= 0) for s in dataset.series)


def test_netgauges_run_on_tukey_is_read_with_its_change_once(tmp_path: Path) -> None:
    source = require_data("tukey_netgauge_prtt.dat")
    dataset = read_run(import_file("netgauge", source, tmp_path / "run.jsonl"))
    assert dataset.sizes().size == 27 and len(dataset.series) == 81
    changed = [
        s.message_bytes for s in dataset.series if "netgauge_after_its_protocol_change" in s.tag
    ]
    assert set(changed) == {262144}


def test_a_run_line_of_an_import_is_plain_json(tmp_path: Path) -> None:
    imported(tmp_path, "csv", CSV, direction="round-trip")
    record = json.loads((tmp_path / "run.jsonl").read_text().splitlines()[1])
    assert record["series"][0]["samples_ns"] == [1500, 1700]
