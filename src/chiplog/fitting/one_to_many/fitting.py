"""One model of one process to many, fitted to one operation: the Fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from chiplog.dataset.series import Dataset
from chiplog.fitting.caution import bad_fit
from chiplog.fitting.estimates.parameters import Estimate, draws_of, parameters_of
from chiplog.fitting.one_to_many.observed import (
    ObservedToMany,
    OverPeers,
    PeersEstimator,
    count_sends,
    observe_all,
)
from chiplog.fitting.one_to_many.settings import FEWEST_POSTS
from chiplog.fitting.one_to_many.sizes import fit_sizes_together
from chiplog.fitting.predictions.predictor import (
    MeasuredPoints,
    Predictor,
    measured_curve,
    predictor,
    relative_errors,
)
from chiplog.fitting.quantities.by_method import ONE_TO_MANY
from chiplog.fitting.quantities.measured import MeasuredSeries
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.fitting.result import NOT_JUDGED, Curve, Fit, Segment, cost_of, summarise
from chiplog.fitting.settings import REPLICATES
from chiplog.models.lop_paper import latency
from chiplog.models.protocol import Model, points
from chiplog.plugins import load_reference

ROUND_TRIPS, POSTS = "one_to_many", "send_overhead"


def judged_pattern(model: Model) -> str:
    """The pattern that the model is fitted to: RTT(p); post times for a model that predicts nothing else."""
    return ROUND_TRIPS if ROUND_TRIPS in model.patterns else POSTS


def needed(model: Model) -> str:
    """What a dataset must hold for the model to be fitted, in words."""
    if judged_pattern(model) == POSTS:
        return f"the time to post p sends (send_overhead) for {FEWEST_POSTS} values of p"
    return "round trips to many peers (one_to_many)"


def can_fit(model: Model, dataset: Dataset) -> bool:
    """Can the model be fitted by this method, and does the dataset hold what it needs?"""
    if ONE_TO_MANY not in model.estimators:
        return False
    if judged_pattern(model) == POSTS:
        posts = {count_sends(series) for series in dataset.series if series.pattern == POSTS}
        return len(posts) >= FEWEST_POSTS
    return any(series.pattern == ROUND_TRIPS for series in dataset.series)


def fit_one_to_many(
    model: Model, measured: MeasuredSeries, operation: str, warnings: Sequence[str] = ()
) -> Fit:
    """The Fit of `model` to what was measured of one operation: one segment for all sizes, or one for each.

    One segment has costs per byte, and is taken where it predicts (`fit_sizes_together`). Assumes `can_fit`. The curves
    are over the number of peers, one a size.
    """
    pattern = judged_pattern(model)
    observed = observe_all(measured, operation, pattern)
    segments, draws, sentences = _segments(model, observed, pattern, measured.seed)
    unjudged = Fit(
        model=model.name,
        method=ONE_TO_MANY,
        transport=measured.transport,
        operation=operation,
        direction=model.direction,
        statistic=measured.statistic,
        segments=segments,
        changes=(),
        error=NOT_JUDGED,
        cost=cost_of(measured.series, sorted(_used(observed, pattern))),
        draws=draws,
    )
    predict = predictor(unjudged)
    judged = [
        observation.overheads if pattern == POSTS else observation.round_trips
        for observation in observed
    ]
    errors = [relative_errors(predict, _points(pattern, over_peers)) for over_peers in judged]
    error = summarise(*(np.concatenate(part) for part in zip(*errors, strict=True)))
    curves = [_curve(kind, over, predict) for kind, over in _shown(model, observed, pattern)]
    if pattern == ROUND_TRIPS:
        curves += (c for over in observed for c in latency_curves(model, over, predict))
    said = (*warnings, *sentences, *bad_fit(error))
    return replace(unjudged, error=error, curves=tuple(curves), warnings=said)


def _segments(
    model: Model, observed: Sequence[ObservedToMany], pattern: str, seed: int
) -> tuple[tuple[Segment, ...], dict[str, NDArray[np.float64]], tuple[str, ...]]:
    """The segments, the draws of their parameters, and what a reader should know of them."""
    rng = np.random.default_rng([seed, 2])
    sizes = [observation.message_bytes for observation in observed]
    together = fit_sizes_together(model, observed, pattern, rng)
    estimates: list[Mapping[str, Estimate]]
    if together.estimates is not None:
        ranges, estimates = [(sizes[0], sizes[-1])], [together.estimates]
    else:
        estimator: PeersEstimator = load_reference(model.estimators[ONE_TO_MANY])
        ranges = [(size, size) for size in sizes]
        estimates = [estimator(model, observation, rng) for observation in observed]
    segments = tuple(
        Segment(*limits, parameters_of(segment_estimates))
        for limits, segment_estimates in zip(ranges, estimates, strict=True)
    )
    return segments, draws_of(estimates, REPLICATES), tuple(together.sentences)


def _used(observed: Sequence[ObservedToMany], pattern: str) -> frozenset[int]:
    """The indices of the series that the model is fitted to."""
    return frozenset(
        index
        for observation in observed
        for part in (
            observation.round_trips.quantity,
            observation.overheads.quantity,
            observation.receive,
        )
        for index in part.series
        if pattern == ROUND_TRIPS or part is observation.overheads.quantity
    )


def round_trip_points(measured: MeasuredSeries, operation: str) -> MeasuredPoints:
    """RTT(p) at every message size and number of peers; there must be some."""
    observed = observe_all(measured, operation, "one_to_many")
    round_trips = [observation.round_trips for observation in observed]
    sizes = [observation.message_bytes for observation in observed]
    peers = np.concatenate([over_peers.peers for over_peers in round_trips])
    repeated = np.repeat(sizes, [over_peers.peers.size for over_peers in round_trips])
    seconds = np.concatenate([over_peers.quantity.value for over_peers in round_trips])
    return MeasuredPoints(points("one_to_many", repeated, peers=peers), seconds)


def _points(pattern: str, over: OverPeers) -> MeasuredPoints:
    """The totals of a quantity over the number of peers; post times are kept per send."""
    asked = points(pattern, over.quantity.message_bytes, peers=over.peers)
    factor: NDArray[np.int64] | int = over.peers if pattern == "send_overhead" else 1
    return MeasuredPoints(asked, over.quantity.value * factor)


def _shown(
    model: Model, observed: Sequence[ObservedToMany], pattern: str
) -> list[tuple[str, OverPeers]]:
    """The patterns and what was measured of them that the model describes: first what it is judged on."""
    shown = [
        (ROUND_TRIPS, observation.round_trips) for observation in observed if pattern == ROUND_TRIPS
    ]
    if POSTS in model.patterns:
        shown += [
            (POSTS, observation.overheads)
            for observation in observed
            if observation.overheads.peers.size
        ]
    return shown


def _curve(pattern: str, over: OverPeers, predict: Predictor) -> Curve:
    predicted = predict(_points(pattern, over).points)
    if pattern == "send_overhead":
        predicted = predicted / over.peers
    return replace(measured_curve(over.quantity), predicted_seconds=predicted, peers=over.peers)


Array = NDArray[np.float64]
_Derive = Callable[..., Array]

LATENCIES: dict[str, _Derive] = {
    "L_over_peers": latency,
    "L_list_over_peers": partial(latency, is_list=True),
    "L_printed_over_peers": partial(latency, paper_literal=True),
    "L_list_printed_over_peers": partial(latency, is_list=True, paper_literal=True),
}
"""The curves of latencies by their quantity."""


def latency_curves(model: Model, observed: ObservedToMany, predict: Predictor) -> Iterator[Curve]:
    """The latencies at every p of which round trip and post time were measured; none without o(1).

    What a model without post times predicts is made with the measured ones.
    """
    totals, posts = observed.round_trips, observed.overheads
    peers = np.intersect1d(totals.peers, posts.peers)
    if 1 not in posts.peers or not peers.size:
        return
    p = peers.astype(np.float64)
    of_trips, of_posts = np.isin(totals.peers, peers), np.isin(posts.peers, peers)
    trips, overheads = _with_draws(totals.quantity)[of_trips], _with_draws(posts.quantity)
    first, overheads = overheads[posts.peers == 1][0], overheads[of_posts]
    size = observed.message_bytes
    predicted_trips = predict(points("one_to_many", size, peers=peers)) / p
    predicted_overheads, predicted_first = overheads[:, 0], first[0]
    if "send_overhead" in model.patterns:
        counts = np.concatenate(([1], peers))
        of_model = predict(points("send_overhead", size, peers=counts)) / counts
        predicted_overheads, predicted_first = of_model[1:], of_model[0]
    samples = np.minimum(totals.quantity.samples[of_trips], posts.quantity.samples[of_posts])
    for name, derive in LATENCIES.items():
        table = derive(p[:, None], trips / p[:, None], overheads, first)
        measured = Quantity(
            name,
            np.full(peers.shape, size, dtype=np.int64),
            table[:, 0],
            table[:, 1:].std(axis=1),
            table[:, 1:],
            totals.quantity.series | posts.quantity.series,
            samples,
            is_difference=True,
        )
        predicted = derive(p, predicted_trips, predicted_overheads, predicted_first)
        yield replace(measured_curve(measured), predicted_seconds=predicted, peers=peers)


def _with_draws(quantity: Quantity) -> Array:
    """Value and draws side by side, shape (peers, 1 + draws)."""
    return np.column_stack((quantity.value, quantity.draws))
