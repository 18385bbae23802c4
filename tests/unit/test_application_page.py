"""The page of an application: what stands on it, and that nothing from a trace acts there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from trace_files import ring, trace_of, write_actions

import chiplog
from chiplog.application.costs import costs_of
from chiplog.application.result import Replay
from chiplog.cli import main
from chiplog.collectives.algorithm import Task
from chiplog.collectives.registry import load
from chiplog.errors import UsageError
from chiplog.jobs.application import ReplayQuestions, replayed
from chiplog.jobs.application_page import application_page, replay_pictures, trust_line
from chiplog.jobs.replay import ReplayBy
from chiplog.jobs.replay_picture import MOST_SPANS, replay_picture
from chiplog.jobs.savings import TracedProgram
from chiplog.report import html, markdown
from chiplog.report.document import Document, Matrix, Section, text_of
from chiplog.simulation import LogGOPS
from chiplog.tracing.builder import ImportedCall
from chiplog.tracing.trace import Trace

BY_HAND = ("--L", "6000", "--o", "1500", "--g", "2000", "--G", "5", "--S", "64")
BY = ReplayBy(parameters=LogGOPS.from_ns(L=6000, o=1500, g=2000, G=5, S_bytes=64))
HOSTILE = "<script>alert(1)</script>|`\x1b[2J\n# no title"


def talk(ranks: int = 4) -> Trace:
    """Each rank sends to the next one."""
    calls = [
        [
            ImportedCall("Send", 0, 500, (rank + 1) % ranks, 0, sent_bytes=8),
            ImportedCall("Recv", 900, 1000, (rank - 1) % ranks, 0, received_bytes=8),
            ImportedCall("Finalize", 2000, 2000),
        ]
        for rank in range(ranks)
    ]
    return trace_of(*calls)


def page_of(trace: Trace) -> Document:
    program = TracedProgram("trace", trace)
    questions = ReplayQuestions(sensitivity=True, savings=True)
    result = replayed(costs_of(trace), program, BY, questions)
    return application_page(result, "trace", trace.hosts, replay_pictures(program, BY))


def all_sections(document: Document) -> Iterator[Section]:
    for section in document.sections:
        yield section
        yield from section.sections


def test_the_page_has_all_answers_and_begins_with_whether_to_trust_it(tmp_path: Path) -> None:
    page = tmp_path / "app.html"
    assert main(["app", str(ring(tmp_path / "ring")), *BY_HAND, "--report", str(page)]) == 0
    text = page.read_text()
    titles = ("In short", "What to change", "Time by rank", "Time by call", "Message sizes")
    more = ("Who sends to whom", "The critical path", "What the network matters")
    places = [text.index(f"{title}</") for title in (*titles, *more)]
    assert places == sorted(places)
    assert text.index("off the traced time") < text.index("Communication takes")
    assert 'class="critical"' in text
    assert '"label":"now"' in text.replace('": "', '":"')


def test_markdown_has_the_same_tables(tmp_path: Path) -> None:
    page = tmp_path / "app.md"
    assert main(["app", str(ring(tmp_path / "ring")), *BY_HAND, "--report", str(page)]) == 0
    text = page.read_text()
    assert "## What to change" in text
    assert "| Rank | Time | Communication |" in text
    assert "Time in each MPI function by rank" in text


def test_a_trace_without_a_model_has_a_page_of_what_was_traced(tmp_path: Path) -> None:
    page = tmp_path / "app.html"
    assert main(["app", str(ring(tmp_path / "ring")), "--report", str(page)]) == 0
    text = page.read_text()
    assert "no model is in it" in text
    assert "The critical path" not in text


def test_a_trace_without_times_has_a_page(tmp_path: Path) -> None:
    page = tmp_path / "app.html"
    words = ["app", str(write_actions(tmp_path / "ti")), *BY_HAND, "--flops-per-second", "1e9"]
    assert main([*words, "--report", str(page)]) == 0
    assert "no times that the model could be compared with" in page.read_text()


def test_python_writes_the_same_page(tmp_path: Path) -> None:
    page = tmp_path / "app.html"
    chiplog.app(ring(tmp_path / "ring"), report=page)
    assert "In short" in page.read_text()
    with pytest.raises(UsageError, match="report"):
        chiplog.app(tmp_path / "ring", report=tmp_path / "app.txt")
    with pytest.raises(UsageError, match="model"):
        chiplog.app(tmp_path / "ring", changes=["L*2"])


def test_text_of_a_trace_does_nothing_on_the_page() -> None:
    trace = talk()
    trace = replace(trace, source=HOSTILE, hosts=(HOSTILE,) * 4, notes=(HOSTILE,))
    document = page_of(trace)
    shown = html.render_document(document)
    assert "<script>alert" not in shown
    written = markdown.render_document(document)
    assert "<script>" not in written
    assert "\n# no title" not in written
    assert "\x1b" not in written


@pytest.mark.parametrize(
    "trace",
    [
        trace_of([]),
        trace_of([], []),
        trace_of([ImportedCall("Init", 0, 0)], [ImportedCall("Init", 0, 0)]),
        trace_of(
            [ImportedCall("Send", 0, 0, 0, 0, sent_bytes=8), ImportedCall("Recv", 0, 0, 0, 0)]
        ),
        trace_of([ImportedCall("Barrier", 5, 1)], [ImportedCall("Barrier", -(2**40), 2**50)]),
        trace_of(
            [ImportedCall("Send", 0, 1, 1, 0, sent_bytes=2**50)], [ImportedCall("Recv", 0, 1, 0, 0)]
        ),
        trace_of(*([ImportedCall("other", 0, 9)] for _ in range(300))),
    ],
)
def test_odd_traces_have_pages(trace: Trace) -> None:
    document = page_of(trace)
    for text in (html.render_document(document), markdown.render_document(document)):
        assert "nan" not in text.lower().replace("finance", "").split()
    shown = html.render_document(document)
    assert 'd="MNaN' not in shown
    assert "inf" not in [word.strip('"') for word in shown.split("=")]


def test_ranks_of_a_host_stand_together() -> None:
    trace = replace(talk(), hosts=("b", "a", "b", "a"))
    (matrix,) = (
        block
        for section in all_sections(page_of(trace))
        for block in section.blocks
        if isinstance(block, Matrix)
    )
    assert matrix.pairs.names == ("1", "3", "0", "2")
    assert [(group.name, group.count) for group in matrix.pairs.groups] == [("a", 2), ("b", 2)]


def test_of_a_long_replay_the_picture_shows_a_part() -> None:
    schedule = load("alltoall", "pairwise").schedule(Task(64, 64))
    shown = replay_picture(schedule, BY)
    assert shown.picture is not None
    timeline = shown.picture.timeline
    assert 0.9 * MOST_SPANS <= len(timeline.spans) <= MOST_SPANS + 64 * 4
    last = max(span.end for span in timeline.spans)
    assert all(0.0 <= span.start <= span.end <= last for span in timeline.spans)
    assert all(0.0 <= at <= last for at, _ in timeline.path)
    assert "too dense" in text_of(shown.picture.caption)


def test_the_critical_path_goes_from_the_start_to_the_end() -> None:
    program = TracedProgram("trace", talk())
    shown = replay_picture(program.schedule, BY)
    assert shown.picture is not None
    path = shown.picture.timeline.path
    assert path[0][0] == 0.0
    assert path[-1][0] == pytest.approx(BY.simulate(program.schedule).simulation.makespan_ps / 1e12)
    assert [at for at, _ in path] == sorted(at for at, _ in path)


@pytest.mark.parametrize(
    ("replay", "begin"),
    [
        (Replay(1.0, 0.9, 1.2, 1.1, {}), "The model explains the trace"),
        (Replay(1.0, 0.9, 1.1, 1.5, {}), "The model is 33 % off the traced time"),
        (Replay(1.0, 0.9, 1.1, 1.0, {}, extrapolated="far"), "With care: extrapolated, far"),
        (Replay(1.0, 0.9, 1.1, 1.0, {}, rejected="bad"), "Not to be relied on: bad"),
        (None, "As traced"),
    ],
)
def test_the_first_line_says_whether_to_trust_it(replay: Replay | None, begin: str) -> None:
    result = replace(costs_of(talk()), replay=replay)
    assert text_of(trust_line(result)).startswith(begin)
