"""What the plots and tables take out of a target: the fit to show first, its curves, quantiles of the raw samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from chiplog.comparison.best import best_row
from chiplog.dataset.series import Dataset, Series
from chiplog.fitting.predictions.predictor import has_tables
from chiplog.fitting.result import Curve, Fit
from chiplog.fitting.verdict import rejection
from chiplog.models.registry import find_model
from chiplog.protocol_changes.change import Change
from chiplog.report.input import TargetReport
from chiplog.report.names import fit_name, identifier, jump, kind, model_name, place
from chiplog.report.plot import PlotMark, PlotSeries

COLD = "warm-up"
"""The tag of a run's first record: kept in the file, used by nobody."""
HEADLINE_STATISTIC = "median"
SMALL_BYTES, LARGE_BYTES = 8, 4 * 2**20
"""Given: the sizes whose times stand in the overview."""
MOST_POINTS = 240
"""Given: more sizes or records than this are thinned before they are drawn: a screen shows no more."""
QUANTILES = (5.0, 25.0, 50.0, 75.0, 95.0)
"""Given: the median, the quartiles, and what is left of the samples without a twentieth at each end."""
MEDIAN = QUANTILES.index(50.0)
"""Derived: its place among them."""
METHOD_COLOURS = frozenset({"prtt", "culler", "kielmann", "bell"})
"""Methods that the page's style sheet has a colour for."""


@dataclass(frozen=True)
class HalfRoundTrips:
    """Quantiles of the raw half round trips in seconds; `quantiles` has shape (5, sizes)."""

    message_bytes: NDArray[np.int64]
    quantiles: NDArray[np.float64]
    samples: NDArray[np.int64]


def headline(target: TargetReport) -> Fit | None:
    """The fit that the verdict is about: the best on held-out points (`chiplog.comparison.best`).

    Where none were held out, LogGP by PRTT where it exists, else the next known model; one that its own check rejects
    comes after those that stand.
    """
    best = best_row([row for row in target.comparison if row.statistic == HEADLINE_STATISTIC])
    for fit in target.fits:
        if best is not None and best.judges(fit):
            return fit
    return max(
        target.fits,
        key=lambda fit: (
            fit.error.points > 0 and rejection(fit) is None,
            headline_rank(fit),
            _by_default(fit),
        ),
        default=None,
    )


def parameter_fit(target: TargetReport) -> Fit | None:
    """The fit whose parameters stand in the overview: the best; where that is a table, the best that has numbers."""
    best = headline(target)
    if best is None or not _is_table(best):
        return best
    fits = tuple(fit for fit in target.fits if fit.segments and not _is_table(fit))
    rows = tuple(row for row in target.comparison if any(map(row.judges, fits)))
    return headline(replace(target, fits=fits, comparison=rows)) or best


def _is_table(fit: Fit) -> bool:
    model = find_model(fit.model)
    return model is not None and has_tables(model)


def headline_rank(fit: Fit) -> int:
    """How much the verdict prefers the fit's model; 0 of one that is not known here."""
    model = find_model(fit.model)
    return 0 if model is None else model.headline


def _by_default(fit: Fit) -> bool:
    model = find_model(fit.model)
    return model is not None and model.headline > 0 and fit.method == next(iter(model.estimators))


def told_over_sizes(target: TargetReport) -> Fit | None:
    """The verdict's fit, if it predicts half round trips of several sizes: a single point is a number, not a plot."""
    fit = headline(target)
    round_trips = None if fit is None else curve(fit, "half_round_trip")
    return fit if round_trips is not None and len(round_trips.message_bytes) > 1 else None


def curve(fit: Fit, quantity: str) -> Curve | None:
    """The fit's curve of one quantity, if it has any points."""
    for fitted in fit.curves:
        if fitted.quantity == quantity and len(fitted.message_bytes):
            return fitted
    return None


def main_fits(target: TargetReport) -> tuple[Fit, ...]:
    """One fit a model, the first one of each, in the order given: what plots show before the reader asks for more."""
    first: dict[str, Fit] = {}
    best = headline(target)
    if best is not None:
        first[best.model] = best
    for fit in target.fits:
        first.setdefault(fit.model, fit)
    return tuple(fit for fit in target.fits if first[fit.model] is fit)


def half_round_trips(dataset: Dataset) -> HalfRoundTrips:
    """Quantiles over all visits of the bare round trip's half (or of the one-way time, where that was measured)."""
    by_size: dict[int, list[NDArray[np.float64]]] = {}
    for series in dataset.series:
        if is_bare_round_trip(series):
            by_size.setdefault(series.message_bytes, []).append(one_way_seconds(series))
    sizes = sorted(by_size)
    pooled = [np.concatenate(by_size[size]) for size in sizes]
    quantiles = np.array([np.percentile(samples, QUANTILES) for samples in pooled], dtype=float)
    return HalfRoundTrips(
        np.array(sizes, dtype=np.int64),
        quantiles.reshape(len(sizes), len(QUANTILES)).T,
        np.array([len(samples) for samples in pooled], dtype=np.int64),
    )


@dataclass(frozen=True)
class HalfRoundTrip:
    """The half round trip of one size in bytes, which may be a neighbour of the size that was asked for."""

    message_bytes: int
    seconds: float
    is_near: bool

    @property
    def bytes_per_second(self) -> float:
        """One way."""
        return self.message_bytes / self.seconds if self.seconds else float("nan")


def half_round_trip_at(target: TargetReport, message_bytes: int) -> HalfRoundTrip | None:
    """The half round trip at a size or, where it was not measured, at the nearest size within a factor of 2."""
    sizes, seconds = measured_half_round_trips(target)
    if not sizes.size:
        return None
    distances = np.abs(np.log2(np.maximum(sizes, 0.5) / message_bytes))
    nearest = int(np.argmin(distances))
    if distances[nearest] > 1.0:
        return None
    size = int(sizes[nearest])
    return HalfRoundTrip(size, float(seconds[nearest]), size != message_bytes)


def measured_half_round_trips(
    target: TargetReport,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Sizes and measured seconds: those that the verdict's fit is of, else medians over all raw samples.

    The two differ where the machine changed between states: a fit is of the state that most points met.
    """
    fit = headline(target)
    fitted = curve(fit, "half_round_trip") if fit is not None else None
    if fitted is not None:
        return fitted.message_bytes, fitted.measured_seconds
    raw = half_round_trips(target.dataset)
    return raw.message_bytes, raw.quantiles[MEDIAN]


def is_bare_round_trip(series: Series) -> bool:
    """Whether a series is PRTT(1,0,s): one message there, one back, nothing in between; or an
    imported one-way time. Rounds of all pairs are of many pairs, and of none in particular; in an exchange
    both ends send at once.
    """
    if series.pattern in ("all_pairs", "exchange"):
        return False
    bare = series.train == 1 and series.delay_seconds == 0 and len(series.seconds) > 0
    cold = series.tag.get("purpose") == COLD
    return (
        bare
        and not cold
        and (
            (series.pattern in ("prtt", "ping_pong") and series.direction == "round-trip")
            or series.direction == "one-way"
        )
    )


def one_way_seconds(series: Series) -> NDArray[np.float64]:
    """A bare series' samples as half round trips; one-way times as they are."""
    return series.seconds * (0.5 if series.direction == "round-trip" else 1.0)


def measured_trace(
    target: TargetReport, scale: Callable[[float, float], float]
) -> PlotSeries | None:
    """The measured half round trips with interval and spread; `scale(bytes, seconds)` is what is drawn of each."""
    raw = half_round_trips(target.dataset)
    x, y = measured_half_round_trips(target)
    if not len(x):
        return None
    fit = headline(target)
    fitted = curve(fit, "half_round_trip") if fit is not None else None
    low, high = (None, None) if fitted is None else (fitted.low_seconds, fitted.high_seconds)
    chosen = thinned(x, target.consensus)
    sizes = x[chosen]

    def scaled(seconds: NDArray[np.float64]) -> list[float]:
        return [scale(float(s), float(t)) for s, t in zip(sizes, seconds, strict=True)]

    return PlotSeries(
        "measured",
        "points",
        "measured",
        [float(size) for size in sizes],
        scaled(y[chosen]),
        low=None if low is None else scaled(low[chosen]),
        high=None if high is None else scaled(high[chosen]),
        spread=_spread(raw, sizes, scaled),
    )


def _spread(
    raw: HalfRoundTrips,
    sizes: NDArray[np.int64],
    scaled: Callable[[NDArray[np.float64]], list[float]],
) -> list[list[float]] | None:
    if not len(raw.message_bytes):
        return None
    index = {int(size): i for i, size in enumerate(raw.message_bytes)}
    missing = np.full(len(QUANTILES), np.nan)
    columns = [raw.quantiles[:, index[int(s)]] if int(s) in index else missing for s in sizes]
    quantiles = np.array(columns, dtype=float).reshape(len(sizes), len(QUANTILES)).T
    return list(map(scaled, np.delete(quantiles, MEDIAN, axis=0)))


def as_predicted(_: float, predicted: float, __: float) -> float:
    """The prediction itself, as a scale of `model_trace`."""
    return predicted


def model_trace(
    fit: Fit,
    quantity: str,
    name: str,
    scale: Callable[[float, float, float], float] = as_predicted,
) -> PlotSeries | None:
    """A model's line; `scale(bytes, predicted, measured)` makes of a prediction what is drawn."""
    fitted = curve(fit, quantity)
    if fitted is None:
        return None
    chosen = thinned(fitted.message_bytes, fit.changes)
    sizes = fitted.message_bytes[chosen]
    values = [
        scale(float(size), float(predicted), float(measured))
        for size, predicted, measured in zip(
            sizes, fitted.predicted_seconds[chosen], fitted.measured_seconds[chosen], strict=True
        )
    ]
    x, breaks = [float(size) for size in sizes], _breaks(fit, sizes)
    return PlotSeries(name, "line", colour_of(fit.model), x, values, breaks=breaks)


def with_band(trace: PlotSeries, fit: Fit) -> PlotSeries:
    """A model's line of half round trips with its prediction band; without one, as it is."""
    band = fit.band("half_round_trip")
    if band is None:
        return trace
    width = band.at(np.asarray(trace.x, dtype=np.int64))
    seconds = np.asarray(trace.y)
    low, high = seconds * np.maximum(1.0 - width, 0.0), seconds * (1.0 + width)
    return replace(trace, low=low.tolist(), high=high.tolist(), area=True)


def model_lines(
    target: TargetReport,
    scale: Callable[[float, float, float], float] = as_predicted,
    *,
    dots: bool = False,
) -> list[PlotSeries]:
    """Each model's line of the half round trip; the verdict's model by further methods waits in the legend."""
    main = main_fits(target)
    traces: list[PlotSeries] = []
    chosen = headline(target)
    for fit in target.fits:
        first = any(fit is main_fit for main_fit in main)
        if not first and (chosen is None or fit.model != chosen.model):
            continue
        name = model_name(fit.model) if first else fit_name(fit)
        trace = model_trace(fit, "half_round_trip", name, scale)
        if trace is not None and np.isfinite(trace.y).any():
            colour = colour_of(fit.model if first else fit.method)
            traces.append(replace(trace, visible=first, colour=colour, dots=dots))
    return traces


def coincides(fit: Fit, other: Fit, quantity: str) -> bool:
    """Whether two fits predict the same to 1 %: a second line would hide the first."""
    first, second = curve(fit, quantity), curve(other, quantity)
    if (
        first is None
        or second is None
        or not np.array_equal(first.message_bytes, second.message_bytes)
    ):
        return False
    return np.allclose(first.predicted_seconds, second.predicted_seconds, rtol=0.01, atol=0.0)


def colour_of(name: str) -> str:
    """The page's name for the colour of a model or method."""
    known = name in METHOD_COLOURS or find_model(name) is not None
    return identifier(name) if known else "other"


def thinned(
    sizes: NDArray[np.int64], changes: Sequence[Change], most: int = MOST_POINTS
) -> NDArray[np.intp]:
    """Indices of about `most` sizes at most: evenly taken, with both ends and the neighbours of each change."""
    if len(sizes) <= most:
        return np.arange(len(sizes), dtype=np.intp)
    even = np.linspace(0, len(sizes) - 1, most).round().astype(np.intp)
    edges: list[int] = []
    for change in changes:
        at = int(np.searchsorted(sizes, change.first_after_bytes))
        edges += [i for i in (at - 1, at) if 0 <= i < len(sizes)]
    return np.unique(np.concatenate([even, np.array(edges, dtype=np.intp)]))


def change_marks(changes: Sequence[Change]) -> tuple[PlotMark, ...]:
    """Marks for protocol changes, and for where the switch should be."""
    marks = []
    for change in changes:
        words = f"{place(change)}: {kind(change)}"
        if change.relative_jump is not None:
            words += f" {jump(change)}"
        marks.append(PlotMark(change.last_before_bytes, change.first_after_bytes, words))
    for change in changes:
        if change.crossing_bytes is not None and change.is_crossing_measured:
            label = f"lines cross at {change.crossing_bytes:,.0f} B"
            marks.append(PlotMark(change.crossing_bytes, change.crossing_bytes, label, "crossing"))
    return tuple(marks)


def _breaks(fit: Fit, sizes: NDArray[np.int64]) -> tuple[int, ...]:
    """The indices of the sizes at which another segment begins."""
    starts = [segment.first_bytes for segment in fit.segments[1:]]
    indices = {int(np.searchsorted(sizes, start)) for start in starts}
    return tuple(sorted(i for i in indices if 0 < i < len(sizes)))
