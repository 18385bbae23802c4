"""Each run keeps its files, and links lead to those of the latest one."""

from __future__ import annotations

from pathlib import Path

import pytest

from chiplog.errors import RunFailed
from chiplog.jobs.folders import NAMES, new_folder, show_latest


def fill(folder: Path, text: str) -> None:
    (folder / "runs" / "tcp.jsonl").write_text(text)
    for name in NAMES[1:]:
        (folder / name).write_text(text)


def test_runs_of_the_same_second_have_folders_of_their_own_and_the_last_one_is_shown(
    tmp_path: Path,
) -> None:
    out = tmp_path / "report"
    folders = [new_folder(out) for _ in range(3)]
    assert len(set(folders)) == 3
    for number, folder in enumerate(folders):
        fill(folder, f"run {number}")
        show_latest(out, folder)
        assert (out / "report.html").read_text() == f"run {number}"
        assert (out / "runs" / "tcp.jsonl").read_text() == f"run {number}"
        assert (out / "latest").resolve() == folder.resolve()
    assert [(one / "model.json").read_text() for one in folders] == ["run 0", "run 1", "run 2"]
    assert not [one for one in out.iterdir() if one.name.startswith(".")]


def test_a_run_that_fails_leaves_the_one_before_in_sight(tmp_path: Path) -> None:
    out = tmp_path / "report"
    first = new_folder(out)
    fill(first, "first")
    show_latest(out, first)
    fill(new_folder(out), "second")
    assert (out / "report.html").read_text() == "first"


def test_files_of_an_older_chiplog_are_kept_in_a_folder_of_their_own(tmp_path: Path) -> None:
    out = tmp_path / "report"
    (out / "runs").mkdir(parents=True)
    fill(out, "old")
    folder = new_folder(out)
    fill(folder, "new")
    show_latest(out, folder)
    assert (out / "report.md").read_text() == "new"
    (kept,) = [
        one for one in out.iterdir() if one.is_dir() and not one.is_symlink() and one != folder
    ]
    assert (kept / "runs" / "tcp.jsonl").read_text() == "old"
    assert (kept / "report.html").read_text() == "old"


def test_the_whole_folder_may_be_moved(tmp_path: Path) -> None:
    out = tmp_path / "report"
    folder = new_folder(out)
    fill(folder, "moved")
    show_latest(out, folder)
    out.rename(tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "report.html").read_text() == "moved"


def test_where_there_can_be_no_links_the_files_are_named(tmp_path: Path) -> None:
    out = tmp_path / "report"
    folder = new_folder(out)
    (out / "latest").mkdir()
    with pytest.raises(RunFailed, match="its files are in"):
        show_latest(out, folder)
