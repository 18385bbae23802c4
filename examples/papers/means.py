"""Means beside medians and least values of one process to many, on a simulated network with the LoP paper's curves."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chiplog.models.lop_paper import identifiable
from papers.one_to_many import OVERHEAD, Microseconds, draw
from papers.section import measured, run_of

DISTURBED = "noise=0.05,noise-kind=skewed,outliers=0.02"
"""A twentieth of skewed noise, and every fiftieth sample ten times as long."""
STATISTICS: dict[str, Callable[[NDArray[np.float64]], float]] = {
    "mean": lambda samples: float(samples.mean()),
    "median": lambda samples: float(np.median(samples)),
    "least": lambda samples: float(samples.min()),
}


def command_of(
    printed: tuple[float, ...], ranks: int, seed: int, disturbed: str = DISTURBED
) -> str:
    """The command that measures a simulated network with a printed curve of the paper, in us."""
    told = identifiable(printed)
    curve = f"C={told['C']:.6g}us:l1={told['l1']:.6g}us:l2={told['l2']:.6g}:A={told['A']:.6g}us:tau={told['tau']:.6g}"
    first, more, shift = OVERHEAD
    overhead = f"l1={first}us:l2={more}us:l3={shift}"
    target = f"sim:lop={curve},lop-overhead={overhead},{disturbed}"
    return measured(target, "one_to_many", "1", ranks, seed)


def samples_of(command: str) -> dict[int, NDArray[np.float64]]:
    """All samples of the round trip to p peers, in seconds."""
    samples: dict[int, list[NDArray[np.float64]]] = {}
    for series in run_of(command).series:
        if series.direction == "round-trip":
            samples.setdefault(series.peers, []).append(series.seconds)
    return {peers: np.concatenate(samples[peers]) for peers in sorted(samples)}


def picture(command: str, axes: Any) -> str:
    """Draw the three values over the number of peers; returns what is shown."""
    samples = samples_of(command)
    peers = np.array(list(samples))
    values: dict[str, Microseconds] = {
        name: np.array([1e6 * statistic(times) / p for p, times in samples.items()])
        for name, statistic in STATISTICS.items()
    }
    counts = [times.size for times in samples.values()]
    draw(axes, values, "round trip per message RTT(p)/p in µs", peers)
    ratio = values["mean"] / values["median"]
    return (
        f"The mean is {ratio.min():.2f} to {ratio.max():.2f} times the median, by the number of peers (with "
        f"at least {min(counts)} samples each). At "
        f"{peers[0]} and {peers[-1]} peers: mean {values['mean'][0]:.2f} and {values['mean'][-1]:.2f} µs, median "
        f"{values['median'][0]:.2f} and {values['median'][-1]:.2f} µs, least {values['least'][0]:.2f} and "
        f"{values['least'][-1]:.2f} µs."
    )


def drawing(command: str) -> Callable[[Any], str]:
    """A section's `draw` for a command."""
    return partial(picture, command)


DIFFERS = (
    "No number of the means is printed, and the machine is gone. A simulated network stands for it: its curve is the "
    "fit of the least times that the LoP paper prints, with skewed noise of 5 % and every fiftieth sample ten times as "
    "long, both chosen by us. The picture shows what such outliers do to a mean, not how large they were. The noise "
    "lies about the printed curve, so the median follows it and the least values lie below. "
)
