"""Anchors from results of `chiplog bench`, run files and CSV; what is none of them ends in one sentence."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from chiplog.cli import main
from chiplog.dataset.importers import osu
from chiplog.errors import ChiplogError, CorruptFile, UsageError
from chiplog.jobs.anchor_files import read_anchors
from chiplog.prediction.convention import TimeConvention
from chiplog.prediction.correction import may_be_of_another_unit

HEADER = "operation,algorithm,ranks,message_bytes,seconds\n"
ROW = "bcast,binomial,4,1024,1.5e-05\n"
BENCH: dict[str, Any] = {
    "schema": "chiplog.bench/1",
    "operation": "bcast",
    "ranks": 4,
    "bytes": 1024,
    "mode": "window",
    "rows": [
        {
            "mode": mode,
            "variant": variant,
            "median_seconds": seconds,
            "low_seconds": seconds / 1.1,
            "high_seconds": seconds * 1.2,
        }
        for mode, variant, seconds in (
            ("window", "library", 1e-5),
            ("window", "mpi", 2e-5),
            ("round", "mpi", 3e-5),
        )
    ],
}
OSU = """# OSU MPI Broadcast Latency Test v7.4
# Size       Avg Latency(us)
8                       2.50
1024                    4.50
"""


def written(folder: Path, text: str | bytes, name: str = "anchors.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_row_of_csv_is_an_anchor(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER + ROW)
    (anchor,) = read_anchors([path])
    assert (anchor.operation, anchor.algorithm) == ("bcast", "binomial")
    assert (anchor.ranks, anchor.message_bytes, anchor.seconds) == (4, 1024, 1.5e-5)
    assert (anchor.width, anchor.peers, anchor.convention) == (0.0, None, None)
    assert anchor.source == str(path)


def test_rows_that_agree_are_samples_of_one_time(tmp_path: Path) -> None:
    rows = [f"barrier,,8,1,{seconds}e-6,3\n" for seconds in (5, 6, 7, 8, 9, 10, 11)]
    header = "operation,algorithm,ranks,message_bytes,seconds,peers\n"
    (anchor,) = read_anchors([written(tmp_path, header + "".join(rows))])
    assert anchor.seconds == pytest.approx(8e-6)
    assert anchor.width == pytest.approx(math.log(8 / 5))
    assert (anchor.algorithm, anchor.peers) == (None, 3)


def test_a_bench_result_is_the_mpis_own_time_from_a_common_start(tmp_path: Path) -> None:
    (anchor,) = read_anchors([written(tmp_path, json.dumps(BENCH, indent=2), "bench.json")])
    assert (anchor.operation, anchor.algorithm, anchor.ranks) == ("bcast", None, 4)
    assert anchor.seconds == 2e-5
    assert anchor.width == pytest.approx(math.log(1.2))
    assert anchor.convention is TimeConvention.COMMON_START


def test_a_run_with_collectives_of_osu_is_of_means_over_ranks(tmp_path: Path) -> None:
    table, run = written(tmp_path, OSU, "osu.txt"), tmp_path / "run.jsonl"
    assert osu.OSU.name == "osu"
    assert main(["import", "osu", str(table), "--ranks", "4", "-o", str(run)]) == 0
    small, large = read_anchors([run])
    assert (small.operation, small.algorithm, small.ranks) == ("bcast", None, 4)
    assert (small.message_bytes, large.message_bytes) == (8, 1024)
    assert large.seconds == pytest.approx(4.5e-6)
    assert large.convention is TimeConvention.OSU


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1"),
        ("\n\n", "must be a column"),
        (HEADER, "no row with a time"),
        ("operation,ranks,seconds\n", "message_bytes"),
        (HEADER.replace("ranks", "operation"), "operation"),
        (HEADER + "bcast,binomial,4,1024\n", "line 2"),
        (HEADER + ROW.replace("bcast", "gossip"), "field operation"),
        (HEADER + ROW.replace(",4,", ",1,"), "field ranks"),
        (HEADER + ROW.replace(",4,", ",four,"), "field ranks"),
        (HEADER + ROW.replace(",4,", ",99999999999,"), "field ranks"),
        (HEADER + ROW.replace("1024", "-1"), "field message_bytes"),
        (HEADER + ROW.replace("1.5e-05", "0"), "field seconds"),
        (HEADER + ROW.replace("1.5e-05", "nan"), "field seconds"),
        (HEADER + ROW.replace("1.5e-05", "-1"), "field seconds"),
        (HEADER + ROW.replace("1.5e-05", "1e99"), "field seconds"),
        (HEADER + '"bcast', "no valid CSV"),
        (b"\xff\xfe\x00", "anchors.csv"),
        (HEADER.encode() + b"bcast\0", "zero byte"),
        ("{", "anchors.csv"),
        ('{"schema": "chiplog.bench/2"}', "field schema"),
        (json.dumps(BENCH | {"rows": []}), "field rows"),
        (json.dumps(BENCH | {"ranks": 1}), "field ranks"),
        (
            json.dumps(BENCH | {"rows": [BENCH["rows"][1] | {"median_seconds": 0}]}),
            "median_seconds",
        ),
        (json.dumps(BENCH | {"bytes": 1e300}), "field bytes"),
        ("{" + '"a":{' * 5000, "anchors.csv"),
    ],
)
def test_a_damaged_file_is_named_with_what_is_wrong(
    tmp_path: Path, text: str | bytes, said: str
) -> None:
    with pytest.raises(CorruptFile) as raised:
        read_anchors([written(tmp_path, text)])
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["missing.csv", "."])
def test_what_is_no_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        read_anchors([tmp_path / name])


def test_a_file_of_another_kind_is_named(tmp_path: Path) -> None:
    run, model = tmp_path / "run.jsonl", tmp_path / "model.json"
    assert main(["measure", "sim:L=5us,o=1us,g=2us,G=0.5ns", "--sizes", "8", "-o", str(run)]) == 0
    with pytest.raises(UsageError, match="no calls of collective operations"):
        read_anchors([run])
    written(tmp_path, '{"schema": "chiplog.fit/1"}', model.name)
    with pytest.raises(ChiplogError, match="is a model file"):
        read_anchors([model])


def test_a_table_of_another_tool_is_to_be_imported_first(tmp_path: Path) -> None:
    table = tmp_path / "osu.txt"
    table.write_text(
        "# OSU MPI Allreduce Latency Test v7.4\n# Size       Avg Latency(us)\n8    5.1\n16   5.3\n"
    )
    with pytest.raises(UsageError, match="import it first: chiplog import osu"):
        read_anchors([table])


@pytest.mark.parametrize(("factor", "asked"), [(1e6, True), (1e-3, True), (8.0, False)])
def test_times_that_may_be_of_another_unit_are_asked_about(factor: float, asked: bool) -> None:
    assert may_be_of_another_unit(factor) is asked
