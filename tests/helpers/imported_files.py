"""Text imported as another tool's file, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from chiplog.dataset.importers import import_file
from chiplog.dataset.run_file import read_run
from chiplog.dataset.series import Dataset
from chiplog.errors import CorruptFile


def imported(tmp_path: Path, kind: str, text: str | bytes) -> tuple[Dataset, list[str]]:
    """The run that a file of this content becomes, and the warnings as sentences."""
    source = tmp_path / "source.txt"
    source.write_bytes(text if isinstance(text, bytes) else text.encode())
    notes: list[str] = []
    return read_run(import_file(kind, source, tmp_path / "run.jsonl", note=notes.append)), notes


def refused(tmp_path: Path, kind: str, text: str | bytes) -> str:
    """The sentence with which a file of this content is refused."""
    with pytest.raises(CorruptFile) as error:
        imported(tmp_path, kind, text)
    assert not (tmp_path / "run.jsonl").exists()
    return str(error.value)


def times(run: Dataset) -> list[tuple[int, float]]:
    """Size and microseconds of each series' first sample."""
    return [(one.message_bytes, round(1e6 * float(one.seconds[0]), 6)) for one in run.series]
