"""Long readings and replays say how far they are, and how long they will take."""

from __future__ import annotations

from pathlib import Path

import pytest
from own_trace_files import sound_trace
from trace_files import ring

from chiplog.application.costs import costs_of
from chiplog.cli.application import LINE_SECONDS, progress_lines
from chiplog.jobs.application import ReplayQuestions, replayed
from chiplog.jobs.replay import ReplayBy
from chiplog.jobs.savings import TracedProgram
from chiplog.prediction.network_change import parse_change
from chiplog.simulation import LogGOPS
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


def test_a_replay_says_how_many_of_its_answers_are_there(tmp_path: Path) -> None:
    trace = read_trace(ring(tmp_path / "ring"))
    program = TracedProgram("ring", trace, None, None)
    by = ReplayBy(parameters=LogGOPS.from_ns(L=6000, o=1500, g=2000, G=5))
    questions = ReplayQuestions(
        sensitivity=True, changes={text: parse_change(text) for text in ("L+1us", "G*2")}
    )
    shares: list[float] = []
    result = replayed(costs_of(trace), program, by, questions, shares.append)
    assert shares == [0.25, 0.5, 0.75]
    assert result.replay is not None
    assert [row.what for row in result.replay.alternatives] == ["L+1us", "G*2"]
    assert result.replay.sensitivity is not None
    assert result.replay.savings is None
