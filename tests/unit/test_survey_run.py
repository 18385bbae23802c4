"""What a survey does with ranks that are not those it was planned for, and with ranks that are lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from chiplog.cli.survey_text import survey_text
from chiplog.dataset.lines import encode_line
from chiplog.dataset.run_file import read_run
from chiplog.errors import RunFailed, UsageError
from chiplog.machine_survey.leaves import declared_leaves
from chiplog.machine_survey.measurement import SurveyConditions, measure_sweep
from chiplog.machine_survey.page import SurveyPage, survey_page
from chiplog.machine_survey.plan import SurveyOptions
from chiplog.machine_survey.result import survey_result
from chiplog.machine_survey.rounds import rounds_by_leaf
from chiplog.machine_survey.trust import trust_sentence
from chiplog.measurement.session import Launch, Session
from chiplog.measurement.time_budget import Limits
from chiplog.plan.request import Request
from chiplog.report.document import Paragraph, text_of
from chiplog.report.markdown import render_document

HOSTS = ("n1", "n2", "n3", "n4")
OVER = Limits(0.0, 0.0, 0.0)


class Ranks:
    """Stands for a session: the pair of the first two ranks takes as long as its round says."""

    def __init__(self, hosts: Sequence[str] = HOSTS, fail_at: int | None = None) -> None:
        self.fail_at = fail_at
        self.asked: list[Request] = []
        self.error: BaseException = RunFailed("rank 2 closed its connection.")
        self.header: dict[str, Any] = {
            "type": "header",
            "schema": "chiplog.run/1",
            "chiplog": "0",
            "run_id": "0" * 16,
            "created": "2026-01-01T00:00:00Z",
            "target": "tcp",
            "transport": "tcp",
            "ranks": len(hosts),
            "hosts": list(hosts),
        }

    def __enter__(self) -> Ranks:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def measure(self, request: Request, *, margin_seconds: float | None) -> str:
        self.asked.append(request)
        if request.id == self.fail_at:
            raise self.error
        (one,) = request.series
        samples = [9, 1000 + (one.round or 0), 2000]
        series = {
            "pattern": one.pattern,
            "operation": "send",
            "posting": "normal",
            "direction": one.direction or "round-trip",
            "message_bytes": one.message_bytes,
            "train": 1,
            "delay_ns": 0,
            "warmup": 1,
            "messages": 1,
            "bytes": 1,
            "round": one.round,
            "at_once": one.at_once,
            "samples_ns": samples,
            "by_pair": [{"client": 0, "server": 1, "samples_ns": samples}],
        }
        record = {"id": request.id, "elapsed_ns": 1, "tag": request.tag, "series": [series]}
        return encode_line({"type": "record", **record}).decode()


def sweep(ranks: Ranks, out: Path, planned: int = 4, **more: Any) -> Any:
    def launch(number: int) -> Session:
        return cast(Session, ranks)

    conditions = SurveyConditions(**more)
    return measure_sweep(
        "tcp", SurveyOptions("tcp", planned), out, cast(Launch, launch), conditions
    )


def test_as_many_ranks_as_have_started_are_planned_for(tmp_path: Path) -> None:
    found = sweep(Ranks(), tmp_path / "pairs.jsonl", planned=2, ranks_are_given=False)
    assert {one.round for one in found.series} == {0, 1, 2}


def odd_and_even(nodes: tuple[str, ...]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    return tuple(int(one[1:]) % 2 for one in nodes), ("even", "odd")


def test_declared_leaves_plan_the_rounds_and_stay_with_the_file(tmp_path: Path) -> None:
    out = tmp_path / "pairs.jsonl"
    ranks, rest = Ranks(fail_at=4), Ranks()
    with pytest.raises(RunFailed):
        sweep(ranks, out, leaves_of=odd_and_even)
    found = sweep(rest, out, resume=True)
    assert found.complete
    links = {one.series[0].links for one in (*ranks.asked, *rest.asked)}
    assert links == set(rounds_by_leaf((1, 0, 1, 0)) or ())
    asked = {one.id: one.line() for one in ranks.asked}
    assert asked[4] == rest.asked[0].line()
    for one in (found, sweep(Ranks(), tmp_path / "again.jsonl", leaves_of=odd_and_even)):
        leaves, names = declared_leaves(one)
        assert leaves is not None and (leaves.tolist(), names) == ([1, 0, 1, 0], ("even", "odd"))


def test_ranks_that_were_asked_for_must_start(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--ranks: the launcher started 4 ranks, not 2"):
        sweep(Ranks(), tmp_path / "pairs.jsonl", planned=2)
    assert not list(tmp_path.iterdir())


def test_host_names_that_differ_in_case_are_refused_before_anything_is_measured(
    tmp_path: Path,
) -> None:
    with pytest.raises(UsageError, match="n1 and N1"):
        sweep(Ranks(("n1", "n2", "N1", "n4")), tmp_path / "pairs.jsonl")
    assert not list(tmp_path.iterdir())


def test_a_lost_node_is_named_and_resume_measures_the_rest_on_the_same_hosts(
    tmp_path: Path,
) -> None:
    out = tmp_path / "new" / "pairs.jsonl"
    with pytest.raises(RunFailed, match=r"rank 2 is n3.*The 3 finished records are kept"):
        sweep(Ranks(fail_at=3), out)
    partial = read_run(out)
    assert not partial.complete
    with pytest.raises(UsageError, match=r"other hosts \(n1, n2, n3, n4\) than those of now"):
        sweep(Ranks(("n1", "n2", "n3", "n5")), out, resume=True)
    with pytest.raises(UsageError, match="exists already"):
        sweep(Ranks(), out)
    assert sweep(Ranks(), out, resume=True).complete
    ids = [one.record_id for one in read_run(out).series]
    assert len(set(ids)) == len(ids)


def test_hosts_whose_names_have_another_case_or_a_domain_are_the_same_ones(tmp_path: Path) -> None:
    out = tmp_path / "pairs.jsonl"
    with pytest.raises(RunFailed):
        sweep(Ranks(fail_at=3), out)
    other = Ranks(("n1", "n2", "n3", "n5"))
    with pytest.raises(UsageError, match="was measured on other hosts"):
        sweep(other, out, resume=True)
    found = sweep(Ranks(("N1.cluster", "n2.cluster", "N3", "n4")), out, resume=True)
    assert found.complete
    assert found.header["hosts"] == list(HOSTS)


def test_an_interruption_leaves_a_valid_file(tmp_path: Path) -> None:
    out = tmp_path / "pairs.jsonl"
    ranks = Ranks(fail_at=2)
    ranks.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        sweep(ranks, out)
    assert not read_run(out).complete
    assert sweep(Ranks(), out, resume=True).complete


def test_when_time_is_over_one_record_is_taken_and_the_screen_says_how_to_go_on(
    tmp_path: Path,
) -> None:
    result = survey_result(sweep(Ranks(), tmp_path / "pairs.jsonl", limits=OVER))
    assert (result.complete, result.latency, result.bandwidth) == (False, None, None)
    said = survey_text(result, again="chiplog survey tcp", launcher=None)
    assert said.startswith(
        "not usable, because no pair was measured: the survey is not finished.\n"
    )
    assert said.endswith("next       chiplog survey tcp --resume")


def test_the_next_command_measures_the_pair_that_is_furthest_off(tmp_path: Path) -> None:
    result = survey_result(sweep(Ranks(), tmp_path / "pairs.jsonl"))
    assert result.at_once is not None
    said = survey_text(result, again="chiplog survey tcp", launcher="srun -N 4")
    assert 'chiplog measure tcp --launcher "srun -N 2 -w n1,n2" -o pair.jsonl' in said


def test_screen_page_and_markdown_begin_with_whether_the_survey_may_be_relied_on(
    tmp_path: Path,
) -> None:
    result = survey_result(sweep(Ranks(), tmp_path / "pairs.jsonl"))
    for changed, words in (
        (result, "of limited use: "),
        (replace(result, complete=False), "of limited use: the survey is not finished; "),
        (replace(result, busy="4 other programs ran on 2 CPUs"), "the machine was busy (4 other"),
    ):
        sentence = trust_sentence(changed)
        assert words in sentence
        screen = survey_text(changed, again="chiplog survey tcp", launcher=None)
        assert " ".join(screen.split()).startswith(" ".join(sentence.split()))
        document = survey_page(SurveyPage(changed, ""))
        first = document.sections[0].blocks[0]
        assert isinstance(first, Paragraph) and text_of(first.content) == sentence
        markdown = render_document(document)
        assert markdown.index("limited use") < markdown.index("Nobody is")


def test_a_survey_without_doubts_is_usable(tmp_path: Path) -> None:
    result = survey_result(sweep(Ranks(), tmp_path / "pairs.jsonl"))
    judged = replace(result, verdict=replace(result.verdict, visits=2), at_once=None)
    assert trust_sentence(judged) == (
        "usable: 1 of 6 pairs were measured, and suspects were measured again."
    )
