"""Predictions of 1:n, one process that sends a message to each of n peers: t_1:n and t_list.

A time ends when the last message is at its peer, whose own overhead is not in it.

    one-by-one   LoP     RTT(n)/2 - o(1)
                 LogfP   L + o(n) + max((n-1) o(n), (n-f) g)
                 LogP    L + o_s + (n-1) max(g, o_s)
    list         the same, of round trips and posts that were measured with lists; else, from a post for each message,
                 LoP     n o(n) + RTT(n)/2 - o(n) - o(1)
                 LogfP   L + n o(n) + (n-f) g, without the last term up to f
                 LogP    L + n o_s + (n-1) g

As LoP's paper prints them they are o(n) + n L(n) and n o(n) + n L(n), with L(n) = RTT(n)/(2n) - o(1) - o(n).
LoP knows round trips only and halves them. LogP and LogfP know where messages wait: all on the way out.

Source: T. Hoefler, W. Rehm, "A communication model for small messages with InfiniBand", PARS workshop 2005, section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chiplog.collectives.algorithm import Task
from chiplog.dataset.operations import LIST, NORMAL
from chiplog.errors import UsageError
from chiplog.fitting.origin import beyond_measured
from chiplog.fitting.predictions.known import Array, refusal
from chiplog.fitting.predictions.settings import REFUSED
from chiplog.fitting.predictions.span import AnswerSpan, span
from chiplog.fitting.result import Fit
from chiplog.fitting.verdict import rejection, require_usable
from chiplog.models import logfp, logp, lop_paper
from chiplog.models.lop import seconds_per_message
from chiplog.models.lop_overhead import overhead as lop_overhead
from chiplog.models.protocol import Theta
from chiplog.models.registry import load_model
from chiplog.prediction.n_way import SAME
from chiplog.prediction.network import is_beyond_sizes, segment_of
from chiplog.prediction.patterns import (
    ROUND_TRIPS,
    measured_residuals,
    misfit,
    parameter_sets,
    places,
    refuse_unbounded,
    widened,
)
from chiplog.prediction.result import LOWER_BOUND, Prediction, with_verdicts

OPERATION = "one-to-many"
MEANING = "one rank sends a message to each of n peers"
ONE_BY_ONE = "one-by-one"
WAYS: Mapping[str, str] = {
    ONE_BY_ONE: "a call for each message, t_1:n",
    LIST: "all messages by one call, t_list",
}
"""The algorithms of the operation."""


@dataclass(frozen=True)
class _Request:
    """What is asked of a model: n peers, a message size, whether a list is derived, and whether as printed."""

    peers: int
    message_bytes: int
    derives_list: bool
    paper_literal: bool


_Seconds = Callable[[_Request, Sequence[Theta]], float]
"""Seconds from parameter sets, one of each fit that the model needs."""


def _lop(request: _Request, thetas: Sequence[Theta]) -> float:
    n, size = request.peers, request.message_bytes
    return float(
        lop_paper.to_many_seconds(
            n,
            seconds_per_message(n, thetas[0], size),
            lop_overhead(n, thetas[1], size),
            float(lop_overhead(1, thetas[1], size)),
            is_list=request.derives_list,
            paper_literal=request.paper_literal,
        )
    )


def _logfp(request: _Request, thetas: Sequence[Theta]) -> float:
    return logfp.to_many_seconds(
        request.peers, request.message_bytes, thetas[0], is_list=request.derives_list
    )


def _logp(request: _Request, thetas: Sequence[Theta]) -> float:
    return logp.to_many_seconds(request.peers, thetas[0], is_list=request.derives_list)


@dataclass(frozen=True)
class _WayToTimes:
    """A model's way to the times: the fits that it needs, that of the round trips first, and its formula."""

    models: tuple[str, ...]
    seconds: _Seconds


KINDS: Mapping[str, _WayToTimes] = {
    "lop": _WayToTimes(("lop", "lop-overhead"), _lop),
    "logfp": _WayToTimes(("logfp",), _logfp),
    "logp": _WayToTimes(("logp",), _logp),
}
"""By the name of the model."""


@dataclass(frozen=True)
class _Source:
    """The fits of one posting that times come from, and the formula."""

    fits: tuple[Fit, ...]
    seconds: _Seconds

    @property
    def posting(self) -> str:
        """How the messages were handed over."""
        return self.fits[0].posting

    @property
    def rejected(self) -> str | None:
        """Why the check of one of the fits rejects it; None where all stand."""
        return next((reason for fit in self.fits if (reason := rejection(fit))), None)


def predict_to_many(
    fits: Sequence[Fit],
    task: Task,
    *,
    way: str | None = None,
    peers: int | None = None,
    model: str | None = None,
    paper_literal: bool = False,
    anyway: bool = False,
) -> tuple[Prediction, ...]:
    """Both ways, or the one named, to reach `peers` others (all others of the task's ranks), the fastest first.

    The lower bound, which is one message alone, is the last row; LoP's times as the paper prints them have none.
    Fits that their own check rejects come last, and serve `anyway` only. Raises UsageError for an unknown name, for a
    rejected fit, and where the file lacks a model or a parameter.
    """
    n = _peers(task, way, peers)
    if paper_literal and model not in (None, "lop"):
        raise UsageError("--paper-literal: is about LoP; say --model lop.")
    known = _sources(fits, "lop" if paper_literal else model, task.message_bytes)
    for fit in known[0].fits:
        require_usable(fit, anyway=anyway)
    rows = [
        _row(source, name, task, n, paper_literal, derives_list=derives)
        for name, source, derives in _ways(known)
        if way in (None, name)
    ]
    if not rows:
        raise UsageError(
            f"--algorithm: {way} needs a fit of messages posted one by one; the file has posting list only."
        )
    is_derived = all(source.posting != LIST for source in known)
    rows = _judged(sorted(rows, key=lambda row: row.seconds), same_posts=is_derived)
    if paper_literal:
        return tuple(rows)
    bound = _row(next(_ways(known))[1], LOWER_BOUND, task, 1, paper_literal, derives_list=False)
    reason = rows[0].reason
    is_beyond = reason is not None
    bound = replace(bound, peers=None, method="bound", extrapolated=is_beyond, reason=reason)
    return (*rows, replace(bound, verdict="bound"))


def _peers(task: Task, way: str | None, peers: int | None) -> int:
    """How many peers are meant; UsageError where there are not so many, or no such way."""
    if way is not None and way not in WAYS:
        raise UsageError(f"--algorithm: '{way}' does no {OPERATION}; there are {', '.join(WAYS)}.")
    n = task.ranks - 1 if peers is None else peers
    if not 1 <= n < task.ranks:
        raise UsageError(f"--peers: is {n}; {task.ranks} ranks have 1 to {task.ranks - 1} peers.")
    return n


def _ways(known: Sequence[_Source]) -> Iterator[tuple[str, _Source, bool]]:
    """Each way with its source, and whether a list is derived from single posts."""
    single = next((source for source in known if source.posting != LIST), None)
    listed = next((source for source in known if source.posting == LIST), None)
    if single is not None:
        yield ONE_BY_ONE, single, False
    if listed is not None:
        yield LIST, listed, False
    elif single is not None:
        yield LIST, single, True


def _sources(fits: Sequence[Fit], model: str | None, message_bytes: int) -> list[_Source]:
    """One source a posting, the normal one first, of the model that is named or misses its round trips by least."""
    if model is not None and model not in KINDS:
        raise UsageError(
            f"--model: '{model}' does not predict {OPERATION}; there are {', '.join(KINDS)}."
        )
    alike: dict[tuple[str, str, str | None], dict[str, Fit]] = {}
    for fit in fits:
        if fit.method == "one-to-many" and fit.segments:
            key = (fit.operation, fit.posting, fit.placement)
            alike.setdefault(key, {}).setdefault(fit.model, fit)
    sources = [
        _Source(tuple(group[name] for name in kind.models), kind.seconds)
        for kind in (KINDS.values() if model is None else (KINDS[model],))
        for group in alike.values()
        if all(name in group for name in kind.models)
    ]
    if sources:
        best = min(
            sources,
            key=lambda source: (
                source.rejected is not None,
                source.posting != NORMAL,
                _width(source.fits[0], message_bytes),
            ),
        )
        same = (best.fits[0].model, best.fits[0].operation)
        chosen = [
            source
            for source in sources
            if (source.fits[0].model, source.fits[0].operation) == same
            and (source.rejected is None or best.rejected is not None)
        ]
        return sorted(chosen, key=lambda source: source.posting != NORMAL)
    held = ", ".join(dict.fromkeys(fit.model for fit in fits)) or "nothing"
    raise UsageError(
        f"no model in the file predicts {OPERATION}: it holds {held}; predictions need "
        "lop with lop-overhead, logfp or logp, fitted to the pattern one_to_many."
    )


def _width(fit: Fit, message_bytes: int) -> float:
    """By how much the fit misses round trips of a size; infinite where too few points tell."""
    segment = fit.segments[segment_of(fit, message_bytes)]
    width = misfit(segment, measured_residuals(fit, ROUND_TRIPS))
    return width if np.isfinite(width) else np.inf


def _row(
    source: _Source,
    name: str,
    task: Task,
    peers: int,
    paper_literal: bool,
    *,
    derives_list: bool,
) -> Prediction:
    fit = source.fits[0]
    request = _Request(peers, task.message_bytes, derives_list, paper_literal)
    reason = _beyond(fit, task.message_bytes, peers)
    value, low, high = _times(source, request, is_beyond=reason is not None)
    if not value > 0.0:
        raise UsageError(_negative(fit, peers, value, paper_literal=paper_literal))
    return Prediction(
        operation=OPERATION,
        algorithm=name,
        ranks=task.ranks,
        bytes=task.message_bytes,
        peers=peers,
        seconds=value,
        low=low,
        high=high,
        extrapolated=reason is not None,
        reason=reason,
        model=fit.model,
        method="closed-form",
        verdict="",
        rejected=source.rejected,
    )


def _times(source: _Source, request: _Request, *, is_beyond: bool) -> list[float]:
    """The time with its interval, in seconds."""
    fit, residuals = source.fits[0], measured_residuals(source.fits[0], ROUND_TRIPS)
    times = np.zeros(3)
    for place in places(fit, request.message_bytes, interpolates=True):
        moved = replace(request, message_bytes=place.message_bytes)
        answer = _span(source, moved, is_beyond=is_beyond)
        width = misfit(fit.segments[place.segment], residuals)
        spans = np.array([[answer.value], [answer.low], [answer.high]])
        times += place.share * widened(spans, width if np.isfinite(width) else 0.0)[:, 0]
    return [float(seconds) for seconds in times]


def _span(source: _Source, request: _Request, *, is_beyond: bool) -> AnswerSpan:
    """The answer over what the data leave of all fits' parameters."""
    segments = [segment_of(fit, request.message_bytes) for fit in source.fits]
    pairs = list(zip(source.fits, segments, strict=True))
    if is_beyond:
        for fit, segment in pairs:
            refuse_unbounded(fit, segment)
    sets = [parameter_sets(fit, segment) for fit, segment in pairs]
    ends = np.cumsum([len(parameter_set.free) for parameter_set in sets])[:-1].tolist()

    def evaluate(fractions: Array, whole: bool) -> Array:
        parts = np.split(fractions, ends, axis=1)
        rows = [
            parameter_set.at(part, whole) for parameter_set, part in zip(sets, parts, strict=True)
        ]
        seconds = [source.seconds(request, thetas) for thetas in zip(*rows, strict=True)]
        return np.reshape(seconds, (len(fractions), -1))

    try:
        answer = span(evaluate, sum(len(parameter_set.free) for parameter_set in sets))
    except KeyError as error:
        fit, segment = next((pair for pair in pairs if _has(pair[0], error.args[0])), pairs[0])
        raise refusal(fit, segment, str(error.args[0])) from None
    if not answer.high < REFUSED:
        fit, segment = pairs[0]
        raise refusal(fit, segment, next(iter(sets[0].free), "L"))
    return answer


def _negative(fit: Fit, peers: int, seconds: float, *, paper_literal: bool) -> str:
    """The sentence on a model's time that is none."""
    statement = f"{load_model(fit.model).label} gives {1e6 * seconds:.3g} us for {peers} peers"
    if not paper_literal:
        return f"{statement}: its posts take longer than half its round trip. Try another --model."
    return (
        f"{statement}: as printed, it takes the overheads of whole posts off the round trip of one message. "
        "Leave out --paper-literal."
    )


def _has(fit: Fit, symbol: str) -> bool:
    return any(symbol in segment.parameters for segment in fit.segments)


def _beyond(fit: Fit, message_bytes: int, peers: int) -> str | None:
    """What was not measured, in words; None where all was."""
    reasons = []
    most = max(
        (int(curve.peers.max()) for curve in fit.curves if curve.peers is not None), default=None
    )
    if most is not None and peers > most:
        reasons.append(f"{peers} peers, up to {most} were measured")
    elif most is None and (words := beyond_measured(fit, peers + 1)):
        reasons.append(words)
    first, last = fit.segments[0].first_bytes, fit.segments[-1].last_bytes
    if is_beyond_sizes(fit, np.array([message_bytes]))[0]:
        reasons.append(f"messages of {message_bytes:,} B, {first:,} to {last:,} B were measured")
    elif len(places(fit, message_bytes, interpolates=True)) > 1:
        reasons.append(f"messages of {message_bytes:,} B, between two sizes that were measured")
    return "; ".join(reasons) or None


def _judged(rows: Sequence[Prediction], *, same_posts: bool) -> list[Prediction]:
    """A way is slower where its whole interval is, or where it takes longer with the `same_posts`."""
    best = rows[0]

    def is_slower(row: Prediction) -> bool:
        return row.low > best.high or (same_posts and row.seconds > best.seconds * (1 + SAME))

    return with_verdicts(rows, [row is not best and is_slower(row) for row in rows])
