"""LogfP's parameters: o_min and o_max from the post times, then f, g and L from RTT(p).

f is an integer. Each candidate's best fit has a weighted sum of squares; its share exp(-(excess over the best)/2), over
all candidates, is how far the noise allows it. f is identified where one candidate has at least 95 % of the profile's
shares and of the replicates. f and g both need a gap that lowers the sum of squares by more than noise would, and two
measured p beyond the P* of every plausible f. The f at which RTT(p)/p is least stands beside them: that one is biased.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, ndtr

from chiplog.fitting.estimates.parameters import (
    Estimate,
    Estimates,
    fixed_at_zero,
    identified,
    interval,
    unidentified,
)
from chiplog.fitting.one_to_many.observed import ObservedToMany
from chiplog.fitting.one_to_many.profile import Array, Problem, Profile
from chiplog.fitting.one_to_many.profile import profile as profile_of_one_size
from chiplog.fitting.one_to_many.settings import FEWEST_PEERS, LOGFP_NUMBERS, PLAUSIBLE
from chiplog.fitting.regimes.line import RegimeLine, fit_line
from chiplog.fitting.result import Parameter
from chiplog.fitting.settings import ROUNDING_SHARE
from chiplog.fitting.text import seconds_text
from chiplog.models.protocol import Model
from chiplog.statistics import BEYOND_DOUBT, CONFIDENCE, TAILS

UNITS = {"L": "s", "o_min": "s", "o_max": "s", "o_r": "s", "g": "s", "f": "", "f_argmin": ""}


@dataclass(frozen=True)
class ProfiledFit:
    """The profile with its first column the fit and the others replicates, and the share of each candidate."""

    whole: Profile
    share: Array
    gap_shows: bool
    best: int


def logfp_estimates(model: Model, observed: ObservedToMany, rng: np.random.Generator) -> Estimates:
    """L, o_min, o_max, o_r (of send and receive), g, f and f_argmin at one message size."""
    del model
    totals, posts = observed.round_trips, observed.overheads
    argmin = {"f_argmin": _argmin(observed)} if totals.peers.size else {}
    if posts.peers.size < 2 or totals.peers.size < FEWEST_PEERS:
        reason = _what_is_missing(observed)
        return {
            **{name: unidentified(name, UNITS[name], reason) for name in UNITS if name != "o_r"},
            **argmin,
        }
    line = fit_line(posts.quantity, 1.0 / posts.peers, rng)
    problem = _problem(observed, line)
    fit = profiled(problem, rng)
    return {
        "L": latency_estimate(observed, fit),
        "o_min": overhead_estimate("o_min", line.intercept, line.intercept_draws),
        "o_max": overhead_estimate("o_max", line.slope, line.slope_draws),
        **_receive(observed),
        **gap_and_f(problem, fit, line),
        **argmin,
    }


def _what_is_missing(observed: ObservedToMany) -> str:
    """The sentence on too few post times or round trips."""
    if observed.overheads.peers.size < 2:
        return (
            "o(p), the time to post p sends over p, was measured for fewer than 2 values of p; from RTT(p) alone "
            "o_max and L can't be told apart."
        )
    count = observed.round_trips.peers.size
    return f"RTT(p) was measured for {count} values of p; {FEWEST_PEERS} are needed."


def _receive(observed: ObservedToMany) -> Estimates:
    if observed.one_sided:
        return {"o_r": fixed_at_zero("o_r", "s", observed.receive.draws.shape[1])}
    if not observed.receive.value.size:
        return {}
    return {
        "o_r": identified("o_r", "s", float(observed.receive.value[0]), observed.receive.draws[0])
    }


def _problem(observed: ObservedToMany, line: RegimeLine) -> Problem:
    """The fit in the first column, then the replicates."""
    totals = observed.round_trips.quantity
    p = observed.round_trips.peers.astype(np.float64)
    o_min = np.concatenate(([line.intercept], line.intercept_draws))
    o_max = np.concatenate(([line.slope], line.slope_draws))
    o = o_min + o_max / p[:, None]
    rest = np.column_stack((totals.value, totals.draws)) - o - (o_min + o_max)
    if observed.receive.value.size and not observed.one_sided:
        receive = observed.receive
        rest -= 2.0 * np.concatenate((receive.value[:1], receive.draws[0]))
    posting = (p[:, None] - 1.0) * o
    overheads_spread = (o + o_min + o_max + posting)[:, 1:].std(axis=1)
    error = np.sqrt(totals.sigma**2 + overheads_spread**2 + (ROUNDING_SHARE * totals.value) ** 2)
    return Problem(p, error**-2.0, rest, posting)


def profiled(
    problem: Problem,
    rng: np.random.Generator,
    profile: Callable[[Any, NDArray[np.int64]], Profile] = profile_of_one_size,
    fitted_parameters: int = LOGFP_NUMBERS,
) -> ProfiledFit:
    """The `profile`; where residuals are larger than the samples' noise, the replicates get as much more."""
    candidates = np.arange(1, int(problem.peers.max()) + 1)
    fitted = replace(problem, rest=problem.rest[:, :1], posting=problem.posting[:, :1])
    first = profile(fitted, candidates)
    squares = first.squares[:, 0]
    scale = max(1.0, float(squares.min()) / max(problem.peers.size - fitted_parameters, 1))
    share = np.exp(-(squares - squares.min()) / (2.0 * scale))
    # A gap has two numbers, g and f: their sum of squares is as improbable as one beyond doubt.
    least_gain = float(chdtri(2.0, 2.0 * ndtr(-BEYOND_DOUBT)))
    gap_shows = bool(squares[-1] - squares.min() > least_gain * scale)
    kept = (share > ROUNDING_SHARE) if gap_shows else share == 1.0
    kept |= np.convolve(kept, (1, 1, 1), mode="same") > 0
    kept[-1] = True
    rest = problem.rest.copy()
    missing = np.sqrt((scale - 1.0) / problem.weight)[:, None]
    rest[:, 1:] += missing * rng.standard_normal(rest[:, 1:].shape)
    whole = profile(replace(problem, rest=rest), candidates[kept])
    best = int(np.argmin(squares[kept]))
    return ProfiledFit(whole, share[kept] / share.sum(), gap_shows, best)


def at_best_f(fit: ProfiledFit, part: NDArray[np.float64] | NDArray[np.int64]) -> Array:
    """Of `part`, shape (F, 1 + B), the value at each column's best f; the last f means none with a gap."""
    row = np.argmin(fit.whole.squares, axis=0) if fit.gap_shows else np.array([len(part) - 1])
    row = np.broadcast_to(row, part.shape[1:])
    return np.asarray(np.take_along_axis(part, row[None, :], axis=0)[0], dtype=np.float64)


def latency_estimate(observed: ObservedToMany, fit: ProfiledFit) -> Estimate:
    """L, half of what the round trips leave beside overheads, posting and gaps."""
    values = at_best_f(fit, fit.whole.c) / 2.0
    low, high = interval(values[1:])
    if values[0] <= 0 or low <= 0:
        reason = (
            f"RTT(p) less the overheads leaves {seconds_text(max(low, 0.0))} to {seconds_text(high)} for L, "
            "which does not exclude 0."
        )
        return unidentified("L", "s", reason, high=max(high, 0.0))
    note = None
    if not observed.one_sided and not observed.receive.value.size:
        note = "holds o_r, which was not measured."
    return identified("L", "s", float(values[0]), values[1:], note)


def overhead_estimate(symbol: str, value: float, draws: Array) -> Estimate:
    """One of o_min and o_max, not identified where the post times show none."""
    if value <= 0:
        reason = f"the post times over p show no {symbol}: the fit gives 0."
        return unidentified(symbol, "s", reason, high=max(interval(draws)[1], 0.0))
    return identified(symbol, "s", value, draws)


def gap_and_f(problem: Problem, fit: ProfiledFit, line: RegimeLine) -> Estimates:
    """The gap and f; where one p shows a gap, but not which, both are kept as draws for predictions."""
    g = at_best_f(fit, fit.whole.g)
    f = at_best_f(fit, np.broadcast_to(fit.whole.f[:, None], fit.whole.squares.shape))
    waiting = int(fit.whole.waiting[fit.share > PLAUSIBLE, 0].min())
    if not fit.gap_shows or waiting < 2:
        reason = _no_gap(problem, fit, line)
        drawn = {"g": g[1:], "f": f[1:]} if fit.gap_shows else {"g": np.empty(0), "f": np.empty(0)}
        return {
            name: Estimate(unidentified(name, UNITS[name], reason).parameter, draws)
            for name, draws in drawn.items()
        }
    return {"g": identified("g", "s", float(g[0]), g[1:]), "f": _f(fit, f[0], f[1:])}


def _no_gap(problem: Problem, fit: ProfiledFit, line: RegimeLine) -> str:
    last = int(problem.peers.max())
    if fit.gap_shows:
        return (
            f"beyond doubt, only one measured p, {last}, lies beyond P*, from where on messages wait for the gap: "
            "f and g can't be told apart."
        )
    return (
        f"up to p = {last}, RTT(p) shows no wait beyond posting: either g <= o_min ({seconds_text(line.intercept)}), "
        "or no measured p lies beyond P*."
    )


def _f(fit: ProfiledFit, best: float, draws: Array) -> Estimate:
    low, high = np.quantile(draws, TAILS, method="inverted_cdf")
    cumulative = np.cumsum(fit.share)
    low = min(low, fit.whole.f[int(np.searchsorted(cumulative, TAILS[0]))])
    high = max(high, fit.whole.f[int(np.searchsorted(cumulative, min(TAILS[1], cumulative[-1])))])
    share = min(float(fit.share[fit.best]), float(np.mean(draws == best)))
    if share < CONFIDENCE:
        reason = (
            f"RTT(p) fits f = {low:.0f} to {high:.0f}: f = {best:.0f} fits best, but holds only {100 * share:.0f} % of "
            "the evidence; less noise, or more p beyond P*, would tell."
        )
        return Estimate(Parameter("f", None, None, None, "", False, reason), draws)
    return Estimate(Parameter("f", float(best), float(low), float(high), "", True), draws)


def _argmin(observed: ObservedToMany) -> Estimate:
    """Where RTT(p)/p is least: what is usually taken for f."""
    p = observed.round_trips.peers
    per_message = observed.round_trips.quantity.value / p
    draws = p[np.argmin(observed.round_trips.quantity.draws / p[:, None], axis=0)].astype(float)
    least = int(np.argmin(per_message))
    low, high = np.quantile(draws, TAILS, method="inverted_cdf")
    if least == p.size - 1 or high >= p[-1]:
        reason = f"within noise, RTT(p)/p falls up to the most peers measured, {p[-1]}."
        return unidentified("f_argmin", "", reason)
    note = "where RTT(p)/p is least, which is not f: it depends on L and g too."
    value = float(p[least])
    ends = min(float(low), value), max(float(high), value)
    return Estimate(Parameter("f_argmin", value, *ends, "", True, note), draws)
