"""Several message sizes: one parameter set with costs per byte where that predicts, else a fit of each size.

Both are held against times that they were not fitted to: numbers of peers that are held out at all sizes, dealt out in
turn, and, from three sizes on, whole sizes for the one set. The one set has fewer parameters; so it is taken unless it
is surely worse, by a paired t test of the errors |ln(predicted/measured)|.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit  # scipy.stats takes a second to load

from chiplog.fitting.estimates.parameters import Estimate
from chiplog.fitting.one_to_many.observed import (
    ObservedToMany,
    OverPeers,
    PeersEstimator,
    SizesEstimator,
)
from chiplog.fitting.one_to_many.settings import FEW_REPLICATES
from chiplog.fitting.settings import FEWEST_SIZES, FOLDS
from chiplog.models.protocol import Model, points
from chiplog.plugins import load_reference
from chiplog.statistics import TAILS

Array = NDArray[np.float64]
Estimates = Mapping[str, Estimate]


@dataclass(frozen=True)
class HeldOutErrors:
    """|ln(predicted/measured)| of the same points by a fit of each size and by the one set, shape (points,)."""

    by_size: Array
    together: Array

    @property
    def is_surely_worse(self) -> bool:
        """Is the one set worse, or not to be judged?"""
        difference = self.together - self.by_size
        count = difference.size
        if count < 2:
            return True
        error = float(difference.std(ddof=1)) / np.sqrt(count)
        return bool(difference.mean() > stdtrit(count - 1, TAILS[1]) * error)


@dataclass(frozen=True)
class SizesTogether:
    """The estimates of the one set, or None, and what a reader must be told of that choice."""

    estimates: Estimates | None
    sentences: tuple[str, ...] = ()


def fit_sizes_together(
    model: Model, observed: Sequence[ObservedToMany], pattern: str, rng: np.random.Generator
) -> SizesTogether:
    """One parameter set for all sizes, if there are several and it predicts; `pattern` is what is judged."""
    if len(observed) < 2 or model.sizes_estimator is None:
        return SizesTogether(None)
    together: SizesEstimator = load_reference(model.sizes_estimator)
    by_size: PeersEstimator = load_reference(model.estimators["one-to-many"])
    few = [_with_draws(observation, FEW_REPLICATES) for observation in observed]
    judged = [_held_out_peers(model, few, pattern, by_size, together, rng)]
    if len(few) >= FEWEST_SIZES:
        errors = _held_out_sizes(model, few, pattern, together, rng)
        judged.append(_paired(judged[0].by_size, errors))
    for held_out_errors in judged:
        if held_out_errors.is_surely_worse:
            return SizesTogether(
                None, _reason(model, _paired(held_out_errors.by_size, held_out_errors.together))
            )
    return SizesTogether(together(model, observed, rng))


def _reason(model: Model, errors: HeldOutErrors) -> tuple[str, ...]:
    if errors.by_size.size < 2:
        return ()
    together, by_size = (
        100.0 * np.expm1(np.median(misses)) for misses in (errors.together, errors.by_size)
    )
    return (
        f"No cost per byte joins the sizes: one {model.label} for all of them misses held-out times by "
        f"{together:.2g} % (median), a fit of each size by {by_size:.2g} %. They stand side by side.",
    )


def _paired(by_size: Array, together: Array) -> HeldOutErrors:
    """The errors where both have a prediction."""
    known = np.isfinite(by_size) & np.isfinite(together)
    return HeldOutErrors(by_size[known], together[known])


def _held_out_peers(
    model: Model,
    observed: Sequence[ObservedToMany],
    pattern: str,
    by_size: PeersEstimator,
    together: SizesEstimator,
    rng: np.random.Generator,
) -> HeldOutErrors:
    """Each number of peers is predicted by fits without it; NaN where there is no prediction."""
    peers = np.unique(
        np.concatenate([_judged(observation, pattern).peers for observation in observed])
    )
    errors = [
        np.full((2, _judged(observation, pattern).peers.size), np.nan) for observation in observed
    ]
    for fold in range(FOLDS):
        held_out = peers[fold::FOLDS]
        kept = [_without(observation, held_out) for observation in observed]
        if any(not _judged(observation, pattern).peers.size for observation in kept):
            continue
        joined = together(model, kept, rng)
        for number, observation in enumerate(observed):
            chosen = np.isin(_judged(observation, pattern).peers, held_out)
            rivals = (by_size(model, kept[number], rng), joined)
            for row, estimates in enumerate(rivals):
                if estimates is not None:
                    missed = _errors(model, pattern, observation, estimates)
                    errors[number][row, chosen] = missed[chosen]
    whole = np.concatenate(errors, axis=1)
    return HeldOutErrors(whole[0], whole[1])


def _held_out_sizes(
    model: Model,
    observed: Sequence[ObservedToMany],
    pattern: str,
    together: SizesEstimator,
    rng: np.random.Generator,
) -> Array:
    """The errors of the one set at each size, fitted to all others."""
    errors = []
    for number, observation in enumerate(observed):
        others = [*observed[:number], *observed[number + 1 :]]
        estimates = together(model, others, rng)
        unknown = np.full(_judged(observation, pattern).peers.size, np.nan)
        errors.append(
            unknown if estimates is None else _errors(model, pattern, observation, estimates)
        )
    return np.concatenate(errors)


def _judged(observed: ObservedToMany, pattern: str) -> OverPeers:
    return observed.overheads if pattern == "send_overhead" else observed.round_trips


def _errors(model: Model, pattern: str, observed: ObservedToMany, estimates: Estimates) -> Array:
    """|ln(predicted/measured)| at all numbers of peers of a size; NaN without a prediction."""
    over = _judged(observed, pattern)
    factor = over.peers if pattern == "send_overhead" else np.ones(over.peers.size)
    theta = {
        name: value for name, part in estimates.items() if (value := _middle(part)) is not None
    }
    try:
        predicted = model.seconds(points(pattern, observed.message_bytes, peers=over.peers), theta)
    except KeyError:
        return np.full(over.peers.shape, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.abs(np.log(predicted / factor / over.quantity.value)))


def _middle(estimate: Estimate) -> float | None:
    """The value, or the middle of what the draws of a parameter that is not identified leave."""
    if estimate.parameter.value is not None:
        return estimate.parameter.value
    known = estimate.draws[np.isfinite(estimate.draws)]
    return float(np.median(known)) if known.size else None


def _with_draws(observed: ObservedToMany, count: int) -> ObservedToMany:
    """The same with the first of its bootstrap replicates only."""

    def cut(over: OverPeers) -> OverPeers:
        return replace(over, quantity=replace(over.quantity, draws=over.quantity.draws[:, :count]))

    receive = replace(observed.receive, draws=observed.receive.draws[:, :count])
    return replace(
        observed,
        round_trips=cut(observed.round_trips),
        overheads=cut(observed.overheads),
        receive=receive,
    )


def _without(observed: ObservedToMany, peers: NDArray[np.int64]) -> ObservedToMany:
    """What is left when some numbers of peers were not measured; o(1) stays, as it is part of every round trip."""

    def cut(over: OverPeers, *, keeps_first: bool) -> OverPeers:
        kept = ~np.isin(over.peers, peers) | ((over.peers == 1) & keeps_first)
        return OverPeers(over.peers[kept], over.quantity.subset(kept))

    has_trips = bool(observed.round_trips.peers.size)
    return replace(
        observed,
        round_trips=cut(observed.round_trips, keeps_first=False),
        overheads=cut(observed.overheads, keeps_first=has_trips),
    )
