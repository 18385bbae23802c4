"""Runs of several launches become one dataset whose launches stay apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from chiplog.dataset.merge import merge
from chiplog.dataset.run_file import RunWriter, read_run
from chiplog.errors import UsageError
from chiplog.testing.run_files import example_header, example_record


def run(path: Path, launches: list[int], transport: str = "sim") -> Path:
    with RunWriter.create(path, example_header(transport=transport)) as writer:
        for number, launch in enumerate(launches):
            writer.append(example_record(number, launch=launch))
    return path


def test_launches_of_different_runs_stay_apart(tmp_path: Path) -> None:
    first = read_run(run(tmp_path / "a", [0, 0, 1]))
    second = read_run(run(tmp_path / "b", [0, 4]))
    merged = merge([first, second])
    assert [series.launch for series in merged.series] == [0, 0, 1, 2, 3]
    assert merged.complete and merged.transport == "sim"
    assert str(tmp_path / "a") in merged.source and str(tmp_path / "b") in merged.source


def test_an_interrupted_run_makes_the_whole_incomplete(tmp_path: Path) -> None:
    with RunWriter.create(tmp_path / "b", example_header()) as writer:
        writer.finish(complete=False, reason="interrupted")
    merged = merge([read_run(run(tmp_path / "a", [0])), read_run(tmp_path / "b")])
    assert not merged.complete


def test_runs_of_different_transports_are_not_merged(tmp_path: Path) -> None:
    datasets = [read_run(run(tmp_path / "a", [0])), read_run(run(tmp_path / "b", [0], "tcp"))]
    with pytest.raises(UsageError, match="different transports can't be merged: sim, tcp"):
        merge(datasets)


def test_nothing_cannot_be_merged() -> None:
    with pytest.raises(UsageError, match="no run"):
        merge([])
