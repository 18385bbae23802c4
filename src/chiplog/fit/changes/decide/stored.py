"""What a run file's own bisections say about its protocol changes: the questions are asked again, of the file."""

from __future__ import annotations

from collections.abc import Sequence

from chiplog.dataset.series import Dataset, Series
from chiplog.fit.changes.ask.questions import BISECT
from chiplog.fit.changes.ask.refine import Refiner
from chiplog.fit.changes.consensus import Verdict
from chiplog.fit.result import Change
from chiplog.plan.bell import BELL
from chiplog.plan.request import Request

FOLLOW_UPS = (BISECT, BELL)


def before_follow_ups(dataset: Dataset) -> Dataset:
    """The dataset as it was when the first question was asked: the same questions follow from it."""
    kept = tuple(one for one in dataset.series if one.tag.get("purpose") not in FOLLOW_UPS)
    return Dataset(dataset.header, kept, dataset.complete, dataset.source)


def refined(dataset: Dataset, verdict: Verdict, *, seed: int = 0) -> tuple[Change, ...]:
    """The verdict's changes as the bisections in the dataset narrow, refute or add to them; as they are without any.

    `seed` is the one that the measurement was refined with. Answers to questions that are not asked (any more) are
    passed over, so a part of a run gives what that part knows.
    """
    answers: dict[int, list[Series]] = {}
    for one in dataset.select(purpose=BISECT).series:
        answers.setdefault(one.record_id, []).append(one)
    if not answers:
        return verdict.changes
    refiner = Refiner(
        before_follow_ups(dataset), verdict.changes, suspects=verdict.suspects, seed=seed
    )
    for record_id in sorted(answers):
        request = refiner.next()
        if request is not None and _answers(answers[record_id], request):
            refiner.feed(answers[record_id])
    return refiner.changes


def _answers(record: Sequence[Series], request: Request) -> bool:
    asked = [(one.pattern, one.message_bytes, one.train) for one in request.series]
    return [(one.pattern, one.message_bytes, one.train) for one in record] == asked
