"""The fit of models to a dataset: `chiplog fit` as a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from chiplog.counts import seed_within
from chiplog.dataset.disturbance import disturbance, oversubscription
from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.fitting.by_size import fit_one_pair
from chiplog.fitting.choice import lacks, methods_of, of_pairs, suited_methods, with_receives
from chiplog.fitting.origin import with_origin
from chiplog.fitting.pairs.fitting import fit_pairs
from chiplog.fitting.quantities.settings import REPLICATES
from chiplog.fitting.request import Boundaries, FitOutcome, FitRequest, LeftOut
from chiplog.fitting.result import Fit
from chiplog.fitting.verdict import busy_text
from chiplog.machine_state.load import machine_load
from chiplog.models.protocol import Model
from chiplog.models.registry import MODELS, load_model


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
    request = FitRequest(models, method, boundaries, statistic, seed, replicates)
    outcome = fit_all(dataset, request)
    known = {fit.model for fit in outcome.fits}
    for left_out in outcome.left_out:
        if left_out.model not in known and not (method == "all" and known):
            raise UsageError(left_out.sentence)
    return outcome.fits


def fit_all(dataset: Dataset, request: FitRequest) -> FitOutcome:
    """As `fit`, but a model that has nothing to say about the dataset is left out, with the reason.

    Raises UsageError for an unknown model, method or statistic, and for a dataset without series.
    """
    seed_within("--seed", request.seed)
    models = {name: load_model(name) for name in request.models}
    for name in models:
        methods_of(name, request.method)
    if not dataset.series:
        raise UsageError(f"{dataset.source}: there are no series to fit.")
    parts = dataset.apart("operation", "posting", "placement").values()
    outcome = FitOutcome.joined(
        _fit_part(with_receives(dataset, part), models, request) for part in parts
    )
    disturbances = (oversubscription(dataset.header), disturbance(dataset.series))
    sentences = tuple(finding.sentence() for finding in disturbances if finding is not None)
    busy = busy_text(machine_load(dataset))
    fits = [replace(fit, warnings=(*sentences, *fit.warnings), busy=busy) for fit in outcome.fits]
    return FitOutcome(with_origin(dataset.header, fits), _left_out(request, outcome))


def models_for(dataset: Dataset) -> tuple[str, ...]:
    """The names of the models that can be fitted to `dataset`."""
    measured = {series.pattern for series in dataset.series}
    return tuple(
        model.name
        for model in MODELS.all()
        if measured & set(model.patterns) and suited_methods(model.name, None, dataset)
    )


def _fit_part(part: Dataset, models: Mapping[str, Model], request: FitRequest) -> FitOutcome:
    """The fits to the series of one operation, posting and placement."""
    jobs = [
        (model, method)
        for name, model in models.items()
        for method in suited_methods(name, request.method, part)
    ]
    of_many = [job for job in jobs if of_pairs(job[0].name)]
    of_one = [job for job in jobs if not of_pairs(job[0].name)]
    outcomes = [fit_one_pair(part, of_one, request)] if of_one else []
    if of_many:
        groups = part.select(pattern="pairs").apart("between", "direction").values()
        outcomes += [_fit_pairs(group, of_many, request) for group in groups]
    outcome = FitOutcome.joined(outcomes)
    first, launches = part.series[0], len({series.launch for series in part.series})
    fits = (
        replace(fit, placement=first.placement, posting=first.posting, launches=launches)
        for fit in outcome.fits
    )
    return replace(outcome, fits=tuple(fits))


def _fit_pairs(
    dataset: Dataset, jobs: Sequence[tuple[Model, str]], request: FitRequest
) -> FitOutcome:
    """The fits of the models of k pairs: all at once or, where one refuses, of each that does not.

    Changes that were found between two ranks are not theirs: k pairs have protocols of their own.
    """
    limits: list[int] | Literal["auto"] | None = None
    if request.boundaries is not None:
        given = [boundary for boundary in request.boundaries if isinstance(boundary, int)]
        limits = given or "auto"
    try:
        return FitOutcome(
            fit_pairs(
                dataset, jobs, boundaries=limits, statistic=request.statistic, seed=request.seed
            )
        )
    except UsageError as error:
        if len(jobs) == 1:
            model, method = jobs[0]
            return FitOutcome(left_out=(LeftOut(model.name, method, str(error)),))
    return FitOutcome.joined(_fit_pairs(dataset, [job], request) for job in jobs)


def _left_out(request: FitRequest, outcome: FitOutcome) -> tuple[LeftOut, ...]:
    """What was refused and not fitted to another part either, and the models that no part was made for."""
    known = {(fit.model, fit.method) for fit in outcome.fits}
    refusals = {(refusal.model, refusal.method): refusal for refusal in outcome.left_out}
    left_out = [refusal for key, refusal in refusals.items() if key not in known]
    named = {refusal.model for refusal in left_out} | {model for model, _ in known}
    left_out += [
        LeftOut(name, methods[0], lacks(name, methods[0]))
        for name in dict.fromkeys(request.models)
        if name not in named and (methods := methods_of(name, request.method))
    ]
    return tuple(left_out)
