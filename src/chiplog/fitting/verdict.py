"""What a fit's own check says of it: whether it predicts well, only roughly, or must not be predicted with.

All that shows a verdict or predicts asks here, so that no command uses a fit that another one rejects.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from chiplog.errors import UsageError
from chiplog.fitting.result import Fit, FitError, summarise
from chiplog.machine_state.load import MachineLoad

GOOD_MEDIAN, GOOD_FACTOR = 0.05, 1.10
"""Given: up to both, a model is said to predict: the median says how a typical point fares, the factor all of them."""
FAIR_MEDIAN, FAIR_FACTOR = 0.15, 1.25
"""Given: up to both, it is said to predict roughly; beyond, it does not describe what was measured, and is rejected."""

Quality = Literal["good", "rough", "rejected"]


def quality_of(error: FitError) -> Quality:
    """How well a model with these errors predicts; over no points it is rejected."""
    if error.median_relative <= GOOD_MEDIAN and error.mean_factor <= GOOD_FACTOR:
        return "good"
    if error.median_relative <= FAIR_MEDIAN and error.mean_factor <= FAIR_FACTOR:
        return "rough"
    return "rejected"


def busy_text(load: MachineLoad | None) -> str | None:
    """What shows that the machine was busy under a run's `load`, in a few words; None where nothing does.

    Either other programs needed CPUs that ranks had, or interruptions took as large a share of the measured time as the
    error from which a model is rejected.
    """
    if load is None or not (load.takes_cpus_from_ranks or load.lost > FAIR_MEDIAN):
        return None
    return load.text()


def rejecting_error(fit: Fit) -> FitError | None:
    """The errors for which the fit's own check rejects it; None where it stands, or was not checked.

    The check is that on held-out points and on those that it was fitted to, as far as either was made.
    """
    for error in (fit.held_out, fit.error):
        if error is not None and error.points and quality_of(error) == "rejected":
            return error
    return None


def half_round_trip_error(fit: Fit) -> FitError | None:
    """The errors over the measured half round trips of the fit's curves; None where it has none of one pair."""
    for curve in fit.curves:
        if curve.quantity == "half_round_trip":
            with np.errstate(all="ignore"):
                ratio = curve.predicted_seconds / curve.measured_seconds
            ratio = ratio[np.isfinite(ratio) & (ratio > 0.0)]
            return summarise(np.abs(ratio - 1.0), np.abs(np.log(ratio)))
    return None


def train_error(fit: Fit) -> float | None:
    """The mean relative error of trains, where they alone make the fit's check reject it; else None.

    Trains are messages sent back to back. Half round trips stand then, held out as well as fitted.
    """
    single = half_round_trip_error(fit)
    if single is None or rejecting_error(fit) is not fit.error or quality_of(single) == "rejected":
        return None
    trains = fit.error.points - single.points
    if trains <= 0:
        return None
    missed = fit.error.mean_relative * fit.error.points - single.mean_relative * single.points
    return missed / trains


def rejection(fit: Fit) -> str | None:
    """Why the fit must not be predicted with, as a clause with what to do; None where its check does not reject it."""
    error = rejecting_error(fit)
    if error is None:
        return None
    where = "where it was fitted" if error is fit.error else "on held-out points"
    mean, worst = 100.0 * error.mean_relative, 100.0 * error.max_relative
    return (
        f"{fit.model} by {fit.method} does not describe {fit.target or fit.transport}: it is off by {mean:.0f} % on "
        f"average ({worst:.0f} % at worst) {where}; {_remedy(fit)}"
    )


def cause_text(fit: Fit, name: str) -> str:
    """Of a rejected fit of the model `name`: why it is not usable and what to do, for the top of a page."""
    if fit.busy is not None:
        return f"the machine was busy ({fit.busy}); measure again when it is idle"
    trains = train_error(fit)
    if trains is not None:
        return f"{name} misses messages sent back to back by {100.0 * trains:.0f} % on average; {_remedy(fit)}"
    error = rejecting_error(fit) or fit.error
    return f"{name} is off by {100.0 * error.mean_relative:.0f} % on average; {_remedy(fit)}"


def require_usable(fit: Fit, *, anyway: bool) -> None:
    """Raises UsageError with the reason and what to measure where the fit's own check rejects it, unless `anyway`."""
    reason = None if anyway else rejection(fit)
    if reason is not None:
        raise UsageError(f"{reason}. With --anyway the fit is used all the same.")


def _remedy(fit: Fit) -> str:
    if fit.busy is not None:
        return f"the machine was busy ({fit.busy}), so measure again when it is idle"
    return (
        "compare other models with chiplog compare, or measure again with more sizes and --visits"
    )
