"""k pairs of processes at once: advice, parameters, bandwidth over k, and maps of times and errors over (k, size)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from chiplog.fitting.quantities.by_method import EVERY_K
from chiplog.fitting.result import Curve, Fit
from chiplog.models.registry import find_model
from chiplog.report import format
from chiplog.report.document import (
    Bullets,
    Figure,
    HeatCell,
    HeatMap,
    Inline,
    Panels,
    Section,
    Table,
    line,
    muted,
    number_columns,
    plain,
    text_columns,
)
from chiplog.report.input import TargetReport
from chiplog.report.many import line_trace, opening, pairs_curves, ranks, run_of
from chiplog.report.measured import colour_of
from chiplog.report.names import model_name, of_pairs, parameter_symbol, sizes
from chiplog.report.parameter_text import is_known, not_identified, short
from chiplog.report.patterns.run import spread
from chiplog.report.plot import Axis, Plot, PlotSeries
from chiplog.report.sections import errors

SYMBOLS = ("s0", "R_C", "R_Cb", "R_Ci", "R_N", "k_sat", "s_k", "G_k", "g_N")
MOST_PLOTS, MOST_ROWS = 6, 32
"""Given: what a page has room for."""
MOST_BESIDE = 18
"""Given: maps with more columns than this don't stand side by side."""
ERROR_LIMITS = (0.05, 0.10, 0.20, 0.50)
"""Given: where the colours of the map of errors begin, as its legend says."""
FACTOR_LIMITS = (1.1, 1.5, 2.0, 4.0)
"""Given: where the colours of the map of times begin, as its legend says."""
MOST_PER_CENT = 999
"""Given: what a cell has room for."""


def section(target: TargetReport, key: str) -> Section | None:
    """Advice, parameters, errors, plots and maps; None where no pairs were measured."""
    run = run_of(target, "pairs")
    if run is None or missing(target) is not None:
        return None
    fits = _fits(run)
    main = [fit for fit in fits if fit.method == EVERY_K]
    blocks = opening(run)
    if main:
        blocks.append(Bullets(tuple(_advice(main))))
        blocks.append(_parameters(fits))
        compared = [row for row in run.comparison if of_pairs(row.method)]
        blocks += [errors.table(compared)] if compared else []
        blocks.append(Panels(_plots(main, key)))
        blocks.append(_measured_map(main[0]))
        maps = tuple(_error_map(fit) for fit in main)
        blocks += [Panels(maps)] if len(maps[0].columns) <= MOST_BESIDE else maps
    title = line(plain("Many pairs", term="pairs"))
    return Section(f"{key}-pairs", title, tuple(blocks)) if blocks else None


def missing(target: TargetReport) -> Inline | None:
    """Why there is nothing to show, and what would show it; None where there is, or where it was not asked for."""
    run = run_of(target, "pairs")
    main = [] if run is None else [fit for fit in _fits(run) if fit.method == EVERY_K]
    if run is None or run.failure or not main or len(pairs_curves(main[0])) > 1:
        return None
    return line(
        plain("Many pairs", term="pairs"),
        f", and what a node sends in all (R_N): k = {min(pairs_curves(main[0]))} only, {ranks(run)}; more ranks "
        "(--ranks 8) or hosts (--launcher) would show it.",
    )


def _fits(run: TargetReport) -> list[Fit]:
    return [fit for fit in run.fits if of_pairs(fit.method) and pairs_curves(fit)]


def _advice(main: Sequence[Fit]) -> list[Inline]:
    """What a designer takes from the closest fit that knows the node's rate, and how close it is."""
    closest = min(
        (fit for fit in main if fit.advice), key=lambda fit: fit.error.mean_relative, default=None
    )
    if closest is None:
        return [line("No model says how many senders of a node help.")]
    error = format.percent(closest.error.mean_relative)
    last = line(
        muted(f"By {model_name(closest.model)}, off by {error} on average where it was fitted.")
    )
    return [*(line(sentence) for sentence in closest.advice), last]


def _parameters(fits: Sequence[Fit]) -> Table:
    """One row a protocol and model; the reasons of what is not identified stand below, each once."""
    symbols = [
        name
        for name in SYMBOLS
        if any(name in segment.parameters for fit in fits for segment in fit.segments)
    ]
    columns = (
        *text_columns("Sizes", "Model"),
        *number_columns(*map(parameter_symbol, symbols)),
    )
    places = list(
        dict.fromkeys((s.first_bytes, s.last_bytes) for fit in fits for s in fit.segments)
    )
    rows: list[tuple[Inline, ...]] = []
    reasons: dict[tuple[str, str], list[str]] = {}
    for place in sorted(places):
        of_place = [
            (f, s) for f in fits for s in f.segments if (s.first_bytes, s.last_bytes) == place
        ]
        for number, (fit, segment) in enumerate(of_place):
            cells = (short(segment.parameters.get(name)) for name in symbols)
            rows.append((line(sizes(*place)) if number == 0 else (), line(_name(fit)), *cells))
            for name, parameter in segment.parameters.items():
                if not is_known(parameter):
                    scopes = reasons.setdefault((name, not_identified(parameter)), [])
                    scopes.append(f"{sizes(*place)} ({_name(fit)})")
    notes = tuple(
        line(parameter_symbol(name), muted(f" of {', '.join(where)}: {reason}."))
        for (name, reason), where in reasons.items()
    )
    caption = line(
        f"Half round trips of k pairs, the slowest pair's, fitted on the {fits[0].statistic}, with ",
        plain("95 % intervals", term="interval"),
        "; k_sat is the number of pairs at which the node saturates.",
    )
    return Table(caption, columns, tuple(rows), notes)


def _name(fit: Fit) -> str:
    model = find_model(fit.model)
    several = model is not None and len(model.estimators) > 1
    return f"{model_name(fit.model)} ({fit.method})" if several else model_name(fit.model)


def _sizes(fit: Fit) -> list[int]:
    curves = pairs_curves(fit).values()
    return sorted({int(size) for curve in curves for size in curve.message_bytes})


def _plots(main: Sequence[Fit], key: str) -> tuple[Figure, ...]:
    chosen = spread([size for size in _sizes(main[0]) if size > 0], MOST_PLOTS)
    return tuple(_plot(main, size, key) for size in chosen)


def _plot(main: Sequence[Fit], size: int, key: str) -> Figure:
    k, measured, low, high = _over_k(
        main[0], size, "measured_seconds", "low_seconds", "high_seconds"
    )
    rate = _rate(size, k)
    traces: list[PlotSeries] = [
        PlotSeries(
            "measured", "points", "measured", k, rate(measured), low=rate(high), high=rate(low)
        )
    ]
    for fit in main:
        k, predicted = _over_k(fit, size, "predicted_seconds")
        trace = line_trace(
            model_name(fit.model), colour_of(fit.model), k, _rate(size, k)(predicted)
        )
        if trace is not None:
            traces.append(trace)
    plot = Plot(
        f"{key}-pairs-{size}",
        Axis("pairs k", "", ("linear",)),
        Axis("all pairs together", "B/s", ("linear", "log")),
        tuple(traces),
        reference="measured",
    )
    caption = line("k times the size over the slowest pair's median half round trip, one way.")
    return Figure(f"Messages of {format.message_size(size)}", caption, plot)


def _over_k(fit: Fit, size: int, *names: str) -> list[list[float]]:
    """The numbers of pairs measured at a size, then the values of each named array of the curves."""
    rows_of_k = [
        (k, pairs_curve, _row(pairs_curve, size)) for k, pairs_curve in pairs_curves(fit).items()
    ]
    known = [(k, curve, row) for k, curve, row in rows_of_k if row is not None]
    values = [[float(getattr(curve, name)[row]) for _, curve, row in known] for name in names]
    return [[float(k) for k, _, _ in known], *values]


def _row(curve: Curve, size: int) -> int | None:
    rows = np.flatnonzero(curve.message_bytes == size)
    return int(rows[0]) if rows.size else None


def _rate(size: int, k: Sequence[float]) -> Callable[[Sequence[float]], list[float]]:
    return lambda seconds: [
        count * size / taken if taken > 0 else math.nan
        for count, taken in zip(k, seconds, strict=True)
    ]


def _measured_map(fit: Fit) -> HeatMap:
    fewest = min(pairs_curves(fit))

    def cell(k: int, size: int) -> HeatCell:
        alone, here = _at(fit, fewest, size), _at(fit, k, size)
        if here is None:
            return HeatCell(format.NOTHING)
        factor = here[0] / alone[0] if alone is not None and alone[0] > 0 else math.nan
        level = sum(factor > limit for limit in FACTOR_LIMITS)
        return HeatCell(format.brief(here[0], "s"), level)

    legend = [HeatCell(f"up to ×{FACTOR_LIMITS[0]:g}")]
    legend += [HeatCell(f"above ×{limit:g}", i + 1) for i, limit in enumerate(FACTOR_LIMITS)]
    caption = line(
        f"Median half round trip of the slowest pair; coloured by how many times that of k = {fewest} it is."
    )
    return _map("Measured", caption, fit, cell, legend)


def _error_map(fit: Fit) -> HeatMap:
    def cell(k: int, size: int) -> HeatCell:
        measured_and_predicted = _at(fit, k, size)
        if (
            measured_and_predicted is None
            or not math.isfinite(measured_and_predicted[1])
            or measured_and_predicted[0] <= 0
        ):
            return HeatCell(format.NOTHING)
        error = measured_and_predicted[1] / measured_and_predicted[0] - 1.0
        level = sum(abs(error) > limit for limit in ERROR_LIMITS)
        return HeatCell(_per_cent(error), level if error > 0 else -level)

    levels = [*range(-len(ERROR_LIMITS), 0), 0, *range(1, len(ERROR_LIMITS) + 1)]
    legend = [HeatCell(_words(level), level) for level in levels]
    caption = line("(predicted − measured) / measured, per cent: + too slow, − too fast.")
    return _map(model_name(fit.model), caption, fit, cell, legend)


def _words(level: int) -> str:
    if level == 0:
        return f"within {100 * ERROR_LIMITS[0]:g} %"
    limit = f"{100 * ERROR_LIMITS[abs(level) - 1]:g} %"
    return f"> +{limit}" if level > 0 else f"< −{limit}"


def _per_cent(error: float) -> str:
    """A whole number with its sign; what is beyond three digits is said to be."""
    number = round(100.0 * error)
    if number > MOST_PER_CENT:
        return f">+{MOST_PER_CENT}"
    return "0" if number == 0 else f"{number:+d}".replace("-", "−")


def _at(fit: Fit, k: int, size: int) -> tuple[float, float] | None:
    """Measured and predicted seconds; None where it was not measured."""
    curve = pairs_curves(fit).get(k)
    row = None if curve is None else _row(curve, size)
    if curve is None or row is None:
        return None
    return float(curve.measured_seconds[row]), float(curve.predicted_seconds[row])


def _map(
    title: str,
    caption: Inline,
    fit: Fit,
    cell: Callable[[int, int], HeatCell],
    legend: Sequence[HeatCell],
) -> HeatMap:
    curves = pairs_curves(fit)
    chosen = spread(_sizes(fit), MOST_ROWS)
    rows = tuple((format.message_size(s), tuple(cell(k, s) for k in curves)) for s in chosen)
    return HeatMap(title, caption, "size \\ k", tuple(map(str, curves)), rows, tuple(legend))
