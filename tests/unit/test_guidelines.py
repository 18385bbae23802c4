"""Self-consistent performance guidelines: which there are, and which an MPI surely violates."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from json_schemas import validate
from simulated_guidelines import SimulatedCalls

from chiplog.benchmarking.benchmark import OPERATIONS
from chiplog.cli.bench_text import print_guidelines
from chiplog.dataset.lines import Where, decode_line
from chiplog.errors import RunFailed, UsageError
from chiplog.tune.guidelines.guideline import EMULATIONS, Guideline, TimedCall, guidelines_of
from chiplog.tune.guidelines.judge import GuidelineJudgement, JudgeOptions, judge
from chiplog.tune.guidelines.measure import GuidelineOptions, guidelines
from chiplog.tune.guidelines.result import SamplesLog, guidelines_to_json
from chiplog.tune.measured.launch import Cell

NATIVE = Path(__file__).parents[2] / "native" / "apps" / "chiplog-race" / "emulations.cpp"
SIZES = (8, 512, 4096)


def truth(call: TimedCall) -> float:
    """An MPI whose allreduce of 512 B is slow, and whose broadcast is slower among 3 than among 4."""
    cell = call.cell
    seconds = 1e-6 * cell.ranks + 1e-9 * cell.message_bytes
    if call.emulation != "default":
        return 2.0 * seconds
    if cell.operation == "allreduce" and cell.message_bytes == 512:
        return 9.0 * seconds
    if cell.operation == "bcast" and cell.ranks == 3:
        return 3.0 * seconds
    return seconds


def judged(seed: int = 0, launches: int = 8) -> GuidelineJudgement:
    every = guidelines_of(("allreduce", "bcast", "barrier"), (3, 4), SIZES, "byte")
    launcher = SimulatedCalls(truth, seed, launch_sigma=0.02, outlier_share=0.0)
    return judge(launcher, every, JudgeOptions(launches, seed=seed))


def test_the_race_program_knows_the_emulations_that_are_asked_for() -> None:
    pairs = re.findall(r'Emulation\{"(\w+)", "([\w+]+)"', NATIVE.read_text(encoding="utf-8"))
    assert pairs == [(name, other) for name, others in EMULATIONS.items() for other in others]
    assert set(EMULATIONS) == set(OPERATIONS)


def test_guidelines_compare_with_emulations_larger_messages_and_more_ranks() -> None:
    every = guidelines_of(("allreduce",), (3, 4), (8, 512), "int")
    assert len(every) == 2 * (2 * 2 + 1) + 2
    assert [line.kind for line in every].count("ranks") == 2
    small, large = (TimedCall(Cell("allreduce", 3, size, "int")) for size in (8, 512))
    assert Guideline(small, large) in every and Guideline(large, small) not in every
    assert {line.kind for line in guidelines_of(("barrier",), (4,), (8, 512), "int")} == {
        "emulation"
    }


@pytest.mark.parametrize("seed", range(5))
def test_calls_that_are_slower_than_others_are_named_with_the_factor(seed: int) -> None:
    violations = judged(seed).violations
    named = {(line.guideline.kind, line.guideline.call.cell) for line in violations}
    slow = [Cell("allreduce", ranks, 512) for ranks in (3, 4)]
    assert {("emulation", cell) for cell in slow} <= named
    assert ("ranks", Cell("bcast", 3, 8)) in named
    assert ("ranks", Cell("allreduce", 3, 512)) not in named
    for line in violations:
        true = truth(line.guideline.call) / truth(line.guideline.other)
        assert true > 1.0 and line.factor_low <= true
        assert true <= 1.05 * line.factor_high  # the way to begin that speaks for the MPI counts


def test_what_holds_in_the_first_launch_is_not_measured_again() -> None:
    launcher = SimulatedCalls(lambda call: 1e-6 * (1 + 9 * (call.emulation != "default")))
    judgement = judge(launcher, guidelines_of(("gather",), (2,), (8,), "byte"), JudgeOptions())
    assert len(launcher.log) == 1
    assert [line.verdict for line in judgement.findings] == ["not told", "not told"]
    assert not judgement.suspects


def test_calls_that_the_mpi_refuses_take_no_part_and_are_named() -> None:
    every = guidelines_of(("gather",), (2,), (8,), "byte")
    wrong = {every[0].other: "its result is wrong"}
    judgement = judge(SimulatedCalls(truth, refuses=wrong), every, JudgeOptions())
    assert judgement.refused == wrong and len(judgement.findings) == 1
    validate(guidelines_to_json(judgement))


def test_a_launch_that_fails_is_an_error_that_says_where() -> None:
    every = guidelines_of(("gather",), (2,), (8,), "byte")
    with pytest.raises(RunFailed, match=r"failed at gather of 8 B: it ends with code 139\."):
        judge(SimulatedCalls(truth, fails_in=1), every, JudgeOptions())


def test_the_json_is_of_the_schema_and_holds_every_guideline_once() -> None:
    judgement = judged()
    document = guidelines_to_json(judgement)
    validate(document)
    verdicts = [line["verdict"] for line in document["guidelines"]]
    assert verdicts.count("violated") == document["violated"] == len(judgement.violations) > 0
    assert len(verdicts) == len(judgement.findings)
    one_launch = [line for line in document["guidelines"] if line["launches"] == 1]
    assert all(line["low"] == 0.0 and line["high"] is None for line in one_launch)


def test_the_screen_says_what_is_slower_than_what(capsys: pytest.CaptureFixture[str]) -> None:
    print_guidelines(judged())
    text = capsys.readouterr().out
    assert "are surely violated (95 %)." in text
    assert re.search(r"\n3 +allreduce 512 B +reduce\+bcast +4\.\d+ +\[", text)
    assert re.search(r"\n3 +bcast 8 B +4 ranks ", text)
    print_guidelines(GuidelineJudgement((), 5, source="an MPI"))
    assert capsys.readouterr().out == "an MPI: no violation is sure among 0 guidelines.\n"


def test_all_samples_are_kept_with_the_calls_they_are_of(tmp_path: Path) -> None:
    samples, path = SamplesLog(), tmp_path / "samples.jsonl"
    every = guidelines_of(("bcast",), (3, 4), SIZES, "byte")
    judge(SimulatedCalls(truth), every, JudgeOptions(launches=3), log=samples.add)
    samples.write(path, "an MPI")
    lines = [
        decode_line(line, Where(str(path), number))
        for number, line in enumerate(path.read_bytes().splitlines(), 1)
    ]
    assert lines[0]["schema"] == "chiplog.guidelines-samples/1"
    assert lines[-1] == {"type": "footer", "lines": len(lines) - 2} | {
        name: value for name, value in lines[-1].items() if name not in ("type", "lines")
    }
    assert [line["launch"] for line in lines if line["type"] == "launch"] == [0, 1, 2, 3]
    first = [line for line in lines if line["type"] == "samples" and line["launch"] == 0]
    assert len(first) == 12 and all(math.isfinite(s) for s in first[0]["seconds"]["window"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: GuidelineOptions(sizes=(0, 8)), "--sizes: --guidelines accepts sizes of 1 byte"),
        (lambda: GuidelineOptions(sizes=(4,), datatype="double"), "no whole number of doubles"),
        (lambda: GuidelineOptions(amount=JudgeOptions(launches=1)), "--launches: is 1"),
        (lambda: GuidelineOptions(amount=JudgeOptions(budget_seconds=0.0)), "--budget: 0 is out"),
        (lambda: guidelines(("dance",)), "there is no operation 'dance' here"),
        (lambda: guidelines(ranks=1), "--ranks: is 1; it accepts 2 or more"),
    ],
)
def test_what_can_not_be_measured_is_wrong_usage(call: object, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        call()  # type: ignore[operator]
