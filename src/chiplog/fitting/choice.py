"""Which method fits a model to which series, and which part of a dataset a fit is made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from chiplog.dataset.operations import NORMAL
from chiplog.dataset.series import Dataset, Series
from chiplog.errors import UsageError
from chiplog.fitting.estimates.job import NO_ROUND_TRIPS
from chiplog.fitting.one_to_many.fitting import can_fit, needed
from chiplog.fitting.quantities.by_method import (
    ONE_TO_MANY,
    PAIR_METHODS,
    MethodQuantities,
    bell,
    culler,
    kielmann,
    prtt,
)
from chiplog.fitting.quantities.measured import MeasuredSeries
from chiplog.fitting.result import Fit
from chiplog.models.registry import load_model

PAIRS, FLOOD, RECEIVES = "pairs", "flood", "receive_overhead"
METHODS: Mapping[str, Callable[[MeasuredSeries], MethodQuantities]] = {
    "prtt": prtt,
    "culler": culler,
    "kielmann": kielmann,
    "bell": bell,
}
"""The quantities over size by each method."""
FIRST_MODELS = {
    "prtt": "loggp",
    "ping_pong": "loggp",
    "one_to_many": "logp",
    PAIRS: "max-rate",
    FLOOD: "plogp",
}
"""Patterns, and the model that is fitted to them where the user names none; the first that was measured counts."""
OF_ONE_NUMBER_OF_PAIRS = "postal"
ALL_METHODS = (*METHODS, ONE_TO_MANY, *PAIR_METHODS)


def fitting_methods(model: str) -> tuple[str, ...]:
    """The methods that can give a model's parameters, the default one first.

    Raises UsageError for an unknown model, and for one that names a method that there is not.
    """
    for method in load_model(model).estimators:
        if method not in ALL_METHODS:
            raise UsageError(
                f"model {model} names an estimator of method '{method}'; there are {', '.join(ALL_METHODS)}."
            )
    return tuple(load_model(model).estimators)


def methods_of(model: str, method: str | None) -> tuple[str, ...]:
    """The methods to use for a model: the named one, its default, or `all` of them.

    Raises UsageError for a method that can't give the model's parameters; it names those that can.
    """
    known = fitting_methods(model)
    if method is None:
        return known[:1]
    if method == "all":
        return known
    if method not in ALL_METHODS:
        raise UsageError(
            f"method: '{method}' is unknown; it accepts " + ", ".join((*ALL_METHODS, "all")) + "."
        )
    if method not in known:
        raise UsageError(
            f"method: {model} can't be fitted by {method}; it accepts " + ", ".join(known) + "."
        )
    return (method,)


def of_pairs(model: str) -> bool:
    """Whether a model is fitted to k pairs of processes."""
    return any(method in PAIR_METHODS for method in fitting_methods(model))


def first_model(dataset: Dataset) -> str | None:
    """The model that is fitted where the user names none; None where no model can be fitted to the dataset."""
    measured = {
        series.pattern
        for series in dataset.series
        if series.pattern != FLOOD or series.train > 1  # a gap needs several messages
    }
    name = next((model for pattern, model in FIRST_MODELS.items() if pattern in measured), None)
    if name == FIRST_MODELS[PAIRS] and _is_one_number(dataset):
        return OF_ONE_NUMBER_OF_PAIRS
    return name


def _is_one_number(dataset: Dataset) -> bool:
    """Whether all series of pairs are of the same number of them."""
    return len({series.pairs for series in dataset.series if series.pattern == PAIRS}) == 1


def suited_methods(model: str, method: str | None, dataset: Dataset) -> tuple[str, ...]:
    """The methods to use for a model on one operation's series: those that the series are made for."""
    if of_pairs(model):
        has_pairs = any(series.pattern == PAIRS for series in dataset.series)
        return methods_of(model, method) if has_pairs else ()
    over_peers = can_fit(load_model(model), dataset)
    by_size = any(series.pattern in ("prtt", "ping_pong", "flood") for series in dataset.series)
    if method is None and over_peers and not by_size:
        return (ONE_TO_MANY,)
    return tuple(
        name
        for name in methods_of(model, method)
        if (over_peers if name == ONE_TO_MANY else by_size or not _only_over_peers(dataset))
    )


def _only_over_peers(dataset: Dataset) -> bool:
    return any(series.pattern == "one_to_many" for series in dataset.series)


def lacks(model: str, method: str) -> str:
    """The sentence on a run that holds nothing that the model could be fitted to by the method."""
    if of_pairs(model):
        return "the run lacks series of the pattern pairs (one-way or round-trip, no train)."
    return (
        f"the run lacks {needed(load_model(model))}." if method == ONE_TO_MANY else NO_ROUND_TRIPS
    )


def like_the_fit(dataset: Dataset, fit: Fit) -> Dataset:
    """The series that could have been fitted with those of `fit`: of its operation, posting, placement and groups."""

    def alike(series: Series) -> bool:
        part = (series.operation, series.posting, series.placement)
        if part != (fit.operation, fit.posting, fit.placement):
            return False
        return fit.convention is None or (series.between, series.direction) == (
            fit.between,
            fit.convention,
        )

    return replace(dataset, series=tuple(filter(alike, dataset.series)))


def with_receives(dataset: Dataset, chosen: Dataset) -> Dataset:
    """`chosen`, of one operation and posting, with receives of messages that were posted normally, if it has none.

    How a message was handed over makes no difference to its receiver.
    """
    first = chosen.series[0]
    if any(series.pattern == RECEIVES for series in chosen.series) or first.posting == NORMAL:
        return chosen
    lent = [
        series
        for series in dataset.select(pattern=RECEIVES, operation=first.operation).series
        if (series.posting, series.placement) == (NORMAL, first.placement)
    ]
    return replace(chosen, series=(*chosen.series, *lent))
