"""Progress where standard error is no terminal."""

from __future__ import annotations

import pytest

from chiplog.measurement import progress


def test_without_a_terminal_a_line_is_printed_every_ten_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr("chiplog.measurement.progress.time.monotonic", lambda: now[0])
    with progress.ProgressBar("tcp") as bar:
        bar.expect(40.0)
        for _ in range(24):
            now[0] += 1.0
            bar.done(1.0, "prtt 8 B")
    assert capsys.readouterr().err.splitlines() == [
        "chiplog: tcp prtt 8 B: 25% done, 30 s left",
        "chiplog: tcp prtt 8 B: 50% done, 20 s left",
    ]


def test_a_short_measurement_prints_no_progress_without_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with progress.ProgressBar("sim") as bar:
        bar.expect(1.0)
        bar.done(1.0, "prtt 8 B")
    assert capsys.readouterr().err == ""
