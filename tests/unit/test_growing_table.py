"""The table that grows while `chiplog measure` measures."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from chiplog.cli.growing_table import GrowingTable
from chiplog.dataset.run_file import read_run
from chiplog.jobs.measure import measure
from chiplog.plan import PlanOptions

OPTIONS = PlanOptions(transport="sim", patterns=("prtt",), sizes=(1, 8, 64, 100), visits=2)
TARGET = "sim:L=5us,o=1us,g=2us,G=0.5ns"


def test_a_row_is_there_as_soon_as_its_size_was_measured(tmp_path: Path) -> None:
    measure(TARGET, tmp_path / "run.jsonl", OPTIONS, refine=False)
    table = GrowingTable("sim")
    sizes: list[str] = []
    for series in read_run(tmp_path / "run.jsonl").series:
        table.measured([series])
        shown = [size for size, _, _ in table.rows(24)]
        assert set(sizes) <= set(shown)
        sizes = shown
    rows = {size: time for size, time, _ in table.rows(24)}
    assert set(rows) == {"1 B", "8 B", "64 B", "100 B"}
    assert rows["1 B"].startswith("7.0")  # L + 2 o
    assert [size for size, _, _ in table.rows(2)] == ["8 B", "64 B"]


def test_series_without_samples_make_no_row(tmp_path: Path) -> None:
    measure(TARGET, tmp_path / "run.jsonl", OPTIONS, refine=False)
    table = GrowingTable("sim")
    empty = [
        replace(one, seconds=one.seconds[:0]) for one in read_run(tmp_path / "run.jsonl").series
    ]
    table.measured(empty)
    assert table.rows(24) == []


def test_on_a_terminal_the_table_is_drawn_on_standard_error_and_standard_output_has_the_final_one(
    tmp_path: Path,
) -> None:
    ours, theirs = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "chiplog",
        "measure",
        TARGET,
        "-o",
        str(tmp_path / "run.jsonl"),
    ]
    command += ["--sizes", "1,8,64", "--visits", "2", "--no-refine"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True) as process:
        os.close(theirs)
        drawn = b""
        while True:
            try:
                piece = os.read(ours, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            drawn += piece
        assert process.stdout is not None
        final = process.stdout.read()
    os.close(ours)
    assert process.returncode == 0, drawn.decode()
    assert b"median half round trip" in drawn
    assert "95 % interval" in final
    assert "visits" not in final
