"""Predicts a collective operation from the fits of a model file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from chiplog.collectives.algorithm import Algorithm, Task
from chiplog.collectives.costs import Seconds
from chiplog.collectives.registry import algorithms, load
from chiplog.errors import UsageError
from chiplog.fit.parameters import interval
from chiplog.fit.result import Fit
from chiplog.predict import loggp, max_rate, one_to_many
from chiplog.predict.loggp import LogGPSpeaker
from chiplog.predict.max_rate import MaxRateSpeaker
from chiplog.predict.n_way import best_peers
from chiplog.predict.network import Speaker
from chiplog.predict.one_to_many import OneToManySpeaker
from chiplog.predict.result import LOWER_BOUND, Prediction

MODELS = (*loggp.MODELS, *one_to_many.MODELS, *max_rate.MODELS)
"""The models that predictions can be made with; of several in a file the first that speaks about the operation."""
MOST_RANKS_SIMULATED = 128
MOST_SEGMENTS_SIMULATED = 1024


def predict(
    fits: Sequence[Fit],
    operation: str,
    task: Task,
    *,
    algorithm: str | None = None,
    peers: int | None = None,
    per_node: int = 1,
    model: str | None = None,
) -> tuple[Prediction, ...]:
    """All algorithms of `operation`, or the one named, fastest first; the lower bound is the last row.

    `peers` is n of algorithms that have one; without it, n-way dissemination takes the best n. With `per_node` ranks on
    each node, models that know what these share come first. Raises UsageError for an unknown name, for a model that
    can't speak about the operation, and where a parameter that is needed is not identified.
    """
    wanted = [load(operation, algorithm)] if algorithm else list(algorithms(operation).values())
    if per_node < 1:
        raise UsageError(f"--per-node: is {per_node}; it accepts 1 or more.")
    speaker = speaker_for(fits, wanted, task, per_node=per_node, model=model)
    rows = [
        _row(speaker, one, _with_peers(speaker, one, task, peers))
        for one in wanted
        if speaker.speaks_about(one) and (algorithm or one.accepts(task))
    ]
    if not rows:
        raise UsageError(f"--ranks: no algorithm of {operation} accepts {task.ranks}.")
    rows.sort(key=lambda row: row.seconds)
    return (*_judged(rows), _bound(speaker, operation, wanted[0], task))


def models_of(operation: str) -> tuple[str, ...]:
    """The models that speak about an algorithm of the operation."""
    known = algorithms(operation).values()
    found = list(loggp.MODELS)
    if any(one.fan_out for one in known):
        found += one_to_many.MODELS
    if any(one.everybody_sends for one in known):
        found += max_rate.MODELS
    return tuple(found)


def speaker_for(
    fits: Sequence[Fit],
    wanted: Sequence[Algorithm],
    task: Task,
    *,
    per_node: int = 1,
    model: str | None = None,
) -> Speaker:
    """The first of the fits, in the order of MODELS, that speaks about one of the algorithms; the fit of `model` only.

    Raises UsageError where there is none, or where it lacks a parameter.
    """
    if model is not None and model not in MODELS:
        raise UsageError(
            f"--model: '{model}' predicts no collective operation; there are {', '.join(MODELS)}."
        )
    order = (*max_rate.MODELS, *loggp.MODELS, *one_to_many.MODELS) if per_node > 1 else MODELS
    speakable = [name for name in order if name in models_of(wanted[0].operation)]
    found = [fit for fit in fits if fit.model in ((model,) if model else order) and fit.segments]
    found.sort(key=lambda fit: (order.index(fit.model), fit.method != "prtt"))
    refused: UsageError | None = None
    for fit in found:
        try:
            speaker = _make(fit, task, per_node)
        except UsageError as error:
            refused = refused or error
            continue
        if any(speaker.speaks_about(one) for one in wanted):
            return speaker
    if refused is not None:
        raise refused
    held = ", ".join(dict.fromkeys(fit.model for fit in fits)) or "nothing"
    names = wanted[0].operation + (f" by {wanted[0].name}" if len(wanted) == 1 else "")
    raise UsageError(
        f"no model in the file speaks about {names}: it holds {held}; predictions need one of "
        f"{', '.join(speakable)}."
    )


def _make(fit: Fit, task: Task, per_node: int) -> Speaker:
    if fit.model in loggp.MODELS:
        return LogGPSpeaker(fit)
    if fit.model in one_to_many.MODELS:
        return OneToManySpeaker(fit, task.message_bytes)
    return MaxRateSpeaker(fit, per_node)


def _with_peers(speaker: Speaker, algorithm: Algorithm, task: Task, peers: int | None) -> Task:
    if peers is not None:
        return replace(task, peers=peers)
    if algorithm.name != "n-way-dissemination":
        return task

    def seconds(n: int) -> float:
        return float(speaker.seconds(algorithm, replace(task, peers=n))[0])

    return replace(task, peers=best_peers(task.ranks, seconds))


def times(speaker: Speaker, algorithm: Algorithm, task: Task) -> tuple[Seconds, str]:
    """Seconds of shape (1 + draws,), the fit's own first, and how they came about: see `Prediction.method`."""
    seconds = speaker.seconds(algorithm, task)
    if not isinstance(speaker, LogGPSpeaker) or _is_exact(speaker, algorithm, task):
        return seconds, "closed-form"
    if not _is_simulated_quickly(task):
        return seconds, "bound"
    # Most answers need no simulator, and come sooner without it.
    from chiplog.predict.simulated import simulated_seconds

    own = simulated_seconds(algorithm, task, speaker)
    return seconds * (own / seconds[0] if seconds[0] > 0 else 1.0), "simulation"


def _is_simulated_quickly(task: Task) -> bool:
    most_bytes = MOST_SEGMENTS_SIMULATED * task.segment_bytes
    return task.ranks <= MOST_RANKS_SIMULATED and task.message_bytes <= most_bytes


def _row(speaker: Speaker, algorithm: Algorithm, task: Task) -> Prediction:
    seconds, method = times(speaker, algorithm, task)
    reason = speaker.beyond(algorithm, task)
    return _prediction(
        speaker,
        algorithm.operation,
        algorithm.name,
        task,
        seconds,
        reason,
        method,
        task.peers if algorithm.takes_peers else None,
    )


def _is_exact(speaker: LogGPSpeaker, algorithm: Algorithm, task: Task) -> bool:
    limit = speaker.largest_eager_bytes
    waits = limit is not None and max(speaker.sizes(algorithm, task), default=0) > limit
    return algorithm.exact(task) and not waits


def _bound(speaker: Speaker, operation: str, algorithm: Algorithm, task: Task) -> Prediction:
    seconds = speaker.lower_bound(operation, task)
    reason = speaker.beyond(algorithm, task) if speaker.speaks_about(algorithm) else None
    row = _prediction(speaker, operation, LOWER_BOUND, task, seconds, reason, "bound", None)
    return replace(row, verdict="bound")


def _prediction(
    speaker: Speaker,
    operation: str,
    name: str,
    task: Task,
    seconds: Seconds,
    reason: str | None,
    method: str,
    peers: int | None,
) -> Prediction:
    value = float(seconds[0])
    low, high = interval(seconds[1:])
    return Prediction(
        operation=operation,
        algorithm=name,
        ranks=task.ranks,
        bytes=task.message_bytes,
        peers=peers,
        seconds=value,
        low=min(low, value),
        high=max(high, value),
        extrapolated=reason is not None,
        reason=reason,
        model=speaker.fit.model,
        method=method,
        verdict="",
    )


def _judged(rows: Sequence[Prediction]) -> list[Prediction]:
    """Slower is what lies above the interval of the fastest time that is no bound; what is left may all be fastest."""
    known = [row.high for row in rows if row.method != "bound"]
    limit = known[0] if known else math.inf
    open_rows = sum(row.low <= limit for row in rows)
    best = "fastest" if open_rows == 1 else "unclear"
    return [replace(row, verdict=best if row.low <= limit else "slower") for row in rows]
