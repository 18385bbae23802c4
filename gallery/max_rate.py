"""The slides on max-rate: their Cray XE6 from the measurements that were published of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chiplog.api.fitted import FittedModel
from chiplog.fit.predictions.predictor import predictor
from chiplog.models.protocol import points
from gallery import nodecomm
from gallery.nodecomm import IMPORT, PAIRS, half_round_trips
from gallery.section import COLOURS, Section

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Way:
    """A model and what it is fitted to; `method` is the command's, "" for all numbers of pairs."""

    key: str
    model: str
    title: str
    says: str
    method: str = ""

    @property
    def command(self) -> str:
        """The command that fits it."""
        told = f" --method {self.method}" if self.method else ""
        return f"chiplog fit bw.jsonl --model {self.model}{told}"


WAYS = (
    Way(
        "three",
        "max-rate",
        "three parameters",
        "The max-rate model T = s + k n / min(R_N, k R_C) follows the measured times.",
    ),
    Way(
        "four",
        "max-rate-4",
        "four parameters",
        "A rate of its own for further processes makes the model slightly better in the rendezvous regime, not enough "
        "for the added parameter.",
    ),
    Way(
        "postal-1",
        "postal",
        "postal, from 1 pair",
        "Fitted to one pair, the model s + r n says the same of any number of pairs.",
        "k=1",
    ),
    Way(
        "postal-16",
        "postal",
        "postal, from 16 pairs",
        "Fitted to 16 pairs, it says their times of fewer, too.",
        "k=max",
    ),
    Way(
        "postal-all",
        "postal",
        "postal, from 1 to 16 pairs",
        "Fitted to all, it lies between them and meets few.",
        "k=all",
    ),
)


@cache
def _fit(way: Way) -> FittedModel:
    return nodecomm.fit(way.model, way.method or None)


def predicted(way: Way, sizes: NDArray[np.int64], pairs: int) -> Floats:
    """Half round trips in seconds by a fitted model, shape of `sizes`."""
    half: Floats = predictor(_fit(way).details)(points("pairs", sizes, pairs=pairs)) / 2.0
    return half


def errors(way: Way) -> dict[int, Floats]:
    """(model - measured) / measured by the number of pairs, at the measured sizes."""
    sizes, measured = half_round_trips()
    return {k: predicted(way, sizes, k) / measured[k] - 1.0 for k in measured}


def _over_size(axes: Any, of_pairs: Callable[[int], Floats], label: str, **style: Any) -> None:
    sizes, _ = half_round_trips()
    for pairs, colour in zip(PAIRS, COLOURS, strict=True):
        axes.plot(sizes, of_pairs(pairs), color=colour, label=label.format(k=pairs), **style)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("message size in bytes")


def _rates(axes: Any) -> str:
    sizes, measured = half_round_trips()
    _over_size(axes, lambda k: sizes / measured[k] / 1e9, "k = {k}", marker=".")
    axes.set_ylabel("n/T of one process in GB/s")
    axes.set_ylim(bottom=0)
    told = (f"{sizes[-1] / measured[k][-1] / 1e9:.2f} with {k}" for k in PAIRS)
    return f"At 256 KiB one process gets {', '.join(told)} processes, in GB/s."


def _large(axes: Any) -> str:
    sizes, measured = half_round_trips()
    least, most = nodecomm.range_of_runs(int(sizes[-1]))
    pairs = np.array(sorted(measured))
    middle = np.array([measured[k][-1] for k in pairs])
    total = pairs * sizes[-1] / 1e9
    axes.errorbar(
        pairs,
        total / middle,
        yerr=[total / middle - total / most, total / least - total / middle],
        fmt="o",
        ms=4,
        color=COLOURS[0],
        label="measured (median, and range of 12 runs)",
    )
    told = []
    for way, colour in ((WAYS[0], COLOURS[1]), (WAYS[4], COLOURS[2])):
        line = np.array([predicted(way, sizes[-1:], int(k))[0] for k in pairs])
        axes.plot(pairs, total / line, color=colour, label=f"{way.model}, fitted to all")
        told.append(f"{way.model} {total[-1] / line[-1]:.2f}")
    axes.set_xlabel("communicating processes k")
    axes.set_ylabel("k n/T of the node in GB/s")
    axes.set_ylim(0, 1.6 * float((total / middle).max()))
    rates = total / middle
    return (
        f"A node sends {rates[0]:.2f} GB/s with one process, {rates[1]:.2f} with two, at most {rates.max():.2f} (with "
        f"{pairs[np.argmax(rates)]}) and {rates[-1]:.2f} with 16. There the models say: {', '.join(told)} GB/s."
    )


def _measured(axes: Any) -> str:
    sizes, measured = half_round_trips()
    _over_size(axes, lambda k: measured[k] * 1e6, "k = {k}", marker=".")
    axes.set_yscale("log")
    axes.set_ylabel("half round trip in µs")
    changes = _fit(WAYS[0]).details.changes
    borders = " and ".join(
        f"between {c.last_before_bytes:,} and {c.first_after_bytes:,} B" for c in changes
    )
    alone, full = measured[1], measured[16]
    return (
        f"The protocol changes {borders}, which chiplog finds without being told. 16 processes take "
        f"{full[0] / alone[0]:.2f} times as long as one at 4 B and {full[-1] / alone[-1]:.1f} times at 256 KiB."
    )


def _model(way: Way, axes: Any) -> str:
    sizes, measured = half_round_trips()
    _over_size(axes, lambda k: measured[k] * 1e6, "", ls="", marker=".")
    _over_size(axes, lambda k: predicted(way, sizes, k) * 1e6, "k = {k}")
    axes.set_yscale("log")
    axes.set_ylabel("half round trip in µs")
    k = f"{1e6 * predicted(way, sizes[-1:], 1)[0]:.1f} µs of 1 pair and {1e6 * predicted(way, sizes[-1:], 16)[0]:.1f}"
    return (
        f"Lines are the model's, points are measured. At 256 KiB it says {k} µs of 16; measured are "
        f"{1e6 * measured[1][-1]:.1f} and {1e6 * measured[16][-1]:.1f} µs."
    )


def _error(way: Way, axes: Any) -> str:
    found = errors(way)
    _over_size(axes, lambda k: 100 * found[k], "k = {k}", marker=".")
    axes.axhline(0, color="0.5", lw=0.8)
    axes.set_ylabel("(model - measured) / measured in %")
    sizes, _ = half_round_trips()
    table = np.stack([found[k] for k in sorted(found)])
    names = {"short": sizes <= 256, "eager": (sizes > 256) & (sizes < 8192), "rendezvous": sizes >= 8192}
    told = (
        f"{name} {100 * np.abs(table[:, at]).mean():.1f} % (worst {100 * np.abs(table[:, at]).max():.0f} %)"
        for name, at in names.items()
    )
    return f"Mean error over 1 to 16 pairs: {', '.join(told)}."


PRINTED = (
    ("s0", 1e6, "µs", ("4", "11", "20")),
    ("R_Cb", 1e-9, "GB/s", ("0.63", "1.7", "3.6")),
    ("R_Ci", 1e-9, "GB/s", ("-0.18", "0.062", "0.61")),
    ("R_N", 1e-9, "GB/s", ("infinite", "infinite", "5.5")),
)
"""What the slides print of short, eager and rendezvous messages, in their words."""


def _parameter(one: Any, scale: float) -> str:
    low, high = (None if end is None else end * scale for end in (one.low, one.high))
    if one.identified and low is not None and high is not None:
        return f"{one.value * scale:.3g} [{low:.3g}, {high:.3g}]"
    if low:
        return f"at least {low:.3g}"
    return "not identified" if not high else f"at most {high:.3g}"


def _table(_: Any) -> str:
    lines = [
        "| messages | source | s0 in µs | R_Cb in GB/s | R_Ci in GB/s | R_N in GB/s |",
        "|---|---|---|---|---|---|",
    ]
    for number, name in enumerate(("short", "eager", "rendezvous")):
        segment = _fit(WAYS[1]).details.segments[number]
        printed = " | ".join(values[number] for *_, values in PRINTED)
        found = " | ".join(_parameter(segment.parameters[s], x) for s, x, *_ in PRINTED)
        lines += [
            f"| {name} | the slides, full round trips | {printed} |",
            f"| {segment.first_bytes:,} to {segment.last_bytes:,} B | chiplog, half round trips | {found} |",
        ]
    return "\n".join(lines)


SOURCE = (
    "The slides print no times. Drawn are those that nodecomm measured on the same kind of machine, Blue Waters, and "
    "that were published later with another paper ([BlueWatersModel](https://github.com/bienz2/BlueWatersModel), "
    "`bw_output/orig/nodecomm_orig.out`): 12 runs, 4 B to 256 KiB, 1 to 16 pairs; the file isn't part of chiplog. "
)
HALF = "Ours are half round trips, as in all of chiplog; the slides' are full ones. "
SAME = "The same measurements as above. " + HALF
MODELS = tuple(
    section
    for way in WAYS
    for section in (
        Section(
            f"cray-{way.key}",
            f"Cray XE6: {way.title}",
            way.says,
            (IMPORT, way.command),
            partial(_model, way),
            SAME + "chiplog's protocols are those that it found by itself.",
        ),
        Section(
            f"cray-{way.key}-errors",
            f"Cray XE6: relative error, {way.title}",
            "The error over size, a curve a number of pairs; no number is printed.",
            (IMPORT, way.command),
            partial(_error, way),
            SAME + "The sign is ours: above 0 the model says more than was measured.",
        ),
    )
)
SECTIONS = (
    Section(
        "cray-rates",
        "Cray XE6: rate of one process over size",
        "The more processes communicate, the less each one gets, for large messages.",
        (IMPORT,),
        _rates,
        SOURCE + HALF,
    ),
    Section(
        "large",
        "Rates observed for large messages",
        "The rate of a node does not grow with its processes beyond what its link carries.",
        (IMPORT, WAYS[0].command, WAYS[4].command),
        _large,
        SAME + "The slide's machine isn't named; the Cray's largest message is drawn.",
    ),
    Section(
        "table",
        "Four parameters of three protocols",
        "The printed parameters of short, eager and rendezvous messages, from full round trips.",
        (IMPORT, WAYS[1].command),
        _table,
        SOURCE
        + "With the printed R_Ci of -0.18 GB/s, five processes and more would have a rate below 0; in ours no rate is "
        "negative. Whether the printed rates count both ways or one is unclear: by half round trips we find 3.97 where "
        "3.6 is printed, and a start-up time of 5.1 µs where half of 20 is printed. Intervals are 95 %.",
        picture=False,
    ),
    Section(
        "cray-measured",
        "Cray XE6: measured times",
        "Times over size from 1 to 16 pairs; three protocols are visible.",
        (IMPORT, "chiplog changes bw.jsonl"),
        _measured,
        SOURCE + HALF,
    ),
    *MODELS,
)
