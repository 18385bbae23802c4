"""Which method fits a model to which series."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from chiplog.dataset.series import Dataset
from chiplog.errors import UsageError
from chiplog.fit.measured import Measured
from chiplog.fit.methods.bell import bell
from chiplog.fit.methods.culler import culler
from chiplog.fit.methods.kielmann import kielmann
from chiplog.fit.methods.prtt import prtt
from chiplog.fit.methods.quantities import MethodQuantities
from chiplog.fit.one_to_many.run import MODELS, ONE_TO_MANY, can_fit, needed
from chiplog.fit.pairs.run import METHODS as PAIR_METHODS

PAIRS = "pairs"
METHODS: Mapping[str, Callable[[Measured], MethodQuantities]] = {
    "prtt": prtt,
    "culler": culler,
    "kielmann": kielmann,
    "bell": bell,
}
METHODS_OF: Mapping[str, tuple[str, ...]] = {
    "hockney": ("prtt",),
    "logp": ("prtt", "culler", "bell", ONE_TO_MANY),
    "loggp": ("prtt", "culler", "bell"),
    "loggps": ("prtt", "culler", "bell"),
    "loggops": ("prtt", "culler", "bell"),
    "plogp": ("kielmann",),
    "lop": (ONE_TO_MANY,),
    "lop-overhead": (ONE_TO_MANY,),
    "logfp": (ONE_TO_MANY,),
    "postal": ("k=all", "k=1", "k=max"),
    "max-rate": ("k=all",),
    "max-rate-4": ("k=all",),
    "max-rate-modified": ("k=all",),
}
"""Which methods can give a model's parameters, the default one first."""


def methods_of(model: str, method: str | None) -> tuple[str, ...]:
    """The methods to use for a model: the named one, its default, or `all` of them.

    Raises UsageError for a method that can't give the model's parameters; it names those that can.
    """
    known = METHODS_OF.get(model, ())
    if method is None:
        return known[:1]
    if method == "all":
        return known
    methods = (*METHODS, ONE_TO_MANY, *PAIR_METHODS)
    if method not in methods:
        raise UsageError(
            f"method: '{method}' is unknown; it accepts " + ", ".join((*methods, "all")) + "."
        )
    if method not in known:
        raise UsageError(
            f"method: {model} can't be fitted by {method}; it accepts " + ", ".join(known) + "."
        )
    return (method,)


def of_pairs(model: str) -> bool:
    """Whether a model is fitted to k pairs of processes."""
    return any(method in PAIR_METHODS for method in METHODS_OF.get(model, ()))


def suited_methods(model: str, method: str | None, dataset: Dataset) -> tuple[str, ...]:
    """The methods to use for a model on one operation's series: those that the series are made for."""
    if of_pairs(model):
        has_pairs = any(one.pattern == PAIRS for one in dataset.series)
        return methods_of(model, method) if has_pairs else ()
    over_peers = model in MODELS and can_fit(model, dataset)
    by_size = any(one.pattern in ("prtt", "ping_pong", "flood") for one in dataset.series)
    if method is None and over_peers and not by_size:
        return (ONE_TO_MANY,)
    return tuple(
        name
        for name in methods_of(model, method)
        if (over_peers if name == ONE_TO_MANY else by_size or not _only_over_peers(dataset))
    )


def _only_over_peers(dataset: Dataset) -> bool:
    return any(one.pattern == "one_to_many" for one in dataset.series)


def lacks(model: str, method: str) -> str:
    """The sentence on a run that holds nothing that the model could be fitted to by the method."""
    if of_pairs(model):
        what = "series of the pattern pairs (one-way or round-trip, no train)"
    else:
        what = needed(model) if method == ONE_TO_MANY else "round trips (prtt or ping_pong)"
    return f"the run lacks {what}."
