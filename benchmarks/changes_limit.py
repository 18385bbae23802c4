"""How many protocol changes no search could find: the bound beside which `benchmarks/changes.py` is to be read.

Takes the same machines, and asks of each jump what a test would that knows all that a search must find out: the places
of all changes, and how the noise of sizes is correlated. It misses a jump where a mere change of slope within an octave
would do as well: by less than the critical value that keeps false changes at 2 % of the series. States of the machine
count as Gaussian noise of their variance and duration; outliers don't count.

    .venv/bin/python benchmarks/changes_limit.py
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, norm

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))

import machines
from machines import GRIDS, Drawn, draw

from chiplog.protocol_changes.detect.segments import DENSE_POINTS, SPARSE_POINTS
from chiplog.protocol_changes.detect.thresholds import THRESHOLDS

Floats = NDArray[np.float64]
KINDS = ("raw", "table")
NOISES = ("drift", "states", "all")
KINKS = 13


def variances(noise: str, kind: str, sizes: int) -> Floats:
    """Covariance of the logarithms of two sizes by how many sizes they are apart, shape (sizes,)."""
    if kind == "raw":
        moments, share = machines.RAW_SAMPLES, machines.SLOW_SHARE
        lasts = machines.DWELL, machines.DWELL * (1.0 - share)
        step = math.log(machines.RAW_SLOW)
        own = 0.5 * math.pi * machines.SAMPLE_NOISE**2 / moments
    else:
        moments, share, step = 10, 0.5, math.log(machines.SLOW)
        lasts = -1.0 / math.log(machines.CORRELATION), -1.0 / math.log(2.0 * machines.STAY - 1.0)
        own = 0.01**2 + machines.SAMPLE_NOISE**2 / machines.TABLE_SAMPLES
    total = np.zeros(sizes)
    total[0] = own
    if noise in ("drift", "all"):
        total += machines.DRIFT**2 * _of_means(lasts[0], moments, sizes)
    if noise in ("states", "all"):
        total += share * (1.0 - share) * step**2 * _of_means(lasts[1], moments, sizes)
    return total


def _of_means(lasts: float, moments: int, sizes: int) -> Floats:
    """Correlation of means of so many moments, where that of single ones decays within `lasts` moments."""
    between = np.subtract.outer(np.arange(moments), np.arange(moments))
    lags = np.arange(sizes)[:, np.newaxis, np.newaxis] * moments
    return np.asarray(np.exp(-np.abs(lags + between) / lasts).mean(axis=(1, 2)))


def strengths(drawn: Drawn, whiten: Floats) -> list[float]:
    """How many standard errors each jump is, shape (jumps,), where all else is known."""
    sizes, exact = np.array(drawn.sizes, dtype=np.float64), drawn.exact_seconds
    edges = [0, *(drawn.sizes.index(limit) + 1 for limit in drawn.limits), sizes.size]

    def within(begin: int, end: int, *columns: Floats) -> Floats:
        inside = (np.arange(sizes.size) >= begin) & (np.arange(sizes.size) < end)
        return np.stack(columns, axis=1) * inside[:, np.newaxis]

    def misfit(*parts: Floats) -> float:
        design = whiten @ (np.hstack(parts) / exact[:, np.newaxis])
        design /= np.linalg.norm(design, axis=0)
        target = whiten @ np.ones(sizes.size)
        rest = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
        return float(rest @ rest)

    lines = [within(begin, end, np.ones(sizes.size), sizes) for begin, end in pairwise(edges)]
    found = []
    for k, at in enumerate(edges[1:-1]):
        begin, end, others = edges[k], edges[k + 2], [*lines[:k], *lines[k + 2 :]]
        middle = math.sqrt(sizes[at - 1] * sizes[at])
        knots = np.geomspace(middle / math.sqrt(2.0), middle * math.sqrt(2.0), KINKS)
        kinks = [
            within(
                begin,
                end,
                np.ones(sizes.size),
                np.minimum(sizes, knot),
                np.maximum(sizes - knot, 0.0),
            )
            for knot in np.clip(knots, sizes[begin], sizes[end - 1])
        ]
        found.append(math.sqrt(min(misfit(*others, kink) for kink in kinks)))
    return found


def missed(kind: str, grid: str, noise: str, seeds: range) -> tuple[float, int]:
    """How many jumps such a test is expected to miss, and how many there are."""
    count = len(GRIDS[grid].sizes)
    lags = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    whiten = np.linalg.inv(np.linalg.cholesky(variances(noise, kind, count)[lags]))
    places = count / (DENSE_POINTS if count >= THRESHOLDS.dense_sizes else SPARSE_POINTS)
    critical = math.sqrt(chi2.isf(THRESHOLDS.false_share / places, 1))
    jumps = [
        strength
        for seed in seeds
        for strength in strengths(
            draw(grid, noise, raw=kind == "raw", table=kind == "table", seed=seed), whiten
        )
    ]
    return float(np.sum(norm.cdf(critical - np.array(jumps)))), len(jumps)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machines", type=int, default=40)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--grids", nargs="+", default=["octave", "dense"], choices=list(GRIDS))
    asked = parser.parse_args(arguments)
    seeds = range(asked.first_seed, asked.first_seed + asked.machines)
    print(f"{'what':8} {'grid':8} {'noise':10} {'missed at least':>16}")
    for kind in KINDS:
        for grid in asked.grids:
            for noise in NOISES:
                least, jumps = missed(kind, grid, noise, seeds)
                print(
                    f"{kind:8} {grid:8} {noise:10} {100 * least / max(jumps, 1):14.1f} %",
                    flush=True,
                )


if __name__ == "__main__":
    main(sys.argv[1:])
