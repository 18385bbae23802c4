"""Which fit of a model file is written for another program, and what of it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from chiplog.errors import UsageError
from chiplog.fitting.predictions.known import refusal
from chiplog.fitting.predictions.regime import Regime
from chiplog.fitting.result import Fit
from chiplog.fitting.verdict import rejection, require_usable
from chiplog.models.registry import find_model, models_by_precedence
from chiplog.prediction.loggp import latency_is_unlimited

LINE_CHARACTERS = 76
"""Given: of a comment, behind the sign that makes it one."""


def fit_to_use(fits: Sequence[Fit], export: str, purpose: str | None = None) -> Fit:
    """The fit of the first model by precedence that lists `export` among its exports, by prtt if several methods did.

    Fits that their own check rejects come last. Raises UsageError that names the models that serve, and the `purpose`
    if that has another name.
    """
    order = [model.name for model in models_by_precedence(lambda model: export in model.exports)]
    suited = [fit for fit in fits if fit.model in order and fit.segments]
    if not suited:
        raise UsageError(
            f"{purpose or export} needs a fit of {', '.join(order[:-1])} or {order[-1]}; the model file holds none."
        )
    return min(
        suited,
        key=lambda fit: (
            rejection(fit) is not None,
            order.index(fit.model),
            fit.method != "prtt",
        ),
    )


def usable_fits(fits: Sequence[Fit], export: str, *, anyway: bool) -> tuple[Fit, ...]:
    """The fits that an export may take: without those that their own check rejects, unless `anyway`.

    Raises UsageError with the reason where nothing that serves the export is left.
    """
    if anyway:
        return tuple(fits)
    serving = [fit for fit in fits if _serves(fit, export)] or list(fits)
    if serving and all(rejection(fit) is not None for fit in serving):
        require_usable(serving[0], anyway=False)
    return tuple(fit for fit in fits if rejection(fit) is None)


def _serves(fit: Fit, export: str) -> bool:
    model = find_model(fit.model)
    return model is not None and export in model.exports


def rejection_lines(fit: Fit) -> list[str]:
    """Why the fit's own check rejects it, as lines of a comment; none of a fit that stands."""
    reason = rejection(fit)
    return (
        [] if reason is None else textwrap.wrap(f"NOT TO BE RELIED ON: {reason}.", LINE_CHARACTERS)
    )


def bounded_regimes(fit: Fit) -> tuple[Regime, ...]:
    """The fit's regimes; UsageError names a parameter that nothing bounds, which no file can hold."""
    regimes = tuple(Regime(fit, segment) for segment in range(len(fit.segments)))
    for regime in regimes:
        for symbol in regime.free:
            if regime.is_unlimited(symbol):
                raise refusal(fit, regime.segment, symbol)
        if latency_is_unlimited(regime):
            raise refusal(fit, regime.segment, "L_half")
    return regimes


def largest_eager_bytes(fits: Sequence[Fit]) -> int | None:
    """S of the first fit that identified it: a longer send waits for its receive; None where none did."""
    for fit in fits:
        measured = fit.segments[0].parameters.get("S") if fit.segments else None
        if measured is not None and measured.value:
            return int(measured.value)
    return None
