"""Networks drawn at random, measured by the plan on the sim transport, and how far a fit of them is off."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from chiplog.dataset.run_file import read_run
from chiplog.fitting.fit import fit
from chiplog.fitting.result import Parameter
from chiplog.jobs.measure import measure
from chiplog.plan import PlanOptions, parse_sizes

TIMES = ("L", "o_s", "o_r", "g")
SHORTEST, LONGEST = 1e-7, 1e-4
"""Of L, o_s, o_r and g, in seconds."""
CHEAPEST, DEAREST = 1e-11, 1e-8
"""Of G, in seconds per byte."""
ROUNDING = 1e-3
"""Share of a value that whole nanoseconds of a few samples may move it by, without noise."""


@dataclass(frozen=True)
class Judged:
    """One parameter of one segment of a drawn machine's fit, beside the truth."""

    machine: int
    symbol: str
    truth: float
    parameter: Parameter

    @property
    def error(self) -> float:
        """Relative error of the value."""
        assert self.parameter.value is not None
        return abs(self.parameter.value / self.truth - 1.0)

    def is_covered(self, slack: float = 0.0) -> bool:
        """Do the interval or the bounds hold the truth, give or take a share of it?"""
        low, high = self.parameter.low, self.parameter.high
        above = low is None or low <= self.truth * (1.0 + slack)
        return above and (high is None or high >= self.truth * (1.0 - slack))

    @property
    def width(self) -> float:
        """Half the width of the interval over the truth."""
        low, high = self.parameter.low, self.parameter.high
        return np.inf if low is None or high is None else (high - low) / 2.0 / self.truth


def drawn(machine: int) -> dict[str, float]:
    """The parameters of the machine of that number."""
    random = np.random.default_rng([machine, 51])
    times = {
        name: float(np.exp(random.uniform(np.log(SHORTEST), np.log(LONGEST)))) for name in TIMES
    }
    return {**times, "G": float(np.exp(random.uniform(np.log(CHEAPEST), np.log(DEAREST))))}


def measured_and_judged(machine: int, noise: float) -> list[Judged]:
    """What LogGP says of the machine after the plan's own run, with the longer delays that it asks for."""
    truth = {name: float(f"{value:.6g}") for name, value in drawn(machine).items()}
    options = ",".join(f"{name}={value * 1e9:.6g}ns" for name, value in truth.items())
    target = f"sim:{options},noise={noise},seed={machine}" if noise else f"sim:{options}"
    plan = PlanOptions("sim", ("prtt",), tuple(parse_sizes("1:64KiB:1")), visits=3, seed=machine)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run.jsonl"
        measure(target, run, plan)
        (found,) = fit(read_run(run), ["loggp"])
    truth["L_half"] = truth["L"] + truth["o_s"] + truth["o_r"]
    return [
        Judged(machine, symbol, truth[symbol], one)
        for segment in found.segments
        for symbol, one in segment.parameters.items()
        if symbol in truth
    ]


def without_noise(machine: int) -> list[Judged]:
    """`measured_and_judged` on a quiet machine."""
    return measured_and_judged(machine, 0.0)


def with_noise(machine: int) -> list[Judged]:
    """`measured_and_judged` with 2 % of noise on each sample."""
    return measured_and_judged(machine, 0.02)


def identified(found: Sequence[Judged]) -> list[Judged]:
    """Those with a value."""
    return [one for one in found if one.parameter.identified]
