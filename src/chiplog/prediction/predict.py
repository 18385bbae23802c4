"""Predicts a collective operation from the fits of a model file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from chiplog.collectives.algorithm import MOST_RANKS, Algorithm, Task
from chiplog.collectives.costs import Seconds
from chiplog.collectives.registry import algorithms, load
from chiplog.counts import within
from chiplog.errors import UsageError
from chiplog.fitting.predictions.known import Array
from chiplog.fitting.predictions.span import AnswerSpan
from chiplog.fitting.result import Fit
from chiplog.fitting.verdict import rejection, require_usable
from chiplog.models.protocol import Model
from chiplog.models.registry import models_by_precedence
from chiplog.plugins import load_reference
from chiplog.prediction import to_many
from chiplog.prediction.anchored import corrected_time, without_exchanges
from chiplog.prediction.anchors import OPTION, Anchor, anchors_by_algorithm
from chiplog.prediction.answer import answer, sizes_of
from chiplog.prediction.convention import TimeConvention
from chiplog.prediction.crossing import with_one_engine
from chiplog.prediction.error_table import ErrorTable
from chiplog.prediction.model_error import model_error, with_model_error, with_states
from chiplog.prediction.n_way import N_WAY, SAME, BarrierTimes
from chiplog.prediction.network import Asked, Speaker
from chiplog.prediction.result import LOWER_BOUND, Prediction, with_verdicts


def predict(
    fits: Sequence[Fit],
    operation: str,
    task: Task,
    *,
    algorithm: str | None = None,
    peers: int | None = None,
    per_node: int = 1,
    model: str | None = None,
    paper_literal: bool = False,
    anyway: bool = False,
    convention: TimeConvention = TimeConvention.COMMON_START,
    anchors: Sequence[Anchor] = (),
    errors: ErrorTable | None = None,
) -> tuple[Prediction, ...]:
    """All algorithms of `operation`, or the one named, fastest first; the lower bound is the last row.

    `peers` is n of algorithms that have one; without it, n-way dissemination takes the best n. With `per_node` ranks on
    each node, models that know what these share come first. A fit that its own check rejects is used `anyway` only,
    and each row says so. Raises UsageError for an unknown name, for a model that can't predict the operation, for a
    rejected fit, and where a parameter that is needed is not identified.

    Of `one-to-many` the peers are all other ranks, or so many of them; `paper_literal` takes LoP's formulas as printed.

    Times are those of `convention`; only of a common start there is a lower bound. With `anchors`, which correct the
    algorithms that they measured, there are only rows of these; UsageError where there is none. Intervals of algorithms
    also hold what `errors` says of their family.
    """
    if operation == to_many.OPERATION:
        _refuse_to_many(convention, anchors, errors)
        return to_many.predict_to_many(
            fits,
            task,
            way=algorithm,
            peers=peers,
            model=model,
            paper_literal=paper_literal,
            anyway=anyway,
        )
    wanted = [load(operation, algorithm)] if algorithm else list(algorithms(operation).values())
    measured: Mapping[str, Sequence[Anchor]] = {}
    if anchors:
        measured = anchors_by_algorithm(anchors, operation, algorithm, peers)
        wanted = [load(operation, name) for name in measured]
        fits = [without_exchanges(fit) for fit in fits]
    within("--per-node", per_node, 1, MOST_RANKS)
    speaker = speaker_for(fits, wanted, task, per_node=per_node, model=model, anyway=anyway)
    asked = _asked(speaker, [a for a in wanted if algorithm or a.accepts(task)], task, peers)
    if not asked:
        raise UsageError(f"--ranks: no algorithm of {operation} accepts {task.ranks}.")
    rows = [
        _row(speaker, asked[name], convention, measured.get(name, ()), errors) for name in asked
    ]
    rows.sort(key=lambda row: row.seconds)
    if convention is not TimeConvention.COMMON_START:
        return tuple(_judged_alone(rows))
    is_alone = bool(measured) or errors is not None or len(rows) == 1
    judged = _judged_alone(rows) if is_alone else _judged(speaker, asked, rows)
    return (*judged, _not_above(_bound(speaker, operation, wanted[0], task), rows))


def _refuse_to_many(
    convention: TimeConvention, anchors: Sequence[Anchor], errors: ErrorTable | None
) -> None:
    """UsageError for what one process that sends to others does not have."""
    if errors is not None:
        raise UsageError(
            f"--errors: no table has errors of {to_many.OPERATION}; leave the option out."
        )
    if anchors or convention is not TimeConvention.COMMON_START:
        option = OPTION if anchors else f"--as {convention}"
        raise UsageError(
            f"{option}: {to_many.OPERATION} is timed by one rank; leave the option out."
        )


def _asked(
    speaker: Speaker, accepted: Sequence[Algorithm], task: Task, peers: int | None
) -> dict[str, Asked]:
    """The algorithms that the model predicts, by name, each with its number of peers."""
    return {
        algorithm.name: (algorithm, _with_peers(speaker, algorithm, task, peers))
        for algorithm in accepted
        if speaker.speaks_about(algorithm)
    }


def models_of(operation: str) -> tuple[str, ...]:
    """The models that predict an algorithm of the operation, by precedence."""
    known = algorithms(operation).values()
    return tuple(
        model.name
        for model in _predicting_models()
        if any(map(_speaker_type(model).speaks_about, known))
    )


def _predicting_models() -> tuple[Model, ...]:
    return models_by_precedence(lambda model: model.speaker is not None)


def _speaker_type(model: Model) -> type[Speaker]:
    assert model.speaker is not None
    speaker: type[Speaker] = load_reference(model.speaker)
    return speaker


def speaker_for(
    fits: Sequence[Fit],
    wanted: Sequence[Algorithm],
    task: Task,
    *,
    per_node: int = 1,
    model: str | None = None,
    anyway: bool = False,
) -> Speaker:
    """The first of the fits, by precedence of their models, that predicts one of the algorithms.

    With `model`, only its fits. With several ranks `per_node`, models that know what these share come first. Fits that
    their own check rejects come last, and serve `anyway` only. Raises UsageError where there is none, or where it lacks
    a parameter.
    """
    known = {
        predicting_model.name: _speaker_type(predicting_model)
        for predicting_model in _predicting_models()
    }
    if model is not None and model not in known:
        raise UsageError(
            f"--model: '{model}' predicts no collective operation; there are {', '.join(known)}."
        )
    order = list(known)
    if per_node > 1:
        order.sort(key=lambda name: not known[name].knows_nodes)
    refused: UsageError | None = None
    for fit in _by_precedence(fits, [model] if model else order):
        try:
            require_usable(fit, anyway=anyway)
            speaker = known[fit.model](fit, task, per_node)
        except UsageError as error:
            refused = refused or error
            continue
        if any(speaker.speaks_about(algorithm) for algorithm in wanted):
            return speaker
    if refused is not None:
        raise refused
    raise _no_model(fits, wanted, order)


def _no_model(fits: Sequence[Fit], wanted: Sequence[Algorithm], order: Sequence[str]) -> UsageError:
    """The error where none of the fits predicts one of the algorithms."""
    serving = ", ".join(name for name in order if name in models_of(wanted[0].operation))
    held = ", ".join(dict.fromkeys(fit.model for fit in fits)) or "nothing"
    names = wanted[0].operation + (f" by {wanted[0].name}" if len(wanted) == 1 else "")
    return UsageError(
        f"no model in the file predicts {names}: it holds {held}; predictions need one of {serving}."
    )


def _by_precedence(fits: Sequence[Fit], order: Sequence[str]) -> list[Fit]:
    """The fits of the models in `order`, those first that their own check does not reject."""
    return sorted(
        (fit for fit in fits if fit.model in order and fit.segments),
        key=lambda fit: (
            rejection(fit) is not None,
            order.index(fit.model),
            fit.method != "prtt",
        ),
    )


def _with_peers(speaker: Speaker, algorithm: Algorithm, task: Task, peers: int | None) -> Task:
    if peers is not None:
        return replace(task, peers=peers)
    if algorithm.name != N_WAY:
        return task
    best = BarrierTimes(speaker, task.message_bytes).fastest(task.ranks)
    return replace(task, peers=best)


def _row(
    speaker: Speaker,
    asked: Asked,
    convention: TimeConvention,
    anchors: Sequence[Anchor],
    errors: ErrorTable | None,
) -> Prediction:
    """The row of an algorithm, corrected by anchors where there are some."""
    algorithm, task = asked
    correction = None
    share = None if errors is None else errors.share(algorithm, anchored=bool(anchors))
    if anchors:
        corrected = corrected_time(speaker, asked, anchors, convention, share)
        span, method, correction = corrected.span, corrected.method, corrected.correction
    else:
        span, method = _span(speaker, asked, convention)
        of_table = 0.0 if share is None else share.width
        error = math.hypot(model_error(speaker.fit, sizes_of(speaker, *asked)), of_table)
        span = with_states(with_model_error(span, error), speaker.fit)
    reason = speaker.beyond(algorithm, task)
    row = _prediction(speaker, algorithm.operation, algorithm.name, task, span, reason)
    peers = task.peers if algorithm.takes_peers else None
    row = replace(
        row,
        method=method,
        peers=peers,
        convention=convention,
        correction=correction,
        errors=share,
    )
    return row if convention is TimeConvention.COMMON_START else _with_longest(row, speaker, asked)


def _span(speaker: Speaker, asked: Asked, convention: TimeConvention) -> tuple[AnswerSpan, str]:
    """The time and its range, with one engine for both directions where nothing tells that there are two."""
    space = speaker.space([asked])
    times = answer(speaker, space, *asked, convention)
    span = space.span(times.evaluate)
    slower = with_one_engine(speaker, asked)
    if slower is not None:
        slower_space = slower.space([asked])
        evaluate = answer(slower, slower_space, *asked, convention).evaluate
        span = replace(span, high=max(span.high, slower_space.span(evaluate).high))
    return span, times.method


def _with_longest(row: Prediction, speaker: Speaker, asked: Asked) -> Prediction:
    """The row of a mean over ranks, with the longest of them: when the last one is done, since all begin at once."""
    space = speaker.space([asked])
    middle = np.full((1, len(space.symbols)), 0.5)
    longest = float(answer(speaker, space, *asked).evaluate(middle, False)[0, 0])
    uncorrected = row.correction.uncorrected_seconds if row.correction else row.seconds
    return replace(row, longest_seconds=longest * row.seconds / uncorrected)


def _bound(speaker: Speaker, operation: str, algorithm: Algorithm, task: Task) -> Prediction:
    space, evaluate = speaker.lower_bound(operation, task)
    reason = speaker.beyond(algorithm, task) if speaker.speaks_about(algorithm) else None
    error = model_error(speaker.fit, {task.message_bytes})
    span = with_states(with_model_error(space.span(evaluate), error), speaker.fit)
    row = _prediction(speaker, operation, LOWER_BOUND, task, span, reason)
    return replace(row, verdict="bound")


def _not_above(bound: Prediction, rows: Sequence[Prediction]) -> Prediction:
    """The bound of one regime's lines, or what the fastest algorithm takes: its segments may cost less than these."""
    fastest = rows[0]
    if fastest.seconds >= bound.seconds:
        return bound
    low, high = min(bound.low, fastest.low), min(bound.high, fastest.high)
    return replace(bound, seconds=fastest.seconds, low=low, high=high)


def _prediction(
    speaker: Speaker,
    operation: str,
    name: str,
    task: Task,
    span: AnswerSpan,
    reason: str | None,
) -> Prediction:
    """The row of a bound; that of an algorithm has another method, and may have peers."""
    return Prediction(
        operation=operation,
        algorithm=name,
        ranks=task.ranks,
        bytes=task.message_bytes,
        peers=None,
        seconds=span.value,
        low=span.low,
        high=span.high,
        extrapolated=reason is not None,
        reason=reason,
        model=speaker.fit.model,
        method="bound",
        verdict="",
        rejected=rejection(speaker.fit),
    )


def _judged_alone(rows: Sequence[Prediction]) -> list[Prediction]:
    """Slower is what takes longer than the fastest by their intervals: nothing is known to be the same for both."""
    return with_verdicts(rows, [row.low > rows[0].high for row in rows])


def _judged(
    speaker: Speaker, wanted: Mapping[str, Asked], rows: Sequence[Prediction]
) -> list[Prediction]:
    """Slower is what takes longer than the fastest that is no bound, whatever the parameters are of those that the data
    leave; what is left may all be fastest.
    """
    best = next((row for row in rows if row.method != "bound"), None)
    if best is None:
        return [replace(row, verdict="unclear") for row in rows]
    return with_verdicts(
        rows, [row is not best and _is_slower(speaker, wanted, row, best) for row in rows]
    )


def _is_slower(
    speaker: Speaker, wanted: Mapping[str, Asked], row: Prediction, best: Prediction
) -> bool:
    """Is it, with the same parameters for both?"""
    if row.low > best.high:
        return True
    if row.seconds <= best.seconds * (1 + SAME):
        return False
    both = wanted[row.algorithm], wanted[best.algorithm]
    slower = with_one_engine(speaker, *both)
    least = min(
        _least_difference(network, *both) for network in (speaker, slower) if network is not None
    )
    return least > SAME * best.seconds


def _least_difference(speaker: Speaker, row: Asked, best: Asked) -> float:
    """By how much longer one takes than the other at least, in seconds.

    Simulations of long schedules have fewer rows than others; then all of theirs are those of the fit's own parameters.
    """
    space = speaker.space([row, best])
    row_times, best_times = (answer(speaker, space, *asked) for asked in (row, best))

    def longer(fractions: Array, whole: bool) -> Seconds:
        slower, faster = (times.evaluate(fractions, whole) for times in (row_times, best_times))
        rows = max(slower.shape[1], faster.shape[1])
        slower, faster = (
            seconds if seconds.shape[1] == rows else seconds[:, :1] for seconds in (slower, faster)
        )
        return np.asarray(slower - faster)

    return space.span(longer, refuse=False).low
