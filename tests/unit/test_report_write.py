"""Writing a report: the suffix decides, and a failure leaves what was there."""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from rendered import render_html, render_markdown
from sample_report import sample_report

from chiplog.errors import RunFailed, UsageError
from chiplog.report.write import check_suffix, write_report

REPORT = sample_report(samples=3)


@pytest.mark.parametrize("name", ["report.html", "report.HTM"])
def test_html_is_written_by_its_suffix(tmp_path: Path, name: str) -> None:
    write_report(REPORT, tmp_path / name)
    assert (tmp_path / name).read_text(encoding="utf-8") == render_html(REPORT)


def test_markdown_is_written_by_its_suffix(tmp_path: Path) -> None:
    write_report(REPORT, tmp_path / "report.md")
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == render_markdown(REPORT)


def test_another_suffix_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"report\.pdf: .* \.html, .*\.md"):
        write_report(REPORT, tmp_path / "report.pdf")
    with pytest.raises(UsageError):
        check_suffix("report")
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match="nowhere"):
        write_report(REPORT, tmp_path / "nowhere" / "report.html")


def test_a_full_disk_leaves_the_old_report_and_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(
        RunFailed, match=r"report\.html .*No space left on device.*the old file is as it was"
    ):
        write_report(REPORT, path)
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_that_is_no_text_does_not_cost_the_report(tmp_path: Path) -> None:
    target = replace(REPORT.targets[0], raw_files=("\udcff.jsonl",))
    write_report(replace(REPORT, targets=(target,)), tmp_path / "report.html")
    assert "?.jsonl" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_others_may_read_what_the_umask_lets_them(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.touch()
    write_report(REPORT, tmp_path / "report.html")
    mode = stat.S_IMODE((tmp_path / "report.html").stat().st_mode)
    assert mode == stat.S_IMODE(plain.stat().st_mode)
