"""The slides on max-rate: their Cray XE6 from measurements that were published of it, further machines simulated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from papers import nodecomm, nodes, other_nodes
from papers.nodecomm import IMPORT
from papers.pairs import draw_error, draw_model, draw_rates, draw_times, predicted
from papers.section import COLOURS, Section


@dataclass(frozen=True)
class Way:
    """A model and what it is fitted to; `method` is the command's, "" for all numbers of pairs."""

    key: str
    model: str
    title: str
    says: str
    method: str = ""
    differs: str = ""

    @property
    def command(self) -> str:
        """The command that fits it."""
        told = f" --method {self.method}" if self.method else ""
        return f"chiplog fit bw.jsonl --model {self.model}{told}"


THREE = Way(
    "three",
    "max-rate",
    "three parameters",
    "The times by the max-rate model T = s + k n / min(R_N, k R_C), which the slides call sufficient for many uses.",
)
FOUR = Way(
    "four",
    "max-rate-4",
    "four parameters",
    "A rate of its own for further processes makes the model slightly better in the rendezvous regime, not enough "
    "for the added parameter.",
    differs=" Here, too, it gains little of rendezvous; it gains more of the eager protocol (see the errors).",
)
POSTAL = Way(
    "postal-all",
    "postal",
    "postal, from 1 to 16 pairs",
    "The postal model of 1 to 16 pairs together. It has one time for any number of pairs; no number is printed.",
    "k=all",
)
WAYS = (
    THREE,
    FOUR,
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
        "Fitted to 16 pairs, the model s + r n says their times of fewer, too.",
        "k=max",
    ),
    POSTAL,
)


def _rates(axes: Any) -> str:
    return draw_rates(axes, nodecomm.times())


def _large(axes: Any) -> str:
    times = nodecomm.times()
    pairs = np.array(sorted(times.seconds))
    sent = pairs * times.sizes[-1] / 1e9
    rates = [total / times.seconds[k][-1] for k, total in zip(pairs, sent, strict=True)]
    least, middle, most = (
        np.array([statistic(launches) for launches in rates])
        for statistic in (np.min, np.median, np.max)
    )
    ranges = [middle - least, most - middle]
    label = "measured (median, and range of 12 runs)"
    axes.errorbar(pairs, middle, yerr=ranges, fmt="o", ms=4, color=COLOURS[0], label=label)
    texts = []
    for way, colour in ((THREE, COLOURS[1]), (POSTAL, COLOURS[2])):
        fit = nodecomm.fit(way.model, way.method)
        line = sent / [predicted(fit, times.sizes[-1:], int(k))[0] for k in pairs]
        axes.plot(pairs, line, color=colour, label=f"{way.model}, fitted to all")
        texts.append(f"{way.model} {line[-1]:.2f}")
    axes.set_xlabel("communicating processes k")
    axes.set_ylabel("k n/T of the node in GB/s")
    axes.set_ylim(0, 1.6 * float(middle.max()))
    return (
        f"A node sends {middle[0]:.2f} GB/s with one process, {middle[1]:.2f} with two, at most {middle.max():.2f} "
        f"(with {pairs[np.argmax(middle)]}) and {middle[-1]:.2f} with 16. There the models say: "
        f"{', '.join(texts)} GB/s."
    )


def _measured(axes: Any) -> str:
    times = nodecomm.times()
    draw_times(axes, times)
    changes = nodecomm.fit(THREE.model, THREE.method).details.changes
    borders = " and ".join(
        f"between {change.last_before_bytes:,} and {change.first_after_bytes:,} B"
        for change in changes
    )
    slower = times.median(16) / times.median(1)
    return (
        f"The protocol changes {borders}, which chiplog finds without being told. 16 processes take "
        f"{slower[0]:.2f} times as long as one at 4 B and {slower[-1]:.1f} times at 256 KiB."
    )


def _model(way: Way, axes: Any) -> str:
    return draw_model(axes, nodecomm.times(), nodecomm.fit(way.model, way.method))


def _error(way: Way, axes: Any) -> str:
    return draw_error(axes, nodecomm.times(), nodecomm.fit(way.model, way.method))


PRINTED = (
    ("s0", 1e6, ("4", "11", "20")),
    ("R_Cb", 1e-9, ("0.63", "1.7", "3.6")),
    ("R_Ci", 1e-9, ("-0.18", "0.062", "0.61")),
    ("R_N", 1e-9, ("infinite", "infinite", "5.5")),
)
"""What the slides print of short, eager and rendezvous messages; the factor makes µs and GB/s of our values."""


def _value(parameter: Any, factor: float) -> str:
    if parameter.identified:
        ends = f"[{parameter.low * factor:.3g}, {parameter.high * factor:.3g}]"
        return f"{parameter.value * factor:.3g} {ends}"
    return (
        f"not identified, at least {parameter.low * factor:.3g}"
        if parameter.low
        else "not identified"
    )


def _table(_: Any) -> str:
    lines = [
        "| messages | source | s0 in µs | R_Cb in GB/s | R_Ci in GB/s | R_N in GB/s |",
        "|---|---|---|---|---|---|",
    ]
    fit = nodecomm.fit(FOUR.model, FOUR.method)
    for number, name in enumerate(("short", "eager", "rendezvous")):
        segment = fit.details.segments[number]
        printed = " | ".join(values[number] for *_, values in PRINTED)
        found = " | ".join(_value(segment.parameters[symbol], x) for symbol, x, _ in PRINTED)
        sizes = f"{segment.first_bytes:,} to {segment.last_bytes:,} B"
        lines.append(f"| {name} | the slides, full round trips | {printed} |")
        lines.append(f"| {sizes} | chiplog, half round trips | {found} |")
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
            SAME + "chiplog's protocols are those that it found by itself." + way.differs,
        ),
        Section(
            f"cray-{way.key}-errors",
            f"Cray XE6: relative error, {way.title}",
            "The relative error; no number is printed.",
            (IMPORT, way.command),
            partial(_error, way),
            SAME + "The sign is ours: above 0 the model says more than was measured.",
        ),
    )
)
SECTIONS = (
    nodes.ONE_MODEL,
    Section(
        "cray-rates",
        "Cray XE6: rate of one process over size",
        "The rate of one process, with one and with many of them. The slides then ask why it depends on their number, "
        "which the model s + r n denies.",
        (IMPORT,),
        _rates,
        SOURCE + HALF,
    ),
    Section(
        "large",
        "Rates observed for large messages",
        "The picture has no text. The next slide takes from it that the rate is limited by the shared link, or by the "
        "links of the single processes together.",
        (IMPORT, THREE.command, POSTAL.command),
        _large,
        SAME + "The slide's machine isn't named; the Cray's largest message is drawn.",
    ),
    nodes.TWO_EXAMPLES,
    Section(
        "table",
        "Four parameters of three protocols",
        "The printed parameters of short, eager and rendezvous messages, from full round trips.",
        (IMPORT, FOUR.command),
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
        "Measured times; the text has the title only. Another slide names three regimes: short, eager, rendezvous.",
        (IMPORT, "chiplog changes bw.jsonl"),
        _measured,
        SOURCE + HALF,
    ),
    *MODELS,
    *other_nodes.SECTIONS,
)
