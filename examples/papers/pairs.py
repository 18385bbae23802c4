"""Times of k pairs between two nodes over the message size, beside a fitted model and its error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chiplog.api.fitted import FittedModel
from chiplog.dataset.series import Dataset
from chiplog.fitting.pairs.table import pair_table
from chiplog.fitting.predictions.predictor import predictor
from chiplog.models.protocol import points
from papers.section import COLOURS, legend_above

Floats = NDArray[np.float64]
SHOWN = (1, 2, 4, 8, 16)
"""Numbers of pairs that have a curve of their own."""
MARKERS = "os^Dv"
"""Their marks, so that curves differ without colour, too."""
LINE_POINTS = 60
"""Sizes of a model's line in each of its protocols."""


@dataclass(frozen=True, eq=False)
class HalfRoundTrips:
    """Sizes in bytes, and by the number of pairs the times of each size in seconds: those of all launches or visits."""

    sizes: NDArray[np.int64]
    seconds: dict[int, tuple[Floats, ...]]

    def median(self, pairs: int) -> Floats:
        """The medians of the sizes, shape (sizes,)."""
        return np.array([np.median(times) for times in self.seconds[pairs]])

    @property
    def shown(self) -> tuple[int, ...]:
        """Those of SHOWN that were measured."""
        return tuple(k for k in SHOWN if k in self.seconds)


def half_round_trips(run: Dataset) -> HalfRoundTrips:
    """The times of a run in which each number of pairs sent all sizes."""
    table = pair_table(run, "median")
    sizes = np.unique(table.message_bytes)
    seconds = {}
    for k in np.unique(table.pairs):
        of_k = table.subset(table.pairs == k)
        seconds[int(k)] = tuple(of_k.seconds[of_k.message_bytes == n] for n in sizes)
    return HalfRoundTrips(sizes, seconds)


def predicted(fit: FittedModel, sizes: NDArray[np.int64], pairs: int) -> Floats:
    """Half round trips in seconds by a fitted model, shape of `sizes`."""
    half: Floats = predictor(fit.details)(points("pairs", sizes, pairs=pairs)) / 2.0
    return half


def over_size(
    axes: Any, times: HalfRoundTrips, of_pairs: Callable[[int], Floats], *, line: str = "-"
) -> None:
    """A curve a shown number of pairs, with points at the measured sizes."""
    for k, colour, mark in zip(times.shown, COLOURS, MARKERS, strict=False):
        axes.plot(
            times.sizes, of_pairs(k), ls=line, lw=1.2, marker=mark, ms=3.5, color=colour,
            label=f"k = {k}",
        )  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_xlabel("message size in bytes")


def draw_times(axes: Any, times: HalfRoundTrips) -> None:
    """What was measured."""
    over_size(axes, times, lambda k: times.median(k) * 1e6)
    axes.set_yscale("log")
    axes.set_ylabel("half round trip in µs")
    legend_above(axes)


def draw_rates(axes: Any, times: HalfRoundTrips) -> str:
    """What one process gets; returns the rates at the largest size."""
    over_size(axes, times, lambda k: times.sizes / times.median(k) / 1e9)
    axes.set_ylabel("n/T of one process in GB/s")
    axes.set_ylim(bottom=0)
    legend_above(axes)
    rates = (f"{times.sizes[-1] / times.median(k)[-1] / 1e9:.2f} with {k}" for k in times.shown)
    return f"At {times.sizes[-1] // 1024:,} KiB one process gets {', '.join(rates)} processes, in GB/s."


def draw_model(axes: Any, times: HalfRoundTrips, fit: FittedModel) -> str:
    """Measured points and the model's lines, of which postal has one; returns both at the largest size."""
    over_size(axes, times, lambda k: times.median(k) * 1e6, line="none")
    same = fit.model == "postal"
    for k, colour in zip(times.shown[:1] if same else times.shown, COLOURS, strict=False):
        for number, segment in enumerate(fit.details.segments):
            first = times.sizes[times.sizes >= segment.first_bytes].min()
            last = times.sizes[times.sizes <= segment.last_bytes].max()
            sizes = np.unique(np.geomspace(first, last, LINE_POINTS).round().astype(np.int64))
            name = {"label": "model, every k"} if same and not number else {}
            axes.plot(
                sizes,
                predicted(fit, sizes, k) * 1e6,
                lw=1.0,
                color="0.2" if same else colour,
                **name,
            )
    axes.set_yscale("log")
    axes.set_ylabel("half round trip in µs")
    legend_above(axes)
    ends = (times.shown[0], times.shown[-1])
    says = [1e6 * predicted(fit, times.sizes[-1:], k)[0] for k in ends]
    took = [1e6 * times.median(k)[-1] for k in ends]
    pairs = f"{ends[0]} pair and {ends[1]}"
    return (
        f"Marks are measured, lines the model's, one for each protocol. At {times.sizes[-1] // 1024:,} KiB it says "
        f"{says[0]:.1f} and {says[1]:.1f} µs of {pairs}; measured are {took[0]:.1f} and {took[1]:.1f} µs."
    )


def draw_error(axes: Any, times: HalfRoundTrips, fit: FittedModel) -> str:
    """(model - measured) / measured over size; returns means and worst values by the model's protocols."""
    errors = {
        k: predicted(fit, times.sizes, k) / times.median(k) - 1.0 for k in sorted(times.seconds)
    }
    over_size(axes, times, lambda k: 100 * errors[k])
    axes.axhline(0, color="0.5", lw=0.8)
    axes.set_ylabel("(model - measured) / measured in %")
    legend_above(axes)
    table = 100 * np.abs(np.stack(list(errors.values())))
    texts = []
    for segment in fit.details.segments:
        inside = table[
            :, (times.sizes >= segment.first_bytes) & (times.sizes <= segment.last_bytes)
        ]
        texts.append(
            f"{inside.mean():.1f} % of {segment.first_bytes:,} to {segment.last_bytes:,} B "
            f"(at most {inside.max():.0f} %)"
        )
    return f"Mean error over 1 to {max(errors)} pairs: {', '.join(texts)}."
