"""The plots' numbers as tables: for those who copy them, who can't see plots, and for Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from chiplog.fitting.result import Curve, Fit
from chiplog.report import format
from chiplog.report.document import Inline, Table, line, number_columns
from chiplog.report.input import TargetReport
from chiplog.report.measured import MEDIAN, curve, half_round_trips, headline, main_fits, thinned
from chiplog.report.names import intervals_text, model_name, quantity
from chiplog.report.patterns.run import curve_values, interval_cells

MOST_ROWS = 64
"""Given: of a table beside a plot, which shows the rest."""


def half_round_trip_table(target: TargetReport) -> Table | None:
    """Half round trip and bandwidth by size with each model's prediction; the bare samples where nothing was fitted."""
    fit = headline(target)
    measured = curve(fit, "half_round_trip") if fit is not None else None
    if fit is None or measured is None:
        return _raw_table(target)
    raw = half_round_trips(target.dataset)
    samples = dict(zip(raw.message_bytes.tolist(), raw.samples.tolist(), strict=True))
    curves = [(f, c) for f in main_fits(target) if (c := curve(f, "half_round_trip")) is not None]
    predictions = [_predictions(fitted) for _, fitted in curves]
    medians = curve_values(measured)
    rows: list[tuple[Inline, ...]] = []
    for i in thinned(measured.message_bytes, target.consensus, MOST_ROWS):
        size, seconds = int(measured.message_bytes[i]), float(measured.measured_seconds[i])
        rows.append(
            (
                line(format.exact_bytes(size)),
                line(format.count(samples.get(size, math.nan))),
                *interval_cells(medians[size]),
                line(format.brief(size / seconds if seconds > 0 else None, "B/s")),
                *(line(values.get(size, format.NOTHING)) for values in predictions),
            )
        )
    titles = ("Size", "Samples", "Median", "95 % interval", "Bandwidth")
    columns = number_columns(*titles, *(model_name(f.model) for f, _ in curves))
    caption = line(
        f"Half round trip by size: median, its 95 % interval{intervals_text(fit)}, size over time, and each model's "
        "prediction with its relative error."
    )
    return Table(caption, columns, tuple(rows), in_terminal=False)


def per_message_table(target: TargetReport, fit: Fit, names: Sequence[str]) -> Table | None:
    """Gap and overheads by size, each with what `fit` says."""
    curves = [(name, c) for name in names if (c := curve(fit, name)) is not None]
    if not curves:
        return None
    sizes = np.unique(np.concatenate([c.message_bytes for _, c in curves]))
    titles: list[Inline | str] = ["Size"]
    for name, _ in curves:
        titles += [quantity(name), model_name(fit.model)]
    rows: list[tuple[Inline, ...]] = []
    texts = [(_medians(fitted), _predictions(fitted)) for _, fitted in curves]
    for size in sizes[thinned(sizes, target.consensus, MOST_ROWS)].tolist():
        cells = [line(format.exact_bytes(size))]
        for by_size in texts:
            cells += [line(shown.get(size, format.NOTHING)) for shown in by_size]
        rows.append(tuple(cells))
    caption = line(
        f"Time per message by size: median with its 95 % interval{intervals_text(fit)}, and "
        f"{model_name(fit.model)}'s prediction with its relative error."
    )
    return Table(caption, number_columns(*titles), tuple(rows), in_terminal=False)


def over_peers_table(fits: Sequence[Fit], message_bytes: int) -> Table | None:
    """RTT(p) and o_s(p) by the number of peers at one message size, with every model's prediction."""
    with_curves = [
        (fit, peers_curve)
        for fit in fits
        for peers_curve in fit.curves
        if peers_curve.peers is not None and message_bytes in peers_curve.message_bytes
    ]
    if not with_curves:
        return None
    titles, texts = ["Peers"], []
    for name, title in (("round_trip_over_peers", "RTT(p)"), ("o_s_over_peers", "o_s(p)")):
        of_quantity = [
            (fit, peers_curve) for fit, peers_curve in with_curves if peers_curve.quantity == name
        ]
        if of_quantity:
            titles.append(title)
            texts.append(_medians(_over_peers(of_quantity[0][1])))
        for fit, over_peers in of_quantity:
            shown = _predictions(_over_peers(over_peers))
            if any(text != format.NOTHING for text in shown.values()):
                titles.append(model_name(fit.model))
                texts.append(shown)
    peers = sorted({p for text in texts for p in text})
    rows = tuple(
        (line(str(p)), *(line(by_peers.get(p, format.NOTHING)) for by_peers in texts))
        for p in peers
    )
    caption = line(
        f"Messages of {format.message_size(message_bytes)}: round trip to p peers, and time to post one of p sends, "
        f"each a median with its 95 % interval{intervals_text(with_curves[0][0])}, and predictions with their relative "
        "errors."
    )
    return Table(caption, number_columns(*titles), rows, in_terminal=False)


LATENCIES = {
    "o_s_over_peers": "o_s(p)",
    "L_over_peers": "L(p)",
    "L_list_over_peers": "L_list(p)",
    "L_printed_over_peers": "printed L(p)",
    "L_list_printed_over_peers": "printed L_list(p)",
}
"""What LoP's table of latencies shows, by the curve's quantity."""
MOST_PEERS = 16
"""Given: so many numbers of peers, or the powers of two among them, fit on a screen."""


def latencies_table(fits: Sequence[Fit], message_bytes: int) -> Table | None:
    """LoP's L(p) and L_list(p) at one message size, from measured round trips and posts; None without both.

    The forms as printed are shown where they are above 0 at all p.
    """
    curves = {
        fitted.quantity: dict(
            zip(fitted.peers.tolist(), fitted.measured_seconds.tolist(), strict=True)
        )
        for fit in fits
        for fitted in fit.curves
        if fitted.quantity in LATENCIES
        and fitted.peers is not None
        and message_bytes in fitted.message_bytes
    }
    if "L_over_peers" not in curves:
        return None
    peers = sorted(curves["L_over_peers"])
    if len(peers) > MOST_PEERS:
        peers = [p for p in peers if p & (p - 1) == 0 or p == peers[-1]]
    printed = [name for name in LATENCIES if "printed" in name and min(curves[name].values()) <= 0]
    shown = [
        (curves[name], title)
        for name, title in LATENCIES.items()
        if name in curves and name not in printed
    ]
    columns = number_columns("Peers", *(title for _, title in shown))
    rows = tuple(
        (line(str(p)), *(line(_latency(by_peers.get(p))) for by_peers, _ in shown)) for p in peers
    )
    caption = line(
        f"Latencies of LoP, messages of {format.message_size(message_bytes)}: "
        "L(p) = RTT(p)/2 - o(p) - o(1) of all p messages, L_list(p) = RTT(p)/2 - p o(p) - o(1) for round trips with "
        "lists. The paper prints them with RTT(p)/p in place of RTT(p)."
    )
    return Table(caption, columns, rows)


def _latency(seconds: float | None) -> str:
    if seconds is None:
        return format.NOTHING
    return format.value(seconds, "s") if seconds > 0 else "below 0"


def _over_peers(curve: Curve) -> Curve:
    """The curve with the numbers of peers where sizes stand."""
    assert curve.peers is not None
    return replace(curve, message_bytes=curve.peers)


def _raw_table(target: TargetReport) -> Table | None:
    raw = half_round_trips(target.dataset)
    if not len(raw.message_bytes):
        return None
    rows = tuple(
        (
            line(format.exact_bytes(int(raw.message_bytes[i]))),
            line(format.count(int(raw.samples[i]))),
            *(line(format.value(float(s), "s")) for s in raw.quantiles[[0, MEDIAN, -1], i]),
        )
        for i in thinned(raw.message_bytes, target.consensus, MOST_ROWS)
    )
    columns = number_columns("Size", "Samples", "5 %", "Median", "95 %")
    caption = line("Half round trip by size: quantiles of the raw samples.")
    return Table(caption, columns, rows, in_terminal=False)


def _medians(measured: Curve) -> dict[int, str]:
    """Each size's median with its interval."""
    return {
        size: format.with_interval(shown.seconds, shown.low, shown.high, "s")
        for size, shown in curve_values(measured).items()
    }


def _predictions(measured: Curve) -> dict[int, str]:
    """Each size's prediction with its relative error."""
    texts: dict[int, str] = {}
    for size, predicted, seconds in zip(
        measured.message_bytes.tolist(),
        measured.predicted_seconds.tolist(),
        measured.measured_seconds.tolist(),
        strict=True,
    ):
        shown = format.value(predicted, "s")
        if seconds > 0 and math.isfinite(predicted):
            shown += f" ({format.signed_percent(predicted / seconds - 1)})"
        texts[size] = shown
    return texts
