"""The fit of models to a dataset: `chiplog fit` as a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from chiplog.dataset.disturbance import disturbance
from chiplog.dataset.operations import ONE_SIDED
from chiplog.dataset.oversubscription import oversubscription
from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.fit.bands import bands
from chiplog.fit.caution import bad_fit, without_cold_start, without_questions
from chiplog.fit.choice import METHODS, lacks, methods_of, of_pairs, suited_methods
from chiplog.fit.cost import cost_of
from chiplog.fit.crossing import crossing_bytes
from chiplog.fit.hockney import hockney_estimates
from chiplog.fit.left_out import Fitted, LeftOut
from chiplog.fit.loggops import free_slopes, loggops_estimates
from chiplog.fit.loggp import Estimates, segment_estimates
from chiplog.fit.measured import REPLICATES, Measured
from chiplog.fit.methods.quantities import MethodQuantities
from chiplog.fit.one_to_many.run import ONE_TO_MANY, fit_one_to_many
from chiplog.fit.origin import with_origin
from chiplog.fit.pairs.run import fit_pairs
from chiplog.fit.part import with_receives
from chiplog.fit.plogp import measured_tables, plogp_estimates, plogp_theta
from chiplog.fit.predictions import (
    FREE,
    HALF_ROUND_TRIP,
    TRAIN,
    Predictor,
    curve,
    fit_error,
    predicted_quantity,
    predictor,
)
from chiplog.fit.quantity import Quantity
from chiplog.fit.regime_lines import RegimeLines
from chiplog.fit.regimes import Partition, Range, partition, whole
from chiplog.fit.result import Change, Curve, Fit, Segment
from chiplog.fit.short import last_short_size
from chiplog.fit.states import in_one_state, without_unlike
from chiplog.fit.synchronisation import synchronisation_estimate
from chiplog.models.protocol import Model
from chiplog.models.registry import BUILT_IN, load_model

KEPT_DRAWS = 200

Boundaries = Sequence[Change] | Sequence[int] | Literal["auto"] | None


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
    known_lines: dict[str, RegimeLines]
    """The lines of all regimes by method, as they were fitted for an earlier model."""

    @cached_property
    def in_lines(self) -> MethodQuantities:
        """The quantities at the sizes that lines go through."""
        return without_unlike(self.quantities, [self.range], self.unlike)

    @property
    def range(self) -> Range:
        """First and last size in bytes of what was measured."""
        half = self.quantities.half_round_trip
        sizes = half.message_bytes if half.value.size else self.quantities.gap.message_bytes
        if sizes.size == 0:
            raise UsageError(lacks(self.model.name, self.method))
        return int(sizes[0]), int(sizes[-1])

    @property
    def rng(self) -> np.random.Generator:
        """Equal seeds give equal replicates, whatever was fitted before."""
        return np.random.default_rng([self.seed, 1])


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
    give the model's parameters. `boundaries` are the protocol changes, or the last sizes in bytes before each; "auto"
    finds them, None means one protocol. `statistic` stands for a series: median, minimum or mean. Equal seeds give
    equal intervals, of so many `replicates` (a search costs as many times its time: some models take fewer).

    Returns one Fit per model, method and such part of the dataset. Raises UsageError for an unknown model, method or
    statistic, and where one of the models has nothing to say about the dataset (of method "all": where all have not).
    """
    fitted = fit_each(
        dataset,
        models,
        method=method,
        boundaries=boundaries,
        statistic=statistic,
        seed=seed,
        replicates=replicates,
    )
    known = {one.model for one in fitted.fits}
    for one in fitted.left_out:
        if one.model not in known and not (method == "all" and known):
            raise UsageError(one.sentence)
    return fitted.fits


def fit_each(
    dataset: Dataset,
    models: Sequence[str],
    *,
    method: str | None = None,
    boundaries: Boundaries = "auto",
    statistic: str = "median",
    seed: int = 0,
    replicates: int = REPLICATES,
) -> Fitted:
    """As `fit`, but a model that has nothing to say about the dataset is left out, with the reason.

    Raises UsageError for an unknown model, method or statistic, and for a dataset without series.
    """
    loaded = {name: load_model(name) for name in models}
    for name in loaded:
        methods_of(name, method)
    if not dataset.series:
        raise UsageError(f"{dataset.source}: there are no series to fit.")
    fits: list[Fit] = []
    reasons: dict[tuple[str, str], str] = {}
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
                chosen, operation, one_pair, boundaries, statistic, seed, replicates, reasons
            )
        for alike in chosen.select(pattern="pairs").apart("between", "direction").values():
            found += _fit_pairs(alike, pairs, boundaries, statistic, seed, reasons)
        first = chosen.series[0]
        fits += [replace(one, placement=first.placement, posting=first.posting) for one in found]
    found_out = (oversubscription(dataset.header), disturbance(dataset.series))
    told = tuple(one.sentence() for one in found_out if one is not None)
    return Fitted(
        with_origin(
            dataset.header, [replace(one, warnings=(*told, *one.warnings)) for one in fits]
        ),
        _left_out(loaded, method, fits, reasons),
    )


def _left_out(
    models: Iterable[str],
    method: str | None,
    fits: Sequence[Fit],
    reasons: Mapping[tuple[str, str], str],
) -> tuple[LeftOut, ...]:
    """What was refused and not fitted to another part either, and the models that no part was made for."""
    known = {(one.model, one.method) for one in fits}
    left_out = [LeftOut(*key, reason) for key, reason in reasons.items() if key not in known]
    told = {one.model for one in left_out} | {one.model for one in fits}
    left_out += [
        LeftOut(name, by[0], lacks(name, by[0]))
        for name in models
        if name not in told and (by := methods_of(name, method))
    ]
    return tuple(left_out)


def _fit_pairs(
    dataset: Dataset,
    jobs: Sequence[tuple[Model, str]],
    boundaries: Boundaries,
    statistic: str,
    seed: int,
    reasons: dict[tuple[str, str], str],
) -> list[Fit]:
    """The fits of the models of k pairs: all at once or, where one refuses, of each that does not.

    Changes that were found between two ranks are not theirs: k pairs have protocols of their own.
    """
    limits: list[int] | Literal["auto"] | None = None
    if boundaries is not None:
        given = [one for one in boundaries if isinstance(one, int)]
        limits = given or "auto"
    try:
        return list(fit_pairs(dataset, jobs, boundaries=limits, statistic=statistic, seed=seed))
    except UsageError as error:
        if len(jobs) == 1:
            model, by = jobs[0]
            reasons[model.name, by] = str(error)
            return []
    return [
        one
        for job in jobs
        for one in _fit_pairs(dataset, [job], boundaries, statistic, seed, reasons)
    ]


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
    reasons: dict[tuple[str, str], str],
) -> list[Fit]:
    """The fits of the models of one process pair, or of one process to many; `reasons` gets why one refuses."""
    by_size = any(by != ONE_TO_MANY for _, by in jobs)
    changes = _changes(dataset, boundaries) if by_size else ()
    chosen, warnings = without_cold_start(without_questions(dataset))
    placed = in_one_state(chosen)
    told = (*warnings, *placed.sentences)
    measured = Measured(placed.dataset, statistic, seed, replicates)
    transport = str(dataset.header.get("transport", "unknown"))
    found: dict[str, MethodQuantities] = {}
    known_lines: dict[str, RegimeLines] = {}
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
        if name not in found:
            found[name] = METHODS[name](measured)
        quantities = found[name]
        one_sided = operation in ONE_SIDED
        job = _Job(
            model,
            name,
            measured,
            quantities,
            changes,
            statistic,
            seed,
            told,
            one_sided,
            placed.unlike_bytes,
            known_lines,
        )
        try:
            fits.append(_fit_one(job, dataset, operation))
        except UsageError as error:
            reasons[model.name, name] = str(error)
    return fits


def _changes(dataset: Dataset, boundaries: Boundaries) -> tuple[Change, ...]:
    if boundaries is None:
        return ()
    if boundaries == "auto":
        from chiplog.fit.changes import find_changes

        boundaries = find_changes(dataset).consensus
    given = [one for one in boundaries if isinstance(one, Change)]
    if given:
        return tuple(one for one in given if one.kind != "slope")  # these are borders of regimes
    sizes = dataset.sizes()
    return tuple(
        Change(limit, int(sizes[sizes > limit][0]) if np.any(sizes > limit) else limit + 1, "jump")
        for limit in sorted({one for one in boundaries if not isinstance(one, Change)})
    )


def _fit_one(job: _Job, dataset: Dataset, operation: str) -> Fit:
    fitted = _ESTIMATES[job.model.name](job)
    parts = fitted.parts
    segments = tuple(
        Segment(first, last, {s: one.parameter for s, one in found.items()}, border, form)
        for (first, last), border, found, form in zip(
            parts.ranges, parts.borders, fitted.estimates, fitted.forms, strict=True
        )
    )
    predict = _predictor(job, segments)
    last_bytes = parts.ranges[-1][1]
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
        changes=_with_crossings(job.changes, segments),
        error=error,
        cost=cost_of(job.measured.series, used),
        curves=_curves(job, predict, last_bytes),
        warnings=(*job.warnings, *fitted.cautions, *bad_fit(error)),
        draws=_draws(fitted.estimates),
        bands=bands(parts.regimes, None if single else job.quantities.gap, predict, last_bytes),
    )


@dataclass(frozen=True)
class _Fitted:
    """The segments of a fit with the parameters of each, and what a reader must be told."""

    parts: Partition
    estimates: list[Estimates]
    cautions: tuple[str, ...] = ()
    why_free: tuple[str | None, ...] = ()

    @property
    def forms(self) -> tuple[str | None, ...]:
        """The form of each segment."""
        free = self.why_free or (None,) * len(self.estimates)
        return tuple(None if why is None else FREE for why in free)


def _limits(job: _Job) -> list[int]:
    return [change.last_before_bytes for change in job.changes]


def _lines(job: _Job) -> RegimeLines:
    """The lines of all quantities' regimes, found once for all models by one method."""
    if job.method not in job.known_lines:
        one = job.in_lines
        parts = partition((one.half_round_trip, one.o_s, one.o_r, one.gap), _limits(job))
        job.known_lines[job.method] = RegimeLines(one, parts, job.rng)
    return job.known_lines[job.method]


def _loggp(job: _Job) -> _Fitted:
    lines = _lines(job)
    parts = lines.parts
    found = [
        segment_estimates(job.quantities, lines, number, one_sided=job.one_sided)
        for number in range(len(parts.ranges))
    ]
    told = tuple(sentence for _, cautions in found for sentence in cautions)
    return _Fitted(parts, [estimates for estimates, _ in found], told)


def _logp(job: _Job) -> _Fitted:
    half = job.in_lines.half_round_trip
    first, last = job.range[0], last_short_size(half) if half.value.size else 0
    parts = whole(np.array([first, max(first, last)]))
    lines = RegimeLines(job.in_lines, parts, job.rng, flat=True)
    estimates, told = segment_estimates(job.quantities, lines, 0, one_sided=job.one_sided)
    return _Fitted(parts, [estimates], told)


def _loggps(job: _Job) -> _Fitted:
    threshold = synchronisation_estimate(job.measured, _limits(job))
    fitted = _loggp(job)
    return replace(fitted, estimates=[{**found, "S": threshold} for found in fitted.estimates])


def _loggops(job: _Job) -> _Fitted:
    lines = _lines(job)
    parts = lines.parts
    found = [
        loggops_estimates(job.quantities, lines, number, one_sided=job.one_sided)
        for number in range(len(parts.ranges))
    ]
    why = tuple(one.why_free for one in found)
    return _Fitted(parts, [one.found for one in found], free_slopes(parts.ranges, why), why)


def _hockney(job: _Job) -> _Fitted:
    half = job.in_lines.half_round_trip
    parts = partition((half,), _limits(job))
    own = parts.own[half.name]
    return _Fitted(parts, [hockney_estimates(half.within(*one), job.rng) for one in own])


def _plogp(job: _Job) -> _Fitted:
    return _Fitted(whole(np.array(job.range)), [plogp_estimates(job.quantities)])


_ESTIMATES: Mapping[str, Callable[[_Job], _Fitted]] = {
    "hockney": _hockney,
    "logp": _logp,
    "loggp": _loggp,
    "loggps": _loggps,
    "loggops": _loggops,
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
    """The changes within the segments, each with the size at which the two protocols' one-way lines cross."""
    named = []
    for change in changes:
        for before, after in pairwise(segments):
            if before.last_bytes != change.last_before_bytes:
                continue
            crossing = change.crossing_bytes
            if crossing is None:
                crossing = crossing_bytes(before, after)
            named.append(replace(change, crossing_bytes=crossing))
    return tuple(named)
