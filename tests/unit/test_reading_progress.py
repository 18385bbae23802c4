"""Long readings and replays say how far they are, and how long they will take."""

from __future__ import annotations

from pathlib import Path

import pytest
from own_trace_files import sound_trace

from chiplog.cli.application import LINE_SECONDS, progress_lines
from chiplog.tracing.importer import TraceOptions, read_trace


def test_a_line_every_few_seconds_has_the_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    progress = progress_lines("reading traced", lambda: now)
    for share in range(1, 101):
        now = 0.4 * share
        progress(share / 100)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == int(0.4 * 100 / LINE_SECONDS) - 1
    assert lines[0].endswith("reading traced: 13 %, 35 s left.")


def test_short_readings_say_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    progress = progress_lines("reading traced", lambda: 0.0)
    for share in (0.1, 0.5, 1.0):
        progress(share)
    assert capsys.readouterr().err == ""


def test_a_trace_is_read_in_steps_up_to_the_whole(tmp_path: Path) -> None:
    shares: list[float] = []
    read_trace(sound_trace(tmp_path), TraceOptions(progress=shares.append))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
