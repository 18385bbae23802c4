"""One odd file among many is left out by name, and the others are read; no reader waits for a pipe."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from history_by_hand import add_run
from new_tools_files import PICO_FILES, PICO_METADATA, PICO_STAMP

from chiplog.cli import main
from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.errors import ChiplogError, UsageError
from chiplog.fitting.model_file import read_model
from chiplog.input_file import MOST_NAMED, read_text
from chiplog.machine_survey.topology import read_topology
from chiplog.run_history.result import HistoryResult, judge_history
from chiplog.schedule.goal import read_goal
from chiplog.simulation.noise_text import read_detours
from chiplog.tune.formats.one_radix import read_lines
from chiplog.tune.measured.raw_file import read_samples

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

FLIPS = 400 if os.environ.get("CHIPLOG_TEST_LONG") else 40
QUESTIONS = ({}, {"pair": "n0001,n0002"}, {"link_class": "all"})


def history_of(folder: Path, days: int) -> Path:
    for day in range(days):
        path = add_run(folder, np.full((2, 4), 0.001), day, pairs=True)
    return path


def rewritten(path: Path, change: Callable[[dict[bytes, bytes]], None]) -> None:
    """The file with other metadata, and a checksum that fits them."""
    table = pq.read_table(path)
    metadata = dict(table.schema.metadata)
    metadata.pop(b"chiplog.crc32")
    change(metadata)
    pq.write_table(table.replace_schema_metadata(metadata), path)


def with_run(path: Path, **members: object) -> None:
    def change(metadata: dict[bytes, bytes]) -> None:
        run = {**json.loads(metadata[b"chiplog.run"]), **members}
        metadata[b"chiplog.run"] = json.dumps(run).encode()

    rewritten(path, change)


def with_column(path: Path, name: str, column: object) -> None:
    table = pq.read_table(path)
    place = table.schema.get_field_index(name)
    pq.write_table(table.set_column(place, name, column), path)


def as_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def as_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def deep(metadata: dict[bytes, bytes]) -> None:
    metadata[b"chiplog.fingerprint"] = b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


ODD: dict[str, Callable[[Path], object]] = {
    "naive": lambda path: with_run(path, time_utc="2026-01-03T03:00:00"),
    "year 1": lambda path: with_run(path, time_utc="0001-01-01T00:00:00+05:00"),
    "number for a time": lambda path: with_run(path, time_utc=5),
    "another time": lambda path: with_run(path, time_utc="2026-01-04T03:00:00+00:00"),
    "another run": lambda path: with_run(path, run_id="other"),
    "deep": lambda path: rewritten(path, deep),
    "not UTF-8": lambda path: rewritten(
        path, lambda one: one.update({b"chiplog.run": b'{"run_id": "\xff"}'})
    ),
    "a list": lambda path: rewritten(path, lambda one: one.update({b"chiplog.run": b"[1]"})),
    "text for numbers": lambda path: with_column(
        path, "effect", pa.array(["x"] * pq.read_metadata(path).num_rows)
    ),
    "no names": lambda path: with_column(
        path, "client", pa.nulls(pq.read_metadata(path).num_rows, pa.string())
    ),
    "impossible effects": lambda path: with_column(
        path, "effect", pa.array([-2.0] * pq.read_metadata(path).num_rows, pa.float32())
    ),
    "empty": lambda path: path.write_bytes(b""),
    "pipe": as_pipe,
    "folder": as_folder,
}


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_file_of_a_history_is_left_out_by_name(odd: str, tmp_path: Path) -> None:
    path = history_of(tmp_path, 3)
    ODD[odd](path)
    for question in QUESTIONS:
        result = judge_history(tmp_path, target="tcp", **question)
        assert result.runs == 2
        assert len(result.unread) == 1 and path.name in result.unread[0]


def test_many_odd_files_are_named_up_to_three_and_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    history_of(tmp_path, 7)
    for path in sorted(tmp_path.rglob("*.parquet"))[:5]:
        as_pipe(path)
    assert main(["history", str(tmp_path)]) == 5
    told = capsys.readouterr().err.splitlines()
    assert len(told) == MOST_NAMED + 1
    assert sum("2 more files are left out" in line for line in told) == 1


def test_a_flipped_bit_gives_the_same_values_or_leaves_the_file_out(tmp_path: Path) -> None:
    path = history_of(tmp_path, 2)
    content = path.read_bytes()
    whole = [_told(judge_history(tmp_path, **one)) for one in QUESTIONS]
    chosen = random.Random(5)
    for _ in range(FLIPS):
        changed = bytearray(content)
        changed[chosen.randrange(len(changed))] ^= 1 << chosen.randrange(8)
        path.write_bytes(changed)
        for question, expected in zip(QUESTIONS, whole, strict=True):
            found = judge_history(tmp_path, target="tcp", **question)
            assert _told(found) == expected or (found.runs == 1 and len(found.unread) == 1)


def _told(result: HistoryResult) -> dict[str, object]:
    return {**result.to_json(), "unread": None}


def test_a_report_leaves_out_what_it_cannot_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, run, bad = tmp_path / "table.csv", tmp_path / "run.jsonl", tmp_path / "bad.jsonl"
    table.write_text("pattern,message_bytes,seconds\nping_pong,8,1.5e-06\nping_pong,64,2e-06\n")
    import_file("csv", table, run, direction="one-way")
    bad.write_bytes(run.read_bytes()[:-30])
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    page = tmp_path / "report.md"
    assert main(["report", str(run), str(bad), str(pipe), "-o", str(page)]) == 5
    told = capsys.readouterr().err
    assert str(bad) in told and str(pipe) in told and page.exists()


def test_an_odd_file_of_a_folder_is_left_out_of_an_import(tmp_path: Path) -> None:
    folder = tmp_path / "SYSTEM" / PICO_STAMP
    for name, text in PICO_FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "SYSTEM_metadata.csv").write_text(PICO_METADATA)
    first = min(path for path in folder.rglob("*_*.csv") if path.parent != folder)
    whole = read_run(import_file("pico", folder, tmp_path / "whole.jsonl"))
    for spoil in (as_pipe, lambda path: path.write_bytes(b"\xff"), lambda path: path.unlink()):
        if first.exists():
            spoil(first)
        notes: list[str] = []
        run = read_run(import_file("pico", folder, tmp_path / "run.jsonl", note=notes.append))
        assert 0 < len(run.series) < len(whole.series)
        first.unlink(missing_ok=True)
        first.write_text("highest\n")


READERS: dict[str, Callable[[Path], object]] = {
    "run": read_run,
    "model": read_model,
    "goal": read_goal,
    "topology": read_topology,
    "detours": read_detours,
    "settings": read_lines,
    "samples": read_samples,
    "text": read_text,
    **{
        kind: lambda path, kind=kind: import_file(kind, path, path.parent / "x.jsonl")
        for kind in ("csv", "osu", "pico")
    },
}


@pytest.mark.parametrize("reader", READERS)
def test_no_reader_waits_for_a_pipe_or_stumbles_over_a_byte(reader: str, tmp_path: Path) -> None:
    pipe, folder, byte = tmp_path / "pipe", tmp_path / "folder", tmp_path / "byte"
    os.mkfifo(pipe)
    folder.mkdir()
    byte.write_bytes(b"\xff")
    with pytest.raises(UsageError, match="but a file is needed here"):
        READERS[reader](pipe)
    for path in (folder, byte):
        with pytest.raises(ChiplogError):
            READERS[reader](path)
