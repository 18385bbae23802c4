"""What is asked about an application's trace with a model, and the answers: its time, savings, alternatives, a page."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from chiplog.application.result import Alternative, AppResult, Replay
from chiplog.jobs.application_page import application_page, replay_pictures
from chiplog.jobs.paired import PairedTimes, Variant
from chiplog.jobs.replay import ReplayBy, alternative, replay, saves_by
from chiplog.jobs.savings import TracedProgram, savings
from chiplog.jobs.sensitivity import sensitivity
from chiplog.jobs.simulated_model import FittedParameters
from chiplog.prediction.network_change import NetworkChange
from chiplog.report.write import write_document


@dataclass(frozen=True)
class ReplayQuestions:
    """What to say of a replay besides its time."""

    sensitivity: bool = False
    savings: bool = False
    changes: Mapping[str, NetworkChange] = field(default_factory=dict)
    """By how they were asked for."""
    others: Mapping[str, FittedParameters] = field(default_factory=dict)
    """Other models, by name."""

    @property
    def answers(self) -> int:
        """How many there are to be, with the replay's time."""
        return 1 + len(self.changes) + len(self.others) + self.sensitivity + self.savings


def replayed(
    costs: AppResult,
    program: TracedProgram,
    by: ReplayBy,
    questions: ReplayQuestions,
    progress: Callable[[float], None] = lambda _: None,
) -> AppResult:
    """The costs with the time by a model, and the answers to the questions; errors as of `ReplayBy.simulate`.

    `progress` is called with the share of the answers that are there.
    """
    answer = replay(costs, program.replayed, by)
    answers = _answers(answer, program, by, questions)
    for done in range(1, questions.answers):
        progress(done / questions.answers)
        answer = next(answers)
    return replace(costs, replay=answer)


def _answers(
    answer: Replay, program: TracedProgram, by: ReplayBy, questions: ReplayQuestions
) -> Iterator[Replay]:
    """The answer with one more of what was asked each time."""
    for row in _alternatives(answer, program, by, questions):
        answer = replace(answer, alternatives=(*answer.alternatives, row))
        yield answer
    if questions.sensitivity:
        answer = replace(answer, sensitivity=sensitivity(program.schedule, by))
        yield answer
    if questions.savings:
        yield replace(answer, savings=savings(program, by))


def _alternatives(
    answer: Replay, program: TracedProgram, by: ReplayBy, questions: ReplayQuestions
) -> Iterator[Alternative]:
    schedule = program.schedule
    paired = PairedTimes(schedule, by)
    for text, change in questions.changes.items():
        saves = paired.saved_share(Variant(schedule, change))
        yield alternative(text, by.simulate(schedule, change), saves)
    for name, fitted in questions.others.items():
        other = ReplayBy(fitted, trace=by.trace).simulate(schedule)
        yield alternative(name, other, saves_by(answer, other))


def write_application_page(
    result: AppResult, program: TracedProgram, by: ReplayBy | None, path: str | os.PathLike[str]
) -> None:
    """The page of a trace, with pictures of its replay where there is one; errors as of `write_document`."""
    pictures = None if by is None else replay_pictures(program, by)
    title = Path(program.name).name or program.name
    page = application_page(result, title, program.trace.hosts, pictures)
    write_document(page, path)
