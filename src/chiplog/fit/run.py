"""The fit of models to a dataset: `chiplog fit` as a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from chiplog.dataset.disturbance import disturbance
from chiplog.dataset.operations import ONE_SIDED
from chiplog.dataset.oversubscription import oversubscription
from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.fit.caution import bad_fit, without_cold_start
from chiplog.fit.choice import METHODS, methods_of, of_pairs, refuse_unfitted, suited_methods
from chiplog.fit.cost import cost_of
from chiplog.fit.crossing import crossing_bytes
from chiplog.fit.hockney import hockney_estimates
from chiplog.fit.loggp import Estimates, segment_estimates
from chiplog.fit.measured import REPLICATES, Measured
from chiplog.fit.methods.quantities import MethodQuantities
from chiplog.fit.one_to_many.run import ONE_TO_MANY, fit_one_to_many
from chiplog.fit.pairs.run import fit_pairs
from chiplog.fit.part import with_receives
from chiplog.fit.placement import in_one_placement
from chiplog.fit.plogp import measured_tables, plogp_estimates, plogp_theta
from chiplog.fit.predictions import (
    HALF_ROUND_TRIP,
    TRAIN,
    Predictor,
    curve,
    fit_error,
    predicted_quantity,
    predictor,
)
from chiplog.fit.quantity import Quantity
from chiplog.fit.result import Change, Curve, Fit, Segment
from chiplog.fit.segments import segment_ranges
from chiplog.fit.short import last_short_size
from chiplog.fit.synchronisation import synchronisation_estimate
from chiplog.fit.unlike import unlike_sizes, without_unlike
from chiplog.models.protocol import Model
from chiplog.models.registry import BUILT_IN, load_model

KEPT_DRAWS = 200

Boundaries = Sequence[int] | Literal["auto"] | None


@dataclass(frozen=True)
class _Job:
    """One model by one method on one operation's series."""

    model: Model
    method: str
    measured: Measured
    quantities: MethodQuantities
    changes: tuple[Change, ...]
    statistic: str
    seed: int
    warnings: tuple[str, ...]
    one_sided: bool
    unlike: frozenset[int]
    """Sizes in bytes that met the machine in another state than most."""

    def in_lines(self, ranges: Sequence[tuple[int, int]]) -> MethodQuantities:
        """The quantities at the sizes that lines over these ranges go through."""
        return without_unlike(self.quantities, ranges, self.unlike)


def fit(
    dataset: Dataset,
    models: Sequence[str] = ("loggp",),
    *,
    method: str | None = None,
    boundaries: Boundaries = "auto",
    statistic: str = "median",
    seed: int = 0,
    replicates: int = REPLICATES,
) -> tuple[Fit, ...]:
    """Fits each of `models` by `method` to each operation, posting and placement of the dataset.

    Models of k pairs are fitted to each two groups of ranks that the pairs ran between.

    `method` None takes each model's default (LogGP: prtt; pLogP: kielmann; max-rate: k=all), "all" takes all that can
    give the model's parameters. `boundaries` are the last sizes in bytes before each protocol change; "auto" finds
    them, None means one protocol. `statistic` stands for a series: median, minimum or mean. Equal seeds give equal
    intervals, of so many `replicates` (a search costs as many times its time: some models take fewer).

    Returns one Fit per model, method and such part of the dataset. Raises UsageError for an unknown model, method or
    statistic, and for a dataset without the series that a model speaks about.
    """
    loaded = {name: load_model(name) for name in models}
    for name in loaded:
        methods_of(name, method)
    if not dataset.series:
        raise UsageError(f"{dataset.source}: there are no series to fit.")
    fits: list[Fit] = []
    for mine in dataset.apart("operation", "posting", "placement").values():
        chosen = with_receives(dataset, mine)
        jobs = [
            (loaded[name], by) for name in loaded for by in suited_methods(name, method, chosen)
        ]
        one_pair = [job for job in jobs if not of_pairs(job[0].name)]
        pairs = [job for job in jobs if of_pairs(job[0].name)]
        found: list[Fit] = []
        if one_pair:
            operation = chosen.series[0].operation
            found += _fit_one_pair(
                chosen, operation, one_pair, boundaries, statistic, seed, replicates
            )
        for alike in chosen.select(pattern="pairs").apart("between", "direction").values():
            found += fit_pairs(alike, pairs, boundaries=boundaries, statistic=statistic, seed=seed)
        first = chosen.series[0]
        fits += [replace(one, placement=first.placement, posting=first.posting) for one in found]
    refuse_unfitted(tuple(loaded), fits, method)
    if not fits:
        raise UsageError(
            f"{dataset.source}: there are no series that any of these models speaks of."
        )
    found_out = (oversubscription(dataset.header), disturbance(dataset.series))
    told = tuple(one.sentence() for one in found_out if one is not None)
    return tuple(replace(one, warnings=(*told, *one.warnings)) for one in fits)


def models_for(dataset: Dataset) -> tuple[str, ...]:
    """The names of the built-in models that speak about a pattern of `dataset` and can be fitted to it."""
    measured = {one.pattern for one in dataset.series}
    return tuple(
        name
        for name in BUILT_IN
        if measured & set(load_model(name).patterns) and suited_methods(name, None, dataset)
    )


def _fit_one_pair(
    dataset: Dataset,
    operation: str,
    jobs: Sequence[tuple[Model, str]],
    boundaries: Boundaries,
    statistic: str,
    seed: int,
    replicates: int,
) -> list[Fit]:
    """The fits of the models of one process pair, or of one process to many."""
    by_size = any(by != ONE_TO_MANY for _, by in jobs)
    changes = _changes(dataset, boundaries) if by_size else ()
    chosen, warnings = without_cold_start(dataset)
    chosen, placed = in_one_placement(chosen)
    told = (*warnings, *placed)
    unlike = unlike_sizes(chosen)
    measured = Measured(chosen, statistic, seed, replicates)
    transport = str(dataset.header.get("transport", "unknown"))
    found: dict[str, MethodQuantities] = {}
    fits = []
    for model, name in jobs:
        if name == ONE_TO_MANY:
            fits.append(
                fit_one_to_many(
                    model,
                    measured,
                    operation=operation,
                    transport=transport,
                    seed=seed,
                    warnings=told,
                )
            )
            continue
        quantities = found.setdefault(name, METHODS[name](measured))
        one_sided = operation in ONE_SIDED
        job = _Job(
            model, name, measured, quantities, changes, statistic, seed, told, one_sided, unlike
        )
        fits.append(_fit_one(job, dataset, operation))
    return fits


def _changes(dataset: Dataset, boundaries: Boundaries) -> tuple[Change, ...]:
    if boundaries is None:
        return ()
    if boundaries == "auto":
        from chiplog.fit.changes import find_changes

        return tuple(find_changes(dataset).consensus)
    sizes = dataset.sizes()
    return tuple(
        Change(limit, int(sizes[sizes > limit][0]) if np.any(sizes > limit) else limit + 1, "jump")
        for limit in sorted(set(boundaries))
    )


def _fit_one(job: _Job, dataset: Dataset, operation: str) -> Fit:
    ranges, segments_of = _ranges(job), _ESTIMATES[job.model.name]
    estimates, cautions = segments_of(job, ranges)
    segments = tuple(
        Segment(first, last, {symbol: one.parameter for symbol, one in found.items()})
        for (first, last), found in zip(ranges, estimates, strict=True)
    )
    predict = _predictor(job, segments)
    last_bytes = ranges[-1][1]
    single = job.model.name == "hockney"
    used = job.quantities.half_round_trip.series if single else job.quantities.series
    error = fit_error(
        job.measured,
        predict,
        (HALF_ROUND_TRIP,) if single else (HALF_ROUND_TRIP, TRAIN),
        last_bytes,
    )
    return Fit(
        model=job.model.name,
        method=job.method,
        transport=str(dataset.header.get("transport", "unknown")),
        operation=operation,
        direction="one-way",
        statistic=job.statistic,
        segments=segments,
        changes=_with_crossings(job.changes, segments) if len(ranges) > 1 else (),
        error=error,
        cost=cost_of(job.measured.series, used),
        curves=_curves(job, predict, last_bytes),
        warnings=(*job.warnings, *cautions, *bad_fit(error)),
        draws=_draws(estimates),
    )


def _ranges(job: _Job) -> tuple[tuple[int, int], ...]:
    half = job.quantities.half_round_trip
    sizes = half.message_bytes if half.value.size else job.quantities.gap.message_bytes
    if sizes.size == 0:
        raise UsageError(
            f"Model {job.model.name} by {job.method} needs round trips (prtt or ping_pong) in the dataset; "
            "there are none."
        )
    limits = [change.last_before_bytes for change in job.changes]
    limits = [limit for limit in limits if sizes[0] <= limit < sizes[-1]]
    if job.model.name == "plogp":
        return ((int(sizes[0]), int(sizes[-1])),)
    ranges = segment_ranges(sizes, limits)
    if job.model.name == "logp":
        return ((ranges[0][0], last_short_size(half.within(*ranges[0]))),)
    return ranges


def _rng(job: _Job) -> np.random.Generator:
    return np.random.default_rng([job.seed, 1])


_Estimated = tuple[list[Estimates], tuple[str, ...]]
"""The parameters of each segment, and what a reader must be told."""


def _loggp(job: _Job, ranges: Sequence[tuple[int, int]]) -> _Estimated:
    rng = _rng(job)
    flat = job.model.name == "logp"
    quantities = job.in_lines(ranges)
    found = [
        segment_estimates(quantities, first, last, rng, flat=flat, one_sided=job.one_sided)
        for first, last in ranges
    ]
    return [estimates for estimates, _ in found], tuple(
        sentence for _, cautions in found for sentence in cautions
    )


def _loggps(job: _Job, ranges: Sequence[tuple[int, int]]) -> _Estimated:
    limits = [change.last_before_bytes for change in job.changes]
    threshold = synchronisation_estimate(job.measured, limits)
    estimates, cautions = _loggp(job, ranges)
    return [{**found, "S": threshold} for found in estimates], cautions


def _hockney(job: _Job, ranges: Sequence[tuple[int, int]]) -> _Estimated:
    rng = _rng(job)
    half = job.in_lines(ranges).half_round_trip
    return [hockney_estimates(half.within(first, last), rng) for first, last in ranges], ()


def _plogp(job: _Job, ranges: Sequence[tuple[int, int]]) -> _Estimated:
    return [plogp_estimates(job.quantities) for _ in ranges], ()


_ESTIMATES: Mapping[str, Callable[[_Job, Sequence[tuple[int, int]]], _Estimated]] = {
    "hockney": _hockney,
    "logp": _loggp,
    "loggp": _loggp,
    "loggps": _loggps,
    "plogp": _plogp,
}


def _predictor(job: _Job, segments: Sequence[Segment]) -> Predictor:
    if job.model.name != "plogp":
        return predictor(job.model, segments)
    theta = plogp_theta(segments[0].parameters["L"], measured_tables(job.quantities))
    return lambda asked: job.model.seconds(asked, theta)


def _curves(job: _Job, predict: Predictor, last_bytes: int) -> tuple[Curve, ...]:
    quantities: tuple[Quantity, ...] = (job.quantities.half_round_trip,)
    if job.model.name != "hockney":
        quantities += (job.quantities.gap, job.quantities.o_s, job.quantities.o_r)
    return tuple(
        _curve(quantity.within(0, last_bytes), predict)
        for quantity in quantities
        if quantity.value.size
    )


def _curve(quantity: Quantity, predict: Predictor) -> Curve:
    predicted = predicted_quantity(predict, quantity.name, quantity.message_bytes)
    return curve(quantity, predicted)


def _draws(estimates: Sequence[Estimates]) -> dict[str, np.ndarray]:
    return {
        f"{number}/{symbol}": one.draws[:KEPT_DRAWS]
        for number, found in enumerate(estimates)
        for symbol, one in found.items()
        if one.draws.size
    }


def _with_crossings(changes: Sequence[Change], segments: Sequence[Segment]) -> tuple[Change, ...]:
    """The changes, each with the size at which the two protocols' one-way lines cross."""
    named = []
    for change, (before, after) in zip(changes, pairwise(segments), strict=False):
        crossing = change.crossing_bytes
        if crossing is None:
            crossing = crossing_bytes(before, after)
        named.append(replace(change, crossing_bytes=crossing))
    return tuple(named)
