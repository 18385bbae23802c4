"""The time of any schedule as measured collective operations correct it.

As for a prediction: c times what messages take, plus b for each of those that come one after the other on the longest
path. Computing is as the schedule says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from chiplog.collectives.algorithm import Task
from chiplog.collectives.costs import Seconds
from chiplog.collectives.registry import load
from chiplog.errors import UsageError
from chiplog.fitting.predictions.known import Array
from chiplog.fitting.predictions.span import AnswerSpan
from chiplog.prediction.anchored import AnchorTimes, CorrectedSubject, corrected_span
from chiplog.prediction.anchors import OPTION, Anchor, check_anchors
from chiplog.prediction.convention import TimeConvention
from chiplog.prediction.correction import Correction
from chiplog.prediction.model_error import model_error
from chiplog.prediction.network import Asked, segment_of
from chiplog.prediction.simulated import ScheduleTimes
from chiplog.schedule.arrays import CALC, Schedule
from chiplog.simulation.parameters import LogGOPS, MessageTimes
from chiplog.simulation.simulate import simulate


def corrected_schedule(
    times: ScheduleTimes, computing_seconds: float, anchors: Sequence[Anchor]
) -> tuple[AnswerSpan, Correction]:
    """The makespan in seconds, of which so many are computing, as anchors correct it, and the correction.

    `times` are those of a fit without exchanges: anchors know what these take. An anchor has the size of its largest
    message. UsageError where an anchor does not say its algorithm, or where there are too many.
    """
    speaker = times.speaker
    questions = [_question(anchor) for anchor in anchors]
    sizes = [max(speaker.sizes(*question), default=1) for question in questions]
    largest = max(times.sizes)
    if largest in sizes:
        kept = [place for place, size in enumerate(sizes) if size == largest]
        questions, anchors = [questions[at] for at in kept], [anchors[at] for at in kept]
        sizes = [largest] * len(kept)
    needed = {segment_of(speaker.fit, size) for size in times.sizes}
    space = speaker.space(questions)
    space = speaker.space_of(tuple(sorted({*needed, *space.used})))
    of_messages = replace(times, used=space.used)

    def evaluate(fractions: Array, whole: bool) -> Seconds:
        return np.asarray(of_messages.evaluate(fractions, whole) - computing_seconds)

    sized = [
        replace(anchor, message_bytes=size) for anchor, size in zip(anchors, sizes, strict=True)
    ]
    subject = CorrectedSubject(
        evaluate=evaluate,
        rounds=rounds_of_schedule(times.schedule),
        message_bytes=largest,
        error=model_error(speaker.fit, times.sizes),
        is_carried=_tell_no_growth(sized, times.schedule.ranks, largest),
    )
    anchor_times = AnchorTimes(speaker, space, questions, sized, TimeConvention.COMMON_START)
    span, correction = corrected_span(anchor_times, subject)
    ends = (span.value, span.low, span.high)
    return AnswerSpan(*(end + computing_seconds for end in ends)), correction


def _question(anchor: Anchor) -> Asked:
    """What an anchor measured."""
    if anchor.algorithm is None:
        raise UsageError(
            f"{OPTION} {anchor.source}: does not say by which algorithm {anchor.operation} was measured; "
            "CSV with a column algorithm does."
        )
    algorithm = load(anchor.operation, anchor.algorithm)
    check_anchors(algorithm, [anchor])
    return algorithm, anchor.task(Task(anchor.ranks, anchor.message_bytes), algorithm)


def _tell_no_growth(anchors: Sequence[Anchor], ranks: int, message_bytes: int) -> bool:
    """Whether anchors have one number of ranks, or one size, and the schedule another."""
    counts = {anchor.ranks for anchor in anchors}
    sizes = {anchor.message_bytes for anchor in anchors}
    asked = ((counts, ranks), (sizes, message_bytes))
    return any(len(values) == 1 and wanted not in values for values, wanted in asked)


def rounds_of_schedule(schedule: Schedule) -> float:
    """How many messages come one after the other on the longest path of a schedule."""
    operations = schedule.operations.copy()
    operations["amount"][operations["kind"] == CALC] = 0
    one_each = MessageTimes(
        first_bytes=0,
        send_ps=0,
        send_as=0,
        nic_ps=0,
        nic_as=0,
        receive_ps=0,
        receive_as=0,
        one_way_ps=1,
        one_way_as=0,
        receiver_keeps_up=False,
    )
    counted = simulate(replace(schedule, operations=operations), LogGOPS((one_each,)))
    return float(counted.makespan_ps)
