"""The fit of models to a dataset: `chiplog fit` as a function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from chiplog.counts import seed_within
from chiplog.dataset.disturbance import disturbance
from chiplog.dataset.operations import ONE_SIDED
from chiplog.dataset.oversubscription import oversubscription
from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.fit.caution import (
    bad_fit,
    few_means_in_regimes,
    scatter_elsewhere,
    usable,
)
from chiplog.fit.choice import METHODS, lacks, methods_of, of_pairs, suited_methods
from chiplog.fit.cost import cost_of
from chiplog.fit.estimates.freedom import with_own_freedom
from chiplog.fit.estimates.job import Job, SizeEstimator
from chiplog.fit.estimates.parameters import Estimates
from chiplog.fit.left_out import FitsMade, LeftOut
from chiplog.fit.one_to_many.fitting import fit_one_to_many
from chiplog.fit.origin import with_origin
from chiplog.fit.pairs.fitting import fit_pairs
from chiplog.fit.part import with_receives
from chiplog.fit.predictions.bands import bands
from chiplog.fit.predictions.predictor import (
    HALF_ROUND_TRIP,
    TRAIN,
    Predictor,
    fit_error,
    measured_curve,
    predicted_quantity,
    predictor,
)
from chiplog.fit.quantities.measured import REPLICATES, MeasuredSeries
from chiplog.fit.quantities.methods.names import ONE_TO_MANY
from chiplog.fit.quantities.methods.quantities import MethodQuantities
from chiplog.fit.quantities.quantity import Quantity
from chiplog.fit.regimes.crossing import with_crossings
from chiplog.fit.regimes.of_quantities import RegimeLines
from chiplog.fit.result import NOT_JUDGED, Change, Curve, Fit, Segment
from chiplog.fit.verdict import busy_text
from chiplog.machine_state.main_state import InOneState
from chiplog.models.protocol import Model
from chiplog.models.registry import MODELS, load_model
from chiplog.plugins import load_reference

KEPT_DRAWS = 200

Boundaries = Sequence[Change] | Sequence[int] | Literal["auto"] | None


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
    known = {fit.model for fit in fitted.fits}
    for left_out in fitted.left_out:
        if left_out.model not in known and not (method == "all" and known):
            raise UsageError(left_out.sentence)
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
) -> FitsMade:
    """As `fit`, but a model that has nothing to say about the dataset is left out, with the reason.

    Raises UsageError for an unknown model, method or statistic, and for a dataset without series.
    """
    seed_within("--seed", seed)
    loaded = {name: load_model(name) for name in models}
    for name in loaded:
        methods_of(name, method)
    if not dataset.series:
        raise UsageError(f"{dataset.source}: there are no series to fit.")
    fits: list[Fit] = []
    reasons: dict[tuple[str, str], str] = {}
    for part in dataset.apart("operation", "posting", "placement").values():
        chosen = with_receives(dataset, part)
        jobs = [
            (loaded[name], by) for name in loaded for by in suited_methods(name, method, chosen)
        ]
        one_pair = [job for job in jobs if not of_pairs(job[0].name)]
        pairs = [job for job in jobs if of_pairs(job[0].name)]
        part_fits: list[Fit] = []
        if one_pair:
            operation = chosen.series[0].operation
            part_fits += _fit_one_pair(
                chosen, operation, one_pair, boundaries, statistic, seed, replicates, reasons
            )
        for alike in chosen.select(pattern="pairs").apart("between", "direction").values():
            part_fits += _fit_pairs(alike, pairs, boundaries, statistic, seed, reasons)
        first = chosen.series[0]
        launches = len({series.launch for series in chosen.series})
        fits += [
            replace(fit, placement=first.placement, posting=first.posting, launches=launches)
            for fit in part_fits
        ]
    found_out = (oversubscription(dataset.header), disturbance(dataset.series))
    sentences = tuple(finding.sentence() for finding in found_out if finding is not None)
    busy = busy_text(dataset)
    return FitsMade(
        with_origin(
            dataset.header,
            [replace(fit, warnings=(*sentences, *fit.warnings), busy=busy) for fit in fits],
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
    known = {(fit.model, fit.method) for fit in fits}
    left_out = [LeftOut(*key, reason) for key, reason in reasons.items() if key not in known]
    named = {refusal.model for refusal in left_out} | {fit.model for fit in fits}
    left_out += [
        LeftOut(name, by[0], lacks(name, by[0]))
        for name in models
        if name not in named and (by := methods_of(name, method))
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
        given = [boundary for boundary in boundaries if isinstance(boundary, int)]
        limits = given or "auto"
    try:
        return list(fit_pairs(dataset, jobs, boundaries=limits, statistic=statistic, seed=seed))
    except UsageError as error:
        if len(jobs) == 1:
            model, by = jobs[0]
            reasons[model.name, by] = str(error)
            return []
    return [
        fit_pair
        for job in jobs
        for fit_pair in _fit_pairs(dataset, [job], boundaries, statistic, seed, reasons)
    ]


def models_for(dataset: Dataset) -> tuple[str, ...]:
    """The names of the models that can be fitted to `dataset`."""
    measured = {series.pattern for series in dataset.series}
    return tuple(
        model.name
        for model in MODELS.all()
        if measured & set(model.patterns) and suited_methods(model.name, None, dataset)
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
    changes, doubts = _changes(dataset, boundaries) if by_size else ((), ())
    chosen, placed, warnings = usable(dataset)
    cautions = (*warnings, *doubts)

    def fitted(scatter: float) -> list[Fit]:
        measured = MeasuredSeries(placed.dataset, statistic, seed, replicates, scatter=scatter)
        fits = _fit_jobs(placed, measured, operation, jobs, changes, seed, cautions, reasons)
        return [
            replace(fit, warnings=(*fit.warnings, *few_means_in_regimes(chosen, fit, scatter)))
            for fit in fits
        ]

    first_fits = fitted(0.0)
    scatter = scatter_elsewhere(chosen, first_fits)
    return fitted(scatter) if scatter > 0.0 else first_fits


def _fit_jobs(
    placed: InOneState,
    measured: MeasuredSeries,
    operation: str,
    jobs: Sequence[tuple[Model, str]],
    changes: tuple[Change, ...],
    seed: int,
    warnings: Sequence[str],
    reasons: dict[tuple[str, str], str],
) -> list[Fit]:
    """The fit of each model by its method to what was measured; `reasons` gets why one refuses."""
    transport = str(placed.dataset.header.get("transport", "unknown"))
    quantities: dict[str, MethodQuantities] = {}
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
                    warnings=warnings,
                )
            )
            continue
        if name not in quantities:
            quantities[name] = METHODS[name](measured)
        job = Job(
            model,
            name,
            measured,
            quantities[name],
            changes,
            seed,
            operation in ONE_SIDED,
            placed.unlike_bytes,
            known_lines,
        )
        try:
            fits.append(_fit_one(job, transport, operation, warnings))
        except UsageError as error:
            reasons[model.name, name] = str(error)
    return fits


def _changes(
    dataset: Dataset, boundaries: Boundaries
) -> tuple[tuple[Change, ...], tuple[str, ...]]:
    """Where regimes end, and what the search for changes leaves in doubt."""
    doubts: tuple[str, ...] = ()
    if boundaries is None:
        return (), doubts
    if boundaries == "auto":
        from chiplog.fit.changes import find_changes

        result = find_changes(dataset)
        boundaries, doubts = result.consensus, tuple(map(str, result.ends))
    given = [boundary for boundary in boundaries if isinstance(boundary, Change)]
    if given:
        # A slope is the border of a regime.
        return tuple(change for change in given if change.kind != "slope"), doubts
    sizes = dataset.sizes()
    return tuple(
        Change(limit, int(sizes[sizes > limit][0]) if np.any(sizes > limit) else limit + 1, "jump")
        for limit in sorted(
            {boundary for boundary in boundaries if not isinstance(boundary, Change)}
        )
    ), doubts


def _fit_one(job: Job, transport: str, operation: str, warnings: Sequence[str]) -> Fit:
    estimator: SizeEstimator = load_reference(job.model.estimators[job.method])
    fitted = with_own_freedom(estimator(job), job.quantities_in_lines)
    parts = fitted.parts
    segments = tuple(
        Segment(
            first, last, {s: estimate.parameter for s, estimate in estimates.items()}, border, form
        )
        for (first, last), border, estimates, form in zip(
            parts.ranges, parts.borders, fitted.estimates, fitted.forms, strict=True
        )
    )
    last_bytes = parts.ranges[-1][1]
    single = job.model.single_messages
    used = job.quantities.half_round_trip.series if single else job.quantities.series
    unjudged = Fit(
        model=job.model.name,
        method=job.method,
        transport=transport,
        operation=operation,
        direction=job.model.direction,
        statistic=job.measured.statistic,
        segments=segments,
        changes=with_crossings(job.changes, segments),
        error=NOT_JUDGED,
        cost=cost_of(job.measured.series, used),
        curves=_measured_curves(job, last_bytes),
        warnings=(*warnings, *fitted.cautions, *_unseparated(job.changes, segments)),
        draws=_draws(fitted.estimates),
        other_state_bytes=job.other_state_bytes,
    )
    predict = predictor(unjudged)
    judged = (HALF_ROUND_TRIP,) if single else (HALF_ROUND_TRIP, TRAIN)
    error = fit_error(job.measured, predict, judged, last_bytes)
    return replace(
        unjudged,
        error=error,
        curves=tuple(_with_prediction(curve, predict) for curve in unjudged.curves),
        warnings=(*unjudged.warnings, *bad_fit(error)),
        bands=bands(parts.regimes, None if single else job.quantities.gap, predict, last_bytes),
    )


def _unseparated(changes: Sequence[Change], segments: Sequence[Segment]) -> tuple[str, ...]:
    """A sentence on the protocol changes that no measured size separates from another: no segment ends there."""
    first, last = segments[0].first_bytes, segments[-1].last_bytes
    ends = {segment.last_bytes for segment in segments}
    limits = sorted(change.last_before_bytes for change in changes)
    left_out = [limit for limit in limits if first <= limit < last and limit not in ends]
    if not left_out:
        return ()
    kept = [min(end for end in ends if end > limit) for limit in left_out]
    places = (f"{low:,} B and {high:,} B" for low, high in zip(left_out, kept, strict=True))
    return (
        f"No size was measured between the protocol changes at {', and '.join(places)}: the fit takes each such two "
        "for one; measure sizes between them.",
    )


def _measured_curves(job: Job, last_bytes: int) -> tuple[Curve, ...]:
    quantities: tuple[Quantity, ...] = (job.quantities.half_round_trip,)
    if not job.model.single_messages:
        quantities += (job.quantities.gap, job.quantities.o_s, job.quantities.o_r)
    return tuple(
        measured_curve(quantity.within(0, last_bytes))
        for quantity in quantities
        if quantity.value.size
    )


def _with_prediction(curve: Curve, predict: Predictor) -> Curve:
    predicted = predicted_quantity(predict, curve.quantity, curve.message_bytes)
    return replace(curve, predicted_seconds=predicted)


def _draws(estimates: Sequence[Estimates]) -> dict[str, np.ndarray]:
    return {
        f"{number}/{symbol}": estimate.draws[:KEPT_DRAWS]
        for number, segment_estimates in enumerate(estimates)
        for symbol, estimate in segment_estimates.items()
        if estimate.draws.size
    }
