"""The fits of models of one process pair, or of one process to many, to one operation's series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from chiplog.dataset.operations import ONE_SIDED
from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.fitting.caution import bad_fit, few_means_in_regimes, scatter_elsewhere, usable
from chiplog.fitting.choice import METHODS, lacks
from chiplog.fitting.estimates.freedom import with_own_freedom
from chiplog.fitting.estimates.job import Job, SegmentEstimates, SizeEstimator
from chiplog.fitting.estimates.parameters import draws_of, parameters_of
from chiplog.fitting.one_to_many.fitting import can_fit, fit_one_to_many
from chiplog.fitting.predictions.bands import bands
from chiplog.fitting.predictions.predictor import (
    HALF_ROUND_TRIP,
    TRAIN,
    Predictor,
    fit_error,
    measured_curve,
    predicted_quantity,
    predictor,
)
from chiplog.fitting.quantities.by_method import ONE_TO_MANY, MethodQuantities
from chiplog.fitting.quantities.incast import receiver_time
from chiplog.fitting.quantities.measured import MeasuredSeries
from chiplog.fitting.quantities.over_sizes import exchange_time
from chiplog.fitting.quantities.quantity import Quantity
from chiplog.fitting.regimes.of_quantities import RegimeLines
from chiplog.fitting.request import Boundaries, FitOutcome, FitRequest, LeftOut
from chiplog.fitting.result import NOT_JUDGED, Curve, Fit, Segment, cost_of
from chiplog.fitting.settings import REPLICATES
from chiplog.machine_state.states import InOneState
from chiplog.models.protocol import Model
from chiplog.plugins import load_reference
from chiplog.protocol_changes.change import Change
from chiplog.protocol_changes.detect.line import line_crossing_bytes


@dataclass(frozen=True)
class _Part:
    """What was measured of one operation with the machine in one state: what all models are fitted to."""

    placed: InOneState
    measured: MeasuredSeries
    operation: str
    changes: tuple[Change, ...]
    """Where regimes end."""
    warnings: tuple[str, ...]


def fit_one_pair(
    dataset: Dataset, jobs: Sequence[tuple[Model, str]], request: FitRequest
) -> FitOutcome:
    """The fit of each model by its method to the series of one operation, and why one refuses."""
    by_size = any(method != ONE_TO_MANY for _, method in jobs)
    changes, doubts = _changes(dataset, request.boundaries) if by_size else ((), ())
    chosen, placed, warnings = usable(dataset)
    operation = dataset.series[0].operation

    def fitted(scatter: float) -> FitOutcome:
        measured = MeasuredSeries(
            placed.dataset, request.statistic, request.seed, request.replicates, scatter=scatter
        )
        part = _Part(placed, measured, operation, changes, (*warnings, *doubts))
        outcome = _fit_jobs(part, jobs)
        cautious = (
            replace(fit, warnings=(*fit.warnings, *few_means_in_regimes(chosen, fit, scatter)))
            for fit in outcome.fits
        )
        return replace(outcome, fits=tuple(cautious))

    first = fitted(0.0)
    scatter = scatter_elsewhere(chosen, first.fits)
    return fitted(scatter) if scatter > 0.0 else first


def _fit_jobs(part: _Part, jobs: Sequence[tuple[Model, str]]) -> FitOutcome:
    quantities: dict[str, MethodQuantities] = {}
    known_lines: dict[str, RegimeLines] = {}
    fits: list[Fit] = []
    refusals: list[LeftOut] = []
    for model, method in jobs:
        if method == ONE_TO_MANY:
            if not can_fit(model, part.placed.dataset):  # as of a run that ended after its warm-up
                refusals.append(LeftOut(model.name, method, lacks(model.name, method)))
                continue
            fits.append(fit_one_to_many(model, part.measured, part.operation, part.warnings))
            continue
        if method not in quantities:
            quantities[method] = METHODS[method](part.measured)
        job = Job(
            model=model,
            method=method,
            measured=part.measured,
            quantities=quantities[method],
            changes=part.changes,
            one_sided=part.operation in ONE_SIDED,
            unlike_bytes=part.placed.unlike_bytes,
            known_lines=known_lines,
        )
        try:
            fits.append(_fit_job(job, part))
        except UsageError as error:
            refusals.append(LeftOut(model.name, method, str(error)))
    return FitOutcome(tuple(fits), tuple(refusals))


def _changes(
    dataset: Dataset, boundaries: Boundaries
) -> tuple[tuple[Change, ...], tuple[str, ...]]:
    """Where regimes end, and what the search for changes leaves in doubt."""
    doubts: tuple[str, ...] = ()
    if boundaries is None:
        return (), doubts
    if boundaries == "auto":
        from chiplog.protocol_changes.find import find_changes

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


def _fit_job(job: Job, part: _Part) -> Fit:
    """The fit of one model, with its error over what it is judged on."""
    estimator: SizeEstimator = load_reference(job.model.estimators[job.method])
    fitted = with_own_freedom(estimator(job), job.quantities_in_lines)
    unjudged = _unjudged(job, part, fitted)
    predict = predictor(unjudged)
    single, last_bytes = job.model.single_messages, fitted.parts.ranges[-1][1]
    judged = (HALF_ROUND_TRIP,) if single else (HALF_ROUND_TRIP, TRAIN)
    error = fit_error(job.measured, predict, judged, last_bytes)
    gap = None if single else job.quantities.gap
    return replace(
        unjudged,
        error=error,
        curves=tuple(_with_prediction(curve, predict) for curve in unjudged.curves),
        warnings=(*unjudged.warnings, *bad_fit(error)),
        bands=bands(fitted.parts.regimes, gap, predict, last_bytes),
    )


def _unjudged(job: Job, part: _Part, fitted: SegmentEstimates) -> Fit:
    ranges = zip(
        fitted.parts.ranges, fitted.parts.borders, fitted.estimates, fitted.forms, strict=True
    )
    segments = tuple(
        Segment(*limits, parameters_of(estimates), border, form)
        for limits, border, estimates, form in ranges
    )
    quantities = job.quantities
    used = quantities.half_round_trip.series if job.model.single_messages else quantities.series
    return Fit(
        model=job.model.name,
        method=job.method,
        transport=part.placed.dataset.transport,
        operation=part.operation,
        direction=job.model.direction,
        statistic=job.measured.statistic,
        segments=segments,
        changes=with_crossings(job.changes, segments),
        error=NOT_JUDGED,
        cost=cost_of(job.measured.series, used),
        curves=_measured_curves(job, fitted.parts.ranges[-1][1]),
        warnings=(*part.warnings, *fitted.cautions, *_unseparated(job.changes, segments)),
        draws=draws_of(fitted.estimates, REPLICATES),
        other_state_bytes=job.other_state_bytes,
        other_states=part.placed.others,
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
        quantities += (exchange_time(job.measured), receiver_time(job.measured))
    return tuple(
        measured_curve(quantity.within(0, last_bytes))
        for quantity in quantities
        if quantity.value.size
    )


def _with_prediction(curve: Curve, predict: Predictor) -> Curve:
    predicted = predicted_quantity(predict, curve.quantity, curve.message_bytes)
    return replace(curve, predicted_seconds=predicted)


def _line(segment: Segment, start: str, slope: str) -> tuple[float, float] | None:
    first, second = segment.parameters.get(start), segment.parameters.get(slope)
    if first is None or second is None or first.value is None or second.value is None:
        return None
    return first.value, second.value


def crossing_bytes(before: Segment, after: Segment) -> float | None:
    """Where the switch from `before` to `after` should be, in bytes; None if the lines never cross.

    The gap's lines g + (s-1)G are compared, as in the published tables; where a g is not identified, the half round
    trips' L_half + (s-1)G.
    """
    for start in ("g", "L_half"):
        lines = _line(before, start, "G"), _line(after, start, "G")
        if lines[0] is not None and lines[1] is not None:
            return line_crossing_bytes(lines[0], lines[1])
    return None


def with_crossings(changes: Sequence[Change], segments: Sequence[Segment]) -> tuple[Change, ...]:
    """The changes within the segments, each with the size at which the two protocols' lines cross.

    That is what the search for changes says; of given boundaries, what the segments say.
    """
    named = []
    for change in changes:
        for before, after in pairwise(segments):
            if before.last_bytes != change.last_before_bytes:
                continue
            crossing = change.crossing_bytes
            if crossing is None and not change.seen_in:
                crossing = crossing_bytes(before, after)
            named.append(replace(change, crossing_bytes=crossing))
    return tuple(named)
